//! Tidy CSV: one row per estimate, base units, RFC 4180 quoting, one column per parameter.

use std::collections::BTreeSet;

use assay_model::attribute::{Attribute, BoundRank, Value};
use assay_model::comparison::{Comparison, Pair};
use assay_model::history::History;
use assay_model::plain;
use assay_model::summary::{Estimate, Summary};

use crate::words;

/// Prefix of parameter columns, because a parameter may have the name of a column: LINPACK's `n`.
const PREFIX: &str = "parameters.";
const BEFORE: [&str; 4] = ["run", "host", "benchmark", "metric"];
const AFTER: [&str; 16] = [
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
];

/// Columns after the parameters of a pair.
const OF_PAIR: [&str; 18] = [
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
pub fn summary(summary: &Summary) -> String {
    let names: BTreeSet<Attribute> = summary
        .results
        .iter()
        .flat_map(|estimate| estimate.parameters.keys())
        .copied()
        .collect();
    let head = BEFORE.map(str::to_owned).into_iter();
    let head = head.chain(names.iter().map(|name| format!("{PREFIX}{}", name.name())));
    let head = head.chain(AFTER.map(str::to_owned));
    let rows = summary.results.iter().map(|estimate| row(&summary.run.id, estimate, &names));
    written(std::iter::once(head.collect()).chain(rows))
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
    let head = head.chain(names.iter().map(|name| format!("{PREFIX}{}", name.name())));
    let head = head.chain(OF_PAIR.map(str::to_owned));
    let rows = comparison.pairs.iter().map(|it| pair(comparison, it, &names));
    written(std::iter::once(head.collect()).chain(rows))
}

/// Renders the points of a history with a row of headings.
///
/// # Panics
/// Never: writing to memory cannot fail, and all rows have the same length.
#[must_use]
pub fn history(history: &History) -> String {
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
    ];
    let rows = history.points.iter().enumerate().map(|(index, point)| {
        let [low, high] = point.ci.map_or([None, None], |ci| ci.map(Some));
        let is_change = history.changes.iter().any(|change| change.point == index);
        vec![
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
        ]
    });
    written(std::iter::once(head.map(str::to_owned).into()).chain(rows))
}

/// Writes records; no field can be a formula in a spreadsheet program.
fn written(records: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        let fields = record.iter().map(|field| plain::cell(field).into_owned());
        writer.write_record(fields).expect("all rows have the same length");
    }
    let bytes = writer.into_inner().expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("all fields are UTF-8")
}

fn pair(comparison: &Comparison, pair: &Pair, names: &BTreeSet<Attribute>) -> Vec<String> {
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
        pair.runs_to_tell.map(|n| n.to_string()).unwrap_or_default(),
    ]);
    row
}

fn row(run: &str, estimate: &Estimate, names: &BTreeSet<Attribute>) -> Vec<String> {
    let text = |text: &str| text.to_owned();
    let mut row = vec![
        text(run),
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

fn parameter(value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Integer(integer) => integer.to_string(),
        Value::Number(value) => number(Some(*value)),
        Value::Text(text) => text.clone(),
        Value::Reason(reason) => words::engine_reason(reason),
        Value::Pairs(pairs) => pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(";"),
        Value::Ranks(ranks) => BoundRank::line(ranks),
    }
}
