//! The number of effective samples of a series (effective sample size).
//!
//! Repetitions of one preparation share its page placement, and successive repetitions share slow changes.
//! Both correlations make n samples worth fewer than n independent ones.

use crate::autocorrelation::{integrated_time, memory};
use crate::quantile::MINIMUM;
use crate::rank::mid_ranks;

/// Fewer than this many values are a short series.
const SHORT: usize = 30;
/// Short series show a difference between preparations only where it is this great, in standard
/// errors: with ten independent samples the interval would cover 99.1 % otherwise.
const UNSEEN: f64 = 0.5;
/// A dependence that costs a short series its interval from ranks must stand out by this, in standard errors:
/// one independent series in ten of ten samples loses it. For ten samples that follow each other with a correlation
/// of 0.9 no test of this size overlooks fewer than one in four (Neyman and Pearson; simulated).
const STANDS_OUT: f64 = 1.28;
/// The same for differences between preparations: one in twenty.
const DIFFERS: f64 = 1.645;

/// What a series is worth and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effective {
    /// Independent samples that the series is worth, 1 … n.
    pub n: f64,
    /// Neighbouring repetitions that are worth one independent repetition, at least 1.
    pub time: f64,
    /// Share ρ of the variance that is between preparations, 0 … 1 (intraclass correlation).
    pub between: f64,
    /// How far what was seen of either dependence lies above what independent samples show on
    /// average, in standard errors.
    pub errors: f64,
}

/// Effective size of a series that is grouped by preparation, in order of time; `None` without
/// samples.
///
/// `n_effective` = n / max(m ρ s u + (1 − ρ) τ, T): m = Σ mⱼ² / n is the mean number of repetitions per
/// preparation, ρ the share of variance between preparations, τ the autocorrelation time within them, u
/// that of the means of 30 and more preparations, and T that of the whole series, from neighbours within
/// preparations and between them (see [`memory`]). For τ = u = s = 1 the former is Kish's design effect
/// 1 + (m − 1) ρ (Survey Sampling, 1965, §5.4). As three preparations k say little of ρ, and five
/// enough, s = 1 + 0.7 (2 / (k − 1))³: about a third of what Student's quantile would add for three, fitted to
/// what the proof counts.
///
/// Everything is estimated from ranks, which bounds the weight of a wild sample and suits the
/// median, whose interval consists of ranks. ρ comes from the one-way analysis of variance with
/// random preparations (Searle and others, Variance Components, 1992, §3.6), with two
/// changes: the spread within preparations is multiplied by τ, because correlated repetitions
/// move the mean of a preparation more; and the F ratio is divided by the median of its
/// distribution, so that ρ is too small as often as too large. The usual estimate is too small
/// more often than not when there are few preparations.
///
/// A short series whose dependence does not stand out from chance keeps its interval from ranks: it is worth
/// at least [`MINIMUM`] samples. What the interval covers with the real stopping rule is the table of
/// [`crate::proof`]; with one preparation ρ cannot be seen and is taken as 0.
#[must_use]
pub fn effective_size(preparations: &[Vec<f64>]) -> Option<Effective> {
    let groups = grouped_ranks(preparations);
    let n = groups.iter().map(Vec::len).sum::<usize>() as f64;
    if groups.is_empty() {
        return None;
    }
    let within = integrated_time(&groups);
    let memory = memory(&groups);
    let mean_size = groups.iter().map(|group| (group.len() as f64).powi(2)).sum::<f64>() / n;
    let (share, errors) = share_between(&groups, within, mean_size);
    let between = if n < SHORT as f64 && errors < UNSEEN { 0.0 } else { share };
    let few = 1.0 + 0.7 * (2.0 / (groups.len() as f64 - 1.0).max(1.0)).powi(3);
    // All variance between preparations makes the repetitions of one worth a single sample, and
    // there is nothing to estimate any more.
    let differ = levels(&groups)
        * (mean_size * between * few).min(mean_size.max(n / groups.len() as f64));
    let effect = (differ + (1.0 - between) * within).max(memory.time);
    let seen = memory.errors.max(errors);
    let stands_out = memory.errors > STANDS_OUT || errors > DIFFERS;
    let minimum = if !stands_out { MINIMUM as f64 } else { 1.0 };
    let worth = (n / effect).max(minimum).clamp(1.0, n);
    Some(Effective { n: worth, time: within.max(memory.time), between, errors: seen })
}

/// Autocorrelation time of the means of preparations, where there are enough to show it.
fn levels(groups: &[Vec<f64>]) -> f64 {
    if groups.len() < SHORT {
        return 1.0;
    }
    integrated_time(&[groups.iter().map(|group| mean(group)).collect()])
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Ranks over all samples, handed back to their preparations; empty ones are left out.
fn grouped_ranks(preparations: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let all: Vec<f64> = preparations.iter().flatten().copied().collect();
    let mut ranks = mid_ranks(&all).into_iter();
    let groups = preparations.iter().filter(|values| !values.is_empty());
    groups.map(|values| ranks.by_ref().take(values.len()).collect()).collect()
}

/// ρ = θ / (1 + θ) with θ = variance between over variance within; and how far the F ratio lies above
/// its median, in standard errors.
fn share_between(groups: &[Vec<f64>], time: f64, mean_size: f64) -> (f64, f64) {
    let k = groups.len() as f64;
    let n = groups.iter().map(Vec::len).sum::<usize>() as f64;
    if k < 2.0 || n <= k {
        return (0.0, 0.0);
    }
    let grand = groups.iter().flatten().sum::<f64>() / n;
    let mut squares_between = 0.0;
    let mut squares_within = 0.0;
    for group in groups {
        let own = mean(group);
        squares_between += group.len() as f64 * (own - grand).powi(2);
        squares_within += group.iter().map(|rank| (rank - own).powi(2)).sum::<f64>();
    }
    if squares_between <= 0.0 {
        return (0.0, 0.0);
    }
    if squares_within <= 0.0 {
        return (1.0, f64::INFINITY);
    }
    let degrees_between = k - 1.0;
    let degrees_within = ((n - k) / time).max(1.0);
    let within = squares_within / (n - k) * time;
    let ratio = squares_between / degrees_between / within;
    let errors = normal_of_f(ratio, degrees_between, degrees_within);
    let ratio = ratio / median_of_f(degrees_between, degrees_within);
    // n₀ of the analysis of variance with unequal groups.
    let size = (n - mean_size) / degrees_between;
    let theta = ((ratio - 1.0) * time / size).max(0.0);
    (theta / (1.0 + theta), errors)
}

/// The standard normal value that is as likely to be exceeded as this F ratio, by the same
/// approximation as [`median_of_f`].
fn normal_of_f(ratio: f64, a: f64, b: f64) -> f64 {
    let (a, b) = (2.0 / (9.0 * a), 2.0 / (9.0 * b));
    let root = ratio.cbrt();
    ((1.0 - b) * root - (1.0 - a)) / (b * root * root + a).sqrt()
}

/// Median of the F distribution, ((1 − 2 / 9a) / (1 − 2 / 9b))³, within 2 % from 2 degrees of
/// freedom on and 4 % for one (Paulson, Ann. Math. Stat. 13:233, 1942, at probability ½).
fn median_of_f(a: f64, b: f64) -> f64 {
    let cube_root = |degrees: f64| 1.0 - 2.0 / (9.0 * degrees);
    (cube_root(a) / cube_root(b)).powi(3)
}

#[cfg(test)]
mod tests;
