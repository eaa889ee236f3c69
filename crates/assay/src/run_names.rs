//! Names of runs on the command line, with advice for names of systems. The store resolves them.

use assay_archive::run_list;
use assay_claims::reference;
use assay_console::options::StoreArguments;
use assay_model::path_text;
use assay_run::failure::CommandFailure;
use assay_store::{ReadRun, RunFilter, Store};

use crate::store_access;
use crate::terminal::Terminal;

/// Returns the identifiers of the named runs; a label names all its runs.
pub(crate) fn resolve_ids(
    store: &Store,
    names: &[String],
) -> Result<Vec<String>, CommandFailure> {
    let mut ids = Vec::new();
    for name in names {
        let named = store.resolve_all(name).map_err(CommandFailure::from);
        ids.extend(named.map_err(|failure| advise_about_name(failure, name))?.ids());
    }
    Ok(ids)
}

/// Reads the named runs like [`store_access::read_all`].
pub(crate) fn read_all(
    typed: &StoreArguments,
    names: &[String],
    terminal: &mut Terminal,
) -> Result<Vec<ReadRun>, CommandFailure> {
    store_access::read_all(typed, names, terminal)
        .map_err(|failure| names.iter().fold(failure, |it, name| advise_about_name(it, name)))
}

/// Checks that a run has this label: a name of `--label` is no run.
pub(crate) fn check_label(typed: &StoreArguments, label: &str) -> Result<(), CommandFailure> {
    let runs = store_access::list_runs(typed)?.runs;
    match runs.iter().any(|run| run.label.as_deref() == Some(label)) {
        true => Ok(()),
        false => {
            let filter = RunFilter { label: Some(label.to_owned()), ..RunFilter::default() };
            Err(run_list::no_match_failure(&filter, &runs))
        }
    }
}

/// Returns whether a name denotes a run or a label.
pub(crate) fn is_run(typed: &StoreArguments, name: &str) -> bool {
    store_access::open_for_reading(typed).is_ok_and(|store| store.resolve_all(name).is_ok())
}

/// Adds advice to the failure of a name that is no run but several names with commas, or a system with
/// published figures.
pub(crate) fn advise_about_name(failure: CommandFailure, name: &str) -> CommandFailure {
    let names: Vec<&str> = name.split(',').filter(|it| !it.is_empty()).collect();
    match names.len() > 1 && !path_text::decode_path(name).exists() {
        true => failure
            .advise(format!("separate runs by blanks, not by commas: {}", names.join(" "))),
        false => advise_about_system(failure, name),
    }
}

/// Adds advice to the failure of a name that is a system with published figures.
pub(crate) fn advise_about_system(failure: CommandFailure, name: &str) -> CommandFailure {
    match reference::full_system_name(name) {
        Some(system) => failure.advise(format!(
            "{system} is a system: `assay references {system}` prints its published figures, \
             `assay compare RUN {system}` compares a run with them"
        )),
        None => failure,
    }
}

/// Returns the failure for a system with published figures in the place of the run that is compared.
pub(crate) fn reject_first_system(
    typed: &StoreArguments,
    system: &str,
    other: &str,
) -> CommandFailure {
    let failure =
        CommandFailure::usage(format!("cannot compare the system {system} with {other}"))
            .with_reason("a comparison begins with a run: published figures have no samples");
    failure.advise(match reference::full_system_name(other) {
        _ if is_run(typed, other) => format!("`assay compare {other} {system}`"),
        Some(_) => format!(
            "`assay references {system}` and `assay references {other}` print the figures of both, \
             `assay compare RUN {system}` compares a run with them"
        ),
        None => format!("`assay compare RUN {system}` compares a run with its figures"),
    })
}

/// Adds advice to the failure of a name that is no run but a file.
pub(crate) fn advise_about_file(failure: CommandFailure, name: &str) -> CommandFailure {
    match path_text::decode_path(name).is_file() {
        true => failure.advise(format!(
            "{name} is a file: `assay import {name}` stores its results as a run"
        )),
        false => failure,
    }
}
