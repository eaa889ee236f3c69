//! `assay rm` and `assay prune`: remove stored runs.

use assay_model::event::Status;
use assay_run::failure::Failure;
use assay_store::Listed;
use serde_json::json;

use crate::arguments::AnswerArguments;
use crate::arguments::removal::{PruneArguments, RemoveArguments};
use crate::terminal::Terminal;
use crate::{page, stored};

pub(crate) fn rm(typed: &RemoveArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let store = stored::existing(&typed.store)?;
    // All names are resolved before any run is removed.
    let ids = typed.runs.iter().map(|name| stored::identifier(&store, name));
    let mut ids = ids.collect::<Result<Vec<_>, _>>()?;
    ids.sort_unstable();
    ids.dedup();
    remove(&ids, (typed.dry_run, &typed.answer), &store, terminal)
}

pub(crate) fn prune(typed: &PruneArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let store = stored::existing(&typed.store)?;
    let runs = store.list().map_err(|error| Failure::of_store(&error))?.runs;
    let ids: Vec<String> =
        runs.into_iter().filter(is_without_result).map(|run| run.id).collect();
    remove(&ids, (typed.dry_run, &typed.answer), &store, terminal)
}

/// Whether a run has ended without any measured case.
pub(crate) fn is_without_result(run: &Listed) -> bool {
    !run.running && run.status != Status::Complete && run.cases_finished == 0
}

fn remove(
    ids: &[String],
    (is_rehearsal, answer): (bool, &AnswerArguments),
    store: &assay_store::Store,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let word = if is_rehearsal { "would be removed" } else { "removed" };
    if !is_rehearsal {
        store.remove(ids).map_err(|error| Failure::of_store(&error))?;
    }
    let text = match ids {
        [] => "no run is without a result\n".to_owned(),
        ids => ids.iter().map(|id| format!("{id} {word}\n")).collect(),
    };
    let json = json!({ "runs": ids, "removed": !is_rehearsal });
    page::answer(&text, &json, answer, terminal)?;
    Ok(0)
}
