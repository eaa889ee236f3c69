//! Outcome of a phase of storage I/O: counts and latencies per stream and interval.
//!
//! The reports of all emulated tools are generated from it; its values are unrounded and in base
//! units. Hosts send it to the coordinator in this form.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::distribution::as_text;
use crate::engine_reason::EngineReason;

pub use self::batch_counts::BatchCounts;
pub use self::stream_errors::{ErrorCause, FatalError, StreamErrors};

mod batch_counts;
mod record;
mod stream_errors;

/// Outcome of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageOutcome {
    /// Measured time in seconds, without the warm-up.
    pub elapsed_s: f64,
    /// Seconds for opening the targets, one after another, before that.
    pub open_s: f64,
    /// Seconds for closing them.
    pub close_s: f64,
    /// Tallies of the measured time, one per stream, target and operation with any I/O.
    pub tallies: Vec<StreamTally>,
    /// Intervals, warm-up included, of all streams and targets together.
    pub intervals: Vec<IntervalTally>,
    /// CPU seconds of the process in user mode, in the measured time.
    pub cpu_user_s: f64,
    /// CPU seconds in the kernel, including its threads for this process's I/O.
    pub cpu_system_s: f64,
    /// Engine with its options: `io_uring (single issuer, fixed files)`.
    pub engine: String,
    /// Reason for the choice of the engine.
    pub engine_reason: EngineReason,
    /// The first few failed I/O; any failure makes the phase fail.
    pub errors: Vec<IoFailure>,
    /// Number of all failed I/O.
    pub error_count: u64,
    /// I/O of an open loop that was due before the end and never started. Latencies from the
    /// intended start include it, with its waiting time.
    pub not_started: u64,
    /// Reason why the phase ended.
    pub ended: EndReason,
    /// Further results of each stream, in the workload's order.
    pub streams: Vec<StreamDetails>,
}

impl StorageOutcome {
    /// Returns the totals of the phase, without its intervals and further results of streams.
    pub fn to_totals(&self) -> Self {
        Self {
            elapsed_s: self.elapsed_s,
            open_s: self.open_s,
            close_s: self.close_s,
            tallies: self.tallies.clone(),
            intervals: Vec::new(),
            cpu_user_s: self.cpu_user_s,
            cpu_system_s: self.cpu_system_s,
            engine: self.engine.clone(),
            engine_reason: self.engine_reason.clone(),
            errors: self.errors.clone(),
            error_count: self.error_count,
            not_started: self.not_started,
            ended: self.ended,
            streams: Vec::new(),
        }
    }
}

/// Results of a stream other than its reads and writes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamDetails {
    /// Measured seconds, from its start to its last I/O.
    pub active_s: f64,
    /// Whether a limit of its latency or rate, or an error, ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_early: bool,
    /// Its errors, if the first one ends it unless it is tolerated.
    #[serde(default, skip_serializing_if = "StreamErrors::is_empty")]
    pub errors: StreamErrors,
    /// Its `fsync` calls, if any.
    pub syncs: Option<IoTally>,
    /// Submission times of reads and of writes, if timed separately.
    pub submissions: [Option<IoTally>; 2],
    /// Times from the end of submission to completion, of reads and of writes, if timed separately.
    pub completions: [Option<IoTally>; 2],
    /// All measured I/O in the order of completion, if a journal was requested.
    pub journal: Vec<JournalEntry>,
    /// Calls by size, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<BatchCounts>,
    /// Seconds from the start of the phase to the start of its measurement, if that began again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarted_s: Option<f64>,
    /// Whether it ended within a warm-up by bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never_measured: bool,
    /// Depth at its end, if it searched one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_depth: Option<u32>,
    /// Latencies by priority, if single I/O has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_priority: Vec<PriorityTally>,
}

/// Latencies of the I/O of one priority.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriorityTally {
    /// Read or write.
    pub operation: IoOperation,
    /// Priority as `ioprio_set(2)` takes it; 0 = that of the thread.
    pub priority: u16,
    /// Latencies.
    pub tally: IoTally,
}

/// Completed I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Nanoseconds from the end of the warm-up to its completion.
    pub at_ns: u64,
    /// Nanoseconds from submission to completion.
    pub service_ns: u64,
    /// Nanoseconds from there to the return of the submitting call, if that is timed; otherwise 0.
    #[serde(default)]
    pub submission_ns: u32,
    /// Index of the target.
    #[serde(default)]
    pub target: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// Read or write.
    pub operation: IoOperation,
    /// Its own priority; 0 = that of the thread.
    #[serde(default)]
    pub priority: u16,
}

/// Tally of one stream, target and operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamTally {
    /// Index of the stream in the workload.
    pub stream: usize,
    /// Index of the target in the workload.
    pub target: usize,
    /// Read or write.
    pub operation: IoOperation,
    pub tally: IoTally,
}

/// Counts and latencies of I/O of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IoTally {
    /// Number of completed I/O.
    pub count: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Nanoseconds from submission to completion.
    #[serde(with = "as_text")]
    pub service_ns: Histogram<u64>,
    /// Nanoseconds from the intended start to completion; empty in a closed loop. Includes I/O that
    /// was due but not completed when the phase ended, which `count` does not.
    #[serde(with = "as_text")]
    pub from_intended_ns: Histogram<u64>,
    /// Sum of squares of the service times in ns², for a standard deviation without bucket
    /// rounding.
    pub service_square_sum: f64,
    /// Sum of the service times in ns.
    pub service_sum_ns: u64,
}

/// Results of one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntervalTally {
    /// Seconds from the start of the phase, warm-up included, to the start of the interval.
    pub start_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// Whether it belongs to the warm-up.
    pub warmup: bool,
    pub reads: IoTally,
    pub writes: IoTally,
    /// Counts of each stream, by its index in the workload.
    pub streams: Vec<StreamCount>,
    /// Mean number of I/O in flight: the integral over time, not rate × latency.
    pub in_flight: f64,
    /// Busy share of the machine's CPUs in user mode, 0 … 1.
    pub cpu_user: f64,
    /// Busy share of the machine's CPUs in the kernel, 0 … 1.
    pub cpu_system: f64,
}

/// Counts of one stream in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StreamCount {
    /// Number of reads.
    pub reads: u64,
    pub read_bytes: u64,
    /// Number of writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the service times of reads in ns.
    pub read_service_ns: u64,
    /// Sum of the service times of writes in ns.
    pub write_service_ns: u64,
    /// The maximum service time of a read in ns, to two digits.
    pub read_maximum_ns: u64,
    /// The maximum service time of a write in ns, to two digits.
    pub write_maximum_ns: u64,
}

impl StreamCount {
    /// Adds the counts of the same stream from another process.
    pub fn merge(&mut self, other: &Self) {
        let sums = [
            (&mut self.reads, other.reads),
            (&mut self.read_bytes, other.read_bytes),
            (&mut self.writes, other.writes),
            (&mut self.write_bytes, other.write_bytes),
            (&mut self.read_service_ns, other.read_service_ns),
            (&mut self.write_service_ns, other.write_service_ns),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
        self.read_maximum_ns = self.read_maximum_ns.max(other.read_maximum_ns);
        self.write_maximum_ns = self.write_maximum_ns.max(other.write_maximum_ns);
    }
}

/// Direction of an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum IoOperation {
    Read,
    Write,
}

/// Failed I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoFailure {
    /// Index of the stream.
    #[serde(default)]
    pub stream: usize,
    /// Index of the target.
    pub target: usize,
    /// Read or write.
    pub operation: IoOperation,
    /// Offset in bytes.
    pub offset: u64,
    /// Requested length in bytes.
    pub bytes: u64,
    /// Error of the kernel or the verifier.
    pub reason: String,
}

/// Reason why a phase ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndReason {
    /// The time was over.
    Time,
    /// All work was done.
    Work,
    /// Too many errors occurred.
    Errors,
    /// The user interrupted it.
    Interrupted,
}
