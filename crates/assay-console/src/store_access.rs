//! Opens the store and resolves run names, with errors that advise the user.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use assay_model::doubt::Doubt;
use assay_model::event::RequestedCommand;
use assay_model::run::Run;
use assay_model::workload::Workload;
use assay_store::{NamedRuns, ReadRun, ResolveError, RunListing, Store, StoreError};

use crate::failure::exit_code as exit_code_of;
use crate::headlines::HEADLINES;
use crate::options::{RecordArguments, StoreArguments, command_arguments};
use crate::terminal::Terminal;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::recording::{self, RecordingRequest};

/// Opens the named store or the user's default store, and creates it if it is missing.
pub fn open(typed: &StoreArguments) -> Result<Store, CommandFailure> {
    let folder = store_folder(typed).map_err(|error| CommandFailure::from_store(&error))?;
    let folder = folder.ok_or_else(|| {
        CommandFailure::measurement("cannot choose a folder for the store")
            .advise("name a folder with --store, or set XDG_DATA_HOME or HOME")
    })?;
    let store = Store::open(folder).map_err(|error| CommandFailure::from_store(&error))?;
    Ok(store.with_headlines(HEADLINES))
}

/// Opens the store for a command that emulates another tool; `None` with `--no-store`.
pub fn open_for_recording(typed: &RecordArguments) -> Result<Option<Store>, CommandFailure> {
    if typed.no_store { Ok(None) } else { open(&typed.store).map(Some) }
}

/// Returns the request to record a run of a command that emulates another tool. `language` is the
/// tool's name; `phases` are the cases of the run, by name.
pub fn recording_request<'s>(
    (typed, store): (&RecordArguments, Option<&'s Store>),
    language: &str,
    phases: Vec<(String, Workload)>,
) -> RecordingRequest<'s> {
    RecordingRequest {
        plan: recording::phase_plan(language, phases),
        asked: RequestedCommand { language: language.to_owned(), words: command_arguments() },
        label: typed.label.clone(),
        files: Vec::new(),
        store,
    }
}

/// Reads a raw output of a run or case by its name.
pub fn read_raw(
    store: &Store,
    outputs: &BTreeMap<String, String>,
    name: &str,
) -> Result<Vec<u8>, CommandFailure> {
    let hash = outputs.get(name).ok_or_else(|| {
        CommandFailure::measurement(format!("the run has no output named {name}"))
    })?;
    store.read_raw(hash).map_err(|error| CommandFailure::from_store(&error))
}

/// Lists all runs of the store. A missing default store counts as empty.
pub fn list_runs(typed: &StoreArguments) -> Result<RunListing, CommandFailure> {
    match open_existing(typed) {
        Err(StoreError::NoStore { .. }) if typed.folder.is_none() => {
            Ok(RunListing { runs: vec![], unreadable: vec![], doubts: vec![] })
        }
        store => store
            .and_then(|store| store.list())
            .map_err(|error| CommandFailure::from_store(&error)),
    }
}

/// Runs in the order of their measurement, oldest first.
#[derive(Debug)]
pub struct OrderedRuns {
    /// The runs.
    pub runs: Vec<Run>,
    /// Position of each run among all runs of the store.
    pub positions: Vec<usize>,
}

/// Reads the runs of one condition, oldest first.
///
/// `names` is a comma-separated list of runs and labels. A label selects all its runs.
pub fn read_condition(
    typed: &StoreArguments,
    (names, host): (&str, Option<&str>),
    terminal: &mut Terminal,
) -> Result<OrderedRuns, CommandFailure> {
    let mut runs: Vec<Run> = Vec::new();
    for name in names.split(',').map(str::trim) {
        for id in resolve_condition(typed, (name, host))? {
            // A run may be named both directly and by its label.
            if runs.iter().all(|it| it.started.run != id) {
                runs.push(read_and_warn(typed, &id, terminal)?);
            }
        }
    }
    order_runs(typed, runs)
}

/// Sorts runs by their position in the store's list. Start times are unreliable: the clock may have
/// been set back.
fn order_runs(typed: &StoreArguments, runs: Vec<Run>) -> Result<OrderedRuns, CommandFailure> {
    let listed = list_runs(typed)?.runs;
    let positions: HashMap<&str, usize> =
        listed.iter().rev().enumerate().map(|(at, run)| (run.id.as_str(), at)).collect();
    let position =
        |run: &Run| positions.get(run.started.run.as_str()).copied().unwrap_or(usize::MAX);
    let mut runs: Vec<(usize, Run)> =
        runs.into_iter().map(|run| (position(&run), run)).collect();
    runs.sort_by_key(|(position, _)| *position);
    let (positions, runs) = runs.into_iter().unzip();
    Ok(OrderedRuns { runs, positions })
}

/// Returns the identifiers of the runs that a name denotes, the newest first. A label of runs of
/// several machines is an error.
fn resolve_condition(
    typed: &StoreArguments,
    (name, host): (&str, Option<&str>),
) -> Result<Vec<String>, CommandFailure> {
    let store = open_for_reading(typed)?;
    let label_advice =
        |failure: CommandFailure| failure.advise("label runs with `assay run … --label NAME`");
    let named = store.resolve_all(name).map_err(resolve_failure).map_err(label_advice)?;
    let NamedRuns::Labelled(mut runs) = named else { return Ok(named.ids()) };
    runs.retain(|run| host.is_none_or(|host| run.host == host));
    if let (true, Some(host)) = (runs.is_empty(), host) {
        return Err(CommandFailure::usage(format!("no run of {host} has the label `{name}`"))
            .advise("`assay list` shows the hosts and labels of the stored runs"));
    }
    let mut machines: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    // A run without its first events has no host.
    for run in runs.iter().filter(|run| !run.host.is_empty()) {
        *machines.entry((&run.host, &run.fingerprint)).or_default() += 1;
    }
    if machines.len() > 1 {
        let counts = machines.iter().map(|((host, fingerprint), count)| {
            let runs = if *count == 1 { "run" } else { "runs" };
            format!("{count} {runs} of {host} ({fingerprint})")
        });
        let counts = counts.collect::<Vec<_>>().join(", ");
        return Err(CommandFailure::usage(format!(
            "label `{name}` matches runs of different machines"
        ))
        .with_reason(counts)
        .advise("choose one with --host, or name the runs, separated by commas"));
    }
    Ok(runs.into_iter().map(|run| run.id).collect())
}

/// Reads the run named `name` and prints warnings about events that could not be read.
pub fn read_and_warn(
    typed: &StoreArguments,
    name: &str,
    terminal: &mut Terminal,
) -> Result<Run, CommandFailure> {
    let read = read(typed, name)?;
    print_problems(&read, terminal);
    Ok(read.run)
}

/// Prints a warning, with file and line, for each part of a run that could not be read.
pub fn print_problems(read: &ReadRun, terminal: &mut Terminal) {
    let path = read.path.display();
    read.problems
        .iter()
        .for_each(|problem| terminal.note(&format!("warning: {path} {problem}")));
}

/// Returns the exit code of a command that printed a stored run: a failure if events were lost.
pub fn stored_run_exit_code(read: &ReadRun) -> u8 {
    if read.is_whole() { 0 } else { exit_code_of(FailureKind::Measurement) }
}

/// Reads the run named `name`.
pub fn read(typed: &StoreArguments, name: &str) -> Result<ReadRun, CommandFailure> {
    let store = open_for_reading(typed)?;
    read_run(&store, &resolve_run(&store, name)?)
        .map_err(|error| CommandFailure::from_store(&error))
}

/// Reads the run with this identifier. If events were lost, every report of it has a doubt.
pub fn read_run(store: &Store, id: &str) -> Result<ReadRun, StoreError> {
    let mut read = store.read(id)?;
    if !read.is_whole() {
        read.run.doubts.push(Doubt::EventsLost { count: read.lost_events() });
    }
    Ok(read)
}

/// Reads the named runs. Each name is a run or a label, which selects all its runs, oldest first.
pub fn read_all(
    typed: &StoreArguments,
    names: &[String],
) -> Result<Vec<ReadRun>, CommandFailure> {
    let mut all: Vec<ReadRun> = Vec::new();
    for name in names {
        for id in resolve_condition(typed, (name, None))?.iter().rev() {
            // A run may be named both directly and by its label.
            if all.iter().all(|it| it.run.started.run != *id) {
                all.push(read(typed, id)?);
            }
        }
    }
    Ok(all)
}

/// Resolves `name` to the identifier of a run.
pub fn resolve_run(store: &Store, name: &str) -> Result<String, CommandFailure> {
    store.resolve(name).map_err(resolve_failure)
}

/// Returns the failure for a name that denotes no run, or several where one is needed.
pub fn resolve_failure(error: ResolveError) -> CommandFailure {
    match error {
        ResolveError::Store(error) => CommandFailure::from_store(&error),
        error @ ResolveError::SeveralRuns { .. } => {
            CommandFailure::usage(error.to_string()).advise("name one of them")
        }
        error @ (ResolveError::NoRuns { .. }
        | ResolveError::Ambiguous { .. }
        | ResolveError::Unknown { .. }
        | ResolveError::TooFarBack { .. }) => CommandFailure::usage(error.to_string()).advise(
            "`assay list` shows the stored runs and their labels; latest and latest~1 name the \
             newest two",
        ),
    }
}

/// Opens an existing store for reading.
pub fn open_for_reading(typed: &StoreArguments) -> Result<Store, CommandFailure> {
    open_existing(typed).map_err(|error| CommandFailure::from_store(&error))
}

fn open_existing(typed: &StoreArguments) -> Result<Store, StoreError> {
    let folder = store_folder(typed)?.unwrap_or_default();
    Store::open_existing(folder).map(|store| store.with_headlines(HEADLINES))
}

/// Returns the named folder, or the default one; `None` if the environment has none.
fn store_folder(typed: &StoreArguments) -> Result<Option<PathBuf>, StoreError> {
    match typed.folder.clone() {
        Some(folder) => Ok(Some(folder)),
        None => assay_store::default_folder(|name| std::env::var_os(name)),
    }
}
