//! Contents of messages in the validation pass: bytes and numbers that depend on position, turn and
//! rank.
//!
//! The sums of the numbers are small enough to be exact in single precision for up to 2²⁰ ranks.

use std::ffi::c_int;

/// Period of the numbers along an array.
const PERIOD: usize = 16;

/// Returns the seed of the message from `rank` in turn `turn` and slot `slot`.
pub(super) fn seed(turn: u64, rank: c_int, slot: usize) -> u64 {
    turn.wrapping_mul(1009).wrapping_add(rank as u64 * 101).wrapping_add(slot as u64 * 7)
}

/// Returns the byte at `place`. It depends on the seed and on the whole position, also beyond 256.
fn byte(place: usize, seed: u64) -> u8 {
    let mixed = (place as u64).wrapping_mul(131).wrapping_add(place as u64 >> 8);
    mixed.wrapping_add(seed.wrapping_mul(29)) as u8
}

pub(super) fn fill(bytes: &mut [u8], seed: u64) {
    for (place, to) in bytes.iter_mut().enumerate() {
        *to = byte(place, seed);
    }
}

pub(super) fn is_right(bytes: &[u8], seed: u64) -> bool {
    bytes.iter().enumerate().all(|(place, it)| *it == byte(place, seed))
}

fn number(place: usize, turn: u64, rank: c_int) -> u64 {
    (place as u64 + turn + rank as u64 * 3) % PERIOD as u64
}

/// Returns the expected sums over `ranks` ranks, for each position of the period.
fn sums(turn: u64, ranks: c_int) -> [u64; PERIOD] {
    std::array::from_fn(|place| (0..ranks).map(|rank| number(place, turn, rank)).sum())
}

/// Number type of a reduction: 32-bit integers or floating-point numbers.
pub(super) trait Number: Copy {
    fn of(value: u64) -> Self;
    fn is(self, value: u64) -> bool;
}

impl Number for u32 {
    fn of(value: u64) -> Self {
        value as Self
    }
    fn is(self, value: u64) -> bool {
        u64::from(self) == value
    }
}

impl Number for f32 {
    fn of(value: u64) -> Self {
        value as Self
    }
    fn is(self, value: u64) -> bool {
        self.to_bits() == (value as Self).to_bits()
    }
}

pub(super) fn fill_numbers<T: Number>(numbers: &mut [T], turn: u64, rank: c_int) {
    for (place, to) in numbers.iter_mut().enumerate() {
        *to = T::of(number(place, turn, rank));
    }
}

pub(super) fn are_summed<T: Number>(numbers: &[T], turn: u64, ranks: c_int) -> bool {
    let sums = sums(turn, ranks);
    numbers.iter().enumerate().all(|(place, it)| it.is(sums[place % PERIOD]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_damaged_byte_is_found_wherever_it_is() {
        let mut bytes = vec![0; 1000];
        fill(&mut bytes, seed(3, 1, 2));
        assert!(is_right(&bytes, seed(3, 1, 2)));
        for place in [0, 1, 255, 256, 257, 999] {
            bytes[place] ^= 1;
            assert!(!is_right(&bytes, seed(3, 1, 2)), "{place}");
            bytes[place] ^= 1;
        }
    }

    #[test]
    fn contents_of_another_turn_rank_or_slot_are_wrong() {
        let mut bytes = vec![0; 64];
        fill(&mut bytes, seed(3, 1, 2));
        for (turn, rank, slot) in [(4, 1, 2), (3, 0, 2), (3, 1, 3)] {
            assert!(!is_right(&bytes, seed(turn, rank, slot)), "{turn} {rank} {slot}");
        }
    }

    #[test]
    fn a_byte_that_came_from_elsewhere_in_the_message_is_found() {
        let mut bytes = vec![0; 1024];
        fill(&mut bytes, 1);
        bytes.copy_within(0..256, 256);
        assert!(!is_right(&bytes, 1));
    }

    #[test]
    fn sums_are_exact_and_a_missing_rank_shows() {
        fn check<T: Number + Default>() {
            let ranks = 5;
            let mut all = vec![0_u64; 40];
            for rank in 0..ranks {
                let mut own = vec![T::default(); 40];
                fill_numbers(&mut own, 7, rank);
                for (place, sum) in all.iter_mut().enumerate() {
                    let value = number(place, 7, rank);
                    assert!(own[place].is(value));
                    *sum += value;
                }
            }
            let summed: Vec<T> = all.iter().map(|sum| T::of(*sum)).collect();
            assert!(are_summed(&summed, 7, ranks));
            assert!(!are_summed(&summed, 7, ranks - 1));
            assert!(!are_summed(&summed, 8, ranks));
        }
        check::<u32>();
        check::<f32>();
    }
}
