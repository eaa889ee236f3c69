//! Finds the knee of every response curve of a run and tells it with all points of the curve.

use assay_model::event::Parameter;
use assay_model::workload::Workload;
use assay_model::workload::storage::StorageTest;

use super::Entry;
use crate::curve::{self, CurvePoint, Knee};

/// The latency of an open loop that a user sees.
const LATENCY: &str = "latency_from_intended";

/// Adds `knee` (`found` or `none: why`) and where there is one `knee_rate` and `knee_latency`.
pub(super) fn attach(entries: &mut [Entry<'_>]) {
    let mut curves: Vec<(String, String)> = entries.iter().filter_map(curve_of).collect();
    curves.sort();
    curves.dedup();
    for curve in curves {
        let points = points(entries, &curve);
        let found: Vec<CurvePoint> = points.iter().map(|(_, point)| *point).collect();
        let told = told(&found, curve::knee(&found));
        for entry in entries.iter_mut().filter(|it| curve_of(it).as_ref() == Some(&curve)) {
            entry.estimate.parameters.extend(told.clone());
        }
    }
}

/// Name of the curve and who measured it.
fn curve_of(entry: &Entry<'_>) -> Option<(String, String)> {
    let test = test(entry).filter(|test| test.point.is_some())?;
    Some((test.name.clone(), entry.record.case.by.clone()))
}

fn test<'r>(entry: &Entry<'r>) -> Option<&'r StorageTest> {
    let Workload::Storage(test) = &entry.record.case.workload else { return None };
    Some(test)
}

/// The open-loop points in ascending order of what was asked for; the greatest rate of a closed loop
/// follows another law of arrivals and is none of them.
fn points(entries: &[Entry<'_>], curve: &(String, String)) -> Vec<(f64, CurvePoint)> {
    let mut points: Vec<(f64, CurvePoint)> = entries
        .iter()
        .filter(|entry| curve_of(entry).as_ref() == Some(curve))
        .filter(|entry| entry.estimate.metric == LATENCY)
        .filter_map(|entry| {
            // Of a point that was added where the curve bends it was learned.
            let parameters = &entry.estimate.parameters;
            let Some(Parameter::Number(percent)) = parameters.get("percent_of_max") else {
                return None;
            };
            let case = &entry.record.case.id;
            let is_rate =
                |it: &&Entry<'_>| it.record.case.id == *case && it.estimate.metric == "rate";
            let rate_per_s = entries.iter().find(is_rate)?.estimate.median;
            let half = entry.estimate.ci.map_or(0.0, |[low, high]| (high - low) / 2.0);
            let latency_s = entry.estimate.median;
            Some((*percent, CurvePoint { rate_per_s, latency_s, uncertainty_s: half }))
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn told(points: &[CurvePoint], knee: Knee) -> Vec<(String, Parameter)> {
    match knee {
        Knee::At(index) => vec![
            ("knee".to_owned(), Parameter::Text("found".to_owned())),
            ("knee_rate".to_owned(), Parameter::Number(points[index].rate_per_s)),
            ("knee_latency".to_owned(), Parameter::Number(points[index].latency_s)),
        ],
        Knee::None(why) => {
            vec![("knee".to_owned(), Parameter::Text(format!("none: {}", why.reason())))]
        }
    }
}
