//! General section: results that no other section prints, so that every result is reported.

use assay_model::benchmark::ReportSection;
use assay_model::summary::MetricEstimate;

use super::context::ReportContext;
use super::estimate_parts::{differing_dimensions, section_of};
use super::{cells, files, storage};
use crate::document::{Block, Document, ReportTable, left};
use crate::locale::word;
use crate::precision::ColumnPrefixes;

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let mut estimates = context.section_results(ReportSection::General);
    estimates.extend(storage::unlisted_results(context));
    estimates.extend(files::unlisted_results(context));
    estimates.extend(crate::io500::unlisted_results(context.summary));
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
    let titles = (word("column-value"), interval.as_str());
    let mut table = ReportTable::with_caption(word("table-other"));
    let prefixes = ColumnPrefixes::for_medians(estimates.iter().copied());
    for estimate in estimates {
        let what = format!("{} {}", estimate.benchmark, estimate.metric);
        let mut row = vec![left(word("column-what"), what)];
        row.extend(cells::dimension_columns(&dimensions, estimate));
        row.extend(cells::value_columns(titles, estimate, &prefixes));
        row.extend([
            cells::limit_column(estimate.percent_of_limit),
            cells::sample_column(estimate),
            cells::measurer_column(context, estimate),
            cells::note_column(context, estimate),
        ]);
        table.push(row);
    }
    table.without_empty_columns()
}
