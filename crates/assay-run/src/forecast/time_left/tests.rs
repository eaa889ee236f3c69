//! Tests of the division of the time that is left, by simulated runs.

use assay_model::facts::HostFacts;
use assay_model::plan::{Case, CasePair, Plan, StoppingRule};
use assay_model::workload::storage::{ResponseCurvePoint, StorageTest, StorageWorkload};
use assay_model::workload::{
    CacheBandwidthWorkload, CoreToCoreWorkload, Domain, LatencyWorkload, PeakFlopsWorkload,
    Workload,
};

use super::*;

/// Chains of 1 … `count` lines, of which the last one is the headline.
fn chains(count: u64, budget_s: f64) -> Vec<Case> {
    let stopping = StoppingRule {
        target: 0.01,
        repetitions: 3,
        preparations: 3,
        budget_s: budget_s / count as f64,
    };
    let case = |lines: u64| {
        Case::new(
            lines.to_string(),
            Workload::Latency(LatencyWorkload { cpu: 0, bytes: lines * 64, line_bytes: 64 }),
            stopping,
        )
    };
    (1..=count).map(case).collect()
}

/// Four cases of different benchmarks, so that each is a headline.
fn headlines(budget_s: f64) -> Vec<Case> {
    let domain = || Domain { placement: "node".into(), cpus: vec![0] };
    let workloads = [
        Workload::CacheBandwidth(CacheBandwidthWorkload {
            domain: domain(),
            bytes_per_core: 4096,
        }),
        Workload::PeakFlops(PeakFlopsWorkload {
            domain: domain(),
            instruction_set: "avx2".into(),
        }),
        Workload::CoreToCore(CoreToCoreWorkload { groups: vec![] }),
    ];
    let mut cases = chains(1, budget_s / 4.0);
    let more = workloads.into_iter().zip(2..).map(|(workload, id)| Case {
        id: id.to_string(),
        workload,
        ..cases[0].clone()
    });
    let more: Vec<Case> = more.collect();
    cases.extend(more);
    cases
}

fn forecast(cases: &[Case], budget_s: f64) -> RunForecast {
    let plan = Plan::new("s", budget_s, cases.to_vec());
    RunForecast::from_plan(&plan, &HostFacts::default(), false)
}

/// Outcome of a simulated run.
#[derive(Debug)]
struct SimulatedRun {
    elapsed_s: f64,
    without_result: Vec<String>,
}

/// Runs groups of cases by a simulated clock on a machine on which a preparation takes
/// `turn_s`, and a turn in flight stops only at its end. Fixed cases are measured as a whole.
fn simulate(groups: &[&[Case]], mut forecast: RunForecast, turn_s: f64) -> SimulatedRun {
    let mut elapsed_s = 0.0;
    let mut without_result = Vec::new();
    for group in groups {
        let mut open: Vec<(&Case, f64)> = group.iter().map(|case| (case, 0.0)).collect();
        while !open.is_empty() {
            open.retain_mut(|(case, spent_s)| {
                let allowance = forecast.allowance(&case.id, elapsed_s);
                let (took_s, is_ended, is_over) = match allowance {
                    Allowance::Planned => (case.stopping.budget_s, false, true),
                    Allowance::UpTo { total_s, end_s, may_end } => {
                        let ends_after_s = if may_end { end_s } else { f64::INFINITY };
                        let is_ended = turn_s > ends_after_s;
                        let took_s = turn_s.min(ends_after_s.max(0.0));
                        let limit_s = total_s.min(case.stopping.budget_s);
                        (took_s, is_ended, *spent_s + took_s + turn_s > limit_s)
                    }
                    Allowance::Nothing => (0.0, true, true),
                };
                let had_result = *spent_s > 0.0;
                elapsed_s += took_s;
                *spent_s += took_s;
                match is_ended {
                    true => forecast.record_cut(&case.id, *spent_s),
                    false => forecast.record_turn(&case.id, *spent_s, is_over),
                }
                if is_ended && !had_result {
                    without_result.push(case.id.clone());
                }
                !is_ended && !is_over
            });
        }
    }
    SimulatedRun { elapsed_s, without_result }
}

#[test]
fn keeps_the_budget_however_slow_the_machine_is() {
    for (count, budget_s, turn_s, cut) in [
        // Quiet: all cases have their plan.
        (12, 60.0, 0.2, 0),
        (12, 60.0, 1.0, 0),
        // Busy: each has one turn.
        (12, 60.0, 3.0, 0),
        // No time for all.
        (12, 60.0, 10.0, 6),
        (36, 12.0, 1.0, 24),
    ] {
        let cases = chains(count, budget_s);
        let run = simulate(&[&cases], forecast(&cases, budget_s), turn_s);
        assert!(run.elapsed_s <= 1.1 * budget_s, "{turn_s}: {run:?}");
        assert!(run.without_result.len() >= cut, "{turn_s}: {run:?}");
        assert_eq!(run.without_result.is_empty(), cut == 0, "{turn_s}: {run:?}");
        assert!(!run.without_result.contains(&count.to_string()), "{turn_s}: {run:?}");
    }
}

/// The first result of each headline takes `turn_s`.
#[test]
fn cuts_headlines_only_if_the_budget_is_kept() {
    for (budget_s, turn_s, keeps_budget, cut, most_s) in [
        (60.0, 4.0, true, &[][..], 60.0),
        // No time for the last one.
        (60.0, 20.0, true, &["4"], 63.0),
        (60.0, 20.0, false, &[], 80.0),
        // The last one begins and is ended.
        (60.0, 15.9, true, &["4"], 63.0),
        // A single result takes longer than the budget: the run has none.
        (12.0, 30.0, true, &["1", "2", "3", "4"], 12.6),
        (4.0, 9.0, true, &["1", "2", "3", "4"], 4.2),
        (12.0, 30.0, false, &[], 120.0),
    ] {
        let cases = headlines(budget_s);
        let forecast = RunForecast { keeps_budget, ..forecast(&cases, budget_s) };
        let groups: Vec<&[Case]> = cases.chunks(1).collect();
        let run = simulate(&groups, forecast, turn_s);
        assert_eq!(run.without_result, cut, "{budget_s} {turn_s}: {run:?}");
        assert!(run.elapsed_s <= most_s + 1e-9, "{budget_s} {turn_s}: {run:?}");
    }
}

/// The first case takes `slow` times its forecast, the others `others` times theirs.
#[test]
fn slow_headline_leaves_others_their_time() {
    const SHORT: [f64; 4] = [6.0, 1.5, 1.5, 0.1];
    for (first_s, slow, others, cut) in [
        (SHORT, 1.0, 1.0, &[][..]),
        (SHORT, 1.3, 1.0, &[]),
        // All fit, although the forecasts of the others with their margins fill the rest.
        ([6.0, 1.9, 1.9, 0.95], 1.07, 1.0, &[]),
        // It is ended while there is time for the others, ...
        (SHORT, 3.0, 1.0, &["1"]),
        // ... of which the second is slow, too, and leaves the third no time.
        (SHORT, 1.8, 1.8, &["1", "3"]),
    ] {
        let mut cases = headlines(12.0);
        cases.iter_mut().for_each(|case| case.stopping.budget_s = 0.0);
        let took_s = |at: usize| first_s[at] * if at == 0 { slow } else { others };
        let mut forecast = RunForecast { keeps_budget: true, ..forecast(&cases, 12.0) };
        forecast.least_s = first_s.map(|it| it - crate::forecast::CASE_OVERHEAD_S).to_vec();
        let (mut elapsed_s, mut without_result) = (0.0, Vec::new());
        for (at, case) in cases.iter().enumerate() {
            let (ends_s, may_end) = match forecast.allowance(&case.id, elapsed_s) {
                Allowance::UpTo { end_s, may_end, .. } => (end_s, may_end),
                _ => (0.0, true),
            };
            let is_ended = may_end && took_s(at) > ends_s;
            let spent_s = if is_ended { ends_s } else { took_s(at) };
            elapsed_s += spent_s;
            match is_ended {
                true => forecast.record_cut(&case.id, spent_s),
                false => forecast.record_turn(&case.id, spent_s, true),
            }
            if is_ended {
                without_result.push(case.id.clone());
            }
        }
        assert_eq!(without_result, cut, "{slow} {others}: {elapsed_s}");
        assert!(elapsed_s <= 12.6, "{slow} {others}: {elapsed_s}");
    }
}

/// A headline case that takes much longer than its forecast has half of the time while others wait.
#[test]
fn slow_headline_leaves_half_to_waiting_cases() {
    let cases = chains(12, 12.0);
    let mut forecast = RunForecast { keeps_budget: true, ..forecast(&cases, 12.0) };
    forecast.record_turn("1", 0.1, true);
    let end_s = |forecast: &RunForecast| match forecast.allowance("12", 1.0) {
        Allowance::UpTo { end_s, .. } => end_s,
        other => panic!("{other:?}"),
    };
    assert!((end_s(&forecast) - 5.5).abs() < 1e-9, "{}", end_s(&forecast));
    (2..12).for_each(|it| forecast.record_end(&it.to_string()));
    assert!((end_s(&forecast) - 11.6).abs() < 1e-9, "{}", end_s(&forecast));
}

/// A headline case that hardly fits leaves the first results of the others their time, as far as its own
/// may be a fifth late; `end_s` of 11 s.
#[test]
fn long_headline_leaves_first_results_to_waiting_cases() {
    for (others_s, end_s) in [(0.4, 7.92), (0.15, 9.5), (0.05, 9.9)] {
        let cases = chains(12, 12.0);
        let mut forecast = RunForecast { keeps_budget: true, ..forecast(&cases, 12.0) };
        let first_s = |at| if at == 11 { 6.6 } else { others_s };
        forecast.least_s =
            (0..12).map(|at| first_s(at) - crate::forecast::CASE_OVERHEAD_S).collect();
        forecast.record_turn("1", others_s, true);
        let Allowance::UpTo { end_s: found_s, .. } = forecast.allowance("12", 1.0) else {
            panic!("{others_s}");
        };
        assert!((found_s - end_s).abs() < 1e-9, "{others_s}: {found_s}");
    }
}

/// The time until all hosts of a run are ready does not count.
#[test]
fn excludes_the_wait_for_other_hosts() {
    let cases = headlines(4.0);
    let mut forecast = RunForecast { keeps_budget: true, ..forecast(&cases, 4.0) };
    forecast.record_turn("1", 0.1, true);
    assert_eq!(forecast.allowance("2", 30.0), Allowance::Nothing);
    forecast.exclude_wait(30.0);
    assert!(matches!(forecast.allowance("2", 30.0), Allowance::UpTo { may_end: true, .. }));
}

/// A lone case has several turns, and a fixed one takes its plan on any machine: neither says
/// that the machine is slow.
#[test]
fn lone_and_fixed_cases_cut_no_others() {
    let mut cases = chains(36, 60.0);
    cases[1].stopping.budget_s = 30.0;
    let mut forecast = forecast(&cases, 60.0);
    forecast.priorities[1] = TimePriority::Fixed;
    let (lone, others) = cases.split_at(1);
    let (fixed, others) = others.split_at(1);
    let run = simulate(&[lone, fixed, others], forecast, 0.8);
    assert!(run.without_result.is_empty(), "{run:?}");
    assert!(run.elapsed_s <= 60.0, "{run:?}");
}

/// A single case always has a result, and a case that is not shortened keeps its plan.
#[test]
fn a_headline_always_has_a_result() {
    let cases = chains(1, 0.001);
    let run = simulate(&[&cases], forecast(&cases, 0.001), 5.0);
    assert!(run.without_result.is_empty(), "{run:?}");
    let mut fixed = forecast(&cases, 0.001);
    fixed.fix_cases();
    assert_eq!(fixed.allowance("1", 9.0), Allowance::Planned);
}

/// Fixed cases begin within a budget that is kept and end soon after it; of those that hosts measure
/// together, the coordinator decides.
#[test]
fn fixed_cases_begin_within_the_budget() {
    let pair = CasePair::new("b");
    let ends = |end_s| Allowance::UpTo { total_s: f64::INFINITY, end_s, may_end: true };
    for (keeps_budget, pair, elapsed_s, expected) in [
        (true, None, 3.0, ends(1.2)),
        (true, Some(pair.clone()), 3.0, Allowance::Planned),
        (true, None, 4.1, Allowance::Nothing),
        (true, Some(pair), 4.1, Allowance::Planned),
        (false, None, 4.1, Allowance::Planned),
    ] {
        let mut cases = headlines(4.0);
        cases[1].pair = pair;
        let mut forecast = RunForecast { keeps_budget, ..forecast(&cases, 4.0) };
        forecast.join_hosts();
        forecast.fix_cases();
        let is_ours = keeps_budget && cases[0].pair.is_none();
        let late = if is_ours { Allowance::Nothing } else { Allowance::Planned };
        assert_eq!(forecast.allowance("1", 9.0), late);
        forecast.record_turn("1", 1.0, true);
        assert_eq!(forecast.allowance("2", elapsed_s), expected);
    }
}

/// Curves of a maximum and four points. The first maximum writes its file for 25 s before.
#[test]
fn storage_keeps_the_budget_and_its_maxima() {
    let points = [1, 2, 3, 4].map(|it| ResponseCurvePoint::Share { percent: f64::from(it) });
    let points = [&[ResponseCurvePoint::Maximum], &points[..]].concat();
    let workload = StorageWorkload::new(vec![], vec![], Some(3.0));
    let test = |curve: &str, point| StorageTest {
        point: Some(point),
        ..StorageTest::new(curve, workload.clone())
    };
    let like = chains(1, 4.0).remove(0);
    let case = |curve: &str, at: usize| Case {
        id: format!("{curve}{at}"),
        workload: Workload::Storage(Box::new(test(curve, points[at]))),
        ..like.clone()
    };
    let cases: Vec<Case> =
        ["a", "b", "c"].iter().flat_map(|curve| (0..5).map(|at| case(curve, at))).collect();
    for (layout_s, keeps_budget, cut) in
        [(0.0, true, 0), (0.0, false, 0), (25.0, true, 5), (70.0, true, 14), (70.0, false, 0)]
    {
        let plan = Plan::new("s", 60.0, cases.clone());
        let mut forecast = RunForecast::from_plan(&plan, &HostFacts::default(), keeps_budget);
        assert_eq!(forecast.cut_warnings(), []);
        let (mut elapsed_s, mut left_out) = (0.0, Vec::new());
        for (case, nth) in cases.iter().zip(0..) {
            if forecast.allowance(&case.id, elapsed_s) == Allowance::Nothing {
                forecast.record_end(&case.id);
                left_out.push(case.id.as_str());
                continue;
            }
            let turn_s = 3.5 + if nth == 0 { layout_s } else { 0.0 };
            elapsed_s += turn_s;
            forecast.record_turn(&case.id, turn_s, true);
        }
        assert_eq!(left_out.len(), cut, "{layout_s} {keeps_budget}: {left_out:?}");
        let has_time_for_maxima = layout_s < 60.0;
        assert!(
            !has_time_for_maxima || left_out.iter().all(|it| !it.ends_with('0')),
            "{left_out:?}"
        );
        assert!(
            !keeps_budget || elapsed_s <= f64::max(63.0, layout_s + 3.5),
            "{layout_s}: {elapsed_s}"
        );
    }
}

/// A round of pairs is a case of the merged plan, and takes its whole time.
#[test]
fn rounds_of_pairs_take_their_time() {
    let mut cases = headlines(8.0);
    for (case, round) in cases.iter_mut().zip(0..) {
        case.pair = Some(CasePair { round, together: 4, ..CasePair::new("b") });
    }
    let mut forecast = forecast(&cases, 4.0);
    assert!((forecast.required_s(0.0) - 8.0).abs() < 1e-9, "{}", forecast.required_s(0.0));
    assert!(forecast.check_budget(0.0).is_some());
}

/// Tools of 15 s each within 20 s: the second is ended, the others do not begin.
#[test]
fn names_tools_without_time() {
    let mut cases = headlines(60.0);
    cases.iter_mut().for_each(|case| case.by = "stream".into());
    for (keeps_budget, expected) in [
        (
            true,
            &[
                "about 2 of 4 cases are not measured; 60 s would be enough",
                "3, 4: does not begin",
            ][..],
        ),
        (false, &[]),
    ] {
        let plan = Plan::new("s", 20.0, cases.clone());
        let mut forecast = RunForecast::from_plan(&plan, &HostFacts::default(), keeps_budget);
        let words = forecast.cut_warnings();
        assert_eq!(words.len(), expected.len(), "{words:?}");
        for (words, expected) in words.iter().zip(expected) {
            assert!(words.to_string().contains(expected), "{words}");
        }
        assert_eq!(forecast.check_budget(0.0).is_some(), !keeps_budget);
    }
}

#[test]
fn warns_of_cases_without_time() {
    for (count, budget_s, expected) in
        [(10, 60.0, None), (10, 0.55, Some("about 5 of 10 cases are not measured"))]
    {
        let words = forecast(&chains(count, budget_s), budget_s).cut_warnings();
        let words = words.first().map(ToString::to_string);
        assert_eq!(words.is_some(), expected.is_some(), "{words:?}");
        let text = words.unwrap_or_default();
        assert!(text.contains(expected.unwrap_or("")), "{text}");
    }
}
