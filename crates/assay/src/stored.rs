//! Opens the store and finds runs in it, with errors that say what to do.

use std::path::PathBuf;

use assay_model::run::Run;
use assay_store::{Listing, ResolveError, Store, StoreError};

use crate::arguments::StoreArguments;
use crate::headlines::HEADLINES;
use assay_run::failure::Failure;

/// The store that was named, or the user's own; made if it is not there yet.
pub(crate) fn open(typed: &StoreArguments) -> Result<Store, Failure> {
    let store = Store::open(folder(typed)?).map_err(|error| Failure::of_store(&error))?;
    Ok(store.with_headlines(HEADLINES))
}

/// Every run of the store; an own store that was never written to is merely empty.
pub(crate) fn list(typed: &StoreArguments) -> Result<Listing, Failure> {
    match existing(typed) {
        Err(StoreError::NoStore { .. }) if typed.folder.is_none() => {
            Ok(Listing { runs: vec![], unreadable: vec![], warnings: vec![] })
        }
        store => {
            store.and_then(|store| store.list()).map_err(|error| Failure::of_store(&error))
        }
    }
}

/// Reads the runs of one condition: names separated by commas, each of a run or of a label, which
/// stands for its newest run.
pub(crate) fn runs(typed: &StoreArguments, names: &str) -> Result<Vec<Run>, Failure> {
    let one = |name: &str| match run(typed, name) {
        Err(unknown) => match newest_labelled(typed, name)? {
            Some(id) => run(typed, &id),
            None => {
                Err(unknown.advise("a label is given to a run with `assay run … --label NAME`"))
            }
        },
        found => found,
    };
    names.split(',').map(str::trim).map(one).collect()
}

fn newest_labelled(typed: &StoreArguments, label: &str) -> Result<Option<String>, Failure> {
    let runs = list(typed)?.runs;
    let found = runs.into_iter().find(|run| run.label.as_deref() == Some(label));
    Ok(found.map(|run| run.id))
}

/// Reads the run that `name` means.
pub(crate) fn run(typed: &StoreArguments, name: &str) -> Result<Run, Failure> {
    let store = existing(typed).map_err(|error| Failure::of_store(&error))?;
    let id = store.resolve(name).map_err(|error| match error {
        ResolveError::Store(error) => Failure::of_store(&error),
        unknown => Failure::usage(unknown.to_string()).advise(
            "`assay list` shows the stored runs; latest and latest~1 name the newest two",
        ),
    })?;
    store.read(&id).map(|read| read.run).map_err(|error| Failure::of_store(&error))
}

fn existing(typed: &StoreArguments) -> Result<Store, StoreError> {
    let folder = folder(typed).unwrap_or_default();
    Store::open_existing(folder).map(|store| store.with_headlines(HEADLINES))
}

fn folder(typed: &StoreArguments) -> Result<PathBuf, Failure> {
    let given = typed.folder.clone();
    given.or_else(|| assay_store::default_folder(|name| std::env::var_os(name))).ok_or_else(
        || {
            Failure::measurement("there is no place for the store")
                .advise("name a folder with --store, or set XDG_DATA_HOME or HOME")
        },
    )
}
