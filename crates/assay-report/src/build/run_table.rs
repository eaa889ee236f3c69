//! Several runs in one table: a column for each run, with differences from the first, or a row for
//! each result.

use std::collections::BTreeSet;

use assay_model::benchmark::Better;
use assay_model::run_table::{RunColumn, RunTable, RunTableRow};
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::trust::DistrustReason;

use super::answer::level_tone;
use super::comparison::{metric_label, result_case, sort_key};
use super::run;
use crate::document::{
    Block, ColumnCell, Document, FactTable, ReportTable, TableCell, Tone, left, right,
};
use crate::locale::{comma, format_minute, word};
use crate::words::change_in_percent;
use crate::{precision, units, words};

/// Relative difference in the worse direction that is marked; the default margin of `compare`.
const MARKED_DIFFERENCE: f64 = 0.02;
/// Text of a cell without a result.
const MISSING: &str = "–";

/// Builds the table of several runs.
pub fn run_table(table: &RunTable) -> Document {
    let names = column_names(&table.runs);
    let mut document = Document::new(names.join(comma()));
    let label = |(name, run): (&String, &RunColumn)| (name.clone(), run_label(run, name));
    let facts = names.iter().zip(&table.runs).map(label).collect();
    document.blocks.push(Block::Facts(FactTable { title: None, tone: Tone::Plain, facts }));
    if table.rows.is_empty() {
        document.paragraph(Tone::Bad, word("run-table-empty"));
        return document;
    }
    document.blocks.push(Block::Table(result_table(table, &names)));
    let margin = precision::format_percent_setting(MARKED_DIFFERENCE * 100.0);
    document.paragraph(Tone::Quiet, message!("run-table-explanation", margin = margin));
    document
}

/// Returns the labels of the runs, or their identifiers unless all labels differ.
fn column_names(runs: &[RunColumn]) -> Vec<String> {
    let labels: BTreeSet<&str> =
        runs.iter().filter_map(|run| run.header.label.as_deref()).collect();
    let name = |run: &RunColumn| match &run.header.label {
        Some(label) if labels.len() == runs.len() => label.clone(),
        Some(_) | None => run.header.id.clone(),
    };
    runs.iter().map(name).collect()
}

/// Describes a run without its name in the table.
fn run_label(run: &RunColumn, name: &str) -> String {
    let header = &run.header;
    let label = header.label.as_deref().unwrap_or_default();
    let started = format_minute(&header.started);
    let parts = [&*header.id, &header.suite, &run.host, label, &started];
    let is_new = |it: &&str| !it.is_empty() && *it != name;
    parts.into_iter().filter(is_new).collect::<Vec<_>>().join(comma())
}

fn result_table(table: &RunTable, names: &[String]) -> ReportTable {
    let mut rows: Vec<(&MetricEstimate, &RunTableRow)> =
        table.rows.iter().filter_map(|row| Some((row.first_estimate()?, row))).collect();
    rows.sort_by_cached_key(|(first, _)| sort_key(first));
    let has_tools = rows.windows(2).any(|it| it[0].0.tool.name != it[1].0.tool.name);
    let mut document_table = ReportTable::with_caption("");
    for (first, row) in rows {
        let by = if has_tools { first.tool.name.as_str() } else { "" };
        let leading = [
            left(word("column-what"), metric_label(first)),
            left(word("column-case"), result_case(first)),
            left(word("column-by"), by),
        ];
        let runs = names.iter().enumerate();
        let runs = runs.map(|(run, name)| right(name, result_cell(row, run)));
        document_table.push(leading.into_iter().chain(runs));
    }
    document_table.without_empty_columns()
}

fn result_cell(row: &RunTableRow, run: usize) -> TableCell {
    let Some(estimate) = row.estimates.get(run).and_then(Option::as_ref) else {
        return TableCell::with_tone(MISSING, Tone::Quiet);
    };
    let value = precision::value(estimate);
    let Some(ratio) = row.ratio(run) else { return value.into() };
    let difference = units::with_no_break_spaces(&change_in_percent(ratio - 1.0));
    let tone = difference_tone(ratio, estimate.better);
    TableCell::with_tone(format!("{value} {difference}"), tone)
}

/// Returns the tone of a ratio: marked if worse by at least the margin, quiet within it.
fn difference_tone(ratio: f64, better: Better) -> Tone {
    let improvement = match better {
        Better::Higher => ratio - 1.0,
        Better::Lower => 1.0 - ratio,
    };
    if improvement <= -MARKED_DIFFERENCE {
        Tone::Doubt
    } else if improvement < MARKED_DIFFERENCE {
        Tone::Quiet
    } else {
        Tone::Plain
    }
}

/// Builds the table of all results of some runs, in their order.
pub fn result_list(summaries: &[RunSummary]) -> Document {
    let mut document = Document::new(word("list-results-title"));
    let mut results = summaries.iter().flat_map(|it| &it.results).peekable();
    let Some(first) = results.peek() else {
        document.paragraph(Tone::Bad, word("run-table-empty"));
        return document;
    };
    let interval = run::words::interval(Some(first.ci_level));
    let mut table = ReportTable::with_caption("");
    for summary in summaries {
        let summary = &*precision::with_written_digits(summary);
        summary.results.iter().for_each(|it| table.push(result_row(it, summary, &interval)));
    }
    document.blocks.push(Block::Table(table.without_empty_columns()));
    document
}

fn result_row(
    estimate: &MetricEstimate,
    summary: &RunSummary,
    interval: &str,
) -> [ColumnCell; 10] {
    let tool = &estimate.tool;
    let by = match &tool.version {
        Some(version) => format!("{} {version}", tool.name),
        None => tool.name.clone(),
    };
    let level = DistrustReason::level_of(DistrustReason::from_run(estimate, summary));
    let state = TableCell::with_tone(words::trust_level(level), level_tone(level));
    let started = units::with_no_break_spaces(&format_minute(&summary.run.started));
    // A narrow screen has the columns up to the value in each part of a table.
    [
        left(word("column-run"), &*summary.run.id),
        left(word("column-label"), summary.run.label.as_deref().unwrap_or_default()),
        left(word("column-what"), metric_label(estimate)),
        left(word("column-case"), result_case(estimate)),
        right(word("column-value"), precision::value(estimate)),
        right(interval, precision::interval(estimate).unwrap_or_default()),
        left(word("column-by"), by),
        left(word("column-host"), &*estimate.host),
        left(word("column-started"), started),
        left(word("column-state"), state),
    ]
}
