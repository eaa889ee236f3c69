//! Contents of messages in the validation pass: bytes and numbers that depend on position, turn and
//! rank.
//!
//! The sums of the numbers are small enough to be exact in single precision for up to 2²⁰ ranks.

use std::ffi::c_int;

/// Period of the numbers along an array.
const PERIOD: usize = 16;

/// Returns the seed of the message from `rank` in turn `turn` and slot `slot`.
pub(super) fn message_seed(turn: u64, rank: c_int, slot: usize) -> u64 {
    turn.wrapping_mul(1009).wrapping_add(rank as u64 * 101).wrapping_add(slot as u64 * 7)
}

/// Returns the byte at `position`. It depends on the seed and on all of `position`, also beyond
/// 256.
fn byte_at(position: usize, seed: u64) -> u8 {
    let mixed = (position as u64).wrapping_mul(131).wrapping_add(position as u64 >> 8);
    mixed.wrapping_add(seed.wrapping_mul(29)) as u8
}

/// Fills a message with the bytes of its seed.
pub(super) fn fill_bytes(bytes: &mut [u8], seed: u64) {
    for (position, byte) in bytes.iter_mut().enumerate() {
        *byte = byte_at(position, seed);
    }
}

/// Returns whether a message has the bytes of its seed.
pub(super) fn has_contents(bytes: &[u8], seed: u64) -> bool {
    bytes.iter().enumerate().all(|(position, byte)| *byte == byte_at(position, seed))
}

fn number_at(position: usize, turn: u64, rank: c_int) -> u64 {
    (position as u64 + turn + rank as u64 * 3) % PERIOD as u64
}

/// Returns the expected sums over `ranks` ranks, for each position of the period.
fn expected_sums(turn: u64, ranks: c_int) -> [u64; PERIOD] {
    std::array::from_fn(|position| (0..ranks).map(|rank| number_at(position, turn, rank)).sum())
}

/// Number type of a reduction: 32-bit integers or floating-point numbers.
pub(super) trait ReductionNumber: Copy {
    fn from_u64(value: u64) -> Self;
    fn equals(self, value: u64) -> bool;
}

impl ReductionNumber for u32 {
    fn from_u64(value: u64) -> Self {
        value as Self
    }
    fn equals(self, value: u64) -> bool {
        u64::from(self) == value
    }
}

impl ReductionNumber for f32 {
    fn from_u64(value: u64) -> Self {
        value as Self
    }
    fn equals(self, value: u64) -> bool {
        self.to_bits() == (value as Self).to_bits()
    }
}

/// Fills the contribution of `rank` to a reduction in turn `turn`.
pub(super) fn fill_numbers<T: ReductionNumber>(numbers: &mut [T], turn: u64, rank: c_int) {
    for (position, number) in numbers.iter_mut().enumerate() {
        *number = T::from_u64(number_at(position, turn, rank));
    }
}

/// Returns whether the numbers are the sums over `ranks` ranks in turn `turn`.
pub(super) fn has_sums<T: ReductionNumber>(numbers: &[T], turn: u64, ranks: c_int) -> bool {
    let sums = expected_sums(turn, ranks);
    numbers.iter().enumerate().all(|(position, number)| number.equals(sums[position % PERIOD]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_any_damaged_byte() {
        let mut bytes = vec![0; 1000];
        fill_bytes(&mut bytes, message_seed(3, 1, 2));
        assert!(has_contents(&bytes, message_seed(3, 1, 2)));
        for place in [0, 1, 255, 256, 257, 999] {
            bytes[place] ^= 1;
            assert!(!has_contents(&bytes, message_seed(3, 1, 2)), "{place}");
            bytes[place] ^= 1;
        }
    }

    #[test]
    fn rejects_contents_of_another_turn_rank_or_slot() {
        let mut bytes = vec![0; 64];
        fill_bytes(&mut bytes, message_seed(3, 1, 2));
        for (turn, rank, slot) in [(4, 1, 2), (3, 0, 2), (3, 1, 3)] {
            assert!(
                !has_contents(&bytes, message_seed(turn, rank, slot)),
                "{turn} {rank} {slot}"
            );
        }
    }

    #[test]
    fn detects_bytes_moved_within_the_message() {
        let mut bytes = vec![0; 1024];
        fill_bytes(&mut bytes, 1);
        bytes.copy_within(0..256, 256);
        assert!(!has_contents(&bytes, 1));
    }

    #[test]
    fn detects_a_missing_rank_in_sums() {
        fn check<T: ReductionNumber + Default>() {
            let ranks = 5;
            let mut all = vec![0_u64; 40];
            for rank in 0..ranks {
                let mut own = vec![T::default(); 40];
                fill_numbers(&mut own, 7, rank);
                for (place, sum) in all.iter_mut().enumerate() {
                    let value = number_at(place, 7, rank);
                    assert!(own[place].equals(value));
                    *sum += value;
                }
            }
            let summed: Vec<T> = all.iter().map(|sum| T::from_u64(*sum)).collect();
            assert!(has_sums(&summed, 7, ranks));
            assert!(!has_sums(&summed, 7, ranks - 1));
            assert!(!has_sums(&summed, 8, ranks));
        }
        check::<u32>();
        check::<f32>();
    }
}
