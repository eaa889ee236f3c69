//! Runs with a host that sends without end, in simulated time: the deadlines and bounds hold.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_fleet::remote::host_events::{HostConnections, HostEvent};
use assay_fleet::remote::{AgentReply, AgentRequest, Clocks, ReadyReport};
use assay_model::doubt::Doubt;
use assay_model::event::RunEvent;
use assay_model::phrase::Phrase;

use super::simulation::{case_name, plan, request_to};
use super::{FleetRequest, measure};
use crate::listener::SilentListener;

const MS: u64 = 1_000_000;

/// Behaviour of the host once it was started.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Hostility {
    /// Waits for the same case again after every start.
    RepeatsStep,
    /// The same, and leaves clock requests unanswered after the first ones.
    RepeatsStepWithoutClock,
    /// Sends raw outputs before its first case.
    FloodsEarly(usize),
    /// Sends raw outputs within its first case.
    FloodsCase(usize),
    /// Repeats the events of its first case.
    RepeatsEvents(usize),
    SendsNotes(usize),
}

struct HostileHost {
    kind: Hostility,
    now_ns: u64,
    queue: VecDeque<AgentReply>,
    starts: u32,
    clock_requests: u32,
    received: u32,
    is_over: bool,
}

impl HostileHost {
    fn ready(&mut self) {
        let ready = ReadyReport { cases: vec![case_name(0)], step: 0, run_started_ns: 0 };
        self.queue.push_back(AgentReply::Ready(ready));
    }

    /// Message of a flood, and its size.
    fn next_of_flood(&self) -> Option<(AgentReply, usize)> {
        let has_started = self.starts > 1;
        Some(match self.kind {
            Hostility::FloodsEarly(bytes) if self.starts > 0 => {
                (AgentReply::Raw("AAAA".to_owned()), bytes)
            }
            Hostility::FloodsCase(bytes) if has_started => {
                (AgentReply::Raw("AAAA".to_owned()), bytes)
            }
            Hostility::RepeatsEvents(bytes) if has_started => {
                let event = RunEvent::CaseStarted { case: case_name(0) };
                (AgentReply::Event(Box::new(event)), bytes)
            }
            Hostility::SendsNotes(bytes) if has_started => {
                (AgentReply::Note(Phrase::exact_value("a note")), bytes)
            }
            _ => return None,
        })
    }
}

impl HostConnections for HostileHost {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn next_event(&mut self, within: Duration) -> Option<(usize, HostEvent)> {
        self.received += 1;
        assert!(self.received < 1_000_000, "it does not end");
        if self.received == 1 {
            return Some((0, HostEvent::Joined));
        }
        let flood = |it: &Self| it.next_of_flood().filter(|_| !it.is_over);
        let next = self.queue.pop_front().map(|reply| (reply, 100)).or_else(|| flood(self));
        let Some((reply, bytes)) = next else {
            self.now_ns += within.as_nanos() as u64;
            return None;
        };
        self.now_ns += MS;
        let reply = Box::new(reply);
        Some((0, HostEvent::Replied { reply, at_ns: self.now_ns, bytes }))
    }

    fn send_request(&mut self, _: usize, request: &AgentRequest) {
        match request {
            AgentRequest::Run(_) => {
                self.queue.push_back(AgentReply::Planned(Box::new(plan())));
            }
            AgentRequest::Clock => {
                self.clock_requests += 1;
                let is_silent = self.kind == Hostility::RepeatsStepWithoutClock;
                if self.clock_requests <= 10 || !is_silent {
                    let clocks = Clocks { day_ns: 0, measuring_ns: self.now_ns };
                    self.queue.push_back(AgentReply::Clock(clocks));
                }
            }
            AgentRequest::Start(_) => {
                self.starts += 1;
                if !matches!(self.kind, Hostility::FloodsEarly(_)) {
                    match self.starts {
                        1 => self.ready(),
                        _ if self.next_of_flood().is_none() => self.ready(),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn disconnect(&mut self, _: usize) {
        self.is_over = true;
    }
}

/// Runs until the host is lost, and returns the reason and the simulated seconds.
fn run_with(kind: Hostility, case_deadline_s: u64) -> (String, u64) {
    let mut host = HostileHost {
        kind,
        now_ns: 1_000 * MS,
        queue: VecDeque::new(),
        starts: 0,
        clock_requests: 0,
        received: 0,
        is_over: false,
    };
    let names = ["hostile".to_owned()];
    let case_deadline = Some(Duration::from_secs(case_deadline_s));
    let request = FleetRequest { case_deadline, ..request_to(&names, 1) };
    let cancel = AtomicBool::new(false);
    let run = measure(&request, &mut host, None, &cancel, &mut SilentListener).unwrap();
    let reason = run.doubts.iter().find_map(|doubt| match doubt {
        Doubt::HostLost { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    (reason.unwrap_or_else(|| panic!("{:?}", run.doubts)), host.now_ns / (1_000 * MS))
}

#[test]
fn case_deadline_holds_whatever_a_host_sends() {
    for (kind, most_s) in [
        (Hostility::RepeatsStep, 25),
        (Hostility::RepeatsStepWithoutClock, 80),
        (Hostility::FloodsEarly(10), 70),
        (Hostility::FloodsCase(10), 15),
        (Hostility::RepeatsEvents(10), 15),
        (Hostility::SendsNotes(10), 15),
    ] {
        let (reason, seconds) = run_with(kind, 10);
        assert!(reason.contains("not done within 10 s"), "{kind:?}: {reason}");
        assert!(seconds <= most_s, "{kind:?}: {seconds} s");
    }
}

#[test]
fn bytes_of_a_case_are_bounded_whatever_a_host_sends() {
    for kind in [
        Hostility::FloodsEarly(1 << 20),
        Hostility::FloodsCase(1 << 20),
        Hostility::RepeatsEvents(1 << 20),
        Hostility::SendsNotes(1 << 20),
    ] {
        let (reason, _) = run_with(kind, 3600);
        assert!(reason.contains("more than 256 MiB for one case"), "{kind:?}: {reason}");
    }
}
