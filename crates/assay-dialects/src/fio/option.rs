//! Options of fio's jobs as of version 3.33 (`fio --cmdhelp=all`) and of its engines, and those that
//! later versions added: one row each.

use super::section_options::FioOptions;
pub(super) use crate::option::{EmulatedTool, OptionSpec, OptionSupport, ValueKind};

mod ignored;
mod implemented;
mod newer;
mod rejected;

/// Option of a job.
pub type FioOption = OptionSpec<ApplyFio>;

/// Function that applies a value to a job; an error describes the expected value.
pub type ApplyFio = fn(&mut FioOptions, &str) -> Result<(), String>;

pub(super) const FIO: EmulatedTool = EmulatedTool {
    command: "fio",
    otherwise: "remove it, or run this job with fio itself; docs/fio.md lists the supported options",
};

/// Option with the name of a job; on the command line it begins one.
pub(super) const NAME: &str = "name";
/// Option with the name of a trace whose I/O is repeated.
pub(super) const TRACE: &str = "read_iolog";
/// Option with the base of unit prefixes, which applies to all other numbers of a job.
pub(super) const BASE: &str = "kb_base";

/// Finds an option by any of its names, and returns the name that fio prints for it; fio treats `-`
/// and `_` as equal.
pub fn find(name: &str) -> Option<(&'static FioOption, &'static str)> {
    find_option(all_options(), name)
}

/// Finds an option among these, as [`find`] does.
pub(super) fn find_option<A: 'static>(
    mut rows: impl Iterator<Item = &'static OptionSpec<A>>,
    name: &str,
) -> Option<(&'static OptionSpec<A>, &'static str)> {
    rows.find_map(|row| {
        let spelling = row.spellings().find(|candidate| is_same_name(candidate, name))?;
        Some((row, row.main_name(spelling)))
    })
}

/// Returns whether two names are equal except for `-` and `_`.
fn is_same_name(one: &str, other: &str) -> bool {
    let unify = |byte| if byte == b'-' { b'_' } else { byte };
    one.len() == other.len() && one.bytes().map(unify).eq(other.bytes().map(unify))
}

/// Returns all options.
pub fn all_options() -> impl Iterator<Item = &'static FioOption> {
    let old = implemented::IMPLEMENTED.iter().chain(ignored::IGNORED);
    old.chain(rejected::REJECTED).chain(newer::NEWER)
}
