//! Least, greatest, mean and deviation of a series, and how long a stream was at work.

use assay_model::storage_outcome::{IntervalTally, Operation, StorageOutcome};

use super::super::compile::ReportRow;

/// What a series of samples amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Samples {
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// How many.
    pub count: u64,
}

impl Samples {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: values.iter().copied().fold(0.0, f64::max),
            mean,
            deviation: (squares / (count - 1.0).max(1.0)).sqrt(),
            count: values.len() as u64,
        }
    }
}

/// An interval shorter than this share of the longest holds too little to be a sample.
const WHOLE: f64 = 0.9;

/// KiB/s and IO/s of an entry over the whole intervals of its phases.
pub(super) fn series(
    row: &ReportRow,
    outcomes: &[StorageOutcome],
    operation: Operation,
) -> (Samples, Samples) {
    let (mut bandwidth, mut rate) = (vec![], vec![]);
    for (index, outcome) in outcomes.iter().enumerate() {
        let parts = || row.parts.iter().filter(|part| part.phase == index);
        let counted: Vec<_> = outcome.intervals.iter().filter(|it| !it.warmup).collect();
        let longest = counted.iter().map(|it| it.length_s).fold(0.0, f64::max);
        for interval in counted {
            let (mut ios, mut bytes) = (0, 0);
            for part in parts() {
                let (more_ios, more_bytes) = of_stream(interval, part.stream, operation);
                ios += more_ios;
                bytes += more_bytes;
            }
            if interval.length_s >= WHOLE * longest && interval.length_s > 0.0 && ios > 0 {
                bandwidth.push(bytes as f64 / 1024.0 / interval.length_s);
                rate.push(ios as f64 / interval.length_s);
            }
        }
    }
    (Samples::of(&bandwidth), Samples::of(&rate))
}

fn of_stream(interval: &IntervalTally, stream: usize, operation: Operation) -> (u64, u64) {
    let count = interval.streams.get(stream).copied().unwrap_or_default();
    match operation {
        Operation::Read => (count.reads, count.read_bytes),
        Operation::Write => (count.writes, count.write_bytes),
    }
}

/// Seconds for which a stream was at work: all that counted, or up to where it ended before the
/// others. Within the interval in which it ended, the time is estimated from its mean pace.
pub(super) fn active_s(outcome: &StorageOutcome, stream: usize) -> f64 {
    let counted: Vec<_> = outcome.intervals.iter().filter(|it| !it.warmup).collect();
    let bytes = |interval: &IntervalTally| {
        interval.streams.get(stream).map_or(0, |it| it.read_bytes + it.write_bytes) as f64
    };
    let Some(last) = counted.iter().rposition(|interval| bytes(interval) > 0.0) else {
        return outcome.elapsed_s;
    };
    if last + 1 == counted.len() || last == 0 {
        return outcome.elapsed_s;
    }
    let before_s: f64 = counted[..last].iter().map(|it| it.length_s).sum();
    let before: f64 = counted[..last].iter().map(|it| bytes(it)).sum();
    let pace = before / before_s;
    let rest_s = (bytes(counted[last]) / pace).min(counted[last].length_s);
    (before_s + rest_s).min(outcome.elapsed_s)
}
