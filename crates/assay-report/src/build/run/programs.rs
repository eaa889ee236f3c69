//! Programs: times, memory and printed figures of each, and how far its runs were checked.

use assay_model::attribute::Attribute;
use assay_model::benchmark::ReportSection;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::cells;
use super::context::ReportContext;
use super::estimate_parts::{differing_dimensions, figure_name, number, text};
use crate::document::{Block, ColumnCell, Document, ReportTable, Tone, left};
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
    let titles = (word("column-median"), interval.as_str());
    let mut table = ReportTable::with_caption(word("table-programs"));
    let prefixes = ColumnPrefixes::for_medians(estimates.iter().copied());
    for estimate in estimates {
        let of_dimension = |name: &Attribute| {
            left(dimension(*name), text(estimate, *name).unwrap_or_default())
        };
        let mut row: Vec<ColumnCell> = dimensions.iter().map(of_dimension).collect();
        row.push(left(word("column-what"), figure_name(estimate)));
        row.extend(cells::value_columns(titles, estimate, &prefixes));
        row.extend([
            cells::sample_column(estimate),
            left(word("column-check"), check(estimate)),
            cells::note_column(context, estimate),
        ]);
        table.push(row);
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

/// Reports the time to start an empty program, unless a measured one was faster, and the memory below
/// which nothing is measured.
fn explanation(estimates: &[&MetricEstimate]) -> String {
    let highest = |name| estimates.iter().filter_map(|it| number(it, name)).reduce(f64::max);
    let times = estimates.iter().filter(|it| it.metric == "wall_time").map(|it| it.median);
    let fastest_s = times.fold(f64::INFINITY, f64::min);
    let start = highest(Attribute::StartTime).filter(|it| *it < fastest_s).map(|seconds| {
        message!("program-start", time = units::quantity(seconds, Unit::Second, 2))
    });
    let floor = highest(Attribute::MemoryFloor).map(|bytes| {
        message!("program-memory-floor", size = units::quantity(bytes, Unit::Byte, 2))
    });
    join_sentences(&[start, floor].into_iter().flatten().collect::<Vec<_>>())
}
