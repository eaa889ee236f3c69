//! Position of a job in one file: the next offset in fio's order.

use assay_model::workload::storage::{FileExtent, JobOrder, OffsetLaw, StridedZones};

use super::block_map::BlockMap;
use super::job_draws::JobDraws;
use super::shift_register::ShiftRegister;
use super::skewed_blocks::SkewedBlocks;

/// File of a job.
#[derive(Debug)]
pub(super) struct JobFile {
    /// Index of its target.
    pub(super) target: usize,
    /// Whether the pass has used it up.
    pub(super) is_done: bool,
    /// Whether the pass has begun to use it.
    pub(super) is_open: bool,
    extent: FileExtent,
    /// Start of the current zone, or of the used part.
    origin: u64,
    /// End and start of the last I/O of each direction.
    last_end: [u64; 2],
    last_start: [Option<u64>; 2],
    map: Option<BlockMap>,
    register: Option<ShiftRegister>,
    skewed: Option<SkewedBlocks>,
    drops_cache: bool,
}

/// Offset of the next I/O.
#[derive(Debug, Clone, Copy)]
pub(super) struct NextOffset {
    /// Offset in bytes.
    pub(super) offset: u64,
    /// Whether the map has its blocks.
    pub(super) is_marked: bool,
}

impl JobFile {
    /// Creates the file with this number in the job at its beginning.
    pub(super) fn new(
        target: usize,
        (nth, extent): (usize, FileExtent),
        order: &JobOrder,
    ) -> Self {
        let range = match order.zones {
            Some(zones) => zones.range_bytes,
            None => extent.bytes.min(extent.size_bytes),
        };
        let blocks = range / order.map_block_bytes.max(1);
        let least = order.least_bytes.into_iter().min().unwrap_or(1).max(1);
        let skewed_blocks = extent.bytes.min(extent.size_bytes).div_ceil(least);
        let skew = order.skew.as_ref().filter(|_| order.is_random);
        let register = || ShiftRegister::new(blocks, order.seeds()[JobOrder::OFFSETS]);
        Self {
            target,
            is_done: false,
            is_open: false,
            extent,
            origin: extent.start,
            last_end: [extent.start; 2],
            last_start: [None; 2],
            map: (order.is_random && order.keeps_map).then(|| BlockMap::new(blocks)),
            register: (order.is_random && order.is_register).then(register),
            skewed: skew.and_then(|skew| SkewedBlocks::new(skew, nth, skewed_blocks)),
            drops_cache: false,
        }
    }

    /// Returns the end of the used part.
    pub(super) const fn io_end(&self) -> u64 {
        self.extent.later_start.saturating_add(self.extent.bytes)
    }

    /// Returns the size of the file.
    pub(super) const fn size_bytes(&self) -> u64 {
        self.extent.size_bytes
    }

    /// Starts again, as when the file is opened.
    pub(super) fn restart(&mut self) {
        self.is_done = false;
        self.is_open = false;
        self.origin = self.extent.later_start;
        self.reset();
    }

    /// Ends its use in this pass.
    pub(super) const fn finish(&mut self) {
        self.is_done = true;
        self.is_open = false;
    }

    /// Returns whether the page cache is to be dropped because the file was wrapped around.
    pub(super) fn take_cache_drop(&mut self) -> bool {
        std::mem::take(&mut self.drops_cache)
    }

    /// Returns the direction of the next I/O of pairs of a trim, which counts as a read, and a write.
    pub(super) fn next_of_pair(&self) -> usize {
        usize::from(self.last_start[0] != self.last_start[1])
    }

    /// Returns offset and bytes of the write after a random trim.
    pub(super) fn repeat_trim(&self) -> Option<(u64, u64)> {
        // fio adds the start of the file once more.
        let start = self.last_start[0].filter(|start| *start < self.extent.bytes)?;
        let offset = start.checked_add(self.origin)?;
        (offset < self.extent.size_bytes).then_some((offset, self.last_end[0] - start))
    }

    /// Separates a trim from a pair at the same offset, so that a write follows it.
    pub(super) fn separate_trim(&mut self, offset: u64) {
        if self.last_start[0] == Some(offset) {
            self.last_start[1] = Some(offset.wrapping_sub(1));
        }
    }

    /// Records an I/O.
    pub(super) fn note_io(&mut self, direction: usize, offset: u64, bytes: u64) {
        self.last_start[direction] = Some(offset);
        self.last_end[direction] = offset + bytes;
    }

    /// Marks the blocks of an I/O; returns its bytes up to the first block that is used.
    pub(super) fn mark(&mut self, offset: u64, bytes: u64, block_bytes: u64) -> u64 {
        let Some(map) = &mut self.map else { return bytes };
        let block = offset.saturating_sub(self.origin) / block_bytes;
        let marked = map.mark(block, bytes.div_ceil(block_bytes)).max(1);
        bytes.min(marked * block_bytes)
    }

    /// Moves to the next zone when enough I/O was done in this one.
    pub(super) fn enter_zone(
        &mut self,
        zones: StridedZones,
        zone_bytes: &mut u64,
        direction: usize,
    ) {
        if *zone_bytes >= zones.io_bytes {
            *zone_bytes = 0;
            self.origin =
                self.origin.saturating_add(zones.range_bytes).saturating_add(zones.skip_bytes);
            if self.origin >= self.extent.size_bytes {
                self.origin = self.extent.later_start;
            }
            self.last_end[direction] = self.origin;
        }
        if self.last_end[direction] >= self.origin.saturating_add(zones.range_bytes) {
            self.last_end[direction] = self.origin;
        }
        if zone_bytes.is_multiple_of(zones.range_bytes) {
            self.reset();
        }
    }

    /// Returns the next offset of a direction; `None` at the end of the file.
    pub(super) fn next_offset(
        &mut self,
        order: &JobOrder,
        draws: &mut JobDraws,
        (direction, is_run_over): (usize, bool),
        leaves_free: &mut bool,
    ) -> Option<NextOffset> {
        let jumps = order.is_random
            && is_run_over
            && draws.draw_order(direction, order.random_percent[direction]);
        *leaves_free |= !jumps;
        let (from_origin, is_marked) = if jumps {
            (self.draw_offset(order, draws, direction)?, true)
        } else if !is_run_over && order.repeats_offset {
            let before =
                self.last_start[direction].map_or(0, |start| start.wrapping_sub(self.origin));
            (before, false)
        } else {
            match self.follow(order, direction) {
                Some(offset) => (offset, false),
                None if order.is_random => (self.draw_offset(order, draws, direction)?, false),
                None => return None,
            }
        };
        if from_origin >= self.extent.bytes {
            return None;
        }
        let offset = from_origin.checked_add(self.origin)?;
        (offset < self.extent.size_bytes).then_some(NextOffset { offset, is_marked })
    }

    /// Draws a random offset from the origin.
    fn draw_offset(
        &mut self,
        order: &JobOrder,
        draws: &mut JobDraws,
        direction: usize,
    ) -> Option<u64> {
        let align = order.align_bytes[direction].max(1);
        // The last block has room for the smallest I/O.
        let excess = order.least_bytes[direction].saturating_sub(align);
        if let Some(block) = self.draw_block(order, draws, (direction, excess)) {
            return block.checked_mul(align);
        }
        if !order.is_endless {
            return None;
        }
        self.reset();
        self.drops_cache = true;
        self.draw_block(order, draws, (direction, excess))?.checked_mul(align)
    }

    fn draw_block(
        &mut self,
        order: &JobOrder,
        draws: &mut JobDraws,
        (direction, excess): (usize, u64),
    ) -> Option<u64> {
        if let Some(skewed) = &mut self.skewed {
            return Some(skewed.draw_block());
        }
        let align = order.align_bytes[direction].max(1);
        let room = match order.zones {
            Some(zones) => zones.range_bytes,
            None => self.extent.bytes.min(self.extent.size_bytes),
        };
        let blocks = room.saturating_sub(excess) / align;
        if blocks == 0 {
            return None;
        }
        if let Some(skew) = &order.skew {
            let (from, count) = draw_zone(&skew.law, draws, (direction, align, blocks))?;
            return Some(from + self.draw_uniform(draws, count)?);
        }
        self.draw_uniform(draws, blocks)
    }

    /// Draws one of the first `blocks` that the map has free, or the next of the register.
    fn draw_uniform(&mut self, draws: &mut JobDraws, blocks: u64) -> Option<u64> {
        if let Some(register) = &mut self.register {
            return register.next_block();
        }
        let block = draws.draw_block(blocks);
        match &self.map {
            Some(map) if !map.is_free(block) => map.next_free(block),
            Some(_) | None => Some(block),
        }
    }

    /// Returns the offset after the last I/O, from the origin.
    fn follow(&mut self, order: &JobOrder, direction: usize) -> Option<u64> {
        let FileExtent { bytes, size_bytes, .. } = self.extent;
        let last = &mut self.last_end[direction];
        if *last >= self.extent.later_start.saturating_add(bytes)
            && order.is_endless
            && order.files.len() == 1
        {
            *last = self.origin;
            self.drops_cache = true;
        }
        if *last >= size_bytes {
            return None;
        }
        let end = bytes.min(size_bytes);
        if *last == self.origin && self.origin > 0 && order.gap_bytes < 0 {
            *last = end;
        }
        let at = last.wrapping_sub(self.origin);
        if at == 0 || order.gap_bytes == 0 {
            return Some(at);
        }
        // Wraps below 0, which is past the end, too.
        let next = at.wrapping_add_signed(order.gap_bytes);
        if next < size_bytes {
            return Some(next);
        }
        Some(if order.gap_bytes > 0 {
            self.origin
        } else {
            end.wrapping_add_signed(order.gap_bytes)
        })
    }

    /// Sets positions to the origin and frees all blocks.
    fn reset(&mut self) {
        self.last_end = [self.origin; 2];
        self.last_start = [None; 2];
        if let Some(map) = &mut self.map {
            map.clear();
        }
        if let Some(register) = &mut self.register {
            register.restart();
        }
    }
}

/// Draws a zone; returns its first block and its blocks, `None` if it exceeds the range. Without
/// zones it is the whole range.
fn draw_zone(
    law: &OffsetLaw,
    draws: &mut JobDraws,
    (direction, align, blocks): (usize, u64, u64),
) -> Option<(u64, u64)> {
    let OffsetLaw::Zones { in_bytes, reads, writes } = law else { return Some((0, blocks)) };
    let zones = if direction == 0 { reads } else { writes };
    if zones.is_empty() {
        return Some((0, blocks));
    }
    let drawn = draws.draw_zone_percent();
    let (mut percent, mut start, mut end) = (0, 0, 0);
    for zone in zones {
        percent += zone.io_percent;
        (start, end) = (end, end + zone.size);
        if drawn < percent {
            break;
        }
    }
    match in_bytes {
        true if end / align > blocks => None,
        true => Some((start / align, end / align - start / align)),
        false => Some((start * blocks / 100, blocks * (end - start) / 100)),
    }
}
