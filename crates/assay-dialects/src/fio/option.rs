//! Every option of fio 3.33, and how assay treats it.

use assay_model::near::nearest;

mod table;

/// One option of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Another name for it, or empty.
    pub alias: &'static str,
    /// What becomes of it.
    pub standing: Standing,
}

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is carried out.
    Done,
    /// It is read and changes nothing; the user is told why.
    Noted(&'static str),
    /// It would change the result and is refused, unless it has one of these values.
    Refused {
        /// Why it is not carried out.
        why: &'static str,
        /// Values with which it does nothing in fio either.
        unless: &'static [&'static str],
    },
}

/// The option with this name or alias; `-` and `_` are the same to fio.
#[must_use]
pub fn find(name: &str) -> Option<&'static Row> {
    let name = name.replace('-', "_");
    let same = |candidate: &str| candidate.replace('-', "_") == name;
    table::rows().find(|row| same(row.name) || (!row.alias.is_empty() && same(row.alias)))
}

/// The option that was probably meant.
#[must_use]
pub fn near(name: &str) -> Option<&'static str> {
    let names = table::rows().flat_map(|row| [row.name, row.alias]);
    nearest(name, names.filter(|name| !name.is_empty()))
}

/// All rows.
pub fn all() -> impl Iterator<Item = &'static Row> {
    table::rows()
}
