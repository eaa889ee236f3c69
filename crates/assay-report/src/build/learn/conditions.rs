//! Network section of a page for publication: results of each route, and conditions side by side.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::quantity::Unit;
use assay_model::summary::{Estimate, Summary};

use super::{best, digits, row, text, value};
use crate::build::run::network::{self, pairs};
use crate::build::run::words;
use crate::document::{Align, Cell, Table};
use crate::locale::{detailed, details, word};
use crate::{precision, units};

/// Benchmarks whose goodput, CPU load and times the page contains.
const BENCHMARKS: [Benchmark; 2] = [Benchmark::NetworkTcp, Benchmark::NetworkUdp];

fn is_network(estimate: &Estimate) -> bool {
    BENCHMARKS.iter().any(|it| it.id() == estimate.benchmark)
}

/// Returns the route: the pair of hosts, or the remote end.
fn way(estimate: &Estimate) -> String {
    pairs::name(estimate).or_else(|| text(estimate, Attribute::To)).unwrap_or_default()
}

/// Returns the route and its case, with the protocol if there are several.
fn item(estimate: &Estimate, has_protocols: bool) -> String {
    let case = Some(network::case(estimate)).filter(|it| !it.is_empty());
    let protocol = has_protocols.then(|| network::protocol(estimate));
    let parts = [protocol, Some(way(estimate)), case];
    details(&parts.into_iter().flatten().collect::<Vec<_>>())
}

/// Returns the highest goodput and the shortest time of each route, under each condition.
pub(super) fn headline(summaries: &[&Summary]) -> Vec<Vec<Cell>> {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for metric in ["goodput", "half_round_trip"] {
        for summary in summaries {
            let all = summary
                .results
                .iter()
                .filter(|it| it.metric == metric && it.benchmark == Benchmark::NetworkTcp.id());
            let all: Vec<&Estimate> = all.filter(|it| it.median.is_finite()).collect();
            let mut routes: Vec<String> = Vec::new();
            for it in &all {
                routes.extend(Some(way(it)).filter(|route| !routes.contains(route)));
            }
            for route in routes {
                let here = all.iter().filter(|it| way(it) == route);
                let found = match metric {
                    "goodput" => here.max_by(|a, b| a.median.total_cmp(&b.median)),
                    _ => here.min_by(|a, b| a.median.total_cmp(&b.median)),
                };
                let Some(it) = found else { continue };
                let case = Some(network::case(it)).filter(|it| !it.is_empty());
                let parts =
                    [Some(network::what(it)), Some(route), case, summary.run.label.clone()];
                let name = details(&parts.into_iter().flatten().collect::<Vec<_>>());
                rows.push(row(name, value(it), &[it]));
            }
        }
    }
    rows
}

/// Column of a condition: a metric of one end or of the whole route.
struct Column {
    metric: &'static str,
    end: Option<&'static str>,
}

const COLUMNS: [Column; 5] = [
    Column { metric: "goodput", end: None },
    Column { metric: "cpu_load", end: None },
    Column { metric: "cpu_load", end: Some("local") },
    Column { metric: "cpu_load", end: Some("remote") },
    Column { metric: "half_round_trip", end: None },
];

impl Column {
    fn title(&self, label: &str) -> String {
        match (self.metric, self.end) {
            ("goodput", _) => label.to_owned(),
            ("cpu_load", None) => word("learn-cpu-usage").to_owned(),
            ("cpu_load", Some(end)) => detailed(word("learn-cpu-usage"), &words::end(end)),
            _ => word("column-latency").to_owned(),
        }
    }

    fn has(&self, estimate: &Estimate) -> bool {
        estimate.metric == self.metric && text(estimate, Attribute::End).as_deref() == self.end
    }

    /// CPU load varies with other activity; only the measured metrics have intervals.
    fn has_interval(&self) -> bool {
        self.metric != "cpu_load"
    }
}

/// Returns the network results under each condition: goodput, CPU usage of each end and one-way
/// time of every case.
pub(super) fn side_by_side(summaries: &[&Summary]) -> Table {
    let labelled: Vec<(&str, &Summary)> =
        summaries.iter().filter_map(|it| Some((it.run.label.as_deref()?, *it))).collect();
    let all = || {
        labelled
            .iter()
            .flat_map(|(label, summary)| summary.results.iter().map(move |it| (*label, it)))
            .filter(|(_, it)| is_network(it) && COLUMNS.iter().any(|column| column.has(it)))
    };
    let mut labels: Vec<&str> = Vec::new();
    for (label, _) in &labelled {
        labels.extend(Some(*label).filter(|it| !labels.contains(it)));
    }
    let first = all().next().map(|(_, it)| it.benchmark.clone());
    let has_protocols = all().any(|(_, it)| Some(&it.benchmark) != first.as_ref());
    let mut items: Vec<String> = Vec::new();
    for (_, it) in all() {
        items.extend(Some(item(it, has_protocols)).filter(|it| !items.contains(it)));
    }
    let interval = words::interval(all().next().map(|(_, it)| it.ci_level));
    let mut titles = vec![(word("column-item").to_owned(), Align::Left)];
    for label in &labels {
        let is_named = all().any(|(name, it)| name == *label && it.metric == "goodput");
        for column in &COLUMNS {
            let title = column.title(label);
            let title = if is_named { title } else { detailed(&title, label) };
            titles.push((title, Align::Right));
            titles.extend(column.has_interval().then(|| (interval.clone(), Align::Right)));
        }
    }
    let titles: Vec<(&str, Align)> = titles.iter().map(|(it, align)| (&**it, *align)).collect();
    let mut table = Table::new("", &titles);
    for name in items {
        let mut cells: Vec<Cell> = vec![name.as_str().into()];
        for label in &labels {
            for column in &COLUMNS {
                let found = all().filter(|(condition, it)| {
                    condition == label && column.has(it) && item(it, has_protocols) == name
                });
                let found = best(&found.map(|(_, it)| it).collect::<Vec<_>>());
                cells.push(found.map(shown_share).unwrap_or_default().into());
                let interval = found.and_then(precision::interval).unwrap_or_default();
                cells.extend(column.has_interval().then(|| Cell::from(interval)));
            }
        }
        table.rows.push(cells);
    }
    if labels.len() < 2 { Table::new("", &[]) } else { table }
}

/// Formats a value; ratios as percentages.
fn shown_share(estimate: &Estimate) -> String {
    match estimate.unit {
        Unit::Ratio if estimate.ci.is_none() => units::in_percent(&units::quantity(
            100.0 * estimate.median,
            Unit::Ratio,
            digits(estimate),
        )),
        _ => value(estimate),
    }
}
