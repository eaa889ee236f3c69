//! Verdicts on constructed runs; `simulation` measures how often verdicts are right.

use assay_model::comparison::{Conclusion, Difference};
use assay_model::environment::Aspect;
use assay_model::event::{
    Clock, FORMAT, HostJoined, RunEvent, RunStarted, Sample, SeriesOpened, Status, Stopped,
    Turn,
};
use assay_model::facts::{HostFacts, HostState};
use assay_model::plan::{Case, Plan, Stopping};
use assay_model::workload::{Direction, NetworkWorkload};
use assay_model::workload::{LatencyWorkload, NetworkQuestion, Throughput, Workload};

use super::*;

/// Returns a run of one case, with samples grouped by preparation.
fn run(workload: &Workload, metric: &str, host: &str, preparations: &[Vec<f64>]) -> Run {
    let stopping = Stopping { target: 0.01, repetitions: 10, preparations: 3, budget_s: 9.0 };
    let (id, by) = ("the case".to_owned(), "assay".to_owned());
    let case = Case { id: id.clone(), by, workload: workload.clone(), stopping, pair: None };
    let started = RunStarted {
        format: FORMAT,
        run: "run".into(),
        label: None,
        note: None,
        started: "2026-01-01T00:00:00Z".into(),
        plan: Plan {
            suite: "test".into(),
            budget_s: 60.0,
            seed: None,
            cases: vec![case],
            omitted: vec![],
        },
        command: vec![],
        asked: None,
        turn: None,
        after: None,
    };
    let joined = HostJoined {
        host: host.into(),
        facts: HostFacts { name: host.into(), ..HostFacts::default() },
        state: HostState::default(),
        clock: Clock::default(),
        labels: Vec::new(),
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

pub(crate) fn latency() -> Workload {
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
    Condition { name, runs, places: &[] }
}

/// Returns one run for each median.
pub(crate) fn runs(workload: &Workload, metric: &str, medians: &[f64]) -> Vec<Run> {
    medians.iter().map(|it| run(workload, metric, "host", &[vec![*it; 3]])).collect()
}

/// Returns 40 values within ±`spread` of `middle`, shuffled.
fn around(middle: f64, spread: f64) -> Vec<f64> {
    (0..40).map(|i| middle * (1.0 + spread * (f64::from((i * 17) % 40) / 20.0 - 1.0))).collect()
}

fn pair_of(workload: &Workload, metric: &str, a: &[f64], b: &[f64]) -> Pair {
    let [a, b] = [a, b].map(|medians| runs(workload, metric, medians));
    let comparison = compare(side("a", &a), side("b", &b), 0.02);
    assert!(comparison.unmatched.is_empty() && comparison.differences.is_empty());
    comparison.pairs.into_iter().next().unwrap()
}

#[test]
fn verdicts_follow_the_runs_and_the_direction() {
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
        assert!(!needs_more || cost.runs_to_tell.is_none_or(|n| n > 40), "{cost:?}");
    }
}

/// Many samples do not help: the variance between runs is unknown.
#[test]
fn one_run_each_tells_nothing_but_a_ratio() {
    let one = |middle: f64| run(&latency(), "latency", "host", &[around(middle, 0.001)]);
    let comparison = compare(side("a", &[one(100.0)]), side("b", &[one(110.0)]), 0.02);
    let pair = &comparison.pairs[0];
    assert_eq!((pair.verdict, pair.ratio_ci, pair.p), (Verdict::CannotTell, None, None));
    assert!((pair.ratio.unwrap() - 1.1).abs() < 1e-3);
    assert_eq!(pair.runs_to_tell, Some(u64::from(RUNS)));
    assert_eq!((comparison.tested, comparison.conclusion()), (0, Conclusion::Undecided));
}

#[test]
fn zeros_are_no_ratio() {
    let zeros = [0.0; 8];
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
    let differ = |aspect, a: &str, b: &str| Difference {
        aspect,
        of: String::new(),
        a: a.to_owned(),
        b: b.to_owned(),
    };
    let expected =
        [differ(Aspect::Host, "one", "two"), differ(Aspect::FarEnd, "10.0.0.1", "10.0.0.2")];
    assert_eq!(same.differences, expected);
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

/// Loopback does not match the network, and a fixed rate does not match the maximum rate.
#[test]
fn what_was_asked_differently_is_not_matched() {
    let (path, rate) = (Attribute::Path, Attribute::RequestedRate);
    let is_matched = |a: &[(Attribute, Value)], b: &[(Attribute, Value)]| {
        let [a, b] = [a, b].map(|facts| {
            let mut run = runs(&goodput("10.0.0.1"), "goodput", &[100.0]).remove(0);
            run.cases[0].facts.extend(facts.iter().cloned());
            [run]
        });
        compare(side("a", &a), side("b", &b), 0.02).pairs.len() == 1
    };
    let [loopback, network] = [[(path, "loopback".into())], [(path, "network".into())]];
    let at = |per_s: f64| [(rate, Value::Number(per_s))];
    let share = |per_s: f64| [(rate, per_s.into()), (Attribute::PercentOfMax, 50.0.into())];
    for (a, b, expected) in [
        (&loopback[..], &network[..], false),
        (&loopback, &[], false),
        // Runs of other tools and of older versions have no such fact.
        (&network, &[], true),
        (&at(2000.0), &[], false),
        (&at(2000.0), &at(4000.0), false),
        (&at(2000.0), &[(rate, Value::Integer(2000))], true),
        // The rate that a share of the maximum amounts to is a result, not part of the request.
        (&share(2000.0), &share(4000.0), true),
    ] {
        assert_eq!(is_matched(a, b), expected, "{a:?} {b:?}");
    }
}

/// A difference that many cases share is listed once.
#[test]
fn what_cases_had_besides_is_listed() {
    let of = |facts: &[(Attribute, Value)]| {
        let mut run = runs(&goodput("10.0.0.1"), "goodput", &[100.0]).remove(0);
        let mut second = run.cases[0].series[0].clone();
        second.metric = "retransmits".into();
        run.cases[0].series.push(second);
        run.cases[0].facts.extend(facts.iter().cloned());
        [run]
    };
    for (name, a, b, aspect) in [
        (Attribute::Congestion, "reno".into(), "bbr".into(), Aspect::Congestion),
        (Attribute::FileSystem, "ext4".into(), "tmpfs".into(), Aspect::FileSystem),
        (Attribute::Device, "eth0".into(), "eth1".into(), Aspect::Device),
        (Attribute::BytesPerArray, Value::Integer(16), Value::Integer(64), Aspect::ArraySize),
        (Attribute::TargetBytes, Value::Integer(16), Value::Integer(64), Aspect::FileSize),
    ] {
        let shown = |it: &Value| {
            it.text().map_or_else(|| it.number().unwrap().to_string(), str::to_owned)
        };
        let expected = Difference { aspect, of: String::new(), a: shown(&a), b: shown(&b) };
        let [a, b] = [of(&[(name, a)]), of(&[(name, b)])];
        let found = compare(side("a", &a), side("b", &b), 0.02).differences;
        assert_eq!(found, [expected]);
    }
}

#[test]
fn what_differs_from_run_to_run_is_no_evidence() {
    let a = runs(&latency(), "latency", &[100.0, 110.0, 100.0, 110.0]);
    let b = runs(&latency(), "latency", &[110.0, 100.0, 110.0, 103.0]);
    let comparison = compare(side("a", &a), side("b", &b), 0.02);
    let pair = &comparison.pairs[0];
    assert_eq!(pair.verdict, Verdict::CannotTell);
    assert_eq!((pair.a.n, pair.a.median, comparison.a.runs.len()), (4, 105.0, 4));
    assert!(pair.runs_to_tell.unwrap() > 4);
}

/// The machine slows down by a third; the true difference is 5 %.
#[test]
fn turns_cancel_what_both_have_in_common() {
    let turn = |number: u32, is_control: bool| Turn {
        comparison: "it".to_owned(),
        seed: 1,
        number,
        block: number / 3,
        is_control,
    };
    let mut sides = [Vec::new(), Vec::new()];
    for number in 0..24 {
        let (condition, is_control) = [(0, false), (1, false), (0, true)][number as usize % 3];
        let drift = 100.0 * 1.012_f64.powi(number / 3);
        let own = if condition == 1 { 1.05 } else { 1.0 };
        let noise = 1.0 + 0.002 * f64::from(number * 7 % 5);
        let mut run = runs(&latency(), "latency", &[drift * own * noise]).remove(0);
        run.started.turn = Some(turn(number as u32, is_control));
        sides[condition].push(run);
    }
    let [a, b] = sides;
    let comparison = compare(side("a", &a), side("b", &b), 0.02);
    let pair = &comparison.pairs[0];
    assert_eq!((comparison.design, pair.verdict), (Design::Turns, Verdict::Worse), "{pair:?}");
    assert_eq!((pair.a.n, comparison.control.len()), (8, 8));
    let [low, high] = pair.floor.unwrap();
    assert!(low < 1.0 && high > 1.0 && high / low < 1.03, "{low} {high}");
}

/// `retransmits` is not a headline, and an undecided single value per run does not prevent a
/// conclusion.
#[test]
fn the_headlines_decide() {
    let good = around(100.0, 0.001);
    let decided = |verdicts: &[(bool, bool, Verdict)]| {
        let runs = runs(&latency(), "latency", &good);
        let mut comparison = compare(side("a", &runs[..20]), side("b", &runs[20..]), 0.02);
        let pair = comparison.pairs.remove(0);
        let one = |(is_headline, is_single, verdict): &(bool, bool, Verdict)| Pair {
            is_headline: *is_headline,
            is_single: *is_single,
            verdict: *verdict,
            ..pair.clone()
        };
        comparison.pairs = verdicts.iter().map(one).collect();
        comparison.conclusion()
    };
    let (same, open, worse) = (Verdict::Equivalent, Verdict::CannotTell, Verdict::Worse);
    for (verdicts, expected) in [
        (&[(true, false, same), (false, false, worse)][..], Conclusion::Fine),
        (&[(true, false, same), (false, false, open)], Conclusion::Fine),
        (&[(true, false, same), (true, true, open)], Conclusion::Fine),
        (&[(true, true, open)], Conclusion::Undecided),
        (&[(true, false, same), (true, false, open)], Conclusion::Undecided),
        (&[(true, false, worse), (true, false, open)], Conclusion::Regression),
        (&[(false, false, worse)], Conclusion::Regression),
    ] {
        assert_eq!(decided(verdicts), expected, "{verdicts:?}");
    }
}

#[test]
fn what_else_differs_is_listed() {
    let mut a = runs(&latency(), "latency", &[1.0, 1.0]);
    let mut b = runs(&latency(), "latency", &[1.0, 1.0]);
    for (later, run) in a.iter_mut().chain(&mut b).enumerate() {
        run.started.started = format!("2026-01-01T00:00:0{later}Z");
        let facts = &mut run.hosts[0].facts;
        facts.cpu.governor = Some(["performance", "powersave"][later / 2].to_owned());
        facts.settings = [("transparent_hugepage/enabled".into(), "always".into())].into();
        run.hosts[0].state.load_one_minute = Some([0.1, 0.2, 3.0, 4.0][later]);
        let kernel = ["avx2", "avx512"][later % 2];
        run.cases[0].series[0].facts.insert(Attribute::Kernel, kernel.into());
    }
    let of = |a: &[Run], b: &[Run]| {
        let found = compare(side("a", a), side("b", b), 0.02).differences;
        found.into_iter().map(|it| (it.aspect, it.a, it.b)).collect::<Vec<_>>()
    };
    let two = |aspect, a: &str, b: &str| (aspect, a.to_owned(), b.to_owned());
    let expected = [
        two(Aspect::Governor, "performance", "powersave"),
        two(Aspect::Load, "0.150", "3.500"),
        two(Aspect::Order, "first", "later"),
    ];
    assert_eq!(of(&a, &b), expected);
    // The clock was set back before the second condition; the positions from the store decide.
    for (later, run) in b.iter_mut().chain(&mut a).enumerate() {
        run.started.started = format!("2026-01-01T00:00:0{later}Z");
    }
    let order = |places: [&[usize]; 2]| {
        let [a, b] = [("a", &a), ("b", &b)].map(|(name, runs)| side(name, runs));
        let (a, b) =
            (Condition { places: places[0], ..a }, Condition { places: places[1], ..b });
        let found = compare(a, b, 0.02).differences.pop().unwrap();
        (found.aspect, found.a, found.b)
    };
    assert_eq!(order([&[], &[]]), two(Aspect::Order, "later", "first"));
    assert_eq!(order([&[3, 4], &[5, 9]]), two(Aspect::Order, "first", "later"));
    // Compared alone, the single runs differ in a loop that both conditions share.
    assert_eq!(of(&a[..1], &b[1..])[1], two(Aspect::Loop, "avx2", "avx512"));
}
