//! Verdicts on constructed runs. The module `simulation` measures how often verdicts are right.

use assay_model::comparison::{ComparisonConclusion, EnvironmentDifference};
use assay_model::environment::EnvironmentAspect;
use assay_model::event::{
    HostJoined, RunEvent, RunStarted, RunStatus, Sample, SeriesOpened, StopReason, TurnPosition,
};
use assay_model::facts::{HostFacts, HostState};
use assay_model::plan::{Case, Plan, StoppingRule};
use assay_model::workload::NetworkWorkload;
use assay_model::workload::{LatencyWorkload, NetworkTest, NetworkThroughput, Workload};

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
    let started =
        RunStarted::new("run", "2026-01-01T00:00:00Z", Plan::new("test", 60.0, vec![case]));
    let host_joined =
        HostJoined::new(host, HostFacts { name: host.into(), ..HostFacts::default() });
    let series_opened = SeriesOpened::new(0, id.clone(), metric, workload.dimensions("assay"));
    let sample = |preparation: usize, value: f64| {
        RunEvent::Sample(Sample { preparation: preparation as u32, ..Sample::new(0, value) })
    };
    let samples = preparations
        .iter()
        .enumerate()
        .flat_map(|(index, values)| values.iter().map(move |value| sample(index, *value)));
    let mut events = vec![
        RunEvent::RunStarted(Box::new(started)),
        RunEvent::HostJoined(Box::new(host_joined)),
        RunEvent::CaseStarted { case: id.clone() },
        RunEvent::SeriesOpened(series_opened),
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
    let test = NetworkTest::Throughput(NetworkThroughput {
        streams: 6,
        ..NetworkThroughput::sending(2)
    });
    Workload::NetworkTcp(NetworkWorkload { to: Some(to.to_owned()), port: None, test })
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
        .map(|median| single_case_run(workload, metric, "host", &[vec![*median; 3]]))
        .collect()
}

/// Returns 40 values within ±`spread` of `middle`, shuffled.
fn values_around(centre: f64, spread: f64) -> Vec<f64> {
    (0..40).map(|i| centre * (1.0 + spread * (f64::from((i * 17) % 40) / 20.0 - 1.0))).collect()
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
    for (a, b, spread, cost_verdict, rate_verdict) in [
        (100.0, 110.0, tight, ComparisonVerdict::Worse, ComparisonVerdict::Better),
        (100.0, 90.0, tight, ComparisonVerdict::Better, ComparisonVerdict::Worse),
        (100.0, 100.5, tight, ComparisonVerdict::Equivalent, ComparisonVerdict::Equivalent),
        (100.0, 102.0, tight, ComparisonVerdict::CannotTell, ComparisonVerdict::CannotTell),
        (100.0, 105.0, 0.5, ComparisonVerdict::CannotTell, ComparisonVerdict::CannotTell),
    ] {
        let (values_a, values_b) = (values_around(a, spread), values_around(b, spread));
        let cost = compare_single_metric(&latency(), "latency", &values_a, &values_b);
        let rate = compare_single_metric(&goodput("x"), "goodput", &values_a, &values_b);
        assert_eq!(
            (cost.verdict, rate.verdict),
            (cost_verdict, rate_verdict),
            "{a} {b} {spread}"
        );
        let [low, high] = cost.ratio_ci.unwrap();
        let ratio = cost.ratio.unwrap();
        assert!(low <= ratio && ratio <= high && (ratio / (b / a) - 1.0).abs() < 0.05);
        let is_undecided = cost.verdict == ComparisonVerdict::CannotTell;
        assert!(!is_undecided || cost.runs_to_decide.is_none_or(|n| n > 40), "{cost:?}");
    }
}

/// Many samples in one run do not help: the variance between runs stays unknown.
#[test]
fn single_runs_give_only_a_ratio() {
    let run_around = |centre: f64| {
        single_case_run(&latency(), "latency", "host", &[values_around(centre, 0.001)])
    };
    let comparison = compare(
        condition("a", &[run_around(100.0)]),
        condition("b", &[run_around(110.0)]),
        0.02,
    );
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
    let nonzero = values_around(20.0, 0.1);
    let pair = compare_single_metric(&goodput("x"), "retransmits", &zeros, &nonzero);
    assert_eq!((pair.verdict, pair.ratio), (ComparisonVerdict::CannotTell, None));
}

#[test]
fn matches_workloads_across_hosts() {
    let values = [values_around(100.0, 0.01)];
    let a = single_case_run(&goodput("10.0.0.1"), "goodput", "one", &values);
    let b = single_case_run(&goodput("10.0.0.2"), "goodput", "two", &values);
    let c = single_case_run(&latency(), "latency", "one", &values);
    let single_run = |run| condition("it", std::slice::from_ref(run));
    let across_hosts = compare(single_run(&a), single_run(&b), 0.02);
    assert_eq!((across_hosts.pairs.len(), across_hosts.unmatched.len()), (1, 0));
    let difference = |aspect, a: &str, b: &str| EnvironmentDifference {
        aspect,
        of: String::new(),
        a: a.to_owned(),
        b: b.to_owned(),
    };
    let expected = [
        difference(EnvironmentAspect::Host, "one", "two"),
        difference(EnvironmentAspect::FarEnd, "10.0.0.1", "10.0.0.2"),
    ];
    assert_eq!(across_hosts.differences, expected);
    let across_workloads = compare(single_run(&a), single_run(&c), 0.02);
    let sides: Vec<ConditionLetter> =
        across_workloads.unmatched.iter().map(|it| it.only).collect();
    assert_eq!(
        (across_workloads.pairs.len(), sides),
        (0, vec![ConditionLetter::A, ConditionLetter::B]),
        "{:?}",
        across_workloads.unmatched
    );
    let shared_dimensions: Vec<&str> =
        across_workloads.unmatched[0].identity.keys().map(|it| it.name()).collect();
    assert_eq!(
        shared_dimensions,
        ["direction", "streams", "copy"],
        "neither the host nor the time"
    );
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
    let rate_fact = |per_s: f64| [(rate, AttributeValue::Number(per_s))];
    let share_facts =
        |per_s: f64| [(rate, per_s.into()), (Attribute::PercentOfMax, 50.0.into())];
    for (a, b, expected) in [
        (&loopback[..], &network[..], false),
        (&loopback, &[], false),
        // Runs of other tools and of older versions have no such fact.
        (&network, &[], true),
        (&rate_fact(2000.0), &[], false),
        (&rate_fact(2000.0), &rate_fact(4000.0), false),
        (&rate_fact(2000.0), &[(rate, AttributeValue::Integer(2000))], true),
        // The rate that a share of the maximum amounts to is a result, not part of the request.
        (&share_facts(2000.0), &share_facts(4000.0), true),
    ] {
        assert_eq!(is_matched(a, b), expected, "{a:?} {b:?}");
    }
}

/// Results by different tools match if neither has a condition that the other contradicts.
#[test]
fn tools_match_on_equal_conditions() {
    let (rate, depth) = (Attribute::RequestedRate, Attribute::Depth);
    let is_matched = |a: &[(Attribute, AttributeValue)], b: &[(Attribute, AttributeValue)]| {
        let [a, b] = [("assay", a), ("iperf3", b)].map(|(tool, facts)| {
            let mut run =
                runs_with_medians(&goodput("10.0.0.1"), "goodput", &[100.0]).remove(0);
            run.cases[0].case.by = tool.to_owned();
            run.cases[0].facts.extend(facts.iter().cloned());
            [run]
        });
        compare(condition("a", &a), condition("b", &b), 0.02).pairs.len() == 1
    };
    let fact = |name, value: f64| [(name, AttributeValue::Number(value))];
    for (a, b, expected) in [
        (&[][..], &[][..], true),
        (&fact(depth, 1.0), &[], true),
        (&fact(depth, 1.0), &fact(depth, 1.0), true),
        (&fact(depth, 1.0), &fact(depth, 32.0), false),
        (&fact(rate, 2000.0), &[], false),
    ] {
        assert_eq!(is_matched(a, b), expected, "{a:?} {b:?}");
    }
}

/// An imported result pairs with that of the node, whatever its arrays are, before those of parts of it.
#[test]
fn imported_result_pairs_with_that_of_the_node() {
    let run_of = |cases: &[Vec<(Attribute, AttributeValue)>]| {
        let mut run = runs_with_medians(&goodput("10.0.0.1"), "goodput", &[100.0]).remove(0);
        let plain = run.cases.remove(0);
        for (at, facts) in cases.iter().enumerate() {
            let mut case = plain.clone();
            case.case.id = at.to_string();
            case.facts.extend(facts.iter().cloned());
            run.cases.push(case);
        }
        [run]
    };
    let sizes = |threads: u64, bytes: u64| {
        vec![
            (Attribute::Threads, AttributeValue::Integer(threads)),
            (Attribute::BytesPerArray, AttributeValue::Integer(bytes)),
        ]
    };
    let place = |(place, threads, bytes): &(&str, u64, u64)| {
        let placement = (Attribute::Placement, AttributeValue::from(*place));
        [sizes(*threads, *bytes), vec![placement]].concat()
    };
    let source = (Attribute::SourceFormat, AttributeValue::from("stream"));
    let imported = run_of(&[[sizes(2, 64), vec![source]].concat()]);
    for (places, expected) in [
        (&[("node", 2, 16), ("numa:0", 2, 16), ("l3:0", 2, 16), ("core:0", 1, 16)][..], 1),
        (&[("node", 2, 16), ("numa:0", 2, 64)], 1),
        (&[("numa:0", 2, 16), ("l3:0", 2, 64)], 1),
        (&[("numa:0", 2, 16), ("l3:0", 2, 16)], 0),
        (&[("node", 4, 16), ("core:0", 1, 16)], 0),
    ] {
        let own = run_of(&places.iter().map(place).collect::<Vec<_>>());
        let pairs = compare(condition("a", &own), condition("b", &imported), 0.02).pairs;
        assert_eq!(pairs.len(), expected, "{places:?}");
    }
}

/// A difference that many cases share is listed once.
#[test]
fn lists_differing_case_facts_once() {
    let runs_with_facts = |facts: &[(Attribute, AttributeValue)]| {
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
        let text = |it: &AttributeValue| {
            it.as_text().map_or_else(|| it.as_number().unwrap().to_string(), str::to_owned)
        };
        let expected =
            EnvironmentDifference { aspect, of: String::new(), a: text(&a), b: text(&b) };
        let [a, b] = [runs_with_facts(&[(name, a)]), runs_with_facts(&[(name, b)])];
        let differences = compare(condition("a", &a), condition("b", &b), 0.02).differences;
        assert_eq!(differences, [expected]);
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
        is_control,
        ..TurnPosition::new("it", 1, number, number / 3)
    };
    let mut runs_by_condition = [Vec::new(), Vec::new()];
    for number in 0..24 {
        let (condition, is_control) = [(0, false), (1, false), (0, true)][number as usize % 3];
        let drift = 100.0 * 1.012_f64.powi(number / 3);
        let effect = if condition == 1 { 1.05 } else { 1.0 };
        let noise = 1.0 + 0.002 * f64::from(number * 7 % 5);
        let mut run =
            runs_with_medians(&latency(), "latency", &[drift * effect * noise]).remove(0);
        run.started.turn = Some(turn(number as u32, is_control));
        runs_by_condition[condition].push(run);
    }
    let [a, b] = runs_by_condition;
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
    let medians = values_around(100.0, 0.001);
    let conclude = |verdicts: &[(bool, bool, ComparisonVerdict)]| {
        let runs = runs_with_medians(&latency(), "latency", &medians);
        let mut comparison =
            compare(condition("a", &runs[..20]), condition("b", &runs[20..]), 0.02);
        let pair = comparison.pairs.remove(0);
        let with_verdict =
            |(is_headline, is_single, verdict): &(bool, bool, ComparisonVerdict)| {
                MetricComparison {
                    is_headline: *is_headline,
                    has_single_values: *is_single,
                    verdict: *verdict,
                    ..pair.clone()
                }
            };
        comparison.pairs = verdicts.iter().map(with_verdict).collect();
        comparison.conclusion()
    };
    let (equivalent, undecided, worse) = (
        ComparisonVerdict::Equivalent,
        ComparisonVerdict::CannotTell,
        ComparisonVerdict::Worse,
    );
    for (verdicts, expected) in [
        (&[(true, false, equivalent), (false, false, worse)][..], ComparisonConclusion::Fine),
        (&[(true, false, equivalent), (false, false, undecided)], ComparisonConclusion::Fine),
        (&[(true, false, equivalent), (true, true, undecided)], ComparisonConclusion::Fine),
        (&[(true, true, undecided)], ComparisonConclusion::Undecided),
        (
            &[(true, false, equivalent), (true, false, undecided)],
            ComparisonConclusion::Undecided,
        ),
        (&[(true, false, worse), (true, false, undecided)], ComparisonConclusion::Regression),
        (&[(false, false, worse)], ComparisonConclusion::Regression),
    ] {
        assert_eq!(conclude(verdicts), expected, "{verdicts:?}");
    }
}

#[test]
fn lists_environment_differences() {
    let mut a = runs_with_medians(&latency(), "latency", &[1.0, 1.0]);
    let mut b = runs_with_medians(&latency(), "latency", &[1.0, 1.0]);
    for (index, run) in a.iter_mut().chain(&mut b).enumerate() {
        run.started.started = format!("2026-01-01T00:00:0{index}Z");
        let facts = &mut run.hosts[0].facts;
        facts.cpu.governor = Some(["performance", "powersave"][index / 2].to_owned());
        facts.settings = [("transparent_hugepage/enabled".into(), "always".into())].into();
        run.hosts[0].state.load_one_minute = Some([0.1, 0.2, 3.0, 4.0][index]);
        let kernel = ["avx2", "avx512"][index % 2];
        run.cases[0].series[0].facts.insert(Attribute::Kernel, kernel.into());
    }
    let differences = |a: &[Run], b: &[Run]| {
        let environment_differences =
            compare(condition("a", a), condition("b", b), 0.02).differences;
        environment_differences
            .into_iter()
            .map(|it| (it.aspect, it.a, it.b))
            .collect::<Vec<_>>()
    };
    let difference = |aspect, a: &str, b: &str| (aspect, a.to_owned(), b.to_owned());
    let expected = [
        difference(EnvironmentAspect::Governor, "performance", "powersave"),
        difference(EnvironmentAspect::Load, "0.150", "3.500"),
        difference(EnvironmentAspect::Order, "first", "later"),
    ];
    assert_eq!(differences(&a, &b), expected);
    // The clock was set back before the second condition; the positions from the store decide.
    for (index, run) in b.iter_mut().chain(&mut a).enumerate() {
        run.started.started = format!("2026-01-01T00:00:0{index}Z");
    }
    let order_difference = |positions: [&[usize]; 2]| {
        let [a, b] = [("a", &a), ("b", &b)].map(|(name, runs)| condition(name, runs));
        let (a, b) = (
            Condition { positions: positions[0], ..a },
            Condition { positions: positions[1], ..b },
        );
        let last = compare(a, b, 0.02).differences.pop().unwrap();
        (last.aspect, last.a, last.b)
    };
    assert_eq!(
        order_difference([&[], &[]]),
        difference(EnvironmentAspect::Order, "later", "first")
    );
    assert_eq!(
        order_difference([&[3, 4], &[5, 9]]),
        difference(EnvironmentAspect::Order, "first", "later")
    );
    // Each condition has one run of each loop; its single runs have one loop each.
    assert_eq!(
        differences(&a[..1], &b[1..])[1],
        difference(EnvironmentAspect::Loop, "avx2", "avx512")
    );
}
