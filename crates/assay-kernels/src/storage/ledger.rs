//! Records of one worker: totals per lane, the current frame of the series, failures.
//!
//! Full frames are sent through one channel and empty ones return through another, so that no I/O
//! waits for another thread. Never reads the clock.

use std::sync::mpsc::{Receiver, Sender};

use assay_model::storage_outcome::{IoFailure, JournalEntry, Operation, Tally};

use assay_model::workload::storage::StorageStream;

use super::tally;
use super::timeline::Timeline;

/// Maximum number of failures kept with their offset; all are counted.
const KEPT_FAILURES: usize = 1000;

/// Part of one interval of the series, by one worker.
#[derive(Debug)]
pub(super) struct Frame {
    /// Tallies of reads and writes.
    pub(super) tallies: [Tally; 2],
    /// ∫ I/O in flight dt, in nanoseconds.
    pub(super) in_flight_ns: u64,
}

impl Frame {
    /// Creates an empty frame.
    pub(super) fn empty() -> Self {
        Self { tallies: [tally::series(), tally::series()], in_flight_ns: 0 }
    }

    /// Adds another worker's part.
    pub(super) fn add(&mut self, part: &Self) {
        for (sum, part) in self.tallies.iter_mut().zip(&part.tallies) {
            tally::add(sum, part);
        }
        self.in_flight_ns += part.in_flight_ns;
    }

    /// Clears the frame and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.tallies.iter_mut().for_each(tally::clear);
        self.in_flight_ns = 0;
    }
}

/// Frame sent to the collector of the series.
#[derive(Debug)]
pub(super) struct Handed {
    /// Index of the worker.
    pub(super) worker: usize,
    /// Index of the interval.
    pub(super) index: usize,
    /// The worker's part of it.
    pub(super) frame: Box<Frame>,
    /// Whether this is the worker's last frame.
    pub(super) is_last: bool,
}

/// Channels for full and for empty frames.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Index of this worker.
    pub(super) worker: usize,
    /// Channel for full frames.
    pub(super) full: Sender<Handed>,
    /// Channel for empty frames.
    pub(super) empty: Receiver<Box<Frame>>,
}

/// Totals of one lane's reads and writes; `None` for operations that the lane does not perform.
pub(super) type LaneTotals = [Option<Box<Tally>>; 2];

/// Records of one worker.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Totals by lane, or by target if targets alternate within one lane.
    pub(super) totals: Vec<LaneTotals>,
    /// Index of each target's totals; empty if totals are by lane.
    of_target: Vec<usize>,
    /// First failures.
    pub(super) failures: Vec<IoFailure>,
    /// Number of all failures.
    pub(super) failure_count: u64,
    /// I/O that was due before the end and never started.
    pub(super) not_started: u64,
    /// Calls of `fsync`, if the stream makes any.
    pub(super) syncs: Option<Box<Tally>>,
    /// Submission and completion latencies of reads and writes, if they are timed separately.
    pub(super) apart: Option<Box<[Apart; 2]>>,
    /// Every I/O that counts, if a journal is kept.
    pub(super) journal: Option<Vec<JournalEntry>>,
    frame: Box<Frame>,
    index: usize,
    border_ns: u64,
    last_ns: u64,
    timeline: Timeline,
    exchange: Exchange,
}

/// The two parts of an I/O's latency.
#[derive(Debug)]
pub(super) struct Apart {
    pub(super) submission: Tally,
    pub(super) completion: Tally,
}

impl Ledger {
    /// Creates empty records with totals for these lanes.
    pub(super) fn new(
        totals: Vec<LaneTotals>,
        stream: &StorageStream,
        exchange: Exchange,
        timeline: Timeline,
    ) -> Self {
        let conduct = &stream.conduct;
        let apart = || Apart { submission: tally::total(), completion: tally::total() };
        Self {
            totals,
            of_target: Vec::new(),
            syncs: (stream.sync_every > 0).then(|| Box::new(tally::total())),
            apart: conduct.times_submission.then(|| Box::new([apart(), apart()])),
            journal: conduct.keeps_journal.then(Vec::new),
            failures: Vec::new(),
            failure_count: 0,
            not_started: 0,
            frame: Box::new(Frame::empty()),
            index: 0,
            border_ns: timeline.span(0).end_ns,
            last_ns: timeline.start_ns,
            timeline,
            exchange,
        }
    }

    /// Switches to totals by target; `of_target` contains the index of each target's totals.
    pub(super) fn by_target(self, of_target: Vec<usize>) -> Self {
        Self { of_target, ..self }
    }

    /// Records that `in_flight` I/O were in flight until `now_ns`, across interval boundaries.
    #[inline]
    pub(super) fn advance(&mut self, now_ns: u64, in_flight: usize) {
        while now_ns >= self.border_ns {
            self.hold(self.border_ns, in_flight);
            self.hand_over(false);
        }
        self.hold(now_ns, in_flight);
    }

    #[inline]
    fn hold(&mut self, until_ns: u64, in_flight: usize) {
        self.frame.in_flight_ns += until_ns.saturating_sub(self.last_ns) * in_flight as u64;
        self.last_ns = until_ns.max(self.last_ns);
    }

    /// Returns whether I/O that completes now is after the warm-up.
    #[inline]
    pub(super) fn is_counting(&self, now_ns: u64) -> bool {
        now_ns >= self.timeline.warm_end_ns
    }

    /// Ends the series at `end_ns`, within an interval or between two.
    pub(super) fn close(&mut self, end_ns: u64) {
        self.advance(end_ns, 0);
        self.hand_over(true);
    }

    /// Sends the frame, full or not, and starts the next one.
    fn hand_over(&mut self, is_last: bool) {
        let next = self.exchange.empty.try_recv().unwrap_or_else(|_| Box::new(Frame::empty()));
        let frame = std::mem::replace(&mut self.frame, next);
        let Exchange { worker, full, .. } = &self.exchange;
        // The receiver is gone when the phase was given up; the frame is not needed then.
        let _ = full.send(Handed { worker: *worker, index: self.index, frame, is_last });
        self.index += 1;
        self.border_ns = self.timeline.span(self.index).end_ns;
    }

    /// Counts one I/O in the series, and in the totals of its lane or target if it `counts`.
    #[inline]
    pub(super) fn record(
        &mut self,
        (lane, target, operation): (usize, usize, Operation),
        bytes: u64,
        (service_ns, from_intended_ns): (u64, Option<u64>),
        counts: bool,
    ) {
        let at = operation as usize;
        tally::record(&mut self.frame.tallies[at], bytes, service_ns, from_intended_ns);
        let book = if self.of_target.is_empty() { lane } else { self.of_target[target] };
        if counts && let Some(total) = &mut self.totals[book][at] {
            tally::record(total, bytes, service_ns, from_intended_ns);
        }
    }

    /// Counts I/O that was due before the end of the phase and not completed by then.
    pub(super) fn record_overdue(
        &mut self,
        (lane, target, operation): (usize, usize, Operation),
        (from_intended_ns, count): (u64, u64),
        counts: bool,
    ) {
        let at = operation as usize;
        tally::record_overdue(&mut self.frame.tallies[at], from_intended_ns, count);
        let book = if self.of_target.is_empty() { lane } else { self.of_target[target] };
        if counts && let Some(total) = &mut self.totals[book][at] {
            tally::record_overdue(total, from_intended_ns, count);
        }
    }

    /// Counts one `fsync`.
    pub(super) fn record_sync(&mut self, service_ns: u64) {
        if let Some(syncs) = &mut self.syncs {
            tally::record(syncs, 0, service_ns, None);
        }
    }

    /// Counts the submission latency of an I/O, if it is timed.
    pub(super) fn record_submission(&mut self, operation: Operation, submission_ns: u64) {
        if let Some(both) = &mut self.apart {
            tally::record(&mut both[operation as usize].submission, 0, submission_ns, None);
        }
    }

    /// Counts the completion latency of an I/O, if it is timed.
    #[inline]
    pub(super) fn record_completion(&mut self, operation: Operation, completion_ns: u64) {
        if let Some(both) = &mut self.apart {
            tally::record(&mut both[operation as usize].completion, 0, completion_ns, None);
        }
    }

    /// Adds one I/O completed at `now_ns` to the journal, if one is kept.
    pub(super) fn keep(&mut self, now_ns: u64, entry: JournalEntry) {
        if let Some(journal) = &mut self.journal {
            let at_ns = now_ns.saturating_sub(self.timeline.warm_end_ns);
            journal.push(JournalEntry { at_ns, ..entry });
        }
    }

    /// Records a failure.
    pub(super) fn fail(&mut self, failure: IoFailure) {
        self.failure_count += 1;
        if self.failures.len() < KEPT_FAILURES {
            self.failures.push(failure);
        }
    }
}
