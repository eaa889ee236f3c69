//! `assay export`: writes the results of stored runs for other programs.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use assay_report::export::{ExportFormat, ExportedFiles, ExportedRun, Exporter};
use assay_stats::summarize::summarize;
use assay_store::{ListEntry, ReadRun, RunListing, Store};
use jiff::Timestamp;

use super::store_watch::StoreWatch;
use crate::arguments::export::ExportArguments;
use crate::arguments::file_extension;
use crate::failure::exit_code;
use crate::output_file;
use crate::signals;
use crate::store_access;
use crate::terminal::Terminal;
use assay_run::failure::{CommandFailure, FailureKind};

/// Interval between two looks at the store, and in which a signal is noticed.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) fn export(
    typed: &ExportArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    check_output(typed)?;
    if typed.follow {
        return follow(typed, terminal);
    }
    let listing = store_access::list_runs(&typed.store)?;
    let selection = select_runs(typed, &listing)?;
    if selection.runs.is_empty() && selection.unreadable.is_empty() {
        store_access::open_for_reading(&typed.store)?;
        return Err(CommandFailure::usage("no stored run matches")
            .advise("`assay list` shows the stored runs, `assay list --all` also those without a result"));
    }
    export_selection(typed, &selection, terminal)
}

/// Exports whenever the selected runs differ, until a signal comes. A file that cannot be written
/// keeps its contents, and is tried again.
fn follow(typed: &ExportArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    let cancel = signals::cancel_on_signals()?;
    let mut watch = StoreWatch::default();
    let mut exported: Option<RunSelection> = None;
    let mut is_missing = true;
    let mut last_failure = String::new();
    let mut next_look = Instant::now();
    while !cancel.load(Ordering::Relaxed) {
        if Instant::now() < next_look {
            thread::sleep(POLL_INTERVAL);
            continue;
        }
        next_look = Instant::now() + LOOK_INTERVAL;
        let store = store_access::open_for_reading(&typed.store).ok();
        if !watch.has_changed(store.as_ref()) && !is_missing {
            continue;
        }
        let written = store_access::list_runs(&typed.store).and_then(|listing| {
            watch.follow_running(store.as_ref(), &listing);
            let selection = select_runs(typed, &listing)?;
            let is_first = exported.is_none() && selection == RunSelection::default();
            if !is_first && exported.as_ref() != Some(&selection) {
                export_selection(typed, &selection, terminal)?;
                exported = Some(selection);
            }
            Ok(())
        });
        is_missing = written.is_err();
        let failure = written.err().map(|failure| failure.to_string()).unwrap_or_default();
        if !failure.is_empty() && failure != last_failure {
            terminal.note(&failure);
        }
        last_failure = failure;
    }
    Ok(0)
}

/// Writes the selected runs; returns the exit code.
fn export_selection(
    typed: &ExportArguments,
    selection: &RunSelection,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.export_format() == ExportFormat::Bencher && selection.runs.len() > 1 {
        return Err(CommandFailure::usage(format!(
            "a report of Bencher has one run, and {} runs match",
            selection.runs.len()
        ))
        .advise("name one run: `assay export bencher latest`"));
    }
    for (id, reason) in &selection.unreadable {
        terminal.note(&format!("warning: cannot read run {id}: {reason}"));
    }
    let store = store_access::open_for_reading(&typed.store)?;
    let mut exporter = Exporter::new(typed.export_format());
    let mut is_whole = selection.unreadable.is_empty();
    for id in &selection.runs {
        is_whole &= add_run(typed, (&store, id), &mut exporter, terminal);
    }
    let finished = exporter.finish();
    write_files(finished.files, typed, terminal)?;
    if finished.left_out > 0 {
        terminal.note(&format!(
            "warning: {} results are left out: without a value or a time, or a second one of a series at the same time",
            finished.left_out
        ));
    }
    Ok(if is_whole { 0 } else { exit_code(FailureKind::Measurement) })
}

/// Checks before reading that the output can be written.
fn check_output(typed: &ExportArguments) -> Result<(), CommandFailure> {
    if let Some(file) = &typed.output {
        file_extension::check_export_file(&typed.format_name(), file)?;
    }
    match (typed.export_format(), typed.output.as_deref()) {
        (ExportFormat::Parquet, None) => {
            Err(CommandFailure::usage("parquet needs a folder for its three files")
                .advise("name it: `assay export parquet -o DIR`"))
        }
        (ExportFormat::Parquet, Some(folder)) => {
            std::fs::create_dir_all(folder).map_err(|error| {
                CommandFailure::usage(format!("cannot create the folder {}", folder.display()))
                    .with_cause(&error)
                    .advise("parquet writes three files; name a folder for them")
            })
        }
        (_, Some(file)) => output_file::check_writable(file),
        (_, None) => Ok(()),
    }
}

/// Runs to export, oldest first, and runs that cannot be read, with the reason.
#[derive(Debug, Default, PartialEq, Eq)]
struct RunSelection {
    runs: Vec<String>,
    unreadable: Vec<(String, String)>,
}

/// Selects runs. Runs that are being measured are exported only if they are named.
fn select_runs(
    typed: &ExportArguments,
    listing: &RunListing,
) -> Result<RunSelection, CommandFailure> {
    let named = named_runs(typed, listing)?;
    let is_named = |id: &str| named.as_ref().is_none_or(|ids| ids.contains(id));
    let is_selected = |run: &&ListEntry| {
        is_named(&run.id) && typed.filter.matches(run) && (named.is_some() || !run.running)
    };
    let mut series = HashSet::new();
    let mut runs = Vec::new();
    for run in listing.runs.iter().filter(is_selected) {
        // The list begins with the newest run.
        let is_first = series.insert((&run.host, &run.suite, &run.label));
        if is_first || !typed.latest {
            runs.push(run.id.clone());
        }
    }
    let unreadable = listing.unreadable.iter().filter(|it| is_named(&it.id));
    Ok(RunSelection {
        runs: runs.into_iter().rev().collect(),
        unreadable: unreadable.map(|it| (it.id.clone(), it.reason.clone())).collect(),
    })
}

/// Resolves the named runs and labels; `None` without names.
fn named_runs(
    typed: &ExportArguments,
    listing: &RunListing,
) -> Result<Option<HashSet<String>>, CommandFailure> {
    if typed.runs.is_empty() {
        return Ok(None);
    }
    let store = store_access::open_for_reading(&typed.store)?;
    let mut ids = HashSet::new();
    for name in &typed.runs {
        let has_label = |run: &&ListEntry| run.label.as_ref() == Some(name) && !run.running;
        let labelled = listing.runs.iter().filter(has_label).map(|run| run.id.clone());
        match store_access::resolve_run(&store, name) {
            Ok(id) => {
                ids.insert(id);
            }
            Err(failure) => {
                let before = ids.len();
                ids.extend(labelled);
                if ids.len() == before {
                    return Err(failure.advise("or name a label of runs"));
                }
            }
        }
    }
    Ok(Some(ids))
}

/// Adds a run to the export. Returns whether all of it could be read; prints what could not.
fn add_run(
    typed: &ExportArguments,
    (store, id): (&Store, &str),
    exporter: &mut Exporter,
    terminal: &mut Terminal,
) -> bool {
    match store_access::read_run(store, id) {
        Ok(read) => {
            store_access::print_problems(&read, terminal);
            let is_whole = read.is_whole();
            let mut run = exported_run(read);
            if let Some(metric) = &typed.filter.metric {
                run.retain_metric(metric);
            }
            exporter.add(&run);
            is_whole
        }
        Err(error) => {
            let failure = CommandFailure::from_store(&error);
            terminal.note(&format!("warning: cannot read run {id}: {}", failure.reason()));
            false
        }
    }
}

fn exported_run(read: ReadRun) -> ExportedRun {
    let is_whole = read.is_whole();
    let started = read.run.started.started.parse::<Timestamp>().ok();
    let started_ns = started.and_then(|it| i64::try_from(it.as_nanosecond()).ok());
    let summary = summarize(&read.run);
    ExportedRun::new(read.run, summary, (started_ns, is_whole))
}

fn write_files(
    files: ExportedFiles,
    typed: &ExportArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    match (files, typed.output.as_deref()) {
        (ExportedFiles::Text(text), Some(file)) => output_file::write(file, text),
        (ExportedFiles::Text(text), None) => {
            terminal.print(&text);
            Ok(())
        }
        (ExportedFiles::Files(files), folder) => {
            let folder = folder.unwrap_or(Path::new("."));
            files
                .iter()
                .try_for_each(|(name, bytes)| output_file::write(&folder.join(name), bytes))
        }
    }
}
