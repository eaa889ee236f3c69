//! Tidy CSV: one row per estimate, base units, RFC 4180 quoting, one column per parameter.

use std::collections::BTreeSet;

use assay_model::attribute::{Attribute, AttributeValue, Attributes, identity_attributes};
use assay_model::comparison::{Comparison, MetricComparison};
use assay_model::history::{History, HistoryPoint};
use assay_model::level_comparison::{LevelComparison, LevelEstimate};
use assay_model::run_table::{RunTable, RunTableRow};
use assay_model::sanitize;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::trust::DistrustReason;

use crate::words;

/// Prefix of parameter columns, because a parameter may have the name of a column: LINPACK's `n`.
const PARAMETER_PREFIX: &str = "parameters.";

/// Cell of a row.
type CellText<'t, R> = Box<dyn Fn(&R) -> String + 't>;
/// Column with its name and the cell of a row.
type NamedCell<R> = (&'static str, fn(&R) -> String);

/// Columns of a table, each with its name and the cell of a row.
struct Columns<'t, R>(Vec<(String, CellText<'t, R>)>);

impl<'t, R: 't> Columns<'t, R> {
    fn new<const N: usize>(columns: [NamedCell<R>; N]) -> Self {
        Self(Vec::new()).with_columns(columns)
    }

    fn with_columns<const N: usize>(mut self, columns: [NamedCell<R>; N]) -> Self {
        for (name, cell) in columns {
            self.0.push((name.to_owned(), Box::new(cell)));
        }
        self
    }

    fn with_column(mut self, name: String, cell: impl Fn(&R) -> String + 't) -> Self {
        self.0.push((name, Box::new(cell)));
        self
    }

    /// Adds a column for each parameter; `of` returns those of a row.
    fn with_parameters(
        self,
        names: &BTreeSet<Attribute>,
        of: impl Fn(&R) -> &Attributes + Copy + 't,
    ) -> Self {
        names.iter().fold(self, |columns, name| {
            let name = *name;
            columns.with_column(format!("{PARAMETER_PREFIX}{}", name.name()), move |row| {
                of(row).get(&name).map(attribute_text).unwrap_or_default()
            })
        })
    }

    /// Renders the rows below a row of headings; nothing else, not even a comment.
    fn render(self, rows: impl Iterator<Item = R>) -> String {
        let head = self.0.iter().map(|(name, _)| name.clone()).collect();
        let rows = rows.map(|row| self.0.iter().map(|(_, cell)| cell(&row)).collect());
        write_records(std::iter::once(head).chain(rows))
    }
}

/// Returns the names of all parameters.
fn parameter_names<'r>(all: impl Iterator<Item = &'r Attributes>) -> BTreeSet<Attribute> {
    all.flat_map(|it| it.keys().copied()).collect()
}

/// Renders the estimates of a summary.
pub fn summary(summary: &RunSummary) -> String {
    let names = parameter_names(summary.results.iter().map(|it| &it.parameters));
    Columns::<(&RunSummary, &MetricEstimate)>::new([
        ("run", |(summary, _)| summary.run.id.clone()),
        ("host", |(_, it)| it.host.clone()),
        ("benchmark", |(_, it)| it.benchmark.clone()),
        ("metric", |(_, it)| it.metric.clone()),
    ])
    .with_parameters(&names, |(_, it)| &it.parameters)
    .with_columns([
        ("value", |(_, it)| number(it.median)),
        ("unit", |(_, it)| it.unit.symbol().to_owned()),
        ("ci_low", |(_, it)| low(it.ci)),
        ("ci_high", |(_, it)| high(it.ci)),
        ("ci_level", |(_, it)| number(it.ci_level)),
        ("n", |(_, it)| it.n.to_string()),
        ("n_effective", |(_, it)| number(it.n_effective)),
        ("min", |(_, it)| number(it.min)),
        ("max", |(_, it)| number(it.max)),
        ("mean", |(_, it)| number(it.mean)),
        ("limit", |(_, it)| format_number(it.limit.as_ref().map(|limit| limit.value))),
        ("percent_of_limit", |(_, it)| format_number(it.percent_of_limit)),
        ("better", |(_, it)| it.better.name().to_owned()),
        ("tool", |(_, it)| it.tool.name.clone()),
        ("version", |(_, it)| it.tool.version.clone().unwrap_or_default()),
        ("warnings", |(_, it)| {
            it.warnings.iter().map(|doubt| doubt.id()).collect::<Vec<_>>().join(";")
        }),
        ("trust", |(summary, it)| {
            DistrustReason::level_of(DistrustReason::from_run(it, summary)).name().to_owned()
        }),
    ])
    .render(summary.results.iter().map(|it| (summary, it)))
}

/// Renders the pairs of a comparison.
pub fn comparison(comparison: &Comparison) -> String {
    let names = parameter_names(comparison.pairs.iter().map(|it| &it.a.parameters));
    Columns::<(&Comparison, &MetricComparison)>::new([
        ("benchmark", |(_, it)| it.a.benchmark.clone()),
        ("metric", |(_, it)| it.a.metric.clone()),
    ])
    .with_parameters(&names, |(_, it)| &it.a.parameters)
    .with_columns([
        ("a", |(all, _)| all.a.name.clone()),
        ("b", |(all, _)| all.b.name.clone()),
        ("value_a", |(_, it)| number(it.a.median)),
        ("value_b", |(_, it)| number(it.b.median)),
        ("runs_a", |(_, it)| it.a.n.to_string()),
        ("runs_b", |(_, it)| it.b.n.to_string()),
        ("unit", |(_, it)| it.a.unit.symbol().to_owned()),
        ("ratio", |(_, it)| format_number(it.ratio)),
        ("ratio_low", |(_, it)| low(it.ratio_ci)),
        ("ratio_high", |(_, it)| high(it.ratio_ci)),
        ("level", |(all, _)| number(all.level)),
        ("margin", |(all, _)| number(all.margin)),
        ("p", |(_, it)| format_number(it.p)),
        ("p_adjusted", |(_, it)| format_number(it.p_adjusted)),
        ("floor_low", |(_, it)| low(it.floor)),
        ("floor_high", |(_, it)| high(it.floor)),
        ("verdict", |(_, it)| it.verdict.name().to_owned()),
        ("runs_to_tell", |(_, it)| {
            it.runs_to_decide.map(|n| n.to_string()).unwrap_or_default()
        }),
    ])
    .render(comparison.pairs.iter().map(|it| (comparison, it)))
}

/// Renders the levels of a comparison: a row for each metric and combination.
pub fn level_comparison(comparison: &LevelComparison) -> String {
    let columns = Columns::<&LevelEstimate>::new([
        ("benchmark", |it| it.estimate.benchmark.clone()),
        ("case", |it| it.estimate.case.clone()),
        ("metric", |it| it.estimate.metric.clone()),
    ]);
    let factors = comparison.factors.iter().enumerate();
    factors
        .fold(columns, |columns, (index, factor)| {
            columns.with_column(format!("factor.{factor}"), move |it| {
                let condition = comparison.conditions.get(it.condition);
                let level = condition.and_then(|it| it.levels.get(index));
                level.map(|it| it.level.clone()).unwrap_or_default()
            })
        })
        .with_columns([
            ("value", |it| number(it.estimate.median)),
            ("unit", |it| it.estimate.unit.symbol().to_owned()),
            ("ci_low", |it| low(it.estimate.ci)),
            ("ci_high", |it| high(it.estimate.ci)),
            ("n", |it| it.estimate.n.to_string()),
            ("ratio", |it| format_number(it.ratio)),
            ("ratio_low", |it| low(it.ratio_ci)),
            ("ratio_high", |it| high(it.ratio_ci)),
            ("efficiency", |it| format_number(it.efficiency.map(|it| it.share))),
            ("efficiency_low", |it| low(it.efficiency.and_then(|it| it.ci))),
            ("efficiency_high", |it| high(it.efficiency.and_then(|it| it.ci))),
            ("letters", |it| it.letters.clone()),
        ])
        .render(comparison.metrics.iter().flat_map(|it| &it.levels))
}

/// Point of a history, with the number of both.
struct PointRow<'h> {
    history: &'h History,
    series: usize,
    point: &'h HistoryPoint,
    index: usize,
}

/// Renders the points of a history, and of those under other conditions. `series` is the number of
/// the history, from 0.
pub fn history(history: &History) -> String {
    let all = || std::iter::once(history).chain(&history.other_conditions).enumerate();
    let names = parameter_names(all().map(|(_, it)| &it.conditions));
    let rows = all().flat_map(|(series, history)| {
        let points = history.points.iter().enumerate();
        points.map(move |(index, point)| PointRow { history, series, point, index })
    });
    Columns::<PointRow<'_>>::new([
        ("run", |it| it.point.run.clone()),
        ("started", |it| it.point.started.clone()),
        ("label", |it| it.point.label.clone().unwrap_or_default()),
        ("host", |it| it.history.host.clone()),
        ("benchmark", |it| it.history.benchmark.clone()),
        ("metric", |it| it.history.metric.clone()),
        ("value", |it| number(it.point.median)),
        ("unit", |it| it.history.unit.symbol().to_owned()),
        ("ci_low", |it| low(it.point.ci)),
        ("ci_high", |it| high(it.point.ci)),
        ("trust", |it| it.point.trust.name().to_owned()),
        ("is_change", |it| {
            it.history.changes.iter().any(|change| change.point == it.index).to_string()
        }),
        ("series", |it| it.series.to_string()),
    ])
    .with_parameters(&names, |it| &it.history.conditions)
    .render(rows)
}

/// Renders a table of runs: a row for each result, a column for each run.
pub fn run_table(table: &RunTable) -> String {
    type Row<'t> = (&'t MetricEstimate, &'t RunTableRow);
    let rows = || table.rows.iter().filter_map(|row| Some((row.first_estimate()?, row)));
    let names = rows().flat_map(|(it, _)| identity_attributes(&it.parameters).into_keys());
    let columns = Columns::<Row<'_>>::new([
        ("benchmark", |(it, _)| it.benchmark.clone()),
        ("case", |(it, _)| it.case.clone()),
        ("metric", |(it, _)| it.metric.clone()),
        ("unit", |(it, _)| it.unit.symbol().to_owned()),
        ("host", |(it, _)| it.host.clone()),
    ])
    .with_parameters(&names.collect(), |(it, _)| &it.parameters);
    let runs = table.runs.iter().enumerate();
    runs.fold(columns, |columns, (index, run)| {
        columns.with_column(run.header.id.clone(), move |(_, row)| {
            format_number(row.estimates[index].as_ref().map(|it| it.median))
        })
    })
    .render(rows())
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

fn low(interval: Option<[f64; 2]>) -> String {
    format_number(interval.map(|[low, _]| low))
}

fn high(interval: Option<[f64; 2]>) -> String {
    format_number(interval.map(|[_, high]| high))
}

fn number(value: f64) -> String {
    format_number(Some(value))
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
