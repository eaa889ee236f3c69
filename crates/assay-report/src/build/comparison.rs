//! Comparison of two conditions: each metric under both, with ratio and verdict.

use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::comparison::{
    Comparison, ComparisonDesign, ComparisonVerdict, ConditionLetter, MetricComparison,
    UnmatchedResult,
};
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::run::estimate_parts::{figure_name, number, text};
use super::run::{network_labels, words};
use crate::document::{Block, Document, FactTable, ReportTable, TableCell, Tone, left, right};
use crate::locale::{comma, join_details, join_sentences, with_detail, word};
use crate::{precision, units, words as catalogue};

mod forest;
pub(super) mod identity;
mod items;
pub(super) mod levels;
pub(super) mod programs;

/// Maximum number of lines of a list; the JSON output contains all.
const MAX_LINES: usize = 10;
/// Maximum number of runs that are listed individually.
const MAX_NAMED_RUNS: usize = 3;

/// Builds the comparison of two conditions, metric by metric.
pub fn comparison(comparison: &Comparison) -> Document {
    let (a, b) = (&comparison.a, &comparison.b);
    let mut document = Document::new(message!("one-and-two", one = &a.name, two = &b.name));
    let mut facts: Vec<_> =
        [a, b].map(|side| (side.name.clone(), runs_label(&side.runs))).into();
    if !comparison.control.is_empty() {
        facts.push((word("compare-control").to_owned(), runs_label(&comparison.control)));
    }
    document.blocks.push(Block::Facts(FactTable { title: None, tone: Tone::Plain, facts }));
    if comparison.pairs.is_empty() {
        document.paragraph(Tone::Bad, word("compare-nothing"));
        nearest_unmatched(comparison)
            .into_iter()
            .for_each(|it| document.paragraph(Tone::Plain, it));
    } else {
        let needed = runs_needed(comparison);
        document.paragraph(Tone::Plain, conclusion(comparison));
        document.paragraph(Tone::Bad, suspect_runs(comparison));
        document.blocks.extend(forest::forest(comparison).map(Block::Forest));
        items::add(&mut document, comparison);
        document.blocks.push(Block::Table(table(comparison)));
        // Without verdicts, nothing needs explaining.
        if needed.is_none() {
            document.paragraph(Tone::Quiet, explanation(comparison));
        }
    }
    add_list(
        &mut document,
        word("compare-differences"),
        comparison.differences.iter().map(catalogue::difference),
    );
    add_list(
        &mut document,
        word("compare-unmatched"),
        comparison.unmatched.iter().map(|it| unmatched_line(comparison, it)),
    );
    document
}

/// Verdict on one pair, as tables show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VerdictTexts {
    /// Text and meaning of the verdict; an empty text if single runs give none.
    pub verdict: TableCell,
    /// Ratio of the second condition to the first.
    pub ratio: String,
    /// Interval of the ratio; empty without one.
    pub range: String,
}

/// Returns the conclusion of a comparison, and the verdict on each of its pairs in their order.
pub(crate) fn verdict_texts(comparison: &Comparison) -> (String, Vec<VerdictTexts>) {
    let decides = runs_needed(comparison).is_none();
    let texts = |pair: &MetricComparison| {
        let ratio = pair.ratio.map(|it| format_ratio(pair, it)).unwrap_or_default();
        let range = pair.ratio_ci.map(precision::ratio_range).unwrap_or_default();
        let verdict = if decides { verdict_cell(pair) } else { TableCell::default() };
        VerdictTexts { verdict, ratio, range }
    };
    (conclusion(comparison), comparison.pairs.iter().map(texts).collect())
}

/// Returns the number of verdicts of each kind, or the number of runs that verdicts would need.
fn conclusion(comparison: &Comparison) -> String {
    match runs_needed(comparison) {
        Some(n) => message!("compare-one-each", n = n.to_string()),
        None => verdict_counts(comparison),
    }
}

/// Returns the number of runs of each condition that would decide, if a single run of each cannot.
fn runs_needed(comparison: &Comparison) -> Option<u64> {
    let is_single = comparison.a.runs.len() == 1 && comparison.b.runs.len() == 1;
    comparison.pairs.iter().filter_map(|pair| pair.runs_to_decide).max().filter(|_| is_single)
}

/// Returns how many runs are suspect, and why the first one is; empty without one.
fn suspect_runs(comparison: &Comparison) -> String {
    let Comparison { a, b, control, suspect, .. } = comparison;
    let Some(first) = suspect.first() else { return String::new() };
    let all = a.runs.len() + b.runs.len() + control.len();
    let why = catalogue::doubt(&first.doubt).text;
    message!("compare-suspect", n = suspect.len().to_string(), all = all.to_string(), why = why)
}

/// Lists a few runs by name; of many, the first and the last.
fn runs_label(ids: &[String]) -> String {
    match ids {
        [one] => message!("compare-one-run", run = one),
        [first, .., last] if ids.len() > MAX_NAMED_RUNS => {
            let which = message!("from-to", first = first, last = last);
            message!("compare-runs", n = ids.len().to_string(), which = which)
        }
        _ => message!("compare-runs", n = ids.len().to_string(), which = ids.join(comma())),
    }
}

fn verdict_counts(comparison: &Comparison) -> String {
    let all = [
        ComparisonVerdict::Better,
        ComparisonVerdict::Worse,
        ComparisonVerdict::Equivalent,
        ComparisonVerdict::CannotTell,
    ]
    .map(|it| match comparison.count_verdicts(it) {
        0 => None,
        count => Some(format!("{count} {}", catalogue::verdict(it))),
    });
    let reported: Vec<String> = all.into_iter().flatten().collect();
    let (a, b) = (&comparison.a.name, &comparison.b.name);
    message!("compare-result", a = a, b = b, reported = reported.join(comma()))
}

fn explanation(comparison: &Comparison) -> String {
    let margin = precision::format_percent_setting(comparison.margin * 100.0);
    let design = match comparison.design {
        ComparisonDesign::Turns => word("compare-with-neighbour"),
        ComparisonDesign::Looks => word("compare-with-looks"),
        ComparisonDesign::Independent => word("compare-with-all"),
    };
    let floor = word("compare-floor");
    let floor = if comparison.control.is_empty() { None } else { Some(floor.to_owned()) };
    let rule = message!(
        "compare-explanation",
        margin = margin,
        tested = comparison.tested.to_string(),
        wrong = precision::format_percent_setting(comparison.false_share * 100.0),
    );
    let parts = [Some(design.to_owned()), Some(rule), floor];
    join_sentences(&parts.into_iter().flatten().collect::<Vec<_>>())
}

fn table(comparison: &Comparison) -> ReportTable {
    let ratio = format!("{} ÷ {}", comparison.b.name, comparison.a.name);
    let interval = words::interval(Some(comparison.level));
    let has_tools = comparison.pairs.windows(2).any(|it| measurer(&it[0]) != measurer(&it[1]))
        || comparison.pairs.iter().any(|it| it.a.tool.name != it.b.tool.name);
    let decides = runs_needed(comparison).is_none();
    let mut pairs: Vec<&MetricComparison> = comparison.pairs.iter().collect();
    pairs.sort_by_cached_key(|pair| sort_key(&pair.a));
    let mut table = ReportTable::with_caption(word(table_caption(comparison)));
    for pair in pairs {
        let by = if has_tools { measurer(pair) } else { String::new() };
        let [over_a, over_interval] = ratio_cells(pair);
        let floor = pair.floor.map(precision::ratio_range).unwrap_or_default();
        let verdict = if decides { verdict_cell(pair) } else { TableCell::default() };
        table.push([
            left(word("column-what"), metric_label(&pair.a)),
            left(word("column-case"), case_label(pair)),
            right(&comparison.a.name, precision::value(&pair.a)),
            right(&comparison.b.name, precision::value(&pair.b)),
            right(word("column-of-limit"), limit_shares(pair)),
            right(&ratio, over_a),
            right(&interval, over_interval),
            right(word("column-floor"), floor),
            left(word("column-verdict"), verdict),
            left(word("column-by"), by),
        ]);
    }
    table.without_empty_columns().with_pinned(word("column-verdict"))
}

/// Returns the name of the caption, which explains the ratio: that of the medians for single runs,
/// else a typical ratio between runs.
fn table_caption(comparison: &Comparison) -> &'static str {
    let Comparison { a, b, design, .. } = comparison;
    match design {
        _ if a.runs.len() == 1 && b.runs.len() == 1 => "table-measurers",
        ComparisonDesign::Turns | ComparisonDesign::Looks => "table-turns",
        ComparisonDesign::Independent => "table-all-runs",
    }
}

/// Returns the tool that measured a pair, or both where they differ.
fn measurer(pair: &MetricComparison) -> String {
    let [a, b] = [&pair.a.tool.name, &pair.b.tool.name];
    if a == b { a.clone() } else { format!("{a} / {b}") }
}

/// Returns a sort key by benchmark and metric, so that related figures are adjacent.
pub(super) fn sort_key(estimate: &MetricEstimate) -> (usize, usize) {
    let benchmark = Benchmark::from_id(&estimate.benchmark);
    let place = Benchmark::ALL.iter().position(|it| Some(*it) == benchmark);
    let metric = benchmark.and_then(|it| {
        it.definition().metrics.iter().position(|metric| metric.name == estimate.metric)
    });
    (place.unwrap_or(usize::MAX), metric.unwrap_or(usize::MAX))
}

pub(super) fn metric_label(estimate: &MetricEstimate) -> String {
    if network_labels::is_network(estimate) {
        network_labels::metric_label(estimate)
    } else {
        figure_name(estimate)
    }
}

/// Returns the name of a case, without its metric and host.
pub(crate) fn case_label_of(estimate: &MetricEstimate) -> String {
    match network_labels::is_network(estimate) {
        true => network_labels::case_and_end(estimate),
        false => identity::result_label(&estimate.benchmark, &estimate.parameters),
    }
}

fn case_label(pair: &MetricComparison) -> String {
    let label = result_case(&pair.a);
    if network_labels::is_network(&pair.a) {
        return label;
    }
    let threads = |it| Some(words::threads(number(it, Attribute::Threads)? as usize));
    // Cases with one thread per CPU are the same case on another machine.
    match (threads(&pair.a), threads(&pair.b)) {
        (Some(a), Some(b)) if a != b => label.replace(&a, &format!("{a} / {b}")),
        _ => label,
    }
}

/// Returns the attributes that distinguish a result from others of its metric.
pub(super) fn result_case(estimate: &MetricEstimate) -> String {
    if network_labels::is_network(estimate) {
        return network_labels::case_and_end(estimate);
    }
    let identity = identity::result_label(&estimate.benchmark, &estimate.parameters);
    // Only runs with several hosts have it as a parameter.
    let host = text(estimate, Attribute::Host);
    join_details(&host.into_iter().chain([identity]).collect::<Vec<_>>())
}

/// Returns the names of a result in tables that compare runs: its metric, and its case.
pub fn result_names(estimate: &MetricEstimate) -> [String; 2] {
    [metric_label(estimate), result_case(estimate)]
}

/// Sorts results as a comparison lists them: related figures are adjacent.
pub(crate) fn sort_related<T>(results: &mut [T], estimate: impl Fn(&T) -> &MetricEstimate) {
    results.sort_by_cached_key(|it| sort_key(estimate(it)));
}

/// Returns the percentage of the limit under each condition, where both are known.
fn limit_shares(pair: &MetricComparison) -> TableCell {
    let shown =
        |it: &MetricEstimate| Some(units::quantity(it.percent_of_limit?, Unit::Ratio, 2));
    let both = shown(&pair.a).zip(shown(&pair.b));
    let both = both
        .map(|(a, b)| units::with_no_break_spaces(&units::in_percent(&format!("{a} / {b}"))));
    both.unwrap_or_default().into()
}

fn ratio_cells(pair: &MetricComparison) -> [TableCell; 2] {
    let interval = match pair.ratio_ci {
        Some(interval) => precision::ratio_range(interval),
        None if pair.ratio.is_some() => word("no-interval").to_owned(),
        None => String::new(),
    };
    [pair.ratio.map(|it| format_ratio(pair, it)).unwrap_or_default().into(), interval.into()]
}

fn format_ratio(pair: &MetricComparison, ratio: f64) -> String {
    precision::ratio(ratio, pair.ratio_ci, [&pair.a, &pair.b].map(precision::estimate_digits))
}

fn verdict_cell(pair: &MetricComparison) -> TableCell {
    let verdict = catalogue::verdict(pair.verdict);
    let text = match pair.runs_to_decide {
        Some(n) => {
            let runs = message!("compare-needs", n = n.to_string());
            format!("{verdict} ({})", units::with_no_break_spaces(&runs))
        }
        None => verdict.to_owned(),
    };
    TableCell::with_tone(text, tone(pair.verdict))
}

const fn tone(verdict: ComparisonVerdict) -> Tone {
    match verdict {
        ComparisonVerdict::Better | ComparisonVerdict::Equivalent => Tone::Plain,
        ComparisonVerdict::Worse => Tone::Bad,
        ComparisonVerdict::CannotTell => Tone::Doubt,
    }
}

fn add_list(document: &mut Document, heading: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        document.heading(heading);
        lines.by_ref().take(MAX_LINES).for_each(|line| document.paragraph(Tone::Doubt, line));
        let more = lines.count();
        if more > 0 {
            document.paragraph(Tone::Doubt, message!("and-more", n = more) + word("full-stop"));
        }
    }
}

/// Names the two most similar cases that were measured under one condition only, and their
/// differences.
fn nearest_unmatched(comparison: &Comparison) -> Option<String> {
    let only = |side| comparison.unmatched.iter().filter(move |it| it.only == side);
    let pairs =
        only(ConditionLetter::A).flat_map(|a| only(ConditionLetter::B).map(move |b| (a, b)));
    let alike = pairs.filter(|(a, b)| (&a.benchmark, &a.metric) == (&b.benchmark, &b.metric));
    let difference = |one: &UnmatchedResult, other: &UnmatchedResult| -> Attributes {
        let differs = |(name, value): &(&Attribute, &AttributeValue)| {
            other.identity.get(name) != Some(value)
        };
        one.identity
            .iter()
            .filter(differs)
            .map(|(name, value)| (*name, value.clone()))
            .collect()
    };
    let found = alike.map(|(a, b)| (a, difference(a, b), difference(b, a)));
    let (it, a, b) = found.min_by_key(|(_, a, b)| a.len().max(b.len()))?;
    let label = |conditions: &Attributes| match identity::label(conditions) {
        label if label.is_empty() => word("compare-no-condition").to_owned(),
        label => label,
    };
    let [one, other] = [&a, &b].map(label);
    Some(message!(
        "compare-nearest",
        what = identity::result_name((&it.benchmark, &it.metric), &it.identity),
        a = one,
        first = &comparison.a.name,
        b = other,
        second = &comparison.b.name,
    ))
}

/// Names a case that was measured under one condition only, and the condition.
fn unmatched_line(comparison: &Comparison, it: &UnmatchedResult) -> String {
    let side = match it.only {
        ConditionLetter::A => &comparison.a,
        ConditionLetter::B => &comparison.b,
    };
    let case = match identity::result_label(&it.benchmark, &it.identity) {
        words if words.is_empty() => it.case.clone(),
        words => words,
    };
    let what =
        with_detail(&identity::result_name((&it.benchmark, &it.metric), &it.identity), &case);
    message!("compare-alone", what = what, side = &side.name)
}
