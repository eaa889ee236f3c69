//! Coordinator's end of a storage job that several hosts share. Every phase starts on all hosts at
//! one moment. Intervals are merged as they arrive, outcomes at the end.
//!
//! A lost host ends the phase for all; the results of the others until then are kept.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_fleet::remote::host_events::{HostConnections, HostEvent};
use assay_fleet::remote::{
    AgentReply, AgentRequest, HostFailure, RemotePathInfo, ShareRequest, TreeMark, TreesRequest,
};
use assay_model::doubt::Doubt;
use assay_model::failure::FailureReason;
use assay_model::phrase::Phrase;
use assay_model::storage_outcome::IntervalTally;
use assay_model::workload::storage::{StoragePhase, StoragePlan};

use super::HostShare;
use super::plausibility::HostAccount;
pub(crate) use super::shared_work::{BlockWork, TreeWork};
use super::shared_work::{HostReports, SharedWork};
use super::trees::TreePreparation;
use crate::failure::CommandFailure;
use crate::fleet::clocks::{self, RemoteClock, SynchronisedHosts};
use crate::fleet::{POLL_INTERVAL, STOP_GRACE_NS, nanoseconds};

/// Event of a job.
#[derive(Debug)]
pub enum SharedRunEvent<'e, I = IntervalTally> {
    /// Note of a host for the screen.
    Note { host: &'e str, said: &'e Phrase },
    /// All hosts start now.
    Started,
    /// Part of one host in the interval that follows.
    HostInterval { host: &'e str, tally: &'e I },
    /// Merged interval of all hosts.
    Interval { tally: &'e I },
}

/// Receiver of events.
pub type SharedRunListener<'l, I = IntervalTally> = dyn FnMut(SharedRunEvent<'_, I>) + 'l;

#[derive(Debug)]
pub struct SharedPhaseResult<O> {
    /// Merged outcome of all hosts.
    pub outcome: O,
    /// Skew from the first start to the last, and its uncertainty; in seconds.
    pub skew_s: Option<(f64, f64)>,
}

/// Hosts of a job.
#[expect(missing_debug_implementations, reason = "processes have no text")]
pub struct StorageHosts<'h> {
    names: &'h [String],
    hosts: &'h mut dyn HostConnections,
    deadline: Duration,
    members: Vec<StorageHost>,
    notes: VecDeque<(usize, Phrase)>,
    /// First host that was lost.
    first_lost: Option<(usize, HostFailure)>,
}

/// State of one host of the job.
#[derive(Default)]
pub(crate) struct StorageHost {
    clock: RemoteClock,
    has_joined: bool,
    is_gone: bool,
    /// Whether its last request is complete, or it waits for a start.
    is_done: bool,
    path_infos: Vec<Option<RemotePathInfo>>,
    start_delay_s: Option<(f64, f64)>,
    /// Sum of the counts that it has reported.
    account: HostAccount,
    marks: Vec<TreeMark>,
    reports: HostReports,
}

impl<'h> StorageHosts<'h> {
    /// Waits until every host has joined.
    ///
    /// # Errors
    /// When a host is lost, or the user stops the run.
    pub fn gather(
        names: &'h [String],
        hosts: &'h mut dyn HostConnections,
        deadline: Duration,
        stop: &AtomicBool,
    ) -> Result<Self, CommandFailure> {
        let members = names.iter().map(|_| StorageHost::default()).collect();
        let (notes, lost) = (VecDeque::new(), None);
        let mut all = Self { names, hosts, deadline, members, notes, first_lost: lost };
        all.wait_until(stop, |member| member.has_joined)?;
        Ok(all)
    }

    /// Returns the size and kind of the given paths of each host.
    ///
    /// # Errors
    /// When a host is lost, or the user stops the run.
    pub fn inspect_paths(
        &mut self,
        paths: &[Vec<PathBuf>],
        stop: &AtomicBool,
    ) -> Result<Vec<Vec<Option<RemotePathInfo>>>, CommandFailure> {
        self.send_requests(|host| Some(AgentRequest::Look(paths[host].clone())));
        self.wait_until(stop, |member| member.is_done)?;
        Ok(self.members.iter_mut().map(|it| std::mem::take(&mut it.path_infos)).collect())
    }

    /// Makes every host check its share and create its files.
    ///
    /// # Errors
    /// When a host refuses or fails, or the user stops the run.
    pub fn prepare(
        &mut self,
        asked: &ShareRequest,
        places: &[Vec<usize>],
        stop: &AtomicBool,
        on: &mut SharedRunListener<'_>,
    ) -> Result<(), CommandFailure> {
        self.send_requests(|host| {
            let phases = asked.plan.phases.iter().zip(places);
            let own = phases.filter_map(|(phase, places)| {
                let HostShare { workload, .. } =
                    HostShare::for_host(&phase.workload, places, host)?;
                Some(StoragePhase { workload, ..phase.clone() })
            });
            let plan = StoragePlan { phases: own.collect() };
            Some(AgentRequest::Share(Box::new(ShareRequest { plan, ..asked.clone() })))
        });
        // Laying out has no time limit; the host sends a sign of life every second.
        let done = self.wait_until(stop, |member| member.is_done);
        self.report_notes(on);
        done
    }

    /// Makes every host check its file trees, and create and mark their folders. The first of
    /// several hosts creates a shared tree; the others check its mark.
    ///
    /// # Errors
    /// When a host refuses or fails, or the user stops the run.
    pub(crate) fn prepare_trees(
        &mut self,
        asked: &TreesRequest,
        places: &[Vec<usize>],
        stop: &AtomicBool,
    ) -> Result<(), CommandFailure> {
        let preparing = TreePreparation::new(&asked.plan, places);
        self.send_requests(|host| {
            let plan = preparing.plan_to_create(host);
            Some(AgentRequest::Trees(Box::new(TreesRequest { plan, ..asked.clone() })))
        });
        self.wait_until(stop, |member| member.is_done)?;
        let marks: Vec<TreeMark> =
            self.members.iter_mut().flat_map(|it| std::mem::take(&mut it.marks)).collect();
        self.send_requests(|host| {
            let plan = preparing.plan_to_check(host);
            let prepared = Some(marks.clone());
            let asked = TreesRequest { plan, prepared, ..asked.clone() };
            (!asked.plan.phases.is_empty()).then(|| AgentRequest::Trees(Box::new(asked)))
        });
        self.wait_until(stop, |member| member.is_done)
    }

    /// Runs one phase; `ends` ends it early.
    ///
    /// # Errors
    /// When no host did anything.
    pub(crate) fn run_phase<K: SharedWork>(
        &mut self,
        phase: &K::Phase,
        places: &[usize],
        ends: &AtomicBool,
        on: &mut SharedRunListener<'_, K::Interval>,
    ) -> Result<SharedPhaseResult<K::Outcome>, CommandFailure> {
        let (mut shares, mut requests) = (Vec::new(), Vec::new());
        for host in 0..self.names.len() {
            let (share, request) = K::host_share(phase, places, host).unzip();
            shares.push(share);
            requests.push(request);
        }
        let with: Vec<usize> =
            (0..shares.len()).filter(|host| shares[*host].is_some()).collect();
        self.send_requests(|host| requests[host].clone());
        self.wait_until(ends, |member| member.is_done)?;
        self.report_notes(on);
        clocks::synchronise(self, &with)?;
        let at_ns = clocks::next_start_ns(self, &with);
        on(SharedRunEvent::Started);
        for host in with.iter().copied() {
            (self.members[host].is_done, self.members[host].start_delay_s) = (false, None);
            clocks::schedule_start(self, host, at_ns);
        }
        let (timing, pause_before_s) = K::timing(phase);
        let mut joint = JointSeries::<K> {
            shares: &shares,
            phase,
            most_bytes: timing.stop_after_bytes.unwrap_or(u64::MAX),
            intervals: Vec::new(),
            ended_s: 0.0,
            bytes: 0,
        };
        let planned_s = timing.duration_s.map(|it| it + timing.warmup_s + pause_before_s);
        self.follow_phase((at_ns, planned_s), ends, &mut joint, on)?;
        clocks::query_clocks(self, &with)?;
        self.merge_outcomes(&with, joint)
            .ok_or_else(|| self.lost_host_failure().unwrap_or_else(CommandFailure::interrupted))
    }

    /// Returns the reason why the job cannot continue, if a host is lost.
    pub fn lost_host_failure(&self) -> Option<CommandFailure> {
        let (host, failure) = self.first_lost.as_ref()?;
        let lost = CommandFailure::measurement(format!("host {} is lost", self.names[*host]));
        Some(lost.with_cause(failure).advise(failure.advice()))
    }

    /// Returns the lost host as a doubt, and the clock steps of each host since the last call.
    pub fn doubts(&mut self) -> Vec<Doubt> {
        let lost = self.first_lost.as_ref().map(|(host, failure)| Doubt::HostLost {
            host: self.names[*host].clone(),
            why: failure.id().to_owned(),
            reason: FailureReason::error_line(failure),
            advice: failure.advice().to_owned(),
        });
        let members = self.members.iter_mut().zip(self.names);
        let stepped = members.filter_map(|(member, host)| {
            let doubt = Box::new(member.clock.take_step()?);
            Some(Doubt::OnHost { host: host.clone(), doubt })
        });
        lost.into_iter().chain(stepped).collect()
    }

    fn send_requests(&mut self, request: impl Fn(usize) -> Option<AgentRequest>) {
        for host in 0..self.members.len() {
            let asked = request(host);
            self.members[host].is_done = asked.is_none();
            if let Some(asked) = asked {
                self.hosts.send_request(host, &asked);
            }
        }
    }

    /// Receives messages until `is_far` holds for all hosts; a lost host is an error.
    fn wait_until(
        &mut self,
        stop: &AtomicBool,
        is_far: impl Fn(&StorageHost) -> bool,
    ) -> Result<(), CommandFailure> {
        while !self.members.iter().all(&is_far) {
            if let Some(failure) = self.lost_host_failure() {
                return Err(failure);
            }
            if stop.load(Ordering::Relaxed) {
                return Err(CommandFailure::interrupted());
            }
            if let Some((host, heard)) = self.hosts.next_event(POLL_INTERVAL) {
                SynchronisedHosts::handle(self, host, heard)?;
            }
        }
        Ok(())
    }

    fn report_notes<I>(&mut self, on: &mut SharedRunListener<'_, I>) {
        for (host, said) in self.notes.drain(..) {
            on(SharedRunEvent::Note { host: &self.names[host], said: &said });
        }
    }

    /// Receives messages until all hosts have finished a phase. A host that does not end in time is
    /// lost, and a lost host ends the phase for the others.
    fn follow_phase<K: SharedWork>(
        &mut self,
        (start_ns, planned_s): (u64, Option<f64>),
        ends: &AtomicBool,
        joint: &mut JointSeries<'_, K>,
        on: &mut SharedRunListener<'_, K::Interval>,
    ) -> Result<(), CommandFailure> {
        let allowed_ns = nanoseconds(self.deadline);
        let planned = planned_s.and_then(|it| Duration::try_from_secs_f64(it).ok());
        let mut due_ns = planned.map(|it| start_ns + nanoseconds(it) + allowed_ns);
        let mut is_ending = false;
        while !self.members.iter().all(|it| it.is_done || it.is_gone) {
            let is_enough = joint.bytes >= joint.most_bytes || self.first_lost.is_some();
            let is_stopped = ends.load(Ordering::Relaxed);
            if (is_enough || is_stopped) && !is_ending {
                is_ending = true;
                (0..self.members.len())
                    .for_each(|it| self.hosts.send_request(it, &AgentRequest::Enough));
                let last_ns = if is_stopped { STOP_GRACE_NS } else { allowed_ns };
                due_ns = Some(self.hosts.now_ns() + last_ns);
            }
            if let Some((host, heard)) = self.hosts.next_event(POLL_INTERVAL) {
                SynchronisedHosts::handle(self, host, heard)?;
                joint.advance(self.names, &mut self.members, on);
            }
            if due_ns.is_some_and(|due_ns| self.hosts.now_ns() > due_ns) {
                let seconds = self.deadline.as_secs();
                let late =
                    |it: &usize| !self.members[*it].is_done && !self.members[*it].is_gone;
                let late: Vec<usize> = (0..self.members.len()).filter(late).collect();
                for host in late {
                    // After the user's stop, a host that is late with its last results is not lost.
                    match is_stopped {
                        true => self.members[host].is_gone = true,
                        false => self.lose(host, HostFailure::Overdue { seconds })?,
                    }
                }
            }
        }
        joint.advance(self.names, &mut self.members, on);
        self.report_notes(on);
        Ok(())
    }

    fn merge_outcomes<K: SharedWork>(
        &mut self,
        with: &[usize],
        joint: JointSeries<'_, K>,
    ) -> Option<SharedPhaseResult<K::Outcome>> {
        let late_s = with.iter().filter_map(|host| self.members[*host].start_delay_s);
        let skew_s = (late_s.clone().count() > 1).then(|| clocks::skew_s(late_s));
        let mut parts = Vec::new();
        for host in with {
            let outcome = K::reports(&mut self.members[*host].reports).outcome.take();
            let share = joint.shares[*host].as_ref();
            if let (Some(outcome), Some(share)) = (outcome, share) {
                parts.push((self.names[*host].as_str(), share, outcome));
            }
        }
        let outcome = K::merge_outcomes(joint.phase, parts, joint.intervals)?;
        Some(SharedPhaseResult { outcome, skew_s })
    }
}

impl SynchronisedHosts for StorageHosts<'_> {
    fn hosts(&mut self) -> &mut dyn HostConnections {
        self.hosts
    }

    fn clock(&mut self, host: usize) -> &mut RemoteClock {
        &mut self.members[host].clock
    }

    fn is_active(&self, host: usize) -> bool {
        !self.members[host].is_gone
    }

    fn handle(&mut self, host: usize, heard: HostEvent) -> Result<(), CommandFailure> {
        let member = &mut self.members[host];
        let (reply, at_ns) = match heard {
            HostEvent::Joined => {
                member.has_joined = true;
                return Ok(());
            }
            HostEvent::Lost(failure) => return self.lose(host, failure),
            HostEvent::Replied { reply, at_ns, .. } => (reply, at_ns),
        };
        let all = self.names.len();
        match *reply {
            AgentReply::Clock(theirs) => member.clock.update(theirs, at_ns),
            AgentReply::Looked(found) => (member.path_infos, member.is_done) = (found, true),
            AgentReply::Ready(_) | AgentReply::Done => member.is_done = true,
            AgentReply::Started(theirs_ns) => {
                member.start_delay_s =
                    Some((member.clock.late_s(theirs_ns), member.clock.bound_s()));
            }
            AgentReply::Interval(tally) if member.account.accept_interval(&tally, all) => {
                member.reports.blocks.intervals.push_back(*tally);
            }
            AgentReply::Outcome(outcome) if member.account.accept_outcome(&outcome, all) => {
                (member.reports.blocks.outcome, member.is_done) = (Some(*outcome), true);
            }
            AgentReply::Marks(marks) => (member.marks, member.is_done) = (marks, true),
            AgentReply::TreesInterval(it) if member.account.accept_trees_interval(&it, all) => {
                member.reports.trees.intervals.push_back(*it);
            }
            AgentReply::TreesOutcome(outcome)
                if member.account.accept_trees_outcome(&outcome, all) =>
            {
                (member.reports.trees.outcome, member.is_done) = (Some(*outcome), true);
            }
            AgentReply::Interval(_)
            | AgentReply::Outcome(_)
            | AgentReply::TreesInterval(_)
            | AgentReply::TreesOutcome(_) => {
                return self.lose(host, HostFailure::ImplausibleFigures);
            }
            AgentReply::Note(said) => self.notes.push_back((host, said)),
            AgentReply::Failed { reason, advice } => {
                return self.lose(host, HostFailure::Refused { reason, advice });
            }
            AgentReply::Hello(_)
            | AgentReply::Examined(_)
            | AgentReply::Planned(_)
            | AgentReply::Event(_)
            | AgentReply::Raw(_)
            | AgentReply::Second(_)
            | AgentReply::Letter(_)
            | AgentReply::Of(..)
            | AgentReply::Alive => {}
        }
        Ok(())
    }

    fn lose(&mut self, host: usize, failure: HostFailure) -> Result<(), CommandFailure> {
        if !std::mem::replace(&mut self.members[host].is_gone, true) {
            self.hosts.disconnect(host);
            self.first_lost.get_or_insert((host, failure));
        }
        Ok(())
    }
}

/// Merges the intervals of all hosts.
struct JointSeries<'s, K: SharedWork> {
    /// Shares by host.
    shares: &'s [Option<K::Share>],
    phase: &'s K::Phase,
    /// Number of bytes that ends the phase.
    most_bytes: u64,
    intervals: Vec<K::Interval>,
    ended_s: f64,
    bytes: u64,
}

impl<K: SharedWork> JointSeries<'_, K> {
    /// Merges intervals once every host has sent theirs or has ended.
    fn advance(
        &mut self,
        names: &[String],
        members: &mut [StorageHost],
        on: &mut SharedRunListener<'_, K::Interval>,
    ) {
        let mut is_told =
            |it: &mut StorageHost| !K::reports(&mut it.reports).intervals.is_empty();
        while members.iter_mut().all(|it| is_told(it) || it.is_done || it.is_gone)
            && members.iter_mut().any(&mut is_told)
        {
            let own: Vec<Option<K::Interval>> = members
                .iter_mut()
                .map(|it| K::reports(&mut it.reports).intervals.pop_front())
                .collect();
            let both = own.iter().zip(self.shares);
            let parts: Vec<_> = both
                .filter_map(|(own, share)| Some((share.as_ref()?, own.as_ref()?)))
                .collect();
            let Some(all) = K::merge_intervals(self.phase, &parts, self.ended_s) else {
                return;
            };
            let nothing = K::idle_interval(&all);
            for (host, own) in
                own.iter().enumerate().filter(|(host, _)| self.shares[*host].is_some())
            {
                // All parts use the common times, so that they add up to the merged interval.
                let tally = K::with_span(own.as_ref().unwrap_or(&nothing), &all);
                on(SharedRunEvent::HostInterval { host: &names[host], tally: &tally });
            }
            on(SharedRunEvent::Interval { tally: &all });
            self.bytes += K::bytes(&all);
            self.ended_s += K::length_s(&all);
            self.intervals.push(all);
        }
    }
}
