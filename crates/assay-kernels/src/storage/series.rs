//! Series of a phase: combines the frames of all workers to intervals, in order.
//!
//! An interval is complete when every worker has sent its part or has ended. Measures only the
//! machine's CPU time between two intervals.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;

use assay_model::storage_outcome::{IntervalTally, IoTally, StreamCount};

use super::cpu_usage::CpuUsage;
use super::timeline::{IntervalSpan, Timeline};
use super::worker_recorder::{SentFrame, SeriesFrame};

/// Intervals under construction.
#[derive(Debug)]
pub(super) struct StorageSeries {
    timeline: Timeline,
    streams: usize,
    workers: Vec<SeriesWorker>,
    pending: BTreeMap<usize, SeriesInterval>,
    cpu_usage: CpuUsage,
}

/// Worker that contributes to the series.
#[derive(Debug)]
pub(super) struct SeriesWorker {
    /// Index of its stream.
    pub(super) stream: usize,
    /// Channel for its empty frames.
    pub(super) empty: Sender<Box<SeriesFrame>>,
    /// Index of its next interval; the maximum when it has ended.
    next: usize,
}

impl SeriesWorker {
    /// Creates the state of a worker that has sent nothing.
    pub(super) fn new(stream: usize, empty: Sender<Box<SeriesFrame>>) -> Self {
        Self { stream, empty, next: 0 }
    }
}

#[derive(Debug)]
struct SeriesInterval {
    frame: SeriesFrame,
    streams: Vec<StreamCount>,
}

impl StorageSeries {
    /// Creates a series without intervals.
    pub(super) fn new(timeline: Timeline, streams: usize, workers: Vec<SeriesWorker>) -> Self {
        let (pending, cpu_usage) = (BTreeMap::new(), CpuUsage::start());
        Self { timeline, streams, workers, pending, cpu_usage }
    }

    /// Adds a frame. Returns the intervals that are complete now.
    pub(super) fn add(&mut self, handed: SentFrame) -> Vec<IntervalTally> {
        let SentFrame { worker, index, mut frame, is_last } = handed;
        let streams = self.streams;
        let entry = self.pending.entry(index).or_insert_with(|| SeriesInterval {
            frame: SeriesFrame::empty(),
            streams: vec![StreamCount::default(); streams],
        });
        entry.frame.add(&frame);
        let contributor = &mut self.workers[worker];
        let count = &mut entry.streams[contributor.stream];
        let [reads, writes] = &frame.tallies;
        count.reads += reads.count;
        count.read_bytes += reads.bytes;
        count.writes += writes.count;
        count.write_bytes += writes.bytes;
        count.read_service_ns += reads.service_sum_ns;
        count.write_service_ns += writes.service_sum_ns;
        let maximum =
            |tally: &IoTally| if tally.count > 0 { tally.service_ns.max() } else { 0 };
        count.read_maximum_ns = count.read_maximum_ns.max(maximum(reads));
        count.write_maximum_ns = count.write_maximum_ns.max(maximum(writes));
        contributor.next = if is_last { usize::MAX } else { index + 1 };
        frame.clear();
        // A worker that has ended receives nothing.
        let _ = contributor.empty.send(frame);
        let complete = self.workers.iter().map(|worker| worker.next).min().unwrap_or(0);
        // The last intervals may be shortened by an end that is not known yet.
        if complete == usize::MAX { Vec::new() } else { self.take_before(complete, u64::MAX) }
    }

    /// Returns all remaining intervals, ended at `end_ns`.
    pub(super) fn finish(&mut self, end_ns: u64) -> Vec<IntervalTally> {
        self.take_before(usize::MAX, end_ns)
    }

    fn take_before(&mut self, before: usize, end_ns: u64) -> Vec<IntervalTally> {
        let mut taken = Vec::new();
        while let Some(first) = self.pending.first_entry()
            && *first.key() < before
        {
            let (index, entry) = first.remove_entry();
            let span = self.timeline.interval(index);
            let span = IntervalSpan { end_ns: span.end_ns.min(end_ns), ..span };
            if span.start_ns < span.end_ns {
                taken.push(self.tally(span, entry));
            }
        }
        taken
    }

    fn tally(&mut self, span: IntervalSpan, entry: SeriesInterval) -> IntervalTally {
        let [reads, writes] = entry.frame.tallies;
        let length_ns = (span.end_ns - span.start_ns) as f64;
        let (cpu_user, cpu_system) = self.cpu_usage.take_shares();
        IntervalTally {
            start_s: (span.start_ns - self.timeline.start_ns) as f64 * 1e-9,
            length_s: length_ns * 1e-9,
            warmup: span.warmup,
            reads,
            writes,
            streams: entry.streams,
            in_flight: entry.frame.in_flight_ns as f64 / length_ns,
            cpu_user,
            cpu_system,
        }
    }
}
