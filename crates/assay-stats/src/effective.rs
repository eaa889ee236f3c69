//! Number of effective samples of a series (effective sample size).
//!
//! Repetitions of one preparation share its page placement, and successive repetitions share slow
//! changes. Both correlations make n samples worth fewer than n independent ones.

use crate::autocorrelation::{integrated_time, serial_dependence};
use crate::quantile::MIN_SAMPLES;
use crate::rank::mid_ranks;

/// Number of samples below which a series is short. Also the number of preparations below which the
/// autocorrelation of their means is not estimated.
const SHORT_SERIES: usize = 30;
/// Difference between preparations in standard errors below which a short series is treated as if
/// its preparations did not differ. With a lower value the interval of ten independent samples
/// would cover 99.1 %.
const MIN_BETWEEN_Z: f64 = 0.5;
/// Serial dependence in standard errors above which a short series does not get a minimum of
/// [`MIN_SAMPLES`] effective samples. One in ten independent series of ten samples exceeds it. For
/// ten samples with a lag-1 correlation of 0.9, any test of this size misses at least one in four
/// (Neyman and Pearson; simulated).
const SIGNIFICANT_SERIAL_Z: f64 = 1.28;
/// Difference between preparations in standard errors, with the same consequence. One in twenty
/// independent series exceeds it.
const SIGNIFICANT_BETWEEN_Z: f64 = 1.645;

/// Effective size of a series and its causes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveSize {
    /// Number of effective samples, 1 … n.
    pub n: f64,
    /// Successive repetitions that carry as much information as one independent repetition, at
    /// least 1.
    pub autocorrelation_time: f64,
    /// Share ρ of the variance that is between preparations, 0 … 1 (intraclass correlation).
    pub intraclass_correlation: f64,
    /// Excess of the stronger dependence over the average of independent samples, in standard
    /// errors.
    pub z_score: f64,
}

/// Returns the effective size of a series that is grouped by preparation, in order of time; `None`
/// without samples.
///
/// `n_effective` = n / max(m ρ s u + (1 − ρ) τ, T): m = Σ mⱼ² / n is the mean number of repetitions
/// per preparation, ρ the share of variance between preparations, τ the autocorrelation time within
/// them, u that of the means of 30 and more preparations, and T that of the whole series, from
/// neighbours within preparations and between them (see [`serial_dependence`]). For τ = u = s = 1
/// the former is Kish's design effect 1 + (m − 1) ρ (Survey Sampling, 1965, §5.4). With k
/// preparations, s = 1 + 0.7 (2 / (k − 1))³, because three preparations determine ρ poorly and five
/// well enough. That is about a third of what Student's quantile would add for three, fitted to the
/// coverage in the simulation.
///
/// Everything is estimated from ranks, which bounds the weight of an outlier and suits the median,
/// whose interval consists of ranks. ρ comes from the one-way analysis of variance with random
/// preparations (Searle and others, Variance Components, 1992, §3.6), with two changes: the spread
/// within preparations is multiplied by τ, because correlated repetitions move the mean of a
/// preparation more; and the F ratio is divided by the median of its distribution, so that ρ is too
/// small as often as too large. The usual estimate is too small more often than not when there are
/// few preparations.
///
/// A short series without significant dependence keeps its interval from ranks: it counts as at
/// least [`MIN_SAMPLES`] effective samples. [`crate::interval_coverage`] simulates the coverage
/// with the real stopping rule. With one preparation ρ cannot be estimated and is taken as 0.
pub fn effective_size(preparations: &[Vec<f64>]) -> Option<EffectiveSize> {
    let groups = grouped_ranks(preparations);
    let n = groups.iter().map(Vec::len).sum::<usize>() as f64;
    if groups.is_empty() {
        return None;
    }
    let within = integrated_time(&groups);
    let serial = serial_dependence(&groups);
    let mean_size = groups.iter().map(|group| (group.len() as f64).powi(2)).sum::<f64>() / n;
    let (rho, between_z) = estimate_intraclass_correlation(&groups, within, mean_size);
    let intraclass_correlation =
        if n < SHORT_SERIES as f64 && between_z < MIN_BETWEEN_Z { 0.0 } else { rho };
    let few_preparations_factor =
        1.0 + 0.7 * (2.0 / (groups.len() as f64 - 1.0).max(1.0)).powi(3);
    // The limit: if all variance is between preparations, each preparation counts as one sample.
    let between_effect = preparation_means_time(&groups)
        * (mean_size * intraclass_correlation * few_preparations_factor)
            .min(mean_size.max(n / groups.len() as f64));
    let design_effect = (between_effect + (1.0 - intraclass_correlation) * within)
        .max(serial.autocorrelation_time);
    let z_score = serial.z_score.max(between_z);
    let is_dependent =
        serial.z_score > SIGNIFICANT_SERIAL_Z || between_z > SIGNIFICANT_BETWEEN_Z;
    let minimum = if !is_dependent { MIN_SAMPLES as f64 } else { 1.0 };
    let n_effective = (n / design_effect).max(minimum).clamp(1.0, n);
    Some(EffectiveSize {
        n: n_effective,
        autocorrelation_time: within.max(serial.autocorrelation_time),
        intraclass_correlation,
        z_score,
    })
}

/// Returns the autocorrelation time of the means of preparations; 1 when there are too few to
/// estimate it.
fn preparation_means_time(groups: &[Vec<f64>]) -> f64 {
    if groups.len() < SHORT_SERIES {
        return 1.0;
    }
    integrated_time(&[groups.iter().map(|group| mean(group)).collect()])
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns ranks over all samples, grouped by preparation; empty preparations are left out.
fn grouped_ranks(preparations: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let all: Vec<f64> = preparations.iter().flatten().copied().collect();
    let mut ranks = mid_ranks(&all).into_iter();
    let groups = preparations.iter().filter(|values| !values.is_empty());
    groups.map(|values| ranks.by_ref().take(values.len()).collect()).collect()
}

/// Returns ρ = θ / (1 + θ) with θ = variance between over variance within, and the excess of the F
/// ratio over its median, in standard errors.
fn estimate_intraclass_correlation(
    groups: &[Vec<f64>],
    autocorrelation_time: f64,
    mean_size: f64,
) -> (f64, f64) {
    let k = groups.len() as f64;
    let n = groups.iter().map(Vec::len).sum::<usize>() as f64;
    if k < 2.0 || n <= k {
        return (0.0, 0.0);
    }
    let grand_mean = groups.iter().flatten().sum::<f64>() / n;
    let mut squares_between = 0.0;
    let mut squares_within = 0.0;
    for group in groups {
        let group_mean = mean(group);
        squares_between += group.len() as f64 * (group_mean - grand_mean).powi(2);
        squares_within += group.iter().map(|rank| (rank - group_mean).powi(2)).sum::<f64>();
    }
    if squares_between <= 0.0 {
        return (0.0, 0.0);
    }
    if squares_within <= 0.0 {
        return (1.0, f64::INFINITY);
    }
    let degrees_between = k - 1.0;
    let degrees_within = ((n - k) / autocorrelation_time).max(1.0);
    let within = squares_within / (n - k) * autocorrelation_time;
    let ratio = squares_between / degrees_between / within;
    let z_score = f_to_normal(ratio, degrees_between, degrees_within);
    let ratio = ratio / median_of_f(degrees_between, degrees_within);
    // n₀ of the analysis of variance with unequal groups.
    let size = (n - mean_size) / degrees_between;
    let theta = ((ratio - 1.0) * autocorrelation_time / size).max(0.0);
    (theta / (1.0 + theta), z_score)
}

/// Returns the standard normal value with the same probability of exceedance as this F ratio, by
/// the same approximation as [`median_of_f`].
fn f_to_normal(ratio: f64, a: f64, b: f64) -> f64 {
    let (a, b) = (2.0 / (9.0 * a), 2.0 / (9.0 * b));
    let root = ratio.cbrt();
    ((1.0 - b) * root - (1.0 - a)) / (b * root * root + a).sqrt()
}

/// Returns the median of the F distribution, ((1 − 2 / 9a) / (1 − 2 / 9b))³, within 2 % from 2
/// degrees of freedom on and 4 % for one (Paulson, Ann. Math. Stat. 13:233, 1942, at probability
/// ½).
fn median_of_f(a: f64, b: f64) -> f64 {
    let cube_root = |degrees: f64| 1.0 - 2.0 / (9.0 * degrees);
    (cube_root(a) / cube_root(b)).powi(3)
}

#[cfg(test)]
mod tests;
