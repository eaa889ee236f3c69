//! Means: arithmetic for costs, harmonic for rates, weighted where samples carry weights.
//!
//! The unit determines the mean, after rules 3 and 4 of Hoefler and Belli, "Scientific Benchmarking
//! of Parallel Computing Systems", SC 2015. Ratios have no meaningful mean beyond the arithmetic
//! one given here.

use assay_model::quantity::Unit;

/// Returns the mean that fits the unit; `None` without values.
pub fn mean_for_unit(unit: Unit, values: &[f64]) -> Option<f64> {
    match unit {
        Unit::BytePerSecond
        | Unit::BitPerSecond
        | Unit::FlopPerSecond
        | Unit::IoPerSecond
        | Unit::Hertz => harmonic_mean(values),
        Unit::Byte | Unit::Second | Unit::SecondPerByte | Unit::Ratio | Unit::Count => {
            arithmetic_mean(values)
        }
    }
}

/// Returns the weighted mean; `None` without values.
///
/// With weights of 1, or invalid weights, each value is one repetition of the same work, and the
/// result is that of [`mean_for_unit`]. Otherwise it is Σwx / Σw. The weight of a rate is its time
/// in seconds, so that the mean is the total work over the total time; the weight of a cost is its
/// number of operations, so that the mean is the total cost over all operations.
pub fn weighted_mean(unit: Unit, values: &[f64], weights: &[f64]) -> Option<f64> {
    let is_weight = |weight: &f64| *weight >= 0.0 && weight.is_finite();
    let are_ones = weights.iter().all(|weight| (weight - 1.0).abs() < f64::EPSILON);
    let sum: f64 = weights.iter().sum();
    let usable = weights.len() == values.len() && weights.iter().all(is_weight);
    if are_ones || !usable || !sum.is_normal() {
        return mean_for_unit(unit, values);
    }
    let shares = values.iter().zip(weights).map(|(value, weight)| value * (weight / sum));
    clamp_to_range(values, shares.sum())
}

/// Returns the arithmetic mean, Σx / n; `None` without values.
pub fn arithmetic_mean(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    // Each share is divided before it is added, so that the sum cannot overflow.
    clamp_to_range(values, values.iter().map(|value| value / n).sum())
}

/// Returns the harmonic mean, n / Σ(1/x), of values above 0; `None` without values.
///
/// For equal amounts of work it is the total work over the total time. A rate of 0 makes it 0. With
/// a negative value, which no rate has, it is the arithmetic mean.
pub fn harmonic_mean(values: &[f64]) -> Option<f64> {
    let minimum = values.iter().copied().fold(f64::INFINITY, f64::min);
    if minimum < 0.0 {
        return arithmetic_mean(values);
    }
    if minimum == 0.0 {
        return Some(0.0);
    }
    // Relative to the minimum value, so that no reciprocal overflows.
    let sum: f64 = values.iter().map(|value| minimum / value).sum();
    clamp_to_range(values, minimum * (values.len() as f64 / sum))
}

/// Clamps a mean to the range of its values, which rounding may exceed.
fn clamp_to_range(values: &[f64], mean: f64) -> Option<f64> {
    let minimum = values.iter().copied().min_by(f64::total_cmp)?;
    let maximum = values.iter().copied().max_by(f64::total_cmp)?;
    Some(mean.max(minimum).min(maximum))
}

#[cfg(test)]
mod tests {
    use assay_model::entry::EntryValue;
    use proptest::prelude::*;

    use super::*;

    fn check(unit: Unit, values: &[f64], expected: Option<f64>) {
        assert_eq!(mean_for_unit(unit, values), expected, "{unit:?} {values:?}");
    }

    #[test]
    fn unit_selects_mean() {
        check(Unit::Second, &[], None);
        check(Unit::BytePerSecond, &[], None);
        check(Unit::Second, &[1.0, 3.0], Some(2.0));
        check(Unit::BytePerSecond, &[1.0, 3.0], Some(1.5));
        // Out at 60, back at 30: the trip's speed is 40.
        check(Unit::Hertz, &[60.0, 30.0], Some(40.0));
        check(Unit::FlopPerSecond, &[0.0, 5.0], Some(0.0));
        check(Unit::FlopPerSecond, &[-1.0, 5.0], Some(2.0));
        check(Unit::Second, &[f64::MAX, f64::MAX], Some(f64::MAX));
        check(Unit::IoPerSecond, &[5e-324, 5e-324], Some(5e-324));
    }

    #[test]
    fn weights_determine_mean() {
        for (unit, weights, expected) in [
            // 60 I/O in 1 s and 90 I/O in 3 s are 150 I/O in 4 s.
            (Unit::IoPerSecond, &[1.0, 3.0][..], 37.5),
            // Over equal times the arithmetic mean, over equal work the harmonic one.
            (Unit::IoPerSecond, &[0.5, 0.5], 45.0),
            (Unit::IoPerSecond, &[1.0, 1.0], 40.0),
            (Unit::Second, &[1.0, 3.0], 37.5),
            (Unit::Second, &[1.0, 1.0], 45.0),
            (Unit::Second, &[1.0, f64::NAN], 45.0),
            (Unit::Second, &[0.0, 0.0], 45.0),
            (Unit::Second, &[2.0], 45.0),
        ] {
            let found = weighted_mean(unit, &[60.0, 30.0], weights);
            assert_eq!(found, Some(expected), "{unit:?} {weights:?}");
        }
        assert_eq!(weighted_mean(Unit::Second, &[], &[]), None);
    }

    /// Weights of one second count as time, as those of half a second do, not as repetitions.
    #[test]
    fn one_second_weight_counts_as_time() {
        for seconds in [0.5, 1.0, 2.0] {
            let weight = |value| match EntryValue::weighted(value, seconds) {
                EntryValue::Sample { weight, .. } => weight,
                other => panic!("{other:?}"),
            };
            let mean =
                weighted_mean(Unit::IoPerSecond, &[60.0, 30.0], &[weight(60.0), weight(30.0)]);
            assert_eq!(mean, Some(45.0), "{seconds} s");
        }
    }

    proptest! {
        #[test]
        fn means_lie_between_extremes(values in prop::collection::vec(1e-12_f64..1e15, 1..50)) {
            let (minimum, maximum) = values
                .iter()
                .fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
            let harmonic = harmonic_mean(&values).unwrap();
            let arithmetic = arithmetic_mean(&values).unwrap();
            prop_assert!(minimum <= harmonic && harmonic <= arithmetic * (1.0 + 1e-12));
            prop_assert!(arithmetic <= maximum);
        }

        #[test]
        fn nothing_panics(values in prop::collection::vec(any::<f64>(), 0..20)) {
            for unit in Unit::ALL {
                prop_assert_eq!(mean_for_unit(unit, &values).is_some(), !values.is_empty());
            }
        }
    }
}
