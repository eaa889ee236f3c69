//! Pairs of hosts: heat maps of throughput and of round trips between all hosts.

use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::host_names;
use assay_model::summary::MetricEstimate;

use super::super::estimate_parts::{number, text};
use crate::document::HeatMap;
use crate::first_seen::{distinct, group_by};
use crate::locale::{format_fact, word};
use crate::precision;

/// Metrics of the heat map of throughput.
const THROUGHPUT_METRICS: [&str; 2] = ["goodput", "bandwidth"];
const TIME_METRICS: [&str; 2] = ["round_trip", "latency"];

/// Returns the sender and the receiver of the data; `None` if the result has no pair of hosts.
pub(in crate::build) fn endpoints(estimate: &MetricEstimate) -> Option<(String, String)> {
    let peer = text(estimate, Attribute::Peer)?;
    let is_receiver = text(estimate, Attribute::Direction).as_deref() == Some("receive");
    let host = estimate.host.clone();
    Some(if is_receiver { (peer, host) } else { (host, peer) })
}

/// Returns `north1 → east1`.
pub(in crate::build) fn name(estimate: &MetricEstimate) -> Option<String> {
    endpoints(estimate).map(|(from, to)| format!("{from} → {to}"))
}

/// Returns a heat map of throughput and one of round trips, of the most informative case. `item`
/// labels a case independently of its hosts.
pub(in crate::build::run) fn heat_maps(
    all: &[&MetricEstimate],
    item: &dyn Fn(&MetricEstimate) -> String,
) -> Vec<HeatMap> {
    let with_metrics = |metrics: [&str; 2]| {
        let is_match = |it: &&&MetricEstimate| {
            metrics.contains(&it.metric.as_str()) && text(it, Attribute::Peer).is_some()
        };
        all.iter().filter(is_match).copied().collect::<Vec<_>>()
    };
    // The case with the highest throughput, and the round trips of idle links.
    let order = |a: &[&MetricEstimate], b: &[&MetricEstimate]| total(a).total_cmp(&total(b));
    let throughput = group_by_case(&with_metrics(THROUGHPUT_METRICS), item)
        .into_iter()
        .max_by(|a, b| order(a, b));
    let is_idle = |group: &Vec<&MetricEstimate>| {
        number(group[0], Attribute::LoadStreams).is_none_or(|streams| streams == 0.0)
    };
    let times = group_by_case(&with_metrics(TIME_METRICS), item).into_iter().find(is_idle);
    let titled_map = |group: Option<Vec<&MetricEstimate>>, title| {
        let group = group?;
        Some(heat_map(&group, format_fact(word(title), &item(group[0]))))
    };
    // MPI and RDMA report the one-way latency of a message.
    let is_one_way = times.as_ref().is_some_and(|group| group[0].metric == "latency");
    let times_title = if is_one_way { "heat-latency" } else { "heat-round-trips" };
    [titled_map(throughput, "heat-throughput"), titled_map(times, times_title)]
        .into_iter()
        .flatten()
        .filter(|map| map.rows.len() > 2)
        .collect()
}

fn total(group: &[&MetricEstimate]) -> f64 {
    group.iter().map(|estimate| estimate.median).sum()
}

/// Groups the results of the same case on different pairs, in order of appearance.
fn group_by_case<'e>(
    all: &[&'e MetricEstimate],
    item: &dyn Fn(&MetricEstimate) -> String,
) -> Vec<Vec<&'e MetricEstimate>> {
    group_by(all.iter().copied(), |it| (it.metric.clone(), item(it), it.tool.name.clone()))
}

/// Builds the heat map of a case; `group` must not be empty.
fn heat_map(group: &[&MetricEstimate], title: String) -> HeatMap {
    let pairs: Vec<((String, String), &MetricEstimate)> =
        group.iter().filter_map(|it| Some((endpoints(it)?, *it))).collect();
    let mut names =
        distinct(pairs.iter().flat_map(|((from, to), _)| [from.clone(), to.clone()]));
    host_names::sort_naturally(&mut names, |name| name);
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
        description: message!(
            "heat-description",
            worst = worst,
            from = worst_pair,
            best = best,
            to = best_pair,
        ),
        rows: names.clone(),
        columns: names,
        cells,
        marked,
        unit: first.unit,
        better: first.better,
    }
}
