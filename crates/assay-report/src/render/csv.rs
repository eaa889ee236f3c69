//! Tidy CSV: one row per estimate, base units, RFC 4180 quoting, one column per parameter.

use std::collections::BTreeSet;

use assay_model::attribute::{Attribute, AttributeValue, RankBinding};
use assay_model::comparison::{Comparison, MetricComparison};
use assay_model::history::History;
use assay_model::sanitize;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::trust::DistrustReason;

use crate::words;

/// Prefix of parameter columns, because a parameter may have the name of a column: LINPACK's `n`.
const PARAMETER_PREFIX: &str = "parameters.";
const LEADING_COLUMNS: [&str; 4] = ["run", "host", "benchmark", "metric"];
const TRAILING_COLUMNS: [&str; 17] = [
    "value",
    "unit",
    "ci_low",
    "ci_high",
    "ci_level",
    "n",
    "n_effective",
    "min",
    "max",
    "mean",
    "limit",
    "percent_of_limit",
    "better",
    "tool",
    "version",
    "warnings",
    "trust",
];

/// Columns after the parameters of a pair.
const PAIR_COLUMNS: [&str; 18] = [
    "a",
    "b",
    "value_a",
    "value_b",
    "runs_a",
    "runs_b",
    "unit",
    "ratio",
    "ratio_low",
    "ratio_high",
    "level",
    "margin",
    "p",
    "p_adjusted",
    "floor_low",
    "floor_high",
    "verdict",
    "runs_to_tell",
];

/// Renders the estimates of a summary with a row of headings; nothing else, not even a comment.
///
/// # Panics
/// Never: writing to memory cannot fail, and all rows have the same length.
#[must_use]
pub fn summary(summary: &RunSummary) -> String {
    let names: BTreeSet<Attribute> = summary
        .results
        .iter()
        .flat_map(|estimate| estimate.parameters.keys())
        .copied()
        .collect();
    let head = LEADING_COLUMNS.map(str::to_owned).into_iter();
    let head =
        head.chain(names.iter().map(|name| format!("{PARAMETER_PREFIX}{}", name.name())));
    let head = head.chain(TRAILING_COLUMNS.map(str::to_owned));
    let rows = summary.results.iter().map(|estimate| estimate_row(summary, estimate, &names));
    write_records(std::iter::once(head.collect()).chain(rows))
}

/// Renders the pairs of a comparison with a row of headings.
///
/// # Panics
/// Never: writing to memory cannot fail, and all rows have the same length.
#[must_use]
pub fn comparison(comparison: &Comparison) -> String {
    let names: BTreeSet<Attribute> =
        comparison.pairs.iter().flat_map(|pair| pair.a.parameters.keys()).copied().collect();
    let head = ["benchmark", "metric"].map(str::to_owned).into_iter();
    let head =
        head.chain(names.iter().map(|name| format!("{PARAMETER_PREFIX}{}", name.name())));
    let head = head.chain(PAIR_COLUMNS.map(str::to_owned));
    let rows = comparison.pairs.iter().map(|it| pair_row(comparison, it, &names));
    write_records(std::iter::once(head.collect()).chain(rows))
}

/// Renders the points of a history, and of those under other conditions, with a row of headings.
/// `series` is the number of the history, from 0.
///
/// # Panics
/// Never: writing to memory cannot fail, and all rows have the same length.
#[must_use]
pub fn history(history: &History) -> String {
    let series: Vec<&History> =
        std::iter::once(history).chain(&history.other_conditions).collect();
    let conditions: BTreeSet<Attribute> =
        series.iter().flat_map(|it| it.conditions.keys().copied()).collect();
    let head = [
        "run",
        "started",
        "label",
        "host",
        "benchmark",
        "metric",
        "value",
        "unit",
        "ci_low",
        "ci_high",
        "is_change",
        "series",
    ];
    let names = conditions.iter().map(|name| format!("{PARAMETER_PREFIX}{}", name.name()));
    let head: Vec<String> = head.into_iter().map(str::to_owned).chain(names).collect();
    let rows = series.iter().enumerate().flat_map(|(number, it)| {
        let conditions = &conditions;
        (0..it.points.len()).map(move |index| history_row(it, index, number, conditions))
    });
    write_records(std::iter::once(head).chain(rows))
}

fn history_row(
    history: &History,
    index: usize,
    series: usize,
    conditions: &BTreeSet<Attribute>,
) -> Vec<String> {
    let point = &history.points[index];
    let [low, high] = point.ci.map_or([None, None], |ci| ci.map(Some));
    let is_change = history.changes.iter().any(|change| change.point == index);
    let mut row = vec![
        point.run.clone(),
        point.started.clone(),
        point.label.clone().unwrap_or_default(),
        history.host.clone(),
        history.benchmark.clone(),
        history.metric.clone(),
        number(Some(point.median)),
        history.unit.symbol().to_owned(),
        number(low),
        number(high),
        is_change.to_string(),
        series.to_string(),
    ];
    let values = conditions.iter().map(|name| history.conditions.get(name));
    row.extend(values.map(|value| value.map(parameter).unwrap_or_default()));
    row
}

/// Writes records; no field can be a formula in a spreadsheet program.
fn write_records(records: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        let fields =
            record.iter().map(|field| sanitize::escape_spreadsheet_cell(field).into_owned());
        writer.write_record(fields).expect("all rows have the same length");
    }
    let bytes = writer.into_inner().expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("all fields are UTF-8")
}

fn pair_row(
    comparison: &Comparison,
    pair: &MetricComparison,
    names: &BTreeSet<Attribute>,
) -> Vec<String> {
    let (a, b) = (&pair.a, &pair.b);
    let mut row = vec![a.benchmark.clone(), a.metric.clone()];
    row.extend(
        names.iter().map(|name| a.parameters.get(name).map(parameter).unwrap_or_default()),
    );
    let ends = |interval: Option<[f64; 2]>| interval.map_or([None, None], |it| it.map(Some));
    let ([low, high], [floor_low, floor_high]) = (ends(pair.ratio_ci), ends(pair.floor));
    row.extend([
        comparison.a.name.clone(),
        comparison.b.name.clone(),
        number(Some(a.median)),
        number(Some(b.median)),
        a.n.to_string(),
        b.n.to_string(),
        a.unit.symbol().to_owned(),
        number(pair.ratio),
        number(low),
        number(high),
        number(Some(comparison.level)),
        number(Some(comparison.margin)),
        number(pair.p),
        number(pair.p_adjusted),
        number(floor_low),
        number(floor_high),
        words::verdict(pair.verdict).to_owned(),
        pair.runs_to_decide.map(|n| n.to_string()).unwrap_or_default(),
    ]);
    row
}

fn estimate_row(
    summary: &RunSummary,
    estimate: &MetricEstimate,
    names: &BTreeSet<Attribute>,
) -> Vec<String> {
    let text = |text: &str| text.to_owned();
    let mut row = vec![
        text(&summary.run.id),
        text(&estimate.host),
        text(&estimate.benchmark),
        text(&estimate.metric),
    ];
    row.extend(
        names
            .iter()
            .map(|name| estimate.parameters.get(name).map(parameter).unwrap_or_default()),
    );
    let [low, high] = estimate.ci.map_or([None, None], |ci| ci.map(Some));
    let ids: Vec<&str> = estimate.warnings.iter().map(|warning| warning.id()).collect();
    row.extend([
        number(Some(estimate.median)),
        text(estimate.unit.symbol()),
        number(low),
        number(high),
        number(Some(estimate.ci_level)),
        estimate.n.to_string(),
        number(Some(estimate.n_effective)),
        number(Some(estimate.min)),
        number(Some(estimate.max)),
        number(Some(estimate.mean)),
        number(estimate.limit.as_ref().map(|limit| limit.value)),
        number(estimate.percent_of_limit),
        text(match estimate.better {
            assay_model::benchmark::Better::Higher => "higher",
            assay_model::benchmark::Better::Lower => "lower",
        }),
        estimate.tool.name.clone(),
        estimate.tool.version.clone().unwrap_or_default(),
        ids.join(";"),
        text(DistrustReason::level_of(DistrustReason::from_run(estimate, summary)).name()),
    ]);
    row
}

/// Formats a number in the shortest form that reads back as the same number; empty without a value.
fn number(value: Option<f64>) -> String {
    match value {
        Some(value) if value.is_finite() => serde_json::Number::from_f64(value)
            .map(|number| number.to_string())
            .unwrap_or_default(),
        _ => String::new(),
    }
}

fn parameter(value: &AttributeValue) -> String {
    match value {
        AttributeValue::Flag(flag) => flag.to_string(),
        AttributeValue::Integer(integer) => integer.to_string(),
        AttributeValue::Number(value) => number(Some(*value)),
        AttributeValue::Text(text) => text.clone(),
        AttributeValue::Reason(reason) => words::engine_reason(reason),
        AttributeValue::Pairs(pairs) => pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(";"),
        AttributeValue::Ranks(ranks) => RankBinding::format_line(ranks),
    }
}
