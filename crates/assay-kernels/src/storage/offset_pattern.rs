//! Offsets of I/O: access patterns over an area, one offset at a time.
//!
//! Areas are plain byte ranges; files and permissions are not considered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_model::workload::storage::{AccessPattern, AtEnd};

use super::random::{self, RandomStream};

/// Range of bytes: first and one past the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByteRange {
    /// First byte.
    pub(super) start: u64,
    /// Byte after the last.
    pub(super) end: u64,
}

impl ByteRange {
    /// Returns the offset of an I/O of `bytes` that starts at a multiple of `align`, uniformly
    /// distributed; `None` if none fits.
    #[inline]
    pub(super) fn random_offset(
        self,
        bytes: u64,
        align: u64,
        draws: &mut RandomStream,
    ) -> Option<u64> {
        let first = self.start.next_multiple_of(align);
        let room = self.end.checked_sub(first)?.checked_sub(bytes)?;
        Some(first + draws.uniform_below(room / align + 1) * align)
    }
}

/// Position shared by one or several workers, in bytes or in slots.
pub(super) type Position = Arc<AtomicU64>;

/// Access pattern of one lane.
#[derive(Debug)]
pub(super) struct OffsetPattern {
    area: ByteRange,
    pattern: AccessPattern,
    position: Position,
    /// Alignment of offsets; `None` = the size of the transfer.
    align: Option<u64>,
    /// Spacing of slots that are visited once each: the maximum size.
    pitch: u64,
    seed: u64,
}

impl OffsetPattern {
    /// Creates a pattern. The position must be at [`OffsetPattern::initial_position`] of the same
    /// pattern and area.
    pub(super) fn new(
        (area, pattern): (ByteRange, AccessPattern),
        position: Position,
        align: Option<u64>,
        maximum_bytes: u64,
        seed: u64,
    ) -> Self {
        let pitch = align.map_or(maximum_bytes, |align| maximum_bytes.next_multiple_of(align));
        Self { area, pattern, position, align, pitch, seed }
    }

    /// Returns the initial position.
    pub(super) fn initial_position(area: ByteRange, pattern: AccessPattern) -> u64 {
        match pattern {
            AccessPattern::Sequential { .. }
            | AccessPattern::Mixed { .. }
            | AccessPattern::Strides { .. } => area.start,
            AccessPattern::Random | AccessPattern::Permutation => 0,
            AccessPattern::Blocks { first_io, .. } => first_io,
        }
    }

    /// Returns the offset of the next I/O of `bytes`; `None` when the lane is done.
    #[inline]
    pub(super) fn next_offset(&self, bytes: u64, draws: &mut RandomStream) -> Option<u64> {
        match self.pattern {
            AccessPattern::Random => self.next_random(bytes, draws),
            AccessPattern::Permutation => self.next_permuted(),
            AccessPattern::Strides { least_bytes, most_bytes } => {
                self.next_with_gap(bytes, (least_bytes, most_bytes), draws)
            }
            AccessPattern::Blocks {
                block_bytes,
                stride_bytes,
                shuffled,
                within_blocks,
                ..
            } => self.next_in_blocks(
                bytes,
                (block_bytes, stride_bytes),
                (shuffled, within_blocks),
            ),
            AccessPattern::Sequential { at_end, gap_bytes, .. } => {
                self.next_sequential(bytes, gap_bytes, at_end)
            }
            AccessPattern::Mixed { random_share } if draws.chance(random_share) => {
                let offset = self.next_random(bytes, draws)?;
                self.position.store(offset + bytes, Ordering::Relaxed);
                Some(offset)
            }
            AccessPattern::Mixed { .. } => self.next_sequential(bytes, 0, AtEnd::Wrap),
        }
    }

    /// Returns whether the pattern ends and visits each offset once, so that another draw cannot
    /// replace an offset.
    pub(super) fn visits_each_once(&self) -> bool {
        matches!(
            self.pattern,
            AccessPattern::Sequential { at_end: AtEnd::Stop, .. }
                | AccessPattern::Blocks { .. }
        )
    }

    /// Returns the next offset in blocks. A block that does not fit the area as a whole is left
    /// out, unless the order is one within each block.
    fn next_in_blocks(
        &self,
        bytes: u64,
        (block, stride): (u64, u64),
        (shuffled, within_blocks): (bool, bool),
    ) -> Option<u64> {
        let ByteRange { start, end } = self.area;
        let (per_block, stride) = ((block / bytes).max(1), stride.max(block).max(1));
        let blocks = match within_blocks {
            true => (end - start).div_ceil(stride),
            false => (end - start).checked_sub(block)? / stride + 1,
        };
        let slots = blocks.checked_mul(per_block)?;
        let n = self.position.fetch_add(1, Ordering::Relaxed);
        if n >= slots {
            return None;
        }
        let (nth, within) = match (shuffled, within_blocks) {
            (false, _) => (n / per_block, n % per_block),
            (true, true) => (n / per_block, permute(n % per_block, per_block, self.seed)),
            (true, false) => {
                let n = permute(n, slots, self.seed);
                (n / per_block, n % per_block)
            }
        };
        let offset = start + nth * stride + within * bytes;
        (offset + bytes <= end).then_some(offset)
    }

    #[inline]
    fn next_random(&self, bytes: u64, draws: &mut RandomStream) -> Option<u64> {
        self.area.random_offset(bytes, self.align.unwrap_or(bytes), draws)
    }

    fn next_permuted(&self) -> Option<u64> {
        let first = self.area.start.next_multiple_of(self.align.unwrap_or(self.pitch));
        let slots = self.area.end.checked_sub(first)? / self.pitch;
        if slots == 0 {
            return None;
        }
        let n = self.position.fetch_add(1, Ordering::Relaxed);
        let seed = self.seed.wrapping_add(n / slots);
        Some(first + permute(n % slots, slots, seed) * self.pitch)
    }

    /// Returns the next offset after a random gap of `minimum` to `most` bytes in steps of `bytes`.
    /// It wraps to the start without a gap; `None` if nothing fits.
    #[inline]
    fn next_with_gap(
        &self,
        bytes: u64,
        (minimum, most): (u64, u64),
        draws: &mut RandomStream,
    ) -> Option<u64> {
        let ByteRange { start, end } = self.area;
        let steps = most.saturating_sub(minimum) / bytes;
        let gap = minimum.saturating_add(draws.uniform_below(steps + 1) * bytes);
        end.checked_sub(start)?.checked_sub(bytes)?;
        let place = |at: u64| {
            let next = if at == start { at } else { at.saturating_add(gap) };
            if next.saturating_add(bytes) <= end { next } else { start }
        };
        let before = self
            .position
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| Some(place(at) + bytes))
            .ok()?;
        Some(place(before))
    }

    /// Returns the next sequential offset. Concurrent workers get different offsets.
    fn next_sequential(&self, bytes: u64, gap: u64, at_end: AtEnd) -> Option<u64> {
        let ByteRange { start, end } = self.area;
        let fits = |at: u64| at.checked_add(bytes).is_some_and(|past| past <= end);
        let place = |at: u64| match at_end {
            _ if fits(at) => Some(at),
            AtEnd::Wrap if fits(start) => Some(start),
            AtEnd::Wrap | AtEnd::Stop => None,
        };
        let before = self.position.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| {
            Some(place(at)?.saturating_add(bytes + gap))
        });
        place(before.ok()?)
    }
}

/// Returns the image of `n` under a keyed permutation of `slots`: a Feistel network of four rounds
/// over the next even number of bits, applied until the result is in range (Black and Rogaway
/// 2002). On average less than four rounds of it.
pub(super) fn permute(n: u64, slots: u64, seed: u64) -> u64 {
    let bits = u64::BITS - (slots - 1).leading_zeros();
    let half = bits.div_ceil(2).max(1);
    let mask = (1 << half) - 1;
    let mut at = n;
    loop {
        let (mut left, mut right) = (at >> half, at & mask);
        for round in 0..4 {
            let key = seed.wrapping_add(round << 56);
            (left, right) = (right, left ^ (random::mix(right ^ key) & mask));
        }
        at = left << half | right;
        if at < slots {
            return at;
        }
    }
}

#[cfg(test)]
mod tests;
