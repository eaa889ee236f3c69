//! Knees of the response curves of a run, reported with all points of the curve.

use assay_model::attribute::{Attribute, AttributeValue, Attributes};

use super::EstimateEntry;
use crate::curve::{self, Knee, ResponsePoint};

/// Latency of an open loop as a user experiences it.
const LATENCY: &str = "latency_from_intended";

/// Adds the parameter `knee` and, if there is a knee, its rate and latency.
pub(super) fn attach(entries: &mut [EstimateEntry<'_>]) {
    let mut curves: Vec<CurveKey> = entries.iter().filter_map(CurveKey::from_entry).collect();
    curves.sort();
    curves.dedup();
    for curve in curves {
        let points = curve_points(entries, &curve);
        let response_points: Vec<ResponsePoint> =
            points.iter().map(|(_, point)| *point).collect();
        let attributes = knee_attributes(curve::find_knee(&response_points));
        for entry in
            entries.iter_mut().filter(|it| CurveKey::from_entry(it).as_ref() == Some(&curve))
        {
            entry.estimate.parameters.extend(attributes.clone());
        }
    }
}

/// Key of a curve, common to its points.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct CurveKey {
    name: String,
    host: String,
    by: String,
}

impl CurveKey {
    fn from_entry(entry: &EstimateEntry<'_>) -> Option<Self> {
        let test = entry.record.case.workload.as_storage()?;
        test.point?;
        let (name, host) = (test.name.clone(), entry.estimate.host.clone());
        Some(Self { name, host, by: entry.record.case.by.clone() })
    }
}

/// Returns the open-loop points in ascending order of the requested rate. The maximum rate of a
/// closed loop is not among them, because its arrivals are distributed differently.
fn curve_points(entries: &[EstimateEntry<'_>], curve: &CurveKey) -> Vec<(f64, ResponsePoint)> {
    let is_on_curve = |it: &&EstimateEntry<'_>| {
        it.is_whole && CurveKey::from_entry(it).as_ref() == Some(curve)
    };
    let mut points: Vec<(f64, ResponsePoint)> = entries
        .iter()
        .filter(is_on_curve)
        .filter(|entry| entry.estimate.metric == LATENCY)
        .filter_map(|entry| {
            // For a point added near the knee, the share is a fact from the measurement.
            let share = entry.estimate.parameters.get(&Attribute::PercentOfMax);
            let percent = share.and_then(AttributeValue::as_number)?;
            let case = &entry.record.case.id;
            let is_rate = |it: &&EstimateEntry<'_>| {
                it.record.case.id == *case && it.estimate.metric == "rate"
            };
            let rate_per_s = entries.iter().filter(is_on_curve).find(is_rate)?.estimate.median;
            let half_width = entry.estimate.ci.map_or(0.0, |[low, high]| (high - low) / 2.0);
            let latency_s = entry.estimate.median;
            Some((percent, ResponsePoint { rate_per_s, latency_s, uncertainty_s: half_width }))
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn knee_attributes(knee: Knee) -> Attributes {
    match knee {
        Knee::At(knee) => Attributes::from([
            (Attribute::Knee, "found".into()),
            (Attribute::KneeRate, knee.rate_per_s.into()),
            (Attribute::KneeRateLow, knee.interval.0.into()),
            (Attribute::KneeRateHigh, knee.interval.1.into()),
            (Attribute::KneeLatency, knee.latency_s.into()),
        ]),
        Knee::None(reason) => Attributes::from([(Attribute::Knee, reason.name().into())]),
    }
}
