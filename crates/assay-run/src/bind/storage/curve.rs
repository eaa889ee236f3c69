//! Selects the next share of a response curve's maximum rate to measure, from the points measured
//! so far.

use assay_model::attribute::Attribute;
use assay_model::plan::Case;
use assay_model::workload::storage::{ResponseCurvePoint as Place, StorageTest};
use assay_stats::curve::{self, ResponsePoint};

use crate::recorder::Recorder;

/// Returns the share in percent; `None` if the knee is located closely enough.
pub(super) fn next_share(
    case: &Case,
    test: &StorageTest,
    recorder: &Recorder<'_, '_>,
) -> Option<f64> {
    let mut points: Vec<(f64, ResponsePoint)> = recorder
        .run_so_far()
        .started
        .plan
        .cases
        .iter()
        .filter(|other| other.by == case.by)
        .filter_map(|other| {
            let it = other.workload.as_storage()?;
            let point = it.point.filter(|_| it.name == test.name)?;
            let percent = percent_of_max(&other.id, point, recorder)?;
            Some((percent, measured_point(&other.id, recorder)?))
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    curve::next_share(&points)
}

fn percent_of_max(id: &str, place: Place, recorder: &Recorder<'_, '_>) -> Option<f64> {
    match place {
        Place::Maximum => None,
        Place::Share { percent } => Some(percent),
        Place::Bend { .. } => {
            recorder.run_so_far().case(id)?.facts.get(&Attribute::PercentOfMax)?.as_number()
        }
    }
}

/// Returns the point that a case measured, if it has.
fn measured_point(id: &str, recorder: &Recorder<'_, '_>) -> Option<ResponsePoint> {
    Some(ResponsePoint {
        rate_per_s: recorder.median_of(id, "rate")?,
        latency_s: recorder.median_of(id, "latency_from_intended")?,
        uncertainty_s: 0.0,
    })
}
