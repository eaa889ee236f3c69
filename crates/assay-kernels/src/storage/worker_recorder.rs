//! Measurements of one worker: totals per lane, the current frame of the time series, failures.
//!
//! Full frames are sent through one channel and empty ones return through another, so that no I/O
//! waits for another thread. This module never reads the clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use assay_model::storage_outcome::{
    BatchCounts, IoFailure, IoOperation, IoTally, JournalEntry, StreamErrors,
};

use assay_model::workload::storage::{StorageStream, WarmUpBytes};

use super::priority_tallies::PriorityTallies;
use super::tally;
use super::timeline::Timeline;

/// Maximum number of failures kept with their offset; all are counted.
const MAX_KEPT_FAILURES: usize = 1000;

/// One worker's part of one interval of the time series.
#[derive(Debug)]
pub(super) struct SeriesFrame {
    /// Tallies of reads and writes.
    pub(super) tallies: [IoTally; 2],
    /// ∫ I/O in flight dt, in nanoseconds.
    pub(super) in_flight_ns: u64,
}

impl SeriesFrame {
    /// Creates an empty frame.
    pub(super) fn empty() -> Self {
        Self { tallies: [tally::new_interval(), tally::new_interval()], in_flight_ns: 0 }
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
pub(super) struct SentFrame {
    /// Index of the worker.
    pub(super) worker: usize,
    /// Index of the interval.
    pub(super) index: usize,
    /// The worker's part of it.
    pub(super) frame: Box<SeriesFrame>,
    /// Whether this is the worker's last frame.
    pub(super) is_last: bool,
}

/// Channels for full and for empty frames.
#[derive(Debug)]
pub(super) struct FrameChannels {
    /// Index of this worker.
    pub(super) worker: usize,
    /// Channel for full frames.
    pub(super) full: Sender<SentFrame>,
    /// Channel for empty frames.
    pub(super) empty: Receiver<Box<SeriesFrame>>,
}

/// Totals of one lane's reads and writes; `None` for operations that the lane does not perform.
pub(super) type LaneTotals = [Option<Box<IoTally>>; 2];

/// Records of one worker.
#[derive(Debug)]
pub(super) struct WorkerRecorder {
    /// Totals by lane, or by target if one lane alternates between targets.
    pub(super) totals: Vec<LaneTotals>,
    /// Index of each target's totals; empty if totals are by lane.
    totals_of_target: Vec<usize>,
    /// First failures.
    pub(super) failures: Vec<IoFailure>,
    /// Number of all failures.
    pub(super) failure_count: u64,
    /// I/O that was due before the end and never started.
    pub(super) not_started: u64,
    /// Whether a limit of its latency or rate, or an error, ended the stream.
    pub(super) ended_early: bool,
    /// Errors, tolerated or not, if the first one may end the stream.
    pub(super) errors: StreamErrors,
    /// Calls of `fsync`, if the stream makes any.
    pub(super) syncs: Option<Box<IoTally>>,
    /// Submission and completion latencies of reads and writes, if they are timed separately.
    pub(super) split_latency: Option<Box<[SplitLatency; 2]>>,
    /// Latencies by priority, if single I/O has one.
    pub(super) by_priority: Option<Box<PriorityTallies>>,
    /// Every I/O that counts, if a journal is kept.
    pub(super) journal: Option<Vec<JournalEntry>>,
    /// Calls by size, if they are counted.
    pub(super) batch_counts: Option<Box<BatchCounts>>,
    /// Part of the time that is measured.
    pub(super) measured: MeasuredPart,
    /// Warm-up by bytes until it is over, and its bytes.
    warm_up: Option<WarmUpBytes>,
    warmed_bytes: u64,
    warm_end_ns: u64,
    frame: Box<SeriesFrame>,
    interval_index: usize,
    interval_end_ns: u64,
    last_ns: u64,
    timeline: Timeline,
    channels: FrameChannels,
}

/// Part of its time that a worker measured.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MeasuredPart {
    /// Depth now, if one is searched.
    pub(super) depth: Option<u32>,
    /// Time at which the measurement began again, or after a warm-up by bytes.
    pub(super) restarted_ns: Option<u64>,
    /// Whether the worker ended within such a warm-up.
    pub(super) is_nothing: bool,
}

/// The two parts of an I/O's latency.
#[derive(Debug)]
pub(super) struct SplitLatency {
    pub(super) submission: IoTally,
    pub(super) completion: IoTally,
}

impl SplitLatency {
    fn new() -> Self {
        Self { submission: tally::new_total(), completion: tally::new_total() }
    }
}

impl WorkerRecorder {
    /// Creates empty records with totals for these lanes.
    pub(super) fn new(
        totals: Vec<LaneTotals>,
        stream: &StorageStream,
        channels: FrameChannels,
        timeline: Timeline,
    ) -> Self {
        let conduct = &stream.conduct;
        Self {
            totals,
            totals_of_target: Vec::new(),
            syncs: (stream.sync_every > 0).then(|| Box::new(tally::new_total())),
            split_latency: conduct
                .times_submission
                .then(|| Box::new([SplitLatency::new(), SplitLatency::new()])),
            by_priority: conduct
                .priorities
                .as_deref()
                .map(|priorities| Box::new(PriorityTallies::new(priorities))),
            journal: conduct.keeps_journal.then(Vec::new),
            batch_counts: conduct.batches.map(|_| Box::default()),
            measured: MeasuredPart {
                depth: conduct.latency_goal.as_ref().map(|_| 1),
                ..MeasuredPart::default()
            },
            warm_up: conduct.warm_up,
            warmed_bytes: 0,
            warm_end_ns: conduct.warm_up.map_or(timeline.warm_end_ns, |_| u64::MAX),
            failures: Vec::new(),
            failure_count: 0,
            not_started: 0,
            ended_early: false,
            errors: StreamErrors::default(),
            frame: Box::new(SeriesFrame::empty()),
            interval_index: 0,
            interval_end_ns: timeline.interval(0).end_ns,
            last_ns: timeline.start_ns,
            timeline,
            channels,
        }
    }

    /// Switches to totals by target; `totals_of_target` contains the index of each target's totals.
    pub(super) fn with_totals_by_target(self, totals_of_target: Vec<usize>) -> Self {
        Self { totals_of_target, ..self }
    }

    /// Records that `in_flight` I/O were in flight until `now_ns`, across interval boundaries.
    #[inline]
    pub(super) fn advance(&mut self, now_ns: u64, in_flight: usize) {
        while now_ns >= self.interval_end_ns {
            self.add_in_flight(self.interval_end_ns, in_flight);
            self.send_frame(false);
        }
        self.add_in_flight(now_ns, in_flight);
    }

    #[inline]
    fn add_in_flight(&mut self, until_ns: u64, in_flight: usize) {
        self.frame.in_flight_ns += until_ns.saturating_sub(self.last_ns) * in_flight as u64;
        self.last_ns = until_ns.max(self.last_ns);
    }

    /// Returns whether I/O that completes now is after the warm-up.
    #[inline]
    pub(super) fn is_counting(&self, now_ns: u64) -> bool {
        now_ns >= self.warm_end_ns
    }

    /// Whether a warm-up by bytes is not over.
    #[inline]
    pub(super) const fn is_warming_up(&self) -> bool {
        self.warm_up.is_some()
    }

    /// Adds an I/O to a warm-up by bytes, whose common sum is `common`. Returns whether it is over.
    #[cold]
    pub(super) fn note_warm_up(&mut self, bytes: u64, now_ns: u64, common: &AtomicU64) -> bool {
        let Some(warm_up) = self.warm_up else { return false };
        self.warmed_bytes = match warm_up.is_common {
            true => common.fetch_add(bytes, Ordering::Relaxed) + bytes,
            false => self.warmed_bytes + bytes,
        };
        let is_over = self.warmed_bytes >= warm_up.bytes;
        if is_over {
            self.warm_up = None;
            self.warm_end_ns = now_ns;
            self.measured.restarted_ns = Some(now_ns);
            // What is left of the interval counts.
            self.frame.tallies.iter_mut().for_each(tally::clear);
        }
        is_over
    }

    /// Ends the series at `end_ns`, within an interval or between two.
    pub(super) fn close(&mut self, end_ns: u64) {
        self.measured.is_nothing = self.is_warming_up();
        self.advance(end_ns, 0);
        self.send_frame(true);
    }

    /// Sends the frame, full or not, and starts the next one.
    fn send_frame(&mut self, is_last: bool) {
        let next =
            self.channels.empty.try_recv().unwrap_or_else(|_| Box::new(SeriesFrame::empty()));
        let frame = std::mem::replace(&mut self.frame, next);
        let FrameChannels { worker, full, .. } = &self.channels;
        // The receiver is dropped when the phase is aborted; the frame is not needed then.
        let _ = full.send(SentFrame {
            worker: *worker,
            index: self.interval_index,
            frame,
            is_last,
        });
        self.interval_index += 1;
        self.interval_end_ns = self.timeline.interval(self.interval_index).end_ns;
    }

    /// Counts one I/O in the series, and in the totals of its lane or target if it `counts`.
    #[inline]
    pub(super) fn record(
        &mut self,
        (lane, target, operation): (usize, usize, IoOperation),
        bytes: u64,
        (service_ns, from_intended_ns): (u64, Option<u64>),
        counts: bool,
    ) {
        let operation_index = operation as usize;
        tally::record(
            &mut self.frame.tallies[operation_index],
            bytes,
            service_ns,
            from_intended_ns,
        );
        let totals_index =
            if self.totals_of_target.is_empty() { lane } else { self.totals_of_target[target] };
        if counts && let Some(total) = &mut self.totals[totals_index][operation_index] {
            tally::record(total, bytes, service_ns, from_intended_ns);
        }
    }

    /// Counts one I/O of a stream that makes calls on files, with the latency of its call if it makes
    /// one, which is that of another operation.
    pub(super) fn record_call(
        &mut self,
        (lane, target, operation): (usize, usize, IoOperation),
        bytes: u64,
        call: Option<(IoOperation, u64)>,
        counts: bool,
    ) {
        let of_lane = || {
            if self.totals_of_target.is_empty() { lane } else { self.totals_of_target[target] }
        };
        let totals = counts.then(of_lane).map(|at| &mut self.totals[at]);
        tally::count(&mut self.frame.tallies[operation as usize], bytes);
        if let Some((latency_of, ns)) = call {
            tally::add_latency(&mut self.frame.tallies[latency_of as usize], ns);
        }
        let Some(totals) = totals else { return };
        if let Some(total) = &mut totals[operation as usize] {
            tally::count(total, bytes);
        }
        if let Some((latency_of, ns)) = call
            && let Some(total) = &mut totals[latency_of as usize]
        {
            tally::add_latency(total, ns);
        }
    }

    /// Counts I/O that was due before the end of the phase and not completed by then.
    pub(super) fn record_overdue(
        &mut self,
        (lane, target, operation): (usize, usize, IoOperation),
        (from_intended_ns, count): (u64, u64),
        counts: bool,
    ) {
        let operation_index = operation as usize;
        tally::record_overdue(
            &mut self.frame.tallies[operation_index],
            from_intended_ns,
            count,
        );
        let totals_index =
            if self.totals_of_target.is_empty() { lane } else { self.totals_of_target[target] };
        if counts && let Some(total) = &mut self.totals[totals_index][operation_index] {
            tally::record_overdue(total, from_intended_ns, count);
        }
    }

    /// Counts one `fsync`.
    pub(super) fn record_sync(&mut self, service_ns: u64) {
        if let Some(syncs) = &mut self.syncs {
            tally::record(syncs, 0, service_ns, None);
        }
    }

    /// Returns the counts of calls, if they are kept and the warm-up is over.
    #[inline]
    pub(super) fn counted_batches(&mut self) -> Option<&mut BatchCounts> {
        let counts = self.last_ns >= self.warm_end_ns;
        self.batch_counts.as_deref_mut().filter(|_| counts)
    }

    /// Returns the end of the warm-up.
    pub(super) const fn warm_end_ns(&self) -> u64 {
        self.warm_end_ns
    }

    /// Counts the submission latency of an I/O, if it is timed.
    pub(super) fn record_submission(&mut self, operation: IoOperation, submission_ns: u64) {
        if let Some(split_latency) = &mut self.split_latency {
            tally::record(
                &mut split_latency[operation as usize].submission,
                0,
                submission_ns,
                None,
            );
        }
    }

    /// Counts the completion latency of an I/O, if it is timed.
    #[inline]
    pub(super) fn record_completion(&mut self, operation: IoOperation, completion_ns: u64) {
        if let Some(split_latency) = &mut self.split_latency {
            tally::record(
                &mut split_latency[operation as usize].completion,
                0,
                completion_ns,
                None,
            );
        }
    }

    /// Counts the latency of an I/O with its priority: from before its submission, and from after it.
    pub(super) fn record_priority(
        &mut self,
        operation: IoOperation,
        priority: u16,
        latencies_ns: (u64, u64),
    ) {
        if let Some(tallies) = &mut self.by_priority {
            tallies.record(operation, priority, latencies_ns);
        }
    }

    /// Adds one I/O completed at `now_ns` to the journal, if one is kept.
    pub(super) fn record_journal(&mut self, now_ns: u64, entry: JournalEntry) {
        if let Some(journal) = &mut self.journal {
            let at_ns = now_ns.saturating_sub(self.warm_end_ns);
            journal.push(JournalEntry { at_ns, ..entry });
        }
    }

    /// Begins the measurement again: nothing counts that was measured before.
    pub(super) fn restart(&mut self, now_ns: u64) {
        let totals = self.totals.iter_mut().flatten().flatten().chain(&mut self.syncs);
        totals.for_each(|total| **total = tally::new_total());
        for split in self.split_latency.iter_mut().flat_map(|it| it.iter_mut()) {
            *split = SplitLatency::new();
        }
        if let Some(tallies) = &mut self.by_priority {
            tallies.clear();
        }
        if let Some(counts) = &mut self.batch_counts {
            **counts = BatchCounts::default();
        }
        self.measured.restarted_ns = Some(now_ns);
    }

    /// Records a failure.
    pub(super) fn record_failure(&mut self, failure: IoFailure) {
        self.failure_count += 1;
        if self.failures.len() < MAX_KEPT_FAILURES {
            self.failures.push(failure);
        }
    }
}
