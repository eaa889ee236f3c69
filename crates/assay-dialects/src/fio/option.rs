//! Options of fio 3.33, and how assay treats each.

use assay_model::spelling::nearest_word;

mod table;

/// Option of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FioOption {
    /// Option name.
    pub name: &'static str,
    /// Alternative name, or empty.
    pub alias: &'static str,
    /// Treatment by assay.
    pub support: OptionSupport,
}

/// Treatment of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionSupport {
    /// Implemented.
    Implemented,
    /// Accepted without effect; the user gets the reason.
    Ignored(&'static str),
    /// Rejected because it would change the result, unless it has one of the harmless values.
    Rejected {
        /// Reason.
        why: &'static str,
        /// Values that have no effect in fio either.
        unless: &'static [&'static str],
    },
}

/// Finds an option by name or alias; fio treats `-` and `_` as equal.
#[must_use]
pub fn find(name: &str) -> Option<&'static FioOption> {
    let name = name.replace('-', "_");
    let same = |candidate: &str| candidate.replace('-', "_") == name;
    table::rows().find(|row| same(row.name) || (!row.alias.is_empty() && same(row.alias)))
}

/// Returns the nearest option, for "did you mean".
#[must_use]
pub fn nearest_option(name: &str) -> Option<&'static str> {
    let names = table::rows().flat_map(|row| [row.name, row.alias]);
    nearest_word(name, names.filter(|name| !name.is_empty()))
}

/// Returns all options.
pub fn all_options() -> impl Iterator<Item = &'static FioOption> {
    table::rows()
}
