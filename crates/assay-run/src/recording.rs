//! Recording of runs by commands that emulate a tool and execute their own cases.
//!
//! The command controls the cases and their times. Their results become ordinary events, so that
//! the run can be listed, shown, compared, and printed again in the tool's format.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use assay_fleet::facts;
use assay_fleet::kernel_counters::CountedPlaces;
use assay_fleet::root::Root;
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::entry::MeasurementEntry;
use assay_model::event::{Fact, FactSubject, RequestedCommand, RunEvent, StopReason};
use assay_model::facts::HostFacts;
use assay_model::failure::FailureReason;
use assay_model::kernel_counters::PayloadBytes;
use assay_model::plan::{Case, Plan, StoppingRule};
use assay_model::run::Run;
use assay_model::workload::Workload;
use assay_store::Store;

use crate::coordinator::Alone;
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::recorder::{CaseError, CaseState};
use crate::session::{Session, SessionRequest};
use crate::stored_outcome::{self, OUTCOME_FILE, ToolOutcome};

/// Relative interval width above which a result is doubtful.
const TARGET_WIDTH: f64 = 0.05;

/// Description of a run before it begins.
#[derive(Debug, Clone)]
pub struct RecordingRequest<'a> {
    /// Plan of the run.
    pub plan: Plan,
    /// Job language and options of the request.
    pub asked: RequestedCommand,
    /// User's name of the condition.
    pub label: Option<String>,
    /// Files of the request by name, stored as raw outputs of the run.
    pub files: Vec<(String, Vec<u8>)>,
    /// Store of the run; `None` if it is not stored.
    pub store: Option<&'a Store>,
}

/// Recording in progress.
#[expect(missing_debug_implementations, reason = "a listener has no text")]
pub struct Recording<'t> {
    session: Session<'t>,
    plan: Plan,
    host: String,
    /// Numbers of the cases that have begun.
    begun: BTreeSet<usize>,
    /// Never set: a recording is interrupted only by its caller.
    cancel: AtomicBool,
}

impl<'t> Recording<'t> {
    /// Stores the first events of the run.
    ///
    /// # Errors
    /// Fails if the store cannot be used, or no thread can be pinned.
    pub fn begin(
        opening: RecordingRequest<'_>,
        listener: &'t mut dyn Listener,
    ) -> Result<Self, CommandFailure> {
        let host: HostFacts = facts::read(&Root::machine());
        let request = SessionRequest {
            plan: &opening.plan,
            label: opening.label,
            note: None,
            // The arguments of an emulated tool are in the request.
            command: Vec::new(),
            asked: Some(opening.asked),
            turn: None,
            store: opening.store,
        };
        let mut session = Session::open_on(&host, request, listener, Box::new(Alone))?;
        for (name, bytes) in opening.files {
            session.log.add_raw_output(name, &bytes)?;
        }
        Ok(Self {
            session,
            plan: opening.plan,
            host: host.name,
            begun: BTreeSet::new(),
            cancel: AtomicBool::new(false),
        })
    }

    /// Identifier of the run.
    pub fn id(&self) -> &str {
        self.session.log.run_id()
    }

    /// Begins a case of the plan, by its number, and the stretch of its kernel counters.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    ///
    /// # Panics
    /// If the plan has no such case.
    pub fn start_case(&mut self, number: usize) -> Result<(), CommandFailure> {
        self.open_case(number)?;
        self.session.counters().into_iter().for_each(|it| it.begin_turn(false));
        Ok(())
    }

    /// Stores the begin of a case, unless it has begun.
    fn open_case(&mut self, number: usize) -> Result<(), CommandFailure> {
        let case = &self.plan.cases[number].id;
        if self.begun.insert(number) { self.session.start_case(case) } else { Ok(()) }
    }

    /// Begins a measured stretch with the kernel counters of some places.
    pub fn begin_counting(&self, places: CountedPlaces) {
        if let Some(counters) = self.session.counters() {
            counters.begin_stretch(places);
        }
    }

    /// Ends a measured stretch of a case that moved these bytes.
    ///
    /// # Panics
    /// If the plan has no such case.
    pub fn end_counting(&self, number: usize, payload: PayloadBytes) {
        if let Some(counters) = self.session.counters() {
            counters.end_stretch(&self.plan.cases[number].id, payload);
        }
    }

    /// Records the entries and raw outputs of an interrupted case, without an end; begins the case
    /// if necessary.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    ///
    /// # Panics
    /// If the plan has no such case.
    pub fn record_partial(
        &mut self,
        number: usize,
        entries: impl IntoIterator<Item = MeasurementEntry>,
        raw: &[(String, Vec<u8>)],
    ) -> Result<(), CommandFailure> {
        self.open_case(number)?;
        let mut state = CaseState::new(&self.plan.cases[number], &self.host);
        let mut recorder = self.session.recorder(&mut state, &self.cancel);
        recorder.record_all(entries);
        for (name, bytes) in raw {
            recorder.store_raw(name, bytes).map_err(store_failure)?;
        }
        recorder.flush().map_err(store_failure)
    }

    /// Records the entries, raw outputs and end of a case; it succeeded unless there is a failure.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    ///
    /// # Panics
    /// If the plan has no such case.
    pub fn record_case(
        &mut self,
        number: usize,
        entries: impl IntoIterator<Item = MeasurementEntry>,
        raw: &[(String, Vec<u8>)],
        failure: Option<FailureReason>,
    ) -> Result<(), CommandFailure> {
        self.record_partial(number, entries, raw)?;
        self.end_case(number, failure.map_or(Ok(StopReason::Tool), Err))
    }

    /// Ends a case with its stop reason or failure.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    ///
    /// # Panics
    /// If the plan has no such case.
    pub fn end_case(
        &mut self,
        number: usize,
        ending: Result<StopReason, FailureReason>,
    ) -> Result<(), CommandFailure> {
        let ending = ending.map_err(|failure| (failure, None));
        let case = &self.plan.cases[number].id;
        self.session.counters().into_iter().for_each(|it| it.end_turn(case));
        self.session.end_case(case, ending)
    }

    /// Records a fact about this host.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    pub fn add_host_fact(
        &mut self,
        name: Attribute,
        value: AttributeValue,
    ) -> Result<(), CommandFailure> {
        let about = FactSubject::Host(self.host.clone());
        self.session.log.add(RunEvent::Fact(Fact { about, name, value }))
    }

    /// Stores a raw output of the run as a whole.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    pub fn store_raw(&mut self, name: &str, bytes: &[u8]) -> Result<(), CommandFailure> {
        self.session.log.add_raw_output(name.to_owned(), bytes)
    }

    /// Stores the outcome of the run as a whole, from which the tool's output is rendered.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    pub fn store_outcome<T: ToolOutcome>(&mut self, outcome: &T) -> Result<(), CommandFailure> {
        self.store_raw(OUTCOME_FILE, &stored_outcome::encode(outcome)?)
    }

    /// Records a case that had nothing to do.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    ///
    /// # Panics
    /// If the plan has no such case.
    pub fn record_idle_case(
        &mut self,
        number: usize,
        entries: impl IntoIterator<Item = MeasurementEntry>,
        raw: &[(String, Vec<u8>)],
    ) -> Result<(), CommandFailure> {
        self.record_partial(number, entries, raw)?;
        self.end_case(number, Ok(StopReason::NotNeeded))
    }

    /// Marks all cases that have not begun as not needed, as the results of the others imply.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    pub fn skip_remaining(&mut self) -> Result<(), CommandFailure> {
        for number in 0..self.plan.cases.len() {
            if !self.begun.contains(&number) {
                self.open_case(number)?;
                self.end_case(number, Ok(StopReason::NotNeeded))?;
            }
        }
        Ok(())
    }

    /// Marks the run as failed, because it ends early unintentionally.
    pub const fn mark_failed(&mut self) {
        self.session.mark_failed();
    }

    /// Ends the run and returns it as stored.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    pub fn finish(self, interrupted: bool) -> Result<Run, CommandFailure> {
        self.session.close(interrupted)
    }
}

/// Builds the plan of phases that were requested in a job language, from their names and workloads.
/// The language determines the repetitions. Repeated names get a number.
pub fn phase_plan(language: &str, phases: Vec<(String, Workload)>) -> Plan {
    let stopping =
        StoppingRule { target: TARGET_WIDTH, repetitions: 1, preparations: 1, budget_s: 0.0 };
    let mut taken = BTreeSet::new();
    let mut case = |(name, workload): (String, Workload)| {
        let numbered = (2..).map(|number: u32| format!("{language}/{name}#{number}"));
        let mut ids = std::iter::once(format!("{language}/{name}")).chain(numbered);
        let id = ids.find(|id| taken.insert(id.clone())).expect("numbers do not run out");
        Case::new(id, workload, stopping)
    };
    let cases = phases.into_iter().map(&mut case).collect();
    Plan::new(language, 0.0, cases)
}

/// Converts the error of recording, which only the store can cause.
pub(crate) fn store_failure(error: CaseError) -> CommandFailure {
    match error {
        CaseError::Store(failure) => failure,
        other => unreachable!("recording ends in {other:?}"),
    }
}
