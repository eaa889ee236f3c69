//! Rotation of targets within one depth: the next target and the offset in it.
//!
//! A target without an offset left, or given up, is skipped; the others go on.

use assay_model::workload::storage::TargetRotation;

use super::offset_pattern::OffsetPattern;
use super::random::RandomStream;

/// Targets of one lane.
#[derive(Debug)]
pub(super) struct RotationState {
    turns: TargetRotation,
    cursors: Vec<TargetCursor>,
    /// Cumulative bytes up to the end of each target.
    ends: Vec<u64>,
    current: usize,
}

/// Target with its access pattern.
#[derive(Debug)]
pub(super) struct TargetCursor {
    /// Index of the target.
    pub(super) target: usize,
    /// Access pattern on the target.
    pub(super) pattern: OffsetPattern,
    /// Bytes of its area.
    pub(super) bytes: u64,
    /// Bytes issued since its turn began, where one target is finished before the next.
    pub(super) issued_bytes: u64,
}

impl RotationState {
    /// Creates a rotation that begins with the first target.
    pub(super) fn new(turns: TargetRotation, cursors: Vec<TargetCursor>) -> Self {
        let ends = cumulative_ends(&cursors);
        Self { turns, cursors, ends, current: 0 }
    }

    /// Returns the targets that have not been removed.
    pub(super) fn targets(&self) -> impl Iterator<Item = usize> {
        self.cursors.iter().map(|seat| seat.target)
    }

    /// Removes a target. Returns whether another is left.
    pub(super) fn remove_target(&mut self, target: usize) -> bool {
        self.cursors.retain(|seat| seat.target != target);
        self.ends = cumulative_ends(&self.cursors);
        self.current %= self.cursors.len().max(1);
        !self.cursors.is_empty()
    }

    /// Returns the next target and the offset of an I/O of `bytes` in it; `None` if no target has
    /// an offset left.
    pub(super) fn next_io(
        &mut self,
        bytes: u64,
        draws: &mut RandomStream,
    ) -> Option<(usize, u64)> {
        for _ in 0..self.cursors.len() {
            match self.turns {
                TargetRotation::Random => {
                    self.current = draws.uniform_below(self.cursors.len() as u64) as usize;
                }
                TargetRotation::BySize => {
                    let byte = draws.uniform_below(self.ends.last().copied().unwrap_or(1));
                    self.current = self.ends.partition_point(|end| *end <= byte);
                }
                TargetRotation::Round | TargetRotation::InOrder => {}
            }
            let count = self.cursors.len();
            let seat = &mut self.cursors[self.current];
            let Some(offset) = seat.pattern.next_offset(bytes, draws) else {
                self.cursors.swap_remove(self.current);
                self.ends = cumulative_ends(&self.cursors);
                self.current %= self.cursors.len().max(1);
                continue;
            };
            seat.issued_bytes += bytes;
            let target = seat.target;
            if self.turns == TargetRotation::Round || seat.issued_bytes >= seat.bytes {
                seat.issued_bytes = 0;
                self.current = (self.current + 1) % count;
            }
            return Some((target, offset));
        }
        None
    }
}

fn cumulative_ends(seats: &[TargetCursor]) -> Vec<u64> {
    let mut sum = 0u64;
    let mut end = |seat: &TargetCursor| {
        // A target without bytes is still drawn occasionally, and removed when it has no offset.
        sum = sum.saturating_add(seat.bytes.max(1));
        sum
    };
    seats.iter().map(&mut end).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    use assay_model::workload::storage::{AccessPattern, AtEnd, Cursor};

    use super::super::offset_pattern::ByteRange;
    use super::*;

    const BLOCK: u64 = 4096;

    fn rotation(
        turns: TargetRotation,
        pattern: AccessPattern,
        blocks: &[u64],
    ) -> RotationState {
        let seat = |(target, blocks): (usize, &u64)| {
            let area = ByteRange { start: 0, end: blocks * BLOCK };
            let position = Arc::new(AtomicU64::new(0));
            let places = OffsetPattern::new((area, pattern), position, None, BLOCK, 1);
            TargetCursor { target, pattern: places, bytes: area.end, issued_bytes: 0 }
        };
        RotationState::new(turns, blocks.iter().enumerate().map(seat).collect())
    }

    #[test]
    fn draws_targets_by_size() {
        let mut rotation =
            rotation(TargetRotation::BySize, AccessPattern::Random, &[10, 30, 0, 60]);
        let mut draws = RandomStream::new(1, 2);
        let mut counts = [0u32; 4];
        for _ in 0..10_000 {
            let (target, offset) = rotation.next_io(BLOCK, &mut draws).unwrap();
            assert!(offset < 60 * BLOCK);
            counts[target] += 1;
        }
        // Five standard deviations of a binomial with n = 10,000 and these probabilities.
        for (count, (expected, tolerance)) in
            counts.into_iter().zip([(1000, 150), (3000, 230), (0, 0), (6000, 245)])
        {
            assert!(count.abs_diff(expected) <= tolerance, "{counts:?}");
        }
        assert!(rotation.remove_target(3));
        assert!((0..100).all(|_| rotation.next_io(BLOCK, &mut draws).unwrap().0 < 2));
    }

    #[test]
    fn finishes_one_target_before_the_next() {
        let pattern =
            |at_end| AccessPattern::Sequential { cursor: Cursor::Shared, at_end, gap_bytes: 0 };
        let mut draws = RandomStream::new(1, 2);
        let mut once = rotation(TargetRotation::InOrder, pattern(AtEnd::Stop), &[2, 3]);
        let all: Vec<_> = std::iter::from_fn(|| once.next_io(BLOCK, &mut draws))
            .map(|(target, offset)| (target, offset / BLOCK))
            .collect();
        assert_eq!(all, [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]);
        let mut on = rotation(TargetRotation::InOrder, pattern(AtEnd::Wrap), &[2, 1]);
        let all: Vec<_> =
            (0..6).filter_map(|_| on.next_io(BLOCK, &mut draws)).map(|it| it.0).collect();
        assert_eq!(all, [0, 0, 1, 0, 0, 1]);
    }
}
