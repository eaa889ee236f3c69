//! Content that its address and a seed determine: incompressible noise that repeats after a mebibyte,
//! with a word in every sector that no other sector has. Data that one process wrote in transfers of
//! any size is checked by another one in transfers of any other.

use std::sync::OnceLock;

use super::content::{self, SECTOR_BYTES};
use super::random;

/// Length after which the noise repeats. Larger than the records that file systems compress (ZFS:
/// 128 KiB unless set otherwise).
const PERIOD_BYTES: usize = 1 << 20;
/// Seed of the noise, which is the same for all data.
const NOISE_SEED: u64 = 0x0A55_A71E;
const WORD_BYTES: usize = 8;

/// Fills memory with the content of `address`; `is_noise` if its noise is there already.
pub(super) fn fill(memory: &mut [u8], address: u64, seed: u64, is_noise: bool) {
    if !is_noise {
        let mut at = address;
        for part in split_by_period(memory.len(), address) {
            let from = (at % PERIOD_BYTES as u64) as usize;
            let start = (at - address) as usize;
            memory[start..start + part].copy_from_slice(&noise()[from..from + part]);
            at += part as u64;
        }
    }
    for (range, word) in sector_words(memory.len(), address, seed) {
        for (byte, at) in memory[range.0..range.1].iter_mut().zip(range.2..) {
            *byte = word[at];
        }
    }
}

/// Whether the noise of two addresses is the same.
pub(super) const fn has_same_noise(one: u64, other: u64) -> bool {
    one % PERIOD_BYTES as u64 == other % PERIOD_BYTES as u64
}

/// Returns the position of the first byte that is not the content of `address`.
pub(super) fn find_damage(memory: &[u8], address: u64, seed: u64) -> Option<usize> {
    let mut words = sector_words(memory.len(), address, seed).peekable();
    let mut done = 0;
    while done < memory.len() {
        let (start, end) =
            words.peek().map_or((memory.len(), memory.len()), |it| (it.0.0, it.0.1));
        let damage = differs_from_noise(&memory[done..start], address + done as u64);
        if let Some(at) = damage {
            return Some(done + at);
        }
        if let Some(((start, end, from), word)) = words.next() {
            let expected = &word[from..from + (end - start)];
            let differs = memory[start..end].iter().zip(expected).position(|(a, b)| a != b);
            if let Some(at) = differs {
                return Some(start + at);
            }
        }
        done = end;
    }
    None
}

fn differs_from_noise(memory: &[u8], address: u64) -> Option<usize> {
    let mut start = 0;
    for part in split_by_period(memory.len(), address) {
        let from = ((address + start as u64) % PERIOD_BYTES as u64) as usize;
        let (found, expected) = (&memory[start..start + part], &noise()[from..from + part]);
        if found != expected {
            let at = found.iter().zip(expected).position(|(a, b)| a != b);
            return at.map(|at| start + at);
        }
        start += part;
    }
    None
}

fn noise() -> &'static [u8] {
    static NOISE: OnceLock<Vec<u8>> = OnceLock::new();
    NOISE.get_or_init(|| {
        let mut noise = vec![0; PERIOD_BYTES];
        content::fill(&mut noise, 0.0, NOISE_SEED);
        noise
    })
}

/// Returns the lengths of the parts that do not cross the end of a period.
fn split_by_period(bytes: usize, address: u64) -> impl Iterator<Item = usize> {
    let mut left = bytes;
    let mut from = (address % PERIOD_BYTES as u64) as usize;
    std::iter::from_fn(move || {
        let part = left.min(PERIOD_BYTES - from);
        (left, from) = (left - part, 0);
        (part > 0).then_some(part)
    })
}

/// Returns the words of all sectors that reach into the memory of `address`: their range of it, the
/// position in the word where that begins, and the word. Transfers of odd sizes divide words.
fn sector_words(
    bytes: usize,
    address: u64,
    seed: u64,
) -> impl Iterator<Item = ((usize, usize, usize), [u8; WORD_BYTES])> {
    let end = address + bytes as u64;
    let first = address / SECTOR_BYTES as u64 * SECTOR_BYTES as u64;
    (first..end).step_by(SECTOR_BYTES).filter_map(move |sector| {
        let from = sector.max(address);
        let to = (sector + WORD_BYTES as u64).min(end);
        let word = random::mix(sector ^ random::mix(seed)).to_le_bytes();
        let range = (
            (from - address) as usize,
            to.saturating_sub(address) as usize,
            (from - sector) as usize,
        );
        (from < to).then_some((range, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of this size, written in transfers of `transfer` bytes.
    fn written(bytes: usize, transfer: usize, seed: u64) -> Vec<u8> {
        let mut file = vec![0; bytes];
        let mut before = None;
        let mut memory = vec![0; transfer];
        for (at, part) in (0..).step_by(transfer).zip(file.chunks_mut(transfer)) {
            let is_noise = before.is_some_and(|before| has_same_noise(before, at));
            fill(&mut memory[..part.len()], at, seed, is_noise);
            before = Some(at);
            part.copy_from_slice(&memory[..part.len()]);
        }
        file
    }

    #[test]
    fn size_of_transfers_does_not_matter() {
        let file = written(3 << 20, 3 << 20, 27);
        for transfer in [47_008, 1 << 20, 512, 1000, 7, 100_003] {
            assert_eq!(written(3 << 20, transfer, 27), file, "{transfer}");
            let damage = (0..)
                .step_by(transfer)
                .zip(file.chunks(transfer))
                .find_map(|(at, part)| find_damage(part, at, 27));
            assert_eq!(damage, None, "{transfer}");
        }
    }

    #[test]
    fn any_damaged_byte_is_found_where_it_is() {
        let address = 47_008 * 22 + 3;
        let mut memory = [0; 3000];
        fill(&mut memory, address, 5, false);
        for at in 0..memory.len() {
            memory[at] ^= 0x10;
            assert_eq!(find_damage(&memory, address, 5), Some(at));
            memory[at] ^= 0x10;
        }
        assert_eq!(find_damage(&memory, address, 5), None);
    }

    #[test]
    fn data_of_another_address_or_seed_is_found() {
        let mut memory = [0; 4096];
        fill(&mut memory, 1 << 21, 5, false);
        assert_eq!(find_damage(&memory, 1 << 20, 5), Some(0));
        assert_eq!(find_damage(&memory, 1 << 21, 6), Some(0));
        assert!(find_damage(&[0; 4096], 1 << 21, 5).is_some());
    }

    #[test]
    fn pages_differ() {
        let file = written(4 << 20, 1 << 20, 1);
        let pages: std::collections::BTreeSet<&[u8]> = file.chunks(4096).collect();
        assert_eq!(pages.len(), 1024);
    }
}
