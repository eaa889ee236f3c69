//! Outcome of a phase of file operations: counts and latencies per operation and interval.
//!
//! Hosts send it to the coordinator in this form.

use std::path::PathBuf;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::distribution::as_text_if_any;
use crate::storage_outcome::EndReason;
use crate::workload::file_set::FileOperation;

mod record;

/// Outcome of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileOutcome {
    /// Measured time in seconds, without the warm-up.
    pub elapsed_s: f64,
    /// Sum over the measured time.
    pub total: FileTally,
    /// The first few failed operations.
    pub errors: Vec<FileFailure>,
    /// Number of all failed operations.
    pub error_count: u64,
    /// Reason why it ended.
    pub ended: EndReason,
}

/// Counts and latencies of operations of all kinds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FileTally {
    /// Per operation, by [`FileOperation::index`].
    pub operations: [OperationCount; FileOperation::ALL.len()],
    /// Operations that the workload requests; others accompany them, such as opening a file before
    /// reading it.
    pub requested: OperationCount,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Nanoseconds from the intended start of a requested operation to its end, in an open loop.
    /// Operations that were due and never started count with their waiting time until the end of
    /// the phase.
    #[serde(with = "as_text_if_any")]
    pub from_intended_ns: Option<Histogram<u64>>,
    /// Nanoseconds of requested operations; `None` = no operations.
    #[serde(with = "as_text_if_any")]
    pub service_ns: Option<Histogram<u64>>,
}

/// Count of one kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OperationCount {
    /// Number of operations.
    pub count: u64,
    /// Sum of their durations in nanoseconds.
    pub sum_ns: u64,
}

/// Results of one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileInterval {
    /// Seconds from the start of the phase, warm-up included, to the start of the interval.
    pub start_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// Whether it belongs to the warm-up.
    pub warmup: bool,
    /// Its operations.
    pub tally: FileTally,
    /// Busy share of the machine's CPUs in user mode, 0 … 1.
    pub cpu_user: f64,
    /// Busy share of the machine's CPUs in the kernel, 0 … 1.
    pub cpu_system: f64,
}

/// Failed operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFailure {
    /// The file or directory.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    pub operation: FileOperation,
    /// Error of the kernel.
    pub reason: String,
}

impl FileInterval {
    /// Returns the part of one kind of operation, without single latencies, which are not kept per
    /// kind.
    pub fn for_operation(&self, operation: FileOperation) -> Self {
        let bytes = |moves, bytes| if operation == moves { bytes } else { 0 };
        let tally = FileTally {
            requested: self.tally.count_of(operation),
            read_bytes: bytes(FileOperation::Read, self.tally.read_bytes),
            written_bytes: bytes(FileOperation::Write, self.tally.written_bytes),
            ..FileTally::default()
        };
        Self { tally, ..*self }
    }
}

impl OperationCount {
    /// Adds an operation.
    pub fn add(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns += ns;
    }

    /// Adds the operations of another count.
    pub fn merge(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
    }

    /// Returns the mean in ms; 0 without operations.
    pub fn mean_ms(self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 / 1e6 }
    }
}

impl FileTally {
    /// Adds another tally.
    pub fn merge(&mut self, other: &Self) {
        for (sum, part) in self.operations.iter_mut().zip(other.operations) {
            sum.merge(part);
        }
        self.requested.merge(other.requested);
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(other.written_bytes);
        merge_histograms(&mut self.service_ns, other.service_ns.as_ref());
        merge_histograms(&mut self.from_intended_ns, other.from_intended_ns.as_ref());
    }

    /// Returns the count of one kind of operation.
    pub fn count_of(&self, operation: FileOperation) -> OperationCount {
        self.operations[operation.index()]
    }
}

fn merge_histograms(sum: &mut Option<Histogram<u64>>, part: Option<&Histogram<u64>>) {
    match (sum, part) {
        (_, None) => {}
        (Some(sum), Some(part)) => *sum += part,
        (none, Some(part)) => *none = Some(part.clone()),
    }
}
