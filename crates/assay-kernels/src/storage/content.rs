//! Content of writes: incompressible data, and optionally a stamp in every sector with the sector's
//! address, the number of the write and a checksum.
//!
//! Reports the damage of a sector; does not decide what follows.

use std::borrow::Cow;
use std::fmt;

use assay_model::workload::storage::{BlockDuplicates, WorkingSet, WriteContent};

use super::random;

/// Size of a stamped unit, independent of the size of the I/O, so that data written in one size can
/// be checked in another. The smallest unit of any block device.
pub(super) const SECTOR_BYTES: usize = 512;
/// Storage compresses pages of this size or larger, so each has its compressible part.
const PAGE_BYTES: usize = 4096;
const MAGIC: u64 = u64::from_le_bytes(*b"assay\x01st");

const WORDS: usize = SECTOR_BYTES / 8;
/// Positions of the stamp's words in a sector. Magic and address are at both ends, so that a partly
/// overwritten sector is still recognised as stamped.
const MAGIC_WORD: usize = 0;
const ADDRESS_WORD: usize = 1;
const GENERATION_WORD: usize = 2;
const CHECKSUM_WORD: usize = 3;
const LAST_ADDRESS_WORD: usize = WORDS - 2;
const LAST_MAGIC_WORD: usize = WORDS - 1;

/// Damage of a sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectorDamage {
    /// The sector should be stamped, and has no part of a stamp.
    Unstamped,
    /// The contents do not match the checksum.
    Contents,
    /// The contents are valid but belong to another address.
    Address {
        /// That address, in bytes.
        found: u64,
    },
    /// The contents are valid but older than the last write.
    Stale,
}

impl fmt::Display for SectorDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unstamped => write!(f, "the stamp is gone"),
            Self::Contents => write!(f, "the contents do not match their checksum"),
            Self::Address { found } => write!(f, "contains the data of byte {found}"),
            Self::Stale => write!(f, "contains data older than the last write"),
        }
    }
}

/// Stamp that a sector is expected to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedStamp {
    /// Written during this phase, with this generation.
    Generation(u64),
    /// Stamped before this phase.
    Stamped,
    /// Possibly never stamped; a stamp, if any, must be valid.
    Unknown,
}

/// Fills memory with incompressible data; the share `compressible` of each page is zeros.
pub(super) fn fill(memory: &mut [u8], compressible: f64, seed: u64) {
    let random_bytes = ((1.0 - compressible) * PAGE_BYTES as f64).round() as usize;
    let mut draws = random::RandomStream::new(seed, 0);
    for page in memory.chunks_mut(PAGE_BYTES) {
        let (noise, zeros) = page.split_at_mut(random_bytes.min(page.len()));
        for word in noise.chunks_mut(8) {
            word.copy_from_slice(&draws.next_u64().to_le_bytes()[..word.len()]);
        }
        zeros.fill(0);
    }
}

/// Fills memory with a pattern.
pub(super) fn fill_pattern(memory: &mut [u8], pattern: &[u8]) {
    for (byte, wanted) in memory.iter_mut().zip(pattern.iter().cycle()) {
        *byte = *wanted;
    }
}

/// Returns the pattern of an I/O at `offset`, which stands at its places.
pub(super) fn pattern_at(content: &WriteContent, offset: u64) -> Cow<'_, [u8]> {
    let mut pattern = Cow::Borrowed(content.pattern.as_slice());
    for place in &content.offset_places {
        let bytes = pattern.to_mut().iter_mut().skip(*place);
        for (byte, wanted) in bytes.zip(offset.to_le_bytes()) {
            *byte = wanted;
        }
    }
    pattern
}

/// Returns the first byte that differs from a pattern that [`fill_pattern`] filled in.
pub(super) fn find_deviation(memory: &[u8], pattern: &[u8]) -> Option<usize> {
    memory.iter().zip(pattern.iter().cycle()).position(|(byte, wanted)| byte != wanted)
}

/// Draws whether a write repeats the contents of the one before.
pub(super) fn is_duplicate(serial: u64, share: f64) -> bool {
    /// Number of values of the draw: those that a float represents exactly.
    const DRAWS: u64 = 1 << 53;
    let drawn = random::mix(serial) % DRAWS;
    (drawn as f64) < share * DRAWS as f64
}

/// Returns the number of the contents of a stream's nth unique write.
pub(super) const fn contents_of(stream: u64, nth: u64) -> u64 {
    /// Bits of the number of a write.
    const WRITE_BITS: u32 = 44;
    stream << WRITE_BITS | nth
}

/// Draws contents of a set: the first unique writes of each stream that shares it.
pub(super) fn draw_of_set(set: WorkingSet, serial: u64) -> u64 {
    let streams = set.streams.max(1);
    let nth = random::mix(!serial) % set.contents.max(1);
    let each = (set.contents / streams).max(1);
    contents_of((set.stream + nth / each) % streams, nth % each)
}

/// Makes the pages of one write unique, which prevents deduplication.
pub(super) fn make_unique(memory: &mut [u8], address: u64, serial: u64) {
    for (page, at) in memory.chunks_exact_mut(PAGE_BYTES).zip(0_u64..) {
        page[..8].copy_from_slice(&random::mix(address + at).to_le_bytes());
        page[8..16].copy_from_slice(&serial.to_le_bytes());
    }
}

/// Fills the data of a write at `address`: blocks with equal contents by their numbers, all others by
/// `serial` and `target`. What a block contains does not depend on the size of the writes.
pub(super) fn fill_blocks(
    memory: &mut [u8],
    address: u64,
    compressible: f64,
    duplicates: &BlockDuplicates,
    (serial, target): (u64, u64),
) {
    let unit_bytes = duplicates.unit_bytes as usize;
    let group = random::mix(duplicates.group);
    let mut at = address;
    let mut rest = memory;
    while !rest.is_empty() {
        let within = (at % duplicates.unit_bytes) as usize;
        let (part, after) = rest.split_at_mut((unit_bytes - within).min(rest.len()));
        let block = duplicates.first_block + at / duplicates.unit_bytes;
        let seed = match duplicates.contents(block) {
            Some(number) => random::mix(group ^ !number),
            None => random::mix(random::mix(serial) ^ random::mix(target ^ group) ^ block),
        };
        fill_by_position(part, within, compressible, (seed, unit_bytes));
        at += part.len() as u64;
        rest = after;
    }
}

/// Fills a part of a block that begins `within` it with numbers that depend on seed and position.
fn fill_by_position(
    memory: &mut [u8],
    within: usize,
    compressible: f64,
    (seed, unit_bytes): (u64, usize),
) {
    let page_bytes = PAGE_BYTES.min(unit_bytes);
    let random_bytes = ((1.0 - compressible) * page_bytes as f64).round() as usize;
    for (word, at) in memory.chunks_mut(8).zip((within..).step_by(8)) {
        let number =
            if at % page_bytes < random_bytes { random::mix(seed ^ at as u64) } else { 0 };
        word.copy_from_slice(&number.to_le_bytes()[..word.len()]);
    }
}

/// Stamps every whole sector of a write at `address`.
pub(super) fn stamp_sectors(memory: &mut [u8], address: u64, generation: u64) {
    for (sector, at) in
        memory.chunks_exact_mut(SECTOR_BYTES).zip((address..).step_by(SECTOR_BYTES))
    {
        for (place, word) in [
            (MAGIC_WORD, MAGIC),
            (ADDRESS_WORD, at),
            (GENERATION_WORD, generation),
            (LAST_ADDRESS_WORD, at),
            (LAST_MAGIC_WORD, MAGIC),
        ] {
            write_word(sector, place, word);
        }
        let checksum = checksum(sector);
        write_word(sector, CHECKSUM_WORD, checksum);
    }
}

/// Returns the damage of one sector that was read from `address`, if any.
pub(super) fn check_sector(
    sector: &[u8],
    address: u64,
    expected: ExpectedStamp,
) -> Option<SectorDamage> {
    if !is_stamped(sector, address) {
        return (expected != ExpectedStamp::Unknown).then_some(SectorDamage::Unstamped);
    }
    if read_word(sector, CHECKSUM_WORD) != checksum(sector) {
        return Some(SectorDamage::Contents);
    }
    // The checksum covers all fields below.
    let found = read_word(sector, ADDRESS_WORD);
    if found != address {
        return Some(SectorDamage::Address { found });
    }
    let is_stale = matches!(expected, ExpectedStamp::Generation(it) if it != read_word(sector, GENERATION_WORD));
    is_stale.then_some(SectorDamage::Stale)
}

/// Returns whether any part of a stamp is left: magic or address, at either end. Empty sectors
/// contain zeros too, so for address 0 only the magic counts.
pub(super) fn is_stamped(sector: &[u8], address: u64) -> bool {
    read_word(sector, MAGIC_WORD) == MAGIC
        || read_word(sector, LAST_MAGIC_WORD) == MAGIC
        || (address != 0
            && (read_word(sector, ADDRESS_WORD) == address
                || read_word(sector, LAST_ADDRESS_WORD) == address))
}

fn read_word(sector: &[u8], place: usize) -> u64 {
    let bytes = &sector[place * 8..place * 8 + 8];
    u64::from_le_bytes(bytes.try_into().expect("eight bytes were taken"))
}

fn write_word(sector: &mut [u8], place: usize, word: u64) {
    sector[place * 8..place * 8 + 8].copy_from_slice(&word.to_le_bytes());
}

/// Returns the checksum of all words but itself: h ← (rotate(h) ⊕ word)·K in four lanes. Each step
/// is a bijection of h and of the word, so damage within one word is always found, and other damage
/// is missed once in 2⁶⁴ cases.
fn checksum(sector: &[u8]) -> u64 {
    const K: u64 = 0x9FB2_1C65_1E98_DF25;
    let mut lanes = [K, K.rotate_left(16), K.rotate_left(32), K.rotate_left(48)];
    for at in (0..WORDS).step_by(4) {
        for (lane, h) in lanes.iter_mut().enumerate() {
            let word =
                if at + lane == CHECKSUM_WORD { 0 } else { read_word(sector, at + lane) };
            *h = (h.rotate_left(23) ^ word).wrapping_mul(K);
        }
    }
    lanes.into_iter().fold(0, |sum, lane| (sum ^ random::mix(lane)).wrapping_mul(K))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn stamped(address: u64, sectors: usize) -> Vec<u8> {
        let mut memory = vec![0; sectors * SECTOR_BYTES];
        fill(&mut memory, 0.0, 4);
        stamp_sectors(&mut memory, address, 17);
        memory
    }

    #[test]
    fn accepts_undamaged_sectors() {
        let memory = stamped(1 << 20, 8);
        for (sector, at) in memory.chunks(SECTOR_BYTES).zip((1_u64 << 20..).step_by(512)) {
            for expected in
                [ExpectedStamp::Generation(17), ExpectedStamp::Stamped, ExpectedStamp::Unknown]
            {
                assert_eq!(check_sector(sector, at, expected), None);
            }
        }
    }

    #[test]
    fn any_damaged_bit_is_found() {
        for bit in 0..SECTOR_BYTES * 8 {
            let mut sector = stamped(4096, 1);
            sector[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                check_sector(&sector, 4096, ExpectedStamp::Unknown),
                Some(SectorDamage::Contents),
                "{bit}"
            );
        }
    }

    #[test]
    fn distinguishes_kinds_of_damage() {
        let sound = stamped(8192, 1);
        for (sector, address, expected, found) in [
            (
                sound.clone(),
                4096,
                ExpectedStamp::Unknown,
                Some(SectorDamage::Address { found: 8192 }),
            ),
            (sound.clone(), 8192, ExpectedStamp::Generation(18), Some(SectorDamage::Stale)),
            (vec![0; 512], 8192, ExpectedStamp::Stamped, Some(SectorDamage::Unstamped)),
            (vec![0; 512], 8192, ExpectedStamp::Generation(1), Some(SectorDamage::Unstamped)),
            (vec![0; 512], 8192, ExpectedStamp::Unknown, None),
            (vec![0; 512], 0, ExpectedStamp::Unknown, None),
            (
                [&sound[..256], &[0; 256]].concat(),
                8192,
                ExpectedStamp::Unknown,
                Some(SectorDamage::Contents),
            ),
            (
                [&[0; 256], &sound[256..]].concat(),
                8192,
                ExpectedStamp::Unknown,
                Some(SectorDamage::Contents),
            ),
        ] {
            assert_eq!(
                check_sector(&sector, address, expected),
                found,
                "{address} {expected:?}"
            );
        }
    }

    #[test]
    fn block_contents_do_not_depend_on_the_size_of_writes() {
        let duplicates = BlockDuplicates {
            unit_bytes: 8192,
            group: 0,
            first_block: 3,
            blocks: 64,
            unique: 20,
            sets: 5,
        };
        let mut whole = vec![0; 64 * 8192];
        fill_blocks(&mut whole, 0, 0.25, &duplicates, (1, 0));
        let mut pieces = vec![0; whole.len()];
        for (piece, at) in pieces.chunks_mut(2048).zip((0..).step_by(2048)) {
            fill_blocks(piece, at, 0.25, &duplicates, (1, 0));
        }
        assert!(whole == pieces);
        let mut again = vec![0; whole.len()];
        fill_blocks(&mut again, 0, 0.25, &duplicates, (2, 0));
        let blocks: HashSet<&[u8]> = whole.chunks(8192).collect();
        assert_eq!(blocks.len(), 20 + 5);
        let changed = whole.chunks(8192).zip(again.chunks(8192)).filter(|(a, b)| a != b);
        assert_eq!(changed.count(), 20, "unique blocks only");
        for page in whole.chunks(4096) {
            assert!(page[3072..].iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn blocks_of_different_groups_differ() {
        let mut memory = vec![0; 2 * 64 * 4096];
        for (half, group) in memory.chunks_mut(64 * 4096).zip(0..) {
            let (blocks, unique, sets) = (64, 20, 5);
            let duplicates = BlockDuplicates {
                unit_bytes: 4096,
                group,
                first_block: 0,
                blocks,
                unique,
                sets,
            };
            fill_blocks(half, 0, 0.0, &duplicates, (1, 0));
        }
        let blocks: HashSet<&[u8]> = memory.chunks(4096).collect();
        assert_eq!(blocks.len(), 2 * (20 + 5));
    }

    #[test]
    fn streams_draw_from_one_set_in_equal_parts() {
        let numbers = |stream| {
            let set = WorkingSet { contents: 12, stream, streams: 3 };
            (0..1000).map(|serial| draw_of_set(set, serial)).collect::<HashSet<u64>>()
        };
        let expected = (0..12).map(|nth| contents_of(nth / 4, nth % 4)).collect();
        for stream in 0..3 {
            assert_eq!(numbers(stream), expected, "{stream}");
        }
        let own = WorkingSet { contents: 5, stream: 0, streams: 1 };
        let drawn: HashSet<u64> = (0..1000).map(|serial| draw_of_set(own, serial)).collect();
        assert_eq!(drawn, (0..5).collect());
    }

    #[test]
    fn finds_the_first_byte_that_deviates_from_a_pattern() {
        let mut memory = [0; 10];
        fill_pattern(&mut memory, b"abc");
        assert_eq!(&memory, b"abcabcabca");
        assert_eq!(find_deviation(&memory, b"abc"), None);
        assert_eq!(find_deviation(&memory, b"abd"), Some(2));
        memory[9] = 0;
        assert_eq!(find_deviation(&memory, b"abc"), Some(9));
        assert_eq!(find_deviation(&[], b"abc"), None);
    }

    #[test]
    fn a_pattern_contains_the_offset_of_its_io() {
        let content = WriteContent {
            pattern: b"1........2".to_vec(),
            offset_places: vec![1],
            ..WriteContent::default()
        };
        assert_eq!(&*pattern_at(&content, 0x1_0203), b"1\x03\x02\x01\0\0\0\0\x002");
        assert_eq!(
            &*pattern_at(&WriteContent { offset_places: vec![], ..content }, 5),
            b"1........2"
        );
    }

    #[test]
    fn fills_the_compressible_share_with_zeros() {
        for (compressible, random_bytes) in [(0.0, 4096), (0.25, 3072), (1.0, 0)] {
            let mut memory = vec![1; 3 * PAGE_BYTES];
            fill(&mut memory, compressible, 9);
            for page in memory.chunks(PAGE_BYTES) {
                assert!(page[random_bytes..].iter().all(|&byte| byte == 0));
                let mut seen = [false; 256];
                page[..random_bytes].iter().for_each(|&byte| seen[usize::from(byte)] = true);
                assert!(random_bytes == 0 || seen.iter().filter(|&&it| it).count() > 200);
            }
        }
    }
}
