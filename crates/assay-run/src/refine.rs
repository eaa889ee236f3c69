//! Refinement of a plan by what was found: the rates of a response curve follow from its maximum,
//! and a warning of a solve beyond its budget from the measured peak.
//!
//! A step between two cases. It reads the run so far, which the drivers of kernels do not, and
//! measures nothing.

use assay_kernels::compute::linpack::flops;
use assay_model::attribute::Attribute;
use assay_model::failure::FailureReason;
use assay_model::phrase::Phrase;
use assay_model::plan::{Case, solve_over_budget};
use assay_model::run::Run;
use assay_model::workload::LinpackWorkload;
use assay_model::workload::storage::{ResponseCurvePoint, StorageLoad, StorageTest};
use assay_stats::curve::{self, ResponsePoint};
use assay_stats::quantile;

use crate::forecast::TOLERANCE;

#[cfg(test)]
mod tests;

/// Case as it is measured.
#[derive(Debug, PartialEq)]
pub(crate) struct RefinedCase {
    pub(crate) case: Case,
    /// Share of the maximum rate in percent, if it was chosen now.
    pub(crate) chosen_percent: Option<f64>,
}

/// Refines a case by the results so far. Returns `None` for a point that no curve needs any more.
///
/// # Errors
/// If the maximum of its curve was not measured.
pub(crate) fn refine(case: &Case, found: &Run) -> Result<Option<RefinedCase>, FailureReason> {
    let mut refined = RefinedCase { case: case.clone(), chosen_percent: None };
    let Some(test) = refined.case.workload.as_storage_mut() else { return Ok(Some(refined)) };
    let StorageLoad::ShareOf { percent, rounding, arrivals, .. } = test.workload.load else {
        return Ok(Some(refined));
    };
    let id = case.workload.benchmark().id();
    let by = if case.by == "assay" { String::new() } else { format!("/{}", case.by) };
    let maximum = median(found, &format!("{id}/{}/max{by}", test.name), "rate");
    let maximum = maximum.ok_or(FailureReason::CurveWithoutMaximum)?;
    if let Some(ResponseCurvePoint::Bend { .. }) = test.point {
        let Some(share) = next_share(case, test, found) else { return Ok(None) };
        refined.chosen_percent = Some(share);
    }
    let percent = refined.chosen_percent.unwrap_or(percent);
    let rate_per_s = rounding.round_share(maximum, percent);
    test.workload.load = StorageLoad::Open { rate_per_s, arrivals };
    Ok(Some(refined))
}

/// Returns the next share of a curve's maximum to measure, in percent; `None` if its knee is
/// located closely enough.
fn next_share(case: &Case, test: &StorageTest, found: &Run) -> Option<f64> {
    let measured = |other: &Case| {
        let it = other.workload.as_storage()?;
        let point = it.point.filter(|_| it.name == test.name)?;
        let percent = percent_of_max(&other.id, point, found)?;
        Some((percent, measured_point(&other.id, found)?))
    };
    let of_measurer = found.started.plan.cases.iter().filter(|other| other.by == case.by);
    let mut points: Vec<(f64, ResponsePoint)> = of_measurer.filter_map(measured).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    curve::next_share(&points)
}

fn percent_of_max(id: &str, point: ResponseCurvePoint, found: &Run) -> Option<f64> {
    match point {
        ResponseCurvePoint::Maximum => None,
        ResponseCurvePoint::Share { percent } => Some(percent),
        ResponseCurvePoint::Bend { .. } => {
            found.case(id)?.facts.get(&Attribute::PercentOfMax)?.as_number()
        }
    }
}

/// Returns the point that a case measured, if it has.
fn measured_point(id: &str, found: &Run) -> Option<ResponsePoint> {
    Some(ResponsePoint {
        rate_per_s: median(found, id, "rate")?,
        latency_s: median(found, id, "latency_from_intended")?,
        uncertainty_s: 0.0,
    })
}

/// Returns a warning if one solve cannot end within the budget of the case; it runs nevertheless.
pub(crate) fn warn_if_over_budget(case: &Case, found: &Run) -> Option<Phrase> {
    let work = case.workload.as_linpack().filter(|_| case.by == "assay")?;
    let peaks = found.started.plan.cases.iter().filter_map(|other| {
        Some((median(found, &other.id, "fp64")?, other.workload.cpus().len()))
    });
    let (least_s, budget_s) = (shortest_solve_s(work, peaks)?, case.stopping.budget_s);
    (least_s - budget_s > TOLERANCE * budget_s)
        .then(|| solve_over_budget(work, least_s, budget_s))
}

/// Returns the lower bound of the seconds of a solve, from measured peaks in FLOP/s and the number
/// of CPUs of each.
fn shortest_solve_s(
    work: &LinpackWorkload,
    peaks: impl Iterator<Item = (f64, usize)>,
) -> Option<f64> {
    let of_one = peaks.map(|(peak, cpus)| peak / cpus as f64).reduce(f64::max)?;
    Some(flops(work.n as usize) / (of_one * work.cpus.len() as f64))
}

/// Returns the median of a metric's first series in a case, in the metric's base unit.
fn median(found: &Run, case: &str, metric: &str) -> Option<f64> {
    let series = found.case(case)?.series.iter().find(|series| series.metric == metric)?;
    quantile::unsorted_median(series.samples.iter().map(|sample| sample.value))
}
