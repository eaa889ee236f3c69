//! `assay fio`: runs fio's job files and options, prints fio's output, and stores the run like any
//! other.

use std::io::{BufWriter, Write as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use assay_dialects::fio::command_line::COMMAND_LINE;
use assay_dialects::fio::compile::{self, FioPlan, StreamRef};
use assay_dialects::fio::job_error::{FioJobError, FioJobErrorKind, FioLocation};
use assay_dialects::fio::outcome::FioOutcome;
use assay_dialects::fio::request::{FioFormat, FioRequest};
use assay_dialects::fio::verify_state::STATE_MAGIC;
use assay_dialects::fio::{debug, log, report, reported_job, statistics, text};
use assay_model::event::RequestedCommand;
use assay_model::path_text;
use assay_model::plan::Plan;
use assay_model::storage_outcome::{EndReason, StorageOutcome};
use assay_model::workload::file_set::FilePlan;
use assay_store::Store;

use self::invocation::FioInvocation;
use self::monitor::FioRunMonitor;
use self::record::StoredFioOutcome;
use self::status::StatusReports;
use crate::options::fio::FioArguments;
use crate::storage_plan::print_storage_plan;
use crate::terminal::Terminal;
use crate::unsupported_options::to_failure;
use crate::{output_file, signals, store_access};
use assay_console::live_progress::LiveProgress;
use assay_console::options::{RecordArguments, StoreArguments};
use assay_console::progress_listener::EmulationListener;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::job_file;
use assay_run::recording::{Recording, RecordingRequest};
use assay_run::storage::options::RunOptions;
use assay_run::storage::plan_check::{
    self, PlanRefusal, RefusedAspect, RequiredPhases, StreamOrigin,
};
use assay_run::storage::safe_open;
use assay_run::storage::{runner, volume};

mod disks;
mod invocation;
mod monitor;
pub mod record;
mod status;

/// Version of fio whose output is emulated, and the version of assay.
const VERSION: &str = concat!("fio-3.33 (assay ", env!("CARGO_PKG_VERSION"), ")");

/// Runs fio jobs and prints fio's output. Returns the exit code.
///
/// # Errors
/// Unsupported words or job files, targets that must not be overwritten, or failed I/O.
pub fn fio(typed: &FioArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    let invocation = FioInvocation::on_this_machine(&typed.words);
    let to_failure = |fault: FioJobError| locate_fault(&fault, &typed.words, &invocation);
    let request = invocation.parse().map_err(to_failure)?;
    if request.version {
        terminal.print(&format!("{VERSION}\n"));
        return Ok(0);
    }
    if let Some(path) = &request.printed_log {
        terminal.print(&read_log(path)?);
        return Ok(0);
    }
    if request.show_command {
        terminal.print(&format!("{}\n", request.to_command_line()));
        return Ok(0);
    }
    let plan = invocation.compile(&request).map_err(to_failure)?;
    if !request.parse_only {
        let required = if request.dry_run { RequiredPhases::All } else { RequiredPhases::Any };
        plan_check::check(&plan.plan, &run_options(&request, &plan), required)
            .map_err(|refusal| locate_refusal(*refusal, &request, &plan, &invocation))?;
        reject_foreign_logs(&plan)?;
        for message in volume::describe_volumes(&plan.plan, &FilePlan::default()) {
            print_note(&request, terminal, &message.to_string());
        }
    }
    for note in &plan.notes {
        print_note(&request, terminal, &format!("note: {note}"));
    }
    let mut debug = debug::lines(&request, &plan, std::process::id());
    if request.output.file.is_none() || request.dry_run || request.parse_only {
        terminal.print(&std::mem::take(&mut debug));
    }
    if request.dry_run {
        print_storage_plan(&plan.plan, false, terminal)?;
        return Ok(0);
    }
    if request.parse_only {
        return Ok(0);
    }
    let (words, invocation) = (&typed.words, &invocation);
    let fio_run = FioRun { words, invocation, request: &request, plan: &plan, debug };
    fio_run.execute(terminal)
}

/// Reads a log to print, which fio would have compressed, with the ending `.fz`.
fn read_log(path: &str) -> Result<String, CommandFailure> {
    let plain = path.strip_suffix(".fz").filter(|_| !path_text::decode_path(path).exists());
    let path = path_text::decode_path(plain.unwrap_or(path));
    let failed = || CommandFailure::usage(format!("cannot print the log {}", path.display()));
    let text = job_file::read(&path).map_err(|error| failed().with_cause(&error))?;
    String::from_utf8(text).map_err(|_| {
        failed()
            .with_reason("it is compressed, and assay's logs are plain text")
            .advise("use `fio --inflate-log` for a log of fio")
    })
}

/// Prints a note about the run: on standard error, or on standard output if results go to a file.
/// Scripts take output on standard error for a failure.
fn print_note(request: &FioRequest, terminal: &mut Terminal, text: &str) {
    match request.output.file {
        Some(_) => terminal.print(&format!("{text}\n")),
        None => terminal.note(text),
    }
}

/// Converts a fault to a failure with its location. The kind is wrong usage for the command line and
/// an invalid suite for a file.
fn locate_fault(
    fault: &FioJobError,
    words: &[String],
    invocation: &FioInvocation<'_>,
) -> CommandFailure {
    let origin = &fault.origin;
    let (kind, text) = match origin.file.as_str() {
        COMMAND_LINE => (FailureKind::Usage, words.join(" ")),
        file => (FailureKind::Suite, invocation.read_file(file).unwrap_or_default()),
    };
    let failure = match &*fault.kind {
        FioJobErrorKind::Unsupported(refusal) => to_failure(refusal, kind),
        described => CommandFailure::new(kind, described.to_string()).advise(fault.hint()),
    };
    let (start, end) = origin.span;
    if end > text.len() || start == end {
        return failure;
    }
    failure.at_span(&origin.file, &text, start..end)
}

/// Adds the line of the job that requested the rejected setting.
fn locate_refusal(
    refusal: PlanRefusal,
    request: &FioRequest,
    plan: &FioPlan,
    invocation: &FioInvocation<'_>,
) -> CommandFailure {
    let PlanRefusal { failure, origin: stream } = refusal;
    let Some(origin) = stream.and_then(|it| find_origin(it, request, plan)) else {
        return failure;
    };
    // Only files are quoted; the command line is still on the user's screen.
    let Ok(text) = invocation.read_file(&origin.file) else { return failure };
    let (start, end) = origin.span;
    failure.at_span(&origin.file, &text, start..end)
}

/// Finds the setting that caused the refusal, or else the section of its job.
fn find_origin<'r>(
    stream: StreamOrigin,
    request: &'r FioRequest,
    plan: &FioPlan,
) -> Option<&'r FioLocation> {
    let names: &[&str] = match stream.subject {
        RefusedAspect::Target => &["filename", "directory"],
        RefusedAspect::Rate => &["rate_iops", "rate"],
        RefusedAspect::Engine => &["hipri", "ioengine"],
        RefusedAspect::Sizes => &[
            "blocksize",
            "bs",
            "bsrange",
            "bssplit",
            "blockalign",
            "offset",
            "filesize",
            "size",
        ],
    };
    // A stream that reads back what it wrote belongs to the job of the previous phase.
    let clone_of = |phase| {
        move |it: &&compile::FioClone| it.part == StreamRef { phase, stream: stream.stream }
    };
    let clones = || plan.clones.iter();
    let previous = || clones().find(clone_of(stream.phase.checked_sub(1)?));
    let clone = clones().find(clone_of(stream.phase)).or_else(previous)?;
    let section = request.sections.get(clone.section)?;
    let settings = || section.globals.iter().chain(&section.own).rev();
    let find_setting = |name: &&str| {
        settings()
            .find(|it| it.option.spellings().any(|known| known == *name))
            .map(|it| &it.origin)
    };
    names.iter().find_map(find_setting).or(Some(&section.origin))
}

/// A fio invocation, parsed and compiled.
struct FioRun<'a> {
    words: &'a [String],
    invocation: &'a FioInvocation<'a>,
    request: &'a FioRequest,
    plan: &'a FioPlan,
    /// Lines of `--debug` at the start of the output file.
    debug: String,
}

impl FioRun<'_> {
    /// Runs the jobs, stores the run, and writes logs and results.
    fn execute(&self, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
        let Self { request, plan, .. } = *self;
        let options = run_options(request, plan);
        let store = store_access::open_for_recording(&record_arguments(request))?;
        let cancel = signals::cancel_on_signals()?;
        let planned = record::record_plan(plan);
        let mut quiet = EmulationListener::new(&record_arguments(request));
        let mut recording =
            Recording::begin(self.opening(&planned, store.as_ref()), &mut quiet)?;
        let on_screen =
            request.output.file.is_none() && request.output.formats == [FioFormat::Normal];
        let jobs = reported_job::reported_jobs(request, plan);
        let start = if on_screen { text::render_start(&jobs, VERSION) } else { String::new() };
        terminal.print(&start);
        let mut monitor = FioRunMonitor::new(options.end_phase.clone());
        let mut live = LiveProgress::default();
        let mut status = StatusReports::from_request(request);
        let mut written = self.debug.clone();
        let result = runner::run_plan(&plan.plan, &options, &cancel, &mut |event| {
            monitor.update(plan, &event, &mut |text| print_note(request, terminal, text));
            if let Some(status) = &mut status
                && let Some(text) =
                    status.update((request, plan), &event, || monitor.run_info())
            {
                self.print_status(&text, terminal, &mut written);
            }
            let number = monitor.measured_from_ms.len().saturating_sub(1);
            record::count_phase(&recording, (plan, number), &event);
            let phase = &plan.plan.phases[number];
            live.update(phase, &event, terminal);
        });
        terminal.end_progress();
        let run_info = monitor.run_info();
        let (outcomes, left) = match result {
            Ok(results) => (results.phases, results.left),
            Err(failure) => {
                record::record_abort(recording, &failure, cancel.load(Ordering::Relaxed))?;
                return Err(failure);
            }
        };
        let is_interrupted = outcomes.len() < plan.plan.phases.len()
            || outcomes.iter().flatten().any(|outcome| outcome.ended == EndReason::Interrupted);
        // Results are printed even if they could not be stored.
        let stored =
            record::record_phases(&mut recording, (plan, &outcomes), &planned, store.is_some());
        let outcomes: Vec<StorageOutcome> = match outcomes.into_iter().collect() {
            Ok(outcomes) => outcomes,
            Err(failure) => {
                stored.and_then(|()| recording.finish(is_interrupted))?;
                return Err(failure);
            }
        };
        let reported = StoredFioOutcome(FioOutcome::new(request, plan, &outcomes, run_info));
        let stored = stored.and_then(|()| recording.store_outcome(&reported));
        let unstored = stored.and_then(|()| recording.finish(is_interrupted)).err();
        write_logs(plan, &outcomes, &monitor.measured_from_ms)?;
        let output = report::render(&reported.0, &request.output.formats);
        match &request.output.file {
            None => terminal.print(output.strip_prefix(&start).unwrap_or(&output)),
            Some(path) => {
                output_file::write(&path_text::decode_path(path), &(written + &output))?;
            }
        }
        let failed = self.find_failure(&outcomes, terminal);
        match unstored.or(failed).or(left) {
            Some(failure) => Err(failure),
            None if is_interrupted => Err(CommandFailure::interrupted()),
            None => Ok(0),
        }
    }

    /// Returns the failure of the jobs. Prints a note if they tolerate all errors.
    fn find_failure(
        &self,
        outcomes: &[StorageOutcome],
        terminal: &mut Terminal,
    ) -> Option<CommandFailure> {
        let failure = runner::io_failure(&self.plan.plan, outcomes)?;
        if statistics::has_failed(self.plan, outcomes) {
            return Some(failure);
        }
        let note = format!("note: {}; continue_on_error tolerates it", failure.message());
        print_note(self.request, terminal, &note);
        None
    }

    /// Prints results so far, or keeps them for the output file.
    fn print_status(&self, text: &str, terminal: &mut Terminal, written: &mut String) {
        match self.request.output.file {
            None => terminal.print(text),
            Some(_) => written.push_str(text),
        }
    }

    fn opening<'s>(&self, plan: &Plan, store: Option<&'s Store>) -> RecordingRequest<'s> {
        let files = self.invocation.read_files();
        let asked = RequestedCommand {
            language: record::LANGUAGE.to_owned(),
            words: self.words.to_vec(),
        };
        let label = self.request.store_options.label.clone();
        RecordingRequest { plan: plan.clone(), asked, label, files, store }
    }
}

/// Returns the options of the run that the user set.
fn run_options(request: &FioRequest, plan: &FioPlan) -> RunOptions {
    RunOptions {
        destroy_data: request
            .destroy_data
            .iter()
            .map(|it| path_text::decode_path(it))
            .collect(),
        target_on_root: request.target_on_root,
        // fio keeps its files unless `unlink` is set.
        keep: !plan.options.iter().any(|job| job.unlink),
        keeps_partial: true,
        end_phase: has_steady_state(plan).then(Arc::default),
        store: request.store_options.store.as_deref().map(path_text::decode_path),
        ..RunOptions::default()
    }
}

/// Returns where the run is stored.
fn record_arguments(request: &FioRequest) -> RecordArguments {
    let keep = &request.store_options;
    RecordArguments {
        store: StoreArguments { folder: keep.store.as_deref().map(path_text::decode_path) },
        no_store: keep.no_store,
        label: keep.label.clone(),
    }
}

fn has_steady_state(plan: &FioPlan) -> bool {
    (0..plan.plan.phases.len()).any(|phase| compile::steady_window(plan, phase).is_some())
}

/// Rejects log paths at which there is another file. A log starts with a digit, that of its first
/// time; a trace with its format; a state of verification with its version.
fn reject_foreign_logs(plan: &FioPlan) -> Result<(), CommandFailure> {
    let is_log = |start: &[u8]| {
        start.first().is_some_and(u8::is_ascii_digit)
            || start.starts_with(b"fio version")
            || start.starts_with(&STATE_MAGIC)
    };
    log::log_files(plan).iter().try_for_each(|file| {
        safe_open::check_replaceable(&path_text::decode_path(&file.path), is_log).map_err(
            |error| {
                CommandFailure::usage(format!("cannot write the log {}", file.path))
                    .with_cause(&error)
                    .advise("set another name with write_bw_log or a similar option, or move that file")
            },
        )
    })
}

/// Writes the logs that the jobs request; existing logs are replaced, as by fio.
fn write_logs(
    plan: &FioPlan,
    outcomes: &[StorageOutcome],
    counted_from_ms: &[u64],
) -> Result<(), CommandFailure> {
    for file in log::log_files(plan) {
        let write = || {
            let mut writer = BufWriter::new(safe_open::open_output(
                &path_text::decode_path(&file.path),
                false,
            )?);
            file.write(plan, outcomes, counted_from_ms, &mut writer)?;
            writer.flush()
        };
        write().map_err(|error| {
            CommandFailure::measurement(format!("cannot write the log {}", file.path))
                .with_cause(&error)
                .advise("create its folder, or set another name with write_bw_log or a similar option")
        })?;
    }
    Ok(())
}
