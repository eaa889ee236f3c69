//! Tidy CSV: one row per estimate, base units, RFC 4180 quoting, one column per parameter.

use std::collections::BTreeSet;

use assay_model::attribute::{Attribute, AttributeValue, identity_attributes};
use assay_model::comparison::{Comparison, MetricComparison};
use assay_model::history::History;
use assay_model::level_comparison::{LevelComparison, LevelEstimate};
use assay_model::run_table::{RunTable, RunTableRow};
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

/// Columns after the levels of a combination.
const LEVEL_COLUMNS: [&str; 12] = [
    "value",
    "unit",
    "ci_low",
    "ci_high",
    "n",
    "ratio",
    "ratio_low",
    "ratio_high",
    "efficiency",
    "efficiency_low",
    "efficiency_high",
    "letters",
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

/// Renders the levels of a comparison: a row for each metric and combination.
///
/// # Panics
/// Never: writing to memory cannot fail, and all rows have the same length.
#[must_use]
pub fn level_comparison(comparison: &LevelComparison) -> String {
    let head = ["benchmark", "case", "metric"].map(str::to_owned).into_iter();
    let head = head.chain(comparison.factors.iter().map(|it| format!("factor.{it}")));
    let head = head.chain(LEVEL_COLUMNS.map(str::to_owned)).collect();
    let levels = comparison.metrics.iter().flat_map(|it| &it.levels);
    let rows = levels.map(|it| level_row(comparison, it));
    write_records(std::iter::once(head).chain(rows))
}

fn level_row(comparison: &LevelComparison, level: &LevelEstimate) -> Vec<String> {
    let it = &level.estimate;
    let mut row = vec![it.benchmark.clone(), it.case.clone(), it.metric.clone()];
    let condition = comparison.conditions.get(level.condition);
    let own = |index: usize| condition.and_then(|it| it.levels.get(index));
    let levels = (0..comparison.factors.len()).map(own);
    row.extend(levels.map(|it| it.map(|it| it.level.clone()).unwrap_or_default()));
    let ends = |interval: Option<[f64; 2]>| interval.map_or([None, None], |it| it.map(Some));
    let ([low, high], [ratio_low, ratio_high]) = (ends(it.ci), ends(level.ratio_ci));
    let [share_low, share_high] = ends(level.efficiency.and_then(|it| it.ci));
    row.extend([
        format_number(Some(it.median)),
        it.unit.symbol().to_owned(),
        format_number(low),
        format_number(high),
        it.n.to_string(),
        format_number(level.ratio),
        format_number(ratio_low),
        format_number(ratio_high),
        format_number(level.efficiency.map(|it| it.share)),
        format_number(share_low),
        format_number(share_high),
        level.letters.clone(),
    ]);
    row
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
        format_number(Some(point.median)),
        history.unit.symbol().to_owned(),
        format_number(low),
        format_number(high),
        is_change.to_string(),
        series.to_string(),
    ];
    let values = conditions.iter().map(|name| history.conditions.get(name));
    row.extend(values.map(|value| value.map(attribute_text).unwrap_or_default()));
    row
}

/// Renders a table of runs: a row for each result, a column for each run.
///
/// # Panics
/// Never: writing to memory cannot fail, and all rows have the same length.
#[must_use]
pub fn run_table(table: &RunTable) -> String {
    let firsts = || table.rows.iter().filter_map(RunTableRow::first_estimate);
    let names: BTreeSet<Attribute> =
        firsts().flat_map(|it| identity_attributes(&it.parameters).into_keys()).collect();
    let head = ["benchmark", "case", "metric", "unit", "host"].map(str::to_owned).into_iter();
    let head =
        head.chain(names.iter().map(|name| format!("{PARAMETER_PREFIX}{}", name.name())));
    let head = head.chain(table.runs.iter().map(|run| run.header.id.clone()));
    let rows = firsts().zip(&table.rows).map(|(first, row)| {
        let texts = [&first.benchmark, &first.case, &first.metric].map(Clone::clone);
        let mut cells: Vec<String> = texts.into();
        cells.extend([first.unit.symbol().to_owned(), first.host.clone()]);
        let value = |name| first.parameters.get(name).map(attribute_text).unwrap_or_default();
        cells.extend(names.iter().map(value));
        let median =
            |it: &Option<MetricEstimate>| format_number(it.as_ref().map(|it| it.median));
        cells.extend(row.estimates.iter().map(median));
        cells
    });
    write_records(std::iter::once(head.collect()).chain(rows))
}

/// Writes records; no field can be a formula in a spreadsheet program.
pub(crate) fn write_records(records: impl Iterator<Item = Vec<String>>) -> String {
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
        names.iter().map(|name| a.parameters.get(name).map(attribute_text).unwrap_or_default()),
    );
    let ends = |interval: Option<[f64; 2]>| interval.map_or([None, None], |it| it.map(Some));
    let ([low, high], [floor_low, floor_high]) = (ends(pair.ratio_ci), ends(pair.floor));
    row.extend([
        comparison.a.name.clone(),
        comparison.b.name.clone(),
        format_number(Some(a.median)),
        format_number(Some(b.median)),
        a.n.to_string(),
        b.n.to_string(),
        a.unit.symbol().to_owned(),
        format_number(pair.ratio),
        format_number(low),
        format_number(high),
        format_number(Some(comparison.level)),
        format_number(Some(comparison.margin)),
        format_number(pair.p),
        format_number(pair.p_adjusted),
        format_number(floor_low),
        format_number(floor_high),
        pair.verdict.name().to_owned(),
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
            .map(|name| estimate.parameters.get(name).map(attribute_text).unwrap_or_default()),
    );
    let [low, high] = estimate.ci.map_or([None, None], |ci| ci.map(Some));
    let ids: Vec<&str> = estimate.warnings.iter().map(|warning| warning.id()).collect();
    row.extend([
        format_number(Some(estimate.median)),
        text(estimate.unit.symbol()),
        format_number(low),
        format_number(high),
        format_number(Some(estimate.ci_level)),
        estimate.n.to_string(),
        format_number(Some(estimate.n_effective)),
        format_number(Some(estimate.min)),
        format_number(Some(estimate.max)),
        format_number(Some(estimate.mean)),
        format_number(estimate.limit.as_ref().map(|limit| limit.value)),
        format_number(estimate.percent_of_limit),
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
pub(crate) fn format_number(value: Option<f64>) -> String {
    match value {
        Some(value) if value.is_finite() => serde_json::Number::from_f64(value)
            .map(|number| number.to_string())
            .unwrap_or_default(),
        _ => String::new(),
    }
}

/// Formats the value of an attribute for programs.
pub(crate) fn attribute_text(value: &AttributeValue) -> String {
    match value {
        AttributeValue::Number(value) => format_number(Some(*value)),
        AttributeValue::Reason(reason) => words::engine_reason(reason),
        AttributeValue::Flag(_)
        | AttributeValue::Integer(_)
        | AttributeValue::Text(_)
        | AttributeValue::Pairs(_)
        | AttributeValue::Ranks(_) => value.to_string(),
    }
}
