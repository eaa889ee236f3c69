//! Resolution of names that users give to runs.

use std::path::PathBuf;

use assay_model::spelling::nearest_word;
use thiserror::Error;

use crate::error::StoreError;
use crate::layout::{StoreLayout, is_run_id};
use crate::list_entry::{HeadlineSource, ListEntry};
use crate::listing;

const LATEST: &str = "latest";
/// Maximum number of candidates and examples in a message.
const MAX_EXAMPLES: usize = 5;
/// Minimum length of the end of an identifier that denotes it; the last part has four digits.
const MIN_END: usize = 3;

/// Reason why a name does not identify one run.
#[derive(Debug, Error)]
pub enum ResolveError {
    /// The store is empty.
    #[error("there are no runs yet in {}", folder.display())]
    NoRuns {
        /// Folder of the store.
        folder: PathBuf,
    },
    /// The name is the beginning or the end of several identifiers.
    #[error("`{name}` is the beginning or the end of {count} runs: {}", candidates.join(", "))]
    Ambiguous {
        /// Requested name.
        name: String,
        /// Number of matching runs.
        count: usize,
        /// First few matching identifiers.
        candidates: Vec<String>,
    },
    /// The name is the label of several runs, where one is needed.
    #[error("`{name}` is the label of {count} runs: {}", candidates.join(", "))]
    SeveralRuns {
        /// Requested name.
        name: String,
        /// Number of runs with the label.
        count: usize,
        /// Newest few of them.
        candidates: Vec<String>,
    },
    /// No run has this name.
    #[error("there is no run `{name}`; {}", describe_alternatives(nearest.as_ref(), newest))]
    Unknown {
        /// Requested name.
        name: String,
        /// Most similar identifier, if any is similar.
        nearest: Option<String>,
        /// Newest few runs.
        newest: Vec<String>,
    },
    /// `latest~N` with an N that exceeds the number of older runs.
    #[error("there is no `{name}`: {}", describe_count(*runs))]
    TooFarBack {
        /// Requested name.
        name: String,
        /// Number of runs.
        runs: usize,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Runs that a name denotes.
#[derive(Debug, Clone, PartialEq)]
pub enum NamedRuns {
    /// Identifier of the only run.
    One(String),
    /// All runs with the label, the newest first; at least one.
    Labelled(Vec<ListEntry>),
}

impl NamedRuns {
    /// Returns the identifiers, the newest first.
    pub fn ids(self) -> Vec<String> {
        match self {
            Self::One(id) => vec![id],
            Self::Labelled(runs) => runs.into_iter().map(|run| run.id).collect(),
        }
    }
}

/// Returns the identifier of the only run that `name` denotes; see [`resolve_all`].
pub(crate) fn resolve(
    layout: &StoreLayout,
    headlines: HeadlineSource,
    name: &str,
) -> Result<String, ResolveError> {
    let mut ids = resolve_all(layout, headlines, name)?.ids();
    match ids.pop() {
        Some(only) if ids.is_empty() => Ok(only),
        last => Err(ResolveError::SeveralRuns {
            name: name.to_owned(),
            count: ids.len() + usize::from(last.is_some()),
            candidates: ids.into_iter().chain(last).take(MAX_EXAMPLES).collect(),
        }),
    }
}

/// Returns the runs that `name` denotes. In this order: an identifier, `latest` or `latest~N`, the
/// label of finished runs, the unambiguous beginning or end of an identifier.
pub(crate) fn resolve_all(
    layout: &StoreLayout,
    headlines: HeadlineSource,
    name: &str,
) -> Result<NamedRuns, ResolveError> {
    if is_run_id(name) && layout.run(name).is_dir() {
        return Ok(NamedRuns::One(name.to_owned()));
    }
    let runs = listing::list(layout, headlines)?.runs;
    if let Some(steps) = steps_back(name) {
        return nth_latest(layout, &runs, (name, steps)).map(NamedRuns::One);
    }
    let has_label = |run: &&ListEntry| run.label.as_deref() == Some(name) && !run.running;
    let labelled: Vec<ListEntry> = runs.iter().filter(has_label).cloned().collect();
    if !labelled.is_empty() {
        return Ok(NamedRuns::Labelled(labelled));
    }
    let ids = layout.run_ids()?;
    let is_end = |id: &str| name.len() >= MIN_END && id.ends_with(name);
    let is_part = |id: &&String| !name.is_empty() && (id.starts_with(name) || is_end(id));
    let candidates: Vec<&String> = ids.iter().filter(is_part).collect();
    match candidates.as_slice() {
        [] if ids.is_empty() => Err(no_runs(layout)),
        [] => Err(unknown_error(name, &ids, &runs)),
        [only] => Ok(NamedRuns::One((*only).clone())),
        several => Err(ResolveError::Ambiguous {
            name: name.to_owned(),
            count: several.len(),
            candidates: several.iter().take(MAX_EXAMPLES).map(|id| (*id).clone()).collect(),
        }),
    }
}

/// Returns the run `steps` before the latest one of those that have a result; of all runs if none
/// has one.
fn nth_latest(
    layout: &StoreLayout,
    runs: &[ListEntry],
    (name, steps): (&str, usize),
) -> Result<String, ResolveError> {
    let with_result: Vec<&ListEntry> =
        runs.iter().filter(|run| !run.is_without_result()).collect();
    let candidates = if with_result.is_empty() { runs.iter().collect() } else { with_result };
    match candidates.get(steps) {
        Some(run) => Ok(run.id.clone()),
        None if candidates.is_empty() => Err(no_runs(layout)),
        None => Err(ResolveError::TooFarBack { name: name.to_owned(), runs: candidates.len() }),
    }
}

fn no_runs(layout: &StoreLayout) -> ResolveError {
    ResolveError::NoRuns { folder: layout.folder().to_owned() }
}

/// Returns how many runs before the latest a name denotes: 0 for `latest`, 2 for `latest~2`; `None`
/// for any other name.
fn steps_back(name: &str) -> Option<usize> {
    let rest = name.strip_prefix(LATEST)?;
    if rest.is_empty() { Some(0) } else { rest.strip_prefix('~')?.parse().ok() }
}

fn unknown_error(name: &str, ids: &[String], runs: &[ListEntry]) -> ResolveError {
    ResolveError::Unknown {
        name: name.to_owned(),
        nearest: nearest_word(name, ids.iter().map(String::as_str)).map(str::to_owned),
        newest: runs.iter().take(MAX_EXAMPLES).map(|run| run.id.clone()).collect(),
    }
}

fn describe_alternatives(nearest: Option<&String>, newest: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if newest.is_empty() => "no run of this store can be read".to_owned(),
        None => format!("the newest are {}", newest.join(", ")),
    }
}

fn describe_count(runs: usize) -> String {
    match runs {
        1 => "there is one run, `latest`".to_owned(),
        runs => format!("there are {runs} runs, back to `{LATEST}~{}`", runs - 1),
    }
}
