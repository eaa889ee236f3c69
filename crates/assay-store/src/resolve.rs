//! Finds the run that a user means.

use std::path::PathBuf;

use assay_model::near::nearest;
use thiserror::Error;

use crate::error::StoreError;
use crate::layout::{Layout, is_run_id};
use crate::listed::{Headlines, Listed};
use crate::listing;

const LATEST: &str = "latest";
/// Candidates and examples shown in a message.
const SHOWN: usize = 5;

/// Why a name does not mean one run.
#[derive(Debug, Error)]
pub enum ResolveError {
    /// The store is empty.
    #[error("there are no runs yet in {}", folder.display())]
    NoRuns {
        /// The store.
        folder: PathBuf,
    },
    /// Several runs begin like this.
    #[error("`{name}` is the beginning of {count} runs: {}", candidates.join(", "))]
    Ambiguous {
        /// What was requested.
        name: String,
        /// How many there are.
        count: usize,
        /// The first few of them.
        candidates: Vec<String>,
    },
    /// No run is called like this.
    #[error("there is no run `{name}`; {}", known(nearest.as_ref(), newest))]
    Unknown {
        /// What was requested.
        name: String,
        /// The most similar identifier, if any is similar.
        nearest: Option<String>,
        /// The newest few runs.
        newest: Vec<String>,
    },
    /// There are not that many runs.
    #[error("there is no `{name}`: {}", amount(*runs))]
    TooFarBack {
        /// What was requested.
        name: String,
        /// How many runs there are.
        runs: usize,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(crate) fn resolve(
    layout: &Layout,
    headlines: Headlines,
    name: &str,
) -> Result<String, ResolveError> {
    if is_run_id(name) && layout.run(name).is_dir() {
        return Ok(name.to_owned());
    }
    let folder = || ResolveError::NoRuns { folder: layout.folder().to_owned() };
    if let Some(back) = steps_back(name) {
        let runs = listing::list(layout, headlines)?.runs;
        return match runs.get(back) {
            Some(run) => Ok(run.id.clone()),
            None if runs.is_empty() => Err(folder()),
            None => Err(ResolveError::TooFarBack { name: name.to_owned(), runs: runs.len() }),
        };
    }
    let ids = layout.run_ids()?;
    let candidates: Vec<&String> =
        ids.iter().filter(|id| !name.is_empty() && id.starts_with(name)).collect();
    match candidates.as_slice() {
        [] if ids.is_empty() => Err(folder()),
        [] => Err(unknown(name, &ids, &listing::list(layout, headlines)?.runs)),
        [only] => Ok((*only).clone()),
        several => Err(ResolveError::Ambiguous {
            name: name.to_owned(),
            count: several.len(),
            candidates: several.iter().take(SHOWN).map(|id| (*id).clone()).collect(),
        }),
    }
}

/// 0 for `latest`, 2 for `latest~2`; `None` for any other name.
fn steps_back(name: &str) -> Option<usize> {
    let rest = name.strip_prefix(LATEST)?;
    if rest.is_empty() { Some(0) } else { rest.strip_prefix('~')?.parse().ok() }
}

fn unknown(name: &str, ids: &[String], runs: &[Listed]) -> ResolveError {
    ResolveError::Unknown {
        name: name.to_owned(),
        nearest: nearest(name, ids.iter().map(String::as_str)).map(str::to_owned),
        newest: runs.iter().take(SHOWN).map(|run| run.id.clone()).collect(),
    }
}

fn known(nearest: Option<&String>, newest: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if newest.is_empty() => "no run of this store can be read".to_owned(),
        None => format!("the newest are {}", newest.join(", ")),
    }
}

fn amount(runs: usize) -> String {
    match runs {
        1 => "there is one run, `latest`".to_owned(),
        runs => format!("there are {runs} runs, back to `{LATEST}~{}`", runs - 1),
    }
}
