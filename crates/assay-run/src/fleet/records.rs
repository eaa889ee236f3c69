//! Merges the events of several hosts into one run: common cases, unique series numbers, one clock.

use std::collections::{BTreeMap, BTreeSet};

use assay_fleet::pairs::PairRounds;
use assay_fleet::remote::{HostFailure, SecondReport};
use assay_fleet::root::Root;
use assay_fleet::{facts, state};
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::doubt::Doubt;
use assay_model::event::{
    Fact, FactSubject, HostClock, HostJoined, RunEvent, RunStatus, StopReason,
};
use assay_model::facts::HostState;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::phrase::Phrase;
use assay_model::run::Run;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::FleetRequest;
use super::clocks::{self, RemoteClock};
use super::lockstep::CaseStep;
use super::merging::MergedPlan;
use crate::failure::CommandFailure;
use crate::restore_record::UNRESTORED;
use crate::session::Session;

/// Record of a run with several hosts.
pub(super) struct FleetRecord<'t> {
    names: &'t [String],
    /// Groups of each host.
    labels: Vec<Vec<String>>,
    session: Session<'t>,
    /// For each host: its case identifiers → position in the plan.
    positions: Vec<BTreeMap<String, usize>>,
    /// Case identifiers in plan order, with the round if the case is of a pair.
    cases: Vec<(String, Option<u32>)>,
    pairs: PairRounds,
    /// Hosts that no longer take part, with the reason.
    lost: BTreeMap<usize, FailureReason>,
    /// For each host: its series numbers → those of the run.
    series: Vec<BTreeMap<u32, u32>>,
    /// Hosts that have joined and are not stored yet.
    joined: BTreeMap<usize, Box<HostJoined>>,
    /// Cases that at least one host has entered, by position.
    open: BTreeMap<usize, FleetCaseProgress>,
    /// Hosts of the last common start.
    starting: Vec<usize>,
    /// Positions of its cases.
    started: Vec<usize>,
    /// Seconds by which each host started late, with their uncertainty.
    late_s: BTreeMap<usize, (f64, f64)>,
    /// Whether part of the run is missing.
    is_partial: bool,
    /// State of the first host that has finished.
    state: Option<HostState>,
    run_started_ns: u64,
}

/// Progress of a case on its hosts.
#[derive(Default)]
struct FleetCaseProgress {
    /// Hosts that measure it.
    hosts: BTreeSet<usize>,
    /// Hosts that have left it.
    left: BTreeSet<usize>,
    begun: bool,
    /// Stop reason, if it ended well on a host.
    stopped: Option<StopReason>,
    ended: bool,
    /// Whether it ended although no host had time for it; others may still measure it.
    ended_cut: bool,
    failure: Option<FailureReason>,
    /// Hosts that had no time for it.
    cut: Vec<usize>,
    /// Largest skew of the hosts' starts, and its bound, in seconds.
    skew_s: Option<(f64, f64)>,
}

impl<'t> FleetRecord<'t> {
    pub(super) fn new(
        request: &FleetRequest<'t>,
        merged: MergedPlan,
        session: Session<'t>,
        run_started_ns: u64,
    ) -> Self {
        let (names, cases) = (request.names, merged.plan.cases.into_iter());
        Self {
            names,
            labels: request.labels.clone(),
            session,
            positions: merged.positions,
            cases: cases.map(|case| (case.id, case.pair.map(|pair| pair.round))).collect(),
            pairs: request.pairs.clone(),
            lost: BTreeMap::new(),
            series: vec![BTreeMap::new(); names.len()],
            joined: BTreeMap::new(),
            open: BTreeMap::new(),
            starting: Vec::new(),
            started: Vec::new(),
            late_s: BTreeMap::new(),
            is_partial: false,
            state: None,
            run_started_ns,
        }
    }

    /// Returns the position of the first of a host's cases; unknown cases come last.
    pub(super) fn first_position(&mut self, host: usize, cases: &[String]) -> usize {
        let places: Vec<usize> =
            cases.iter().filter_map(|case| self.positions[host].get(case).copied()).collect();
        for place in &places {
            self.open.entry(*place).or_default().hosts.insert(host);
        }
        places.first().copied().unwrap_or(self.cases.len())
    }

    /// Notes the hosts of a common start. All hosts have joined by the first one; they are stored
    /// in their order.
    pub(super) fn begin_start(
        &mut self,
        hosts: &[usize],
        place: CaseStep,
    ) -> Result<(), CommandFailure> {
        self.starting = hosts.to_vec();
        self.started = self.starting_cases(hosts, place);
        self.late_s.clear();
        if place.1 == 1 {
            // Step 0 only prepares; its skew does not count.
            self.started_cases().for_each(|open| open.skew_s = None);
        }
        let joined = std::mem::take(&mut self.joined);
        joined.into_values().try_for_each(|it| self.session.log.add(RunEvent::HostJoined(it)))
    }

    /// Notes the start of a host; the last one determines the skew.
    pub(super) fn host_started(&mut self, host: usize, late_s: f64, bound_s: f64) {
        self.late_s.insert(host, (late_s, bound_s));
        if self.starting.len() < 2 || self.late_s.len() < self.starting.len() {
            return;
        }
        let (skew_s, bound_s) = clocks::skew_s(self.late_s.values().copied());
        for open in self.started_cases() {
            let worst = open.skew_s.filter(|it| it.0 >= skew_s);
            open.skew_s = Some(worst.unwrap_or((skew_s, bound_s)));
        }
    }

    /// Positions of the cases that hosts start at a place. A step belongs to its own case only, not to
    /// interleaved ones.
    fn starting_cases(&self, hosts: &[usize], (case, step): CaseStep) -> Vec<usize> {
        let is_in = |(place, open): &(&usize, &FleetCaseProgress)| {
            (step == 0 || **place == case) && hosts.iter().any(|it| open.hosts.contains(it))
        };
        self.open.iter().filter(is_in).map(|(place, _)| *place).collect()
    }

    /// Cases of the last start; not those for which a host waits that has ended its case early.
    fn started_cases(&mut self) -> impl Iterator<Item = &mut FleetCaseProgress> {
        let Self { started, open, .. } = self;
        open.iter_mut().filter(|(place, _)| started.contains(place)).map(|(_, open)| open)
    }

    /// Stores an event of a host with the names and numbers of this run.
    pub(super) fn add_event(
        &mut self,
        host: usize,
        event: RunEvent,
        clock: &RemoteClock,
    ) -> Result<(), CommandFailure> {
        let name = self.names[host].clone();
        let event = match event {
            // Several hosts are the coordinator's concern.
            RunEvent::RunStarted(_) | RunEvent::CaseCut { .. } => return Ok(()),
            RunEvent::HostJoined(mut joined) => {
                joined.host.clone_from(&name);
                joined.facts.name = name;
                joined.labels = self.labels.get(host).cloned().unwrap_or_default();
                joined.clock =
                    HostClock { offset: Some(clock.wall_clock_offset()), ..joined.clock };
                self.joined.insert(host, joined);
                return Ok(());
            }
            RunEvent::CaseStarted { case } => return self.case_started(host, &case),
            RunEvent::CaseFinished { case, stopped } => {
                return self.case_ended(host, &case, Ok(stopped), None);
            }
            RunEvent::CaseFailed { case, failure, because, .. } => {
                return self.case_ended(host, &case, Err(failure), because);
            }
            RunEvent::RunFinished { state, .. } => {
                self.state.get_or_insert(state);
                return Ok(());
            }
            RunEvent::RawOutput { case, name: output, hash, bytes } => {
                let case = case.map(|case| self.case_id(host, &case));
                RunEvent::RawOutput { case, name: format!("{name}:{output}"), hash, bytes }
            }
            RunEvent::Counters(mut counters) => {
                counters.case = self.case_id(host, &counters.case);
                counters.host = Some(name);
                RunEvent::Counters(counters)
            }
            RunEvent::Doubt { case, doubt } => {
                let case = case.map(|case| self.case_id(host, &case));
                RunEvent::Doubt {
                    case,
                    doubt: Doubt::OnHost { host: name, doubt: Box::new(doubt) },
                }
            }
            RunEvent::Fact(Fact { about, name: fact, value }) => {
                let about = match about {
                    FactSubject::Series(number) => {
                        FactSubject::Series(self.series_number(host, number))
                    }
                    FactSubject::Case(case) | FactSubject::CaseOn { case, .. } => {
                        FactSubject::CaseOn { case: self.case_id(host, &case), host: name }
                    }
                    FactSubject::Host(_) => FactSubject::Host(name),
                };
                RunEvent::Fact(Fact { about, name: fact, value })
            }
            other => return self.add_series_event(host, other, clock),
        };
        self.session.log.add(event)
    }

    /// Stores an event of a series; opening a series gives it a number that is unique in the run.
    fn add_series_event(
        &mut self,
        host: usize,
        event: RunEvent,
        clock: &RemoteClock,
    ) -> Result<(), CommandFailure> {
        let event = match event {
            RunEvent::SeriesOpened(mut opened) => {
                let number = self.session.log.next_series();
                self.series[host].insert(opened.series, number);
                opened.series = number;
                opened.case = self.case_id(host, &opened.case);
                opened.dimensions.insert(Attribute::Host, self.names[host].as_str().into());
                RunEvent::SeriesOpened(opened)
            }
            RunEvent::Sample(mut sample) => {
                let later_ns = clock.began_after_ns(self.run_started_ns);
                sample.series = self.series_number(host, sample.series);
                sample.at_ns = sample.at_ns.saturating_add_signed(later_ns);
                RunEvent::Sample(sample)
            }
            RunEvent::Distribution(mut stretch) => {
                stretch.series = self.series_number(host, stretch.series);
                RunEvent::Distribution(stretch)
            }
            RunEvent::Count(mut stretch) => {
                stretch.series = self.series_number(host, stretch.series);
                RunEvent::Count(stretch)
            }
            RunEvent::Figures { series, figures } => {
                RunEvent::Figures { series: self.series_number(host, series), figures }
            }
            other => other,
        };
        self.session.log.add(event)
    }

    /// Returns the number in the run; a series that was never opened gets an unused number, as in a
    /// run of one host.
    fn series_number(&self, host: usize, number: u32) -> u32 {
        self.series[host].get(&number).copied().unwrap_or(u32::MAX)
    }

    fn case_id(&self, host: usize, own: &str) -> String {
        let place = self.positions[host].get(own);
        place.map_or_else(|| own.to_owned(), |place| self.cases[*place].0.clone())
    }

    fn case_started(&mut self, host: usize, own: &str) -> Result<(), CommandFailure> {
        let case = self.case_id(host, own);
        let Some(place) = self.positions[host].get(own) else { return Ok(()) };
        let open = self.open.entry(*place).or_default();
        open.hosts.insert(host);
        if std::mem::replace(&mut open.begun, true) {
            return Ok(());
        }
        self.session.start_case(&case)
    }

    fn case_ended(
        &mut self,
        host: usize,
        own: &str,
        how: Result<StopReason, FailureReason>,
        because: Option<String>,
    ) -> Result<(), CommandFailure> {
        let Some(place) = self.positions[host].get(own).copied() else { return Ok(()) };
        let how = how.map_err(|failure| self.peer_failure(host, place).unwrap_or(failure));
        let open = self.open.entry(place).or_default();
        match how {
            Ok(stopped) => {
                open.cut.extend((stopped == StopReason::Cut).then_some(host));
                open.stopped =
                    Some(open.stopped.map_or(stopped, |it| weaker_stop(it, stopped)));
            }
            Err(failure) => {
                open.failure.get_or_insert_with(|| failure.clone());
                let because = because.map(|it| self.case_id(host, &it));
                let (case, name) =
                    (self.cases[place].0.clone(), Some(self.names[host].clone()));
                self.session.log.add(RunEvent::CaseFailed {
                    case,
                    failure,
                    because,
                    host: name,
                })?;
            }
        }
        self.leave_case(host, place)
    }

    /// Removes a host from a case, which ends with the last one.
    fn leave_case(&mut self, host: usize, place: usize) -> Result<(), CommandFailure> {
        let Some(open) = self.open.get_mut(&place) else { return Ok(()) };
        open.hosts.remove(&host);
        open.left.insert(host);
        // Other pairs of the round may not have started.
        let is_due = |(host, places): (usize, &BTreeMap<String, usize>)| {
            let is_through = open.left.contains(&host) || self.lost.contains_key(&host);
            !is_through && places.values().any(|it| *it == place)
        };
        let is_awaited =
            self.cases[place].1.is_some() && self.positions.iter().enumerate().any(is_due);
        let is_cut = open.stopped == Some(StopReason::Cut);
        let is_over = open.ended && (is_cut || !open.ended_cut);
        if is_awaited || !open.hosts.is_empty() || is_over {
            return Ok(());
        }
        (open.ended, open.ended_cut) = (true, is_cut);
        let (stopped, failure, skew_s) = (open.stopped, open.failure.clone(), open.skew_s);
        let case = self.cases[place].0.clone();
        if let Some((skew_s, bound_s)) = skew_s {
            let facts = [(Attribute::StartSkew, skew_s), (Attribute::StartSkewBound, bound_s)];
            for (name, value) in facts {
                let (about, value) =
                    (FactSubject::Case(case.clone()), AttributeValue::Number(value));
                self.session.log.add(RunEvent::Fact(Fact { about, name, value }))?;
            }
        }
        // With a failure, the time was not all that was missing.
        let stopped = stopped.filter(|it| *it != StopReason::Cut || failure.is_none());
        if stopped != Some(StopReason::Cut) {
            self.add_cut_hosts(place)?;
        }
        match (stopped, failure) {
            (Some(stopped), failure) => {
                self.is_partial |= failure.is_some();
                self.session.end_case(&case, Ok(stopped))
            }
            (None, Some(failure)) => self.session.end_case(&case, Err((failure, None))),
            // The case was interrupted.
            (None, None) => Ok(()),
        }
    }

    /// Records the hosts that had no time for a case that others measured, in their order.
    fn add_cut_hosts(&mut self, place: usize) -> Result<(), CommandFailure> {
        let mut cut = self.open.get(&place).map_or_else(Vec::new, |open| open.cut.clone());
        cut.sort_unstable();
        cut.into_iter().try_for_each(|host| {
            let (case, host) = (self.cases[place].0.clone(), self.names[host].clone());
            self.session.log.add(RunEvent::CaseCut { case, host })
        })
    }

    /// Adds a doubt about the clock of this machine, which measures nothing.
    pub(super) fn add_own_doubt(&mut self, doubt: Doubt) -> Result<(), CommandFailure> {
        let doubt =
            Doubt::OnHost { host: facts::host_name(&Root::machine()), doubt: Box::new(doubt) };
        self.session.log.add_doubts([doubt])
    }

    /// Failure of the other host of a pair, if the coordinator lost it; it is more specific than
    /// the error that the first host observed.
    fn peer_failure(&self, host: usize, place: usize) -> Option<FailureReason> {
        let peer = self.pairs.peer(host, self.cases.get(place)?.1?)?;
        let FailureReason::Error { area, causes, advice } = self.lost.get(&peer)?.clone()
        else {
            return None;
        };
        let gone = format!("{} was lost", self.names[peer]);
        let causes = std::iter::once(gone).chain(causes).collect();
        Some(FailureReason::Error { area, causes, advice })
    }

    /// Records the loss of a host: its current cases fail, and so do all pairs that it would have
    /// started.
    pub(super) fn lose_host(
        &mut self,
        host: usize,
        failure: &HostFailure,
    ) -> Result<(), CommandFailure> {
        let name = self.names[host].clone();
        let causes = FailureReason::error_chain(failure);
        let doubt = Doubt::HostLost {
            host: name.clone(),
            why: failure.id().to_owned(),
            reason: causes.join(": "),
            advice: failure.advice().to_owned(),
        };
        self.is_partial = true;
        self.session.log.add(RunEvent::Doubt { case: None, doubt })?;
        let advice = failure.advice().to_owned();
        let failed = FailureReason::Error { area: ErrorArea::Host, causes, advice };
        self.lost.insert(host, failed.clone());
        self.fail_cases(host, &failed)
    }

    fn fail_cases(
        &mut self,
        host: usize,
        failure: &FailureReason,
    ) -> Result<(), CommandFailure> {
        for open in self.open.values_mut().filter(|open| !open.begun) {
            open.hosts.remove(&host);
        }
        let is_within = |place: &usize| match self.open.get(place) {
            Some(open) if open.hosts.contains(&host) => true,
            Some(open) if open.left.contains(&host) => false,
            _ => self.lost.contains_key(&host) && self.cases[*place].1.is_some(),
        };
        let mut within: Vec<(usize, String)> = self.positions[host]
            .iter()
            .filter(|(_, place)| is_within(place))
            .map(|(own, place)| (*place, own.clone()))
            .collect();
        within.sort_unstable();
        let within: Vec<String> = within.into_iter().map(|(_, own)| own).collect();
        for own in within {
            self.case_started(host, &own)?;
            self.case_ended(host, &own, Err(failure.clone()), None)?;
        }
        Ok(())
    }

    /// Stores a raw output; the event with its name follows.
    pub(super) fn store_raw(&mut self, text: &str) -> Result<(), CommandFailure> {
        match STANDARD.decode(text) {
            Ok(bytes) => self.session.log.store_raw(&bytes).map(drop),
            Err(_) => Ok(()),
        }
    }

    /// Passes on progress that is not stored. The remote side is not trusted, so the number of
    /// rates is limited.
    pub(super) fn second(&mut self, host: usize, mut said: SecondReport) {
        const RATES: usize = 4;
        said.case = self.case_id(host, &said.case);
        said.rates.truncate(RATES);
        self.session.log.report_second(Some(&self.names[host]), &said);
    }

    pub(super) fn note(&mut self, host: usize, said: Phrase) {
        let host = self.names[host].as_str();
        let is_warning = said.id() == Some(UNRESTORED);
        let said = Phrase::list(": ", [host.into(), said]);
        match is_warning {
            true => self.session.log.warn(&said),
            false => self.session.log.note(Some(host), &said),
        }
    }

    /// Ends the run. A case that some hosts completed counts, even if it was interrupted on others.
    pub(super) fn finish(mut self, is_interrupted: bool) -> Result<Run, CommandFailure> {
        let status = match (is_interrupted, self.session.has_failed(), self.is_partial) {
            (true, _, _) => RunStatus::Interrupted,
            (false, true, _) => RunStatus::Failed,
            (false, false, true) => RunStatus::Partial,
            (false, false, false) => RunStatus::Complete,
        };
        let half = |(_, open): &(&usize, &FleetCaseProgress)| {
            !open.ended && open.stopped.is_some_and(|it| it != StopReason::Cut)
        };
        let half: Vec<usize> = self.open.iter().filter(half).map(|(at, _)| *at).collect();
        for place in half {
            let hosts: Vec<usize> = self.open[&place].hosts.iter().copied().collect();
            for host in hosts {
                let causes = vec!["interrupted".to_owned()];
                let failure = FailureReason::Error {
                    area: ErrorArea::Host,
                    causes,
                    advice: String::new(),
                };
                self.fail_cases(host, &failure)?;
            }
        }
        // This machine measures nothing, but no host has reported its state.
        let state = self.state.take().unwrap_or_else(|| state::read(&Root::machine()));
        self.session.close_as(status, state)
    }
}

/// Returns the weaker of two stop reasons.
const fn weaker_stop(a: StopReason, b: StopReason) -> StopReason {
    match (a, b) {
        (StopReason::Budget, _) | (_, StopReason::Budget) => StopReason::Budget,
        (StopReason::Tool, _) | (_, StopReason::Tool) => StopReason::Tool,
        (StopReason::Decided, _) | (_, StopReason::Decided) => StopReason::Decided,
        (StopReason::Precise, _) | (_, StopReason::Precise) => StopReason::Precise,
        (StopReason::NotNeeded, _) | (_, StopReason::NotNeeded) => StopReason::NotNeeded,
        (StopReason::Cut, StopReason::Cut) => StopReason::Cut,
    }
}
