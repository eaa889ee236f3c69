//! `assay mdtest`: runs mdtest's options and prints mdtest's output. Tasks are threads of this
//! process, or the ranks of an MPI launcher.

use std::time::{SystemTime, UNIX_EPOCH};

use assay_dialects::mdtest::layout::TreeSize;
use assay_dialects::mdtest::options::{MdtestOptions, MdtestOptionsError};
use assay_dialects::mdtest::phase::list_phases;
use assay_dialects::mdtest::result::MdtestReport;
use assay_dialects::mdtest::{command_line, text};
use assay_dialects::option::WordError;
use assay_model::event::RequestedCommand;
use assay_model::run::Run;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::listener::Listener;
use assay_run::recording::RecordingRequest;
use assay_run::storage::job_tasks::JobTasks;
use assay_run::storage::mdtest::{self as driver, MdtestEvent};
use assay_run::stored_outcome;
use assay_store::Store;

use crate::launcher;
use crate::options::ior::{OwnOptions, split_own_options};
use crate::options::mdtest::MdtestArguments;
use crate::signals;
use crate::store_access;
use crate::terminal::Terminal;
use crate::unsupported_options::to_failure;
use crate::word_location::with_words;
use assay_console::live_progress::LiveProgress;
use assay_console::options::RecordArguments;
use assay_console::progress_listener::EmulationListener;

/// Version of mdtest whose output is emulated, and the version of assay.
const VERSION: &str = concat!("4.1.0+dev (assay ", env!("CARGO_PKG_VERSION"), ")");

/// Runs mdtest's phases and prints mdtest's output. Returns the exit code.
///
/// # Errors
/// Unsupported words, folders that must not be changed, or a failed phase.
pub fn mdtest(typed: &MdtestArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    let OwnOptions { keep, library, words } = split_own_options(&typed.words)?;
    launcher::run_on_tasks(&library, terminal, |tasks, terminal| {
        run_on(tasks, &keep, words, terminal)
    })
}

fn run_on(
    tasks: &JobTasks,
    keep: &RecordArguments,
    words: Vec<String>,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let ranks = match tasks {
        JobTasks::Threads => None,
        JobTasks::Ranks(ranks) => Some(ranks.count()),
    };
    let mut options =
        command_line::parse_for_job(&words, ranks).map_err(|error| to_usage(&error, &words))?;
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    options.choose_random_seed(since_epoch.as_secs() as u32);
    for note in &options.notes {
        terminal.note(&format!("note: {note}"));
    }
    driver::check(&options, keep.store.folder.as_deref())?;
    for message in driver::describe_volumes(&options) {
        terminal.note(&message.to_string());
    }
    if options.dry_run {
        terminal.print(&describe_plan(&options));
        return Ok(0);
    }
    execute((&options, tasks), words, keep, terminal)
}

fn to_usage(error: &MdtestOptionsError, words: &[String]) -> CommandFailure {
    let (at, what) = match error {
        MdtestOptionsError::Words { at, what } => (at.clone(), what.as_ref()),
        other => (0..words.len(), other),
    };
    let failure = match what {
        MdtestOptionsError::Word(WordError::Unsupported(refusal)) => {
            to_failure(refusal, FailureKind::Usage)
        }
        described => CommandFailure::usage(described.to_string()).advise(described.hint()),
    };
    with_words(failure, words, at)
}

/// Describes the phases of an iteration.
fn describe_plan(options: &MdtestOptions) -> String {
    let Some(size) = TreeSize::from_options(options) else { return String::new() };
    let (iterations, folders) = (options.iterations, options.paths.join(", "));
    let mut lines = Vec::new();
    for tasks in options.task_counts() {
        let (directories, items) = (size.directories, size.items);
        lines.push(format!(
            "{tasks} tasks in {folders}: {directories} directories in a tree, {items} items of each task, \
             {iterations} iterations"
        ));
        let phases = list_phases(options);
        lines.extend(phases.iter().map(|phase| format!("  {}", phase.title().to_lowercase())));
    }
    lines.join("\n") + "\n"
}

fn execute(
    (options, tasks): (&MdtestOptions, &JobTasks),
    words: Vec<String>,
    keep: &RecordArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let store = store_access::open_for_recording(keep)?;
    let tool = (VERSION, text::format_command(&words));
    let report = driver::begin_report(options.clone(), tasks, tool);
    let opening = RecordingRequest {
        plan: driver::plan(options),
        asked: RequestedCommand { language: driver::LANGUAGE.to_owned(), words },
        label: keep.label.clone(),
        files: vec![],
        store: store.as_ref(),
    };
    let stop = signals::cancel_on_signals()?;
    let live = LiveProgress::default();
    let mut handle_event = |event: MdtestEvent<'_>| match event {
        MdtestEvent::RunStarted { report } => terminal.print(&text::render_head(report)),
        MdtestEvent::TestStarted { test } => {
            terminal.print(&text::render_start(options, test));
        }
        MdtestEvent::PhaseStarted { phase, iteration } => {
            let (title, number) = (phase.title(), iteration + 1);
            live.show_message(
                &format!("iteration {number}: {}", title.to_lowercase()),
                terminal,
            );
        }
        MdtestEvent::Result { result } => {
            terminal.end_progress();
            terminal.print(&text::render_result(options, result));
        }
        MdtestEvent::TestEnded { test } => {
            terminal.print(&text::render_summary(options, test));
        }
        MdtestEvent::FolderStays { path } => terminal.note(&format!(
            "note: {} stays: it contains files that assay did not create, or is a mount point",
            path.display()
        )),
        MdtestEvent::StatusFileMissing { file } => terminal.note(&format!(
            "note: there is no status file {file}: the number of files is that of -n"
        )),
    };
    let mut quiet = EmulationListener::new(keep);
    let recording = (opening, keep.store.folder.as_deref(), &mut quiet as &mut dyn Listener);
    let report = driver::run((report, tasks), recording, &stop, &mut handle_event)?;
    terminal.print(&text::render_end(&report));
    Ok(0)
}

/// Renders a stored run as mdtest would have printed it.
///
/// # Errors
/// The outcome of the run cannot be read.
pub fn render_stored(run: &Run, store: &Store) -> Result<String, CommandFailure> {
    stored_outcome::read::<MdtestReport>(run, store).map(|report| text::document(&report))
}
