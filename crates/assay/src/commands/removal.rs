//! `assay rm` and `assay prune`: remove stored runs.

use assay_model::path_text;
use assay_run::failure::CommandFailure;
use assay_store::{ListEntry, RunRemoval, Store};
use serde_json::json;

use crate::arguments::BriefPageArguments;
use crate::arguments::removal::{PruneArguments, RemoveArguments};
use crate::terminal::Terminal;
use crate::{page, run_names, store_access};

pub(crate) fn rm(
    typed: &RemoveArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let store = store_access::open_for_reading(&typed.store)?;
    // All names are resolved before any run is removed.
    let mut ids = run_names::resolve_ids(&store, &typed.runs)?;
    ids.sort_unstable();
    ids.dedup();
    remove(&ids, (typed.dry_run, &typed.answer), &store, terminal)
}

pub(crate) fn prune(
    typed: &PruneArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let store = store_access::open_for_reading(&typed.store)?;
    let runs = store.list()?.runs;
    let ids: Vec<String> =
        runs.into_iter().filter(is_without_result).map(|run| run.id).collect();
    remove(&ids, (typed.dry_run, &typed.answer), &store, terminal)
}

/// Whether a run has ended without any measured case.
pub(crate) fn is_without_result(run: &ListEntry) -> bool {
    run.is_without_result()
}

fn remove(
    ids: &[String],
    (is_rehearsal, answer): (bool, &BriefPageArguments),
    store: &Store,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let removed = if is_rehearsal { store.survey_removal(ids) } else { store.remove(ids) };
    let removed = removed?;
    let text: String = match removed.as_slice() {
        [] => "no runs without a result\n".to_owned(),
        all => all.iter().map(|it| line(it, is_rehearsal)).collect(),
    };
    let stays: Vec<String> = removed
        .iter()
        .flat_map(|it| &it.kept_paths)
        .map(|it| path_text::encode(it.as_os_str()))
        .collect();
    let removed_ids: Vec<&String> =
        removed.iter().filter(|it| is_removed_completely(it)).map(|it| &it.run).collect();
    let json = json!({ "runs": removed_ids, "removed": !is_rehearsal, "stays": stays });
    page::publish_brief(&text, &json, answer, terminal)?;
    match removed.iter().find(|it| !it.kept_paths.is_empty()) {
        None => Ok(0),
        Some(first) => Err(something_stays(first, store)),
    }
}

/// Whether nothing that assay wrote is left of a run.
const fn is_removed_completely(removed: &RunRemoval) -> bool {
    removed.has_events || removed.kept_paths.is_empty()
}

fn line(it: &RunRemoval, is_rehearsal: bool) -> String {
    let word = match (is_removed_completely(it), is_rehearsal) {
        (true, false) => "removed",
        (true, true) => "would be removed",
        (false, _) => "is no run",
    };
    let stays: String =
        it.kept_paths.iter().map(|path| format!("{} stays\n", path.display())).collect();
    format!("{} {word}\n{stays}", it.run)
}

fn something_stays(removed: &RunRemoval, store: &Store) -> CommandFailure {
    let folder = store.folder().join("runs").join(&removed.run);
    CommandFailure::measurement(format!("the folder {} stays", folder.display()))
        .with_reason("assay did not write everything in it")
        .advise("move what is yours to another folder, then remove this one with `rmdir`")
}
