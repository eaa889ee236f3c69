//! File trees: one row per operation, as mdtest prints it, with its rate and latency.

use assay_model::attribute::Attribute;
use assay_model::benchmark::ReportSection;
use assay_model::summary::MetricEstimate;

use super::context::ReportContext;
use super::estimate_parts::{differing_dimensions, text};
use super::storage::LatencyColumns;
use super::{cells, words};
use crate::document::{Block, Document, ReportTable, TableCell, left, right};
use crate::locale::word;
use crate::precision::ColumnPrefixes;

/// Results of one operation.
struct OperationRow<'a> {
    rate: &'a MetricEstimate,
    bandwidth: Option<&'a MetricEstimate>,
    latency: Option<&'a MetricEstimate>,
    from_due: Option<&'a MetricEstimate>,
}

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let (rows, _) = operation_rows(context);
    if !rows.is_empty() {
        document.heading(word("heading-files"));
        document.blocks.push(Block::Table(table(context, &rows)));
    }
}

/// Returns the results of file trees that the table does not contain.
pub(super) fn unlisted_results<'a>(context: &ReportContext<'a>) -> Vec<&'a MetricEstimate> {
    operation_rows(context).1
}

/// Returns the operations in order of appearance, and all other results.
fn operation_rows<'a>(
    context: &ReportContext<'a>,
) -> (Vec<OperationRow<'a>>, Vec<&'a MetricEstimate>) {
    let all = context.section_results(ReportSection::Files);
    let (rates, mut rest): (Vec<&MetricEstimate>, Vec<&MetricEstimate>) =
        all.into_iter().partition(|it| it.metric == "rate");
    let mut take = |rate: &MetricEstimate, metric: &str| {
        let index =
            rest.iter().position(|it| it.metric == metric && is_same_operation(it, rate))?;
        Some(rest.remove(index))
    };
    let rows = rates
        .into_iter()
        .map(|rate| OperationRow {
            rate,
            bandwidth: take(rate, "bandwidth"),
            latency: take(rate, "latency"),
            from_due: take(rate, "latency_from_intended"),
        })
        .collect();
    (rows, rest)
}

/// Whether two results belong to the same operation of the same case.
fn is_same_operation(a: &MetricEstimate, b: &MetricEstimate) -> bool {
    let value = |it: &MetricEstimate, name| it.parameters.get(&name).cloned();
    let names = [Attribute::Operation, Attribute::Phase, Attribute::Loops];
    (&a.case, &a.host, &a.tool) == (&b.case, &b.host, &b.tool)
        && names.into_iter().all(|name| value(a, name) == value(b, name))
}

fn table(context: &ReportContext<'_>, rows: &[OperationRow<'_>]) -> ReportTable {
    let rates: Vec<&MetricEstimate> = rows.iter().map(|row| row.rate).collect();
    let mut dimensions = differing_dimensions(&rates);
    dimensions.retain(|name| *name != Attribute::Operation);
    let interval = cells::interval_title(&rates);
    let p99_from_due = words::from_due("p99");
    let titles = (word("column-rate"), interval.as_str());
    let mut table = ReportTable::with_caption(word("table-files"));
    let amounts = rows.iter().flat_map(|row| [Some(row.rate), row.bandwidth]);
    let prefixes = ColumnPrefixes::for_medians(amounts.flatten());
    let times = LatencyColumns::from_latencies(rows.iter().filter_map(|row| row.latency));
    let from_due = LatencyColumns::from_latencies(rows.iter().filter_map(|row| row.from_due));
    for row in rows {
        let operation = text(row.rate, Attribute::Operation);
        let operation = operation.unwrap_or_else(|| word("all-operations").to_owned());
        let bandwidth = row.bandwidth.map(|it| prefixes.value(it)).unwrap_or_default();
        let share = row.bandwidth.and_then(|it| it.percent_of_limit);
        let [median, p99, _] = times.cells(row.latency);
        let [median_from_due, p99_from_due_cell, _] = from_due.cells(row.from_due);
        let mut cells = vec![left(word("column-operation"), operation)];
        cells.extend(cells::dimension_columns(&dimensions, row.rate));
        cells.extend(cells::value_columns(titles, row.rate, &prefixes));
        cells.extend([
            right(word("column-bandwidth"), bandwidth),
            cells::limit_column(share),
            right(word("column-median"), median),
            right("p99", p99),
            right(word("column-median-from-due"), median_from_due),
            right(&p99_from_due, p99_from_due_cell),
            cells::measurer_column(context, row.rate),
            left(word("column-note"), row.notes(context)),
        ]);
        table.push(cells);
    }
    table.without_empty_columns()
}

impl OperationRow<'_> {
    /// Returns the notes of all results of the row, each once.
    fn notes(&self, context: &ReportContext<'_>) -> TableCell {
        let all = [Some(self.rate), self.bandwidth, self.latency, self.from_due];
        let marks = all.into_iter().flatten().flat_map(|it| context.notes.marks(it));
        let mut marks: Vec<usize> = marks.collect();
        marks.sort_unstable();
        marks.dedup();
        TableCell::with_marks(marks)
    }
}
