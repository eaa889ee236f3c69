//! Executes a plan: interleaves the preparations of cases that have several, and runs all other
//! cases one by one.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::attribute::Attribute;
use assay_model::event::{StopReason, TurnPosition};
use assay_model::facts::HostFacts;
use assay_model::failure::FailureReason as CaseFailure;
use assay_model::plan::{Case, Plan};
use assay_model::run::Run;
use assay_store::Store;

use crate::bind;
use crate::coordinator::Coordinator;
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::recorder::{CaseError, CaseState};
use crate::refine::{self, RefinedCase};
use crate::session::{Session, SessionRequest};
use crate::storage::options::RunOptions;
use crate::tools::Tools;

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
    let request = SessionRequest {
        plan: &execution.plan,
        label: execution.label.clone(),
        note: execution.note.clone(),
        command: execution.command.clone(),
        asked: None,
        turn: execution.turn.clone(),
        store: execution.store,
    };
    let mut session = Session::open_on(&execution.host, request, listener, coordinator)?;
    let ended = measure_cases(execution, &mut session)?;
    session.close(ended == CasesEnd::Interrupted)
}

/// How the cases ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CasesEnd {
    Whole,
    Interrupted,
}

/// Measures all cases, in turns with their neighbours if possible. A failed case does not stop the
/// others.
fn measure_cases(
    execution: &PlanExecution<'_>,
    session: &mut Session<'_>,
) -> Result<CasesEnd, CommandFailure> {
    let known = RefCell::new(bind::RunCache::from_plan(&execution.plan, &execution.host));
    let rates = bind::measure_memory_costs(&execution.plan, execution.cancel);
    known.borrow_mut().forecast.set_memory_costs(rates);
    if let Some(words) = execution.plan.budget_warning() {
        session.log.note(None, &words);
    }
    for group in interleaving::group_cases(&execution.plan.cases, execution.tools, &known) {
        if let Some(words) = known.borrow_mut().forecast.check_budget(session.elapsed_s()) {
            session.log.warn(&words);
        }
        let cases: Vec<&str> = group.iter().map(|case| case.id.as_str()).collect();
        session.wait_for_start(&cases)?;
        if execution.cancel.load(Ordering::Relaxed) {
            return Ok(CasesEnd::Interrupted);
        }
        let ended = match group {
            [case] => measure_case(case, execution, &known, session)?,
            several => interleaving::measure(several, execution, &known, session)?,
        };
        if ended == CasesEnd::Interrupted {
            return Ok(ended);
        }
    }
    Ok(CasesEnd::Whole)
}

fn measure_case(
    case: &Case,
    execution: &PlanExecution<'_>,
    known: &RefCell<bind::RunCache>,
    session: &mut Session<'_>,
) -> Result<CasesEnd, CommandFailure> {
    let refined = refine::refine(case, session.log.run_so_far());
    session.start_case(&case.id)?;
    warn_of_case(case, session);
    let mut state = CaseState::new(case, &execution.host.name);
    session.begin_turn();
    let mut recorder = session.recorder(&mut state, execution.cancel);
    let surroundings = bind::CaseEnv {
        host: &execution.host,
        tools: execution.tools,
        storage: execution.storage,
    };
    let outcome = match refined {
        Ok(Some(RefinedCase { case, chosen_percent })) => {
            if let Some(percent) = chosen_percent {
                recorder.add_fact(Attribute::PercentOfMax, percent);
            }
            bind::measure(&case, &surroundings, known, &mut recorder)
        }
        Ok(None) => Ok(StopReason::NotNeeded),
        Err(failure) => Err(failure.into()),
    };
    let spent_s = recorder.elapsed_s();
    session.end_turn(&case.id);
    known.borrow_mut().forecast.record_spent(&case.id, spent_s, true);
    if matches!(outcome, Err(CaseError::Interrupted)) {
        keep_interrupted(case, &mut state, session)?;
    }
    session.record_pauses(Some(&case.id))?;
    end_case(case, outcome, &mut state, session)
}

/// Prints what the results so far show about a case before it begins.
fn warn_of_case(case: &Case, session: &mut Session<'_>) {
    if let Some(words) = refine::warn_if_over_budget(case, session.log.run_so_far()) {
        session.log.note(Some(&case.id), &words);
    }
}

/// Keeps the results of an interrupted case.
///
/// Transfers, I/O, runs of tools and solutions, each of which was checked, count up to the
/// interruption. All other results are checked at the end of a preparation, so that only complete
/// preparations count.
fn keep_interrupted(
    case: &Case,
    state: &mut CaseState,
    session: &mut Session<'_>,
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
        return end_case(case, Err(failure.into()), state, session).map(drop);
    }
    if as_far_as_it_came {
        state.take_pending().into_iter().try_for_each(|event| session.log.add(event))?;
    }
    end_case(case, Ok(StopReason::Budget), state, session).map(drop)
}

/// Stores the end of a case. Data transferred before a connection broke remain valid.
fn end_case(
    case: &Case,
    outcome: Result<StopReason, CaseError>,
    state: &mut CaseState,
    session: &mut Session<'_>,
) -> Result<CasesEnd, CommandFailure> {
    let has_broken = matches!(outcome, Err(CaseError::Failed(_) | CaseError::Lacking(..)));
    if has_broken && case.workload.as_network().is_some() {
        state.take_pending().into_iter().try_for_each(|event| session.log.add(event))?;
    }
    let ending = match outcome {
        Ok(stopped) => Ok(stopped),
        Err(CaseError::Failed(failure) | CaseError::Lacking(_, failure)) => {
            Err((failure, None))
        }
        Err(CaseError::Skipped { failure, because }) => Err((failure, Some(because))),
        Err(CaseError::Interrupted) => return Ok(CasesEnd::Interrupted),
        Err(CaseError::Store(failure)) => return Err(failure),
    };
    session.end_case(&case.id, ending)?;
    Ok(CasesEnd::Whole)
}
