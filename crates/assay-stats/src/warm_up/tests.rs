//! Tests that warm-ups are detected, and that independent samples have none.

use proptest::prelude::*;

use super::*;
use crate::random::Random;
use crate::synthetic::{SyntheticSeries, TRUE_MEDIAN};

/// Returns series of normal noise whose first `warm` samples are shifted by `shift` standard
/// deviations.
fn series_with_warm_up(
    preparations: usize,
    repetitions: usize,
    warm_up_len: usize,
    shift: f64,
) -> Vec<Vec<f64>> {
    let world = SyntheticSeries::independent(preparations, repetitions);
    let mut samples = world.samples(&mut Random::new(17));
    for values in &mut samples {
        values.iter_mut().take(warm_up_len).for_each(|value| *value += shift);
    }
    samples
}

fn check(
    preparations: usize,
    repetitions: usize,
    warm_up_len: usize,
    shift: f64,
    expected: usize,
) {
    let samples = series_with_warm_up(preparations, repetitions, warm_up_len, shift);
    let context = format!("{preparations} × {repetitions}, {warm_up_len} by {shift}");
    assert_eq!(detect_warm_up(&samples), vec![expected; preparations], "{context}");
}

#[test]
fn detects_clear_warm_up() {
    check(1, 30, 8, -10.0, 8);
    check(1, 30, 8, 10.0, 8);
    check(1, 200, 100, 10.0, 100);
    // The same cold start in every preparation adds up.
    check(3, 10, 2, -10.0, 2);
    check(8, 4, 1, -10.0, 1);
}

#[test]
fn keeps_insignificant_warm_up() {
    check(1, 30, 0, 0.0, 0);
    check(1, 30, 1, 100.0, 0);
    check(1, 8, 4, 100.0, 0);
    check(0, 0, 0, 0.0, 0);
}

#[test]
fn discards_at_most_half() {
    let falling: Vec<f64> = (0..101).rev().map(f64::from).collect();
    let step: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i < 70))).collect();
    for values in [falling, step] {
        let half = values.len() / 2;
        assert!(detect_warm_up(&[values])[0] <= half);
    }
}

#[test]
fn discards_only_first_preparation_of_cold_machine() {
    let mut samples = series_with_warm_up(3, 40, 0, 0.0);
    samples[0].iter_mut().take(15).for_each(|value| *value -= 20.0);
    assert_eq!(detect_warm_up(&samples), [15, 0, 0]);
}

/// Nine connections of 300 round trips, each with its own speed and bursts, without a warm-up.
#[test]
fn differing_preparations_are_no_warm_up() {
    let world = SyntheticSeries {
        preparations: 9,
        repetitions: 300,
        intraclass_correlation: 0.6,
        autocorrelation: 0.8,
        skewed: true,
    };
    let mut random = Random::new(41);
    let discarded: usize = (0..100)
        .map(|_| detect_warm_up(&world.samples(&mut random)).iter().sum::<usize>())
        .sum();
    assert!(discarded < 2_700, "{discarded} of 270,000");
}

/// Independent samples keep 99 % of their number, and the discarded ones do not bias the median.
#[test]
fn independent_samples_are_not_biased() {
    for (preparations, repetitions) in [(1, 20), (1, 100), (3, 4), (3, 14), (3, 50), (10, 10)] {
        for skewed in [false, true] {
            let world = SyntheticSeries {
                skewed,
                ..SyntheticSeries::independent(preparations, repetitions)
            };
            let mut random = Random::new(23);
            let (mut discarded_total, mut above_median, mut kept) = (0, 0, 0);
            for _ in 0..2000 {
                let samples = world.samples(&mut random);
                for (values, discarded) in samples.iter().zip(detect_warm_up(&samples)) {
                    discarded_total += discarded;
                    kept += values.len() - discarded;
                    above_median +=
                        values[discarded..].iter().filter(|x| **x > TRUE_MEDIAN).count();
                }
            }
            let kept_count = f64::from(u32::try_from(kept).unwrap());
            assert!(
                (discarded_total as f64) < 0.01 * kept_count,
                "{world:?}: {discarded_total} of {kept}"
            );
            let share = above_median as f64 / kept_count;
            // Four standard errors of a share of one half.
            let max_deviation = 2.0 / kept_count.sqrt();
            assert!((share - 0.5).abs() < max_deviation, "{world:?}: {share}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_series_keeps_half(
        samples in prop::collection::vec(prop::collection::vec(any::<f64>(), 0..40), 0..6)
    ) {
        for (values, discarded) in samples.iter().zip(detect_warm_up(&samples)) {
            prop_assert!(discarded <= values.len() / 2);
        }
    }
}
