//! `assay ior`: runs IOR's options and prints IOR's output. Ranks are threads of this process, or
//! those of an MPI launcher.

use assay_dialects::ior::compile::compile;
use assay_dialects::ior::options::{IorFormat, IorOptions, IorOptionsError};
use assay_dialects::ior::rank_placement::RankPlacement;
use assay_dialects::ior::text::{IorRunInfo, csv};
use assay_dialects::ior::{command_line, json, text};
use assay_dialects::option::WordError;
use assay_fleet::root::Root;
use assay_model::event::RequestedCommand;
use assay_model::path_text;
use assay_model::run::Run;
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::StoragePlan;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::listener::Listener;
use assay_run::recording::RecordingRequest;
use assay_run::storage::ior::{self as driver, IorEvent, IorOutcome};
use assay_run::storage::job_tasks::JobTasks;
use assay_run::storage::plan_check::{PlanRefusal, RefusedAspect, RequiredPhases};
use assay_run::storage::volume;
use assay_run::stored_outcome;
use assay_store::Store;

use crate::launcher;
use crate::options::ior::{IorArguments, OwnOptions, split_own_options};
use crate::output_file;
use crate::signals;
use crate::storage_plan::print_storage_plan;
use crate::store_access;
use crate::terminal::Terminal;
use crate::unsupported_options::to_failure;
use crate::word_location::with_words;
use assay_console::live_progress::LiveProgress;
use assay_console::options::RecordArguments;
use assay_console::progress_listener::EmulationListener;
use assay_run::job_file;

/// Version of IOR whose output is emulated, and the version of assay.
const VERSION: &str = concat!("4.1.0+dev (assay ", env!("CARGO_PKG_VERSION"), ")");
/// Files named on the command line, with their contents.
type NamedFiles = Vec<(String, Vec<u8>)>;

/// Runs IOR tests and prints IOR's output. Returns the exit code.
///
/// # Errors
/// Unsupported words or scripts, targets that must not be overwritten, or failed tests.
pub fn ior(typed: &IorArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
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
    let mut files = NamedFiles::new();
    let mut load = |path: &str| {
        let text = job_file::read_text(&path_text::decode_path(path))?;
        files.push((path.to_owned(), text.clone().into_bytes()));
        Ok(text)
    };
    let placement = match tasks {
        JobTasks::Threads => None,
        JobTasks::Ranks(ranks) => RankPlacement::from_hosts(ranks.hosts()),
    };
    let tests = parse_tests(&words, &mut load, placement)?;
    let notes: std::collections::BTreeSet<&String> =
        tests.iter().flat_map(|options| &options.notes).collect();
    for note in notes {
        terminal.note(&format!("note: {note}"));
    }
    let is_dry = tests.iter().any(|options| options.dry_run);
    let required = if is_dry { RequiredPhases::All } else { RequiredPhases::Any };
    driver::check(&tests, keep.store.folder.as_deref(), required)
        .map_err(|(refusal, test)| locate_refusal(*refusal, &tests[test], &words, &files))?;
    // Once for all tests, because each reads the mounts.
    let phases = tests.iter().flat_map(|options| compile(options, 0).0.phases).collect();
    volume::describe_volumes(&StoragePlan { phases }, &FilePlan::default())
        .iter()
        .for_each(|message| terminal.note(&message.to_string()));
    if is_dry {
        for options in &tests {
            print_storage_plan(&compile(options, 0).0, false, terminal)?;
        }
        return Ok(0);
    }
    let store = store_access::open_for_recording(keep)?;
    let run_info = run_info(&words);
    let opening = RecordingRequest {
        plan: driver::plan(&tests),
        asked: RequestedCommand { language: driver::LANGUAGE.to_owned(), words },
        label: keep.label.clone(),
        files,
        store: store.as_ref(),
    };
    execute((&tests, tasks), (opening, keep), &run_info, terminal)
}

/// Adds the location of the rejected setting: the word on the command line, or in a script the
/// directive, or else the last line of the test.
fn locate_refusal(
    refusal: PlanRefusal,
    test: &IorOptions,
    words: &[String],
    files: &NamedFiles,
) -> CommandFailure {
    let PlanRefusal { failure, origin } = refusal;
    let (directives, letters): (&[&str], &[&str]) = match origin.map(|it| it.subject) {
        Some(RefusedAspect::Sizes) => {
            (&["transfersize", "blocksize", "useo_direct", "testfile"], &["-t", "-b", "-o"])
        }
        Some(RefusedAspect::Target | RefusedAspect::Rate | RefusedAspect::Engine) | None => {
            (&["testfile"], &["-o"])
        }
    };
    let Some((name, ends_at)) = &test.script else {
        let last_position =
            |letter: &&str| words.iter().rposition(|word| word.starts_with(letter));
        let Some(position) = letters.iter().find_map(last_position) else { return failure };
        let is_alone = words[position].len() == "-o".len();
        return with_words(failure, words, position..position + 1 + usize::from(is_alone));
    };
    let Some((_, text)) = files.iter().find(|(file, _)| file == name) else { return failure };
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.split_inclusive('\n').take(*ends_at).collect();
    let has_name = |line: &str, name: &str| line.to_ascii_lowercase().contains(name);
    let line =
        directives.iter().find_map(|name| lines.iter().rposition(|it| has_name(it, name)));
    match line.or(lines.len().checked_sub(1)) {
        Some(position) => with_line(failure, name, &text, position),
        None => failure,
    }
}

/// Adds a line of a file, counted from 0, as the location.
fn with_line(failure: CommandFailure, file: &str, text: &str, line: usize) -> CommandFailure {
    let lines: Vec<&str> = text.split_inclusive('\n').take(line + 1).collect();
    let Some((last, earlier)) = lines.split_last() else { return failure };
    let start: usize = earlier.iter().map(|line| line.len()).sum();
    failure.at_span(file, text, start..start + last.trim_end().len())
}

fn parse_tests(
    words: &[String],
    load: &mut command_line::ScriptLoader<'_>,
    placement: Option<RankPlacement>,
) -> Result<Vec<IorOptions>, CommandFailure> {
    command_line::parse_for_job(words, load, placement).map_err(|error| {
        let failure = match error.without_location() {
            IorOptionsError::Word(WordError::Unsupported(refusal)) => {
                to_failure(refusal, FailureKind::Usage)
            }
            described => CommandFailure::usage(described.to_string()).advise(error.hint()),
        };
        match error {
            IorOptionsError::Words { at, .. } => with_words(failure, words, at),
            IorOptionsError::Line { file, line, .. } => match load(&file) {
                Ok(text) => with_line(failure, &file, &text, line - 1),
                Err(_) => failure,
            },
            _ => failure,
        }
    })
}

/// Runs the tests and writes their results. The first test determines the format and the file of the
/// output.
fn execute(
    (tests, tasks): (&[IorOptions], &JobTasks),
    (opening, keep): (RecordingRequest<'_>, &RecordArguments),
    run_info: &IorRunInfo,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let stop = signals::cancel_on_signals()?;
    let (format, file) = (tests[0].format, tests[0].summary_file.clone());
    let on_screen = format == IorFormat::Text && file.is_none();
    let mut live = LiveProgress::default();
    let mut handle_event = |event: IorEvent<'_>| match event {
        IorEvent::PhaseProgress { phase, event } => live.update(phase, event, terminal),
        IorEvent::TimeIsUp { repetitions } => {
            terminal.note(&format!("-T: {repetitions} repetitions in the time"));
        }
        IorEvent::TestStarted { .. } | IorEvent::Result { .. } | IorEvent::TestEnded { .. }
            if !on_screen => {}
        IorEvent::TestStarted { test, number } => {
            if number == 0 {
                terminal.print(&text::render_head(run_info));
            }
            terminal.print(&text::render_start(test, number));
        }
        IorEvent::Result { options, result } => {
            terminal.print(&text::render_result(options, result));
        }
        IorEvent::TestEnded { test } => terminal.print(&text::render_maximum(test)),
    };
    let mut quiet = EmulationListener::new(keep);
    let recording = (opening, keep.store.folder.as_deref(), &mut quiet as &mut dyn Listener);
    let asked = (run_info, tests, tasks);
    let completed = driver::run_tests(asked, recording, &stop, &mut handle_event)?;
    let IorOutcome { tests: results, finished, .. } = &completed.outcome;
    if results.iter().all(|test| test.results.is_empty()) {
        return Err(completed
            .io_failure
            .unwrap_or_else(|| CommandFailure::measurement("nothing was measured")));
    }
    let output = match format {
        IorFormat::Text if on_screen => text::render_end(results, finished),
        IorFormat::Text => text::document(run_info, results, finished),
        IorFormat::Json => json::document(run_info, results, finished),
        IorFormat::Csv => csv(results),
    };
    match file {
        None => terminal.print(&output),
        Some(path) => output_file::write(&path_text::decode_path(&path), &output)?,
    }
    completed.io_failure.map_or(Ok(0), Err)
}

/// Renders a stored run as IOR would have printed it.
///
/// # Errors
/// The outcome of the run cannot be read.
pub fn render_stored(
    run: &Run,
    store: &Store,
    as_json: bool,
) -> Result<String, CommandFailure> {
    let IorOutcome { info, tests, finished } = stored_outcome::read(run, store)?;
    Ok(match as_json {
        true => json::document(&info, &tests, &finished),
        false => text::document(&info, &tests, &finished),
    })
}

fn run_info(words: &[String]) -> IorRunInfo {
    let root = Root::machine();
    let kernel_name = |name: &str| {
        let text = root.text(&format!("proc/sys/kernel/{name}"));
        text.map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned())
    };
    IorRunInfo {
        version: VERSION.to_owned(),
        began: driver::format_now(),
        command: format!("ior {}", words.join(" ")),
        machine: (kernel_name("ostype"), kernel_name("hostname")),
    }
}
