//! Runs with several hosts: all hosts measure each case at the same time, and their results are
//! stored here as one run.
//!
//! The coordinator starts an agent on every host over the pipes of [`assay_fleet::remote::agents`].
//! It merges the plans of all agents, and starts every case on all hosts at one moment. It measures
//! nothing itself.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_fleet::pairs::PairRounds;
use assay_fleet::remote::host_events::{HostConnections, HostEvent};
use assay_fleet::remote::{
    AgentReply, AgentRequest, HostFailure, ReadyReport, RelayedMessage, RemoteRunRequest,
    RemoteTurn,
};
use assay_model::event::{RunEvent, StopReason, TurnPosition};
use assay_model::failure::FailureReason;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::Plan;
use assay_model::plan::expand::MAX_CASES;
use assay_model::run::Run;
use assay_model::seed;
use assay_store::Store;

use crate::coordinator::Alone;
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::pauses::WallClockWatch;
use crate::session::{Session, SessionRequest};

mod case_usage;
pub(crate) mod clocks;

mod deadlines;
mod fleet_plan;
pub(crate) mod host_refusals;
#[cfg(test)]
mod hostile_hosts;
mod joint_time;
mod lockstep;
pub mod member;
mod merging;
pub(crate) mod pair_end;
pub mod pairs;
pub(crate) mod ranks;
mod records;
#[cfg(test)]
mod simulation;
mod utilisation;

use case_usage::CaseUsage;
use clocks::{RemoteClock, SynchronisedHosts};
pub use fleet_plan::{FleetPlan, LostHost};
use host_refusals::HostRefusal;
use joint_time::JointTime;
use lockstep::Lockstep;
use merging::MergedPlan;
use records::FleetRecord;

/// Time that stopped agents have to send their remaining results. Their pipes close then, which
/// ends them within a second.
pub(crate) const STOP_GRACE_NS: u64 = 800_000_000;
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum number of reasons that are reported if no host can measure.
const MAX_REASONS: usize = 4;

/// Request to measure on several hosts.
#[derive(Debug)]
pub struct FleetRequest<'a> {
    /// Names of the hosts.
    pub names: &'a [String],
    /// Arguments after the name of the program.
    pub arguments: Vec<String>,
    /// Groups of each host.
    pub labels: Vec<Vec<String>>,
    /// Pairs for the network benchmarks; if empty, each host measures by itself.
    pub pairs: PairRounds,
    /// Contents of suite files, by name.
    pub suites: BTreeMap<String, String>,
    /// Seed of everything random; each host derives its own seed from it.
    pub seed: u64,
    /// User's name of the condition.
    pub label: Option<String>,
    /// User's note on the run.
    pub note: Option<String>,
    /// Whether the loss of a host ends the run.
    pub stops_on_failure: bool,
    /// Longest time that a host may plan, or lag behind the others.
    pub deadline: Duration,
    /// Longest duration of a case.
    pub case_deadline: Option<Duration>,
    /// Whether the budget is kept, as in [`crate::run_request::RunRequest`].
    pub keeps_budget: bool,
    /// Turn of a suite with factors.
    pub turn: Option<FleetTurn>,
}

/// Turn of a suite with factors.
#[derive(Debug, Clone)]
pub struct FleetTurn {
    /// Levels and time budget.
    pub turn: RemoteTurn,
    /// Position among all turns; `None` if it is only planned.
    pub position: Option<TurnPosition>,
}

/// Plans on every host.
///
/// # Errors
/// Fails if no host can plan, or the user interrupts.
pub fn plan(
    request: &FleetRequest<'_>,
    hosts: &mut dyn HostConnections,
    cancel: &AtomicBool,
) -> Result<FleetPlan, CommandFailure> {
    let mut gathering = PlanCollection::new(request, hosts);
    let merged = gathering.collect(cancel, &mut |_| ())?;
    let lost = gathering
        .lost
        .into_iter()
        .map(|(host, failure)| LostHost { host: request.names[host].clone(), failure });
    let measures = |place: usize| {
        let names = request.names.iter().zip(&merged.positions);
        let here = names.filter(|(_, places)| places.values().any(|it| *it == place));
        here.map(|(name, _)| name.clone()).collect()
    };
    let hosts = (0..merged.plan.cases.len()).map(measures).collect();
    Ok(FleetPlan { hosts, lost: lost.collect(), plan: merged.plan })
}

/// Plans, measures and stores; returns the run as stored.
///
/// # Errors
/// Fails if no host can plan, or the store cannot be used.
pub fn measure(
    request: &FleetRequest<'_>,
    hosts: &mut dyn HostConnections,
    store: Option<&Store>,
    cancel: &AtomicBool,
    listener: &mut dyn Listener,
) -> Result<Run, CommandFailure> {
    let mut gathering = PlanCollection::new(request, hosts);
    let merged = gathering.collect(cancel, &mut |message| listener.progress(message))?;
    // Drops the plans of the hosts, which are large and no longer needed.
    let PlanCollection { lost, planned, .. } = gathering;
    let takes_part: Vec<bool> = planned.iter().map(Option::is_some).collect();
    drop(planned);
    if let (true, Some((host, failure))) = (request.stops_on_failure, lost.first()) {
        return Err(CommandFailure::measurement(format!(
            "{} did not reply",
            request.names[*host]
        ))
        .with_cause(failure)
        .advise(failure.advice())
        .advise("leave out --on-host-failure stop to measure without it"));
    }
    let opening = SessionRequest {
        plan: &merged.plan,
        label: request.label.clone(),
        note: request.note.clone(),
        command: request.arguments.clone(),
        asked: None,
        turn: request.turn.as_ref().and_then(|it| it.position.clone()),
        store,
    };
    let session = Session::open(opening, listener, Box::new(Alone))?;
    let mut steps = Lockstep::new(takes_part.len());
    let absent = (0..takes_part.len()).filter(|host| !takes_part[*host]);
    absent.for_each(|host| steps.mark_gone(host));
    let joint_time = JointTime::from_plan(&merged.plan, request.keeps_budget);
    let mut fleet = FleetRun {
        request,
        records: FleetRecord::new(request, merged, session, hosts.now_ns()),
        clocks: vec![RemoteClock::default(); takes_part.len()],
        steps,
        joint_time,
        usage: CaseUsage::new(takes_part.len(), hosts.now_ns()),
        start: None,
        checked_ns: 0,
        is_ending: false,
        wall_clock: WallClockWatch::start(),
        hosts,
    };
    for (host, failure) in lost {
        fleet.records.lose_host(host, &failure)?;
    }
    fleet.run(cancel)?;
    if let Some(doubt) = fleet.wall_clock.doubt() {
        fleet.records.add_own_doubt(doubt)?;
    }
    fleet.records.finish(cancel.load(Ordering::Relaxed))
}

/// State of the hosts until all of them have planned.
struct PlanCollection<'q, 'h> {
    request: &'q FleetRequest<'q>,
    hosts: &'h mut dyn HostConnections,
    planned: Vec<Option<Box<Plan>>>,
    /// Time of each request to plan.
    asked_ns: Vec<Option<u64>>,
    lost: Vec<(usize, HostFailure)>,
}

impl<'q, 'h> PlanCollection<'q, 'h> {
    fn new(request: &'q FleetRequest<'q>, hosts: &'h mut dyn HostConnections) -> Self {
        let count = request.names.len();
        let planned = (0..count).map(|_| None).collect();
        Self { request, hosts, planned, asked_ns: vec![None; count], lost: Vec::new() }
    }

    fn is_pending(&self, host: usize) -> bool {
        self.planned[host].is_none() && self.lost.iter().all(|(it, _)| *it != host)
    }

    /// Sends a request to every host that joins, and merges their plans; reports the number of
    /// replies.
    fn collect(
        &mut self,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(&Phrase),
    ) -> Result<MergedPlan, CommandFailure> {
        while (0..self.planned.len()).any(|host| self.is_pending(host)) {
            if cancel.load(Ordering::Relaxed) {
                return Err(CommandFailure::measurement(
                    "interrupted before anything was measured",
                ));
            }
            if let Some((host, heard)) = self.hosts.next_event(POLL_INTERVAL) {
                self.handle_message(host, heard);
                let answered = self.planned.iter().flatten().count() + self.lost.len();
                let all = self.planned.len();
                progress(&phrase!(
                    "hosts-answered",
                    "replies from {some} of {all} hosts",
                    some = answered,
                    all = all,
                ));
            }
            self.drop_late_hosts();
        }
        let plans = self.request.names.iter().zip(&self.planned);
        let plans = plans.map(|(name, it)| (name.as_str(), it.as_deref()));
        let plans: Vec<_> = plans.collect();
        let request = self.request;
        let merged = merging::merge_plans(&plans, &request.pairs, request.seed);
        merged.ok_or_else(|| self.no_host_failure())
    }

    /// Failure that lists the hosts by reason.
    fn no_host_failure(&self) -> CommandFailure {
        let refusal = |(host, failure): &(usize, HostFailure)| HostRefusal {
            host: self.request.names[*host].clone(),
            reason: FailureReason::error_line(failure),
            advice: failure.advice().to_owned(),
        };
        let refusals: Vec<_> = self.lost.iter().map(refusal).collect();
        let what = match (self.lost.len(), self.planned.len()) {
            (lost, all) if lost < all => "the first hosts of all pairs are missing".to_owned(),
            (1, _) => format!("{} cannot measure this", self.request.names[0]),
            (_, all) => format!("none of the {all} hosts can measure this"),
        };
        host_refusals::add_reasons(CommandFailure::measurement(what), &refusals, MAX_REASONS)
    }

    fn handle_message(&mut self, host: usize, heard: HostEvent) {
        if !self.is_pending(host) {
            // A host lost after it has planned must not be started.
            if let HostEvent::Lost(failure) = heard
                && self.planned[host].take().is_some()
            {
                self.lost.push((host, failure));
            }
            return;
        }
        match heard {
            HostEvent::Joined => {
                let asked = AgentRequest::Run(RemoteRunRequest {
                    host: self.request.names[host].clone(),
                    words: self.request.arguments.clone(),
                    suites: self.request.suites.clone(),
                    seed: seed::derive_named_seed(self.request.seed, &self.request.names[host])
                        >> 32,
                    pairs: self.request.pairs.pairs_of_host(host),
                    turn: self.request.turn.as_ref().map(|it| it.turn.clone()),
                });
                self.hosts.send_request(host, &asked);
                self.asked_ns[host] = Some(self.hosts.now_ns());
            }
            HostEvent::Replied { reply, .. } => match *reply {
                AgentReply::Planned(planned) if planned.cases.len() > MAX_CASES => {
                    self.lose_host(host, HostFailure::ImplausibleFigures);
                }
                AgentReply::Planned(planned) => self.planned[host] = Some(planned),
                AgentReply::Failed { reason, advice } => {
                    self.lose_host(host, HostFailure::Refused { reason, advice });
                }
                // These follow a start, which has not happened yet.
                AgentReply::Hello(_)
                | AgentReply::Clock(_)
                | AgentReply::Examined(_)
                | AgentReply::Looked(_)
                | AgentReply::Interval(_)
                | AgentReply::Outcome(_)
                | AgentReply::Marks(_)
                | AgentReply::TreesInterval(_)
                | AgentReply::TreesOutcome(_)
                | AgentReply::Ready(_)
                | AgentReply::Started(_)
                | AgentReply::Event(_)
                | AgentReply::Raw(_)
                | AgentReply::Note(_)
                | AgentReply::Second(_)
                | AgentReply::Letter(_)
                | AgentReply::Of(..)
                | AgentReply::Alive
                | AgentReply::Done => {}
            },
            HostEvent::Lost(failure) => self.lose_host(host, failure),
        }
    }

    fn lose_host(&mut self, host: usize, failure: HostFailure) {
        self.hosts.disconnect(host);
        self.lost.push((host, failure));
    }

    /// Gives up hosts that do not finish their plan within the deadline.
    fn drop_late_hosts(&mut self) {
        let (now_ns, deadline) = (self.hosts.now_ns(), self.request.deadline);
        for host in 0..self.planned.len() {
            let since_ns = self.asked_ns[host].filter(|_| self.is_pending(host));
            if since_ns.is_some_and(|it| now_ns.saturating_sub(it) > nanoseconds(deadline)) {
                self.lose_host(host, HostFailure::Overdue { seconds: deadline.as_secs() });
            }
        }
    }
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// State of the hosts while they measure.
struct FleetRun<'f, 'h, 't> {
    request: &'f FleetRequest<'f>,
    hosts: &'h mut dyn HostConnections,
    records: FleetRecord<'t>,
    clocks: Vec<RemoteClock>,
    steps: Lockstep,
    joint_time: JointTime,
    usage: CaseUsage,
    start: Option<CommonStart>,
    /// Time of the last check for hosts that lag behind.
    checked_ns: u64,
    is_ending: bool,
    /// Wall clock of this machine.
    wall_clock: WallClockWatch,
}

/// Last common start of a case.
struct CommonStart {
    at_ns: u64,
    /// Time at which each of the started hosts was done.
    done_ns: BTreeMap<usize, Option<u64>>,
}

impl SynchronisedHosts for FleetRun<'_, '_, '_> {
    fn hosts(&mut self) -> &mut dyn HostConnections {
        self.hosts
    }

    fn clock(&mut self, host: usize) -> &mut RemoteClock {
        &mut self.clocks[host]
    }

    fn is_active(&self, host: usize) -> bool {
        self.steps.is_busy(host)
    }

    fn handle(&mut self, host: usize, heard: HostEvent) -> Result<(), CommandFailure> {
        self.handle_message(host, heard)
    }

    fn lose(&mut self, host: usize, failure: HostFailure) -> Result<(), CommandFailure> {
        self.lose_host(host, &failure)
    }
}

impl FleetRun<'_, '_, '_> {
    /// Measures until every host is done, or the user interrupts.
    fn run(&mut self, cancel: &AtomicBool) -> Result<(), CommandFailure> {
        let all: Vec<usize> =
            (0..self.clocks.len()).filter(|it| self.steps.is_busy(*it)).collect();
        clocks::synchronise(self, &all)?;
        all.iter().for_each(|host| self.hosts.send_request(*host, &AgentRequest::Start(0)));
        let mut end_ns = None;
        while !self.steps.is_over() {
            let is_wanted = cancel.load(Ordering::Relaxed) || self.is_ending;
            match end_ns {
                None if is_wanted => {
                    all.iter()
                        .for_each(|host| self.hosts.send_request(*host, &AgentRequest::Stop));
                    end_ns = Some(self.hosts.now_ns() + STOP_GRACE_NS);
                }
                Some(end_ns) if self.hosts.now_ns() > end_ns => break,
                Some(_) => {}
                None => {
                    self.start_next()?;
                    self.drop_late_hosts()?;
                }
            }
            if let Some((host, heard)) = self.hosts.next_event(POLL_INTERVAL) {
                self.handle_message(host, heard)?;
            }
            self.wall_clock.update();
        }
        Ok(())
    }

    /// Starts the next hosts together, late enough for the message to reach all of them.
    fn start_next(&mut self) -> Result<(), CommandFailure> {
        let (place, next) = self.steps.next_group();
        if next.is_empty() {
            return Ok(());
        }
        let asked_ns = self.hosts.now_ns();
        let granted_s = self.joint_time.grant(place, asked_ns);
        // A case that is left out needs no exact start: after the budget, there may be dozens.
        if granted_s.is_none_or(|it| it > 0.0) {
            clocks::synchronise(self, &next)?;
        }
        let at_ns = clocks::next_start_ns(self, &next);
        let mut done_ns = BTreeMap::new();
        for host in next {
            if self.steps.is_busy(host) {
                // A host that leaves clock requests unanswered has used their time.
                let is_silent = self.clocks[host].is_pending();
                let from_ns = if is_silent { asked_ns } else { at_ns };
                self.usage.start(host, place.0, asked_ns, from_ns);
                if let Some(granted_s) = granted_s {
                    self.hosts.send_request(host, &AgentRequest::Grant(granted_s));
                }
                clocks::schedule_start(self, host, at_ns);
                done_ns.insert(host, None);
            }
        }
        self.records.begin_start(&done_ns.keys().copied().collect::<Vec<_>>(), place)?;
        self.start = Some(CommonStart { at_ns, done_ns });
        Ok(())
    }

    fn handle_message(&mut self, host: usize, heard: HostEvent) -> Result<(), CommandFailure> {
        // Ignores queued messages of a host that was given up, and the end of its pipe.
        if self.steps.has_left(host) {
            return Ok(());
        }
        let (reply, at_ns, bytes) = match heard {
            HostEvent::Joined => return Ok(()),
            HostEvent::Lost(failure) => return self.lose_host(host, &failure),
            HostEvent::Replied { reply, at_ns, bytes } => (reply, at_ns, bytes),
        };
        if let Err(failure) = self.usage.add_bytes(host, bytes) {
            return self.lose_host(host, &failure);
        }
        match *reply {
            AgentReply::Clock(theirs) => self.clocks[host].update(theirs, at_ns),
            AgentReply::Ready(ready) => self.host_waits(host, &ready, at_ns),
            AgentReply::Started(theirs_ns) => {
                let late_s = self.clocks[host].late_s(theirs_ns);
                self.records.host_started(host, late_s, self.clocks[host].bound_s());
            }
            AgentReply::Event(event) => {
                // A host without time does not show how long the others need.
                if matches!(*event, RunEvent::CaseFinished { stopped: StopReason::Cut, .. })
                    && let Some(start) = &mut self.start
                {
                    start.done_ns.remove(&host);
                }
                self.joint_time.note_event(&event);
                self.records.add_event(host, *event, &self.clocks[host])?;
            }
            AgentReply::Raw(text) => self.records.store_raw(&text)?,
            AgentReply::Second(second) => self.records.second(host, second),
            AgentReply::Note(said) => self.records.note(host, said),
            AgentReply::Failed { reason, advice } => {
                return self.lose_host(host, &HostFailure::Refused { reason, advice });
            }
            AgentReply::Done => {
                self.mark_done(host, at_ns);
                self.steps.mark_gone(host);
                self.hosts.disconnect(host);
            }
            AgentReply::Hello(_)
            | AgentReply::Examined(_)
            | AgentReply::Planned(_)
            | AgentReply::Looked(_)
            | AgentReply::Interval(_)
            | AgentReply::Outcome(_)
            | AgentReply::Marks(_)
            | AgentReply::TreesInterval(_)
            | AgentReply::TreesOutcome(_)
            | AgentReply::Of(..)
            | AgentReply::Alive => {}
            AgentReply::Letter(letter) => self.relay(host, letter),
        }
        Ok(())
    }

    /// Relays messages between agents, which are connected only through the coordinator.
    fn relay(&mut self, from: usize, letter: RelayedMessage) {
        let names = self.request.names;
        match names.iter().position(|name| *name == letter.host) {
            Some(to) if !self.steps.has_left(to) => {
                let host = names[from].clone();
                self.hosts
                    .send_request(to, &AgentRequest::Letter(RelayedMessage { host, ..letter }));
            }
            _ => self.hosts.send_request(from, &AgentRequest::Letter(letter.into_hang_up())),
        }
    }

    fn host_waits(&mut self, host: usize, ready: &ReadyReport, at_ns: u64) {
        self.mark_done(host, at_ns);
        self.clocks[host].run_started_ns = ready.run_started_ns;
        let place = self.records.first_position(host, &ready.cases);
        self.steps.mark_waiting(host, (place, ready.step));
    }

    fn mark_done(&mut self, host: usize, at_ns: u64) {
        self.usage.stop(host, at_ns);
        if let Some(done) = self.start.as_mut().and_then(|it| it.done_ns.get_mut(&host)) {
            *done = Some(at_ns);
        }
    }

    fn lose_host(&mut self, host: usize, failure: &HostFailure) -> Result<(), CommandFailure> {
        // A host that has finished closes its pipe as well.
        if self.steps.has_left(host) {
            return Ok(());
        }
        self.steps.mark_gone(host);
        self.hosts.disconnect(host);
        if let Some(start) = &mut self.start {
            start.done_ns.remove(&host);
        }
        if !self.request.pairs.is_empty() {
            for other in (0..self.clocks.len()).filter(|it| !self.steps.has_left(*it)) {
                let gone = AgentRequest::Gone(self.request.names[host].clone());
                self.hosts.send_request(other, &gone);
            }
        }
        self.is_ending |= self.request.stops_on_failure;
        self.records.lose_host(host, failure)
    }
}
