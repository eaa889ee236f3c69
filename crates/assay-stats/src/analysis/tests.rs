//! Coverage of the interval on synthetic series whose true median is known.

use proptest::prelude::*;

use super::*;
use crate::quantile::median_interval;
use crate::random::Random;
use crate::synthetic::{SyntheticSeries, TRUE_MEDIAN, share_of_trials};

fn world(preparations: usize, repetitions: usize) -> SyntheticSeries {
    SyntheticSeries::independent(preparations, repetitions)
}

fn coverage_of(world: SyntheticSeries) -> f64 {
    let mut source = Random::new(2026);
    share_of_trials(1000, || {
        let analysis = analyse(&world.samples(&mut source)).unwrap();
        analysis.interval.is_some_and(|(low, high)| low <= TRUE_MEDIAN && TRUE_MEDIAN <= high)
    })
}

/// Three standard errors of a rate of 95 % over 1,000 trials.
const TOLERANCE: f64 = 0.0207;

#[test]
fn interval_covers_independent_samples() {
    for skewed in [false, true] {
        for (preparations, repetitions) in [(1, 30), (1, 300), (3, 10), (3, 100), (8, 10)] {
            let world = SyntheticSeries { skewed, ..world(preparations, repetitions) };
            let rate = coverage_of(world);
            assert!(rate > 0.95 - TOLERANCE, "{world:?} {rate:?}");
        }
    }
}

/// Coverage must not come from needless width. Three preparations show little of the variance
/// between preparations, and cost the most width.
#[test]
fn interval_stays_narrow_for_independent_samples() {
    for (preparations, repetitions, factor) in [(1, 100, 1.2), (3, 100, 1.5), (8, 10, 1.3)] {
        let mut source = Random::new(7);
        let (mut own, mut known) = (0.0, 0.0);
        for _ in 0..300 {
            let analysis = analyse(&world(preparations, repetitions).samples(&mut source));
            let analysis = analysis.unwrap();
            let width = |(low, high)| high - low;
            own += analysis.interval.map_or(0.0, width);
            known += median_interval(&analysis.sorted, LEVEL).map_or(0.0, width);
        }
        assert!(own < known * factor, "{preparations} × {repetitions}: {}", own / known);
    }
}

#[test]
fn interval_covers_correlated_repetitions() {
    for skewed in [false, true] {
        for (preparations, repetitions, neighbours) in [
            (1, 100, 0.3),
            (1, 100, 0.6),
            (3, 33, 0.6),
            (5, 10, 0.6),
            (1, 1000, 0.9),
            (3, 100, 0.9),
        ] {
            let world = SyntheticSeries {
                autocorrelation: neighbours,
                skewed,
                ..world(preparations, repetitions)
            };
            let rate = coverage_of(world);
            assert!(rate > 0.95 - TOLERANCE, "{world:?} {rate:?}");
        }
    }
}

/// Differences in page placement are covered at the nominal rate from five preparations on.
#[test]
fn interval_covers_differing_preparations() {
    for (preparations, repetitions) in [(5, 10), (5, 40), (8, 10), (20, 5)] {
        for between in [0.1, 0.3, 0.6] {
            let world = SyntheticSeries {
                intraclass_correlation: between,
                ..world(preparations, repetitions)
            };
            let rate = coverage_of(world);
            assert!(rate > 0.95 - TOLERANCE, "{world:?} {rate:?}");
        }
    }
}

/// Three preparations are covered, too, by Student's t instead of ranks.
#[test]
fn interval_covers_three_preparations() {
    for between in [0.1, 0.3, 0.6, 0.9] {
        for repetitions in [10, 33, 100] {
            let world =
                SyntheticSeries { intraclass_correlation: between, ..world(3, repetitions) };
            let rate = coverage_of(world);
            assert!(rate > 0.95 - TOLERANCE, "{world:?} {rate:?}");
        }
    }
}

#[test]
fn one_sample_has_no_interval() {
    let analysis = analyse(&[vec![5.0]]).unwrap();
    assert_eq!((analysis.median, analysis.interval, analysis.effective.n), (5.0, None, 1.0));
    assert_eq!(analysis.relative_half_width(), None);
}

#[test]
fn no_analysis_without_finite_samples() {
    for samples in [vec![], vec![vec![]], vec![vec![f64::NAN], vec![f64::INFINITY]]] {
        assert_eq!(analyse(&samples), None, "{samples:?}");
    }
}

#[test]
fn equal_samples_have_zero_width() {
    let analysis = analyse(&vec![vec![3.0; 4]; 3]).unwrap();
    assert!((analysis.effective.n - 12.0).abs() < 1e-12);
    assert_eq!(analysis.relative_half_width(), Some(0.0));
}

#[test]
fn rejects_and_counts_non_finite_samples() {
    let analysis = analyse(&[vec![1.0, f64::NAN, 2.0], vec![f64::NEG_INFINITY, 3.0]]).unwrap();
    assert_eq!((analysis.non_finite, &analysis.sorted[..]), (2, &[1.0, 2.0, 3.0][..]));
}

fn any_samples() -> impl Strategy<Value = Samples> {
    prop::collection::vec(prop::collection::vec(any::<f64>(), 0..30), 0..6)
}

fn usual_samples() -> impl Strategy<Value = Samples> {
    prop::collection::vec(prop::collection::vec(1e-9_f64..1e12, 0..30), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn counts_add_up_and_interval_contains_median(samples in any_samples()) {
        let Some(analysis) = analyse(&samples) else { return Ok(()) };
        let n = analysis.sorted.len();
        let all = n + analysis.discarded + analysis.non_finite;
        prop_assert_eq!(all, samples.iter().map(Vec::len).sum::<usize>());
        prop_assert!(analysis.effective.n >= 1.0 && analysis.effective.n <= n as f64);
        prop_assert!((0.0..=1.0).contains(&analysis.effective.intraclass_correlation));
        if let Some((low, high)) = analysis.interval {
            prop_assert!(low <= analysis.median && analysis.median <= high);
        }
    }

    /// A time and a rate have the same effective size, because everything is estimated from ranks.
    #[test]
    fn analysis_is_invariant_under_scaling(samples in usual_samples()) {
        let scaled: Samples =
            samples.iter().map(|values| values.iter().map(|value| value * 8.0).collect()).collect();
        let (before, after) = (analyse(&samples), analyse(&scaled));
        prop_assert_eq!(before.as_ref().map(|a| a.effective), after.as_ref().map(|a| a.effective));
        prop_assert_eq!(before.map(|a| a.median * 8.0), after.map(|a| a.median));
    }
}
