//! Parser of tables of MPI benchmarks: a heading whose labels define the columns, then one row per
//! size.
//!
//! Launchers and libraries print lines of their own in between; only lines that begin with a digit
//! are rows.

use crate::limits::{MAX_SERIES, check_limit};
use crate::outputs::{ToolError, half_digit, parse_number, parse_positive_scaled, parse_whole};

/// Content of a column: a metric of the benchmark, or something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnContent {
    /// Size of a message in bytes.
    Size,
    /// Values of a metric, printed in this unit.
    Metric(&'static str, ColumnUnit),
    /// `Pass` or `Fail`.
    Verdict,
    /// Ignored content.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnUnit {
    Microseconds,
    /// 10⁶ bytes per second.
    MegabytesPerSecond,
    /// Already in the base unit.
    Base,
    Percent,
}

/// Labels of a heading and the content of their columns; a longer label precedes those that it
/// contains.
pub(crate) type ColumnLabels = [(&'static str, ColumnContent)];

/// Row of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MpiRow {
    /// Size of a message; `None` for tests without messages.
    pub(crate) bytes: Option<u64>,
    /// Metric, value in its base unit, and half a unit of its last printed digit.
    pub(crate) values: Vec<(&'static str, f64, f64)>,
}

impl ColumnUnit {
    /// Returns the power of ten that converts a value to its base unit.
    const fn power_of_ten(self) -> i32 {
        match self {
            Self::Microseconds => -6,
            Self::MegabytesPerSecond => 6,
            Self::Base => 0,
            Self::Percent => -2,
        }
    }
}

/// Parses the columns of a heading, from left to right. Unknown labels are skipped; the rows then
/// have more fields than columns and are rejected.
pub(crate) fn parse_columns(heading: &str, labels: &ColumnLabels) -> Vec<ColumnContent> {
    let mut columns = Vec::new();
    let mut rest = heading;
    while let Some((position, label, content)) = find_first_label(rest, labels) {
        columns.push(content);
        rest = &rest[position + label.len()..];
    }
    columns
}

/// Finds the label that occurs first; at equal positions the first in the list.
fn find_first_label<'w>(
    text: &str,
    labels: &'w ColumnLabels,
) -> Option<(usize, &'w str, ColumnContent)> {
    let occurrences = labels
        .iter()
        .filter_map(|(label, content)| Some((text.find(label)?, *label, *content)));
    occurrences.min_by_key(|(position, _, _)| *position)
}

/// Parses the rows below a heading.
///
/// # Errors
/// If a row has more or fewer fields than the heading has columns, a field is not a number,
/// contents of messages were wrong, sizes do not ascend, or there is no row.
pub(crate) fn parse_rows<'t>(
    lines: impl Iterator<Item = &'t str>,
    columns: &[ColumnContent],
) -> Result<Vec<MpiRow>, ToolError> {
    let mut rows: Vec<MpiRow> = Vec::new();
    for line in lines.map(str::trim) {
        if !line.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let row = parse_row(line, columns)?;
        if rows.last().is_some_and(|previous| previous.bytes >= row.bytes) {
            let what = format!("the size of the row {line:?} is not above the one before");
            return Err(ToolError::Contradiction { what });
        }
        check_limit(rows.len() + 1, ("rows of a table", MAX_SERIES))?;
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(ToolError::Truncated { missing: "there is no row of values".to_owned() });
    }
    Ok(rows)
}

fn parse_row(line: &str, columns: &[ColumnContent]) -> Result<MpiRow, ToolError> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    if fields.len() != columns.len() {
        let missing =
            format!("the row {line:?} has {} of {} columns", fields.len(), columns.len());
        return Err(ToolError::Truncated { missing });
    }
    let mut row = MpiRow { bytes: None, values: Vec::new() };
    for (field, content) in fields.iter().zip(columns) {
        match content {
            ColumnContent::Size => {
                row.bytes = Some(parse_whole("the size of a message", field)?);
            }
            ColumnContent::Metric(metric, unit) => {
                let (value, half_step) = parse_scaled(metric, field, unit.power_of_ten())?;
                row.values.push((*metric, value, half_step));
            }
            ColumnContent::Verdict if !field.eq_ignore_ascii_case("pass") => {
                let verdict = format!("contents of messages: {field} in the row {line:?}");
                return Err(ToolError::CheckFailed { verdict });
            }
            ColumnContent::Verdict | ColumnContent::Other => {}
        }
    }
    Ok(row)
}

/// Returns a number, and half a unit of its last digit, in base units. Zero is accepted, because
/// rounding may have produced it.
fn parse_scaled(what: &str, text: &str, power: i32) -> Result<(f64, f64), ToolError> {
    let half_step = half_digit(text) * 10f64.powi(power);
    if parse_number(what, text)? > 0.0 {
        return Ok((parse_positive_scaled(what, text, power)?, half_step));
    }
    Ok((parse_number(what, text)?, half_step))
}
