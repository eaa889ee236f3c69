//! Verdicts on hand-made estimates, and intervals of ratios against synthetic samples whose true
//! ratio is known.

use assay_model::event::{
    Clock, FORMAT, HostJoined, RunEvent, RunStarted, Sample, SeriesOpened, Status, Stopped,
};
use assay_model::facts::{HostFacts, HostState};
use assay_model::plan::{Case, Plan, Stopping};
use assay_model::workload::{Direction, NetworkWorkload};
use assay_model::workload::{LatencyWorkload, NetworkQuestion, Throughput, Workload};

use super::*;
use crate::synthetic::{Source, World, coverage};

/// A run of one case; the samples come by preparation.
fn run(workload: &Workload, metric: &str, host: &str, preparations: &[Vec<f64>]) -> Run {
    let stopping = Stopping { target: 0.01, repetitions: 10, preparations: 3, budget_s: 9.0 };
    let (id, by) = ("the case".to_owned(), "assay".to_owned());
    let case = Case { id: id.clone(), by, workload: workload.clone(), stopping };
    let started = RunStarted {
        format: FORMAT,
        run: "run".into(),
        label: None,
        started: "2026-01-01T00:00:00Z".into(),
        plan: Plan { suite: "test".into(), budget_s: 60.0, seed: None, cases: vec![case] },
        asked: None,
    };
    let joined = HostJoined {
        host: host.into(),
        facts: HostFacts { name: host.into(), ..HostFacts::default() },
        state: HostState::default(),
        clock: Clock::default(),
    };
    let opened = SeriesOpened {
        series: 0,
        case: id.clone(),
        metric: metric.into(),
        dimensions: workload.dimensions("assay"),
    };
    let sample = |preparation: usize, value: f64| {
        RunEvent::Sample(Sample {
            series: 0,
            value,
            weight: 1.0,
            preparation: preparation as u32,
            at_ns: 0,
        })
    };
    let samples = preparations
        .iter()
        .enumerate()
        .flat_map(|(index, values)| values.iter().map(move |value| sample(index, *value)));
    let mut events = vec![
        RunEvent::RunStarted(Box::new(started)),
        RunEvent::HostJoined(Box::new(joined)),
        RunEvent::CaseStarted { case: id.clone() },
        RunEvent::SeriesOpened(opened),
    ];
    events.extend(samples);
    events.push(RunEvent::CaseFinished { case: id.clone(), stopped: Stopped::Budget });
    let (finished, state) = ("2026-01-01T00:01:00Z".to_owned(), HostState::default());
    events.push(RunEvent::RunFinished { finished, status: Status::Complete, state });
    Run::fold(events).unwrap()
}

fn latency() -> Workload {
    Workload::Latency(LatencyWorkload { cpu: 0, bytes: 4096, line_bytes: 64 })
}

fn goodput(to: &str) -> Workload {
    let question = NetworkQuestion::Throughput(Throughput {
        streams: 6,
        direction: Direction::Send,
        seconds: 2,
        copy: true,
        rate_bit_per_s: None,
        congestion: None,
    });
    Workload::NetworkTcp(NetworkWorkload { to: Some(to.to_owned()), port: None, question })
}

fn side<'r>(name: &'r str, runs: &'r [Run]) -> Condition<'r> {
    let (first, more) = runs.split_first().unwrap();
    Condition { name, first, more }
}

/// 40 values within ±`spread` of `middle`, in no order.
fn around(middle: f64, spread: f64) -> Vec<f64> {
    (0..40).map(|i| middle * (1.0 + spread * (f64::from((i * 17) % 40) / 20.0 - 1.0))).collect()
}

fn pair_of(workload: &Workload, metric: &str, a: &[f64], b: &[f64]) -> Pair {
    let runs = [a, b].map(|values| run(workload, metric, "host", &[values.to_vec()]));
    let [a, b] = runs;
    let comparison =
        compare(side("a", std::slice::from_ref(&a)), side("b", std::slice::from_ref(&b)), 0.02);
    assert!(comparison.unmatched.is_empty() && comparison.differences.is_empty());
    comparison.pairs.into_iter().next().unwrap()
}

#[test]
fn verdicts_follow_the_interval_and_the_direction() {
    let tight = 0.002;
    for (a, b, spread, of_a_cost, of_a_rate) in [
        (100.0, 110.0, tight, Verdict::Worse, Verdict::Better),
        (100.0, 90.0, tight, Verdict::Better, Verdict::Worse),
        (100.0, 100.5, tight, Verdict::Equivalent, Verdict::Equivalent),
        (100.0, 102.0, tight, Verdict::CannotTell, Verdict::CannotTell),
        (100.0, 105.0, 0.5, Verdict::CannotTell, Verdict::CannotTell),
    ] {
        let (values_a, values_b) = (around(a, spread), around(b, spread));
        let cost = pair_of(&latency(), "latency", &values_a, &values_b);
        let rate = pair_of(&goodput("x"), "goodput", &values_a, &values_b);
        assert_eq!((cost.verdict, rate.verdict), (of_a_cost, of_a_rate), "{a} {b} {spread}");
        let [low, high] = cost.ratio_ci.unwrap();
        let ratio = cost.ratio.unwrap();
        assert!(low <= ratio && ratio <= high && (ratio / (b / a) - 1.0).abs() < 0.05);
        let needs_more = cost.verdict == Verdict::CannotTell;
        assert!(!needs_more || cost.n_to_tell.is_none_or(|n| n > 40), "{:?}", cost.n_to_tell);
    }
}

#[test]
fn too_few_samples_tell_how_many_would_do() {
    let pair = pair_of(&latency(), "latency", &[1.0, 1.1, 1.0], &[2.0, 2.1]);
    assert_eq!((pair.verdict, pair.ratio_ci), (Verdict::CannotTell, None));
    assert!(pair.n_to_tell.unwrap() >= 6, "{pair:?}");
}

#[test]
fn zeros_are_no_ratio() {
    let zeros = [0.0; 20];
    let pair = pair_of(&goodput("x"), "retransmits", &zeros, &zeros);
    assert_eq!((pair.verdict, pair.ratio), (Verdict::Equivalent, None));
    let some = around(20.0, 0.1);
    let pair = pair_of(&goodput("x"), "retransmits", &zeros, &some);
    assert_eq!((pair.verdict, pair.ratio), (Verdict::CannotTell, None));
}

#[test]
fn questions_are_matched_whatever_host_they_went_to() {
    let values = [around(100.0, 0.01)];
    let a = run(&goodput("10.0.0.1"), "goodput", "one", &values);
    let b = run(&goodput("10.0.0.2"), "goodput", "two", &values);
    let c = run(&latency(), "latency", "one", &values);
    let one = |run| side("it", std::slice::from_ref(run));
    let same = compare(one(&a), one(&b), 0.02);
    assert_eq!((same.pairs.len(), same.unmatched.len()), (1, 0));
    let (aspect, a_host, b_host) = (Aspect::Host, "one".to_owned(), "two".to_owned());
    assert_eq!(same.differences, [Difference { aspect, a: a_host, b: b_host }]);
    let other = compare(one(&a), one(&c), 0.02);
    let sides: Vec<Only> = other.unmatched.iter().map(|it| it.only).collect();
    assert_eq!(
        (other.pairs.len(), sides),
        (0, vec![Only::A, Only::B]),
        "{:?}",
        other.unmatched
    );
    let shared: Vec<&str> = other.unmatched[0].identity.keys().map(|it| it.name()).collect();
    assert_eq!(shared, ["direction", "streams", "copy"], "neither the host nor the time");
}

#[test]
fn several_runs_count_as_preparations() {
    let level = |middle: f64| run(&latency(), "latency", "host", &[around(middle, 0.001)]);
    let alone = compare(side("a", &[level(100.0)]), side("b", &[level(110.0)]), 0.02);
    assert_eq!(alone.pairs[0].verdict, Verdict::Worse);
    // What differs from run to run as much as the conditions do is no evidence.
    let a = [level(100.0), level(110.0)];
    let b = [level(110.0), level(100.0)];
    let together = compare(side("a", &a), side("b", &b), 0.02);
    assert_eq!(together.pairs[0].verdict, Verdict::CannotTell);
    assert_eq!(together.pairs[0].a.n, 80);
    assert_eq!(together.a.runs.len(), 2);
}

/// Three standard errors of a rate of 95 % over 600 trials.
const TOLERANCE: f64 = 0.0267;

#[test]
fn the_interval_covers_the_true_ratio() {
    for (preparations, repetitions, skewed) in
        [(1, 30, false), (1, 30, true), (3, 30, true), (8, 10, false)]
    {
        let world = World { preparations, repetitions, between: 0.0, neighbours: 0.0, skewed };
        let mut source = Source::new(11);
        let rate = coverage(600, || {
            let a = run(&latency(), "latency", "host", &world.samples(&mut source));
            let scaled = world.samples(&mut source).into_iter().map(|values| {
                values.into_iter().map(|value| value * 1.3).collect::<Vec<f64>>()
            });
            let b = run(&latency(), "latency", "host", &scaled.collect::<Vec<_>>());
            let one = |run| side("it", std::slice::from_ref(run));
            let pair = compare(one(&a), one(&b), 0.02).pairs.remove(0);
            pair.ratio_ci.map(|[low, high]| low <= 1.3 && 1.3 <= high)
        });
        assert!(rate.covered > 0.95 - TOLERANCE, "{world:?} {rate:?}");
        assert!(rate.withheld < 0.03, "{world:?} {rate:?}");
    }
}
