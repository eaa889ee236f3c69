//! Entry point of the engine: from a suite to a plan, and from the plan to a stored run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use assay_fleet::facts;
use assay_fleet::root::Root;
use assay_kernels::clock;
use assay_kernels::rdma::{RdmaError, has_devices};
use assay_model::doubt::Doubt;
use assay_model::event::{RunStatus, TurnPosition};
use assay_model::facts::HostFacts;
use assay_model::failure::FailureReason;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::expand::{self, MpiChoices, PairChoices, PlanChoices};
use assay_model::plan::{Case, MissingRequirement, OmittedMeasure, Plan};
use assay_model::quantity::Unit;
use assay_model::run::Run;
use assay_model::seed;
use assay_model::suite::Suite;
use assay_model::summary::{RunHeader, RunSummary};
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::{StoragePhase, StoragePlan};
use assay_store::Store;
use jiff::Timestamp;

use crate::coordinator::{Alone, Coordinator};
use crate::execution::{self, PlanExecution};
use crate::failure::{CommandFailure, FailureKind};
use crate::forecast::{MemoryCosts, RunForecast};
use crate::listener::Listener;
use crate::rdma::RdmaTestError;
use crate::storage::file_trees::{self, MissingParents};
use crate::storage::options::RunOptions;
use crate::storage::{host_check, precondition, runner, volume};
use crate::tools::{self, Tools};
use crate::turns::TurnSinks;

mod preflight;

/// Request to measure a suite, with its options and conditions.
#[derive(Debug, Clone)]
pub struct RunRequest<'a> {
    pub suite: &'a Suite,
    /// Kind of failure of an impossible plan: wrong usage of the command line, or an invalid suite
    /// file.
    pub failure_kind: FailureKind,
    /// Host for network workloads that name none.
    pub to: Option<&'a str>,
    /// User's name of the condition.
    pub label: Option<&'a str>,
    /// User's note on the run.
    pub note: Option<&'a str>,
    /// Arguments after the name of the program.
    pub command: Vec<String>,
    /// Position of the run, if two conditions alternate.
    pub turn: Option<TurnPosition>,
    /// MPI installations to measure.
    pub mpi: MpiChoices,
    /// Options that bound what may be done to storage.
    pub storage: RunOptions,
    /// Measurers: `assay`, names of external tools, or `all` that are found.
    pub by: Vec<String>,
    /// Budget of the whole run in seconds [default: that of the suite].
    pub budget_s: Option<f64>,
    /// Whether the budget is kept even if headline cases have no results then.
    pub keeps_budget: bool,
    /// Names and paths of external tools that are not on `PATH`.
    pub tools: Vec<(String, PathBuf)>,
    /// Seed of everything random; `None` draws a new one for each run, so that no run finds the
    /// blocks of a previous one in a cache.
    pub seed: Option<u64>,
    /// Pairs of hosts that this host begins, if network workloads are measured between pairs.
    pub pairs: Option<PairChoices>,
}

impl<'a> RunRequest<'a> {
    /// Request to measure a suite with assay on this machine.
    pub fn from_suite(suite: &'a Suite) -> Self {
        Self {
            suite,
            failure_kind: FailureKind::Usage,
            to: None,
            label: None,
            note: None,
            command: Vec::new(),
            turn: None,
            mpi: MpiChoices::default(),
            storage: RunOptions::default(),
            by: vec!["assay".to_owned()],
            budget_s: None,
            keeps_budget: false,
            tools: Vec::new(),
            seed: None,
            pairs: None,
        }
    }
}

/// Returns a seed that differs in every run.
pub fn random_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // 32 bits: short to type, and exact in every JSON parser.
    seed::derive_seed(now.as_nanos() as u64, u64::from(std::process::id())) >> 32
}

/// Plan, facts and tools of a run, before the measurement.
#[derive(Debug)]
pub struct PreparedRun {
    pub plan: Plan,
    pub host: HostFacts,
    keeps_budget: bool,
    /// Beginning of the search for tools and facts, which the budget includes.
    began_ns: u64,
    tools: Tools,
    /// Note that all measurers were requested, but only assay is available.
    single_measurer_note: Option<Phrase>,
}

/// Finds the tools and resolves every case.
pub fn prepare(request: &RunRequest<'_>) -> Result<PreparedRun, CommandFailure> {
    let began_ns = clock::now_ns();
    let host = facts::read(&Root::machine());
    let named = request.suite.measures.iter().flat_map(|it| &it.by).chain(&request.by);
    let may_measure = |tool: &str| named.clone().any(|it| it == tool || it == "all");
    let tools = Tools::find(&request.tools, &may_measure)?;
    let measurers = tools.measurers();
    let choices = PlanChoices {
        by: request.by.clone(),
        measurers: &measurers,
        budget_s: request.budget_s,
        to: request.to.map(str::to_owned),
        mpi: request.mpi.clone(),
        seed: request.seed.unwrap_or_else(random_seed),
        pairs: request.pairs.clone(),
        has_rdma: has_devices(),
    };
    let (suite, omitted) = preflight::omit_missing_libraries(request)?;
    // Also checks plans that are only printed: they must be feasible.
    preflight::check_suite(&suite, &host, &choices, request)?;
    let mut plan = expand::expand(&suite, &host, &choices)
        .map_err(|error| plan_failure(&error, request))?;
    plan.omitted.extend(omitted);
    preflight::reject_idle_tools(&plan, &request.by, &choices, request)?;
    tools.omit_other_mpis(&mut plan)?;
    if !choices.has_rdma && plan.cases.iter().any(is_rdma_over_loopback) {
        return Err(RdmaTestError::from(RdmaError::NoDevice).failure());
    }
    volume::check(&storage_plan(&plan), &file_plan(&plan), &request.storage)?;
    let is_alone = request.by.iter().any(|it| it == "all")
        && plan.cases.iter().all(|case| case.by == "assay");
    let alone = is_alone.then(|| {
        phrase!("measures-alone", "no installed tool measures any of this: only assay measures")
    });
    let keeps_budget = request.keeps_budget;
    let mut typical = RunForecast::from_plan(&plan, &host, keeps_budget);
    typical.set_memory_costs(Some(MemoryCosts::TYPICAL));
    // The time so far is not part of the budget of several hosts, but the advice leaves time for it.
    if typical.sufficient_budget_s(0.0).is_some() {
        let prepared_s = clock::seconds_between(began_ns, clock::now_ns());
        execution::refuse_short_budget(&plan, &typical, prepared_s)?;
    }
    Ok(PreparedRun { plan, host, keeps_budget, began_ns, tools, single_measurer_note: alone })
}

/// Whether the case needs an RDMA device of this machine.
fn is_rdma_over_loopback(case: &Case) -> bool {
    case.workload.as_rdma().is_some_and(|work| work.to.is_none())
}

impl PreparedRun {
    /// Forecast of the duration of the plan; nothing is measured for it.
    pub fn forecast(&self) -> PlanForecast {
        let mut outlook = PlanForecast::from_plan(&self.plan, &self.host, self.keeps_budget);
        outlook.notes.extend(self.single_measurer_note.clone());
        outlook
    }
}

/// Notes on a plan before it is executed.
#[derive(Debug)]
pub struct PlanForecast {
    pub notes: Vec<Phrase>,
    /// Whether the forecast exceeds the budget.
    pub exceeds_budget: bool,
    /// Whether cases are left out to keep it.
    pub leaves_out: bool,
    /// Expected time of the run in seconds, at least its budget.
    pub total_s: f64,
}

impl PlanForecast {
    /// Whether not all cases fit into the budget.
    pub fn is_too_long(&self) -> bool {
        self.exceeds_budget || self.leaves_out
    }

    /// Forecast of a plan on a host, with the costs of a typical server.
    pub fn from_plan(plan: &Plan, host: &HostFacts, keeps_budget: bool) -> Self {
        let outlook = RunForecast::from_plan(plan, host, keeps_budget);
        Self::from_forecast(outlook, plan, host)
    }

    /// Forecast of the plan of several hosts.
    pub(crate) fn from_fleet_plan(plan: &Plan, host: &HostFacts, keeps_budget: bool) -> Self {
        let mut outlook = RunForecast::from_plan(plan, host, keeps_budget);
        outlook.join_hosts();
        Self::from_forecast(outlook, plan, host)
    }

    fn from_forecast(mut outlook: RunForecast, plan: &Plan, host: &HostFacts) -> Self {
        outlook.set_memory_costs(Some(MemoryCosts::TYPICAL));
        let beyond = outlook.check_budget(0.0);
        let exceeds_budget = beyond.is_some();
        let expected_s = if exceeds_budget { outlook.required_s(0.0) } else { 0.0 };
        let cut = outlook.cut_warnings();
        let leaves_out = !cut.is_empty();
        let time_notes = cut.into_iter().chain(plan.time_warnings(host));
        Self {
            notes: beyond.into_iter().chain(time_notes).collect(),
            exceeds_budget,
            leaves_out,
            total_s: plan.budget_s.max(expected_s),
        }
    }
}

/// Run that was measured.
#[derive(Debug)]
pub struct MeasuredRun {
    /// The run as stored.
    pub run: Run,
    /// Failure to remove or recognise the files of the run, whose results are valid.
    pub left: Option<CommandFailure>,
}

impl MeasuredRun {
    /// Returns the run, or the failure of its files.
    ///
    /// # Errors
    /// If files of the run are left.
    pub fn without_files(self) -> Result<Run, CommandFailure> {
        self.left.map_or(Ok(self.run), Err)
    }
}

/// Measures a turn of a comparison with a seed of its own, and stores its run.
pub(crate) fn measure_turn(
    request: &RunRequest<'_>,
    position: TurnPosition,
    TurnSinks { store, cancel, listener }: &mut TurnSinks<'_>,
) -> Result<Run, CommandFailure> {
    let seed = request.seed.map(|seed| seed::derive_seed(seed, u64::from(position.number)));
    let asked = RunRequest { turn: Some(position), seed, ..request.clone() };
    let prepared = prepare(&asked)?;
    measure(&asked, prepared, Some(store), cancel, *listener, Box::new(Alone))?.without_files()
}

/// Executes the plan and stores the run. Files created for storage workloads are removed at the
/// end, even if the run fails.
pub fn measure(
    request: &RunRequest<'_>,
    prepared: PreparedRun,
    store: Option<&Store>,
    cancel: &AtomicBool,
    listener: &mut dyn Listener,
    coordinator: Box<dyn Coordinator + '_>,
) -> Result<MeasuredRun, CommandFailure> {
    let PreparedRun { plan, host, keeps_budget, began_ns, tools, single_measurer_note: alone } =
        prepared;
    alone.iter().for_each(|said| listener.note(None, said));
    let storage = &request.storage;
    let (of_storage, of_files) = (storage_plan(&plan), file_plan(&plan));
    runner::check(&of_storage, storage)?;
    file_trees::check(&of_files, storage, MissingParents::REFUSE, cancel)?;
    volume::describe_volumes(&of_storage, &of_files)
        .iter()
        .for_each(|line| listener.note(None, line));
    let execution = PlanExecution {
        plan,
        keeps_budget,
        began_ns,
        label: request.label.map(str::to_owned),
        note: request.note.map(str::to_owned),
        command: request.command.clone(),
        turn: request.turn.clone(),
        host,
        tools: &tools,
        store,
        storage,
        cancel,
    };
    let run = execution::execute(&execution, listener, coordinator);
    let finished = match cancel.load(Ordering::Relaxed) {
        true => finish_soon(storage, listener),
        false => {
            let has_made = !of_storage.phases.is_empty() || !of_files.phases.is_empty();
            if has_made && !storage.keep {
                listener.progress(&removing_phrase());
            }
            runner::finish(storage)
        }
    };
    let finished = finished.map(|directories| note_directories(&directories, listener));
    Ok(MeasuredRun { run: run?, left: finished.err() })
}

fn removing_phrase() -> Phrase {
    phrase!("removing", "removing the files of the run")
}

/// Removes the created files within a short time: an interrupt must not wait for a slow disk. Reports
/// a removal that takes longer, which a second interrupt ends.
fn finish_soon(
    storage: &RunOptions,
    listener: &mut dyn Listener,
) -> Result<Vec<PathBuf>, CommandFailure> {
    /// Together with the reaction time of the measurement, one second.
    const SILENCE: Duration = Duration::from_millis(500);
    /// Time in which thousands of files are removed on a busy machine.
    const PATIENCE: Duration = Duration::from_secs(10);
    let (done, is_done) = mpsc::channel();
    let options = storage.clone();
    // The thread is not joined: files that remain when the process ends are still in the list of
    // created files.
    let finish = move || done.send(runner::finish(&options));
    // Without a thread nothing is removed, as when it takes too long.
    drop(std::thread::Builder::new().spawn(finish));
    if let Ok(finished) = is_done.recv_timeout(SILENCE) {
        return finished;
    }
    listener.note(None, &removing_phrase());
    is_done.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        let left = phrase!(
            "files-left",
            "files of the run remain; remove them with `assay storage clean`"
        );
        listener.note(None, &left);
        Ok(Vec::new())
    })
}

/// Names the directories that stay after the run, because they contain others' files.
fn note_directories(directories: &[PathBuf], listener: &mut dyn Listener) {
    for directory in directories {
        let kept = phrase!(
            "directory-kept",
            "{directory} kept: it contains files that assay did not create",
            directory = directory.display().to_string()
        );
        listener.note(None, &kept);
    }
}

/// Failure of a suite that this host cannot measure.
fn plan_failure(error: &expand::PlanError, request: &RunRequest<'_>) -> CommandFailure {
    let whose = match request.failure_kind {
        FailureKind::Suite => format!("suite {}: ", request.suite.name),
        _ => String::new(),
    };
    // A known tool that is not installed is no usage error.
    let kind = match error {
        expand::PlanError::NoSuchMeasurer { name, .. } if tools::is_known_tool(name) => {
            FailureKind::Measurement
        }
        _ => request.failure_kind,
    };
    let failure = CommandFailure::new(kind, format!("{whose}{error}"));
    match error {
        expand::PlanError::NoSuchMeasurer { name, .. } => tools::advise_on_tool(name, failure),
        expand::PlanError::TooManyThreads { cores, .. } => {
            failure.advise(format!("request at most {cores}, or omit the number"))
        }
        expand::PlanError::DepthBelowThreads { threads, .. } => {
            failure.advise(format!("request a depth of {threads} or more, or fewer threads"))
        }
        expand::PlanError::NotEnoughMemory { .. } => {
            failure.advise("request less, or omit the size to let assay choose it")
        }
        expand::PlanError::Zero { .. } => failure.advise("request 1 or more"),
        expand::PlanError::ZeroSize { .. } => failure.advise("request a size like 64B or 1MiB"),
        expand::PlanError::TooSmall { minimum, .. } => {
            failure.advise(format!("request {minimum} or more, or omit the value"))
        }
        expand::PlanError::SizeTooLarge { most, .. } => {
            failure.advise(format!("request {most} or less"))
        }
        expand::PlanError::NumberTooLarge { most, .. } => {
            failure.advise(format!("request {most} or less"))
        }
        expand::PlanError::RateTooLarge { most, .. } => {
            failure.advise(format!("request {most:e} or less"))
        }
        expand::PlanError::NoTarget => {
            failure.advise("name a file, a folder or a device: `assay run SUITE --target DIR`")
        }
        expand::PlanError::UnknownMemory => failure.advise(host_check::advise_on_memory()),
        expand::PlanError::NothingToMeasure { .. } => {
            failure.advise("run `assay help tools` for the benchmarks of each tool")
        }
        expand::PlanError::NoSuchDomain { .. } => failure,
    }
}

/// Collects all storage phases of the plan, so that they are checked before the first write.
fn storage_plan(plan: &Plan) -> StoragePlan {
    let phases = |case: &Case| {
        let Some(test) = case.workload.as_storage() else { return Vec::new() };
        let phases =
            precondition::precondition_phases(test).into_iter().map(|(_, phase)| phase);
        let mut phases: Vec<StoragePhase> = phases.collect();
        phases.push(StoragePhase::new(&case.id, test.workload.clone()));
        phases
    };
    StoragePlan { phases: plan.cases.iter().flat_map(phases).collect() }
}

/// Collects all file tree phases of the plan.
fn file_plan(plan: &Plan) -> FilePlan {
    let tests = plan.cases.iter().filter_map(|case| case.workload.as_files());
    FilePlan { phases: tests.flat_map(file_trees::phases).collect() }
}

/// Returns a failure for a run in which a case failed or nothing was measured. `words` renders the
/// reason and advice of a failure.
pub fn check_summary(
    summary: &RunSummary,
    words: impl Fn(&FailureReason) -> (String, String),
) -> Result<(), CommandFailure> {
    if summary.run.status == RunStatus::Interrupted {
        let interrupted = CommandFailure::measurement("the run was interrupted");
        let kept = |what| format!("{what} are kept: assay show {}", summary.run.id);
        return Err(match (&summary.results[..], &summary.steps[..]) {
            ([], []) => interrupted.with_reason("no case had ended: nothing was measured"),
            ([], _) => summary
                .failures
                .iter()
                .take(1)
                .fold(interrupted, |failure, first| {
                    failure.with_reason(words(&first.failure).0)
                })
                .advise(kept("the rates that were tried")),
            _ => interrupted.advise(kept("finished cases")),
        });
    }
    if let Some(first) = summary.failures.first() {
        let skipped = summary.failures.iter().filter(|it| it.because.is_some()).count();
        let what = match summary.failures.len() - skipped {
            1 => format!("{} failed", first.case),
            more => format!("{more} cases failed, the first of them {}", first.case),
        };
        let what = match skipped {
            0 => what,
            1 => format!("{what}; 1 case was skipped because of that"),
            _ => format!("{what}; {skipped} cases were skipped because of that"),
        };
        let (reason, advice) = words(&first.failure);
        let mut failure = CommandFailure::measurement(what).with_reason(reason);
        if !advice.is_empty() {
            failure = failure.advise(advice);
        }
        return Err(failure);
    }
    if summary.run.status == RunStatus::Partial {
        let missing = summary.warnings.iter().filter_map(|doubt| match doubt {
            Doubt::HostLost { host, reason, .. } => Some(format!("{host}: {reason}")),
            _ => None,
        });
        return Err(CommandFailure::measurement("hosts are missing")
            .with_reason(missing.collect::<Vec<_>>().join("; "))
            .advise(format!(
                "the results of the other hosts are kept: assay show {}",
                summary.run.id
            )));
    }
    if summary.results.is_empty() {
        return Err(unmeasured_failure(summary));
    }
    Ok(())
}

/// Returns the failure of a run without any result. If its budget ended it, names the cases without one and
/// another budget: the time of a program or a tool is not known before.
fn unmeasured_failure(summary: &RunSummary) -> CommandFailure {
    /// Ratio of the budget that is advised to the time that did not suffice.
    const MORE: f64 = 2.0;
    /// Seconds of a run that did not begin its cases.
    const SHORTEST_S: f64 = 1.0;
    let failure = CommandFailure::measurement("nothing was measured");
    let is_cut = |it: &&OmittedMeasure| it.reason == MissingRequirement::Time;
    let mut cut = summary.omitted.iter().filter(is_cut);
    let took_s = duration_s(&summary.run).filter(|it| *it >= SHORTEST_S);
    let (Some(first), Some(took_s)) = (cut.next(), took_s) else {
        return failure.advise("give it more time with --budget");
    };
    let more = match cut.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (case, took) = (&first.benchmark, Phrase::approximate(took_s, Unit::Second));
    failure
        .with_reason(format!(
            "the run ended at its budget, after {took}, before a first result of {case}{more}"
        ))
        .advise(format!(
            "use --budget {}s or more: nothing shows how long a first result takes",
            (MORE * took_s).ceil()
        ))
}

/// Returns the seconds from the start of a run to its end.
fn duration_s(run: &RunHeader) -> Option<f64> {
    let began: Timestamp = run.started.parse().ok()?;
    let ended: Timestamp = run.finished.as_ref()?.parse().ok()?;
    Some(ended.duration_since(began).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_another_budget_if_nothing_was_measured() {
        let of_time = |case: &str| OmittedMeasure {
            benchmark: case.to_owned(),
            reason: MissingRequirement::Time,
            hosts: vec![],
        };
        let no_host = OmittedMeasure { reason: MissingRequirement::Host, ..of_time("net") };
        for (omitted, finished, advice) in [
            (vec![of_time("command/a")], "2026-01-01T00:00:10.5Z", "use --budget 21s or more"),
            (vec![of_time("a"), of_time("b")], "2026-01-01T00:00:01Z", "use --budget 2s"),
            (vec![of_time("command/a")], "2026-01-01T00:00:00.1Z", "more time with --budget"),
            (vec![no_host], "2026-01-01T00:00:10Z", "more time with --budget"),
        ] {
            let of_first = format!("before a first result of {}", omitted[0].benchmark);
            let summary = RunSummary {
                schema: 2,
                statistics: 6,
                run: RunHeader {
                    id: "x".to_owned(),
                    label: None,
                    note: None,
                    suite: "exec".to_owned(),
                    started: "2026-01-01T00:00:00Z".to_owned(),
                    finished: Some(finished.to_owned()),
                    status: RunStatus::Complete,
                    seed: None,
                },
                hosts: vec![],
                results: vec![],
                steps: vec![],
                failures: vec![],
                omitted,
                warnings: vec![],
                counters: vec![],
            };
            let failure = check_summary(&summary, |_| (String::new(), String::new()));
            let failure = failure.unwrap_err();
            assert!(failure.advice().contains(advice), "{}", failure.advice());
            let (reason, is_known) = (failure.reason(), advice.starts_with("use"));
            assert_eq!(reason.contains(&of_first), is_known, "{reason}");
        }
    }
}
