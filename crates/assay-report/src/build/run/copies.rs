//! Copies between domains: a matrix of medians for each host and measurer, as Intel MLC prints it.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Section;
use assay_model::quantity::Unit;
use assay_model::summary::Estimate;

use super::context::{Context, text};
use super::rows;
use crate::document::{Align, Block, Cell, Details, Document, Table, Tone};
use crate::locale::{details, listed, symbol, word};
use crate::precision::{self, Prefixes};
use crate::units;

pub(super) fn add(document: &mut Document, context: &Context<'_>) {
    let all = context.section(Section::Copies);
    if all.is_empty() {
        return;
    }
    document.heading(word("heading-copies"));
    let groups = apart(&all);
    let matrices: Vec<Matrix<'_>> =
        groups.iter().filter_map(|group| Matrix::of(group)).collect();
    for matrix in &matrices {
        document.blocks.push(Block::Table(matrix.table(context)));
    }
    let pairs = Block::Table(pairs(context, &all));
    if matrices.is_empty() {
        document.blocks.push(pairs);
    } else {
        document.paragraph(Tone::Quiet, word("copies-explanation"));
        let details = Details { title: word("details-copies").to_owned(), blocks: vec![pairs] };
        document.blocks.push(Block::Details(details));
    }
}

/// Groups the results by host and measurer, in order of appearance.
fn apart<'a>(all: &[&'a Estimate]) -> Vec<Vec<&'a Estimate>> {
    let key = |it: &Estimate| (it.host.clone(), it.tool.clone(), it.metric.clone());
    let mut groups: Vec<Vec<&Estimate>> = Vec::new();
    for estimate in all {
        match groups.iter_mut().find(|group| key(group[0]) == key(estimate)) {
            Some(group) => group.push(estimate),
            None => groups.push(vec![estimate]),
        }
    }
    groups
}

/// Results of all pairs of some domains.
struct Matrix<'a> {
    estimates: &'a [&'a Estimate],
    /// Source domains, in order of appearance.
    sources: Vec<String>,
    /// Destination domains, in order of appearance.
    domains: Vec<String>,
}

impl<'a> Matrix<'a> {
    /// Returns `None` for fewer than two domains.
    fn of(estimates: &'a [&'a Estimate]) -> Option<Self> {
        let [sources, domains] = [Attribute::Source, Attribute::Placement].map(|name| {
            let mut names: Vec<String> = Vec::new();
            for found in estimates.iter().filter_map(|it| text(it, name)) {
                if !names.contains(&found) {
                    names.push(found);
                }
            }
            names
        });
        (sources.len() > 1 || domains.len() > 1).then_some(Self { estimates, sources, domains })
    }

    fn table(&self, context: &Context<'_>) -> Table {
        let sources = self.sources.iter().map(|it| (it.as_str(), Align::Right));
        let columns: Vec<_> = std::iter::once(("", Align::Left)).chain(sources).collect();
        let mut caption = vec![say!("table-copies", unit = symbol("GB/s"))];
        caption.extend(context.several_hosts.then(|| self.estimates[0].host.clone()));
        let by = || self.estimates[0].tool.name.clone();
        caption.extend(context.several_measurers.then(by));
        let mut table = Table::new(details(&caption), &columns);
        for domain in &self.domains {
            let cells = self.sources.iter().map(|source| self.cell(context, source, domain));
            table.rows.push(std::iter::once(domain.into()).chain(cells).collect());
        }
        table
    }

    /// Returns the median of a pair; empty if the pair has no result.
    fn cell(&self, context: &Context<'_>, source: &str, domain: &str) -> Cell {
        let is = |it: &Estimate, name, value| text(it, name).as_deref() == Some(value);
        let found = self.estimates.iter().find(|it| {
            is(it, Attribute::Source, source) && is(it, Attribute::Placement, domain)
        });
        let Some(estimate) = found else { return Cell::default() };
        let shown = match estimate.median.is_finite() {
            true => {
                let digits = precision::digits_of(estimate);
                let value = precision::rounded(estimate.median / 1e9, digits);
                units::quantity(value, Unit::Ratio, digits)
            }
            false => precision::value(estimate),
        };
        Cell { text: shown, ..rows::notes(context, estimate) }
    }
}

/// Returns a table with one row per pair, with its interval.
fn pairs(context: &Context<'_>, estimates: &[&Estimate]) -> Table {
    let interval = rows::interval_title(estimates);
    let columns = [
        (word("column-where"), Align::Left),
        (word("column-value"), Align::Right),
        (interval.as_str(), Align::Right),
        (word("column-of-limit"), Align::Right),
        ("n", Align::Right),
        (word("column-by"), Align::Left),
        (word("column-kernel"), Align::Left),
        (word("column-note"), Align::Left),
    ];
    let mut table = Table::new(word("table-bandwidth"), &columns);
    let prefixes = Prefixes::of_medians(estimates.iter().copied());
    for estimate in estimates {
        let mut row: Vec<Cell> = vec![context.place(estimate).into()];
        row.extend(rows::estimate(estimate, &prefixes));
        row.extend([
            rows::percent(estimate.percent_of_limit),
            rows::samples(estimate),
            rows::measurer(context, estimate),
            listed(&text(estimate, Attribute::Kernel).unwrap_or_default()).into(),
            rows::notes(context, estimate),
        ]);
        table.rows.push(row);
    }
    table.without_empty_columns()
}
