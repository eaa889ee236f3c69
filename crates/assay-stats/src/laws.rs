//! The laws every estimate is held to, whether assay measured it or someone else did.
//!
//! A broken law never removes a result: it is a warning that travels with it.

use assay_model::benchmark::{Benchmark, Bound};
use assay_model::limit::Limit;
use assay_model::quantity::{Quantity, Unit};
use assay_model::summary::Estimate;
use assay_model::warning::Warning;

/// How far a measurement may exceed a limit that was itself measured: both carry an error.
const MEASURED_LIMIT_TOLERANCE: f64 = 0.02;
/// How far it may exceed what a volume is provisioned for.
const PROVISIONED_TOLERANCE: f64 = 0.05;

/// The laws that the estimate breaks.
///
/// - `not-finite`, `not-positive`: every figure is a finite number above 0; what is counted or is a
///   share may be none;
/// - `out-of-order`: min ≤ median ≤ p99 ≤ max, min ≤ mean ≤ max, lower ≤ median ≤ upper end of the
///   interval;
/// - `above-limit`: the median does not exceed the limit; where the limit was measured, not by more
///   than 2 %.
#[must_use]
pub fn broken(estimate: &Estimate) -> Vec<Warning> {
    [number(estimate), order(estimate), bound(estimate)].into_iter().flatten().collect()
}

fn number(estimate: &Estimate) -> Option<Warning> {
    let figures = [estimate.min, estimate.median, estimate.mean, estimate.max];
    // No segment was sent again, no datagram was lost: that is a measurement, too.
    let may_be_none = matches!(estimate.unit, Unit::Count | Unit::Ratio);
    let is_wrong =
        |value: &f64| !value.is_finite() || *value < 0.0 || (*value == 0.0 && !may_be_none);
    let wrong = figures.into_iter().find(is_wrong)?;
    let id = if wrong.is_finite() { "not-positive" } else { "not-finite" };
    Some(Warning::new(
        id,
        format!("{} cannot be a measured value of {}", shown(estimate, wrong), estimate.metric),
        "the measurement did nothing, or its output was misread; look at the raw output",
    ))
}

fn order(estimate: &Estimate) -> Option<Warning> {
    let Estimate { min, median, mean, max, .. } = *estimate;
    let [lower, upper] = estimate.ci.unwrap_or([median, median]);
    let p99 = estimate.percentiles.as_ref().and_then(|all| all.get("p99").copied());
    let p99 = p99.unwrap_or(median.max(upper));
    let laws = [
        ("min ≤ median", min, median),
        ("median ≤ p99", median, p99),
        ("p99 ≤ max", p99, max),
        ("min ≤ mean", min, mean),
        ("mean ≤ max", mean, max),
        ("lower end of the interval ≤ median", lower, median),
        ("median ≤ upper end of the interval", median, upper),
    ];
    // What cannot be compared is reported as not finite already.
    let (law, less, more) = laws.into_iter().find(|(_, less, more)| less > more)?;
    Some(Warning::new(
        "out-of-order",
        format!("{law} is broken: {} > {}", shown(estimate, less), shown(estimate, more)),
        "these figures cannot come from one sample; do not use them",
    ))
}

fn bound(estimate: &Estimate) -> Option<Warning> {
    let Limit { value, basis } = estimate.limit.as_ref()?;
    let above = estimate.median > value * (1.0 + tolerance(estimate));
    above.then(|| {
        Warning::new(
            "above-limit",
            format!(
                "the median is {:.1} % of its limit, {} ({basis})",
                100.0 * (estimate.median / value),
                shown(estimate, *value)
            ),
            "you measured the cache, or the unit or the limit is wrong: look at the size, at the \
             unit and at what the limit is made of",
        )
    })
}

/// Limits of compute rest on a measured clock and measured rates, those of memory on SMBIOS.
fn tolerance(estimate: &Estimate) -> f64 {
    let benchmark = Benchmark::from_id(&estimate.benchmark);
    let metric = benchmark.and_then(|benchmark| benchmark.metric(&estimate.metric));
    match metric.and_then(|metric| metric.limit) {
        Some(Bound::ComputeFp64 | Bound::ComputeFp32) => MEASURED_LIMIT_TOLERANCE,
        // Throttles of volumes let short bursts through.
        Some(Bound::Provisioned) => PROVISIONED_TOLERANCE,
        Some(Bound::MemoryBandwidth | Bound::Link) | None => 0.0,
    }
}

fn shown(estimate: &Estimate, value: f64) -> Quantity {
    Quantity::new(value, estimate.unit)
}

#[cfg(test)]
mod tests;
