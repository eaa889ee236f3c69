//! Network comparison: one row per item, with goodput and CPU load of both ends, or with round
//! trips.
//!
//! A summary of the list that follows; it contains no other figures.

use assay_model::comparison::{Comparison, Pair, Verdict};
use assay_model::summary::Estimate;

use super::{case, order, ratio_cells, runs_needed, tone, what};
use crate::build::run::{network, words};
use crate::document::{Align, Block, Cell, Document, Table, Tone};
use crate::locale::{detailed, word};
use crate::{precision, words as catalogue};

/// Heading of the CPU column after each condition; a note below the table explains it.
const CPU: &str = "CPU";
const TIMES: [&str; 2] = ["round_trip", "half_round_trip"];

/// Adds the tables; does nothing if no CPU time was reported, since the list then contains the
/// same.
pub(super) fn add(document: &mut Document, comparison: &Comparison) {
    let reports = |pair: &Pair| network::is_about(&pair.a) && pair.a.metric == "cpu_load";
    if !comparison.pairs.iter().any(reports) {
        return;
    }
    let arrived = of_metrics(comparison, &["goodput"]);
    if !arrived.is_empty() {
        document.blocks.push(Block::Table(table(
            word("items-goodput"),
            comparison,
            &arrived,
            true,
        )));
        document.paragraph(Tone::Quiet, word("items-cpu-is"));
    }
    let took = of_metrics(comparison, &TIMES);
    if !took.is_empty() {
        document.blocks.push(Block::Table(table(
            word("table-round-trips"),
            comparison,
            &took,
            false,
        )));
    }
}

fn of_metrics<'c>(comparison: &'c Comparison, metrics: &[&str]) -> Vec<&'c Pair> {
    let is_one =
        |pair: &&Pair| network::is_about(&pair.a) && metrics.contains(&pair.a.metric.as_str());
    let mut found: Vec<&Pair> = comparison.pairs.iter().filter(is_one).collect();
    found.sort_by_key(|pair| order(&pair.a));
    found
}

fn table(title: &str, comparison: &Comparison, pairs: &[&Pair], with_cpu: bool) -> Table {
    let (a, b) = (&comparison.a.name, &comparison.b.name);
    let ratio = format!("{b} ÷ {a}");
    let interval = words::interval(Some(comparison.level));
    let columns = [
        (word("column-item"), Align::Left),
        (a.as_str(), Align::Right),
        (CPU, Align::Left),
        (b.as_str(), Align::Right),
        (CPU, Align::Left),
        (ratio.as_str(), Align::Right),
        (interval.as_str(), Align::Right),
        (word("column-verdict"), Align::Left),
        (word("column-by"), Align::Left),
    ];
    let has_tools =
        comparison.pairs.windows(2).any(|it| it[0].a.tool.name != it[1].a.tool.name);
    let decides = runs_needed(comparison).is_none();
    let mut table = Table::new(title, &columns);
    for pair in pairs {
        let cpu = |side: fn(&Pair) -> &Estimate| match with_cpu {
            true => {
                network::load_of_both_ends(side(pair), comparison.pairs.iter().map(side)).into()
            }
            false => Cell::default(),
        };
        let by = if has_tools { pair.a.tool.name.clone() } else { String::new() };
        let mut row: Vec<Cell> = vec![
            item(pair).into(),
            precision::value(&pair.a).into(),
            cpu(|pair| &pair.a),
            precision::value(&pair.b).into(),
            cpu(|pair| &pair.b),
        ];
        row.extend(ratio_cells(pair));
        let verdict = if decides { verdict(pair.verdict) } else { Cell::default() };
        row.extend([verdict, by.into()]);
        table.rows.push(row);
    }
    table.without_empty_columns()
}

fn item(pair: &Pair) -> String {
    match (pair.a.metric.as_str(), network::pairs::name(&pair.a)) {
        // Goodput is the subject of the table.
        ("goodput", None) => network::item(&pair.a),
        ("goodput", Some(hosts)) => detailed(&hosts, &network::item(&pair.a)),
        _ => detailed(&what(&pair.a), &case(pair)),
    }
}

/// Returns the verdict only; the list has the number of samples that it would need.
fn verdict(verdict: Verdict) -> Cell {
    Cell {
        text: catalogue::verdict(verdict).to_owned(),
        tone: tone(verdict),
        ..Cell::default()
    }
}
