//! Latency table of perftest: the figures that it printed, or would print for the messages that
//! assay sent.
//!
//! Never contains assay's own statistics under perftest's labels, since assay's cover all messages.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, RdmaTest};
use assay_model::summary::{MetricEstimate, RunSummary};

use super::published_results::{DECIMALS, MICROSECOND, find_results, find_size, sizes};
use super::run::estimate_parts::{differing_dimensions, number, text};
use super::run::network::pairs;
use super::run::words;
use crate::document::{Block, ColumnAlignment, Document, ReportTable, TableCell, Tone};
use crate::locale::{comma, format_ungrouped, localise_symbol, word};
use crate::{precision, units};

/// perftest's labels, and the attributes of their values.
const COLUMNS: [(&str, Attribute); 7] = [
    ("t_min", Attribute::PerftestMin),
    ("t_max", Attribute::PerftestMax),
    ("t_typical", Attribute::PerftestTypical),
    ("t_avg", Attribute::PerftestAverage),
    ("t_stdev", Attribute::PerftestDeviation),
    ("99%", Attribute::PerftestP99),
    ("99.9%", Attribute::PerftestP999),
];
/// Number of columns on pages for publication.
const PUBLISHED_COLUMNS: usize = 5;

/// Adds the table to the report of a run with such results.
pub(super) fn add(document: &mut Document, summary: &RunSummary) {
    let all: Vec<&MetricEstimate> =
        summary.results.iter().filter(|it| has_figures(it)).collect();
    if all.is_empty() {
        return;
    }
    let left = [word("column-what"), word("column-where"), word("column-by")];
    let mut table = table(word("table-perftest"), &left, &titles(&COLUMNS));
    for estimate in &all {
        let mut row: Vec<TableCell> = vec![estimate.benchmark.as_str().into()];
        row.extend(origin_cells(&all, estimate));
        row.extend(figure_cells(estimate, &COLUMNS));
        table.rows.push(row);
    }
    document.heading(word("heading-perftest"));
    document.blocks.push(Block::Table(table.without_empty_columns()));
    document.paragraph(Tone::Quiet, word("perftest-rules"));
}

/// Returns the table of a page for publication, from perftest's own output or from assay's
/// measurement.
pub(super) fn published_table(all: &[&MetricEstimate]) -> ReportTable {
    let shown = &COLUMNS[..PUBLISHED_COLUMNS];
    let interval = words::interval(all.first().map(|it| it.ci_level));
    let right: Vec<String> = titles(shown).into_iter().chain([interval]).collect();
    let mut table = table("", &[word("column-where"), word("column-by")], &right);
    let mut own = find_results(all, Benchmark::Rdma(RdmaTest::SendLatency), "half_round_trip");
    // Keeps rows of one size together, over all hosts and tools.
    own.sort_by_key(|it| number(it, Attribute::Bytes).map(|bytes| bytes as u64));
    for estimate in &own {
        let mut row: Vec<TableCell> = origin_cells(&own, estimate).into();
        row.extend(figure_cells(estimate, shown));
        row.push(precision::interval(estimate).unwrap_or_default().into());
        table.rows.push(row);
    }
    if own.is_empty() {
        table.rows = published_figure_rows(all);
    }
    table
}

fn has_figures(estimate: &MetricEstimate) -> bool {
    COLUMNS.iter().any(|(_, name)| estimate.parameters.contains_key(name))
}

fn table(caption: &str, left: &[&str], right: &[String]) -> ReportTable {
    let left = left.iter().map(|it| (*it, ColumnAlignment::Left));
    let columns = left.chain(right.iter().map(|it| (it.as_str(), ColumnAlignment::Right)));
    ReportTable::new(caption, &columns.collect::<Vec<_>>())
}

fn titles(columns: &[(&str, Attribute)]) -> Vec<String> {
    let unit = localise_symbol("µs");
    let times = columns.iter().map(|(label, _)| format!("{label} [{unit}]"));
    ["#bytes", "#iterations"].into_iter().map(str::to_owned).chain(times).collect()
}

/// Returns the place and the tool, as far as rows differ in them.
fn origin_cells(all: &[&MetricEstimate], estimate: &MetricEstimate) -> [TableCell; 2] {
    let differ =
        |key: fn(&MetricEstimate) -> &str| all.iter().any(|it| key(it) != key(estimate));
    let by =
        if differ(|it| &it.tool.name) { estimate.tool.name.clone() } else { String::new() };
    let mut parts: Vec<String> = pairs::name(estimate).into_iter().collect();
    if parts.is_empty() && differ(|it| &it.host) {
        parts.push(estimate.host.clone());
    }
    let named = [Attribute::Bytes, Attribute::Host, Attribute::Peer];
    let others = differing_dimensions(all).into_iter().filter(|it| !named.contains(it));
    parts.extend(
        others
            .filter_map(|name| text(estimate, name))
            .map(|it| units::with_no_break_spaces(&it)),
    );
    [parts.join(comma()).into(), by.into()]
}

/// Returns size, number of messages and times.
fn figure_cells(estimate: &MetricEstimate, columns: &[(&str, Attribute)]) -> Vec<TableCell> {
    let bytes = number(estimate, Attribute::Bytes).map(|it| it.to_string());
    let iterations = number(estimate, Attribute::Iterations).unwrap_or(estimate.n as f64);
    let mut cells: Vec<TableCell> =
        vec![bytes.unwrap_or_default().into(), iterations.to_string().into()];
    let is_stored = has_figures(estimate);
    cells.extend(columns.iter().map(|(_, name)| {
        let stored = number(estimate, *name);
        time_cell(if is_stored { stored } else { equivalent_figure(estimate, *name) })
    }));
    cells
}

/// Returns the equivalent statistic of a result without perftest's figures.
fn equivalent_figure(estimate: &MetricEstimate, name: Attribute) -> Option<f64> {
    match name {
        Attribute::PerftestMin => Some(estimate.min),
        Attribute::PerftestTypical => Some(estimate.median),
        Attribute::PerftestAverage => Some(estimate.mean),
        _ => None,
    }
}

fn time_cell(seconds: Option<f64>) -> TableCell {
    let finite = seconds.filter(|it| it.is_finite());
    finite.map(|it| format_ungrouped(it / MICROSECOND, DECIMALS)).unwrap_or_default().into()
}

/// Returns rows of published figures, which are results of their own.
fn published_figure_rows(all: &[&MetricEstimate]) -> Vec<Vec<TableCell>> {
    let reported = |metric: &str| {
        let is = |it: &&&MetricEstimate| {
            let test = text(it, Attribute::Test).unwrap_or_default().to_lowercase();
            it.metric == metric && test.starts_with("perftest") && test.contains("send")
        };
        all.iter().filter(is).copied().collect::<Vec<_>>()
    };
    let tool = ["time_min", "time_max", "time", "time_mean", "time_deviation"].map(reported);
    let row = |bytes: u64| {
        let typical = find_size(&tool[2], bytes)?;
        let iterations = number(typical, Attribute::Iterations).unwrap_or(typical.n as f64);
        let mut row = vec![TableCell::default(), TableCell::default()];
        row.extend([
            TableCell::from(bytes.to_string()),
            TableCell::from(iterations.to_string()),
        ]);
        row.extend(
            tool.iter().map(|found| time_cell(find_size(found, bytes).map(|it| it.median))),
        );
        row.push(precision::interval(typical).unwrap_or_default().into());
        Some(row)
    };
    sizes(&tool[2]).into_iter().filter_map(row).collect()
}
