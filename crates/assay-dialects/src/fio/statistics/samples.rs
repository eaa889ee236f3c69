//! Minimum, maximum, mean and deviation of a series of samples.

use assay_model::storage_outcome::{IntervalTally, IoOperation, StorageOutcome};
use serde::{Deserialize, Serialize};

use super::super::compile::ReportRow;
use super::super::section_options::FioOptions;

/// Summary of a series of samples.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SampleSummary {
    /// Minimum.
    pub minimum: f64,
    /// Maximum.
    pub maximum: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Number of samples.
    pub count: u64,
}

impl SampleSummary {
    fn from_values(values: &[f64]) -> Self {
        let count = values.len() as f64;
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            minimum: values.iter().copied().fold(f64::INFINITY, f64::min),
            maximum: values.iter().copied().fold(0.0, f64::max),
            mean,
            deviation: (squares / (count - 1.0).max(1.0)).sqrt(),
            count: values.len() as u64,
        }
    }
}

/// Share of the requested length from which a sample counts.
const FULL_SAMPLE_SHARE: f64 = 0.9;

/// Summarizes an entry's KiB/s and IO/s over samples of the job's requested length. The series may
/// be finer, for logs; a shorter run is one sample.
pub(super) fn series(
    worker: &FioOptions,
    row: &ReportRow,
    outcomes: &[StorageOutcome],
    operations: &[IoOperation],
) -> (SampleSummary, SampleSummary) {
    let (mut bandwidth, mut rate) = (vec![], vec![]);
    for (index, outcome) in outcomes.iter().enumerate() {
        let parts = || row.parts.iter().filter(|part| part.phase == index);
        // What was measured before a measurement began again does not count.
        let streams = parts().filter_map(|part| outcome.streams.get(part.stream));
        let from_s = streams.filter_map(|it| it.restarted_s).fold(0.0, f64::max);
        let counts = |it: &&IntervalTally| !it.warmup && it.start_s >= from_s;
        let counted: Vec<_> = outcome.intervals.iter().filter(counts).collect();
        let elapsed_s: f64 = counted.iter().map(|it| it.length_s).sum();
        let wanted_s = FULL_SAMPLE_SHARE * worker.sample_s.min(elapsed_s);
        let (mut ios, mut bytes, mut length_s) = (0, 0, 0.0);
        for interval in counted {
            length_s += interval.length_s;
            for part in parts() {
                for operation in operations {
                    let more = stream_counts(interval, part.stream, *operation);
                    (ios, bytes) = (ios + more.0, bytes + more.1);
                }
            }
            if length_s < wanted_s || length_s <= 0.0 {
                continue;
            }
            if ios > 0 {
                bandwidth.push(bytes as f64 / 1024.0 / length_s);
                rate.push(ios as f64 / length_s);
            }
            (ios, bytes, length_s) = (0, 0, 0.0);
        }
    }
    (SampleSummary::from_values(&bandwidth), SampleSummary::from_values(&rate))
}

/// Returns the I/O and bytes of a stream in an interval.
pub(super) fn stream_counts(
    interval: &IntervalTally,
    stream: usize,
    operation: IoOperation,
) -> (u64, u64) {
    let count = interval.streams.get(stream).copied().unwrap_or_default();
    match operation {
        IoOperation::Read => (count.reads, count.read_bytes),
        IoOperation::Write => (count.writes, count.write_bytes),
    }
}
