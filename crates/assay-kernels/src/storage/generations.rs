//! Which write of this phase each block holds, and which blocks have I/O in flight.
//!
//! Two I/O on one block at the same time would leave open which data is right, so verification claims
//! blocks first. Never touches data.

use std::sync::atomic::{AtomicU8, Ordering};

use super::content::{Expected, SECTOR_BYTES};
use super::places::Area;

/// One byte per block: a count of writes, and a bit that says somebody is at it.
#[derive(Debug)]
pub(super) struct Generations {
    area: Area,
    block_bytes: u64,
    /// The phase's own mark, so that stamps of earlier phases are never taken for this one's.
    mark: u64,
    /// What is known of blocks that this phase has not written.
    before: Expected,
    blocks: Vec<AtomicU8>,
}

const BUSY: u8 = 0x80;
/// Counts begin again at 1 after this; 0 means not written by this phase.
const MAXIMUM: u8 = 0x7F;

impl Generations {
    /// All blocks of `area`, none of them written. I/O starts at and is a multiple of `block_bytes`
    /// from the area's start; a last partial block is left out.
    pub(super) fn new(area: Area, block_bytes: u64, mark: u64, before: Expected) -> Self {
        let blocks = (area.end - area.start).div_ceil(block_bytes);
        let mut all = Vec::new();
        all.resize_with(blocks as usize, AtomicU8::default);
        Self { area, block_bytes, mark: mark << 8, before, blocks: all }
    }

    /// Takes the blocks for one I/O. False, and nothing is taken, when one of them is in use.
    pub(super) fn claim(&self, offset: u64, bytes: u64) -> bool {
        let blocks = self.blocks(offset, bytes);
        for (at, block) in blocks.iter().enumerate() {
            // Acquire and release make the writer's bytes happen before the next claim's.
            if block.fetch_or(BUSY, Ordering::Acquire) & BUSY != 0 {
                release(&blocks[..at]);
                return false;
            }
        }
        true
    }

    /// Gives blocks back as they were.
    pub(super) fn release(&self, offset: u64, bytes: u64) {
        release(self.blocks(offset, bytes));
    }

    /// The stamp of the next write of a claimed place: one more than any block's there.
    pub(super) fn next(&self, offset: u64, bytes: u64) -> u64 {
        let maximum = self
            .blocks(offset, bytes)
            .iter()
            .map(|block| block.load(Ordering::Relaxed) & !BUSY)
            .max()
            .unwrap_or(0);
        self.mark | u64::from(if maximum == MAXIMUM { 1 } else { maximum + 1 })
    }

    /// Notes that a claimed place holds the write with this stamp now, or with `None` that it may hold
    /// anything. The claim stays.
    pub(super) fn wrote(&self, offset: u64, bytes: u64, stamp: Option<u64>) {
        let count = stamp.map_or(0, |stamp| (stamp & 0xFF) as u8);
        for block in self.blocks(offset, bytes) {
            block.store(count | BUSY, Ordering::Relaxed);
        }
    }

    /// What the sector at `offset` is held against.
    pub(super) fn expected(&self, offset: u64) -> Expected {
        let block = self.blocks(offset, SECTOR_BYTES as u64).first();
        match block.map(|block| block.load(Ordering::Relaxed) & !BUSY) {
            None | Some(0) => self.before,
            Some(count) => Expected::Generation(self.mark | u64::from(count)),
        }
    }

    fn blocks(&self, offset: u64, bytes: u64) -> &[AtomicU8] {
        let from = offset.saturating_sub(self.area.start);
        let first = from / self.block_bytes;
        let last = (from + bytes).div_ceil(self.block_bytes);
        let blocks = self.blocks.get(first as usize..last as usize);
        blocks.expect("places are drawn from the area that the blocks were made for")
    }
}

fn release(blocks: &[AtomicU8]) {
    for block in blocks {
        block.fetch_and(!BUSY, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generations() -> Generations {
        Generations::new(Area { start: 4096, end: 4096 + 8 * 512 }, 512, 3, Expected::Unknown)
    }

    #[test]
    fn what_is_claimed_is_not_given_twice() {
        let all = generations();
        assert!(all.claim(4096 + 1024, 1024));
        for (offset, bytes, free) in
            [(4096, 1024, true), (5120, 512, false), (5632, 1024, false), (6144, 512, true)]
        {
            assert_eq!(all.claim(offset, bytes), free, "{offset}");
        }
        all.release(5120, 1024);
        assert!(all.claim(5120, 1024), "a refused claim has taken nothing");
    }

    #[test]
    fn the_last_write_counts() {
        let all = generations();
        assert_eq!(all.expected(4096), Expected::Unknown);
        let mut stamps = Vec::new();
        for _ in 0..300 {
            assert!(all.claim(4096, 1024));
            let stamp = all.next(4096, 1024);
            all.wrote(4096, 1024, Some(stamp));
            all.release(4096, 1024);
            assert_eq!(all.expected(4608), Expected::Generation(stamp));
            stamps.push(stamp);
        }
        assert!(stamps.windows(2).all(|pair| pair[0] != pair[1]), "wrapping included");
        assert!(all.claim(4096, 512));
        all.wrote(4096, 512, None);
        assert_eq!(all.expected(4096), Expected::Unknown, "a failed write leaves anything");
        assert_eq!(all.expected(4608), Expected::Generation(stamps[299]));
    }
}
