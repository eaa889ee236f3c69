//! Quantiles and percentiles, and the confidence interval of the median.
//!
//! Nothing here assumes a distribution. All functions take values in ascending order; none of them
//! sorts, and none panics when the order is broken.

use std::collections::BTreeMap;

mod binomial;

pub use binomial::interval_rank;

/// Confidence level of every interval that assay prints.
pub const LEVEL: f64 = 0.95;

/// Minimum number of independent samples whose median has an interval at [`LEVEL`].
pub const MIN_SAMPLES: usize = 6;

/// Risk that a printed percentile exceeds every sample.
const PERCENTILE_RISK: f64 = 0.05;

/// Percentiles that are printed if the sample supports them.
const PERCENTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
];

/// Returns the `p`-quantile of values in ascending order; `None` without values or for a `p`
/// outside 0 … 1.
///
/// Type 7 of Hyndman and Fan (The American Statistician 50:361, 1996): x(h) with h = (n − 1) p + 1,
/// linear between order statistics.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    let last = sorted.len().checked_sub(1)?;
    let position = last as f64 * p;
    let below = position.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let share = position - below as f64;
    let between = low * (1.0 - share) + high * share;
    // Rounding must not carry the value past its neighbours.
    Some(between.max(low).min(high))
}

/// Returns the median of values in ascending order; `None` without values.
pub fn median(sorted: &[f64]) -> Option<f64> {
    quantile(sorted, 0.5)
}

/// Returns the median of values in any order; `None` without values.
pub fn unsorted_median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    median(&values)
}

/// Returns the interval of the median from order statistics, `[x(l), x(n + 1 − l)]`, of independent
/// values in ascending order.
///
/// l is the largest rank with P(Bin(n, ½) < l) ≤ (1 − level) / 2, so the level is kept for every
/// continuous distribution. `None` when even the extremes do not reach the level: below 6 values
/// for 95 %. Reference: David and Nagaraja, Order Statistics, 3rd ed., §7.1.
pub fn median_interval(sorted: &[f64], level: f64) -> Option<(f64, f64)> {
    effective_median_interval(sorted, sorted.len() as f64, level)
}

/// Returns the same interval for `sorted.len()` dependent values with only `n_effective` effective
/// ones.
///
/// The rank l of ⌊`n_effective`⌋ independent values marks the share l / (⌊`n_effective`⌋ + 1) of
/// the distribution; the interval reaches to the same share of the actual values, rank ⌊l (n + 1) /
/// (⌊`n_effective`⌋ + 1)⌋. This is Woodruff's interval for dependent samples (J. Am. Stat. Assoc.
/// 47:635, 1952) with binomial instead of normal ranks. `None` when `n_effective` independent
/// values would have no interval.
pub fn effective_median_interval(
    sorted: &[f64],
    n_effective: f64,
    level: f64,
) -> Option<(f64, f64)> {
    let n = sorted.len();
    // Tolerates rounding: 5.999… still counts as 6.
    let worth = ((n_effective * (1.0 + 1e-9)).floor() as usize).min(n);
    let rank = interval_rank(worth, level)?;
    let share = rank as f64 / (worth + 1) as f64;
    // The same tolerance, so that nothing is lost when both counts are equal.
    let rank = (share * (n + 1) as f64 * (1.0 + 1e-12)).floor() as usize;
    Some((*sorted.get(rank - 1)?, *sorted.get(n - rank)?))
}

/// Returns whether `n_effective` independent values support the `p`-quantile: the largest of them
/// is above it with 95 % probability, `p`ⁿ ≤ 0.05. The median and lower quantiles are always
/// supported.
pub fn supports_quantile(n_effective: f64, p: f64) -> bool {
    p <= 0.5 || p.powf(n_effective) <= PERCENTILE_RISK
}

/// Returns the percentiles that `n_effective` independent values support, by name; `None` when not
/// even `p50`.
///
/// `p50` is printed when the median has an interval (n ≥ 6). A higher percentile p is printed when
/// its upper 95 % bound exists, that is when the largest sample is above it with 95 % probability:
/// pⁿ ≤ 0.05, n ≥ 29 for `p90`, 59 for `p95`, 299 for `p99`, 2 995 for `p99.9`.
pub fn percentiles(sorted: &[f64], n_effective: f64) -> Option<BTreeMap<String, f64>> {
    supported_percentiles(|_| n_effective.min(sorted.len() as f64), |p| quantile(sorted, p))
}

/// Returns the same percentiles where only a quantile function is known, such as that of a
/// histogram, and where the effective sample size depends on the quantile.
pub fn supported_percentiles(
    n_effective: impl Fn(f64) -> f64,
    quantile: impl Fn(f64) -> Option<f64>,
) -> Option<BTreeMap<String, f64>> {
    // Tolerates rounding: 5.999… still counts as 6.
    if n_effective(0.5) * (1.0 + 1e-9) < MIN_SAMPLES as f64 {
        return None;
    }
    let entry = |(name, p): (&str, f64)| Some((name.to_owned(), quantile(p)?));
    let carries = |(_, p): &(&str, f64)| supports_quantile(n_effective(*p), *p);
    Some(PERCENTILES.into_iter().filter(carries).filter_map(entry).collect())
}

#[cfg(test)]
mod tests;
