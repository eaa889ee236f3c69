//! Executes a plan: interleaves the preparations of cases that have several, and runs all other
//! cases one by one.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use assay_fleet::root::Root;
use assay_fleet::state;
use assay_kernels::clock;
use assay_model::doubt::Doubt;
use assay_model::event::{
    FORMAT, HostClock, HostJoined, RequestedCommand, RunEvent, RunStarted, RunStatus,
    StopReason, TurnPosition,
};
use assay_model::facts::{HostFacts, HostState};
use assay_model::failure::FailureReason as CaseFailure;
use assay_model::plan::{Case, Plan};
use assay_model::run::Run;
use assay_store::{Store, StoreError};
use jiff::Timestamp;

use crate::coordinator::{Coordinator, StartGate};
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::log::RunLog;
use crate::pauses::PauseWatch;
use crate::recorder::{CaseError, CaseState, Recorder};
use crate::storage::options::RunOptions;
use crate::tools::Tools;
use crate::{bind, presence};

mod block_order;
mod interleaving;

/// Plan and everything needed to execute it.
pub(crate) struct PlanExecution<'a> {
    pub(crate) plan: Plan,
    /// User's name of the condition.
    pub(crate) label: Option<String>,
    /// User's note on the run.
    pub(crate) note: Option<String>,
    /// Command line of the user.
    pub(crate) command: Vec<String>,
    /// Position among the runs of two alternating conditions.
    pub(crate) turn: Option<TurnPosition>,
    pub(crate) host: HostFacts,
    pub(crate) tools: &'a Tools,
    /// `None` if the listener stores the events.
    pub(crate) store: Option<&'a Store>,
    /// Options that bound what may be done to storage.
    pub(crate) storage: &'a RunOptions,
    /// Set when the user interrupts the run.
    pub(crate) cancel: &'a AtomicBool,
}

/// Executes the plan and returns the run as stored.
pub(crate) fn execute(
    execution: &PlanExecution<'_>,
    listener: &mut dyn Listener,
    coordinator: Box<dyn Coordinator + '_>,
) -> Result<Run, CommandFailure> {
    let (_presence, company) = presence::announce();
    let before = state::read(&Root::machine());
    let started_ns = clock::now_ns();
    let beginning = RunOpening {
        plan: &execution.plan,
        label: execution.label.clone(),
        note: execution.note.clone(),
        command: execution.command.clone(),
        asked: None,
        turn: execution.turn.clone(),
        host: &execution.host,
        store: execution.store,
    };
    let mut log = begin_run(beginning, before.clone(), listener, coordinator)?;
    log.add_doubts(company)?;
    let pauses = PauseWatch::start();
    let status = measure_cases(execution, &mut log, started_ns, &pauses)?;
    // Pauses between two cases, or while several took turns.
    log.add_doubts(pauses.take_doubts())?;
    let after = state::read(&Root::machine());
    let elapsed_s = clock::seconds_between(started_ns, clock::now_ns());
    log.add_doubts(state::find_disturbances(&before, &after, elapsed_s))?;
    log.add_doubts(over_budget(&execution.plan, elapsed_s))?;
    let finished = log.current_time();
    log.add(RunEvent::RunFinished { finished, status, state: after })?;
    Ok(log.finish())
}

/// Returns a doubt if a run took much longer than its budget. Every case runs at least once, so
/// that an excess of one half is expected.
fn over_budget(plan: &Plan, elapsed_s: f64) -> Option<Doubt> {
    let budget_s = plan.budget_s;
    (elapsed_s > 1.5 * budget_s + 10.0).then_some(Doubt::OverBudget { elapsed_s, budget_s })
}

/// Contents of the first events of a run.
pub(crate) struct RunOpening<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) label: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) command: Vec<String>,
    pub(crate) asked: Option<RequestedCommand>,
    pub(crate) turn: Option<TurnPosition>,
    pub(crate) host: &'a HostFacts,
    pub(crate) store: Option<&'a Store>,
}

/// Opens the log of a new run and records that its host has joined.
pub(crate) fn begin_run<'t>(
    beginning: RunOpening<'_>,
    state: HostState,
    listener: &'t mut dyn Listener,
    coordinator: Box<dyn Coordinator + 't>,
) -> Result<RunLog<'t>, CommandFailure> {
    let now = Timestamp::now();
    let started = RunStarted {
        format: FORMAT,
        run: new_run_id(now),
        label: beginning.label,
        note: beginning.note,
        started: now.to_string(),
        plan: beginning.plan.clone(),
        command: beginning.command,
        asked: beginning.asked,
        turn: beginning.turn,
        after: None,
    };
    let joined = HostJoined {
        host: beginning.host.name.clone(),
        facts: beginning.host.clone(),
        state,
        clock: measure_clock(beginning.plan, beginning.host)?,
        labels: Vec::new(),
    };
    let mut log = open_log(started, beginning.store, listener, coordinator)?;
    log.add(RunEvent::HostJoined(Box::new(joined)))?;
    log.add_doubts(beginning.host.is_emulated().then_some(Doubt::EmulatedCpu))?;
    Ok(log)
}

/// Opens the log of a new run. Tries identifiers until one is unused: another assay may have
/// started in the same second. The run sorts after all runs of the store, even if the clock was set
/// back.
pub(crate) fn open_log<'t>(
    mut started: RunStarted,
    store: Option<&Store>,
    listener: &'t mut dyn Listener,
    coordinator: Box<dyn Coordinator + 't>,
) -> Result<RunLog<'t>, CommandFailure> {
    let writer = loop {
        let Some(store) = store else { break None };
        let later = store.latest_if_later_than(&started.run);
        started.after = later.map_err(|error| CommandFailure::from_store(&error))?;
        match store.begin(started.clone()) {
            Err(StoreError::RunExists { .. }) => started.run = new_run_id(Timestamp::now()),
            other => break Some(other.map_err(|error| CommandFailure::from_store(&error))?),
        }
    };
    RunLog::begin(writer, started, listener, coordinator)
}

fn measure_clock(plan: &Plan, host: &HostFacts) -> Result<HostClock, CommandFailure> {
    let first_case = plan.cases.first();
    // The system places the threads of the network, so that any CPU serves. Not all CPUs: their
    // threads would wait for each other, and for agents of other hosts that share the machine.
    let cpus = first_case.map(|case| case.workload.cpus()).filter(|cpus| !cpus.is_empty());
    let cpus = cpus.unwrap_or_else(|| host.topology.cpu_ids().into_iter().take(1).collect());
    bind::characterise_clock(&cpus)
}

/// Identifier from the time, with four digits that distinguish runs of the same second.
pub(crate) fn new_run_id(now: Timestamp) -> String {
    assay_store::new_run_id(now, entropy())
}

/// Number that most probably no other process has at this moment.
pub(crate) fn entropy() -> u16 {
    let nanoseconds =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
    (nanoseconds ^ (nanoseconds >> 16) ^ std::process::id()) as u16
}

/// Measures all cases, in turns with their neighbours if possible. A failed case does not stop the
/// others.
fn measure_cases(
    execution: &PlanExecution<'_>,
    log: &mut RunLog<'_>,
    started_ns: u64,
    pauses: &PauseWatch,
) -> Result<RunStatus, CommandFailure> {
    let mut status = RunStatus::Complete;
    let known = RefCell::new(bind::RunCache::from_plan(&execution.plan, &execution.host));
    let rates = bind::measure_memory_costs(&execution.plan, execution.cancel);
    known.borrow_mut().forecast.set_memory_costs(rates);
    if let Some(words) = execution.plan.budget_warning() {
        log.note(None, &words);
    }
    for group in interleaving::group_cases(&execution.plan.cases, execution.tools, &known) {
        let elapsed_s = clock::seconds_between(started_ns, clock::now_ns());
        if let Some(words) = known.borrow_mut().forecast.check_budget(elapsed_s) {
            log.warn(&words);
        }
        let cases: Vec<&str> = group.iter().map(|case| case.id.as_str()).collect();
        log.wait_for_start(&StartGate { cases: &cases, step: 0, run_started_ns: started_ns })?;
        if execution.cancel.load(Ordering::Relaxed) {
            return Ok(RunStatus::Interrupted);
        }
        let ended = match group {
            [case] => measure_case(case, execution, &known, (&mut *log, pauses), started_ns)?,
            several => interleaving::measure(several, execution, &known, log, started_ns)?,
        };
        match ended {
            RunStatus::Interrupted => return Ok(ended),
            RunStatus::Complete => {}
            other => status = other,
        }
    }
    Ok(status)
}

fn measure_case(
    case: &Case,
    execution: &PlanExecution<'_>,
    known: &RefCell<bind::RunCache>,
    (log, pauses): (&mut RunLog<'_>, &PauseWatch),
    started_ns: u64,
) -> Result<RunStatus, CommandFailure> {
    log.add(RunEvent::CaseStarted { case: case.id.clone() })?;
    let mut state = CaseState::new(case, &execution.host.name);
    let mut recorder = Recorder::new(&mut state, log, execution.cancel, started_ns);
    let surroundings = bind::CaseEnv {
        host: &execution.host,
        tools: execution.tools,
        storage: execution.storage,
    };
    let outcome = bind::measure(case, &surroundings, known, &mut recorder);
    let spent_s = recorder.elapsed_s();
    known.borrow_mut().forecast.record_spent(&case.id, spent_s, true);
    if matches!(outcome, Err(CaseError::Interrupted)) {
        keep_interrupted(case, &mut state, log)?;
    }
    for doubt in pauses.take_doubts() {
        log.add(RunEvent::Doubt { case: Some(case.id.clone()), doubt })?;
    }
    end_case(case, outcome, &mut state, log)
}

/// Keeps the results of an interrupted case.
///
/// Transfers, I/O, runs of tools and solutions, each of which was checked, count up to the
/// interruption. All other results are checked at the end of a preparation, so that only complete
/// preparations count.
fn keep_interrupted(
    case: &Case,
    state: &mut CaseState,
    log: &mut RunLog<'_>,
) -> Result<(), CommandFailure> {
    let as_far_as_it_came = case.by != "assay" || case.workload.checks_each_result();
    let is_kept = match as_far_as_it_came {
        true => state.has_samples(),
        false => state.preparations_ended() > 0,
    };
    if !is_kept {
        // A search that has not met its goal has no result, but its tries are kept.
        let goal = case.workload.latency_goal().filter(|_| state.has_series());
        let Some(goal) = goal.map(ToString::to_string) else { return Ok(()) };
        let failure = CaseFailure::NoRateKeepsGoal { goal, last: None };
        return end_case(case, Err(failure.into()), state, log).map(drop);
    }
    if as_far_as_it_came {
        state.take_pending().into_iter().try_for_each(|event| log.add(event))?;
    }
    end_case(case, Ok(StopReason::Budget), state, log).map(drop)
}

/// Stores the end of a case. Data transferred before a connection broke remain valid.
fn end_case(
    case: &Case,
    outcome: Result<StopReason, CaseError>,
    state: &mut CaseState,
    log: &mut RunLog<'_>,
) -> Result<RunStatus, CommandFailure> {
    let has_broken = matches!(outcome, Err(CaseError::Failed(_) | CaseError::Lacking(..)));
    if has_broken && case.workload.as_network().is_some() {
        state.take_pending().into_iter().try_for_each(|event| log.add(event))?;
    }
    let case = case.id.clone();
    match outcome {
        Ok(stopped) => {
            log.add(RunEvent::CaseFinished { case, stopped })?;
            Ok(RunStatus::Complete)
        }
        Err(CaseError::Failed(failure) | CaseError::Lacking(_, failure)) => {
            log.add(RunEvent::CaseFailed { case, failure, because: None, host: None })?;
            Ok(RunStatus::Failed)
        }
        Err(CaseError::Skipped { failure, because }) => {
            log.add(RunEvent::CaseFailed {
                case,
                failure,
                because: Some(because),
                host: None,
            })?;
            Ok(RunStatus::Failed)
        }
        Err(CaseError::Interrupted) => Ok(RunStatus::Interrupted),
        Err(CaseError::Store(failure)) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_run_far_over_budget() {
        let plan = Plan {
            suite: "test".into(),
            budget_s: 60.0,
            seed: None,
            cases: vec![],
            omitted: vec![],
        };
        for (elapsed_s, expected) in [(59.0, false), (95.0, false), (101.0, true)] {
            assert_eq!(over_budget(&plan, elapsed_s).is_some(), expected, "{elapsed_s}");
        }
    }
}
