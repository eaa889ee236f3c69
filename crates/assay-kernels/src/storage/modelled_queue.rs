//! Number of I/O in flight in fio's order of calls, and what depends on it (`io_u.c`, `backend.c`).
//!
//! It follows from the depth and the batches, for I/O that completes in order as soon as it is
//! submitted, as in memory: a job has the same I/O on each device. Counts only; submits nothing.

use assay_model::workload::storage::{IoBatches, JobOrder, StorageStream};

/// Queue of a job, with the number of I/O in flight.
#[derive(Debug)]
pub(super) struct ModelledQueue {
    in_flight: usize,
    depth: usize,
    batches: IoBatches,
}

impl ModelledQueue {
    /// Creates the empty queue of a stream.
    pub(super) fn new(order: &JobOrder, stream: &StorageStream) -> Self {
        let depth = if order.queues { stream.in_flight_per_target.max(1) } else { 1 };
        let singly =
            IoBatches { submit: 1, collect_least: 1, collect_most: 1, refill_below: depth };
        let batches = stream.conduct.batches.unwrap_or(singly);
        Self { in_flight: 0, depth: depth as usize, batches }
    }

    /// Adds an I/O; returns the number of I/O that complete, which is 0 unless the queue is full or
    /// polled.
    pub(super) fn begin(&mut self) -> usize {
        self.in_flight += 1;
        let begun = self.in_flight;
        let is_full = begun >= self.depth;
        let IoBatches { collect_least, collect_most, refill_below, .. } = self.batches;
        let polls = collect_least == 0 && collect_most == 0;
        if !is_full && !polls {
            return 0;
        }
        let at_once = collect_most.max(1) as usize;
        self.in_flight = begun.saturating_sub(at_once);
        while is_full && self.in_flight > refill_below as usize {
            self.in_flight = self.in_flight.saturating_sub(at_once);
        }
        begun - self.in_flight
    }

    /// Completes all I/O, as at the end of a pass.
    pub(super) const fn complete_all(&mut self) {
        self.in_flight = 0;
    }
}

/// Units of I/O (`io_u`) that still have fio's mark `IO_U_F_BUSY_OK`.
///
/// An I/O with the mark leaves its blocks free. The mark outlasts an attempt that found no block:
/// the unit is put back with it, and the next I/O of the unit ends it.
///
/// The free units are a stack: the one that was put back with `n` I/O in flight is used by the next
/// I/O that begins with `n` in flight.
#[derive(Debug)]
pub(super) struct BusyOkUnits {
    queue: ModelledQueue,
    /// I/O in flight when each was put back with its mark.
    marked_at: Vec<usize>,
}

impl BusyOkUnits {
    /// Creates units without marks.
    pub(super) fn new(order: &JobOrder, stream: &StorageStream) -> Self {
        Self { queue: ModelledQueue::new(order, stream), marked_at: Vec::new() }
    }

    /// Takes the mark of the unit of the next I/O; returns whether it has one.
    pub(super) fn take_mark(&mut self) -> bool {
        let at = self.marked_at.iter().position(|in_flight| *in_flight == self.queue.in_flight);
        at.map(|at| self.marked_at.swap_remove(at)).is_some()
    }

    /// Puts the unit back with its mark.
    pub(super) fn keep_mark(&mut self) {
        self.marked_at.push(self.queue.in_flight);
    }

    /// Notes that an I/O begins.
    pub(super) fn begin_io(&mut self) {
        self.queue.begin();
    }

    /// Clears the marks of the units of the next `ios` I/O, which begin.
    pub(super) fn clear_marks(&mut self, ios: u64) {
        for _ in 0..ios.min(self.queue.depth as u64) {
            self.take_mark();
            self.begin_io();
        }
    }

    /// Completes all I/O.
    pub(super) const fn complete_all(&mut self) {
        self.queue.complete_all();
    }
}

#[cfg(test)]
mod tests {
    use assay_model::workload::storage::AccessPattern;

    use super::*;

    fn units(depth: u32) -> BusyOkUnits {
        let order = JobOrder { queues: true, ..JobOrder::default() };
        let stream = StorageStream {
            in_flight_per_target: depth,
            ..StorageStream::new(AccessPattern::Random, 4096, 0.0)
        };
        BusyOkUnits::new(&order, &stream)
    }

    #[test]
    fn a_marked_unit_is_used_at_its_place_in_the_stack() {
        let mut units = units(4);
        // Four begin and one is complete: three are in flight.
        (0..4).for_each(|_| units.begin_io());
        units.keep_mark();
        units.complete_all();
        let marks = (0..6).map(|_| {
            let is_marked = units.take_mark();
            units.begin_io();
            is_marked
        });
        assert_eq!(marks.collect::<Vec<_>>(), [false, false, false, true, false, false]);
    }

    #[test]
    fn reads_that_verify_clear_marks() {
        for (depth, reads, is_left) in [(1, 1, false), (4, 3, true), (4, 4, false)] {
            let mut units = units(depth);
            (0..depth).for_each(|_| units.begin_io());
            units.keep_mark();
            units.complete_all();
            units.clear_marks(reads);
            assert_eq!(units.marked_at.is_empty(), !is_left, "{depth} {reads}");
        }
    }
}
