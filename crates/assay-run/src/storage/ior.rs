//! Runs IOR's tests in order and stores them.
//!
//! Ranks are threads of this process, or those of an MPI job. The caller receives events as they
//! happen; nothing here prints.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_dialects::ior::compile::{self, IorAccess, compile};
use assay_dialects::ior::options::IorOptions;
use assay_dialects::ior::result::{AccessResult, IorTestResult};
use assay_dialects::ior::text::IorRunInfo;
use assay_fleet::capacity;
use assay_model::facts::FileSystemCapacity;
use assay_model::plan::Plan;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::Workload;
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::{StoragePhase, StorageTest};
use jiff::Zoned;
use serde::{Deserialize, Serialize};

use self::test::RunningIorTest;
use super::job_tasks::JobTasks;
use super::plan_check::{self, PlanRefusal, RequiredPhases};
use super::runner::StorageEvent;
use super::volume;
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::recording::{self, Recording, RecordingRequest};
use crate::stored_outcome::ToolOutcome;

mod old_data;
mod rank_details;
mod test;

/// Language of these runs.
pub const LANGUAGE: &str = "ior";

/// Event of a run.
#[derive(Debug)]
pub enum IorEvent<'n> {
    /// A test begins; its number counts from 0.
    TestStarted { test: &'n IorTestResult, number: usize },
    /// A phase makes progress.
    PhaseProgress { phase: &'n StoragePhase, event: &'n StorageEvent<'n> },
    /// A result is available.
    Result { options: &'n IorOptions, result: &'n AccessResult },
    /// No further repetition begins, because the minutes of `-T` are over.
    TimeIsUp { repetitions: u32 },
    /// A test has ended.
    TestEnded { test: &'n IorTestResult },
}

/// Receiver of events.
pub type IorListener<'l> = dyn FnMut(IorEvent<'_>) + 'l;

/// Outcome of all tests.
#[derive(Debug, Serialize, Deserialize)]
pub struct IorOutcome {
    /// Version, command and machine.
    pub info: IorRunInfo,
    /// Tests with their results, up to the first that failed.
    pub tests: Vec<IorTestResult>,
    /// End time: `Sat Nov 21 14:47:48 2026`.
    pub finished: String,
}

impl ToolOutcome for IorOutcome {
    const TOOL: &'static str = "ior";
    const VERSION: u32 = 1;
}

/// Finished run.
#[derive(Debug)]
pub struct CompletedIorRun {
    /// Outcome as stored.
    pub outcome: IorOutcome,
    /// First failed I/O; later I/O continued.
    pub io_failure: Option<CommandFailure>,
}

/// Phase of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
struct IorStep {
    test: usize,
    repetition: u32,
    access: IorAccess,
    /// Whether it is the rest after a deadline.
    is_rest: bool,
}

/// Refuses tests that cannot be carried out, before anything is shown; files that an earlier test
/// leaves count as present.
///
/// # Errors
/// The first refusal, and the number of its test.
pub fn check(
    tests: &[IorOptions],
    folder: Option<&Path>,
    extent: RequiredPhases,
) -> Result<(), (Box<PlanRefusal>, usize)> {
    let mut kept_files = HashSet::new();
    for (number, options) in tests.iter().enumerate() {
        let is_left = kept_files.contains(&options.test_file);
        check_test(options, is_left, folder, extent).map_err(|refusal| (refusal, number))?;
        if options.write && options.keep {
            kept_files.insert(&options.test_file);
        }
    }
    Ok(())
}

/// Checks one test; `is_left` if an earlier test leaves its files.
fn check_test(
    options: &IorOptions,
    is_left: bool,
    folder: Option<&Path>,
    extent: RequiredPhases,
) -> Result<(), Box<PlanRefusal>> {
    let refusal = |failure| Box::new(PlanRefusal { failure, origin: None });
    let plan = compile(options, 0).0;
    let allowed = test::run_options(options, folder);
    // Folders for the ranks do not exist yet, and contain nothing.
    if is_left || !compile::folders(options).iter().all(|it| it.is_dir()) {
        return volume::check(&plan, &FilePlan::default(), &allowed).map_err(refusal);
    }
    test::check_readable(options).map_err(refusal)?;
    old_data::refuse(options).map_err(refusal)?;
    plan_check::check(&plan, &allowed, extent)
}

/// Runs the tests on all tasks. `folder` is that of the store, which also lists the created files.
///
/// # Errors
/// When a test cannot be carried out or stored.
pub fn run_tests(
    (info, tests, tasks): (&IorRunInfo, &[IorOptions], &JobTasks),
    (opening, folder, listener): (RecordingRequest<'_>, Option<&Path>, &mut dyn Listener),
    stop: &AtomicBool,
    on: &mut IorListener<'_>,
) -> Result<CompletedIorRun, CommandFailure> {
    let steps = plan_steps(tests);
    // The run is opened once, by the first test that is not refused.
    let mut opening = Some((opening, listener));
    let mut recording = None;
    rank_details::begin_files(tests)?;
    let (mut results, mut failed, mut verdict) = (Vec::new(), None, Ok(()));
    for (number, options) in tests.iter().enumerate() {
        let mut test = RunningIorTest::new(number, options.clone(), (folder, tasks), stop);
        // A refused test leaves no run.
        verdict = test.prepare();
        if verdict.is_ok()
            && let Some((opening, listener)) = opening.take()
        {
            recording = Some(Recording::begin(opening, listener)?);
        }
        if let (Ok(()), Some(recording)) = (&verdict, &mut recording) {
            on(IorEvent::TestStarted { test: &test.test, number });
            verdict = test.run_repetitions(&steps, recording, on);
            results.push(test.test.clone());
        }
        let cleaned = test.clean_up(verdict.is_err());
        failed = failed.or(test.failed.take()).or(cleaned.err());
        if verdict.is_err() || stop.load(Ordering::Relaxed) {
            break;
        }
        on(IorEvent::TestEnded { test: &test.test });
    }
    let Some(mut recording) = recording else {
        return Err(verdict
            .err()
            .unwrap_or_else(|| CommandFailure::measurement("there is no test")));
    };
    let outcome = IorOutcome { info: info.clone(), tests: results, finished: format_now() };
    recording.store_outcome(&outcome)?;
    finish_recording(recording, verdict.is_ok(), stop)?;
    verdict?;
    Ok(CompletedIorRun { outcome, io_failure: failed })
}

fn finish_recording(
    mut recording: Recording<'_>,
    is_well: bool,
    stop: &AtomicBool,
) -> Result<(), CommandFailure> {
    let is_stopped = stop.load(Ordering::Relaxed);
    match (is_well, is_stopped) {
        (true, false) => recording.skip_remaining()?,
        (true, true) => {}
        (false, _) => recording.mark_failed(),
    }
    recording.finish(is_stopped).map(drop)
}

/// Returns the tests as a plan for the store, as requested, regardless of deadlines.
pub fn plan(tests: &[IorOptions]) -> Plan {
    let phases = plan_steps(tests).into_iter().map(|step| {
        let phase = compile::phase(&tests[step.test], step.access, step.repetition);
        let test = StorageTest::new(phase.name.clone(), phase.workload);
        let rest = if step.is_rest { "/rest" } else { "" };
        let name = format!("{}/{}{rest}", step.test, phase.name);
        (name, Workload::Storage(Box::new(test)))
    });
    recording::phase_plan(LANGUAGE, phases.collect())
}

/// Returns the phases of the first repetition of every test, in order. Each is a case, of which
/// the repetitions are samples.
fn plan_steps(tests: &[IorOptions]) -> Vec<IorStep> {
    let mut steps = Vec::new();
    for (test, options) in tests.iter().enumerate() {
        for access in compile(options, 0).1 {
            let step = |is_rest| IorStep { test, repetition: 0, access, is_rest };
            steps.push(step(false));
            if options.wear_out {
                steps.push(step(true));
            }
        }
    }
    steps
}

impl IorStep {
    /// Returns the result; `None` for an untimed phase.
    fn to_result(
        self,
        options: &IorOptions,
        outcome: &StorageOutcome,
        rest: &[StorageOutcome],
    ) -> Option<AccessResult> {
        let result = AccessResult::from_outcome(self.access, self.repetition, outcome)?;
        Some(match options.wear_out {
            true => result.with_wear_out(options, &transfers_by_rank(options, outcome), rest),
            false => result,
        })
    }
}

/// Returns the number of transfers of every rank.
fn transfers_by_rank(options: &IorOptions, outcome: &StorageOutcome) -> Vec<u64> {
    let mut done = vec![0; options.ranks as usize];
    for tally in &outcome.tallies {
        done[tally.stream] += tally.tally.count;
    }
    done
}

/// Returns the capacity of the file system of a test file.
fn target_capacity(options: &IorOptions) -> Option<FileSystemCapacity> {
    capacity::file_system_capacity(Path::new(&compile::file_name(options, 0, 0)))
}

/// Formats the current time like IOR.
pub fn format_now() -> String {
    Zoned::now().strftime("%a %b %e %H:%M:%S %Y").to_string()
}
