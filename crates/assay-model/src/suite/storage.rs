//! Storage measures of a suite.

use std::path::PathBuf;

use crate::quantity::Bytes;
use crate::workload::course::Course;
use crate::workload::storage::{Arrivals, EngineChoice};

/// One kind of I/O, with every size of block and every depth that is requested.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageRequest {
    /// What its results are called; `None` = by what is done: `random-read-8KiB`.
    pub name: Option<String>,
    /// Where; empty = where the command line says.
    pub targets: Vec<TargetRequest>,
    /// The size that files are made with; `None` = what is usual.
    pub size: Option<Bytes>,
    /// Share of reads, 0 … 1.
    pub read_share: f64,
    /// Where the next I/O goes.
    pub order: Order,
    /// Sizes of one I/O, one after another.
    pub bytes: Vec<Bytes>,
    /// I/O in flight on each target, all threads together; one after another.
    pub depths: Vec<u32>,
    /// Threads that submit.
    pub threads: u32,
    /// IO/s that are due, and the law of their gaps; `None` = as fast as it goes.
    pub rate: Option<(f64, Arrivals)>,
    /// How I/O is handed to the kernel.
    pub engine: EngineChoice,
    /// Whether the page cache is used.
    pub buffered: bool,
    /// Whether `fsync` ends the test and counts into it.
    pub sync_at_end: bool,
    /// Seconds that count; `None` = what the budget allows.
    pub length_s: Option<f64>,
    /// Seconds before anything counts; `None` = a tenth of the length.
    pub warmup_s: Option<f64>,
    /// Percent of the maximum rate at which the response is measured; empty = only the maximum.
    pub curve: Vec<f64>,
    /// Points that are added to the curve where it bends.
    pub bend_points: u32,
    /// How often all of each target is written before the first case; 0 = it is left as it is.
    pub precondition_passes: u32,
    /// How often a case is measured; on a curve only its maximum rate is measured in rounds.
    pub course: Course,
    /// What the volume is provisioned for, in B/s.
    pub provisioned_bytes_per_s: Option<f64>,
}

/// A file, a folder to make one in, or a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetRequest {
    /// Where it is.
    pub path: PathBuf,
    /// Its size once it is there; `None` = the size it has.
    pub bytes: Option<u64>,
}

/// Where the next I/O goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Anywhere.
    Random,
    /// One after another, all threads from one position.
    Sequential,
    /// One after another, each thread in its own part.
    Parts,
}
