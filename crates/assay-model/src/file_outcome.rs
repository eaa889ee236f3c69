//! The outcome of a phase of file operations: counts and latencies per operation and interval.
//!
//! Hosts tell theirs to the coordinator as it is.

use std::path::PathBuf;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::distribution::as_text_if_any;
use crate::storage_outcome::Ended;
use crate::workload::file_set::FileOperation;

mod record;

/// What a phase measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileOutcome {
    /// Seconds that counted: the warm-up is not among them.
    pub elapsed_s: f64,
    /// What counted.
    pub total: FileTally,
    /// Operations that failed, the first few.
    pub errors: Vec<FileFailure>,
    /// All operations that failed.
    pub error_count: u64,
    /// Why it ended.
    pub ended: Ended,
}

/// Counts and latencies of operations of all kinds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FileTally {
    /// Per operation, by [`FileOperation::index`].
    pub operations: [OperationCount; FileOperation::ALL.len()],
    /// The operations that the workload asks for; others, like the opening of a file that is to be
    /// read, come along with them.
    pub requested: OperationCount,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Nanoseconds from the intended start of a requested operation to its end, in an open loop. What was
    /// due and never started counts with the time it had waited at the end of the phase.
    #[serde(with = "as_text_if_any")]
    pub from_intended_ns: Option<Histogram<u64>>,
    /// Nanoseconds of requested operations; `None` = none.
    #[serde(with = "as_text_if_any")]
    pub service_ns: Option<Histogram<u64>>,
}

/// One kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OperationCount {
    /// Operations done.
    pub count: u64,
    /// Nanoseconds they took together.
    pub sum_ns: u64,
}

/// One entry of the series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileInterval {
    /// Seconds from the start of the phase, warm-up included, to its beginning.
    pub start_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// Whether it belongs to the warm-up.
    pub warmup: bool,
    /// What was done.
    pub tally: FileTally,
    /// Busy share of the machine's CPUs in user mode, 0 … 1.
    pub cpu_user: f64,
    /// The same in the kernel.
    pub cpu_system: f64,
}

/// One failed operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFailure {
    /// The file or directory.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// What was to be done.
    pub operation: FileOperation,
    /// What the kernel said.
    pub reason: String,
}

impl FileInterval {
    /// What it is of one kind of operation alone, whose single latencies nobody kept.
    #[must_use]
    pub fn of(&self, operation: FileOperation) -> Self {
        let bytes = |moves, bytes| if operation == moves { bytes } else { 0 };
        let tally = FileTally {
            requested: self.tally.of(operation),
            read_bytes: bytes(FileOperation::Read, self.tally.read_bytes),
            written_bytes: bytes(FileOperation::Write, self.tally.written_bytes),
            ..FileTally::default()
        };
        Self { tally, ..*self }
    }
}

impl OperationCount {
    /// One more.
    pub fn add(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns += ns;
    }

    /// Those of another.
    pub fn join(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
    }

    /// Mean in ms; 0 for none.
    #[must_use]
    pub fn mean_ms(self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 / 1e6 }
    }
}

impl FileTally {
    /// Adds what another tally counted.
    pub fn join(&mut self, other: &Self) {
        for (sum, part) in self.operations.iter_mut().zip(other.operations) {
            sum.join(part);
        }
        self.requested.join(other.requested);
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(other.written_bytes);
        join(&mut self.service_ns, other.service_ns.as_ref());
        join(&mut self.from_intended_ns, other.from_intended_ns.as_ref());
    }

    /// One kind of operation.
    #[must_use]
    pub fn of(&self, operation: FileOperation) -> OperationCount {
        self.operations[operation.index()]
    }
}

fn join(sum: &mut Option<Histogram<u64>>, part: Option<&Histogram<u64>>) {
    match (sum, part) {
        (_, None) => {}
        (Some(sum), Some(part)) => *sum += part,
        (none, Some(part)) => *none = Some(part.clone()),
    }
}
