//! Session of a run: opens its log, frames its cases, watches this machine, and closes it.
//!
//! Runs on this machine, recordings of emulated commands and runs on several hosts differ only in
//! what happens within their cases.

use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use assay_fleet::root::Root;
use assay_fleet::state;
use assay_kernels::clock;
use assay_model::doubt::Doubt;
use assay_model::event::{
    HostClock, HostJoined, RequestedCommand, RunEvent, RunStarted, RunStatus, StopReason,
    TurnPosition,
};
use assay_model::facts::{HostFacts, HostState};
use assay_model::failure::FailureReason;
use assay_model::plan::{Case, Plan};
use assay_model::run::Run;
use assay_store::{Store, StoreError};
use jiff::Timestamp;

use crate::bind;
use crate::coordinator::{Coordinator, StartGate};
use crate::counter_watch::CounterWatch;
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::load_watch::LoadWatch;
use crate::log::RunLog;
use crate::pauses::PauseWatch;
use crate::presence::{self, InstanceMarker};
use crate::recorder::{CaseState, Recorder};

/// Request to open a run: everything that is known before it begins.
pub(crate) struct SessionRequest<'a> {
    pub(crate) plan: &'a Plan,
    /// User's name of the condition.
    pub(crate) label: Option<String>,
    /// User's note on the run.
    pub(crate) note: Option<String>,
    /// Command line of the user.
    pub(crate) command: Vec<String>,
    /// Job language and options of an emulated command.
    pub(crate) asked: Option<RequestedCommand>,
    /// Position among the runs of two alternating conditions.
    pub(crate) turn: Option<TurnPosition>,
    /// `None` if the listener stores the events.
    pub(crate) store: Option<&'a Store>,
}

/// Run in progress.
pub(crate) struct Session<'t> {
    pub(crate) log: RunLog<'t>,
    started_ns: u64,
    has_failed: bool,
    /// `None` if this machine measures nothing.
    watch: Option<MachineWatch>,
}

/// Watch over the machine that measures.
struct MachineWatch {
    before: HostState,
    pauses: PauseWatch,
    load: LoadWatch,
    counters: CounterWatch,
    presence: InstanceMarker,
    /// Whether the run has the doubt about another assay.
    has_company: bool,
}

impl<'t> Session<'t> {
    /// Opens a run that other hosts measure.
    pub(crate) fn open(
        request: SessionRequest<'_>,
        listener: &'t mut dyn Listener,
        coordinator: Box<dyn Coordinator + 't>,
    ) -> Result<Self, CommandFailure> {
        let started_ns = clock::now_ns();
        let log = open_log(request, listener, coordinator)?;
        Ok(Self { log, started_ns, has_failed: false, watch: None })
    }

    /// Opens a run that this machine measures, records that it has joined, and watches it.
    pub(crate) fn open_on(
        host: &HostFacts,
        request: SessionRequest<'_>,
        listener: &'t mut dyn Listener,
        coordinator: Box<dyn Coordinator + 't>,
    ) -> Result<Self, CommandFailure> {
        let (presence, company) = presence::announce();
        let before = state::read(&Root::machine());
        let plan = request.plan;
        let clock = measure_clock(plan, host)?;
        let mut session = Self::open(request, listener, coordinator)?;
        let joined = HostJoined {
            host: host.name.clone(),
            facts: host.clone(),
            state: before.clone(),
            clock,
            labels: Vec::new(),
        };
        session.log.add(RunEvent::HostJoined(Box::new(joined)))?;
        let emulated = host.is_emulated().then_some(Doubt::EmulatedCpu);
        let has_company = company.is_some();
        session.log.add_doubts(emulated.into_iter().chain(company))?;
        let (pauses, load) = (PauseWatch::start(), LoadWatch::start(plan));
        let has_passes = plan.cases.iter().any(|case| case.workload.has_timed_passes());
        let counters = CounterWatch::start(has_passes);
        session.watch =
            Some(MachineWatch { before, pauses, load, counters, presence, has_company });
        Ok(session)
    }

    /// Seconds since the run was opened.
    pub(crate) fn elapsed_s(&self) -> f64 {
        clock::seconds_between(self.started_ns, clock::now_ns())
    }

    /// Seconds from an earlier time to the start of the run.
    pub(crate) fn seconds_since(&self, began_ns: u64) -> f64 {
        clock::seconds_between(began_ns, self.started_ns)
    }

    /// Waits for the hosts that measure these cases together with this one.
    pub(crate) fn wait_for_start(&mut self, cases: &[&str]) -> Result<(), CommandFailure> {
        let gate = StartGate { cases, step: 0, run_started_ns: self.started_ns };
        self.log.wait_for_start(&gate).map(drop)
    }

    /// Begins a case.
    pub(crate) fn start_case(&mut self, case: &str) -> Result<(), CommandFailure> {
        self.log.add(RunEvent::CaseStarted { case: case.to_owned() })
    }

    /// Returns the recorder of a case or of one of its turns.
    pub(crate) fn recorder<'a>(
        &'a mut self,
        state: &'a mut CaseState,
        cancel: &'a AtomicBool,
    ) -> Recorder<'a, 't> {
        // Not the method, which would borrow the log, too.
        let counters = self.watch.as_ref().map(|watch| &watch.counters);
        Recorder::new(state, &mut self.log, cancel, self.started_ns).with_counters(counters)
    }

    /// Records the pauses of this machine since the last call, as doubts about the case or the run.
    pub(crate) fn record_pauses(&mut self, case: Option<&str>) -> Result<(), CommandFailure> {
        let doubts = self.watch.as_ref().map_or_else(Vec::new, |it| it.pauses.take_doubts());
        doubts.into_iter().try_for_each(|doubt| {
            self.log.add(RunEvent::Doubt { case: case.map(str::to_owned), doubt })
        })
    }

    /// Watch of kernel counters, if this machine measures.
    pub(crate) fn counters(&self) -> Option<&CounterWatch> {
        self.watch.as_ref().map(|watch| &watch.counters)
    }

    /// Begins a turn of a case, to which the load from here on is attributed.
    pub(crate) fn begin_turn(&mut self, case: &Case) {
        if let Some(watch) = &mut self.watch {
            watch.load.account(None);
            watch.counters.begin_turn(case.workload.has_timed_passes());
        }
    }

    /// Attributes the load and the kernel counters of this machine since the beginning of the turn
    /// to a case.
    pub(crate) fn end_turn(&mut self, case: &str) {
        if let Some(watch) = &mut self.watch {
            watch.counters.end_turn(case);
            watch.load.account(Some(case));
        }
    }

    /// Records the disturbances of this machine since the run was opened.
    fn record_disturbances(
        &mut self,
        after: &HostState,
        elapsed_s: f64,
    ) -> Result<(), CommandFailure> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        let loads = watch.load.finish(elapsed_s);
        let is_known = watch.load.is_known();
        let mut doubts = state::find_disturbances(&watch.before, after, elapsed_s, is_known);
        // Cases with stolen or withheld time are named; the others are sound.
        doubts.retain(|doubt| {
            !matches!(doubt, Doubt::Steal { .. } | Doubt::Throttled { .. })
                || loads.iter().all(|(_, of_case)| of_case.id() != doubt.id())
        });
        let is_joined = watch.presence.was_joined() && !watch.has_company;
        doubts.extend(is_joined.then_some(Doubt::AnotherAssay));
        self.log.add_doubts(doubts)?;
        loads
            .into_iter()
            .try_for_each(|(case, doubt)| self.log.add(RunEvent::Doubt { case, doubt }))
    }

    /// Ends a case with its stop reason, or with its failure and the earlier case that caused it.
    pub(crate) fn end_case(
        &mut self,
        case: &str,
        ending: Result<StopReason, (FailureReason, Option<String>)>,
    ) -> Result<(), CommandFailure> {
        let counters = self.counters().and_then(|it| it.take_record(case));
        if let Some(counters) = counters {
            self.log.add(RunEvent::Counters(Box::new(counters)))?;
        }
        let case = case.to_owned();
        self.log.add(match ending {
            Ok(stopped) => RunEvent::CaseFinished { case, stopped },
            Err((failure, because)) => {
                self.has_failed = true;
                RunEvent::CaseFailed { case, failure, because, host: None }
            }
        })
    }

    /// Whether a case has failed.
    pub(crate) const fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Marks the run as failed, although no case has.
    pub(crate) const fn mark_failed(&mut self) {
        self.has_failed = true;
    }

    /// Records what disturbed this machine, ends the run, and returns it as stored.
    pub(crate) fn close(mut self, is_interrupted: bool) -> Result<Run, CommandFailure> {
        self.record_pauses(None)?;
        let (after, elapsed_s) = (state::read(&Root::machine()), self.elapsed_s());
        self.record_disturbances(&after, elapsed_s)?;
        let budget_s = self.log.run_so_far().started.plan.budget_s;
        self.log.add_doubts(over_budget(budget_s, elapsed_s))?;
        let status = match (is_interrupted, self.has_failed) {
            (true, _) => RunStatus::Interrupted,
            (false, true) => RunStatus::Failed,
            (false, false) => RunStatus::Complete,
        };
        self.close_as(status, after)
    }

    /// Ends the run with a status and the final state of its first host.
    pub(crate) fn close_as(
        mut self,
        status: RunStatus,
        state: HostState,
    ) -> Result<Run, CommandFailure> {
        let finished = self.log.current_time();
        self.log.add(RunEvent::RunFinished { finished, status, state })?;
        Ok(self.log.finish())
    }
}

/// Returns a doubt if a run took much longer than its budget. Some lengths are fixed, and first
/// results are not shortened, so that an excess of one half is expected. Job languages have no
/// budget.
fn over_budget(budget_s: f64, elapsed_s: f64) -> Option<Doubt> {
    (budget_s > 0.0 && elapsed_s > 1.5 * budget_s + 10.0)
        .then_some(Doubt::OverBudget { elapsed_s, budget_s })
}

/// Opens the log of a new run. Tries identifiers until one is unused: another assay may have
/// started in the same second. The run sorts after all runs of the store, even if the clock was set
/// back.
fn open_log<'t>(
    request: SessionRequest<'_>,
    listener: &'t mut dyn Listener,
    coordinator: Box<dyn Coordinator + 't>,
) -> Result<RunLog<'t>, CommandFailure> {
    let now = Timestamp::now();
    let mut started = RunStarted {
        label: request.label,
        note: request.note,
        command: request.command,
        asked: request.asked,
        turn: request.turn,
        ..RunStarted::new(new_run_id(now), now.to_string(), request.plan.clone())
    };
    let writer = loop {
        let Some(store) = request.store else { break None };
        let later = store.latest_if_later_than(&started.run);
        started.after = later?;
        match store.begin(started.clone()) {
            Err(StoreError::RunExists { .. }) => started.run = new_run_id(Timestamp::now()),
            other => break Some(other?),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_run_far_over_budget() {
        for (budget_s, elapsed_s, expected) in
            [(60.0, 59.0, false), (60.0, 95.0, false), (60.0, 101.0, true), (0.0, 101.0, false)]
        {
            let doubt = over_budget(budget_s, elapsed_s);
            assert_eq!(doubt.is_some(), expected, "{elapsed_s} s of {budget_s} s");
        }
    }
}
