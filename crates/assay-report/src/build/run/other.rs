//! Results of benchmarks this version knows no section for: a newer assay may have stored them,
//! and they must not vanish.

use assay_model::benchmark::Benchmark;
use assay_model::summary::Estimate;

use super::context::Context;
use super::{rows, words};
use crate::document::{Align, Block, Cell, Document, Table};
use crate::parameter;

pub(super) fn add(document: &mut Document, context: &Context<'_>) {
    let unknown = |estimate: &&Estimate| Benchmark::from_id(&estimate.benchmark).is_none();
    let estimates: Vec<&Estimate> = context.summary.results.iter().filter(unknown).collect();
    if estimates.is_empty() {
        return;
    }
    let interval = rows::interval_title(&estimates);
    let columns = [
        ("what", Align::Left),
        ("parameters", Align::Left),
        ("value", Align::Right),
        (interval.as_str(), Align::Right),
        ("n", Align::Right),
        ("by", Align::Left),
        ("note", Align::Left),
    ];
    let mut table = Table::new(words::OTHER_TABLE, &columns);
    for estimate in estimates {
        let pair =
            |(name, value): (&String, _)| format!("{name} {}", parameter::display(name, value));
        let parameters: Vec<String> = estimate.parameters.iter().map(pair).collect();
        let mut row: Vec<Cell> = vec![
            format!("{} {}", estimate.benchmark, estimate.metric).into(),
            parameters.join(", ").into(),
        ];
        row.extend(rows::estimate(estimate));
        row.extend([
            rows::samples(estimate),
            rows::measurer(context, estimate),
            rows::notes(context, estimate),
        ]);
        table.rows.push(row);
    }
    document.heading(words::OTHER);
    document.blocks.push(Block::Table(table.without_empty_columns()));
}
