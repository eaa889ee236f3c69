//! The outcome of a phase of storage I/O: counts and latencies per stream and interval.
//!
//! The reports of all emulated tools are written from it; nothing in it is rounded or in another unit. Hosts
//! tell theirs to the coordinator as it is.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::distribution::as_text;
use crate::engine_choice::EngineReason;

mod record;

/// What a phase measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageOutcome {
    /// Seconds that counted: the warm-up is not among them.
    pub elapsed_s: f64,
    /// Seconds in which the targets were opened, one after another, before that.
    pub open_s: f64,
    /// Seconds in which they were closed again.
    pub close_s: f64,
    /// Tallies of what counted, one per stream, target and operation that did any I/O.
    pub tallies: Vec<StreamTally>,
    /// The series, warm-up included, all streams and targets together.
    pub intervals: Vec<IntervalTally>,
    /// CPU seconds of the process while I/O counted, in the program.
    pub cpu_user_s: f64,
    /// The same in the kernel, its threads for this process's I/O included.
    pub cpu_system_s: f64,
    /// Which engine did it, with its options: `io_uring (single issuer, fixed files)`.
    pub engine: String,
    /// Why that one.
    pub engine_reason: EngineReason,
    /// I/O that failed, the first few; the phase counts as failed if there is any.
    pub errors: Vec<IoFailure>,
    /// All I/O that failed.
    pub error_count: u64,
    /// I/O of an open loop that was due before the end and never started. Latencies from the intended start
    /// count it with the time it had waited.
    pub not_started: u64,
    /// Why it ended.
    pub ended: Ended,
    /// What else is known of each stream, in the workload's order.
    pub streams: Vec<StreamRecord>,
}

/// What is known of a stream besides its reads and writes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamRecord {
    /// Seconds that counted, from its start to its last I/O.
    pub active_s: f64,
    /// Its calls of `fsync`; `None` = none was made.
    pub syncs: Option<Tally>,
    /// How long submitting took, of reads and of writes, where it was timed by itself.
    pub submissions: [Option<Tally>; 2],
    /// From the end of submitting to completion, likewise.
    pub completions: [Option<Tally>; 2],
    /// Every I/O that counted, in the order of completion, where they were to be kept.
    pub journal: Vec<JournalEntry>,
}

/// One I/O that was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Nanoseconds from the end of the warm-up to its completion.
    pub at_ns: u64,
    /// Nanoseconds from submission to completion.
    pub service_ns: u64,
    /// Where, in bytes.
    pub offset: u64,
    /// How much, in bytes.
    pub bytes: u32,
    /// Read or write.
    pub operation: Operation,
}

/// What one stream did to one target with one operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamTally {
    /// Index of the stream in the workload.
    pub stream: usize,
    /// Index of the target in the workload.
    pub target: usize,
    /// Read or write.
    pub operation: Operation,
    /// The tally.
    pub tally: Tally,
}

/// Counts and latencies of I/O of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// I/O done.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Nanoseconds from submission to completion.
    #[serde(with = "as_text")]
    pub service_ns: Histogram<u64>,
    /// Nanoseconds from the intended start to completion; empty in a closed loop. What was due and not done
    /// when the phase ended is among them and not among the I/O done.
    #[serde(with = "as_text")]
    pub from_intended_ns: Histogram<u64>,
    /// Sum of squares of the service times in ns², for a standard deviation that no bucket blurs.
    pub service_square_sum: f64,
    /// Sum of the service times in ns.
    pub service_sum_ns: u64,
}

/// One entry of the series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntervalTally {
    /// Seconds from the start of the phase, warm-up included, to its beginning.
    pub start_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// Whether it belongs to the warm-up.
    pub warmup: bool,
    /// Reads.
    pub reads: Tally,
    /// Writes.
    pub writes: Tally,
    /// What each stream did in this time, by the stream's index in the workload.
    pub streams: Vec<StreamCount>,
    /// Mean number of I/O in flight: the integral over time, not rate × latency.
    pub in_flight: f64,
    /// Busy share of the machine's CPUs in user mode, 0 … 1.
    pub cpu_user: f64,
    /// The same in the kernel.
    pub cpu_system: f64,
}

/// What one stream did in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StreamCount {
    /// Reads done.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes done.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the service times of reads in ns.
    pub read_service_ns: u64,
    /// The same of writes.
    pub write_service_ns: u64,
    /// The largest service time of a read in ns, to two digits.
    pub read_maximum_ns: u64,
    /// The same of a write.
    pub write_maximum_ns: u64,
}

impl StreamCount {
    /// Takes over what another process did of the same stream.
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

/// Reads from or writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Operation {
    /// Data comes.
    Read,
    /// Data goes.
    Write,
}

/// One failed I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoFailure {
    /// Index of the target.
    pub target: usize,
    /// Read or write.
    pub operation: Operation,
    /// Where, in bytes.
    pub offset: u64,
    /// How much was requested, in bytes.
    pub bytes: u64,
    /// What the kernel or the verifier said.
    pub reason: String,
}

/// Why a phase ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// The time was up.
    Time,
    /// The work was done.
    Work,
    /// Too many errors.
    Errors,
    /// The user asked.
    Interrupted,
}
