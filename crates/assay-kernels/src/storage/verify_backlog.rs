//! Writes of a job that are read back while it writes, in fio's order (`check_get_verify` in
//! `io_u.c`).
//!
//! The writes that are complete when an I/O begins decide the next read. They are those of a
//! [`ModelledQueue`], so that a job has the same I/O on each device. Draws and submits nothing.

use std::collections::VecDeque;

use assay_model::storage_outcome::IoOperation;
use assay_model::workload::storage::{JobOrder, StorageStream};

use super::modelled_queue::ModelledQueue;
use super::write_history::{WriteHistory, WrittenPlace};

/// Backlog of writes to read back.
#[derive(Debug)]
pub(super) struct VerifyBacklog {
    /// Writes after which a batch is read back, and the reads of a batch.
    every: u64,
    batch: u64,
    writes: WriteHistory,
    /// Whether they are in the order of offsets instead of their own.
    is_sorted: bool,
    /// Reads left in the current batch; outlasts a pass.
    left: u64,
    queue: IoQueue,
}

impl VerifyBacklog {
    /// Creates the backlog of a job without writes; `None` if the job reads none back as it writes.
    pub(super) fn new(order: &JobOrder, stream: &StorageStream) -> Option<Self> {
        let every = order.verify_backlog?.max(1);
        Some(Self {
            every,
            batch: order.verify_batch.unwrap_or(every),
            writes: WriteHistory::new(order.overlaps),
            is_sorted: order.overlaps,
            left: 0,
            queue: IoQueue::new(order, stream),
        })
    }

    /// Adds an I/O that begins.
    pub(super) fn note_io(&mut self, operation: IoOperation, place: WrittenPlace) {
        if operation == IoOperation::Write {
            self.writes.push(place);
        }
        self.queue.begin(operation, (place.0, place.1));
    }

    /// Completes all I/O, as at the end of a pass.
    pub(super) fn complete_all(&mut self) {
        self.queue.model.complete_all();
        self.queue.complete(usize::MAX);
    }

    /// Takes the next write to read back, if one is due and complete.
    pub(super) fn take_due(&mut self) -> Option<WrittenPlace> {
        let first = self.writes.first()?;
        if self.left == 0 {
            let is_due = self.queue.completed == IoOperation::Write
                && self.writes.len().is_multiple_of(self.every);
            if !is_due {
                return None;
            }
            self.left = self.batch;
        }
        let is_in_flight = match self.is_sorted {
            true => self.queue.is_writing((first.0, first.1)),
            // Both are in the order of the writes.
            false => self.writes.len() <= self.queue.writes(),
        };
        if is_in_flight {
            return None;
        }
        self.left = self.left.saturating_sub(1);
        self.take_rest()
    }

    /// Takes the next write to read back, due or not.
    pub(super) fn take_rest(&mut self) -> Option<WrittenPlace> {
        let place = self.writes.pop()?;
        self.queue.begin(IoOperation::Read, (place.0, place.1));
        Some(place)
    }
}

/// I/O in flight, the oldest first.
#[derive(Debug)]
struct IoQueue {
    ios: VecDeque<(IoOperation, (usize, u64))>,
    model: ModelledQueue,
    /// Operation that was completed last; fio begins with a read.
    completed: IoOperation,
}

impl IoQueue {
    fn new(order: &JobOrder, stream: &StorageStream) -> Self {
        Self {
            ios: VecDeque::new(),
            model: ModelledQueue::new(order, stream),
            completed: IoOperation::Read,
        }
    }

    /// Adds an I/O, and completes some if the queue is full.
    fn begin(&mut self, operation: IoOperation, place: (usize, u64)) {
        self.ios.push_back((operation, place));
        let completed = self.model.begin();
        self.complete(completed);
    }

    fn complete(&mut self, count: usize) {
        for (operation, _) in self.ios.drain(..count.min(self.ios.len())) {
            self.completed = operation;
        }
    }

    fn writes(&self) -> u64 {
        self.ios.iter().filter(|(operation, _)| *operation == IoOperation::Write).count() as u64
    }

    fn is_writing(&self, place: (usize, u64)) -> bool {
        self.ios.contains(&(IoOperation::Write, place))
    }
}

#[cfg(test)]
mod tests {
    use assay_model::workload::storage::AccessPattern;

    use super::*;

    /// Returns a backlog at a depth, with I/O that is completed one by one.
    fn backlog(every: u64, batch: Option<u64>, depth: u32) -> VerifyBacklog {
        let order = JobOrder {
            verify_backlog: Some(every),
            verify_batch: batch,
            queues: true,
            ..JobOrder::default()
        };
        let stream = StorageStream {
            in_flight_per_target: depth,
            ..StorageStream::new(AccessPattern::Random, 4096, 0.0)
        };
        VerifyBacklog::new(&order, &stream).unwrap()
    }

    #[test]
    fn writes_in_flight_postpone_a_batch() {
        let mut all = backlog(2, None, 4);
        for block in 0..4 {
            assert_eq!(all.take_due(), None, "no I/O is complete");
            all.note_io(IoOperation::Write, (0, block, 1));
        }
        assert_eq!(all.take_due(), Some((0, 0, 1)));
        assert_eq!(all.take_due(), Some((0, 1, 1)));
        assert_eq!(all.take_due(), Some((0, 2, 1)), "a write was completed last");
        assert_eq!(all.take_due(), Some((0, 3, 1)));
        assert_eq!(all.take_due(), None);
        for block in 4..6 {
            all.note_io(IoOperation::Write, (0, block, 1));
            assert_eq!(all.take_due(), None, "a read was completed last");
        }
        all.complete_all();
        assert_eq!(all.take_due(), Some((0, 4, 1)));
    }

    #[test]
    fn a_batch_outlasts_its_writes() {
        let mut all = backlog(1, Some(2), 1);
        for block in 0..2 {
            all.note_io(IoOperation::Write, (0, block, 1));
            assert_eq!(all.take_due(), Some((0, block, 1)));
            assert_eq!(all.take_due(), None);
        }
    }
}
