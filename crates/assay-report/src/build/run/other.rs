//! General section: results that no other section prints, so that every result is reported.

use assay_model::attribute::{Attribute, Role};
use assay_model::benchmark::Section;
use assay_model::summary::Estimate;

use super::context::{Context, section_of, text};
use super::{files, rows, storage};
use crate::document::{Align, Block, Cell, Document, Table};
use crate::locale::word;
use crate::precision::Prefixes;
use crate::units;
use crate::words::dimension;

pub(super) fn add(document: &mut Document, context: &Context<'_>) {
    let mut estimates = context.section(Section::General);
    estimates.extend(storage::without_a_place(context));
    estimates.extend(files::without_a_place(context));
    let unknown = |estimate: &&Estimate| section_of(estimate).is_none();
    estimates.extend(context.summary.results.iter().filter(unknown));
    if !estimates.is_empty() {
        document.heading(word("heading-other"));
        document.blocks.push(Block::Table(table(context, &estimates)));
    }
}

fn table(context: &Context<'_>, estimates: &[&Estimate]) -> Table {
    let interval = rows::interval_title(estimates);
    let dimensions = differing(estimates);
    let titles: Vec<&str> = dimensions.iter().map(|it| dimension(*it)).collect();
    let mut columns = vec![(word("column-what"), Align::Left)];
    columns.extend(titles.iter().map(|title| (*title, Align::Left)));
    columns.extend([
        (word("column-value"), Align::Right),
        (interval.as_str(), Align::Right),
        (word("column-of-limit"), Align::Right),
        ("n", Align::Right),
        (word("column-by"), Align::Left),
        (word("column-note"), Align::Left),
    ]);
    let mut table = Table::new(word("table-other"), &columns);
    let prefixes = Prefixes::of_medians(estimates.iter().copied());
    for estimate in estimates {
        let what = format!("{} {}", estimate.benchmark, estimate.metric);
        let mut row: Vec<Cell> = vec![what.into()];
        row.extend(
            dimensions.iter().map(|name| {
                Cell::from(units::joined(&text(estimate, *name).unwrap_or_default()))
            }),
        );
        row.extend(rows::estimate(estimate, &prefixes));
        row.extend([
            rows::percent(estimate.percent_of_limit),
            rows::samples(estimate),
            rows::measurer(context, estimate),
            rows::notes(context, estimate),
        ]);
        table.rows.push(row);
    }
    table.without_empty_columns()
}

/// Returns the dimensions in which these results differ, in the order of the table of attributes.
pub(in crate::build) fn differing(estimates: &[&Estimate]) -> Vec<Attribute> {
    let differs = |name: &Attribute| {
        let value = |estimate: &Estimate| estimate.parameters.get(name).cloned();
        name.row().role != Role::Fact
            && estimates.windows(2).any(|pair| value(pair[0]) != value(pair[1]))
    };
    Attribute::ALL.iter().copied().filter(differs).collect()
}
