//! Network comparison: one row per item, with goodput and CPU load of both ends, or with round
//! trips.
//!
//! A summary of the list that follows; it contains no other figures.

use assay_model::comparison::{Comparison, ComparisonVerdict, MetricComparison};
use assay_model::summary::MetricEstimate;

use super::{case_label, metric_label, ratio_cells, runs_needed, sort_key, tone};
use crate::build::run::{network, network_labels, words};
use crate::document::{Block, Document, ReportTable, TableCell, Tone, left, right};
use crate::locale::{with_detail, word};
use crate::{precision, words as catalogue};

/// Heading of the CPU column after each condition; a note below the table explains it.
const CPU_COLUMN: &str = "CPU";
const ROUND_TRIP_METRICS: [&str; 2] = ["round_trip", "half_round_trip"];

/// Adds the tables; does nothing if no CPU time was reported, since the list then contains the
/// same.
pub(super) fn add(document: &mut Document, comparison: &Comparison) {
    let reports = |pair: &MetricComparison| {
        network_labels::is_network(&pair.a) && pair.a.metric == "cpu_load"
    };
    if !comparison.pairs.iter().any(reports) {
        return;
    }
    let arrived = pairs_with_metrics(comparison, &["goodput"]);
    if !arrived.is_empty() {
        document.blocks.push(Block::Table(table(
            word("items-goodput"),
            comparison,
            &arrived,
            true,
        )));
        document.paragraph(Tone::Quiet, word("items-cpu-is"));
    }
    let took = pairs_with_metrics(comparison, &ROUND_TRIP_METRICS);
    if !took.is_empty() {
        document.blocks.push(Block::Table(table(
            word("table-round-trips"),
            comparison,
            &took,
            false,
        )));
    }
}

fn pairs_with_metrics<'c>(
    comparison: &'c Comparison,
    metrics: &[&str],
) -> Vec<&'c MetricComparison> {
    let is_one = |pair: &&MetricComparison| {
        network_labels::is_network(&pair.a) && metrics.contains(&pair.a.metric.as_str())
    };
    let mut found: Vec<&MetricComparison> = comparison.pairs.iter().filter(is_one).collect();
    found.sort_by_key(|pair| sort_key(&pair.a));
    found
}

fn table(
    title: &str,
    comparison: &Comparison,
    pairs: &[&MetricComparison],
    with_cpu: bool,
) -> ReportTable {
    let (a, b) = (&comparison.a.name, &comparison.b.name);
    let ratio = format!("{b} ÷ {a}");
    let interval = words::interval(Some(comparison.level));
    let has_tools =
        comparison.pairs.windows(2).any(|it| it[0].a.tool.name != it[1].a.tool.name);
    let decides = runs_needed(comparison).is_none();
    let mut table = ReportTable::with_caption(title);
    for pair in pairs {
        let cpu = |side: fn(&MetricComparison) -> &MetricEstimate| match with_cpu {
            true => {
                network::load_of_both_ends(side(pair), comparison.pairs.iter().map(side)).into()
            }
            false => TableCell::default(),
        };
        let by = if has_tools { pair.a.tool.name.clone() } else { String::new() };
        let [over_a, over_interval] = ratio_cells(pair);
        let verdict = if decides { verdict_cell(pair.verdict) } else { TableCell::default() };
        table.push([
            left(word("column-item"), item_label(pair)),
            right(a, precision::value(&pair.a)),
            left(CPU_COLUMN, cpu(|pair| &pair.a)),
            right(b, precision::value(&pair.b)),
            left(CPU_COLUMN, cpu(|pair| &pair.b)),
            right(&ratio, over_a),
            right(&interval, over_interval),
            left(word("column-verdict"), verdict),
            left(word("column-by"), by),
        ]);
    }
    table.without_empty_columns().with_pinned(word("column-verdict"))
}

fn item_label(pair: &MetricComparison) -> String {
    match (pair.a.metric.as_str(), network::pairs::name(&pair.a)) {
        // Goodput is the subject of the table.
        ("goodput", None) => network::item_label(&pair.a),
        ("goodput", Some(hosts)) => with_detail(&hosts, &network::item_label(&pair.a)),
        _ => with_detail(&metric_label(&pair.a), &case_label(pair)),
    }
}

/// Returns the verdict only; the list has the number of samples that it would need.
fn verdict_cell(verdict: ComparisonVerdict) -> TableCell {
    TableCell::with_tone(catalogue::verdict(verdict), tone(verdict))
}
