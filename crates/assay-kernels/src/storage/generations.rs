//! Verification state of blocks: the last write of this phase in each, and whether I/O is in
//! flight.
//!
//! The data of two concurrent I/O on one block would be undefined, so verification claims blocks
//! first. Never touches data.

use std::sync::atomic::{AtomicU8, Ordering};

use super::content::{ExpectedStamp, SECTOR_BYTES};
use super::offset_pattern::ByteRange;

/// State of all blocks, a byte each: a count of writes, and a bit that is set while I/O is in
/// flight.
#[derive(Debug)]
pub(super) struct BlockGenerations {
    area: ByteRange,
    block_bytes: u64,
    /// Identifier of the phase in stamps, so that stamps of earlier phases are never mistaken for
    /// this one's.
    phase_id: u64,
    /// Expected stamp of blocks that this phase has not written.
    unwritten: ExpectedStamp,
    blocks: Vec<AtomicU8>,
}

const BUSY: u8 = 0x80;
/// Maximum count, after which counts restart at 1; 0 means not written by this phase.
const MAX_COUNT: u8 = 0x7F;

impl BlockGenerations {
    /// Creates the state of all blocks of `area`, none of them written. Offsets and lengths of I/O
    /// are multiples of `block_bytes` from the area's start; no I/O reaches into a last partial
    /// block.
    pub(super) fn new(
        area: ByteRange,
        block_bytes: u64,
        mark: u64,
        unwritten: ExpectedStamp,
    ) -> Self {
        let blocks = (area.end - area.start).div_ceil(block_bytes);
        let mut all = Vec::new();
        all.resize_with(blocks as usize, AtomicU8::default);
        Self { area, block_bytes, phase_id: mark << 8, unwritten, blocks: all }
    }

    /// Claims the blocks of one I/O. Returns `false` and claims none if one of them is in use.
    pub(super) fn claim(&self, offset: u64, bytes: u64) -> bool {
        let blocks = self.blocks(offset, bytes);
        for (at, block) in blocks.iter().enumerate() {
            // Acquire and release order the last writer's bytes before the next claim.
            if block.fetch_or(BUSY, Ordering::Acquire) & BUSY != 0 {
                release(&blocks[..at]);
                return false;
            }
        }
        true
    }

    /// Releases claimed blocks unchanged.
    pub(super) fn release(&self, offset: u64, bytes: u64) {
        release(self.blocks(offset, bytes));
    }

    /// Returns the stamp of the next write to a claimed range: one more than that of any block
    /// there.
    pub(super) fn next_stamp(&self, offset: u64, bytes: u64) -> u64 {
        let maximum = self
            .blocks(offset, bytes)
            .iter()
            .map(|block| block.load(Ordering::Relaxed) & !BUSY)
            .max()
            .unwrap_or(0);
        self.phase_id | u64::from(if maximum == MAX_COUNT { 1 } else { maximum + 1 })
    }

    /// Records the stamp that a claimed range contains now; `None` if its contents are unknown. The
    /// claim stays.
    pub(super) fn record_write(&self, offset: u64, bytes: u64, stamp: Option<u64>) {
        let count = stamp.map_or(0, |stamp| (stamp & 0xFF) as u8);
        for block in self.blocks(offset, bytes) {
            block.store(count | BUSY, Ordering::Relaxed);
        }
    }

    /// Returns the expected stamp of the sector at `offset`.
    pub(super) fn expected(&self, offset: u64) -> ExpectedStamp {
        let block = self.blocks(offset, SECTOR_BYTES as u64).first();
        match block.map(|block| block.load(Ordering::Relaxed) & !BUSY) {
            None | Some(0) => self.unwritten,
            Some(count) => ExpectedStamp::Generation(self.phase_id | u64::from(count)),
        }
    }

    /// Returns whether this phase has written the whole range.
    pub(super) fn is_written(&self, offset: u64, bytes: u64) -> bool {
        let mut blocks = self.blocks(offset, bytes).iter();
        blocks.all(|block| block.load(Ordering::Relaxed) & !BUSY != 0)
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

    fn generations() -> BlockGenerations {
        BlockGenerations::new(
            ByteRange { start: 4096, end: 4096 + 8 * 512 },
            512,
            3,
            ExpectedStamp::Unknown,
        )
    }

    #[test]
    fn claimed_blocks_are_not_claimed_twice() {
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
    fn expects_the_stamp_of_the_last_write() {
        let all = generations();
        assert_eq!(all.expected(4096), ExpectedStamp::Unknown);
        let mut stamps = Vec::new();
        for _ in 0..300 {
            assert!(all.claim(4096, 1024));
            let stamp = all.next_stamp(4096, 1024);
            all.record_write(4096, 1024, Some(stamp));
            all.release(4096, 1024);
            assert_eq!(all.expected(4608), ExpectedStamp::Generation(stamp));
            stamps.push(stamp);
        }
        assert!(stamps.windows(2).all(|pair| pair[0] != pair[1]), "wrapping included");
        assert!(all.claim(4096, 512));
        all.record_write(4096, 512, None);
        assert_eq!(
            all.expected(4096),
            ExpectedStamp::Unknown,
            "a failed write leaves anything"
        );
        assert_eq!(all.expected(4608), ExpectedStamp::Generation(stamps[299]));
        assert!(all.is_written(4608, 512) && !all.is_written(4096, 1024));
    }
}
