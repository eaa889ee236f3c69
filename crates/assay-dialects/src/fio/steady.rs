//! fio's steady-state criterion: over a window of seconds, the largest deviation from the mean, or
//! the slope of a least-squares line.
//!
//! Evaluated on the series of a run: once during the run, to end it, and once for the report.

use assay_model::storage_outcome::IntervalTally;
use serde::{Deserialize, Serialize};

use super::section_options::{IoBehaviour, SteadyCriterion};

/// Length of one sample in seconds.
const SAMPLE_S: f64 = 1.0;

/// Sliding window of samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FioSteadyWindow {
    steady: SteadyCriterion,
    length: usize,
    ramp_s: f64,
    elapsed_s: f64,
    partial: (f64, f64, f64),
    /// IO/s and B/s of each second in the window.
    pub(super) samples: Vec<(u64, u64)>,
    /// Whether the criterion was met; later intervals are ignored.
    pub(super) attained: bool,
    /// Value that was compared with the limit.
    pub(super) criterion: f64,
    /// Largest deviation from the mean.
    pub(super) deviation: f64,
    /// Slope per second.
    pub(super) slope: f64,
}

impl FioSteadyWindow {
    /// Creates the window of a job with a steady-state criterion; `None` without one.
    pub fn from_behaviour(manner: &IoBehaviour) -> Option<Self> {
        let length = (manner.steady_duration_s / SAMPLE_S) as usize;
        let steady = manner.steady.filter(|_| length > 0)?;
        Some(Self {
            steady,
            length,
            ramp_s: manner.steady_ramp_s,
            elapsed_s: 0.0,
            partial: (0.0, 0.0, 0.0),
            samples: vec![],
            attained: false,
            criterion: 0.0,
            deviation: 0.0,
            slope: 0.0,
        })
    }

    /// Adds the I/O of the given streams in one interval; returns whether the state is steady now.
    pub fn add(&mut self, interval: &IntervalTally, streams: &[usize]) -> bool {
        self.elapsed_s += interval.length_s;
        if self.attained || interval.warmup || self.elapsed_s <= self.ramp_s {
            return self.attained;
        }
        let (length_s, ios, bytes) = &mut self.partial;
        *length_s += interval.length_s;
        for count in streams.iter().filter_map(|stream| interval.streams.get(*stream)) {
            *ios += (count.reads + count.writes) as f64;
            *bytes += (count.read_bytes + count.write_bytes) as f64;
        }
        // Lengths are sums of fractions, so a whole second may be short by a rounding error.
        if *length_s >= SAMPLE_S * 0.999 {
            let sample = ((*ios / *length_s) as u64, (*bytes / *length_s) as u64);
            self.partial = (0.0, 0.0, 0.0);
            if self.samples.len() == self.length {
                self.samples.remove(0);
            }
            self.samples.push(sample);
            self.evaluate();
        }
        self.attained
    }

    fn evaluate(&mut self) {
        if self.samples.len() < self.length {
            return;
        }
        let value =
            |sample: &(u64, u64)| if self.steady.uses_iops { sample.0 } else { sample.1 };
        let values: Vec<f64> = self.samples.iter().map(|sample| value(sample) as f64).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let found = if self.steady.by_slope {
            // Least squares over 0, 1, … n − 1: Σ(x − x̄)·y / Σ(x − x̄)².
            let centre = (n - 1.0) / 2.0;
            let at = |x: usize| x as f64 - centre;
            let products: f64 = values.iter().enumerate().map(|(x, y)| at(x) * y).sum();
            let squares: f64 = (0..values.len()).map(|x| at(x).powi(2)).sum();
            self.slope = if squares > 0.0 { products / squares } else { 0.0 };
            self.slope
        } else {
            self.deviation = values.iter().map(|it| (it - mean).abs()).fold(0.0, f64::max);
            self.deviation
        };
        self.criterion = match self.steady.in_percent {
            true if mean > 0.0 => 100.0 * found / mean,
            true => 0.0,
            false => found,
        };
        self.attained = mean > 0.0 && self.criterion.abs() < self.steady.limit;
    }

    /// Returns the mean IO/s and B/s.
    pub(super) fn means(&self) -> (u64, u64) {
        let count = self.samples.len().max(1) as u64;
        let sum = |of: fn(&(u64, u64)) -> u64| self.samples.iter().map(of).sum::<u64>() / count;
        (sum(|it| it.0), sum(|it| it.1))
    }

    /// Formats the criterion as fio writes it: `iops_slope:2.000000%`.
    pub(super) fn criterion_text(&self) -> String {
        let slope = if self.steady.by_slope { "_slope" } else { "" };
        let percent = if self.steady.in_percent { "%" } else { "" };
        format!("{}{slope}:{:.6}{percent}", self.metric_name(), self.steady.limit)
    }

    pub(super) const fn metric_name(&self) -> &'static str {
        if self.steady.uses_iops { "iops" } else { "bw" }
    }

    pub(super) const fn steady(&self) -> SteadyCriterion {
        self.steady
    }

    /// Returns the length of the window, of at most a week: a stored one may be damaged.
    pub(super) const fn seconds(&self) -> usize {
        const WEEK_S: usize = 604_800;
        if self.length < WEEK_S { self.length } else { WEEK_S }
    }
}
