//! Options of fio 3.33, and how assay treats each.

use assay_model::near::nearest;

mod table;

/// Option of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Option name.
    pub name: &'static str,
    /// Alternative name, or empty.
    pub alias: &'static str,
    /// Treatment by assay.
    pub standing: Standing,
}

/// Treatment of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Implemented.
    Done,
    /// Accepted without effect; the user gets the reason.
    Noted(&'static str),
    /// Rejected because it would change the result, unless it has one of the harmless values.
    Refused {
        /// Reason.
        why: &'static str,
        /// Values that have no effect in fio either.
        unless: &'static [&'static str],
    },
}

/// Finds an option by name or alias; fio treats `-` and `_` as equal.
#[must_use]
pub fn find(name: &str) -> Option<&'static Row> {
    let name = name.replace('-', "_");
    let same = |candidate: &str| candidate.replace('-', "_") == name;
    table::rows().find(|row| same(row.name) || (!row.alias.is_empty() && same(row.alias)))
}

/// Returns the nearest option, for "did you mean".
#[must_use]
pub fn near(name: &str) -> Option<&'static str> {
    let names = table::rows().flat_map(|row| [row.name, row.alias]);
    nearest(name, names.filter(|name| !name.is_empty()))
}

/// Returns all options.
pub fn all() -> impl Iterator<Item = &'static Row> {
    table::rows()
}
