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

/// Reason why a name does not identify one run.
#[derive(Debug, Error)]
pub enum ResolveError {
    /// The store is empty.
    #[error("there are no runs yet in {}", folder.display())]
    NoRuns {
        /// Folder of the store.
        folder: PathBuf,
    },
    /// The name is the beginning of several identifiers.
    #[error("`{name}` is the beginning of {count} runs: {}", candidates.join(", "))]
    Ambiguous {
        /// Requested name.
        name: String,
        /// Number of matching runs.
        count: usize,
        /// First few matching identifiers.
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

/// Returns the identifier of the run that `name` denotes: an identifier, its unambiguous beginning,
/// `latest` or `latest~N`.
pub(crate) fn resolve(
    layout: &StoreLayout,
    headlines: HeadlineSource,
    name: &str,
) -> Result<String, ResolveError> {
    if is_run_id(name) && layout.run(name).is_dir() {
        return Ok(name.to_owned());
    }
    let no_runs = || ResolveError::NoRuns { folder: layout.folder().to_owned() };
    if let Some(steps) = steps_back(name) {
        let runs = listing::list(layout, headlines)?.runs;
        return match runs.get(steps) {
            Some(run) => Ok(run.id.clone()),
            None if runs.is_empty() => Err(no_runs()),
            None => Err(ResolveError::TooFarBack { name: name.to_owned(), runs: runs.len() }),
        };
    }
    let ids = layout.run_ids()?;
    let candidates: Vec<&String> =
        ids.iter().filter(|id| !name.is_empty() && id.starts_with(name)).collect();
    match candidates.as_slice() {
        [] if ids.is_empty() => Err(no_runs()),
        [] => Err(unknown_error(name, &ids, &listing::list(layout, headlines)?.runs)),
        [only] => Ok((*only).clone()),
        several => Err(ResolveError::Ambiguous {
            name: name.to_owned(),
            count: several.len(),
            candidates: several.iter().take(MAX_EXAMPLES).map(|id| (*id).clone()).collect(),
        }),
    }
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
