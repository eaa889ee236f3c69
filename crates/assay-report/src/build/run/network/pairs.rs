//! Pairs of hosts: heat maps of throughput and of round trips between all hosts.

use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::host_names;
use assay_model::summary::Estimate;

use super::super::context::{number, text};
use crate::document::HeatMap;
use crate::locale::{fact, word};
use crate::precision;

/// Metrics of the heat map of throughput.
const THROUGHPUT: [&str; 2] = ["goodput", "bandwidth"];
const TIMES: [&str; 2] = ["round_trip", "latency"];

/// Returns the sender and the receiver of the data; `None` if the result has no pair of hosts.
pub(in crate::build) fn ends(estimate: &Estimate) -> Option<(String, String)> {
    let peer = text(estimate, Attribute::Peer)?;
    let receives = text(estimate, Attribute::Direction).as_deref() == Some("receive");
    let host = estimate.host.clone();
    Some(if receives { (peer, host) } else { (host, peer) })
}

/// Returns `north1 → east1`.
pub(in crate::build) fn name(estimate: &Estimate) -> Option<String> {
    ends(estimate).map(|(from, to)| format!("{from} → {to}"))
}

/// Returns a heat map of throughput and one of round trips, of the most informative case. `item`
/// labels a case independently of its hosts.
pub(in crate::build::run) fn maps(
    all: &[&Estimate],
    item: &dyn Fn(&Estimate) -> String,
) -> Vec<HeatMap> {
    let with_metrics = |metrics: [&str; 2]| {
        let is_one = |it: &&&Estimate| {
            metrics.contains(&it.metric.as_str()) && text(it, Attribute::Peer).is_some()
        };
        all.iter().filter(is_one).copied().collect::<Vec<_>>()
    };
    // The case with the highest throughput, and the round trips of idle links.
    let order = |a: &[&Estimate], b: &[&Estimate]| total(a).total_cmp(&total(b));
    let throughput =
        questions(&with_metrics(THROUGHPUT), item).into_iter().max_by(|a, b| order(a, b));
    let is_idle = |group: &Vec<&Estimate>| {
        number(group[0], Attribute::LoadStreams).is_none_or(|streams| streams == 0.0)
    };
    let times = questions(&with_metrics(TIMES), item).into_iter().find(is_idle);
    let titled = |found: Option<Vec<&Estimate>>, title| {
        let found = found?;
        Some(map(&found, fact(word(title), &item(found[0]))))
    };
    // MPI and RDMA report the one-way latency of a message.
    let is_one_way = times.as_ref().is_some_and(|found| found[0].metric == "latency");
    let times_title = if is_one_way { "heat-latency" } else { "heat-round-trips" };
    [titled(throughput, "heat-throughput"), titled(times, times_title)]
        .into_iter()
        .flatten()
        .filter(|map| map.names.len() > 2)
        .collect()
}

fn total(group: &[&Estimate]) -> f64 {
    group.iter().map(|estimate| estimate.median).sum()
}

/// Groups the results of the same case on different pairs, in order of appearance.
fn questions<'e>(
    all: &[&'e Estimate],
    item: &dyn Fn(&Estimate) -> String,
) -> Vec<Vec<&'e Estimate>> {
    let mut groups: Vec<(String, Vec<&Estimate>)> = Vec::new();
    for estimate in all.iter().copied() {
        let key = format!("{} {} {}", estimate.metric, item(estimate), estimate.tool.name);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(estimate),
            None => groups.push((key, vec![estimate])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Builds the heat map of a case; `group` must not be empty.
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
    let index = |name: &String| names.iter().position(|it| it == name).unwrap_or(0);
    let mut cells = vec![vec![None; names.len()]; names.len()];
    let mut marked = Vec::new();
    for ((from, to), estimate) in &pairs {
        let cell = (index(from), index(to));
        cells[cell.0][cell.1] = Some(estimate.median);
        if estimate.warnings.iter().any(|it| matches!(it, Doubt::WorseThanPairs { .. })) {
            marked.push(cell);
        }
    }
    let mut sorted = pairs.clone();
    sorted.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    if sorted.first().is_some_and(|it| it.1.better == assay_model::benchmark::Better::Lower) {
        sorted.reverse();
    }
    let labels = |index: usize| {
        let ((from, to), estimate) = &sorted[index];
        (format!("{from} → {to}"), precision::value(estimate))
    };
    let ((worst_pair, worst), (best_pair, best)) = (labels(0), labels(sorted.len() - 1));
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
