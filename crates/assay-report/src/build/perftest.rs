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
use crate::document::{Block, ColumnCell, Document, ReportTable, Tone, left, right};
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
    let mut table = ReportTable::with_caption(word("table-perftest"));
    for estimate in &all {
        let what = left(word("column-what"), estimate.benchmark.as_str());
        let origin = origin_cells(&all, estimate);
        table.push([what].into_iter().chain(origin).chain(figure_cells(estimate, &COLUMNS)));
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
    let interval_cell = |estimate: &MetricEstimate| {
        right(&interval, precision::interval(estimate).unwrap_or_default())
    };
    let mut table = ReportTable::with_caption("");
    let mut own = find_results(all, Benchmark::Rdma(RdmaTest::SendLatency), "half_round_trip");
    // Keeps rows of one size together, over all hosts and tools.
    own.sort_by_key(|it| number(it, Attribute::Bytes).map(|bytes| bytes as u64));
    for estimate in &own {
        let figures = figure_cells(estimate, shown).into_iter();
        let figures = figures.chain([interval_cell(estimate)]);
        table.push(origin_cells(&own, estimate).into_iter().chain(figures));
    }
    if own.is_empty() {
        for (typical, figures) in published_figures(all) {
            table.push(figures.into_iter().chain([interval_cell(typical)]));
        }
    }
    table
}

fn has_figures(estimate: &MetricEstimate) -> bool {
    COLUMNS.iter().any(|(_, name)| estimate.parameters.contains_key(name))
}

/// Returns the place and the tool, as far as rows differ in them.
fn origin_cells(all: &[&MetricEstimate], estimate: &MetricEstimate) -> [ColumnCell; 2] {
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
    [left(word("column-where"), parts.join(comma())), left(word("column-by"), by)]
}

/// Returns size, number of messages and times of a result.
fn figure_cells(estimate: &MetricEstimate, columns: &[(&str, Attribute)]) -> Vec<ColumnCell> {
    let bytes = number(estimate, Attribute::Bytes).map(|it| it.to_string());
    let is_stored = has_figures(estimate);
    let times = columns.iter().map(|(_, name)| match is_stored {
        true => number(estimate, *name),
        false => equivalent_figure(estimate, *name),
    });
    labelled_cells(bytes.unwrap_or_default(), estimate, times)
}

/// Returns the cells under perftest's labels, of which `times` are the first ones.
fn labelled_cells(
    bytes: String,
    estimate: &MetricEstimate,
    times: impl Iterator<Item = Option<f64>>,
) -> Vec<ColumnCell> {
    let unit = localise_symbol("µs");
    let iterations = number(estimate, Attribute::Iterations).unwrap_or(estimate.n as f64);
    let mut cells = vec![right("#bytes", bytes), right("#iterations", iterations.to_string())];
    cells.extend(COLUMNS.iter().zip(times).map(|((label, _), seconds)| {
        let finite = seconds.filter(|it| it.is_finite());
        let time = finite.map(|it| format_ungrouped(it / MICROSECOND, DECIMALS));
        right(&format!("{label} [{unit}]"), time.unwrap_or_default())
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

/// Returns published figures, which are results of their own, with their typical time.
fn published_figures<'a>(
    all: &[&'a MetricEstimate],
) -> Vec<(&'a MetricEstimate, Vec<ColumnCell>)> {
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
        let times = tool.iter().map(|found| find_size(found, bytes).map(|it| it.median));
        Some((typical, labelled_cells(bytes.to_string(), typical, times)))
    };
    sizes(&tool[2]).into_iter().filter_map(row).collect()
}
