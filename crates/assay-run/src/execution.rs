//! Executes a plan: interleaves the preparations of cases that have several, and runs all other
//! cases as a whole.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use assay_kernels::clock;
use assay_model::attribute::Attribute;
use assay_model::event::{StopReason, TurnPosition};
use assay_model::facts::HostFacts;
use assay_model::failure::FailureReason;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::{Case, Plan};
use assay_model::quantity::Unit;
use assay_model::run::{CaseOutcome, Run};
use assay_model::workload::measurement_mode::MeasurementMode;
use assay_store::Store;

use crate::bind;
use crate::coordinator::Coordinator;
use crate::deadline::TurnDeadline;
use crate::failure::CommandFailure;
use crate::forecast::{Allowance, RunForecast};
use crate::interrupt;
use crate::listener::Listener;
use crate::recorder::{CaseError, CaseState};
use crate::refine::{self, RefinedCase};
use crate::session::{Session, SessionRequest};
use crate::storage::options::RunOptions;
use crate::tools::Tools;

pub(crate) mod interleaving;

/// Plan and everything needed to execute it.
pub(crate) struct PlanExecution<'a> {
    pub(crate) plan: Plan,
    /// Whether the budget is kept even if headline cases have no results then.
    pub(crate) keeps_budget: bool,
    /// Time from which the budget counts, if no other hosts are waited for.
    pub(crate) began_ns: u64,
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
    let is_alone = coordinator.is_alone();
    let forecast = forecast_run(execution, is_alone)?;
    let mut session = Session::open_on(&execution.host, request, listener, coordinator)?;
    let ended = measure_cases(execution, forecast, &mut session)?;
    session.close(ended == CasesEnd::Interrupted)
}

/// Measures the costs of memory, and refuses a budget without time for any first result, before the run is
/// stored. Later turns of a comparison are not refused: its first turn had time.
fn forecast_run(
    execution: &PlanExecution<'_>,
    is_alone: bool,
) -> Result<RunForecast, CommandFailure> {
    let PlanExecution { plan, host, keeps_budget, began_ns, cancel, .. } = execution;
    let mut forecast = RunForecast::from_plan(plan, host, *keeps_budget);
    forecast.set_memory_costs(bind::measure_memory_costs(plan, cancel));
    let is_later_turn = execution.turn.as_ref().is_some_and(|turn| turn.number > 0);
    if is_alone && !is_later_turn {
        let prepared_s = clock::seconds_between(*began_ns, clock::now_ns());
        refuse_short_budget(plan, &forecast, prepared_s)?;
    }
    Ok(forecast)
}

/// Refuses a budget that ends before the first result of any case, with one that suffices.
pub(crate) fn refuse_short_budget(
    plan: &Plan,
    forecast: &RunForecast,
    prepared_s: f64,
) -> Result<(), CommandFailure> {
    let Some(sufficient_s) = forecast.sufficient_budget_s(prepared_s) else { return Ok(()) };
    let budget = Phrase::approximate(plan.budget_s, Unit::Second);
    Err(CommandFailure::usage(format!("a budget of {budget} ends before the first result"))
        .with_reason("a budget of the command line is kept")
        .advise(format!(
            "use --budget {sufficient_s}s or more; --budget shortest takes the time of first results"
        )))
}

/// How the cases ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CasesEnd {
    Whole,
    Interrupted,
}

/// Context that all cases of a run share.
struct CasesContext<'e> {
    execution: &'e PlanExecution<'e>,
    known: &'e RefCell<bind::RunCache>,
    deadline: &'e TurnDeadline<'e>,
}

impl CasesContext<'_> {
    /// Grants a case its share of the time that the run has left, or what the coordinator of several
    /// hosts granted. Returns how the case ends if no time is left.
    fn grant_turn(
        &self,
        case: &Case,
        state: &mut CaseState,
        session: &Session<'_>,
    ) -> Option<StopReason> {
        let allowance = self.known.borrow().forecast.allowance(&case.id, session.elapsed_s());
        let allowance = match (allowance, session.log.granted_s()) {
            (Allowance::Planned, Some(granted_s)) => Allowance::from_granted(granted_s),
            (allowance, _) => allowance,
        };
        match allowance {
            Allowance::Planned => None,
            Allowance::UpTo { total_s, end_s, may_end } => {
                state.limit_time(total_s);
                self.deadline.arm(end_s, may_end);
                None
            }
            // Turns of tools store their results without a preparation.
            Allowance::Nothing
                if state.preparations_ended() > 0
                    || (case.by != "assay" && state.has_series()) =>
            {
                Some(StopReason::Budget)
            }
            Allowance::Nothing => Some(StopReason::Cut),
        }
    }

    /// Returns the outcome of a turn; one that the deadline has ended keeps its complete results.
    fn end_turn<T: From<StopReason>>(
        &self,
        (case, state): (&Case, &mut CaseState),
        outcome: Result<T, CaseError>,
        session: &mut Session<'_>,
    ) -> Result<Result<T, CaseError>, CommandFailure> {
        let is_late = self.deadline.disarm();
        if session.log.is_stopped() {
            self.execution.cancel.store(true, Ordering::SeqCst);
        }
        if !is_late || !matches!(outcome, Err(CaseError::Interrupted)) {
            return Ok(outcome);
        }
        // The part of a timed stretch is not what the plan says.
        let is_part = case.workload.as_storage().is_some_and(|test| {
            case.by == "assay" && matches!(test.course, MeasurementMode::Once)
        });
        let is_kept = !is_part && keep_results(case, state, session)?;
        Ok(Ok(if is_kept { StopReason::Budget } else { StopReason::Cut }.into()))
    }
}

/// Measures all cases, in turns with their neighbours if possible. A failed case does not stop the
/// others.
fn measure_cases(
    execution: &PlanExecution<'_>,
    forecast: RunForecast,
    session: &mut Session<'_>,
) -> Result<CasesEnd, CommandFailure> {
    let PlanExecution { plan, began_ns, cancel, .. } = execution;
    let mut known = bind::RunCache::from_forecast(forecast);
    match session.log.is_alone() {
        true => {
            known.forecast.begin_earlier(session.seconds_since(*began_ns));
            known.forecast.order_cases();
        }
        false => known.forecast.join_hosts(),
    }
    let warnings = plan.budget_warning().into_iter().chain(known.forecast.cut_warnings());
    warnings.for_each(|words| session.log.note(None, &words));
    let (known, interrupted) = (RefCell::new(known), interrupt::flag());
    let deadline = TurnDeadline::new(cancel, &interrupted);
    let run = CasesContext { execution, known: &known, deadline: &deadline };
    let ended = thread::scope(|scope| {
        let _open = deadline.open();
        // Without a thread every turn takes its time.
        let watch = thread::Builder::new().name("deadline".to_owned());
        drop(watch.spawn_scoped(scope, || deadline.watch()));
        measure_groups(&run, session)
    })?;
    if let Some(words) = cut_note(session.log.run_so_far()) {
        session.log.warn(&words);
    }
    Ok(ended)
}

/// Measures the groups of cases one after another.
fn measure_groups(
    run: &CasesContext<'_>,
    session: &mut Session<'_>,
) -> Result<CasesEnd, CommandFailure> {
    let CasesContext { execution, known, .. } = *run;
    let mut has_begun = false;
    for group in interleaving::group_cases(
        &execution.plan.cases,
        &execution.host,
        execution.tools,
        known,
    ) {
        if let Some(words) = known.borrow_mut().forecast.check_budget(session.elapsed_s()) {
            session.log.warn(&words);
        }
        let cases: Vec<&str> = group.iter().map(|case| case.id.as_str()).collect();
        let ready_s = session.elapsed_s();
        session.wait_for_start(&cases)?;
        // Without a budget of the user, hosts may wait for others at no cost.
        if !std::mem::replace(&mut has_begun, true) || !execution.keeps_budget {
            known.borrow_mut().forecast.exclude_wait(session.elapsed_s() - ready_s);
        }
        if execution.cancel.load(Ordering::Relaxed) {
            return Ok(CasesEnd::Interrupted);
        }
        let ended = match group {
            [case] if bind::turns(case, &execution.host, execution.tools, known).is_none() => {
                measure_case(case, run, session)?
            }
            with_turns => interleaving::measure(with_turns, run, session)?,
        };
        if ended == CasesEnd::Interrupted {
            return Ok(ended);
        }
    }
    Ok(CasesEnd::Whole)
}

/// Returns the number of cases that the end of the budget has left out.
fn cut_note(run: &Run) -> Option<Phrase> {
    let plan = &run.started.plan;
    let is_cut = |outcome: &Option<CaseOutcome>| {
        *outcome == Some(CaseOutcome::Finished(StopReason::Cut))
    };
    let cut = run.cases.iter().filter(|record| is_cut(&record.outcome)).count();
    (cut > 0).then(|| {
        phrase!(
            "cases-cut",
            "{few} of {all} cases were not measured: the budget of {budget} ended before them",
            few = cut,
            all = plan.cases.len(),
            budget = Phrase::approximate(plan.budget_s, Unit::Second),
        )
    })
}

/// Measures a case that has no turns.
fn measure_case(
    case: &Case,
    run: &CasesContext<'_>,
    session: &mut Session<'_>,
) -> Result<CasesEnd, CommandFailure> {
    let CasesContext { execution, known, deadline } = *run;
    let refined = refine::refine(case, session.log.run_so_far());
    session.start_case(&case.id)?;
    warn_of_case(case, session);
    let mut state = CaseState::new(case, &execution.host.name);
    if let Some(stopped) = run.grant_turn(case, &mut state, session) {
        known.borrow_mut().forecast.record_end(&case.id);
        return end_case(case, Ok(stopped), &mut state, session);
    }
    session.begin_turn(case);
    let mut recorder = session.recorder(&mut state, execution.cancel).with_deadline(deadline);
    let env = bind::CaseEnv {
        host: &execution.host,
        tools: execution.tools,
        storage: execution.storage,
    };
    let outcome = match refined {
        Ok(Some(RefinedCase { case, chosen_percent })) => {
            if let Some(percent) = chosen_percent {
                recorder.add_fact(Attribute::PercentOfMax, percent);
            }
            bind::measure(&case, &env, known, &mut recorder)
        }
        Ok(None) => Ok(StopReason::NotNeeded),
        Err(failure) => Err(failure.into()),
    };
    let spent_s = recorder.elapsed_s();
    session.end_turn(&case.id);
    let outcome = run.end_turn((case, &mut state), outcome, session)?;
    match &outcome {
        Ok(StopReason::Cut) => known.borrow_mut().forecast.record_cut(&case.id, spent_s),
        Err(_) | Ok(StopReason::NotNeeded) => {
            known.borrow_mut().forecast.record_end(&case.id);
        }
        Ok(_) => known.borrow_mut().forecast.record_turn(&case.id, spent_s, true),
    }
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

/// Ends an interrupted case that has results.
fn keep_interrupted(
    case: &Case,
    state: &mut CaseState,
    session: &mut Session<'_>,
) -> Result<(), CommandFailure> {
    if keep_results(case, state, session)? {
        return end_case(case, Ok(StopReason::Budget), state, session).map(drop);
    }
    // A search that has not met its goal has no result, but its tries are kept.
    let goal = case.workload.latency_goal().filter(|_| state.has_series());
    let Some(goal) = goal.map(ToString::to_string) else { return Ok(()) };
    let failure = FailureReason::NoRateKeepsGoal { goal, last: None };
    end_case(case, Err(failure.into()), state, session).map(drop)
}

/// Stores the results of a case that was stopped; returns whether it has any.
///
/// Transfers, I/O, runs of tools, solutions, reads of caches and hand-overs between cores, each of which
/// was checked, count up to the stop. All other results are checked at the end of a preparation, so that only complete
/// preparations count.
fn keep_results(
    case: &Case,
    state: &mut CaseState,
    session: &mut Session<'_>,
) -> Result<bool, CommandFailure> {
    if case.by == "assay" && !case.workload.checks_each_result() {
        return Ok(state.preparations_ended() > 0);
    }
    let is_kept = state.has_samples();
    if is_kept {
        state.take_pending().into_iter().try_for_each(|event| session.log.add(event))?;
    }
    Ok(is_kept)
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
