//! File trees: one row per operation, as mdtest prints it, with its rate and latency.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Section;
use assay_model::summary::Estimate;

use super::context::{Context, text};
use super::other::differing;
use super::storage::Times;
use super::{rows, words};
use crate::document::{Align, Block, Cell, Document, Table};
use crate::locale::word;
use crate::precision::Prefixes;
use crate::units;
use crate::words::dimension;

/// Results of one operation.
struct Row<'a> {
    rate: &'a Estimate,
    bandwidth: Option<&'a Estimate>,
    latency: Option<&'a Estimate>,
    from_due: Option<&'a Estimate>,
}

pub(super) fn add(document: &mut Document, context: &Context<'_>) {
    let (rows, _) = rows(context);
    if !rows.is_empty() {
        document.heading(word("heading-files"));
        document.blocks.push(Block::Table(table(context, &rows)));
    }
}

/// Returns the results of file trees that the table does not contain.
pub(super) fn without_a_place<'a>(context: &Context<'a>) -> Vec<&'a Estimate> {
    rows(context).1
}

/// Returns the operations in order of appearance, and all other results.
fn rows<'a>(context: &Context<'a>) -> (Vec<Row<'a>>, Vec<&'a Estimate>) {
    let all = context.section(Section::Files);
    let (rates, mut rest): (Vec<&Estimate>, Vec<&Estimate>) =
        all.into_iter().partition(|it| it.metric == "rate");
    let mut take = |rate: &Estimate, metric: &str| {
        let index = rest.iter().position(|it| it.metric == metric && is_same(it, rate))?;
        Some(rest.remove(index))
    };
    let rows = rates
        .into_iter()
        .map(|rate| Row {
            rate,
            bandwidth: take(rate, "bandwidth"),
            latency: take(rate, "latency"),
            from_due: take(rate, "latency_from_intended"),
        })
        .collect();
    (rows, rest)
}

/// Whether two results belong to the same operation of the same case.
fn is_same(a: &Estimate, b: &Estimate) -> bool {
    let value = |it: &Estimate, name| it.parameters.get(&name).cloned();
    let names = [Attribute::Operation, Attribute::Phase, Attribute::Loops];
    (&a.case, &a.host, &a.tool) == (&b.case, &b.host, &b.tool)
        && names.into_iter().all(|name| value(a, name) == value(b, name))
}

fn table(context: &Context<'_>, rows: &[Row<'_>]) -> Table {
    let rates: Vec<&Estimate> = rows.iter().map(|row| row.rate).collect();
    let mut dimensions = differing(&rates);
    dimensions.retain(|name| *name != Attribute::Operation);
    let titles: Vec<&str> = dimensions.iter().map(|it| dimension(*it)).collect();
    let interval = rows::interval_title(&rates);
    let p99_from_due = words::from_due("p99");
    let mut columns = vec![(word("column-operation"), Align::Left)];
    columns.extend(titles.iter().map(|title| (*title, Align::Left)));
    columns.extend([
        (word("column-rate"), Align::Right),
        (interval.as_str(), Align::Right),
        (word("column-bandwidth"), Align::Right),
        (word("column-of-limit"), Align::Right),
        (word("column-median"), Align::Right),
        ("p99", Align::Right),
        (word("column-median-from-due"), Align::Right),
        (p99_from_due.as_str(), Align::Right),
        (word("column-by"), Align::Left),
        (word("column-note"), Align::Left),
    ]);
    let mut table = Table::new(word("table-files"), &columns);
    let amounts = rows.iter().flat_map(|row| [Some(row.rate), row.bandwidth]);
    let prefixes = Prefixes::of_medians(amounts.flatten());
    let times = Times::of(rows.iter().filter_map(|row| row.latency));
    let from_due = Times::of(rows.iter().filter_map(|row| row.from_due));
    for row in rows {
        let operation = text(row.rate, Attribute::Operation);
        let mut cells: Vec<Cell> =
            vec![operation.unwrap_or_else(|| word("all-operations").to_owned()).into()];
        let dimension = |name: &Attribute| {
            Cell::from(units::joined(&text(row.rate, *name).unwrap_or_default()))
        };
        cells.extend(dimensions.iter().map(dimension));
        cells.extend(rows::estimate(row.rate, &prefixes));
        cells.push(row.bandwidth.map(|it| prefixes.value(it)).unwrap_or_default().into());
        cells.push(rows::percent(row.bandwidth.and_then(|it| it.percent_of_limit)));
        for (figure, times) in [(row.latency, &times), (row.from_due, &from_due)] {
            let [median, p99, _] = times.cells(figure);
            cells.extend([median, p99]);
        }
        cells.push(rows::measurer(context, row.rate));
        cells.push(row.notes(context));
        table.rows.push(cells);
    }
    table.without_empty_columns()
}

impl Row<'_> {
    /// Returns the notes of all results of the row, each once.
    fn notes(&self, context: &Context<'_>) -> Cell {
        let all = [Some(self.rate), self.bandwidth, self.latency, self.from_due];
        let marks = all.into_iter().flatten().flat_map(|it| context.notes.marks(it));
        let mut marks: Vec<usize> = marks.collect();
        marks.sort_unstable();
        marks.dedup();
        Cell::marks(marks)
    }
}
