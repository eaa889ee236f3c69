//! Known autocorrelation times, and inputs without autocorrelation.

use proptest::prelude::*;

use super::*;
use crate::random::Random;
use crate::synthetic::SyntheticSeries;

fn mean_time(neighbours: f64, repetitions: usize) -> f64 {
    let world = SyntheticSeries {
        autocorrelation: neighbours,
        ..SyntheticSeries::independent(1, repetitions)
    };
    let mut source = Random::new(9);
    (0..200).map(|_| integrated_time(&world.samples(&mut source))).sum::<f64>() / 200.0
}

#[test]
fn estimates_time_of_autoregressive_series() {
    // τ = (1 + φ) / (1 − φ). For short series the estimate is conservative.
    for (neighbours, repetitions, expected, factor) in [
        (0.0, 30, 1.0, 1.6),
        (0.0, 1000, 1.0, 1.1),
        (0.5, 1000, 3.0, 1.15),
        (0.8, 2000, 9.0, 1.15),
        // Negative correlation would make n_effective exceed n; the estimate never goes below 1.
        (-0.5, 1000, 1.0, 1.01),
    ] {
        let time = mean_time(neighbours, repetitions);
        let near = time < expected * factor && time > expected / factor;
        assert!(near, "φ = {neighbours}, n = {repetitions}: {time}");
    }
}

#[test]
fn drift_has_long_autocorrelation_time() {
    let drift: Vec<f64> = (0..200).map(f64::from).collect();
    assert!(integrated_time(&[drift]) > 50.0);
}

#[test]
fn ignores_short_and_constant_stretches() {
    for stretches in [vec![], vec![vec![]], vec![vec![1.0, 9.0, 1.0]; 40], vec![vec![2.0; 50]]]
    {
        assert!(integrated_time(&stretches) <= 1.0, "{stretches:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn time_is_at_least_one_and_finite(
        stretches in prop::collection::vec(prop::collection::vec(-1e6_f64..1e6, 0..60), 0..4)
    ) {
        let time = integrated_time(&stretches);
        prop_assert!(time >= 1.0 && time.is_finite());
    }
}
