//! Simulates ten thousand schedules of runs with several hosts, in simulated time.
//!
//! Faults are delays, pipes that break between or within messages, and hosts that hang, lag or
//! restart. A lost relay takes its queued messages with it. Each schedule derives from its number,
//! which a failure prints.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_fleet::pairs::PairRounds;
use assay_fleet::remote::frame;
use assay_fleet::remote::host_events::{HostConnections, HostEvent};
use assay_fleet::remote::relay::RelayedEvent;
use assay_fleet::remote::{AgentReply, AgentRequest, Clocks, HostFailure, ReadyReport};
use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::event::{HostJoined, RunEvent, RunStatus, Sample, SeriesOpened, StopReason};
use assay_model::facts::HostFacts;
use assay_model::plan::{Case, Plan, StoppingRule};
use assay_model::run::{CaseOutcome, Run};
use assay_model::seed;
use assay_model::workload::{LinpackWorkload, Workload};

use super::{FleetRequest, measure};
use crate::listener::SilentListener;

const CASES: usize = 3;
const SAMPLES: u32 = 4;
const MS: u64 = 1_000_000;
/// Silence after which the pipe to a host is closed, as the agent connection does.
const SILENCE_NS: u64 = 60_000 * MS;

/// Fault of a host.
#[derive(Debug, Clone, Copy, PartialEq)]
enum AgentFault {
    None,
    /// Pipe breaks after this many messages.
    Breaks(u32),
    /// Pipe breaks after this many bytes.
    BreaksWithin(usize),
    /// Agent ends after this many messages, and another one takes its place.
    Restarts(u32),
    /// Agent sends nothing after this many messages.
    Hangs(u32),
    /// Agent needs this many more nanoseconds for each case.
    Late(u64),
}

/// Simulated host.
struct SimulatedAgent {
    fault: AgentFault,
    /// Offset of its clock from the true time.
    offset_ns: u64,
    sent: u32,
    sent_bytes: usize,
    /// Arrival of its last message: a pipe keeps the order.
    arrives_ns: u64,
    case: Option<usize>,
    /// First case for which it has no time.
    first_cut: usize,
    /// Case that it measures, as far as the coordinator can know.
    measures: Option<usize>,
    is_over: bool,
}

/// Messages to the coordinator by arrival time.
type Queue = BTreeMap<(u64, u64), (usize, HostEvent)>;

/// Event of a reply; the size of its message has no effect here.
fn replied(reply: Box<AgentReply>, at_ns: u64) -> HostEvent {
    HostEvent::Replied { reply, at_ns, bytes: 0 }
}

struct FleetSimulation {
    now_ns: u64,
    seed: u64,
    drawn: u64,
    agents: Vec<SimulatedAgent>,
    queue: Queue,
    /// True start of each case on each host.
    began_ns: BTreeMap<(usize, usize), u64>,
    received: u32,
    /// Number of samples that arrived, by host and case.
    arrived: BTreeMap<(usize, usize), u32>,
    /// Hosts and cases whose cut has arrived.
    cut: BTreeSet<(usize, usize)>,
    /// Whether hosts with odd numbers are reached through a relay, and when it is lost.
    has_relay: bool,
    relay_ends_ns: Option<u64>,
}

impl FleetSimulation {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            now_ns: 1_000_000 * MS,
            seed,
            drawn: 0,
            agents: Vec::new(),
            queue: Queue::new(),
            began_ns: BTreeMap::new(),
            received: 0,
            arrived: BTreeMap::new(),
            cut: BTreeSet::new(),
            has_relay: false,
            relay_ends_ns: None,
        };
        world.has_relay = world.draw(3) == 0;
        let relay_ends_ns = world.now_ns + world.draw(8000 * MS);
        let is_lost = world.has_relay && world.draw(2) == 0;
        for host in 0..2 + world.draw(5) as usize {
            let fault = match world.draw(10) {
                0 => AgentFault::Breaks(world.draw(30) as u32),
                1 | 8 => AgentFault::BreaksWithin(world.draw(6000) as usize),
                9 => AgentFault::Restarts(world.draw(30) as u32),
                2 => AgentFault::Hangs(world.draw(30) as u32),
                3 => AgentFault::Late(world.draw(400_000) * MS),
                _ => AgentFault::None,
            };
            let offset_ns = world.draw(1 << 40);
            let first_cut = world.draw(3 * CASES as u64) as usize;
            world.agents.push(SimulatedAgent {
                fault,
                offset_ns,
                sent: 0,
                sent_bytes: 0,
                arrives_ns: 0,
                case: None,
                first_cut,
                measures: None,
                is_over: false,
            });
            let at_ns = world.now_ns + world.draw(2000 * MS);
            world.enqueue(host, at_ns, HostEvent::Joined);
        }
        if is_lost {
            world.lose_relay(relay_ends_ns);
        }
        world
    }

    /// Loses the relay with all its undelivered messages.
    fn lose_relay(&mut self, at_ns: u64) {
        self.relay_ends_ns = Some(at_ns);
        self.queue.retain(|(arrives_ns, _), (host, _)| {
            host.is_multiple_of(2) || *arrives_ns <= at_ns
        });
        let source = Arc::new(HostFailure::Closed);
        for host in (1..self.agents.len()).step_by(2) {
            let (relay, source) = ("relay".to_owned(), Arc::clone(&source));
            self.drawn += 1;
            let lost = HostEvent::Lost(HostFailure::RelayLost { relay, source });
            self.queue.insert((at_ns, self.drawn), (host, lost));
        }
    }

    /// Whether a host or its connection has a fault.
    fn is_faulty(&self, host: usize) -> bool {
        self.agents[host].fault != AgentFault::None
            || (host % 2 == 1 && self.relay_ends_ns.is_some())
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.drawn += 1;
        seed::derive_seed(self.seed, self.drawn) % below.max(1)
    }

    fn enqueue(&mut self, host: usize, at_ns: u64, mut heard: HostEvent) {
        if self.has_relay && host % 2 == 1 {
            if self.relay_ends_ns.is_some_and(|ends_ns| at_ns > ends_ns) {
                return;
            }
            let mut sent = Vec::new();
            frame::write(&mut sent, &AgentReply::Of(host, heard.into()))
                .expect("memory takes everything");
            let Ok(AgentReply::Of(_, passed)) = frame::read::<AgentReply>(&mut &sent[..])
            else {
                panic!("what a relay hands on is understood")
            };
            heard = RelayedEvent::into_event(passed, "relay", at_ns, sent.len());
        }
        self.drawn += 1;
        self.queue.insert((at_ns, self.drawn), (host, heard));
    }

    /// Sends a message of a host at the true time `at_ns`.
    fn send(&mut self, host: usize, at_ns: u64, reply: AgentReply) {
        let delay_ns = 20_000 + self.draw(30 * MS);
        let agent = &mut self.agents[host];
        if agent.is_over {
            return;
        }
        agent.sent += 1;
        agent.arrives_ns = agent.arrives_ns.max(at_ns + delay_ns);
        let (arrives_ns, said) = (agent.arrives_ns, agent.sent);
        match agent.fault {
            AgentFault::Breaks(after) if said > after => {
                self.end(host, arrives_ns, HostFailure::Closed);
            }
            AgentFault::BreaksWithin(bytes) => {
                let mut sent = Vec::new();
                frame::write(&mut sent, &reply).expect("memory takes everything");
                let left = bytes - agent.sent_bytes;
                let arrives = sent.len().min(left);
                agent.sent_bytes += arrives;
                match frame::read(&mut &sent[..arrives]) {
                    Ok(heard) => {
                        assert_eq!(heard, reply, "it is what was said");
                        let reply = Box::new(heard);
                        self.enqueue(host, arrives_ns, replied(reply, arrives_ns));
                    }
                    Err(error) => {
                        assert!(arrives < sent.len(), "a whole message is understood: {error}");
                        self.end(host, arrives_ns, HostFailure::Closed);
                    }
                }
            }
            AgentFault::Restarts(after) if said > after => {
                self.end(host, arrives_ns, HostFailure::Closed);
                self.restart_agent(host, arrives_ns);
            }
            AgentFault::Hangs(after) if said > after => {
                let failure = HostFailure::Silent { seconds: 60, said: String::new() };
                self.end(host, arrives_ns + SILENCE_NS, failure);
            }
            _ => {
                let reply = Box::new(reply);
                self.enqueue(host, arrives_ns, replied(reply, arrives_ns));
            }
        }
    }

    fn end(&mut self, host: usize, at_ns: u64, failure: HostFailure) {
        let agent = &mut self.agents[host];
        (agent.is_over, agent.measures) = (true, None);
        self.enqueue(host, at_ns, HostEvent::Lost(failure));
    }

    /// Starts an agent in place of one that ended: it waits for a start, and repeats the
    /// measurement.
    fn restart_agent(&mut self, host: usize, at_ns: u64) {
        let at_ns = at_ns + self.draw(3000 * MS);
        let case = self.agents[host].case.unwrap_or(0).min(CASES - 1);
        let sample = Sample::new(case as u32, sample_value(host, case, 0));
        let ready = ReadyReport { cases: vec![case_name(case)], step: 0, run_started_ns: 0 };
        let said = [
            AgentReply::Ready(ready),
            AgentReply::Event(Box::new(RunEvent::CaseStarted { case: case_name(case) })),
            AgentReply::Event(Box::new(RunEvent::Sample(sample))),
            AgentReply::Done,
        ];
        self.enqueue(host, at_ns, HostEvent::Joined);
        for (later, reply) in said.into_iter().enumerate() {
            let at_ns = at_ns + later as u64 * MS;
            self.enqueue(host, at_ns, replied(Box::new(reply), at_ns));
        }
    }

    fn send_event(&mut self, host: usize, at_ns: u64, event: RunEvent) {
        self.send(host, at_ns, AgentReply::Event(Box::new(event)));
    }

    /// Lets a host proceed to its first synchronisation point, or into the case that it waited for.
    fn proceed(&mut self, host: usize, at_ns: u64) {
        let Some(case) = self.agents[host].case else {
            let joined = HostJoined::new("somebody", HostFacts::default());
            self.send_event(host, at_ns, RunEvent::HostJoined(Box::new(joined)));
            return self.send_ready(host, at_ns, 0);
        };
        let id = case_name(case);
        let shown_ns = at_ns + self.agents[host].offset_ns;
        self.agents[host].measures = Some(case);
        self.send(host, at_ns, AgentReply::Started(shown_ns));
        self.began_ns.insert((host, case), at_ns);
        self.send_event(host, at_ns, RunEvent::CaseStarted { case: id.clone() });
        if case >= self.agents[host].first_cut {
            let cut = RunEvent::CaseFinished { case: id, stopped: StopReason::Cut };
            self.send_event(host, at_ns, cut);
            return self.send_ready(host, at_ns, case + 1);
        }
        let opened = SeriesOpened::new(case as u32, id.clone(), "rmax", Attributes::new());
        self.send_event(host, at_ns, RunEvent::SeriesOpened(opened));
        let mut at_ns =
            at_ns + if let AgentFault::Late(ns) = self.agents[host].fault { ns } else { 0 };
        for nth in 0..SAMPLES {
            at_ns += self.draw(500 * MS);
            self.send_event(
                host,
                at_ns,
                RunEvent::Sample(Sample::new(case as u32, sample_value(host, case, nth))),
            );
        }
        self.send_event(
            host,
            at_ns,
            RunEvent::CaseFinished { case: id, stopped: StopReason::Budget },
        );
        self.send_ready(host, at_ns, case + 1);
    }

    fn send_ready(&mut self, host: usize, at_ns: u64, case: usize) {
        self.agents[host].case = Some(case);
        if case == CASES {
            return self.send(host, at_ns, AgentReply::Done);
        }
        let ready = ReadyReport { cases: vec![case_name(case)], step: 0, run_started_ns: 0 };
        self.send(host, at_ns, AgentReply::Ready(ready));
    }
}

pub(super) fn case_name(case: usize) -> String {
    format!("case-{case}")
}

fn sample_value(host: usize, case: usize, nth: u32) -> f64 {
    (host * 1000 + case * 100) as f64 + f64::from(nth)
}

pub(super) fn plan() -> Plan {
    let case = |at: usize| {
        Case::new(
            case_name(at),
            Workload::Linpack(LinpackWorkload { n: 1000, cpus: vec![0], blas: None, seed: 0 }),
            StoppingRule { target: 0.1, repetitions: 1, preparations: 1, budget_s: 1.0 },
        )
    };
    let cases = (0..CASES).map(case).collect();
    Plan::new("simulated", 1.0, cases)
}

impl HostConnections for FleetSimulation {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn next_event(&mut self, within: Duration) -> Option<(usize, HostEvent)> {
        self.received += 1;
        assert!(self.received < 1_000_000, "it does not end");
        let end_ns = self.now_ns + within.as_nanos() as u64;
        let next = self.queue.first_entry().filter(|next| next.key().0 <= end_ns);
        let Some(next) = next else {
            self.now_ns = end_ns;
            return None;
        };
        let ((at_ns, _), (host, heard)) = next.remove_entry();
        self.now_ns = self.now_ns.max(at_ns);
        if matches!(heard, HostEvent::Lost(_)) {
            (self.agents[host].is_over, self.agents[host].measures) = (true, None);
        }
        if let HostEvent::Replied { reply, .. } = &heard
            && let AgentReply::Event(event) = &**reply
        {
            match &**event {
                RunEvent::Sample(sample) => {
                    *self.arrived.entry((host, sample.series as usize)).or_default() += 1;
                }
                RunEvent::CaseFinished { case, stopped } => {
                    self.agents[host].measures = None;
                    let place = (0..CASES).find(|it| case_name(*it) == *case);
                    let cut = place.filter(|_| *stopped == StopReason::Cut);
                    self.cut.extend(cut.map(|case| (host, case)));
                }
                _ => {}
            }
        }
        Some((host, heard))
    }

    fn send_request(&mut self, host: usize, request: &AgentRequest) {
        if self.agents[host].is_over {
            return;
        }
        let arrives_ns = self.now_ns + 20_000 + self.draw(10 * MS);
        match request {
            AgentRequest::Run(_) => {
                let at_ns = arrives_ns + self.draw(300 * MS);
                self.send(host, at_ns, AgentReply::Planned(Box::new(plan())));
            }
            AgentRequest::Clock => {
                let measuring_ns = arrives_ns + self.agents[host].offset_ns;
                self.send(
                    host,
                    arrives_ns,
                    AgentReply::Clock(Clocks { day_ns: 0, measuring_ns }),
                );
            }
            AgentRequest::Start(at_ns) => {
                let case = self.agents[host].case;
                let others = self.agents.iter().enumerate().filter(|(at, _)| *at != host);
                for (other, agent) in others.filter(|(_, it)| it.measures.is_some()) {
                    assert_eq!(agent.measures, case, "{other} beside {host}");
                }
                let start_ns = at_ns.saturating_sub(self.agents[host].offset_ns);
                let start_ns = if *at_ns == 0 { arrives_ns } else { start_ns.max(arrives_ns) };
                self.proceed(host, start_ns);
            }
            AgentRequest::Examine
            | AgentRequest::Condition(_)
            | AgentRequest::Look(_)
            | AgentRequest::Share(_)
            | AgentRequest::Phase(_)
            | AgentRequest::Alive
            | AgentRequest::Enough
            | AgentRequest::Grant(_)
            | AgentRequest::Stop
            | AgentRequest::Letter(_)
            | AgentRequest::Gone(_)
            | AgentRequest::Relay(_)
            | AgentRequest::To(..)
            | AgentRequest::Trees(_)
            | AgentRequest::TreesPhase(_)
            | AgentRequest::Leave(_) => {}
        }
    }

    fn disconnect(&mut self, host: usize) {
        if !self.agents[host].is_over {
            self.end(host, self.now_ns + MS, HostFailure::Closed);
        }
    }
}

/// Returns a request to these hosts without pairs and options.
pub(super) fn request_to(names: &[String], seed: u64) -> FleetRequest<'_> {
    FleetRequest {
        names,
        arguments: Vec::new(),
        labels: Vec::new(),
        pairs: PairRounds::default(),
        suites: BTreeMap::new(),
        seed,
        label: None,
        note: None,
        stops_on_failure: false,
        deadline: Duration::from_secs(60),
        case_deadline: None,
        keeps_budget: false,
        turn: None,
    }
}

/// Runs a schedule and compares the record with the messages sent.
fn check_schedule(seed: u64) {
    let mut world = FleetSimulation::new(seed);
    let names: Vec<String> = (0..world.agents.len()).map(|host| format!("h{host}")).collect();
    let request = request_to(&names, seed);
    let cancel = AtomicBool::new(false);
    let Ok(run) = measure(&request, &mut world, None, &cancel, &mut SilentListener) else {
        assert!((0..names.len()).all(|host| world.is_faulty(host)), "a host could measure");
        return;
    };
    assert_eq!(run.inconsistent_events, []);
    let is_fine = (0..names.len()).all(|host| !world.is_faulty(host));
    assert!(!is_fine || run.status == RunStatus::Complete, "{:?}", run.status);
    for (host, name) in names.iter().enumerate() {
        let is_lost = run.doubts.iter().any(|doubt| {
            matches!(doubt, assay_model::doubt::Doubt::HostLost { host: it, .. } if it == name)
        });
        assert!(!is_lost || world.is_faulty(host), "{host} did nothing wrong");
        for case in 0..CASES {
            check_samples(&run, &world, (host, name.as_str()), case);
        }
    }
    (0..CASES).for_each(|case| check_skew(&run, &world, case));
}

/// Checks that every sample that arrived is stored once, and that a host with all samples of a case
/// counts.
fn check_samples(run: &Run, world: &FleetSimulation, (host, name): (usize, &str), case: usize) {
    let found = run.case(&self::case_name(case));
    let values = |record: &assay_model::run::CaseRecord| {
        let of_host = record.series.iter().filter(|it| {
            it.dimensions.get(&Attribute::Host).and_then(AttributeValue::as_text) == Some(name)
        });
        of_host.flat_map(|it| it.samples.iter().map(|it| it.value)).collect::<Vec<f64>>()
    };
    let found_values = found.map(values).unwrap_or_default();
    let arrived = world.arrived.get(&(host, case)).copied().unwrap_or(0);
    let expected: Vec<f64> = (0..arrived).map(|nth| sample_value(host, case, nth)).collect();
    // Messages of a host that was given up do not count.
    assert!(expected.starts_with(&found_values), "{host} {case}: {found_values:?}");
    let Some(record) = found else { return };
    let has_failed = record.failed_hosts.iter().filter(|on| on.host == name).count();
    let begun = record.series.iter().any(|it| {
        it.dimensions.get(&Attribute::Host).and_then(AttributeValue::as_text) == Some(name)
    });
    let is_cut = record.cut_hosts.iter().any(|on| on == name);
    let has_cut = world.cut.contains(&(host, case));
    let is_measured = record.outcome == Some(CaseOutcome::Finished(StopReason::Budget));
    let must_be_cut = has_cut && is_measured && !world.is_faulty(host);
    assert!(has_cut || !is_cut, "{host} had time for {case}");
    assert!(is_cut || !must_be_cut, "{host} had no time for {case}");
    let is_whole = found_values.len() == SAMPLES as usize;
    assert!(has_failed <= 1 && (!begun || is_whole || has_failed == 1), "{host} {case}");
    if is_whole && has_failed == 0 {
        assert_eq!(
            record.outcome,
            Some(CaseOutcome::Finished(StopReason::Budget)),
            "{host} {case}"
        );
    }
}

/// Checks that the stored skew equals the true one within the stored bound.
fn check_skew(run: &Run, world: &FleetSimulation, case: usize) {
    let Some(record) = run.case(&case_name(case)) else { return };
    let number = |name| record.facts.get(&name).and_then(AttributeValue::as_number);
    let (Some(stored_s), Some(bound_s)) =
        (number(Attribute::StartSkew), number(Attribute::StartSkewBound))
    else {
        return;
    };
    let of_case = world.began_ns.iter().filter(|((_, at), _)| *at == case).map(|(_, ns)| *ns);
    let began_ns: Vec<u64> = of_case.collect();
    let first_ns = began_ns.iter().min().copied().unwrap_or(0);
    let true_s = (began_ns.iter().max().copied().unwrap_or(0) - first_ns) as f64 * 1e-9;
    assert!((stored_s - true_s).abs() <= bound_s + 1e-9, "{stored_s} {true_s} {bound_s}");
}

#[test]
fn no_fault_loses_or_duplicates_samples() {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let carry_out = |first: u64| {
        for seed in (first..10_000).step_by(threads as usize) {
            let outcome = std::panic::catch_unwind(|| check_schedule(seed));
            assert!(outcome.is_ok(), "schedule {seed}");
        }
    };
    // The scope panics if one of its threads does.
    std::thread::scope(|scope| {
        (0..threads).for_each(|first| drop(scope.spawn(move || carry_out(first))));
    });
}
