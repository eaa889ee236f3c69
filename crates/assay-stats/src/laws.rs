//! Plausibility laws that every estimate must satisfy, whether assay or a tool measured it.
//!
//! A broken law never removes a result: it adds a doubt to it.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, LimitKind, Metric, Pooling};
use assay_model::doubt::{Doubt, FigureOrder};
use assay_model::limit::LimitBasis;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use crate::quantile::MIN_SAMPLES;

/// Tolerance above a limit that was itself measured: both have an error.
const MEASURED_LIMIT_TOLERANCE: f64 = 0.02;
/// Tolerance above the provisioned throughput of a volume.
const PROVISIONED_TOLERANCE: f64 = 0.05;
/// Tolerance above a data sheet, whose figures are rounded: "up to 7 GB/s" may be 7.3.
const DATA_SHEET_TOLERANCE: f64 = 0.05;

/// Returns a doubt for each law that the estimate breaks.
///
/// - `not-finite`, `not-positive`: every figure is a finite number above 0; counts and shares may
///   be 0;
/// - `out-of-order`: min ≤ median ≤ p99 ≤ max, min ≤ mean ≤ max, percentiles ascend, lower ≤ median
///   ≤ upper end of the interval;
/// - `above-limit`: the median does not exceed the limit; where the limit was measured, not by more
///   than 2 %.
pub fn broken_laws(estimate: &MetricEstimate) -> Vec<Doubt> {
    [check_figures(estimate), check_order(estimate), check_limit(estimate)]
        .into_iter()
        .flatten()
        .collect()
}

fn check_figures(estimate: &MetricEstimate) -> Option<Doubt> {
    let figures = [estimate.min, estimate.median, estimate.mean, estimate.max];
    // 0 is valid for a count, such as retransmits or lost datagrams.
    let may_be_none = matches!(estimate.unit, Unit::Count | Unit::Ratio);
    let is_wrong =
        |value: &f64| !value.is_finite() || *value < 0.0 || (*value == 0.0 && !may_be_none);
    let figure = figures.into_iter().find(is_wrong)?;
    let (metric, unit) = (estimate.metric.clone(), estimate.unit);
    Some(if figure.is_finite() {
        Doubt::NotPositive { metric, figure, unit }
    } else {
        Doubt::NotFinite { metric, figure: figure.to_string(), unit }
    })
}

fn check_order(estimate: &MetricEstimate) -> Option<Doubt> {
    let MetricEstimate { min, median, mean, max, .. } = *estimate;
    let [lower, upper] = estimate.ci.unwrap_or([median, median]);
    let p99 = estimate.percentiles.as_ref().and_then(|all| all.get("p99").copied());
    // The interval of a pooled share may reach beyond the shares of all stretches, and one by
    // Student's t beyond all samples.
    let is_pooled = metric(estimate).is_some_and(|metric| metric.pooling == Pooling::Ratio);
    let is_by_ranks = !is_pooled && estimate.n_effective >= MIN_SAMPLES as f64;
    let bound = if is_by_ranks { median.max(upper) } else { median };
    // Where a tool printed no median, its mean stands in for it.
    let is_mean =
        estimate.parameters.get(&Attribute::Statistic).is_some_and(|it| *it == "mean".into());
    let least_tail = if is_mean { min } else { median };
    // The mean comes first: a tool without a median has it in its place.
    let laws = [
        (FigureOrder::MinMean, min, mean),
        (FigureOrder::MeanMax, mean, max),
        (FigureOrder::MinMedian, min, median),
        (FigureOrder::MedianP99, least_tail, p99.unwrap_or(median)),
        (FigureOrder::MedianMax, if p99.is_none() { bound } else { median }, max),
        (FigureOrder::P99Max, p99.unwrap_or(median), max),
        (FigureOrder::LowMedian, lower, median),
        (FigureOrder::MedianHigh, median, upper),
    ];
    // Values that cannot be compared are already reported as not finite.
    let broken = laws.into_iter().find(|(_, less, more)| less > more);
    let percentiles = || {
        let (less, more) = falling_percentiles(estimate)?;
        Some((FigureOrder::Percentiles, less, more))
    };
    let (law, less, more) = broken.or_else(percentiles)?;
    Some(Doubt::OutOfOrder { law, less, more, unit: estimate.unit })
}

/// Returns the first two neighbours among percentiles and maximum of which the higher one is less.
fn falling_percentiles(estimate: &MetricEstimate) -> Option<(f64, f64)> {
    let percent = |name: &String| name.strip_prefix('p')?.parse::<f64>().ok();
    let known = estimate.percentiles.iter().flatten();
    let mut known: Vec<(f64, f64)> =
        known.filter_map(|(name, value)| Some((percent(name)?, *value))).collect();
    known.push((100.0, estimate.max));
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut pairs = known.windows(2).map(|pair| (pair[0].1, pair[1].1));
    pairs.find(|(less, more)| less > more)
}

/// Returns a doubt if the median exceeds its limit.
pub(crate) fn check_limit(estimate: &MetricEstimate) -> Option<Doubt> {
    let limit = estimate.limit.as_ref()?;
    let above = estimate.median > limit.value * (1.0 + limit_tolerance(estimate));
    above.then(|| Doubt::AboveLimit {
        median: estimate.median,
        limit: limit.clone(),
        unit: estimate.unit,
    })
}

/// Returns the tolerance above the limit. Limits of compute rest on a measured clock and measured
/// rates, those of memory on SMBIOS.
fn limit_tolerance(estimate: &MetricEstimate) -> f64 {
    let basis = estimate.limit.as_ref().map(|limit| &limit.basis);
    match metric(estimate).and_then(|metric| metric.limit) {
        _ if matches!(basis, Some(LimitBasis::DataSheet { .. })) => DATA_SHEET_TOLERANCE,
        Some(LimitKind::ComputeFp64 | LimitKind::ComputeFp32) => MEASURED_LIMIT_TOLERANCE,
        // Throttles of volumes let short bursts through.
        Some(LimitKind::Provisioned) => PROVISIONED_TOLERANCE,
        Some(LimitKind::MemoryBandwidth | LimitKind::Link) | None => 0.0,
    }
}

fn metric(estimate: &MetricEstimate) -> Option<&'static Metric> {
    Benchmark::from_id(&estimate.benchmark)?.metric(&estimate.metric)
}

#[cfg(test)]
mod tests;
