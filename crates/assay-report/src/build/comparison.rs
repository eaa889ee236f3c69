//! Two conditions side by side: each metric under both, with ratio and verdict.

use assay_model::benchmark::Benchmark;
use assay_model::comparison::{Comparison, Only, Pair, Side, Unmatched, Verdict};
use assay_model::summary::Estimate;

use super::run::context::metric_name;
use super::run::{network, words};
use crate::document::{Align, Block, Cell, Document, Facts, Table, Tone};
use crate::{precision, units, words as catalogue};

mod identity;
mod items;

const TABLE: &str = "Medians and their ratio";
const NOTHING: &str = "Nothing was measured under both conditions.";
const DIFFERENCES: &str = "Other differences";
const UNMATCHED: &str = "Measured under only one condition";
/// Significant digits of a ratio: its interval is seldom narrower than a thousandth.
const DIGITS: usize = 4;

/// The comparison of two conditions, metric by metric.
#[must_use]
pub fn comparison(comparison: &Comparison) -> Document {
    let (a, b) = (&comparison.a, &comparison.b);
    let mut document = Document::new(format!("{} and {}", a.name, b.name));
    let facts = [a, b].map(|side| (side.name.clone(), runs(side)));
    document.blocks.push(Block::Facts(Facts {
        title: None,
        tone: Tone::Plain,
        facts: facts.into(),
    }));
    if comparison.pairs.is_empty() {
        document.paragraph(Tone::Bad, NOTHING);
    } else {
        document.paragraph(Tone::Plain, counts(comparison));
        items::add(&mut document, comparison);
        document.blocks.push(Block::Table(table(comparison)));
        document.paragraph(Tone::Quiet, explanation(comparison));
    }
    list(&mut document, DIFFERENCES, comparison.differences.iter().map(catalogue::difference));
    list(&mut document, UNMATCHED, comparison.unmatched.iter().map(|it| alone(comparison, it)));
    document
}

fn runs(side: &Side) -> String {
    let noun = if side.runs.len() == 1 { "run" } else { "runs" };
    format!("{noun} {}", side.runs.join(", "))
}

fn counts(comparison: &Comparison) -> String {
    let all =
        [Verdict::Better, Verdict::Worse, Verdict::Equivalent, Verdict::CannotTell].map(|it| {
            match comparison.count(it) {
                0 => None,
                count => Some(format!("{count} {}", catalogue::verdict(it))),
            }
        });
    let told: Vec<String> = all.into_iter().flatten().collect();
    format!(
        "Compared with {}, {} is: {}.",
        comparison.a.name,
        comparison.b.name,
        told.join(", ")
    )
}

fn explanation(comparison: &Comparison) -> String {
    format!(
        "Better, worse: the whole confidence interval of the ratio is further than {} from 1. \
         Equivalent: all of it is within. Cannot tell: it is too wide; the number in brackets \
         is about how many samples per condition would decide.",
        units::percent(comparison.margin * 100.0)
    )
}

fn table(comparison: &Comparison) -> Table {
    let ratio = format!("{} ÷ {}", comparison.b.name, comparison.a.name);
    let interval = words::interval(Some(comparison.level));
    let columns = [
        ("what", Align::Left),
        ("case", Align::Left),
        (comparison.a.name.as_str(), Align::Right),
        (comparison.b.name.as_str(), Align::Right),
        (ratio.as_str(), Align::Right),
        (interval.as_str(), Align::Right),
        ("verdict", Align::Left),
        ("by", Align::Left),
    ];
    let several = comparison.pairs.windows(2).any(|it| it[0].a.tool.name != it[1].a.tool.name);
    let mut pairs: Vec<&Pair> = comparison.pairs.iter().collect();
    pairs.sort_by_key(|pair| order(&pair.a));
    let mut table = Table::new(TABLE, &columns);
    for pair in pairs {
        let by = if several { pair.a.tool.name.clone() } else { String::new() };
        let mut row: Vec<Cell> = vec![what(&pair.a).into(), case(&pair.a).into()];
        row.extend([precision::value(&pair.a).into(), precision::value(&pair.b).into()]);
        row.extend(ratio_cells(pair));
        row.extend([verdict(pair), by.into()]);
        table.rows.push(row);
    }
    table.without_empty_columns()
}

/// Benchmark by benchmark and metric by metric, so that the figures of one kind stand together.
fn order(estimate: &Estimate) -> (usize, usize) {
    let benchmark = Benchmark::from_id(&estimate.benchmark);
    let place = Benchmark::ALL.iter().position(|it| Some(*it) == benchmark);
    let metric = benchmark.and_then(|it| {
        it.definition().metrics.iter().position(|metric| metric.name == estimate.metric)
    });
    (place.unwrap_or(usize::MAX), metric.unwrap_or(usize::MAX))
}

fn what(estimate: &Estimate) -> String {
    if network::is_about(estimate) { network::what(estimate) } else { metric_name(estimate) }
}

fn case(estimate: &Estimate) -> String {
    if network::is_about(estimate) {
        return network::case_and_end(estimate);
    }
    identity::words(&estimate.parameters)
}

fn ratio_cells(pair: &Pair) -> [Cell; 2] {
    let shown = |value: f64| units::quantity(value, assay_model::quantity::Unit::Ratio, DIGITS);
    let ratio = pair.ratio.map(shown).unwrap_or_default();
    let interval = match pair.ratio_ci {
        Some([low, high]) => format!("{}–{}", shown(low), shown(high)),
        None if pair.ratio.is_some() => words::NO_INTERVAL.to_owned(),
        None => String::new(),
    };
    [ratio.into(), interval.into()]
}

fn verdict(pair: &Pair) -> Cell {
    let text = match pair.n_to_tell {
        Some(n) => format!("{} (n\u{a0}≈\u{a0}{n})", catalogue::verdict(pair.verdict)),
        None => catalogue::verdict(pair.verdict).to_owned(),
    };
    Cell { text, tone: tone(pair.verdict), ..Cell::default() }
}

const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better | Verdict::Equivalent => Tone::Plain,
        Verdict::Worse => Tone::Bad,
        Verdict::CannotTell => Tone::Doubt,
    }
}

fn list(document: &mut Document, heading: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        document.heading(heading);
        lines.for_each(|line| document.paragraph(Tone::Doubt, line));
    }
}

/// What was measured under only one condition, and under which.
fn alone(comparison: &Comparison, it: &Unmatched) -> String {
    let side = match it.only {
        Only::A => &comparison.a,
        Only::B => &comparison.b,
    };
    let case = match identity::words(&it.identity) {
        words if words.is_empty() => it.case.clone(),
        words => words,
    };
    format!("{} {}, {case}: {} alone", it.benchmark, it.metric, side.name)
}
