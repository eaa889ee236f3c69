//! Analysis of one series: from samples in order of measurement to the median and its interval.

use crate::effective::{EffectiveSize, effective_size};
use crate::quantile::{LEVEL, MIN_SAMPLES, effective_median_interval, median};
use crate::student;
use crate::warm_up::detect_warm_up;

/// The samples of one series, grouped by preparation, each group in order of measurement.
pub type Samples = Vec<Vec<f64>>;

/// Analysis of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Samples that count, in ascending order; at least one.
    pub sorted: Vec<f64>,
    /// Leading samples discarded as warm-up, over all preparations.
    pub discarded: usize,
    /// Leading samples discarded as warm-up, for each preparation.
    pub warm_up: Vec<usize>,
    /// Samples rejected because they are not finite.
    pub non_finite: usize,
    /// Preparations with at least one sample that counts.
    pub preparations: usize,
    /// Effective sample size.
    pub effective: EffectiveSize,
    /// The median.
    pub median: f64,
    /// The interval of the median at [`LEVEL`]; `None` with too few samples.
    pub interval: Option<(f64, f64)>,
}

/// Analyses one series: rejects samples that are not finite, discards the warm-up, estimates the
/// effective sample size, and builds the interval from it.
///
/// The interval comes from order statistics. With enough samples but too few effective ones it
/// comes from Student's t. Returns `None` when no finite sample is left.
pub fn analyse(preparations: &[Vec<f64>]) -> Option<Analysis> {
    let finite: Samples = preparations.iter().map(|values| finite_values(values)).collect();
    let refused = count_samples(preparations) - count_samples(&finite);
    let cut = detect_warm_up(&finite);
    let steady: Samples =
        finite.iter().zip(&cut).map(|(values, cut)| values[*cut..].to_vec()).collect();
    let effective = effective_size(&steady)?;
    let mut sorted = steady.concat();
    sorted.sort_by(f64::total_cmp);
    let preparations = steady.iter().filter(|values| !values.is_empty()).count();
    let interval = effective_median_interval(&sorted, effective.n, LEVEL).or_else(|| {
        let is_long = sorted.len() >= MIN_SAMPLES;
        is_long
            .then(|| student::median_t_interval(&sorted, effective.n, preparations))
            .flatten()
    });
    Some(Analysis {
        discarded: cut.iter().sum(),
        warm_up: cut,
        non_finite: refused,
        preparations,
        effective,
        median: median(&sorted)?,
        interval,
        sorted,
    })
}

impl Analysis {
    /// Returns half the width of the interval over the median.
    ///
    /// Returns 0 when the interval has no width, even for a median of 0. Returns `None` without an
    /// interval, or when the median is 0 and the interval has a width.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        if low >= high {
            return Some(0.0);
        }
        let width = (high / 2.0 - low / 2.0) / self.median.abs();
        width.is_finite().then_some(width)
    }
}

fn finite_values(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| value.is_finite()).collect()
}

fn count_samples(preparations: &[Vec<f64>]) -> usize {
    preparations.iter().map(Vec::len).sum()
}

#[cfg(test)]
mod tests;
