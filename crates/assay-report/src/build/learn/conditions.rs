//! Network section of a page for publication: results of each route, and conditions side by side.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::quantity::Unit;
use assay_model::summary::{MetricEstimate, RunSummary};

use super::{HeadlineRow, best, format_value, row, text};
use crate::build::run::network::pairs;
use crate::build::run::network_labels;
use crate::build::run::words;
use crate::document::{ReportTable, left, right};
use crate::first_seen::distinct;
use crate::locale::{join_details, with_detail, word};
use crate::{precision, units};

/// Benchmarks whose goodput, CPU load and times the page contains.
const BENCHMARKS: [Benchmark; 2] = [Benchmark::NetworkTcp, Benchmark::NetworkUdp];

fn is_network(estimate: &MetricEstimate) -> bool {
    BENCHMARKS.iter().any(|it| it.id() == estimate.benchmark)
}

/// Returns the route: the pair of hosts, or the remote end.
fn route(estimate: &MetricEstimate) -> String {
    let to = || text(estimate, Attribute::To).map(|to| network_labels::far_end(&to));
    pairs::name(estimate).or_else(to).unwrap_or_default()
}

/// Returns the route and its case, with the protocol if there are several.
fn item_label(estimate: &MetricEstimate, has_protocols: bool) -> String {
    let case = Some(network_labels::case_label(estimate)).filter(|it| !it.is_empty());
    let protocol = has_protocols.then(|| network_labels::protocol(&estimate.benchmark));
    let parts = [protocol, Some(route(estimate)), case].into_iter().flatten();
    join_details(&parts.filter(|part| !part.is_empty()).collect::<Vec<_>>())
}

/// Returns the highest goodput and the shortest time of each route, under each condition.
pub(super) fn headline_rows(summaries: &[&RunSummary]) -> Vec<HeadlineRow> {
    let mut rows = Vec::new();
    for metric in ["goodput", "half_round_trip"] {
        for summary in summaries {
            let all = summary
                .results
                .iter()
                .filter(|it| it.metric == metric && it.benchmark == Benchmark::NetworkTcp.id());
            let all: Vec<&MetricEstimate> = all.filter(|it| it.median.is_finite()).collect();
            for current in distinct(all.iter().map(|it| route(it))) {
                let here = all.iter().filter(|it| route(it) == current);
                let found = match metric {
                    "goodput" => here.max_by(|a, b| a.median.total_cmp(&b.median)),
                    _ => here.min_by(|a, b| a.median.total_cmp(&b.median)),
                };
                let Some(it) = found else { continue };
                let case = Some(network_labels::case_label(it)).filter(|it| !it.is_empty());
                let parts = [
                    Some(network_labels::metric_label(it)),
                    Some(current),
                    case,
                    summary.run.label.clone(),
                ];
                let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
                let name = join_details(&parts.collect::<Vec<_>>());
                rows.push(row(name, format_value(it), &[it]));
            }
        }
    }
    rows
}

/// Column of a condition: a metric of one end or of the whole route.
struct MetricColumn {
    metric: &'static str,
    end: Option<&'static str>,
}

const COLUMNS: [MetricColumn; 5] = [
    MetricColumn { metric: "goodput", end: None },
    MetricColumn { metric: "cpu_load", end: None },
    MetricColumn { metric: "cpu_load", end: Some("local") },
    MetricColumn { metric: "cpu_load", end: Some("remote") },
    MetricColumn { metric: "half_round_trip", end: None },
];

impl MetricColumn {
    fn title(&self, label: &str) -> String {
        match (self.metric, self.end) {
            ("goodput", _) => label.to_owned(),
            ("cpu_load", None) => word("learn-cpu-usage").to_owned(),
            ("cpu_load", Some(end)) => with_detail(word("learn-cpu-usage"), &words::end(end)),
            _ => word("column-latency").to_owned(),
        }
    }

    fn matches_estimate(&self, estimate: &MetricEstimate) -> bool {
        estimate.metric == self.metric && text(estimate, Attribute::End).as_deref() == self.end
    }

    /// CPU load varies with other activity; only the measured metrics have intervals.
    fn has_interval(&self) -> bool {
        self.metric != "cpu_load"
    }
}

/// Returns the network results under each condition: goodput, CPU usage of each end and one-way
/// time of every case.
pub(super) fn conditions_table(summaries: &[&RunSummary]) -> ReportTable {
    let labelled: Vec<(&str, &RunSummary)> =
        summaries.iter().filter_map(|it| Some((it.run.label.as_deref()?, *it))).collect();
    let all = || {
        labelled
            .iter()
            .flat_map(|(label, summary)| summary.results.iter().map(move |it| (*label, it)))
            .filter(|(_, it)| {
                is_network(it) && COLUMNS.iter().any(|column| column.matches_estimate(it))
            })
    };
    let labels = distinct(labelled.iter().map(|(label, _)| *label));
    let first = all().next().map(|(_, it)| it.benchmark.clone());
    let has_protocols = all().any(|(_, it)| Some(&it.benchmark) != first.as_ref());
    let items = distinct(all().map(|(_, it)| item_label(it, has_protocols)));
    let interval = words::interval(all().next().map(|(_, it)| it.ci_level));
    let mut table = ReportTable::with_caption("");
    for name in items.into_iter().filter(|_| labels.len() > 1) {
        let mut row = vec![left(word("column-item"), &*name)];
        for label in &labels {
            let is_named = all().any(|(name, it)| name == *label && it.metric == "goodput");
            for column in &COLUMNS {
                let title = column.title(label);
                let title = if is_named { title } else { with_detail(&title, label) };
                let found = all().filter(|(condition, it)| {
                    condition == label
                        && column.matches_estimate(it)
                        && item_label(it, has_protocols) == name
                });
                let found = best(&found.map(|(_, it)| it).collect::<Vec<_>>());
                row.push(right(&title, found.map(format_share).unwrap_or_default()));
                let width = found.and_then(precision::interval).unwrap_or_default();
                row.extend(column.has_interval().then(|| right(&interval, width)));
            }
        }
        table.push(row);
    }
    table
}

/// Formats a value; ratios as percentages.
fn format_share(estimate: &MetricEstimate) -> String {
    match estimate.unit {
        Unit::Ratio if estimate.ci.is_none() => units::in_percent(&units::quantity(
            100.0 * estimate.median,
            Unit::Ratio,
            precision::written_digits(estimate),
        )),
        _ => format_value(estimate),
    }
}
