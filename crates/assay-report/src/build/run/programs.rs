//! Programs: times, memory and printed figures of each, and how far its runs were checked.

use assay_model::attribute::Attribute;
use assay_model::benchmark::ReportSection;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::cells;
use super::context::ReportContext;
use super::estimate_parts::{differing_dimensions, figure_name, number, text};
use crate::document::{Block, ColumnAlignment, Document, ReportTable, TableCell, Tone};
use crate::locale::{join_sentences, word};
use crate::precision::ColumnPrefixes;
use crate::units;
use crate::words::dimension;

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let estimates = context.section_results(ReportSection::Programs);
    if estimates.is_empty() {
        return;
    }
    document.heading(word("heading-programs"));
    document.blocks.push(Block::Table(table(context, &estimates)));
    document.paragraph(Tone::Quiet, explanation(&estimates));
}

fn table(context: &ReportContext<'_>, estimates: &[&MetricEstimate]) -> ReportTable {
    let interval = cells::interval_title(estimates);
    let shown = |name: &Attribute| *name != Attribute::Test;
    let dimensions: Vec<Attribute> =
        differing_dimensions(estimates).into_iter().filter(shown).collect();
    let titles = dimensions.iter().map(|name| (dimension(*name), ColumnAlignment::Left));
    let mut columns: Vec<_> = titles.collect();
    columns.extend([
        (word("column-what"), ColumnAlignment::Left),
        (word("column-median"), ColumnAlignment::Right),
        (interval.as_str(), ColumnAlignment::Right),
        ("n", ColumnAlignment::Right),
        (word("column-check"), ColumnAlignment::Left),
        (word("column-note"), ColumnAlignment::Left),
    ]);
    let mut table = ReportTable::new(word("table-programs"), &columns);
    let prefixes = ColumnPrefixes::for_medians(estimates.iter().copied());
    for estimate in estimates {
        let of_dimension = |name: &Attribute| text(estimate, *name).unwrap_or_default().into();
        let mut row: Vec<TableCell> = dimensions.iter().map(of_dimension).collect();
        row.push(figure_name(estimate).into());
        row.extend(cells::value_and_interval(estimate, &prefixes));
        row.extend([
            cells::samples(estimate),
            check(estimate).into(),
            cells::notes(context, estimate),
        ]);
        table.rows.push(row);
    }
    table.without_empty_columns()
}

/// Returns how far the output behind a result was checked.
fn check(estimate: &MetricEstimate) -> String {
    match text(estimate, Attribute::Checked).as_deref() {
        Some("output") => word("check-output").to_owned(),
        Some("exit" | "none") => word("check-none").to_owned(),
        Some(other) => other.to_owned(),
        None => String::new(),
    }
}

/// Reports the time to start an empty program, and the memory below which nothing is measured.
fn explanation(estimates: &[&MetricEstimate]) -> String {
    let highest = |name| estimates.iter().filter_map(|it| number(it, name)).reduce(f64::max);
    let start = highest(Attribute::StartTime).map(|seconds| {
        message!("program-start", time = units::quantity(seconds, Unit::Second, 2))
    });
    let floor = highest(Attribute::MemoryFloor).map(|bytes| {
        message!("program-memory-floor", size = units::quantity(bytes, Unit::Byte, 2))
    });
    join_sentences(&[start, floor].into_iter().flatten().collect::<Vec<_>>())
}
