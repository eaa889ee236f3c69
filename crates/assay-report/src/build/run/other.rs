//! General section: results that no other section prints, so that every result is reported.

use assay_model::benchmark::ReportSection;
use assay_model::summary::MetricEstimate;

use super::context::ReportContext;
use super::estimate_parts::{differing_dimensions, section_of, text};
use super::{cells, files, storage};
use crate::document::{Block, ColumnAlignment, Document, ReportTable, TableCell};
use crate::locale::word;
use crate::precision::ColumnPrefixes;
use crate::units;
use crate::words::dimension;

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let mut estimates = context.section_results(ReportSection::General);
    estimates.extend(storage::unlisted_results(context));
    estimates.extend(files::unlisted_results(context));
    let unknown = |estimate: &&MetricEstimate| section_of(estimate).is_none();
    estimates.extend(context.summary.results.iter().filter(unknown));
    if !estimates.is_empty() {
        document.heading(word("heading-other"));
        document.blocks.push(Block::Table(table(context, &estimates)));
    }
}

fn table(context: &ReportContext<'_>, estimates: &[&MetricEstimate]) -> ReportTable {
    let interval = cells::interval_title(estimates);
    let dimensions = differing_dimensions(estimates);
    let titles: Vec<&str> = dimensions.iter().map(|it| dimension(*it)).collect();
    let mut columns = vec![(word("column-what"), ColumnAlignment::Left)];
    columns.extend(titles.iter().map(|title| (*title, ColumnAlignment::Left)));
    columns.extend([
        (word("column-value"), ColumnAlignment::Right),
        (interval.as_str(), ColumnAlignment::Right),
        (word("column-of-limit"), ColumnAlignment::Right),
        ("n", ColumnAlignment::Right),
        (word("column-by"), ColumnAlignment::Left),
        (word("column-note"), ColumnAlignment::Left),
    ]);
    let mut table = ReportTable::new(word("table-other"), &columns);
    let prefixes = ColumnPrefixes::for_medians(estimates.iter().copied());
    for estimate in estimates {
        let what = format!("{} {}", estimate.benchmark, estimate.metric);
        let mut row: Vec<TableCell> = vec![what.into()];
        row.extend(dimensions.iter().map(|name| {
            TableCell::from(units::with_no_break_spaces(
                &text(estimate, *name).unwrap_or_default(),
            ))
        }));
        row.extend(cells::value_and_interval(estimate, &prefixes));
        row.extend([
            cells::percent(estimate.percent_of_limit),
            cells::samples(estimate),
            cells::measurer(context, estimate),
            cells::notes(context, estimate),
        ]);
        table.rows.push(row);
    }
    table.without_empty_columns()
}
