//! Ranks against the tables of the sign test, quantiles against known values, and invariants.

use proptest::prelude::*;

use super::*;
use crate::random::Random;
use crate::synthetic::share_of_trials;

#[test]
fn ranks_match_sign_test_tables() {
    // Critical values of the two-sided sign test plus one; beyond n = 100 from the exact binomial
    // distribution of SciPy 1.17. 1,075 is the first n for which 2⁻ⁿ is zero in a double.
    let table: [(f64, &[(usize, usize)]); 3] = [
        (0.90, &[(4, 0), (5, 1), (7, 1), (8, 2), (10, 2), (20, 6), (100, 42), (1000, 474)]),
        (
            0.95,
            &[
                (0, 0),
                (1, 0),
                (5, 0),
                (6, 1),
                (8, 1),
                (9, 2),
                (10, 2),
                (11, 2),
                (12, 3),
                (15, 4),
                (17, 5),
                (20, 6),
                (25, 8),
                (30, 10),
                (40, 14),
                (50, 18),
                (71, 27),
                (100, 40),
                (299, 133),
                (1000, 469),
                (1074, 505),
                (1075, 505),
                (5000, 2431),
                (100_000, 49_690),
            ],
        ),
        (0.99, &[(7, 0), (8, 1), (12, 2), (20, 4), (50, 16), (100, 37), (100_000, 49_593)]),
    ];
    for (level, rows) in table {
        for (n, rank) in rows {
            assert_eq!(interval_rank(*n, level).unwrap_or(0), *rank, "n = {n} at {level}");
        }
    }
}

#[test]
fn invalid_levels_have_no_rank() {
    for level in [0.0, 1.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
        assert_eq!(interval_rank(100, level), None, "{level}");
    }
}

fn check_quantile(values: &[f64], p: f64, expected: Option<f64>) {
    assert_eq!(quantile(values, p), expected, "{values:?} {p}");
}

#[test]
fn quantiles_follow_type_7() {
    let four = [1.0, 2.0, 3.0, 4.0];
    check_quantile(&[], 0.5, None);
    check_quantile(&[7.0], 0.99, Some(7.0));
    check_quantile(&four, 0.0, Some(1.0));
    check_quantile(&four, 0.25, Some(1.75));
    check_quantile(&four, 0.5, Some(2.5));
    check_quantile(&four, 1.0, Some(4.0));
    check_quantile(&[10.0, 20.0, 30.0], 0.5, Some(20.0));
    check_quantile(&[f64::MAX, f64::MAX], 0.5, Some(f64::MAX));
    for p in [-0.1, 1.1, f64::NAN] {
        check_quantile(&four, p, None);
    }
}

fn check_interval(n: usize, n_effective: f64, expected: Option<(f64, f64)>) {
    let values: Vec<f64> = (1..=n).map(|rank| rank as f64).collect();
    let interval = effective_median_interval(&values, n_effective, LEVEL);
    assert_eq!(interval, expected, "{n} worth {n_effective}");
}

#[test]
fn intervals_widen_with_fewer_effective_samples() {
    check_interval(0, 0.0, None);
    check_interval(5, 5.0, None);
    check_interval(6, 6.0, Some((1.0, 6.0)));
    check_interval(10, 10.0, Some((2.0, 9.0)));
    check_interval(20, 20.0, Some((6.0, 15.0)));
    check_interval(20, 99.0, Some((6.0, 15.0)));
    // Ranks 2 and 9 of 10 mark 2/11 of the distribution: rank 3 of 20.
    check_interval(20, 10.0, Some((3.0, 18.0)));
    check_interval(20, 10.9, Some((3.0, 18.0)));
    check_interval(30, 6.0, Some((4.0, 27.0)));
    check_interval(30, 5.9, None);
    check_interval(30, f64::NAN, None);
    check_interval(30, -1.0, None);
}

#[test]
fn percentiles_need_enough_samples() {
    for (n, names) in [
        (5, ""),
        (6, "p50"),
        (28, "p50"),
        (29, "p50 p90"),
        (58, "p50 p90"),
        (59, "p50 p90 p95"),
        (298, "p50 p90 p95"),
        (299, "p50 p90 p95 p99"),
        (2_994, "p50 p90 p95 p99"),
        (2_995, "p50 p90 p95 p99 p99.9"),
        (29_956, "p50 p90 p95 p99 p99.9 p99.99"),
    ] {
        let values: Vec<f64> = (0..n).map(f64::from).collect();
        let found = percentiles(&values, f64::from(n)).unwrap_or_default();
        let found: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(found.join(" "), names, "{n}");
    }
    let values: Vec<f64> = (0..1000).map(f64::from).collect();
    assert_eq!(percentiles(&values, 5.0), None);
    assert_eq!(percentiles(&values, 30.0).unwrap().len(), 2);
}

/// The exact coverage for independent samples is known, and it is met.
#[test]
fn interval_coverage_is_exact() {
    // P(x(l) < median < x(n + 1 − l)) = 1 − 2 P(Bin(n, ½) < l), from the tables.
    for (n, exact) in [(6, 0.96875), (10, 0.978_515_6), (20, 0.958_610_5), (100, 0.964_799_8)] {
        let mut source = Random::new(n as u64);
        for draw in [Random::normal, |source: &mut Random| source.normal().exp() - 1.0] {
            let rate = share_of_trials(20_000, || {
                let mut values: Vec<f64> = (0..n).map(|_| draw(&mut source)).collect();
                values.sort_by(f64::total_cmp);
                let interval = median_interval(&values, LEVEL);
                interval.is_some_and(|(low, high)| low <= 0.0 && 0.0 <= high)
            });
            // Four standard errors of 20,000 draws.
            assert!((rate - exact).abs() < 0.0057, "n = {n}: {rate}, {exact}");
        }
    }
}

fn ascending() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1e12_f64..1e12, 1..80).prop_map(|mut values| {
        values.sort_by(f64::total_cmp);
        values
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn quantiles_are_monotone_and_bounded(values in ascending(), p in 0.0_f64..1.0, q in 0.0_f64..1.0) {
        let (p, q) = (p.min(q), p.max(q));
        let (low, high) = (quantile(&values, p).unwrap(), quantile(&values, q).unwrap());
        prop_assert!(values[0] <= low && low <= high && high <= values[values.len() - 1]);
    }

    #[test]
    fn intervals_contain_median_and_nest(
        values in ascending(),
        a in 0.0_f64..80.0,
        b in 0.0_f64..80.0,
        level in 0.01_f64..0.999,
    ) {
        let (less, more) = (a.min(b), a.max(b));
        let middle = median(&values).unwrap();
        let narrow = effective_median_interval(&values, more, level);
        if let Some((low, high)) = narrow {
            prop_assert!(low <= middle && middle <= high);
        }
        if let (Some(wide), Some(narrow)) =
            (effective_median_interval(&values, less, 0.95), effective_median_interval(&values, less, 0.5))
        {
            prop_assert!(wide.0 <= narrow.0 && narrow.1 <= wide.1);
        }
        if narrow.is_none() {
            prop_assert!(effective_median_interval(&values, less, level).is_none());
        }
    }

    #[test]
    fn nothing_panics(values in prop::collection::vec(any::<f64>(), 0..40), x in any::<f64>(), y in any::<f64>()) {
        let _ = quantile(&values, x);
        let _ = median_interval(&values, x);
        let _ = effective_median_interval(&values, x, y);
        let _ = percentiles(&values, x);
    }
}
