//! Synthetic run of three cases, and a store for it in a temporary folder.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::distribution::LatencyDistribution;
use assay_model::doubt::{Doubt, TrustLevel};
use assay_model::event::{
    EventCount, Fact, FactSubject, HostClock, HostJoined, RunEvent, RunStarted, RunStatus,
    Sample, SeriesOpened, StopReason, StretchRecord, ToolFigures,
};
use assay_model::facts::{HostFacts, HostState};
use assay_model::failure::FailureReason;
use assay_model::plan::{Case, Plan, StoppingRule};
use assay_model::quantity::{Quantity, Unit};
use assay_model::run::{Run, SeriesRecord};
use assay_model::workload::{LatencyWorkload, Workload};
use assay_store::{Headline, HeadlineSource, RunDigest, Store};

pub(crate) const CASES: [&str; 3] =
    ["memory.latency/bytes=4096", "memory.latency/bytes=8192", "memory.latency/bytes=16384"];

pub(crate) fn temporary_store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("assay")).unwrap();
    (folder, store)
}

pub(crate) fn run_started(run: &str) -> RunStarted {
    let stopping =
        StoppingRule { target: 0.01, repetitions: 10, preparations: 3, budget_s: 1.5 };
    let case = |id: &str| {
        Case::new(
            id.to_owned(),
            Workload::Latency(LatencyWorkload { cpu: 0, bytes: 4096, line_bytes: 64 }),
            stopping,
        )
    };
    let cases = CASES.into_iter().map(case).collect();
    RunStarted::new(
        run.to_owned(),
        format!("2026-11-21T10:44:{:02}Z", run.len() % 60),
        Plan::new("memory", 20.0, cases),
    )
}

fn host_joined() -> RunEvent {
    RunEvent::HostJoined(Box::new(HostJoined {
        clock: HostClock {
            name: "CLOCK_MONOTONIC_RAW".to_owned(),
            resolution_s: 1e-9,
            cost_s: 2.1e-8,
            null_s: 4.4e-8,
            offset: None,
        },
        ..HostJoined::new(
            "node-7",
            HostFacts {
                name: "node-7".to_owned(),
                fingerprint: "a1b2".to_owned(),
                ..HostFacts::default()
            },
        )
    }))
}

pub(crate) fn sample(series: u32, value: f64) -> RunEvent {
    RunEvent::Sample(Sample { series, value, weight: 0.1, preparation: 0, at_ns: 17 })
}

fn series_opened(series: u32, case: &str) -> RunEvent {
    RunEvent::SeriesOpened(SeriesOpened::new(
        series,
        case.to_owned(),
        "latency",
        Attributes::from([
            (Attribute::Host, "node-7".into()),
            (Attribute::Bytes, 4096_u64.into()),
        ]),
    ))
}

fn stretch<T>(series: u32, seen: T) -> StretchRecord<T> {
    StretchRecord {
        series,
        preparation: 0,
        from_ns: 0,
        to_ns: 1_000_000_000,
        warmup: false,
        seen,
    }
}

/// Returns the events of two finished cases, one failed case and the end of the run. The doubt of
/// each finished case has non-ASCII text.
pub(crate) fn events_after_start() -> Vec<RunEvent> {
    let mut events = vec![host_joined()];
    for (series, case) in (0..).zip(CASES) {
        let case = || case.to_owned();
        events.push(RunEvent::CaseStarted { case: case() });
        events.push(series_opened(series, &case()));
        events.extend((1..=3).map(|k| sample(series, f64::from(k) * 1.1e-9)));
        if series == 2 {
            let failure = FailureReason::NoEcho;
            events.push(RunEvent::CaseFailed {
                case: case(),
                failure,
                because: None,
                host: None,
            });
            continue;
        }
        if series == 0 {
            let distribution = LatencyDistribution::from_values(&[10, 20, 2000]);
            events.push(RunEvent::Distribution(stretch(series, distribution)));
        }
        events.push(RunEvent::Count(stretch(series, EventCount { part: 1, whole: 3 })));
        let figures = ToolFigures { mean: Some(2.2e-9), ..ToolFigures::default() };
        events.push(RunEvent::Figures { series, figures });
        let about = FactSubject::Case(case());
        let (name, value) = (Attribute::HugePages, true.into());
        events.push(RunEvent::Fact(Fact { about, name, value }));
        let problem = "±3 % instead of ±1 % — “loud”".to_owned();
        let doubt = Doubt::UnreadOutput { problem };
        events.push(RunEvent::Doubt { case: Some(case()), doubt });
        events.push(RunEvent::CaseFinished { case: case(), stopped: StopReason::Precise });
    }
    events.push(RunEvent::RunFinished {
        finished: "2026-11-21T10:46:00Z".to_owned(),
        status: RunStatus::Failed,
        state: HostState::default(),
    });
    events
}

/// Writes a complete run.
pub(crate) fn write_run(store: &Store, run: &str) {
    let mut writer = store.begin(run_started(run)).unwrap();
    for event in events_after_start() {
        writer.append(&event).unwrap();
    }
    assert_eq!(writer.finish(None), None);
}

pub(crate) const HEADLINES: HeadlineSource =
    HeadlineSource { version: 1, condense: first_samples };

fn first_samples(run: &Run) -> RunDigest {
    let first = run.finished_cases().next().and_then(|record| record.series.first());
    let headline = |series: &SeriesRecord| Headline {
        label: series.metric.clone(),
        quantity: Quantity::new(series.samples[0].value, Unit::Second),
    };
    RunDigest {
        headlines: first.map(headline).into_iter().collect(),
        trust: TrustLevel::Sound,
        metrics: Vec::new(),
    }
}

/// Prints that a test was skipped, and the reason.
pub(crate) fn skip(test: &str, reason: &str) {
    println!("SKIPPED {test}: {reason}");
}
