//! A small run made by hand, and a store in a temporary folder to put it in.

use assay_model::event::{
    Clock, FORMAT, Learned, Parameter, RunEvent, RunStarted, Sample, Status, Stopped,
};
use assay_model::facts::{HostFacts, HostState};
use assay_model::plan::{Case, Plan, Stopping};
use assay_model::quantity::{Quantity, Unit};
use assay_model::run::Run;
use assay_model::warning::Warning;
use assay_model::workload::{LatencyWorkload, Workload};
use assay_store::{Headline, Headlines, Store};

pub(crate) const CASES: [&str; 3] =
    ["memory.latency/bytes=4096", "memory.latency/bytes=8192", "memory.latency/bytes=16384"];

pub(crate) fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("assay")).unwrap();
    (folder, store)
}

pub(crate) fn started(run: &str) -> RunStarted {
    let stopping = Stopping { target: 0.01, repetitions: 10, preparations: 3, budget_s: 1.5 };
    let case = |id: &str| Case {
        id: id.to_owned(),
        by: "assay".to_owned(),
        workload: Workload::Latency(LatencyWorkload { cpu: 0, bytes: 4096, line_bytes: 64 }),
        stopping,
    };
    let cases = CASES.into_iter().map(case).collect();
    RunStarted {
        format: FORMAT,
        run: run.to_owned(),
        label: None,
        started: format!("2026-11-21T10:44:{:02}Z", run.len() % 60),
        plan: Plan { suite: "memory".to_owned(), budget_s: 20.0, cases },
        host: HostFacts {
            name: "node-7".to_owned(),
            fingerprint: "a1b2".to_owned(),
            ..HostFacts::default()
        },
        state: HostState::default(),
        clock: Clock {
            name: "CLOCK_MONOTONIC_RAW".to_owned(),
            resolution_s: 1e-9,
            cost_s: 2.1e-8,
            null_s: 4.4e-8,
        },
    }
}

pub(crate) fn sample(case: &str, value: f64) -> RunEvent {
    RunEvent::Sample(Sample {
        case: case.to_owned(),
        metric: "latency".to_owned(),
        placement: None,
        value,
        preparation: 0,
        at_ns: 17,
    })
}

/// Two cases that finish, one that fails, a doubt with letters beyond ASCII, and the end.
pub(crate) fn events() -> Vec<RunEvent> {
    let mut events = Vec::new();
    for (index, case) in CASES.into_iter().enumerate() {
        let case = || case.to_owned();
        events.push(RunEvent::CaseStarted { case: case() });
        events.extend((1..=3).map(|k| sample(&case(), f64::from(k) * 1.1e-9)));
        if index == 2 {
            let reason = "no memory".to_owned();
            events.push(RunEvent::CaseFailed {
                case: case(),
                reason,
                advice: String::new(),
                because: None,
            });
            continue;
        }
        events.push(RunEvent::Learned(Learned {
            case: case(),
            metric: None,
            name: "huge_pages".to_owned(),
            value: Parameter::Flag(true),
        }));
        let warning = Warning::new("noise", "±3 % instead of ±1 % — “loud”", "repeat");
        events.push(RunEvent::Doubt { case: Some(case()), warning });
        events.push(RunEvent::CaseFinished { case: case(), stopped: Stopped::Precise });
    }
    events.push(RunEvent::RunFinished {
        finished: "2026-11-21T10:46:00Z".to_owned(),
        status: Status::Failed,
        state: HostState::default(),
    });
    events
}

/// Writes the whole run.
pub(crate) fn write(store: &Store, run: &str) {
    let mut writer = store.begin(started(run)).unwrap();
    for event in events() {
        writer.append(&event).unwrap();
    }
    assert_eq!(writer.finish(), None);
}

pub(crate) const HEADLINES: Headlines = Headlines { version: 1, of: first_samples };

fn first_samples(run: &Run) -> Vec<Headline> {
    let first = run.finished_cases().next().and_then(|record| record.samples.first());
    let headline = |sample: &Sample| Headline {
        label: sample.metric.clone(),
        quantity: Quantity::new(sample.value, Unit::Second),
    };
    first.map(headline).into_iter().collect()
}

/// Says on the screen that a test could not do its work here, and why.
pub(crate) fn skip(test: &str, reason: &str) {
    println!("SKIPPED {test}: {reason}");
}
