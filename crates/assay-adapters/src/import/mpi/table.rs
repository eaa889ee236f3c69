//! Tables of MPI benchmarks in a file: columns by their labels, rows with their lines, and their
//! conversion to a measurement of assay's test or of a foreign one.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::{Benchmark, MpiTest};
use assay_model::doubt::Doubt;
use assay_model::event::ToolFigures;
use assay_model::quantity::Quantity;

use super::super::{FileContents, ImportedMeasurement};
use crate::limits::{MAX_SERIES, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative, parse_whole};

/// Content of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Column {
    /// Size of a message in bytes.
    Size,
    /// Number of repetitions.
    Iterations,
    /// Verdict of a data check: `Pass`, `Fail`.
    Verdict,
    /// Number of wrong elements.
    Defects,
    /// Metric, and the power of ten of its unit.
    Metric(&'static str, i32),
    /// Percentile of a metric: `p50`.
    Percentile(&'static str, i32, String),
    /// Column without a meaning here, by its label.
    Other(String),
}

/// Leaves out the columns of a heading whose meaning is unknown.
pub(super) fn leave_out_unknown(columns: &[Column], line: usize, contents: &mut FileContents) {
    for column in columns {
        if let Column::Other(name) = column {
            let what = format!("column {name:?}");
            contents.leave_out(Some(line..=line), what, "its meaning is unknown");
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableRow {
    /// Its line in the file.
    pub(super) line: usize,
    /// Size of a message; `None` for tests without messages.
    pub(super) bytes: Option<u64>,
    /// Repetitions, if the table has them.
    pub(super) iterations: Option<u64>,
    /// Column, value in its base unit, and half a unit of its last printed digit.
    pub(super) figures: Vec<(Column, f64, f64)>,
}

/// Parses a row of a table.
///
/// # Errors
/// If the number of fields differs from the number of columns, a field is no number, or the data
/// check of the row failed.
pub(super) fn parse_row(
    text: &str,
    line: usize,
    columns: &[Column],
) -> Result<TableRow, ToolError> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != columns.len() {
        let missing =
            format!("the row {text:?} has {} of {} columns", fields.len(), columns.len());
        return Err(ToolError::Truncated { missing });
    }
    let mut row = TableRow { line, bytes: None, iterations: None, figures: Vec::new() };
    for (field, column) in fields.iter().zip(columns) {
        let failed = || ToolError::CheckFailed {
            verdict: format!("contents of messages: {field} in the row {text:?}"),
        };
        match column {
            Column::Size => row.bytes = Some(parse_whole("the size of a message", field)?),
            Column::Iterations => row.iterations = field.parse().ok(),
            Column::Verdict if !is_passed(field) => return Err(failed()),
            Column::Defects if parse_non_negative("defects", field)? > 0.0 => {
                return Err(failed());
            }
            Column::Metric(metric, power) | Column::Percentile(metric, power, _) => {
                let scale = 10f64.powi(power.abs());
                let to_base =
                    |value: f64| if *power < 0 { value / scale } else { value * scale };
                let decimals = field.rsplit_once('.').map_or(0, |(_, digits)| digits.len());
                let half = 0.5 / 10f64.powi(decimals.min(18) as i32);
                let value = parse_non_negative(metric, field)?;
                row.figures.push((column.clone(), to_base(value), to_base(half)));
            }
            Column::Verdict | Column::Defects | Column::Other(_) => {}
        }
    }
    Ok(row)
}

/// Whether OSU found no wrong contents: its programs print different words, and `-` without a check.
fn is_passed(verdict: &str) -> bool {
    ["pass", "passed", "skipped", "-"].iter().any(|it| verdict.eq_ignore_ascii_case(it))
}

/// Adds a row; the sizes of a table ascend, unless several ranks printed at once.
///
/// # Errors
/// If a size is not above the one before, or there are too many rows.
pub(super) fn add_row(rows: &mut Vec<TableRow>, row: TableRow) -> Result<(), ToolError> {
    if rows.last().is_some_and(|previous| previous.bytes >= row.bytes) {
        let what = format!(
            "the size of line {} is not above the one before: several processes printed at once",
            row.line
        );
        return Err(ToolError::Contradiction { what });
    }
    check_limit(rows.len() + 1, ("rows of a table", MAX_SERIES))?;
    rows.push(row);
    Ok(())
}

/// Test that a table belongs to.
pub(super) struct TableTest {
    /// Equivalent test of assay.
    pub(super) known: Option<MpiTest>,
    /// Name of the test in the file.
    pub(super) name: String,
    /// Dimensions of all its figures.
    pub(super) dimensions: Attributes,
    /// Version of the tool.
    pub(super) version: Option<String>,
}

/// Converts the rows of a table. Figures that are rounded to zero are left out.
///
/// # Errors
/// If no figure is left.
pub(super) fn convert_rows(
    test: TableTest,
    rows: &[TableRow],
    contents: &mut FileContents,
) -> Result<ImportedMeasurement, ToolError> {
    let TableTest { known, name, mut dimensions, version } = test;
    let benchmark = known.map_or(Benchmark::Foreign, Benchmark::Mpi);
    if known.is_none() {
        dimensions.insert(Attribute::Test, name.as_str().into());
    }
    let mut parsed = ParsedOutput { version, ..ParsedOutput::default() };
    let mut rounded: Option<(f64, &'static str, f64)> = None;
    for row in rows {
        add_figures(row, benchmark, &mut parsed, contents);
        for (column, value, half) in &row.figures {
            let Column::Metric(metric, _) = column else { continue };
            let share = half / value;
            let is_counted = *metric != "overlap" && *value > 0.0 && share > MAX_ROUNDING;
            if is_counted && rounded.is_none_or(|(most, _, _)| share > most) {
                rounded = Some((share, metric, *value));
            }
        }
    }
    if parsed.values.is_empty() {
        return Err(ToolError::Truncated { missing: "there is no row of values".to_owned() });
    }
    if let Some(iterations) = find_iterations(rows, contents) {
        parsed.set_attribute(Attribute::Iterations, iterations);
    }
    parsed.doubts.extend(rounded.map(|(share, metric, value)| {
        let metric = find_metric(benchmark, metric).map_or(metric, |(metric, _)| metric);
        let unit = benchmark.metric(metric).map(|it| it.unit);
        let at = unit.map_or_else(String::new, |unit| Quantity::new(value, unit).to_string());
        Doubt::RoundedOutput { metric: metric.to_owned(), at, share }
    }));
    let name = known.map_or(name, |test| test.name().to_owned());
    Ok(ImportedMeasurement::new(name, benchmark, dimensions, parsed))
}

/// Share of a value that half of its last digit may be before the rounding is reported.
const MAX_ROUNDING: f64 = 0.01;

/// Returns the number of repetitions if all rows have the same; others are left out.
fn find_iterations(rows: &[TableRow], contents: &mut FileContents) -> Option<u64> {
    let first = rows.first()?;
    let iterations = first.iterations?;
    if rows.iter().all(|row| row.iterations == Some(iterations)) {
        return Some(iterations);
    }
    let lines = first.line..=rows.last()?.line;
    contents.leave_out(Some(lines), "column of iterations", "it differs between the sizes");
    None
}

/// Adds the figures of a row, with percentiles and limits beside the metric that they describe.
fn add_figures(
    row: &TableRow,
    benchmark: Benchmark,
    parsed: &mut ParsedOutput,
    contents: &mut FileContents,
) {
    let size = row.bytes.map(|bytes| (Attribute::Bytes, bytes.into()));
    let mut figures = ToolFigures::default();
    let mut main: Option<usize> = None;
    for (column, value, _) in &row.figures {
        match column {
            Column::Percentile(_, _, name) => {
                figures.percentiles.insert(name.clone(), *value);
            }
            Column::Metric("latency_min", _) if !has_metric(benchmark, "latency_min") => {
                figures.min = Some(*value);
            }
            Column::Metric("latency_max", _) if !has_metric(benchmark, "latency_max") => {
                figures.max = Some(*value);
            }
            Column::Metric(metric, _) => {
                let Some((name, operation)) = find_metric(benchmark, metric) else {
                    contents.leave_out(
                        Some(row.line..=row.line),
                        format!("figure {metric}"),
                        "the test has no such figure in assay",
                    );
                    continue;
                };
                if *value <= 0.0 && *metric != "overlap" {
                    let why = "it is rounded to zero";
                    contents.leave_out(
                        Some(row.line..=row.line),
                        format!("{metric} of 0"),
                        why,
                    );
                    continue;
                }
                let mut own = Attributes::from_iter(size.clone());
                own.extend(operation.map(|it| (Attribute::Operation, it.into())));
                parsed.add_series(name, own, vec![*value]);
                main = main.or(Some(parsed.values.len() - 1));
            }
            Column::Size
            | Column::Iterations
            | Column::Verdict
            | Column::Defects
            | Column::Other(_) => {}
        }
    }
    if figures != ToolFigures::default()
        && let Some(series) = main.and_then(|at| parsed.values.get_mut(at))
    {
        series.figures = Some(figures);
    }
}

fn has_metric(benchmark: Benchmark, metric: &str) -> bool {
    benchmark == Benchmark::Foreign || benchmark.metric(metric).is_some()
}

/// Returns the metric of a benchmark, and for foreign ones the part of the call that it times.
fn find_metric(
    benchmark: Benchmark,
    metric: &'static str,
) -> Option<(&'static str, Option<&'static str>)> {
    if benchmark != Benchmark::Foreign {
        return benchmark.metric(metric).is_some().then_some((metric, None));
    }
    Some(match metric {
        "latency" => ("time", None),
        "latency_min" => ("time_min", None),
        "latency_max" => ("time_max", None),
        "message_rate" => ("event_rate", None),
        "overlap" => ("share", None),
        "bandwidth" => ("bandwidth", None),
        part => ("time", Some(part)),
    })
}
