//! Recording runs of commands that emulate a tool, which execute their own cases.
//!
//! The command decides what is done and when; its results become ordinary events, so that the run can be
//! listed, shown, compared and printed in the tool's shape again.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use assay_fleet::root::Root;
use assay_fleet::{facts, state};
use assay_kernels::clock;
use assay_model::attribute::{Attribute, Value};
use assay_model::entry::Entry;
use assay_model::event::{About, Asked, Fact, RunEvent, Status, Stopped};
use assay_model::facts::{HostFacts, HostState};
use assay_model::failure::Failure as CaseFailure;
use assay_model::plan::{Case, Plan, Stopping};
use assay_model::run::Run;
use assay_model::workload::Workload;
use assay_store::Store;

use crate::execution::{self, Beginning};
use crate::failure::Failure;
use crate::log::Log;
use crate::pauses::Pauses;
use crate::presence::{self, Presence};
use crate::recorder::{CaseError, CaseState, Recorder};
use crate::sink::Sink;

/// Wider intervals than this share of the median are doubtful.
const TARGET: f64 = 0.05;

/// What is known before a run begins.
#[derive(Debug, Clone)]
pub struct Opening<'a> {
    /// What will be done.
    pub plan: Plan,
    /// In which language it was asked.
    pub asked: Asked,
    /// What the user calls the condition.
    pub label: Option<String>,
    /// Files of the question by name, kept as raw outputs of the run.
    pub files: Vec<(String, Vec<u8>)>,
    /// Where the run is stored; `None` where nobody wants it.
    pub store: Option<&'a Store>,
}

/// A run that has begun.
#[expect(missing_debug_implementations, reason = "a sink has no text")]
pub struct Recording<'t> {
    log: Log<'t>,
    plan: Plan,
    host: String,
    before: HostState,
    started_ns: u64,
    status: Status,
    /// The cases that were begun, by their numbers.
    begun: BTreeSet<usize>,
    /// Nobody interrupts a recording but whoever drives it.
    cancel: AtomicBool,
    pauses: Pauses,
    _presence: Presence,
}

impl<'t> Recording<'t> {
    /// Stores the beginning.
    ///
    /// # Errors
    /// When the store refuses, or no thread can be pinned.
    pub fn begin(opening: Opening<'_>, sink: &'t mut dyn Sink) -> Result<Self, Failure> {
        let host: HostFacts = facts::read(&Root::machine());
        let (presence, company) = presence::announce();
        let before = state::read(&Root::machine());
        let started_ns = clock::now_ns();
        let beginning = Beginning {
            plan: &opening.plan,
            label: opening.label,
            note: None,
            // The words of a tool's language are in the question itself.
            command: Vec::new(),
            asked: Some(opening.asked),
            turn: None,
            host: &host,
            store: opening.store,
        };
        let mut log = execution::begin(beginning, before.clone(), sink)?;
        log.doubts(company)?;
        for (name, bytes) in opening.files {
            log.raw_of_run(name, &bytes)?;
        }
        Ok(Self {
            log,
            plan: opening.plan,
            host: host.name,
            before,
            started_ns,
            status: Status::Complete,
            begun: BTreeSet::new(),
            cancel: AtomicBool::new(false),
            pauses: Pauses::watch(),
            _presence: presence,
        })
    }

    /// Identifier of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        self.log.run_id()
    }

    /// One case of the plan begins, by its number.
    ///
    /// # Errors
    /// When the store refuses.
    ///
    /// # Panics
    /// When the plan has no such case.
    pub fn start(&mut self, number: usize) -> Result<(), Failure> {
        let case = self.plan.cases[number].id.clone();
        if self.begun.insert(number) {
            self.log.add(RunEvent::CaseStarted { case })?;
        }
        Ok(())
    }

    /// What was found in a case that was interrupted, with its raw outputs; it begins with it where it did not
    /// before, and has no end.
    ///
    /// # Errors
    /// When the store refuses.
    ///
    /// # Panics
    /// When the plan has no such case.
    pub fn found(
        &mut self,
        number: usize,
        entries: impl IntoIterator<Item = Entry>,
        raw: &[(String, Vec<u8>)],
    ) -> Result<(), Failure> {
        self.start(number)?;
        let mut state = CaseState::new(&self.plan.cases[number], &self.host);
        let mut recorder =
            Recorder::new(&mut state, &mut self.log, &self.cancel, self.started_ns);
        recorder.record_all(entries);
        for (name, bytes) in raw {
            recorder.raw(name, bytes).map_err(stored)?;
        }
        recorder.flush().map_err(stored)
    }

    /// The same of a case that is over; it ended well unless there is a failure.
    ///
    /// # Errors
    /// When the store refuses.
    ///
    /// # Panics
    /// When the plan has no such case.
    pub fn case(
        &mut self,
        number: usize,
        entries: impl IntoIterator<Item = Entry>,
        raw: &[(String, Vec<u8>)],
        failure: Option<CaseFailure>,
    ) -> Result<(), Failure> {
        self.found(number, entries, raw)?;
        self.end(number, failure.map_or(Ok(Stopped::Tool), Err))
    }

    /// A case ends: why no more was measured, or why its figures do not count.
    ///
    /// # Errors
    /// When the store refuses.
    ///
    /// # Panics
    /// When the plan has no such case.
    pub fn end(
        &mut self,
        number: usize,
        ending: Result<Stopped, CaseFailure>,
    ) -> Result<(), Failure> {
        let case = self.plan.cases[number].id.clone();
        match ending {
            Ok(stopped) => self.log.add(RunEvent::CaseFinished { case, stopped }),
            Err(failure) => {
                self.status = Status::Failed;
                self.log.add(RunEvent::CaseFailed { case, failure, because: None, host: None })
            }
        }
    }

    /// Something found out about this host.
    ///
    /// # Errors
    /// When the store refuses.
    pub fn learn_of_host(&mut self, name: Attribute, value: Value) -> Result<(), Failure> {
        let about = About::Host(self.host.clone());
        self.log.add(RunEvent::Fact(Fact { about, name, value }))
    }

    /// A raw output of the run as a whole.
    ///
    /// # Errors
    /// When the store refuses.
    pub fn raw(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        self.log.raw_of_run(name.to_owned(), bytes)
    }

    /// The same of a case that had nothing to do.
    ///
    /// # Errors
    /// When the store refuses.
    ///
    /// # Panics
    /// When the plan has no such case.
    pub fn idle(
        &mut self,
        number: usize,
        entries: impl IntoIterator<Item = Entry>,
        raw: &[(String, Vec<u8>)],
    ) -> Result<(), Failure> {
        self.found(number, entries, raw)?;
        let (case, stopped) = (self.plan.cases[number].id.clone(), Stopped::NotNeeded);
        self.log.add(RunEvent::CaseFinished { case, stopped })
    }

    /// What was planned and not begun was not needed: what came before it decided so.
    ///
    /// # Errors
    /// When the store refuses.
    pub fn leave_out_rest(&mut self) -> Result<(), Failure> {
        for number in 0..self.plan.cases.len() {
            if !self.begun.contains(&number) {
                self.start(number)?;
                let (case, stopped) = (self.plan.cases[number].id.clone(), Stopped::NotNeeded);
                self.log.add(RunEvent::CaseFinished { case, stopped })?;
            }
        }
        Ok(())
    }

    /// The run ends before its time, and nobody wanted that.
    pub const fn fail(&mut self) {
        self.status = Status::Failed;
    }

    /// The run as it is stored.
    ///
    /// # Errors
    /// When the store refuses.
    pub fn finish(mut self, interrupted: bool) -> Result<Run, Failure> {
        self.log.doubts(self.pauses.take())?;
        let after = state::read(&Root::machine());
        let elapsed_s = clock::seconds_between(self.started_ns, clock::now_ns());
        self.log.doubts(state::disturbance(&self.before, &after, elapsed_s))?;
        let finished = self.log.time();
        let status = if interrupted { Status::Interrupted } else { self.status };
        self.log.add(RunEvent::RunFinished { finished, status, state: after })?;
        Ok(self.log.finish())
    }
}

/// The plan of phases that were asked for in a tool's language: their names and what each does. How often
/// each repeats is the language's matter. A name that occurs again gets a number.
#[must_use]
pub fn plan(language: &str, phases: Vec<(String, Workload)>) -> Plan {
    let stopping = Stopping { target: TARGET, repetitions: 1, preparations: 1, budget_s: 0.0 };
    let mut taken = BTreeSet::new();
    let mut case = |(name, workload): (String, Workload)| {
        let numbered = (2..).map(|number: u32| format!("{language}/{name}#{number}"));
        let mut ids = std::iter::once(format!("{language}/{name}")).chain(numbered);
        let id = ids.find(|id| taken.insert(id.clone())).expect("numbers do not run out");
        Case { id, by: "assay".to_owned(), workload, stopping, pair: None }
    };
    let cases = phases.into_iter().map(&mut case).collect();
    Plan { suite: language.to_owned(), budget_s: 0.0, seed: None, cases, omitted: vec![] }
}

/// Recording itself cannot fail; only the store can.
fn stored(error: CaseError) -> Failure {
    match error {
        CaseError::Store(failure) => failure,
        other => unreachable!("recording ends in {other:?}"),
    }
}
