//! Scripted cases with known costs and values, which check the decisions of the rule.

use proptest::prelude::*;

use super::*;
use crate::random::Random;
use crate::synthetic::{SyntheticSeries, TRUE_MEDIAN, share_of_trials};

/// Costs of a case, in seconds, and whether the rule receives the time of a repetition.
#[derive(Debug, Clone, Copy)]
struct CaseCosts {
    preparation_s: f64,
    repetition_s: f64,
    reported: bool,
}

/// Result of a scripted case.
#[derive(Debug, Clone, PartialEq)]
struct ScriptedCase {
    series: Vec<Samples>,
    elapsed_s: f64,
    stopped: StopReason,
}

impl ScriptedCase {
    /// Returns the number of repetitions of each preparation.
    fn shape(&self) -> Vec<usize> {
        self.series[0].iter().map(Vec::len).collect()
    }
}

const fn stopping(target: f64, budget_s: f64) -> StoppingRule {
    StoppingRule { target, repetitions: 10, preparations: 3, budget_s }
}

/// Runs a case as the run loop does. `measure` returns one value per series; its second argument is
/// whether the preparation is fresh.
fn run_case(
    costs: CaseCosts,
    stopping: StoppingRule,
    count: usize,
    mut measure: impl FnMut(usize, bool) -> f64,
) -> ScriptedCase {
    let mut series = vec![vec![vec![]]; count];
    let mut elapsed_s = costs.preparation_s;
    let mut fresh = true;
    loop {
        elapsed_s += costs.repetition_s;
        for (index, one) in series.iter_mut().enumerate() {
            one.last_mut().unwrap().push(measure(index, fresh));
        }
        let repetition_s = costs.reported.then_some(costs.repetition_s);
        fresh =
            match next_step(&series, &stopping, CaseTime { elapsed_s, repetition_s, batch: 1 })
            {
                NextStep::Repeat => false,
                NextStep::PrepareAfresh => {
                    elapsed_s += costs.preparation_s;
                    series.iter_mut().for_each(|one| one.push(vec![]));
                    true
                }
                NextStep::Stop(stopped) => return ScriptedCase { series, elapsed_s, stopped },
            };
    }
}

/// Runs a case with noise so wide that no interval is ever narrow.
fn run_noisy_case(costs: CaseCosts, budget_s: f64) -> ScriptedCase {
    let mut source = Random::new(1);
    run_case(costs, stopping(1e-9, budget_s), 1, |_, _| source.uniform())
}

fn costs(preparation_s: f64, repetition_s: f64) -> CaseCosts {
    CaseCosts { preparation_s, repetition_s, reported: true }
}

#[test]
fn looks_grow_geometrically() {
    let looks: Vec<usize> = (0..120).filter(|n| passes_look(*n, 1, 10)).collect();
    assert_eq!(looks, [10, 15, 22, 33, 49, 73, 109]);
    let looks: Vec<usize> = (0..12).filter(|n| passes_look(*n, 1, 0)).collect();
    assert_eq!(looks, [1, 2, 3, 4, 6, 9]);
    // Batches of 100 pass looks at 10, …, 109, 163, 244, 366, 549, 823 and so on.
    let looks: Vec<usize> =
        (1..12).filter(|n| passes_look(*n * 100, 100, 10)).map(|n| n * 100).collect();
    assert_eq!(looks, [100, 200, 300, 400, 600, 900]);
}

#[test]
fn stops_at_first_precise_look() {
    let course = run_case(costs(0.5, 0.1), stopping(0.01, 60.0), 1, |_, _| 7.0);
    assert_eq!((course.shape(), course.stopped), (vec![4, 4, 2], StopReason::Precise));
}

#[test]
fn every_series_must_be_precise() {
    // The second series needs many more samples than the first.
    let case = |spread: f64| {
        let mut source = Random::new(5);
        let measure =
            |index, _| TRUE_MEDIAN + if index == 1 { spread * source.normal() } else { 0.0 };
        let course = run_case(costs(0.1, 0.1), stopping(0.01, 1e4), 2, measure);
        (course.stopped, course.shape().iter().sum::<usize>())
    };
    let (stopped, few) = case(0.1);
    assert!(stopped == StopReason::Precise && few <= 15, "{few}");
    let (stopped, many) = case(3.0);
    assert!(stopped == StopReason::Precise && many > 40, "{many}");
}

#[test]
fn budget_is_divided_over_preparations() {
    for (preparation_s, repetition_s, budget_s, shape, what) in [
        (1.0, 1.0, 6.0, vec![1, 1, 1], "just fits"),
        (3.0, 0.1, 10.05, vec![3, 3, 4], "dear preparations share what is left of the time"),
        (1.0, 0.5, 1.6, vec![1], "only one fits"),
        (1.0, 0.2, 1.7, vec![3], "one fits, and repetitions of it"),
        (1.0, 0.2, 2.9, vec![1, 3], "two fit"),
        (9.0, 9.0, 1.0, vec![1], "a case always gets its first repetition"),
        (0.0, 1.0, 12.0, vec![4, 4, 4], "preparing costs nothing: minimum shares"),
    ] {
        let course = run_noisy_case(costs(preparation_s, repetition_s), budget_s);
        assert_eq!((course.shape(), course.stopped), (shape, StopReason::Budget), "{what}");
    }
}

/// Expensive preparations are repeated more often; preparations that differ much, less often.
#[test]
fn repetitions_follow_costs_and_spread() {
    let usual_share = |differ: f64, preparation_s: f64| {
        let mut source = Random::new(3);
        let mut level = 0.0;
        let measure = |_, fresh| {
            level = if fresh { differ * source.normal() } else { level };
            TRUE_MEDIAN + level + source.normal()
        };
        let course = run_case(costs(preparation_s, 1.0), stopping(1e-9, 2000.0), 1, measure);
        let mut shape = course.shape();
        assert_eq!(shape[..3], [4, 4, 4], "the first ones only get the minimum share");
        shape.sort_unstable();
        shape[shape.len() / 2]
    };
    assert_eq!(usual_share(0.0, 0.5), 4);
    assert_eq!(usual_share(0.0, 10.0), 19);
    assert_eq!(usual_share(3.0, 10.0), 4);
}

#[test]
fn invalid_input_ends_case() {
    let series = |values: &[f64]| vec![vec![values.to_vec()]];
    let budget = NextStep::Stop(StopReason::Budget);
    for (series, elapsed_s, expected) in [
        (vec![], 0.0, NextStep::Repeat),
        (vec![], 2.0, budget),
        (vec![vec![]], 0.0, NextStep::Repeat),
        (series(&[]), 2.0, budget),
        (series(&[1.0]), f64::NAN, budget),
        (series(&[1.0]), f64::INFINITY, budget),
        (series(&[1.0]), -5.0, NextStep::Repeat),
        (series(&[f64::NAN]), 0.5, NextStep::PrepareAfresh),
    ] {
        assert_eq!(next_step(&series, &stopping(0.01, 1.0), elapsed_s), expected, "{series:?}");
    }
}

/// The distance between the looks limits the rate at which intervals miss to one in ten, also when
/// preparations differ.
#[test]
fn intervals_cover_after_stopping() {
    for (between, neighbours, minimum) in
        [(0.0, 0.0, 0.93), (0.1, 0.0, 0.9), (0.5, 0.0, 0.9), (0.0, 0.6, 0.9)]
    {
        let world = SyntheticSeries {
            preparations: 1,
            repetitions: 400,
            intraclass_correlation: between,
            autocorrelation: neighbours,
            skewed: false,
        };
        let mut source = Random::new(11);
        let rate = share_of_trials(400, || {
            let mut prepared = vec![].into_iter();
            let measure = |_, fresh| {
                if fresh {
                    prepared = world.preparation(&mut source).into_iter();
                }
                prepared.next().unwrap()
            };
            let course = run_case(costs(2.0, 1.0), stopping(0.008, 300.0), 1, measure);
            let interval = analyse(&course.series[0]).and_then(|it| it.interval);
            interval.is_some_and(|(low, high)| low <= TRUE_MEDIAN && TRUE_MEDIAN <= high)
        });
        assert!(rate >= minimum, "{between} {neighbours} {rate}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// All preparations happen within the budget whenever each fits with one repetition, whether or
    /// not the rule receives the time of a repetition; and no planned step overruns the budget.
    #[test]
    fn requested_preparations_fit_budget(
        preparation_s in 0.0_f64..10.0,
        repetition_s in 0.01_f64..10.0,
        slack in 1.000_001_f64..20.0,
        reported in any::<bool>(),
    ) {
        let costs = CaseCosts { preparation_s, repetition_s, reported };
        let budget_s = 3.0 * (preparation_s + repetition_s) * slack;
        let course = run_noisy_case(costs, budget_s);
        prop_assert!(course.series[0].len() >= 3, "{:?}", course.shape());
        prop_assert!(course.elapsed_s <= budget_s);
        prop_assert_eq!(course.stopped, StopReason::Budget);
        if reported {
            // The remaining time does not suffice for another repetition.
            prop_assert!(course.elapsed_s + repetition_s > budget_s * (1.0 - 1e-9));
        }
    }

    #[test]
    fn nothing_panics(
        series in prop::collection::vec(
            prop::collection::vec(prop::collection::vec(any::<f64>(), 0..12), 0..5), 0..3),
        elapsed_s in any::<f64>(),
        repetition_s in any::<Option<f64>>(),
        target in any::<f64>(),
        repetitions in 0_u32..20,
        preparations in any::<u32>(),
        budget_s in any::<f64>(),
    ) {
        let stopping = StoppingRule { target, repetitions, preparations, budget_s };
        let _ = next_step(&series, &stopping, CaseTime { elapsed_s, repetition_s, batch: 1 });
    }
}

#[test]
fn precision_does_not_depend_on_looks() {
    let stopping =
        StoppingRule { target: 0.02, repetitions: 10, preparations: 3, budget_s: 60.0 };
    let even = |n: usize| -> Vec<f64> { (0..n).map(|i| 1.0 + (i % 3) as f64 * 1e-3).collect() };
    let wide = |n: usize| -> Vec<f64> { (0..n).map(|i| 1.0 + (i % 3) as f64).collect() };
    for (series, expected) in [
        (vec![vec![even(11), even(12)]], true),
        (vec![vec![even(11), even(12)], vec![wide(23)]], false),
        (vec![vec![even(4), even(4)]], false),
        (vec![vec![Vec::new()]], false),
    ] {
        assert_eq!(is_precise(series.iter(), &stopping), expected, "{series:?}");
    }
}

/// Connections of 300 round trips each, without noise between them: three suffice, whatever the
/// budget.
#[test]
fn batches_do_not_skip_looks() {
    let mut source = Random::new(6);
    let mut series: Samples = Vec::new();
    for connection in 1_u32.. {
        series.push((0..300).map(|_| TRUE_MEDIAN + source.normal()).collect());
        let elapsed_s = f64::from(connection);
        let spent = CaseTime { elapsed_s, repetition_s: Some(1.0), batch: 300 };
        match next_step([&series], &stopping(0.05, 60.0), spent) {
            NextStep::PrepareAfresh => {}
            other => {
                assert_eq!((other, connection), (NextStep::Stop(StopReason::Precise), 3));
                break;
            }
        }
    }
}

/// A constant 0, such as no retransmits, is precise; the rate decides.
#[test]
fn zero_median_is_precise() {
    let stopping = stopping(0.02, 60.0);
    for zeros in [vec![0.0; 12], [vec![0.0; 11], vec![7.0]].concat()] {
        assert!(is_precise([&vec![zeros.clone()]], &stopping), "{zeros:?}");
    }
    let zeros = analyse(&[vec![0.0; 12]]).unwrap();
    assert_eq!((zeros.median, zeros.relative_half_width()), (0.0, Some(0.0)));
    // The interval of these samples is 0 … 1.
    let rare: Vec<f64> = (0..40).map(|at| f64::from(u8::from(at * 7 % 40 < 19))).collect();
    assert_eq!(analyse(std::slice::from_ref(&rare)).unwrap().relative_half_width(), None);
    assert!(is_precise([&vec![rare]], &stopping));
}
