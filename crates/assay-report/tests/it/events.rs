//! Run behind a summary, for values that only the run contains.

use assay_model::event::{HostClock, HostJoined, RunEvent, RunStarted, RunStatus, StopReason};
use assay_model::facts::HostState;
use assay_model::run::Run;

use crate::{guest, small};

/// Run with one of four cases finished, and 2 s of 160 s stolen by the hypervisor.
pub(crate) fn run() -> Run {
    run_with_events(vec![])
}

/// The same run with events of its first case.
pub(crate) fn run_with_events(measured: Vec<RunEvent>) -> Run {
    let state = |steal, time, throttled| HostState {
        steal_s: Some(steal),
        cpu_time_s: Some(time),
        throttled: Some(throttled),
        ..HostState::default()
    };
    let plan = small::plan();
    let case = || plan.cases[0].id.clone();
    let started = RunStarted::new("20261121-104455-7f3a", "2026-11-21T10:44:55Z", plan.clone());
    let joined = HostJoined {
        host: "node-7".to_owned(),
        facts: guest::host(),
        state: state(1.0, 1000.0, 4),
        labels: Vec::new(),
        clock: HostClock {
            name: "CLOCK_MONOTONIC_RAW".to_owned(),
            resolution_s: 1e-8,
            cost_s: 2.35e-8,
            null_s: 4.61e-8,
            offset: None,
        },
    };
    let end = RunEvent::RunFinished {
        finished: "2026-11-21T10:46:12Z".to_owned(),
        status: RunStatus::Interrupted,
        state: state(3.0, 1160.0, 5),
    };
    let events = [
        RunEvent::RunStarted(Box::new(started)),
        RunEvent::HostJoined(Box::new(joined)),
        RunEvent::CaseStarted { case: case() },
    ];
    let ends = [RunEvent::CaseFinished { case: case(), stopped: StopReason::Precise }, end];
    Run::fold(events.into_iter().chain(measured).chain(ends)).unwrap()
}
