//! Runs mdtest's phases in order and stores them.
//!
//! Tasks are threads of this process, or the ranks of an MPI job. The caller receives events as they happen; nothing here
//! prints.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_dialects::mdtest::layout::TreeSize;
use assay_dialects::mdtest::options::MdtestOptions;
use assay_dialects::mdtest::phase::{MdtestPhase, list_phases};
use assay_dialects::mdtest::result::{MdtestReport, MdtestTest, PhaseResult, TaskHosts};
use assay_fleet::capacity;
use assay_model::path_text;
use assay_model::phrase::Phrase;
use assay_model::plan::Plan;
use assay_model::workload::Workload;
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::StoragePlan;
use jiff::Zoned;

use self::iteration::Iteration;
use self::record::TestRecord;
use self::test_folders::TestFolders;
use super::job_tasks::JobTasks;
use super::volume;
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::recording::{self, Recording, RecordingRequest};
use crate::stored_outcome::ToolOutcome;

mod iteration;
mod phase_outcome;
mod rank_details;
mod record;
mod status_file;
pub mod task_pass;
mod test_folders;

pub use self::test_folders::check;

/// Language of these runs.
pub const LANGUAGE: &str = "mdtest";

/// Event of a run.
#[derive(Debug)]
pub enum MdtestEvent<'n> {
    /// The run begins.
    RunStarted { report: &'n MdtestReport },
    /// The iterations of a number of tasks begin.
    TestStarted { test: &'n MdtestTest },
    /// A phase begins.
    PhaseStarted { phase: MdtestPhase, iteration: u32 },
    /// A phase has ended.
    Result { result: &'n PhaseResult },
    /// All iterations have ended.
    TestEnded { test: &'n MdtestTest },
    /// A folder stays, because it contains files of others or is a mount point.
    FolderStays { path: &'n Path },
    /// There is no status file, so each task has as many files as the options say.
    StatusFileMissing { file: &'n str },
}

/// Receiver of events.
pub type MdtestListener<'l> = dyn FnMut(MdtestEvent<'_>) + 'l;

impl ToolOutcome for MdtestReport {
    const TOOL: &'static str = LANGUAGE;
    const VERSION: u32 = 1;
}

/// Case of a run: a phase of a number of tasks, of which the iterations are samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MdtestStep {
    tasks: u32,
    phase: MdtestPhase,
}

/// Begins the report of a run on these tasks. The file system is that of the first folder.
pub fn begin_report(
    options: MdtestOptions,
    tasks: &JobTasks,
    (version, command): (&str, String),
) -> MdtestReport {
    let hosts = match tasks {
        JobTasks::Threads => None,
        JobTasks::Ranks(ranks) => {
            Some(TaskHosts::new(ranks.hosts().take(options.tasks as usize)))
        }
    };
    let path = options.paths.first().map(|path| path_text::decode_path(path));
    MdtestReport {
        version: version.to_owned(),
        command,
        began: format_now(),
        finished: String::new(),
        hosts,
        capacity: path.and_then(|path| capacity::file_system_capacity(&path)),
        options,
        tests: vec![],
    }
}

/// Runs all phases on all tasks; returns the report as stored. `folder` is that of the store, which also lists
/// the created folders.
///
/// # Errors
/// When a phase fails or cannot be stored, or the run is interrupted.
pub fn run(
    (mut report, tasks): (MdtestReport, &JobTasks),
    (opening, folder, listener): (RecordingRequest<'_>, Option<&Path>, &mut dyn Listener),
    stop: &AtomicBool,
    on: &mut MdtestListener<'_>,
) -> Result<MdtestReport, CommandFailure> {
    let options = report.options.clone();
    rank_details::check(&options)?;
    let mut folders = TestFolders::open(&options, folder)?;
    let mut recording = Recording::begin(opening, listener)?;
    on(MdtestEvent::RunStarted { report: &report });
    if let Some(file) =
        options.status_file.as_ref().filter(|_| status_file::is_missing(&options))
    {
        on(MdtestEvent::StatusFileMissing { file });
    }
    let verdict = rank_details::begin_file(&options)
        .and_then(|()| run_tests((&mut report, &mut folders, tasks), &mut recording, stop, on));
    let is_stopped = stop.load(Ordering::Relaxed);
    let cleaned = folders.close(verdict.is_err() || is_stopped, on);
    let verdict = match is_stopped {
        true => Err(CommandFailure::interrupted()),
        false => verdict.and(cleaned),
    };
    if verdict.is_ok() {
        report.finished = format_now();
    } else if !is_stopped {
        recording.mark_failed();
    }
    recording.store_outcome(&report)?;
    recording.finish(is_stopped)?;
    verdict.map(|()| report)
}

/// Runs the tests in order, up to the first that fails.
fn run_tests(
    (report, folders, job): (&mut MdtestReport, &mut TestFolders, &JobTasks),
    recording: &mut Recording<'_>,
    stop: &AtomicBool,
    on: &mut MdtestListener<'_>,
) -> Result<(), CommandFailure> {
    let options = report.options.clone();
    let steps = plan_steps(&options);
    for tasks in options.task_counts() {
        let items = TreeSize::from_options(&options).map_or(0, |size| size.items);
        report.tests.push(MdtestTest { tasks, items, results: vec![] });
        let Some(test) = report.tests.last_mut() else { continue };
        on(MdtestEvent::TestStarted { test });
        let mut record = TestRecord::new((&options, job), (tasks, items), &steps);
        let mut verdict = Ok(());
        for number in 0..options.iterations {
            let mut iteration =
                Iteration::new(&options, (tasks, number), (&mut *folders, job), stop)?;
            verdict = iteration.run(recording, (&mut *test, &mut record), on);
            if verdict.is_err() || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        record.store(recording)?;
        verdict?;
        if stop.load(Ordering::Relaxed) {
            break;
        }
        rank_details::append(&options, test)?;
        on(MdtestEvent::TestEnded { test });
    }
    Ok(())
}

/// Returns one line for each volume that a run uses.
pub fn describe_volumes(options: &MdtestOptions) -> Vec<Phrase> {
    let plan = FilePlan { phases: record::describe_phases(options) };
    volume::describe_volumes(&StoragePlan::default(), &plan)
}

/// Returns the phases as a plan for the store.
pub fn plan(options: &MdtestOptions) -> Plan {
    let phases = plan_steps(options).into_iter().map(|step| {
        let name = match options.task_counts().len() {
            1 => step.phase.operation().to_owned(),
            _ => format!("{}-tasks/{}", step.tasks, step.phase.operation()),
        };
        (name, Workload::Files(Box::new(record::describe_test(options, step))))
    });
    recording::phase_plan(LANGUAGE, phases.collect())
}

fn plan_steps(options: &MdtestOptions) -> Vec<MdtestStep> {
    let phases = list_phases(options);
    let steps = options
        .task_counts()
        .into_iter()
        .flat_map(|tasks| phases.iter().map(move |phase| MdtestStep { tasks, phase: *phase }));
    steps.collect()
}

/// Formats the current time like mdtest.
fn format_now() -> String {
    Zoned::now().strftime("%m/%d/%Y %H:%M:%S").to_string()
}
