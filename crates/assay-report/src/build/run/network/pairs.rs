//! Pairs of hosts: what each host gets through to each other one, as a map of throughput and one of round trips.

use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::host_names;
use assay_model::summary::Estimate;

use super::super::context::{number, text};
use crate::document::HeatMap;
use crate::locale::{fact, word};
use crate::precision;

/// Metrics of the two maps.
const THROUGHPUT: [&str; 2] = ["goodput", "bandwidth"];
const TIMES: [&str; 2] = ["round_trip", "latency"];

/// From which host to which other one, in the direction of the data; `None` where it is no pair.
pub(in crate::build) fn ends(estimate: &Estimate) -> Option<(String, String)> {
    let peer = text(estimate, Attribute::Peer)?;
    let receives = text(estimate, Attribute::Direction).as_deref() == Some("receive");
    let host = estimate.host.clone();
    Some(if receives { (peer, host) } else { (host, peer) })
}

/// `north1 → east1`.
pub(in crate::build) fn name(estimate: &Estimate) -> Option<String> {
    ends(estimate).map(|(from, to)| format!("{from} → {to}"))
}

/// A map of throughput and one of round trips, of the question that shows most. `item` is what a case asks, whichever
/// hosts it is about.
pub(in crate::build::run) fn maps(
    all: &[&Estimate],
    item: &dyn Fn(&Estimate) -> String,
) -> Vec<HeatMap> {
    let of = |metrics: [&str; 2]| {
        let is_one = |it: &&&Estimate| {
            metrics.contains(&it.metric.as_str()) && text(it, Attribute::Peer).is_some()
        };
        all.iter().filter(is_one).copied().collect::<Vec<_>>()
    };
    // The most that a link carries; and the time of a message on an idle one.
    let most = |a: &[&Estimate], b: &[&Estimate]| total(a).total_cmp(&total(b));
    let through = questions(&of(THROUGHPUT), item).into_iter().max_by(|a, b| most(a, b));
    let is_idle = |group: &Vec<&Estimate>| {
        number(group[0], Attribute::LoadStreams).is_none_or(|streams| streams == 0.0)
    };
    let times = questions(&of(TIMES), item).into_iter().find(is_idle);
    let titled = |found: Option<Vec<&Estimate>>, title| {
        let found = found?;
        Some(map(&found, fact(word(title), &item(found[0]))))
    };
    // A message of MPI or RDMA has a time of its own, one way.
    let is_one_way = times.as_ref().is_some_and(|found| found[0].metric == "latency");
    let of_times = if is_one_way { "heat-latency" } else { "heat-round-trips" };
    [titled(through, "heat-throughput"), titled(times, of_times)]
        .into_iter()
        .flatten()
        .filter(|map| map.names.len() > 2)
        .collect()
}

fn total(group: &[&Estimate]) -> f64 {
    group.iter().map(|estimate| estimate.median).sum()
}

/// What asks the same of different pairs, in order of appearance.
fn questions<'e>(
    all: &[&'e Estimate],
    item: &dyn Fn(&Estimate) -> String,
) -> Vec<Vec<&'e Estimate>> {
    let mut groups: Vec<(String, Vec<&Estimate>)> = Vec::new();
    for estimate in all.iter().copied() {
        let question = format!("{} {} {}", estimate.metric, item(estimate), estimate.tool.name);
        match groups.iter_mut().find(|(known, _)| *known == question) {
            Some((_, group)) => group.push(estimate),
            None => groups.push((question, vec![estimate])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The map of a question; of at least one pair.
fn map(group: &[&Estimate], title: String) -> HeatMap {
    let pairs: Vec<((String, String), &Estimate)> =
        group.iter().filter_map(|it| Some((ends(it)?, *it))).collect();
    let mut names: Vec<String> = Vec::new();
    for name in pairs.iter().flat_map(|((from, to), _)| [from, to]) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    host_names::sort(&mut names, |name| name);
    let place = |name: &String| names.iter().position(|it| it == name).unwrap_or(0);
    let mut cells = vec![vec![None; names.len()]; names.len()];
    let mut marked = Vec::new();
    for ((from, to), estimate) in &pairs {
        let at = (place(from), place(to));
        cells[at.0][at.1] = Some(estimate.median);
        if estimate.warnings.iter().any(|it| matches!(it, Doubt::WorseThanPairs { .. })) {
            marked.push(at);
        }
    }
    let mut sorted = pairs.clone();
    sorted.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    if sorted.first().is_some_and(|it| it.1.better == assay_model::benchmark::Better::Lower) {
        sorted.reverse();
    }
    let said = |at: usize| {
        let ((from, to), estimate) = &sorted[at];
        (format!("{from} → {to}"), precision::value(estimate))
    };
    let ((worst_pair, worst), (best_pair, best)) = (said(0), said(sorted.len() - 1));
    let first = group[0];
    HeatMap {
        title,
        description: say!(
            "heat-description",
            worst = worst,
            from = worst_pair,
            best = best,
            to = best_pair,
        ),
        names,
        cells,
        marked,
        unit: first.unit,
        better: first.better,
    }
}
