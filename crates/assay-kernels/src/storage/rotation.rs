//! Targets that take turns within one depth: which is next, and where in it.
//!
//! A target that has no place left, or was given up, is passed over; the rest go on.

use assay_model::workload::storage::Turns;

use super::places::Places;
use super::random::Draws;

/// Targets of one lane.
#[derive(Debug)]
pub(super) struct Rotation {
    turns: Turns,
    seats: Vec<Seat>,
    at: usize,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Seat {
    /// Index of the target.
    pub(super) target: usize,
    /// Its places.
    pub(super) places: Places,
    /// Bytes of its area.
    pub(super) bytes: u64,
    /// Bytes given out since its turn began, where one is finished before the next.
    pub(super) given: u64,
}

impl Rotation {
    /// A rotation that begins with the first seat.
    pub(super) fn new(turns: Turns, seats: Vec<Seat>) -> Self {
        Self { turns, seats, at: 0 }
    }

    /// Passes over a target from now on; whether another is left.
    pub(super) fn leave(&mut self, target: usize) -> bool {
        self.seats.retain(|seat| seat.target != target);
        self.at %= self.seats.len().max(1);
        !self.seats.is_empty()
    }

    /// The next target and the offset of an I/O of `bytes` in it; `None` when no target has a place.
    pub(super) fn next(&mut self, bytes: u64, draws: &mut Draws) -> Option<(usize, u64)> {
        for _ in 0..self.seats.len() {
            if self.turns == Turns::Random {
                self.at = draws.below(self.seats.len() as u64) as usize;
            }
            let count = self.seats.len();
            let seat = &mut self.seats[self.at];
            let Some(offset) = seat.places.next(bytes, draws) else {
                self.seats.swap_remove(self.at);
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
