//! MPI benchmarks: the launcher starts this program as the ranks, and rank 0 writes the outcome to
//! a file. This process itself loads no MPI.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_adapters::mpi_launch::{self, HostPair};
use assay_fleet::process::{self, ChildCommand, CompletedChild, ProcessError};
use assay_fleet::shared_memory::MpiSegments;
use assay_model::attribute::{Attribute, AttributeValue, RankBinding};
use assay_model::doubt::Doubt;
use assay_model::event::StopReason;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::mpi_outcome::{MpiOutcome, MpiRank};
use assay_model::path_text;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::Case;
use assay_model::quantity::Unit;
use assay_model::workload::MpiWorkload;

use super::RunCache;
use crate::fleet::ranks::RemoteRanks;
use crate::forecast::launch_budget_s;
use crate::measurement_loop::Turns;
use crate::recorder::{CaseError, Recorder};

mod verdict;

/// Seconds that a launch may take beyond the budget of its case: launchers of large machines start
/// slowly.
const LAUNCH_MARGIN_S: f64 = 120.0;
/// File in which rank 0 writes its measurements.
const OUTCOME_FILE: &str = "outcome.json";

/// Returns the turns of a case; each turn is one launch.
pub(super) fn turns<'c>(
    case: &'c Case,
    work: &'c MpiWorkload,
    cache: &'c RefCell<RunCache>,
) -> Turns<'c> {
    let mut launches = 0..;
    Box::new(move |recorder| {
        let launch = launches.next().expect("a range without an end has a next number");
        if launch == 0 {
            warn_if_over_budget(case, work, cache.borrow().launch_overhead_s(work), recorder);
        }
        let start_s = recorder.elapsed_s();
        let stop_reason = run_turn(case, work, launch, recorder)?;
        if work.preset.is_assay() {
            let overhead_s = recorder.elapsed_s() - start_s - launch_budget_s(case);
            cache.borrow_mut().record_launch(work, overhead_s);
        }
        Ok(stop_reason)
    })
}

/// Warns before the first launch if earlier cases show that the ranks take longer to start than the
/// case's budget.
fn warn_if_over_budget(
    case: &Case,
    work: &MpiWorkload,
    overhead_s: Option<f64>,
    recorder: &mut Recorder<'_, '_>,
) {
    let Some(overhead_s) = overhead_s else { return };
    let least_s = overhead_s + if work.preset.is_assay() { launch_budget_s(case) } else { 0.0 };
    recorder.note_if_over_budget(least_s - case.stopping.budget_s, |budget| {
        phrase!(
            "launch-over-budget",
            "one launch of {case} takes at least {least}, but the budget is {budget}",
            case = case.id.as_str(),
            least = Phrase::approximate(least_s, Unit::Second),
            budget = budget,
        )
    });
}

/// Launches the ranks once and returns the reason to stop, or `None` if another launch is
/// worthwhile.
///
/// A launch is a preparation: it allocates new buffers and opens new connections. A single launch
/// therefore shows no variance between launches.
fn run_turn(
    case: &Case,
    work: &MpiWorkload,
    launch: u32,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<StopReason>, CaseError> {
    let start_s = recorder.elapsed_s();
    let result = launch_once(case, work, launch, recorder);
    // The output explains a failed launch: store it even if the samples do not count.
    recorder.flush()?;
    result?;
    let launch_s = recorder.elapsed_s() - start_s;
    if launch + 1 >= case.stopping.preparations.max(1) && recorder.is_precise() {
        return Ok(Some(StopReason::Precise));
    }
    if recorder.elapsed_s() + launch_s > recorder.budget_s() {
        return Ok(Some(StopReason::Budget));
    }
    recorder.begin_preparation().map(|()| None)
}

fn launch_once(
    case: &Case,
    work: &MpiWorkload,
    launch: u32,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let folder = tempfile::Builder::new()
        .prefix("assay-mpi-")
        .tempdir()
        .map_err(|error| CaseError::from_error(ErrorArea::TemporaryFolder, &error))?;
    let file = folder.path().join(OUTCOME_FILE);
    let remote = RemoteRanks::connect(recorder, work.mpi.starter, folder.path())?;
    let is_one_kernel = remote.as_ref().is_some_and(|it| it.is_one_kernel);
    let command = build_command(case, work, launch, &file, remote.as_ref())?;
    if launch == 0 {
        let commands = [("run".to_owned(), format_command(&command))].into();
        recorder.add_fact(Attribute::Commands, AttributeValue::Pairs(commands));
    }
    let segments = MpiSegments::scan();
    let result = run_launcher(&command, remote, recorder.cancel());
    if !result.as_ref().is_ok_and(CompletedChild::is_success) {
        // A killed library leaves its shared memory behind.
        segments.remove_new();
    }
    let completed = result.map_err(|error| launch_error(error, work))?;
    store_output(&completed, launch, recorder)?;
    let outcome_bytes = std::fs::read(&file).ok();
    if let Some(bytes) = &outcome_bytes {
        recorder.store_raw(&format!("launch.{launch}.{OUTCOME_FILE}"), bytes)?;
    }
    let outcome =
        outcome_bytes.and_then(|bytes| serde_json::from_slice::<MpiOutcome>(&bytes).ok());
    let outcome = verdict::check_outcome(outcome, &completed, work, &format_command(&command))?;
    if launch == 0 {
        record_facts(&outcome, work, &completed, recorder);
        is_one_kernel.then(|| recorder.add_doubt(Doubt::OneKernel));
    }
    recorder.record_all(outcome.to_entries());
    Ok(())
}

/// Runs the launcher, and serves the ranks that it starts on the other host of a pair.
fn run_launcher(
    command: &ChildCommand,
    remote: Option<RemoteRanks>,
    cancel: &AtomicBool,
) -> Result<CompletedChild, ProcessError> {
    let launcher_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        if let Some(remote) = remote {
            let ended = &launcher_ended;
            thread::Builder::new().spawn_scoped(scope, move || remote.serve(ended)).map_err(
                |source| ProcessError::Start { program: (&command.program).into(), source },
            )?;
        }
        let result = process::run(command, cancel);
        launcher_ended.store(true, Ordering::Relaxed);
        result
    })
}

/// Builds the command of the launcher, whose ranks run `assay mpi`.
fn build_command(
    case: &Case,
    work: &MpiWorkload,
    launch: u32,
    file: &Path,
    remote: Option<&RemoteRanks>,
) -> Result<ChildCommand, CaseError> {
    let program = std::env::current_exe()
        .map_err(|error| CaseError::from_error(ErrorArea::OwnProgram, &error))?;
    let mut words = vec!["mpi".to_owned(), work.test.name().to_owned()];
    words.extend(["--mpi-library".to_owned(), work.mpi.library.clone()]);
    words.extend(["--raw".to_owned(), path_text::encode(file.as_os_str())]);
    words.extend(["--budget".to_owned(), format!("{:.3}s", launch_budget_s(case))]);
    if !work.preset.is_assay() {
        words.extend(["--preset".to_owned(), work.preset.name().to_owned()]);
    }
    if launch == 0 && !work.test.kind().is_startup() {
        // Compares all contents in an extra pass; one launch suffices to check the library.
        words.push("-c".to_owned());
    }
    if work.test.has_size_range() {
        words.extend(["-m".to_owned(), format!("{}:{}", work.from_bytes, work.to_bytes)]);
    }
    let launch = match remote {
        None => mpi_launch::build_launch(work, &path_text::encode(program.as_os_str()), &words),
        Some(remote) => {
            let shell = path_text::encode(remote.shell.as_os_str());
            let RemoteRanks { addresses, programs, .. } = remote;
            mpi_launch::build_pair_launch(
                work,
                &HostPair { addresses, programs, shell },
                &words,
            )
        }
    };
    let mut command = ChildCommand::new(path_text::decode_path(&launch.program));
    command.arguments = launch.arguments.iter().map(|it| path_text::decode_word(it)).collect();
    let variables = launch.environment.iter();
    command.environment = variables
        .map(|(name, value)| (name.into(), Some(path_text::decode_word(value))))
        .collect();
    // Launchers start their ranks in a folder with the same path.
    command.directory = remote.map(|_| "/".into());
    command.deadline = Some(Duration::from_secs_f64(case.stopping.budget_s + LAUNCH_MARGIN_S));
    Ok(command)
}

/// Formats the command for a user: without `--raw`, it prints the figures as a table.
fn format_command(command: &ChildCommand) -> String {
    let variables = command.environment.iter().filter_map(|(name, value)| {
        Some(format!("{}={}", name.to_string_lossy(), value.as_ref()?.to_string_lossy()))
    });
    let program = std::iter::once(command.program.to_string_lossy().into_owned());
    let words: Vec<String> =
        command.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let raw = words.iter().position(|word| word == "--raw").unwrap_or(words.len());
    let is_raw_option = |i: usize| i == raw || i == raw + 1;
    let arguments = (0..words.len()).filter(|i| !is_raw_option(*i)).map(|i| words[i].clone());
    variables.chain(program).chain(arguments).collect::<Vec<_>>().join(" ")
}

fn launch_error(error: ProcessError, work: &MpiWorkload) -> CaseError {
    match error {
        ProcessError::Cancelled { .. } => CaseError::Interrupted,
        ProcessError::Deadline { .. } => CaseError::from_error(ErrorArea::Rank, &error),
        other => CaseError::Failed(FailureReason::LauncherNotRun {
            launcher: work.mpi.launcher.clone(),
            causes: FailureReason::error_chain(&other),
        }),
    }
}

fn store_output(
    completed: &CompletedChild,
    launch: u32,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let streams = [("stdout", &completed.output.stdout), ("stderr", &completed.output.stderr)];
    for (name, bytes) in streams.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
        recorder.store_raw(&format!("launch.{launch}.{name}"), bytes)?;
    }
    Ok(())
}

fn record_facts(
    outcome: &MpiOutcome,
    work: &MpiWorkload,
    completed: &CompletedChild,
    recorder: &mut Recorder<'_, '_>,
) {
    recorder.record_all(outcome.to_facts());
    recorder.add_fact(Attribute::Prefix, work.mpi.prefix.as_str());
    let CompletedChild { output, .. } = completed;
    let printed = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    if let Some(transport) = mpi_launch::find_transport(&work.mpi, &printed.concat()) {
        recorder.add_fact(Attribute::Transport, transport);
    }
    if let Some(doubt) = binding_mismatch(outcome, work) {
        recorder.add_doubt(doubt);
    }
}

fn binding_mismatch(outcome: &MpiOutcome, work: &MpiWorkload) -> Option<Doubt> {
    let requested = &work.placement.cpus;
    let differs = |(rank, cpu): (&MpiRank, &u32)| rank.cpus != [*cpu];
    if requested.is_empty() || !outcome.ranks.iter().zip(requested).any(differs) {
        return None;
    }
    Some(Doubt::OtherBinding {
        bound: RankBinding::format_line(&outcome.rank_bindings()),
        asked: requested.clone(),
    })
}
