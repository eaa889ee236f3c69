//! Rotation of targets within one depth: the next target and the offset in it.
//!
//! A target without an offset left, or given up, is skipped; the others go on.

use assay_model::workload::storage::Turns;

use super::places::Places;
use super::random::Draws;

/// Targets of one lane.
#[derive(Debug)]
pub(super) struct Rotation {
    turns: Turns,
    seats: Vec<Seat>,
    /// Cumulative bytes up to the end of each target.
    ends: Vec<u64>,
    at: usize,
}

/// Target with its access pattern.
#[derive(Debug)]
pub(super) struct Seat {
    /// Index of the target.
    pub(super) target: usize,
    /// Access pattern on the target.
    pub(super) places: Places,
    /// Bytes of its area.
    pub(super) bytes: u64,
    /// Bytes issued since its turn began, where one target is finished before the next.
    pub(super) given: u64,
}

impl Rotation {
    /// Creates a rotation that begins with the first target.
    pub(super) fn new(turns: Turns, seats: Vec<Seat>) -> Self {
        let ends = ends(&seats);
        Self { turns, seats, ends, at: 0 }
    }

    /// Returns the targets that have not been removed.
    pub(super) fn targets(&self) -> impl Iterator<Item = usize> {
        self.seats.iter().map(|seat| seat.target)
    }

    /// Removes a target. Returns whether another is left.
    pub(super) fn leave(&mut self, target: usize) -> bool {
        self.seats.retain(|seat| seat.target != target);
        self.ends = ends(&self.seats);
        self.at %= self.seats.len().max(1);
        !self.seats.is_empty()
    }

    /// Returns the next target and the offset of an I/O of `bytes` in it; `None` if no target has
    /// an offset left.
    pub(super) fn next(&mut self, bytes: u64, draws: &mut Draws) -> Option<(usize, u64)> {
        for _ in 0..self.seats.len() {
            match self.turns {
                Turns::Random => self.at = draws.below(self.seats.len() as u64) as usize,
                Turns::BySize => {
                    let byte = draws.below(self.ends.last().copied().unwrap_or(1));
                    self.at = self.ends.partition_point(|end| *end <= byte);
                }
                Turns::Round | Turns::InOrder => {}
            }
            let count = self.seats.len();
            let seat = &mut self.seats[self.at];
            let Some(offset) = seat.places.next(bytes, draws) else {
                self.seats.swap_remove(self.at);
                self.ends = ends(&self.seats);
                self.at %= self.seats.len().max(1);
                continue;
            };
            seat.given += bytes;
            let target = seat.target;
            if self.turns == Turns::Round || seat.given >= seat.bytes {
                seat.given = 0;
                self.at = (self.at + 1) % count;
            }
            return Some((target, offset));
        }
        None
    }
}

fn ends(seats: &[Seat]) -> Vec<u64> {
    let mut sum = 0u64;
    let mut end = |seat: &Seat| {
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

    use super::super::places::Area;
    use super::*;

    const BLOCK: u64 = 4096;

    fn rotation(turns: Turns, pattern: AccessPattern, blocks: &[u64]) -> Rotation {
        let seat = |(target, blocks): (usize, &u64)| {
            let area = Area { start: 0, end: blocks * BLOCK };
            let position = Arc::new(AtomicU64::new(0));
            let places = Places::new((area, pattern), position, None, BLOCK, 1);
            Seat { target, places, bytes: area.end, given: 0 }
        };
        Rotation::new(turns, blocks.iter().enumerate().map(seat).collect())
    }

    #[test]
    fn every_byte_of_all_targets_is_as_likely_as_any_other() {
        let mut rotation = rotation(Turns::BySize, AccessPattern::Random, &[10, 30, 0, 60]);
        let mut draws = Draws::new(1, 2);
        let mut counts = [0u32; 4];
        for _ in 0..10_000 {
            let (target, offset) = rotation.next(BLOCK, &mut draws).unwrap();
            assert!(offset < 60 * BLOCK);
            counts[target] += 1;
        }
        // Five standard deviations of a binomial with n = 10,000 and these probabilities.
        for (count, (expected, tolerance)) in
            counts.into_iter().zip([(1000, 150), (3000, 230), (0, 0), (6000, 245)])
        {
            assert!(count.abs_diff(expected) <= tolerance, "{counts:?}");
        }
        assert!(rotation.leave(3));
        assert!((0..100).all(|_| rotation.next(BLOCK, &mut draws).unwrap().0 < 2));
    }

    #[test]
    fn one_is_finished_before_the_next_begins() {
        let pattern =
            |at_end| AccessPattern::Sequential { cursor: Cursor::Shared, at_end, gap_bytes: 0 };
        let mut draws = Draws::new(1, 2);
        let mut once = rotation(Turns::InOrder, pattern(AtEnd::Stop), &[2, 3]);
        let all: Vec<_> = std::iter::from_fn(|| once.next(BLOCK, &mut draws))
            .map(|(target, offset)| (target, offset / BLOCK))
            .collect();
        assert_eq!(all, [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]);
        let mut on = rotation(Turns::InOrder, pattern(AtEnd::Wrap), &[2, 1]);
        let all: Vec<_> =
            (0..6).filter_map(|_| on.next(BLOCK, &mut draws)).map(|it| it.0).collect();
        assert_eq!(all, [0, 0, 1, 0, 0, 1]);
    }
}
