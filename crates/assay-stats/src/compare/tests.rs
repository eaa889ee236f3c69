//! Verdicts on constructed runs; `simulation` measures how often verdicts are right.

use assay_model::comparison::{ComparisonConclusion, EnvironmentDifference};
use assay_model::environment::EnvironmentAspect;
use assay_model::event::{
    FORMAT, HostClock, HostJoined, RunEvent, RunStarted, RunStatus, Sample, SeriesOpened,
    StopReason, TurnPosition,
};
use assay_model::facts::{HostFacts, HostState};
use assay_model::plan::{Case, Plan, StoppingRule};
use assay_model::workload::{LatencyWorkload, NetworkTest, NetworkThroughput, Workload};
use assay_model::workload::{NetworkWorkload, TransferDirection};

use super::*;

/// Returns a run of one case, with samples grouped by preparation.
fn single_case_run(
    workload: &Workload,
    metric: &str,
    host: &str,
    preparations: &[Vec<f64>],
) -> Run {
    let stopping =
        StoppingRule { target: 0.01, repetitions: 10, preparations: 3, budget_s: 9.0 };
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
        clock: HostClock::default(),
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
    events.push(RunEvent::CaseFinished { case: id.clone(), stopped: StopReason::Budget });
    let (finished, state) = ("2026-01-01T00:01:00Z".to_owned(), HostState::default());
    events.push(RunEvent::RunFinished { finished, status: RunStatus::Complete, state });
    Run::fold(events).unwrap()
}

pub(crate) fn latency() -> Workload {
    Workload::Latency(LatencyWorkload { cpu: 0, bytes: 4096, line_bytes: 64 })
}

fn goodput(to: &str) -> Workload {
    let question = NetworkTest::Throughput(NetworkThroughput {
        streams: 6,
        direction: TransferDirection::Send,
        seconds: 2,
        copy: true,
        rate_bit_per_s: None,
        congestion: None,
    });
    Workload::NetworkTcp(NetworkWorkload { to: Some(to.to_owned()), port: None, question })
}

fn condition<'r>(name: &'r str, runs: &'r [Run]) -> Condition<'r> {
    Condition { name, runs, positions: &[] }
}

/// Returns one run for each median.
pub(crate) fn runs_with_medians(
    workload: &Workload,
    metric: &str,
    medians: &[f64],
) -> Vec<Run> {
    medians
        .iter()
        .map(|it| single_case_run(workload, metric, "host", &[vec![*it; 3]]))
        .collect()
}

/// Returns 40 values within ±`spread` of `middle`, shuffled.
fn values_around(middle: f64, spread: f64) -> Vec<f64> {
    (0..40).map(|i| middle * (1.0 + spread * (f64::from((i * 17) % 40) / 20.0 - 1.0))).collect()
}

fn compare_single_metric(
    workload: &Workload,
    metric: &str,
    a: &[f64],
    b: &[f64],
) -> MetricComparison {
    let [a, b] = [a, b].map(|medians| runs_with_medians(workload, metric, medians));
    let comparison = compare(condition("a", &a), condition("b", &b), 0.02);
    assert!(comparison.unmatched.is_empty() && comparison.differences.is_empty());
    comparison.pairs.into_iter().next().unwrap()
}

#[test]
fn verdict_follows_shift_and_direction() {
    let tight = 0.002;
    for (a, b, spread, of_a_cost, of_a_rate) in [
        (100.0, 110.0, tight, ComparisonVerdict::Worse, ComparisonVerdict::Better),
        (100.0, 90.0, tight, ComparisonVerdict::Better, ComparisonVerdict::Worse),
        (100.0, 100.5, tight, ComparisonVerdict::Equivalent, ComparisonVerdict::Equivalent),
        (100.0, 102.0, tight, ComparisonVerdict::CannotTell, ComparisonVerdict::CannotTell),
        (100.0, 105.0, 0.5, ComparisonVerdict::CannotTell, ComparisonVerdict::CannotTell),
    ] {
        let (values_a, values_b) = (values_around(a, spread), values_around(b, spread));
        let cost = compare_single_metric(&latency(), "latency", &values_a, &values_b);
        let rate = compare_single_metric(&goodput("x"), "goodput", &values_a, &values_b);
        assert_eq!((cost.verdict, rate.verdict), (of_a_cost, of_a_rate), "{a} {b} {spread}");
        let [low, high] = cost.ratio_ci.unwrap();
        let ratio = cost.ratio.unwrap();
        assert!(low <= ratio && ratio <= high && (ratio / (b / a) - 1.0).abs() < 0.05);
        let needs_more = cost.verdict == ComparisonVerdict::CannotTell;
        assert!(!needs_more || cost.runs_to_decide.is_none_or(|n| n > 40), "{cost:?}");
    }
}

/// Many samples do not help: the variance between runs is unknown.
#[test]
fn single_runs_give_only_a_ratio() {
    let one = |middle: f64| {
        single_case_run(&latency(), "latency", "host", &[values_around(middle, 0.001)])
    };
    let comparison =
        compare(condition("a", &[one(100.0)]), condition("b", &[one(110.0)]), 0.02);
    let pair = &comparison.pairs[0];
    assert_eq!(
        (pair.verdict, pair.ratio_ci, pair.p),
        (ComparisonVerdict::CannotTell, None, None)
    );
    assert!((pair.ratio.unwrap() - 1.1).abs() < 1e-3);
    assert_eq!(pair.runs_to_decide, Some(u64::from(DEFAULT_RUNS)));
    assert_eq!(
        (comparison.tested, comparison.conclusion()),
        (0, ComparisonConclusion::Undecided)
    );
}

#[test]
fn zero_medians_have_no_ratio() {
    let zeros = [0.0; 8];
    let pair = compare_single_metric(&goodput("x"), "retransmits", &zeros, &zeros);
    assert_eq!((pair.verdict, pair.ratio), (ComparisonVerdict::Equivalent, None));
    let some = values_around(20.0, 0.1);
    let pair = compare_single_metric(&goodput("x"), "retransmits", &zeros, &some);
    assert_eq!((pair.verdict, pair.ratio), (ComparisonVerdict::CannotTell, None));
}

#[test]
fn matches_workloads_across_hosts() {
    let values = [values_around(100.0, 0.01)];
    let a = single_case_run(&goodput("10.0.0.1"), "goodput", "one", &values);
    let b = single_case_run(&goodput("10.0.0.2"), "goodput", "two", &values);
    let c = single_case_run(&latency(), "latency", "one", &values);
    let one = |run| condition("it", std::slice::from_ref(run));
    let same = compare(one(&a), one(&b), 0.02);
    assert_eq!((same.pairs.len(), same.unmatched.len()), (1, 0));
    let differ = |aspect, a: &str, b: &str| EnvironmentDifference {
        aspect,
        of: String::new(),
        a: a.to_owned(),
        b: b.to_owned(),
    };
    let expected = [
        differ(EnvironmentAspect::Host, "one", "two"),
        differ(EnvironmentAspect::FarEnd, "10.0.0.1", "10.0.0.2"),
    ];
    assert_eq!(same.differences, expected);
    let other = compare(one(&a), one(&c), 0.02);
    let sides: Vec<ConditionLetter> = other.unmatched.iter().map(|it| it.only).collect();
    assert_eq!(
        (other.pairs.len(), sides),
        (0, vec![ConditionLetter::A, ConditionLetter::B]),
        "{:?}",
        other.unmatched
    );
    let shared: Vec<&str> = other.unmatched[0].identity.keys().map(|it| it.name()).collect();
    assert_eq!(shared, ["direction", "streams", "copy"], "neither the host nor the time");
}

/// Loopback does not match the network, and a fixed rate does not match the maximum rate.
#[test]
fn different_requests_are_not_matched() {
    let (path, rate) = (Attribute::Path, Attribute::RequestedRate);
    let is_matched = |a: &[(Attribute, AttributeValue)], b: &[(Attribute, AttributeValue)]| {
        let [a, b] = [a, b].map(|facts| {
            let mut run =
                runs_with_medians(&goodput("10.0.0.1"), "goodput", &[100.0]).remove(0);
            run.cases[0].facts.extend(facts.iter().cloned());
            [run]
        });
        compare(condition("a", &a), condition("b", &b), 0.02).pairs.len() == 1
    };
    let [loopback, network] = [[(path, "loopback".into())], [(path, "network".into())]];
    let at = |per_s: f64| [(rate, AttributeValue::Number(per_s))];
    let share = |per_s: f64| [(rate, per_s.into()), (Attribute::PercentOfMax, 50.0.into())];
    for (a, b, expected) in [
        (&loopback[..], &network[..], false),
        (&loopback, &[], false),
        // Runs of other tools and of older versions have no such fact.
        (&network, &[], true),
        (&at(2000.0), &[], false),
        (&at(2000.0), &at(4000.0), false),
        (&at(2000.0), &[(rate, AttributeValue::Integer(2000))], true),
        // The rate that a share of the maximum amounts to is a result, not part of the request.
        (&share(2000.0), &share(4000.0), true),
    ] {
        assert_eq!(is_matched(a, b), expected, "{a:?} {b:?}");
    }
}

/// A difference that many cases share is listed once.
#[test]
fn lists_differing_case_facts_once() {
    let of = |facts: &[(Attribute, AttributeValue)]| {
        let mut run = runs_with_medians(&goodput("10.0.0.1"), "goodput", &[100.0]).remove(0);
        let mut second = run.cases[0].series[0].clone();
        second.metric = "retransmits".into();
        run.cases[0].series.push(second);
        run.cases[0].facts.extend(facts.iter().cloned());
        [run]
    };
    for (name, a, b, aspect) in [
        (Attribute::Congestion, "reno".into(), "bbr".into(), EnvironmentAspect::Congestion),
        (Attribute::FileSystem, "ext4".into(), "tmpfs".into(), EnvironmentAspect::FileSystem),
        (Attribute::Device, "eth0".into(), "eth1".into(), EnvironmentAspect::Device),
        (
            Attribute::BytesPerArray,
            AttributeValue::Integer(16),
            AttributeValue::Integer(64),
            EnvironmentAspect::ArraySize,
        ),
        (
            Attribute::TargetBytes,
            AttributeValue::Integer(16),
            AttributeValue::Integer(64),
            EnvironmentAspect::FileSize,
        ),
    ] {
        let shown = |it: &AttributeValue| {
            it.as_text().map_or_else(|| it.as_number().unwrap().to_string(), str::to_owned)
        };
        let expected =
            EnvironmentDifference { aspect, of: String::new(), a: shown(&a), b: shown(&b) };
        let [a, b] = [of(&[(name, a)]), of(&[(name, b)])];
        let found = compare(condition("a", &a), condition("b", &b), 0.02).differences;
        assert_eq!(found, [expected]);
    }
}

#[test]
fn variance_between_runs_is_no_evidence() {
    let a = runs_with_medians(&latency(), "latency", &[100.0, 110.0, 100.0, 110.0]);
    let b = runs_with_medians(&latency(), "latency", &[110.0, 100.0, 110.0, 103.0]);
    let comparison = compare(condition("a", &a), condition("b", &b), 0.02);
    let pair = &comparison.pairs[0];
    assert_eq!(pair.verdict, ComparisonVerdict::CannotTell);
    assert_eq!((pair.a.n, pair.a.median, comparison.a.runs.len()), (4, 105.0, 4));
    assert!(pair.runs_to_decide.unwrap() > 4);
}

/// The machine slows down by a third; the true difference is 5 %.
#[test]
fn turns_cancel_common_drift() {
    let turn = |number: u32, is_control: bool| TurnPosition {
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
        let mut run =
            runs_with_medians(&latency(), "latency", &[drift * own * noise]).remove(0);
        run.started.turn = Some(turn(number as u32, is_control));
        sides[condition].push(run);
    }
    let [a, b] = sides;
    let comparison = compare(condition("a", &a), condition("b", &b), 0.02);
    let pair = &comparison.pairs[0];
    assert_eq!(
        (comparison.design, pair.verdict),
        (ComparisonDesign::Turns, ComparisonVerdict::Worse),
        "{pair:?}"
    );
    assert_eq!((pair.a.n, comparison.control.len()), (8, 8));
    let [low, high] = pair.floor.unwrap();
    assert!(low < 1.0 && high > 1.0 && high / low < 1.03, "{low} {high}");
}

/// `retransmits` is not a headline, and an undecided single value per run does not prevent a
/// conclusion.
#[test]
fn headline_metrics_decide_conclusion() {
    let good = values_around(100.0, 0.001);
    let decided = |verdicts: &[(bool, bool, ComparisonVerdict)]| {
        let runs = runs_with_medians(&latency(), "latency", &good);
        let mut comparison =
            compare(condition("a", &runs[..20]), condition("b", &runs[20..]), 0.02);
        let pair = comparison.pairs.remove(0);
        let one = |(is_headline, is_single, verdict): &(bool, bool, ComparisonVerdict)| {
            MetricComparison {
                is_headline: *is_headline,
                has_single_values: *is_single,
                verdict: *verdict,
                ..pair.clone()
            }
        };
        comparison.pairs = verdicts.iter().map(one).collect();
        comparison.conclusion()
    };
    let (same, open, worse) = (
        ComparisonVerdict::Equivalent,
        ComparisonVerdict::CannotTell,
        ComparisonVerdict::Worse,
    );
    for (verdicts, expected) in [
        (&[(true, false, same), (false, false, worse)][..], ComparisonConclusion::Fine),
        (&[(true, false, same), (false, false, open)], ComparisonConclusion::Fine),
        (&[(true, false, same), (true, true, open)], ComparisonConclusion::Fine),
        (&[(true, true, open)], ComparisonConclusion::Undecided),
        (&[(true, false, same), (true, false, open)], ComparisonConclusion::Undecided),
        (&[(true, false, worse), (true, false, open)], ComparisonConclusion::Regression),
        (&[(false, false, worse)], ComparisonConclusion::Regression),
    ] {
        assert_eq!(decided(verdicts), expected, "{verdicts:?}");
    }
}

#[test]
fn lists_environment_differences() {
    let mut a = runs_with_medians(&latency(), "latency", &[1.0, 1.0]);
    let mut b = runs_with_medians(&latency(), "latency", &[1.0, 1.0]);
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
        let found = compare(condition("a", a), condition("b", b), 0.02).differences;
        found.into_iter().map(|it| (it.aspect, it.a, it.b)).collect::<Vec<_>>()
    };
    let two = |aspect, a: &str, b: &str| (aspect, a.to_owned(), b.to_owned());
    let expected = [
        two(EnvironmentAspect::Governor, "performance", "powersave"),
        two(EnvironmentAspect::Load, "0.150", "3.500"),
        two(EnvironmentAspect::Order, "first", "later"),
    ];
    assert_eq!(of(&a, &b), expected);
    // The clock was set back before the second condition; the positions from the store decide.
    for (later, run) in b.iter_mut().chain(&mut a).enumerate() {
        run.started.started = format!("2026-01-01T00:00:0{later}Z");
    }
    let order = |places: [&[usize]; 2]| {
        let [a, b] = [("a", &a), ("b", &b)].map(|(name, runs)| condition(name, runs));
        let (a, b) =
            (Condition { positions: places[0], ..a }, Condition { positions: places[1], ..b });
        let found = compare(a, b, 0.02).differences.pop().unwrap();
        (found.aspect, found.a, found.b)
    };
    assert_eq!(order([&[], &[]]), two(EnvironmentAspect::Order, "later", "first"));
    assert_eq!(order([&[3, 4], &[5, 9]]), two(EnvironmentAspect::Order, "first", "later"));
    // Compared alone, the single runs differ in a loop that both conditions share.
    assert_eq!(of(&a[..1], &b[1..])[1], two(EnvironmentAspect::Loop, "avx2", "avx512"));
}
