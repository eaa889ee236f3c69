//! Contents of messages in the validation pass: bytes and numbers that depend on position, turn and
//! rank.
//!
//! The sums of the numbers are small enough to be exact in single precision for up to 2²⁰ ranks.

use std::ffi::c_int;

use super::message_memory::ReductionElement;

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

/// Appends the bytes of a number as the library computes with it.
fn push_number(bytes: &mut Vec<u8>, element: ReductionElement, value: u64) {
    match element {
        ReductionElement::Integer => bytes.extend((value as u32).to_ne_bytes()),
        ReductionElement::Float => bytes.extend((value as f32).to_ne_bytes()),
        ReductionElement::Unsigned64 => bytes.extend(value.to_ne_bytes()),
    }
}

/// Returns the contribution of `rank` to a reduction in turn `turn`: the bytes of `elements`
/// numbers, each with `added`.
pub(super) fn number_bytes(
    element: ReductionElement,
    elements: usize,
    turn: u64,
    rank: c_int,
    added: u64,
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(elements * element.bytes());
    for position in 0..elements {
        push_number(&mut bytes, element, number_at(position, turn, rank) + added);
    }
    bytes
}

/// Returns the bytes of the sums over `ranks` ranks in turn `turn`, from position `first` on.
pub(super) fn sum_bytes(
    element: ReductionElement,
    first: usize,
    elements: usize,
    turn: u64,
    ranks: c_int,
) -> Vec<u8> {
    let sums = expected_sums(turn, ranks);
    let mut bytes = Vec::with_capacity(elements * element.bytes());
    for position in first..first + elements {
        push_number(&mut bytes, element, sums[position % PERIOD]);
    }
    bytes
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
    fn sums_are_those_of_all_ranks() {
        for element in
            [ReductionElement::Integer, ReductionElement::Float, ReductionElement::Unsigned64]
        {
            let value = |bytes: &[u8]| match element {
                ReductionElement::Integer => {
                    u64::from(u32::from_ne_bytes(bytes.try_into().unwrap()))
                }
                ReductionElement::Float => f32::from_ne_bytes(bytes.try_into().unwrap()) as u64,
                ReductionElement::Unsigned64 => u64::from_ne_bytes(bytes.try_into().unwrap()),
            };
            let values = |bytes: Vec<u8>| -> Vec<u64> {
                bytes.chunks(element.bytes()).map(value).collect()
            };
            let own = |rank| values(number_bytes(element, 40, 7, rank, 0));
            let all: Vec<u64> =
                (0..40).map(|position| (0..5).map(|rank| own(rank)[position]).sum()).collect();
            assert_eq!(values(sum_bytes(element, 0, 40, 7, 5)), all);
            assert_eq!(values(sum_bytes(element, 5, 35, 7, 5)), all[5..]);
            assert_ne!(values(sum_bytes(element, 0, 40, 7, 4)), all);
            assert_ne!(values(sum_bytes(element, 0, 40, 8, 5)), all);
            assert_eq!(values(number_bytes(element, 1, 7, 0, 1))[0], own(0)[0] + 1);
        }
    }
}
