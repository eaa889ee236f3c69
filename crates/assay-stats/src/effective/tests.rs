//! Effective sizes of series with known dependence.

use super::*;
use crate::random::Random;
use crate::synthetic::SyntheticSeries;

/// Returns the mean of n / `n_effective` over many series of one world.
fn mean_effect(world: SyntheticSeries) -> f64 {
    let mut source = Random::new(3);
    let n = (world.preparations * world.repetitions) as f64;
    let worth = (0..400).map(|_| effective_size(&world.samples(&mut source)).unwrap().n);
    400.0 * n / worth.sum::<f64>()
}

#[test]
fn estimates_known_dependence() {
    // Expected: 1 for independent samples; (1 + φ) / (1 − φ) for a lag-1 correlation of φ; 1 + (m −
    // 1) ρ for preparations. The last column is the tolerance of the mean over 400 series, as a
    // factor: estimates are conservative, less so for long series. From thirty preparations on, the
    // dependence of their means is estimated, too, which is never below 1.
    for (preparations, repetitions, between, neighbours, expected, factor) in [
        (1, 300, 0.0, 0.0, 1.0, 1.2),
        (20, 10, 0.0, 0.0, 1.0, 1.4),
        (1, 1000, 0.0, 0.5, 3.0, 1.2),
        (1, 2000, 0.0, 0.9, 19.0, 1.25),
        (20, 10, 0.5, 0.0, 5.5, 1.25),
        (30, 4, 0.9, 0.0, 3.7, 1.25),
        (20, 100, 0.1, 0.5, 12.7, 1.35),
    ] {
        let world = SyntheticSeries {
            preparations,
            repetitions,
            intraclass_correlation: between,
            autocorrelation: neighbours,
            skewed: true,
        };
        let effect = mean_effect(world);
        assert!(effect < expected * factor && effect > expected / factor, "{effect} {world:?}");
    }
}

#[test]
fn constant_preparations_count_as_single_samples() {
    for levels in [&[0.0, 1.0][..], &[1.0, 2.0, 0.0], &[0.0, 5.0, 2.0, 3.0, 1.0, 4.0]] {
        let samples: Vec<Vec<f64>> = levels.iter().map(|level| vec![*level; 10]).collect();
        let effective = effective_size(&samples).unwrap();
        let k = levels.len() as f64;
        assert!((effective.n - k).abs() < 1e-9, "{k}: {effective:?}");
        assert!((effective.intraclass_correlation - 1.0).abs() < 1e-12);
    }
}

#[test]
fn degenerate_series_have_effective_size() {
    for (samples, expected) in [
        (vec![], None),
        (vec![vec![], vec![]], None),
        (vec![vec![1.0]], Some(1.0)),
        (vec![vec![1.0], vec![], vec![2.0]], Some(2.0)),
        (vec![vec![4.0; 5], vec![4.0; 7]], Some(12.0)),
    ] {
        assert_eq!(effective_size(&samples).map(|e| e.n), expected, "{samples:?}");
    }
}

#[test]
fn median_of_f_is_close_to_exact() {
    // Exact values of SciPy 1.17's F distribution at probability ½.
    for (a, b, exact) in
        [(1.0, 10.0, 0.489_7), (2.0, 9.0, 0.749_4), (2.0, 27.0, 0.711_2), (7.0, 40.0, 0.923_4)]
    {
        let own = median_of_f(a, b);
        assert!((own / exact - 1.0).abs() < 0.04, "{a} {b}: {own}, {exact}");
    }
}

/// A steady rise across preparations is dependence, not independent differences between them.
#[test]
fn drift_over_preparations_has_small_effective_size() {
    let samples: Vec<Vec<f64>> =
        (0..12).map(|at| (0..10).map(|step| f64::from(at * 10 + step)).collect()).collect();
    assert!(effective_size(&samples).unwrap().n < 2.0);
}

#[test]
fn reversed_series_has_same_effective_size() {
    let world = SyntheticSeries {
        preparations: 7,
        repetitions: 9,
        intraclass_correlation: 0.3,
        autocorrelation: 0.6,
        skewed: true,
    };
    let mut samples = world.samples(&mut Random::new(8));
    let forwards = effective_size(&samples).unwrap();
    samples.reverse();
    samples.iter_mut().for_each(|preparation| preparation.reverse());
    let backwards = effective_size(&samples).unwrap();
    assert!((forwards.n / backwards.n - 1.0).abs() < 1e-9, "{forwards:?} {backwards:?}");
}
