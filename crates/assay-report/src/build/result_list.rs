//! Results of many runs in one table: a row for each result.

use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::trust::DistrustReason;

use super::answer::level_tone;
use super::comparison::{metric_label, result_case};
use super::run;
use crate::document::{Block, ColumnAlignment, Document, ReportTable, TableCell, Tone};
use crate::locale::{format_minute, word};
use crate::{precision, units, words};

/// Builds the table of all results of some runs, in their order.
#[must_use]
pub fn result_list(summaries: &[RunSummary]) -> Document {
    let mut document = Document::new(word("list-title"));
    let mut results = summaries.iter().flat_map(|it| &it.results).peekable();
    let Some(first) = results.peek() else {
        document.paragraph(Tone::Bad, word("run-table-empty"));
        return document;
    };
    let interval = run::words::interval(Some(first.ci_level));
    let columns = [
        (word("column-what"), ColumnAlignment::Left),
        (word("column-case"), ColumnAlignment::Left),
        (word("column-value"), ColumnAlignment::Right),
        (interval.as_str(), ColumnAlignment::Right),
        (word("column-by"), ColumnAlignment::Left),
        (word("column-host"), ColumnAlignment::Left),
        (word("column-started"), ColumnAlignment::Left),
        (word("column-label"), ColumnAlignment::Left),
        (word("column-state"), ColumnAlignment::Left),
        (word("column-run"), ColumnAlignment::Left),
    ];
    let mut table = ReportTable::new("", &columns);
    for summary in summaries {
        table.rows.extend(summary.results.iter().map(|it| result_row(it, summary)));
    }
    document.blocks.push(Block::Table(table.without_empty_columns()));
    document
}

fn result_row(estimate: &MetricEstimate, summary: &RunSummary) -> Vec<TableCell> {
    let tool = &estimate.tool;
    let by = match &tool.version {
        Some(version) => format!("{} {version}", tool.name),
        None => tool.name.clone(),
    };
    let level = DistrustReason::level_of(DistrustReason::from_run(estimate, summary));
    let tone = level_tone(level);
    let state = words::trust_level(level).to_owned();
    vec![
        metric_label(estimate).into(),
        result_case(estimate).into(),
        precision::value(estimate).into(),
        precision::interval(estimate).unwrap_or_default().into(),
        by.into(),
        estimate.host.as_str().into(),
        units::with_no_break_spaces(&format_minute(&summary.run.started)).into(),
        summary.run.label.as_deref().unwrap_or_default().into(),
        TableCell { text: state, tone, ..TableCell::default() },
        summary.run.id.as_str().into(),
    ]
}
