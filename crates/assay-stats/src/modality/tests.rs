//! Hartigans' dip statistic against reference values; the error rate of the test on unimodal
//! samples and its power on bimodal ones.

use proptest::prelude::*;

use super::*;
use crate::interval_coverage::ModalShape;
use crate::random::Random;

#[test]
fn dips_match_reference() {
    // Values of the Python package diptest 0.10 for the same data; it prints the minimum possible
    // dip, 1 / 2n, as zero.
    for (values, expected) in [
        (&[1.0, 2.0, 3.0, 4.0][..], 0.125),
        (&[1.0, 2.0, 3.0, 10.0, 11.0, 12.0], 0.194_444_444_444_444_45),
        (&[1.0, 1.1, 1.2, 1.3, 5.0, 5.1, 5.2, 5.3], 0.231_25),
        (&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], 0.071_428_571_428_571_42),
        (&[0.0, 0.01, 0.02, 0.5, 0.98, 0.99, 1.0], 0.208_454_810_495_626_8),
        (&[1.0, 5.0, 5.1, 5.2, 5.3, 5.4, 9.0], 0.071_428_571_428_571_7),
    ] {
        assert!((dip(values) - expected).abs() < 1e-12, "{values:?}: {}", dip(values));
    }
}

fn count_multimodal(n: usize, trials: u32, mut draw: impl FnMut(&mut Random) -> f64) -> u32 {
    let mut random = Random::new(31);
    let trial = |_| {
        let mut values: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
        values.sort_by(f64::total_cmp);
        u32::from(find_modes(&values, n as f64).is_some())
    };
    (0..trials).map(trial).sum()
}

#[test]
fn unimodal_samples_are_rarely_multimodal() {
    for n in [10, 33, 100, 300] {
        // Limits for 1,000 trials; they include a margin of ten for chance.
        assert!(count_multimodal(n, 1000, Random::uniform) <= 65, "uniform {n}");
        assert!(count_multimodal(n, 1000, Random::normal) <= 15, "normal {n}");
        assert!(count_multimodal(n, 1000, |s| (0.5 * s.normal()).exp()) <= 15, "lognormal {n}");
        assert!(count_multimodal(n, 1000, |s| s.normal().exp()) <= 15, "very skewed {n}");
        assert!(count_multimodal(n, 1000, |s| -s.uniform().ln()) <= 15, "exponential {n}");
        // A clock with a resolution of about five steps.
        assert!(count_multimodal(n, 300, |s| (s.normal() * 1.2).round()) <= 6, "coarse {n}");
    }
}

#[test]
fn finds_two_clear_modes() {
    // Two peaks, `widths` peak widths apart, and the minimum share of 200 samples in which they are
    // found.
    for (n, widths, share_low, min_share) in
        [(33, 4.0, 0.5, 0.8), (33, 4.0, 0.4, 0.8), (100, 3.0, 0.4, 0.95), (100, 1.7, 0.5, 0.75)]
    {
        let share = ModalShape::Peaks { widths, share_low }.multimodal_share(n, 200, 31);
        assert!(share >= min_share, "{n}, {widths}, {share_low}: {share}");
    }
}

#[test]
fn few_values_have_no_modes() {
    assert_eq!(find_modes(&[1.0, 2.0], 2.0), None);
    assert_eq!(find_modes(&[1.0, 1.1, 1.2, 1.3, 5.0, 5.1, 5.2, 5.3, 5.4], 9.0), None);
}

#[test]
fn reports_mode_groups() {
    let mut values = vec![10.0; 12];
    values.extend((0..12).map(|i| 10.0 + f64::from(i) * 0.01));
    values.extend((0..12).map(|i| 14.0 + f64::from(i) * 0.01));
    values.sort_by(f64::total_cmp);
    let modes = find_modes(&values, 36.0).unwrap();
    assert!((modes.share_low - 24.0 / 36.0).abs() < 1e-12, "{modes:?}");
    assert!(modes.low < 10.2 && modes.high > 13.9, "{modes:?}");
    assert_eq!(find_modes(&values, 4.0), None, "worth too little");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn find_modes_does_not_panic(values in prop::collection::vec(any::<f64>(), 0..60), n in any::<f64>()) {
        let _ = find_modes(&values, n);
    }

    #[test]
    fn dip_stays_within_bounds(mut values in prop::collection::vec(-1e6_f64..1e6, 1..60)) {
        values.sort_by(f64::total_cmp);
        let dip = dip(&values);
        let minimum = 0.5 / values.len() as f64;
        prop_assert!(dip >= minimum * 0.999 && dip <= 0.25_f64.max(minimum) * 1.001, "{}", dip);
    }
}

#[test]
fn outlier_is_not_a_group() {
    let values_near = |centre: f64| (0..20).map(move |step| centre + f64::from(step) * 0.001);
    let values: Vec<f64> = values_near(1.0).chain(values_near(1.2)).chain([9.0]).collect();
    let modes = find_modes(&values, 41.0).unwrap();
    assert!(modes.low < 1.1 && modes.high < 1.3, "{modes:?}");
}
