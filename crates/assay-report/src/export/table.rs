//! Columns of exported tables, and their cells.

use std::borrow::Cow;

/// Column of a table, which takes its cells from rows of type `R`.
#[derive(Debug)]
pub(super) struct ExportColumn<R> {
    /// Its name, which is permanent.
    pub(super) name: &'static str,
    /// Kind of its values.
    pub(super) kind: ColumnKind,
    /// Meaning of its values, for the documentation.
    pub(super) meaning: &'static str,
    /// Returns the cell of a row.
    pub(super) cell: fn(&R) -> ExportCell<'_>,
}

pub(super) const fn column<R>(
    name: &'static str,
    kind: ColumnKind,
    meaning: &'static str,
    cell: for<'c> fn(&'c R) -> ExportCell<'c>,
) -> ExportColumn<R> {
    ExportColumn { name, kind, meaning, cell }
}

/// Kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// A number, in the unit of its row or column.
    Number,
    /// A whole number.
    Integer,
    /// A truth value.
    Flag,
    /// Microseconds since 1970; RFC 3339 in formats of text.
    Time,
    /// A JSON object or array.
    Json,
}

impl ColumnKind {
    /// Returns the word for the documentation.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Flag => "true or false",
            Self::Time => "time",
            Self::Json => "JSON",
        }
    }
}

/// Cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExportCell<'r> {
    /// No value.
    Missing,
    Text(Cow<'r, str>),
    /// A finite number.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// A truth value.
    Flag(bool),
    /// A time as text, and in microseconds since 1970 if it can be read.
    Time(&'r str, Option<i64>),
    /// JSON text.
    Json(Cow<'r, str>),
}

impl<'r> ExportCell<'r> {
    /// Returns a cell with borrowed text.
    pub(super) const fn text(text: &'r str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// Returns a cell with borrowed text, or a missing one.
    pub(super) fn optional_text(text: Option<&'r str>) -> Self {
        text.map_or(Self::Missing, Self::text)
    }

    /// Returns a cell with a number; missing if there is none or it is not finite.
    pub(super) fn number(value: impl Into<Option<f64>>) -> Self {
        value.into().filter(|it| it.is_finite()).map_or(Self::Missing, Self::Number)
    }

    /// Returns a cell with a count.
    pub(super) fn count(value: impl TryInto<i64>) -> Self {
        value.try_into().map_or(Self::Missing, Self::Integer)
    }
}
