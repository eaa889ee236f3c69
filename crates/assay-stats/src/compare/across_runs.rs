//! Combination of one metric from several runs into one estimate, in which every run counts as one
//! value.

use assay_model::summary::MetricEstimate;

use crate::quantile::{self, LEVEL};
use crate::{mean, shift};

/// Returns the median of the runs' medians with its interval over runs; at least one run. A single
/// run keeps its estimate, with n = 1.
pub(super) fn combine_runs(runs: &[&MetricEstimate]) -> MetricEstimate {
    let mut all =
        MetricEstimate { n: runs.len(), n_effective: runs.len() as f64, ..runs[0].clone() };
    if runs.len() == 1 {
        return all;
    }
    let mut medians: Vec<f64> = runs.iter().map(|run| run.median).collect();
    medians.sort_unstable_by(f64::total_cmp);
    all.median = quantile::median(&medians).unwrap_or(f64::NAN);
    all.ci = interval_over_runs(&medians);
    let ends = |of: fn(f64, f64) -> f64, value: fn(&MetricEstimate) -> f64| {
        runs.iter().map(|run| value(run)).reduce(of).unwrap_or(f64::NAN)
    };
    (all.min, all.max) = (ends(f64::min, |it| it.min), ends(f64::max, |it| it.max));
    all.mean = mean::mean_for_unit(all.unit, &medians).unwrap_or(all.median);
    all.percentiles = None;
    all.percent_of_limit = all.limit.as_ref().map(|limit| 100.0 * all.median / limit.value);
    for doubt in runs[1..].iter().flat_map(|run| &run.warnings) {
        if all.warnings.iter().all(|known| known.id() != doubt.id()) {
            all.warnings.push(doubt.clone());
        }
    }
    all
}

/// Returns the interval from order statistics, or from Student's t where there are too few runs.
fn interval_over_runs(sorted: &[f64]) -> Option<[f64; 2]> {
    if let Some((low, high)) = quantile::median_interval(sorted, LEVEL) {
        return Some([low, high]);
    }
    Some(shift::paired_shift(sorted, LEVEL)?.significance?.interval)
}
