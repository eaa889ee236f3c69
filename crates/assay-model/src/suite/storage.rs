//! Storage measures of a suite.

use std::path::PathBuf;

use crate::quantity::Bytes;
use crate::workload::measurement_mode::MeasurementMode;
use crate::workload::storage::{ArrivalProcess, EngineChoice};

/// I/O of one kind, with all requested block sizes and depths.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageRequest {
    /// Name of its results; `None` = derived from the operation: `random-read-8KiB`.
    pub name: Option<String>,
    /// Targets; empty = as on the command line.
    pub targets: Vec<TargetRequest>,
    /// Size of new files; `None` = the default.
    pub size: Option<Bytes>,
    /// Share of reads, 0 … 1.
    pub read_share: f64,
    /// Order of the offsets.
    pub order: AccessOrder,
    /// Block sizes, each measured in a case of its own.
    pub bytes: Vec<Bytes>,
    /// I/O in flight on each target, over all threads; each measured in a case of its own.
    pub depths: Vec<u32>,
    /// Number of submitting threads.
    pub threads: u32,
    /// Rate of an open loop in IO/s with its arrival process; `None` = closed loop.
    pub rate: Option<(f64, ArrivalProcess)>,
    /// Engine that issues the I/O.
    pub engine: EngineChoice,
    /// Whether the page cache is used.
    pub buffered: bool,
    /// Whether a final `fsync` is part of the measured time.
    pub sync_at_end: bool,
    /// Measured seconds; `None` = as the budget allows.
    pub length_s: Option<f64>,
    /// Seconds of warm-up; `None` = a tenth of the length.
    pub warmup_s: Option<f64>,
    /// Points of a response curve in percent of the maximum rate; empty = only the maximum.
    pub curve: Vec<f64>,
    /// Number of points added at the bend of the curve.
    pub bend_points: u32,
    /// Number of full writes of each target before the first case; 0 = none.
    pub precondition_passes: u32,
    /// Measurement mode; on a curve it applies only to the maximum rate.
    pub mode: MeasurementMode,
    /// Throughput that the volume is provisioned for, in B/s.
    pub provisioned_bytes_per_s: Option<f64>,
}

/// A file, a folder for a new file, or a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetRequest {
    /// Its path.
    pub path: PathBuf,
    /// Its size after it was created; `None` = its current size.
    pub bytes: Option<u64>,
}

/// Order of the offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessOrder {
    /// Random offsets.
    Random,
    /// Sequential, with one position for all threads.
    Sequential,
    /// Sequential, with a separate part of the range for each thread.
    Parts,
}
