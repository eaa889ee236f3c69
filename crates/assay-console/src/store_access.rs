//! Opens the store and resolves run names, with errors that advise the user.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use assay_model::event::RequestedCommand;
use assay_model::run::Run;
use assay_model::workload::Workload;
use assay_store::{NamedRuns, ReadRun, RunListing, Store, StoreLocation};

use crate::failure::ExitStatus;
use crate::headlines::HEADLINES;
use crate::options::{RecordArguments, StoreArguments, command_arguments};
use crate::terminal::Terminal;
use assay_run::failure::CommandFailure;
use assay_run::importing;
use assay_run::recording::{self, RecordingRequest};

/// Returns the location of the named store or the user's default store.
pub fn location(typed: &StoreArguments) -> StoreLocation {
    StoreLocation { folder: typed.folder.clone(), headlines: HEADLINES }
}

/// Opens the named store or the user's default store, and creates it if it is missing.
pub fn open(typed: &StoreArguments) -> Result<Store, CommandFailure> {
    let store = location(typed).create()?;
    store.ok_or_else(|| {
        CommandFailure::measurement("cannot choose a folder for the store")
            .advise("name a folder with --store, or set XDG_DATA_HOME or HOME")
    })
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
    store.read_raw(hash).map_err(CommandFailure::from)
}

/// Lists all runs of the store. A missing default store counts as empty.
pub fn list_runs(typed: &StoreArguments) -> Result<RunListing, CommandFailure> {
    location(typed).list().map_err(CommandFailure::from)
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
/// `names` is a label, or a comma-separated list of runs and labels. A label selects all its runs.
pub fn read_condition(
    typed: &StoreArguments,
    (names, host): (&str, Option<&str>),
    terminal: &mut Terminal,
) -> Result<OrderedRuns, CommandFailure> {
    let mut runs: Vec<Run> = Vec::new();
    let is_whole = names.contains(',') && resolve_all(typed, names).is_ok();
    let names = if is_whole { vec![names] } else { names.split(',').collect() };
    for name in names.into_iter().map(str::trim) {
        for id in resolve_condition(typed, (name, host))? {
            // A run may be named both directly and by its label.
            if runs.iter().all(|it| it.started.run != id) {
                let run = read_and_warn(typed, &id, terminal)?;
                check_host(&run, host)?;
                match runs.iter().find(|known| are_of_one_file(known, &run)) {
                    Some(known) => terminal.note(&format!(
                        "{id} was imported from the same file as {}: it counts once",
                        known.started.run
                    )),
                    None => runs.push(run),
                }
            }
        }
    }
    order_runs(typed, runs)
}

/// Whether two runs were imported from one file, and have the same cases: they are one measurement.
fn are_of_one_file(a: &Run, b: &Run) -> bool {
    let hashes = |run: &Run| -> BTreeSet<String> {
        let of_cases = run.cases.iter().flat_map(|it| it.raw.values());
        run.raw.values().chain(of_cases).cloned().collect()
    };
    let is_import = |run: &Run| run.started.plan.suite == importing::SUITE;
    let cases = |run: &Run| run.started.plan.cases.iter().map(|it| it.id.clone()).collect();
    let (cases_of_a, cases_of_b): (Vec<String>, Vec<String>) = (cases(a), cases(b));
    is_import(a)
        && is_import(b)
        && !hashes(a).is_empty()
        && hashes(a) == hashes(b)
        && cases_of_a == cases_of_b
}

/// Rejects a run of another host than the named one.
fn check_host(run: &Run, host: Option<&str>) -> Result<(), CommandFailure> {
    let own = run.first_host().map(|joined| joined.host.as_str());
    match (host, own) {
        (Some(host), Some(own)) if host != own => {
            let what = format!("run {} is of {own}, not of {host}", run.started.run);
            Err(CommandFailure::usage(what).advise("omit --host, or name a run of that host"))
        }
        _ => Ok(()),
    }
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

/// Returns the runs that a name denotes, the newest first.
fn resolve_all(typed: &StoreArguments, name: &str) -> Result<NamedRuns, CommandFailure> {
    open_for_reading(typed)?.resolve_all(name).map_err(|error| {
        CommandFailure::from(error).advise("label runs with `assay run … --label NAME`")
    })
}

/// Returns the identifiers of the runs of a condition, the newest first. A label of runs of several
/// machines is an error.
fn resolve_condition(
    typed: &StoreArguments,
    (name, host): (&str, Option<&str>),
) -> Result<Vec<String>, CommandFailure> {
    let named = resolve_all(typed, name)?;
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
            match fingerprint.is_empty() {
                true => format!("{count} {runs} of {host}"),
                false => format!("{count} {runs} of {host} ({fingerprint})"),
            }
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
    read.warnings().for_each(|warning| terminal.note(&warning));
}

/// Returns the exit status of a command that printed a stored run: a failure if events were lost.
pub const fn stored_run_status(read: &ReadRun) -> ExitStatus {
    if read.is_whole() { ExitStatus::Success } else { ExitStatus::Failed }
}

/// Reads the run named `name`.
pub fn read(typed: &StoreArguments, name: &str) -> Result<ReadRun, CommandFailure> {
    let store = open_for_reading(typed)?;
    store.read_with_doubts(&resolve_run(&store, name)?).map_err(CommandFailure::from)
}

/// Reads the named runs and prints warnings about events that could not be read. Each name is a run or
/// a label, which selects all its runs, of any machine, the oldest first.
pub fn read_all(
    typed: &StoreArguments,
    names: &[String],
    terminal: &mut Terminal,
) -> Result<Vec<ReadRun>, CommandFailure> {
    let mut all: Vec<ReadRun> = Vec::new();
    for name in names {
        for id in resolve_all(typed, name)?.ids().iter().rev() {
            // A run may be named both directly and by its label.
            if all.iter().all(|it| it.run.started.run != *id) {
                all.push(read(typed, id)?);
            }
        }
    }
    all.iter().for_each(|read| print_problems(read, terminal));
    Ok(all)
}

/// Resolves `name` to the identifier of a run.
pub fn resolve_run(store: &Store, name: &str) -> Result<String, CommandFailure> {
    store.resolve(name).map_err(CommandFailure::from)
}

/// Opens an existing store for reading.
pub fn open_for_reading(typed: &StoreArguments) -> Result<Store, CommandFailure> {
    location(typed).open_existing().map_err(CommandFailure::from)
}
