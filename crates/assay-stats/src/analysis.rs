//! One series, from samples in order of measurement to its median and interval.

use crate::effective::{Effective, effective_size};
use crate::quantile::{LEVEL, MINIMUM, effective_median_interval, median};
use crate::steady_state::warm_up;
use crate::student;

/// The samples of one series, grouped by preparation, each group in order of measurement.
pub type Samples = Vec<Vec<f64>>;

/// What one series amounts to.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// The samples that count, in ascending order; at least one.
    pub sorted: Vec<f64>,
    /// Leading samples discarded as warm-up, over all preparations.
    pub discarded: usize,
    /// The same, of each preparation.
    pub cut: Vec<usize>,
    /// Samples refused because they are not finite.
    pub refused: usize,
    /// Preparations with at least one sample that counts.
    pub preparations: usize,
    /// What the samples are worth.
    pub effective: Effective,
    /// The median.
    pub median: f64,
    /// The interval of the median at [`LEVEL`]; `None` with too few samples.
    pub interval: Option<(f64, f64)>,
}

/// Refuses what is not finite, discards the warm-up, finds what the rest is worth, and builds the
/// interval from that: from ranks, or with Student's t where too few effective samples are left of
/// enough samples. `None` when no finite sample is left.
#[must_use]
pub fn analyse(preparations: &[Vec<f64>]) -> Option<Analysis> {
    let finite: Samples = preparations.iter().map(|values| finite(values)).collect();
    let refused = count(preparations) - count(&finite);
    let cut = warm_up(&finite);
    let steady: Samples =
        finite.iter().zip(&cut).map(|(values, cut)| values[*cut..].to_vec()).collect();
    let effective = effective_size(&steady)?;
    let mut sorted = steady.concat();
    sorted.sort_by(f64::total_cmp);
    let preparations = steady.iter().filter(|values| !values.is_empty()).count();
    let interval = effective_median_interval(&sorted, effective.n, LEVEL).or_else(|| {
        let is_long = sorted.len() >= MINIMUM;
        is_long.then(|| student::interval(&sorted, effective.n, preparations)).flatten()
    });
    Some(Analysis {
        discarded: cut.iter().sum(),
        cut,
        refused,
        preparations,
        effective,
        median: median(&sorted)?,
        interval,
        sorted,
    })
}

impl Analysis {
    /// Half the width of the interval over the median; 0 where all of it is one value, also
    /// where that is 0; `None` without an interval, or when the median is 0 and its interval is wide.
    #[must_use]
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        if low >= high {
            return Some(0.0);
        }
        let width = (high / 2.0 - low / 2.0) / self.median.abs();
        width.is_finite().then_some(width)
    }

    /// The wider side of the interval over the median, which is what reports write behind ±; at least
    /// [`Self::relative_half_width`].
    #[must_use]
    pub fn relative_wider_side(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        let side = (high - self.median).max(self.median - low) / self.median.abs();
        if low >= high { Some(0.0) } else { side.is_finite().then_some(side) }
    }
}

fn finite(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| value.is_finite()).collect()
}

fn count(preparations: &[Vec<f64>]) -> usize {
    preparations.iter().map(Vec::len).sum()
}

#[cfg(test)]
mod tests;
