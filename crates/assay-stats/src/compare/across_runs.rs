//! Combination of one metric from several runs into one estimate, in which every run counts as one
//! value.

use assay_model::summary::Estimate;

use crate::quantile::{self, LEVEL};
use crate::{mean, shift};

/// Returns the median of the runs' medians with its interval over runs; at least one run. A single
/// run keeps its estimate, with n = 1.
pub(super) fn combined(runs: &[&Estimate]) -> Estimate {
    let mut all = Estimate { n: runs.len(), n_effective: runs.len() as f64, ..runs[0].clone() };
    if runs.len() == 1 {
        return all;
    }
    let mut medians: Vec<f64> = runs.iter().map(|run| run.median).collect();
    medians.sort_unstable_by(f64::total_cmp);
    all.median = quantile::median(&medians).unwrap_or(f64::NAN);
    all.ci = interval(&medians);
    let ends = |of: fn(f64, f64) -> f64, value: fn(&Estimate) -> f64| {
        runs.iter().map(|run| value(run)).reduce(of).unwrap_or(f64::NAN)
    };
    (all.min, all.max) = (ends(f64::min, |it| it.min), ends(f64::max, |it| it.max));
    all.mean = mean::of_unit(all.unit, &medians).unwrap_or(all.median);
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
fn interval(sorted: &[f64]) -> Option<[f64; 2]> {
    if let Some((low, high)) = quantile::median_interval(sorted, LEVEL) {
        return Some([low, high]);
    }
    Some(shift::of_pairs(sorted, LEVEL)?.known?.interval)
}
