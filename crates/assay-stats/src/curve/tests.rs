//! Knees of queues with known theory, and of noise.

use super::*;
use crate::random::Random;

fn curve(points: &[(f64, f64)]) -> Vec<ResponsePoint> {
    let point = |(rate_per_s, latency_s): &(f64, f64)| ResponsePoint {
        rate_per_s: *rate_per_s,
        latency_s: *latency_s,
        uncertainty_s: 0.0,
    };
    points.iter().map(point).collect()
}

/// Returns a curve at percentages of a capacity of 1000 per second.
fn curve_at(percents: &[f64], latency_s: impl Fn(f64) -> f64) -> Vec<ResponsePoint> {
    let point = |percent: &f64| (percent * 10.0, latency_s(percent / 100.0));
    curve(&percents.iter().map(point).collect::<Vec<_>>())
}

/// Returns the median sojourn time of an M/M/1 queue: exponential with mean 1 / (1000 − rate).
fn exponential_service(load: f64) -> f64 {
    std::f64::consts::LN_2 / (1000.0 - 1000.0 * load)
}

/// Returns the median sojourn time of an M/D/1 queue, simulated by Lindley's recursion.
fn constant_service(load: f64, source: &mut Random) -> f64 {
    let mut wait = 0.0_f64;
    let mut sojourns: Vec<f64> = (0..20_000)
        .map(|_| {
            let sojourn = wait + 1e-3;
            wait = (sojourn + source.uniform().ln() / (1000.0 * load)).max(0.0);
            sojourn
        })
        .collect();
    sojourns.sort_by(f64::total_cmp);
    sojourns[sojourns.len() / 2]
}

fn knee_rate(points: &[ResponsePoint]) -> f64 {
    match find_knee(points) {
        Knee::At(knee) => knee.rate_per_s,
        Knee::None(why) => panic!("{why:?}: {points:?}"),
    }
}

const RANGES: [&[f64]; 4] = [
    &[10.0, 30.0, 50.0, 70.0, 90.0],
    &[5.0, 20.0, 40.0, 60.0, 80.0, 99.0],
    &[10.0, 20.0, 30.0, 40.0, 55.0],
    &[1.0, 48.0, 51.0, 98.0, 99.0],
];

#[test]
fn knee_does_not_depend_on_measured_rates() {
    for range in RANGES {
        // Twice the latency of an idle server at half the load, whatever the range.
        let found = knee_rate(&curve_at(range, exponential_service));
        assert!((found - 500.0).abs() < 1e-6, "{range:?}: {found}");
    }
    // The median sojourn of M/D/1 is two service times where (1 − ρ) e^ρ = 1/2 (Erlang, 1909): at ρ
    // = 0.768. Linear interpolation between points costs up to a tenth where they are few.
    const TRUTH: f64 = 768.0;
    let mut source = Random::new(3);
    let fine: Vec<f64> = (1..=19).map(|i| 5.0 * f64::from(i)).collect();
    let finely =
        knee_rate(&curve_at(&fine, |load| constant_service(load, &mut Random::new(3))));
    assert!((finely / TRUTH - 1.0).abs() < 0.01, "{finely}");
    for range in [RANGES[0], &[20.0, 60.0, 75.0, 85.0, 95.0]] {
        let mut points = curve_at(range, |_| 1.0);
        for point in &mut points {
            point.latency_s = constant_service(point.rate_per_s / 1000.0, &mut source);
        }
        let found = knee_rate(&points);
        assert!((found / TRUTH - 1.0).abs() < 0.1, "{range:?}: {found}");
    }
    // From 70 % of the load on, the latency of an idle server is unknown.
    let late = curve_at(&[70.0, 80.0, 90.0, 95.0, 99.0], exponential_service);
    assert_eq!(find_knee(&late), Knee::None(NoKnee::NoIdle));
    assert_eq!(NoKnee::NoIdle.name(), "no-idle");
}

#[test]
fn knee_of_throttle_is_its_rate() {
    // A token bucket at 600 per second: below it nothing waits, above it the queue grows without
    // bound.
    let throttle = |load: f64| if load <= 0.6 { 1e-3 } else { 1.0 };
    for range in [&[10.0, 30.0, 50.0, 60.0, 61.0, 90.0][..], &[20.0, 58.0, 59.0, 62.0, 80.0]] {
        let found = knee_rate(&curve_at(range, throttle));
        assert!((575.0..=625.0).contains(&found), "{range:?}: {found}");
    }
    // Points beyond the knee reach no higher rate.
    let mut saturated = curve_at(&[10.0, 20.0, 30.0, 60.0, 61.0, 62.0], throttle);
    for point in &mut saturated[4..] {
        point.rate_per_s = 590.0;
    }
    assert!((knee_rate(&saturated) - 600.0).abs() < 1.0);
}

#[test]
fn noise_barely_moves_knee_and_creates_none() {
    let mut source = Random::new(5);
    let mut near = 0;
    for _ in 0..1000 {
        let mut noisy = |load: f64, spread: f64| {
            let truth = if load > 0.0 { exponential_service(load) } else { 1e-3 };
            truth * (spread * source.normal()).exp()
        };
        let points: Vec<(f64, f64)> = RANGES[0]
            .iter()
            .map(|percent| (percent * 10.0, noisy(percent / 100.0, 0.05)))
            .collect();
        near += u32::from((knee_rate(&curve(&points)) / 500.0 - 1.0).abs() < 0.2);
        // Flat, with 10 % of noise.
        let flat: Vec<(f64, f64)> =
            RANGES[0].iter().map(|percent| (percent * 10.0, noisy(0.0, 0.1))).collect();
        assert!(matches!(find_knee(&curve(&flat)), Knee::None(NoKnee::Flat)), "{flat:?}");
    }
    assert!(near >= 950, "{near} of 1000 within 20 %");
    // A single slow point is no knee: latency is low again beyond it.
    let spike = curve_at(&[10.0, 30.0, 50.0, 70.0, 90.0], |load| {
        if (0.4..0.6).contains(&load) { 1.8e-3 } else { 1e-3 }
    });
    assert_eq!(find_knee(&spike), Knee::None(NoKnee::Flat));
}

#[test]
fn interval_contains_knee_unless_uncertainty_hides_it() {
    let mut points = curve_at(RANGES[0], exponential_service);
    for point in &mut points {
        point.uncertainty_s = 0.05 * point.latency_s;
    }
    let Knee::At(found) = find_knee(&points) else { panic!("{points:?}") };
    let (low, high) = found.interval;
    assert!(low < 490.0 && high > 510.0 && low > 300.0 && high < 700.0, "{found:?}");
    for point in &mut points {
        point.uncertainty_s = 0.85 * point.latency_s;
    }
    assert_eq!(find_knee(&points), Knee::None(NoKnee::WithinUncertainty));
    for few in [curve(&[(1.0, 1.0); 4]), curve(&[(f64::NAN, 1.0); 6]), curve(&[(1.0, 0.0); 6])]
    {
        assert_eq!(find_knee(&few), Knee::None(NoKnee::TooFewPoints));
    }
    assert_eq!(find_knee(&curve(&[(5.0, 1.0); 6])), Knee::None(NoKnee::Flat));
}

/// Latencies of a disturbed machine decide nothing, unless their intervals overlap.
#[test]
fn falling_latency_has_no_knee() {
    let disturbed = [54e-3, 3e-3, 236e-3, 0.6e-3, 34e-3, 0.09e-3, 87e-3, 8e-3];
    let falling = [1.97e-3, 0.17e-3, 0.2e-3, 0.3e-3, 1.3e-3];
    for latencies in [&disturbed[..], &falling] {
        let rates = (1..).map(|at| f64::from(at) * 1000.0);
        let mut points = curve(&rates.zip(latencies.iter().copied()).collect::<Vec<_>>());
        assert_eq!(find_knee(&points), Knee::None(NoKnee::Erratic), "{latencies:?}");
        for point in &mut points {
            point.uncertainty_s = point.latency_s;
        }
        assert_ne!(find_knee(&points), Knee::None(NoKnee::Erratic), "{latencies:?}");
    }
}

/// Returns the shares that are added to a curve, one after another.
fn added_shares(latency_s: impl Fn(f64) -> f64, first: &[f64]) -> Vec<f64> {
    let point = |percent: f64| {
        let latency_s = latency_s(percent);
        (percent, ResponsePoint { rate_per_s: percent, latency_s, uncertainty_s: 0.0 })
    };
    let mut points: Vec<_> = first.iter().copied().map(point).collect();
    let mut shares = Vec::new();
    while let Some(share) = next_share(&points) {
        shares.push(share);
        points.push(point(share));
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(shares.len() < 20, "it must end");
    }
    shares
}

#[test]
fn adds_points_near_knee() {
    let first = [10.0, 30.0, 50.0, 70.0, 90.0];
    // Latency starts to rise at 60 % and is twice as high at 64 %.
    let corner = |percent: f64| 1.0 + 10.0 * (percent - 60.0).max(0.0) / 40.0;
    let shares = added_shares(corner, &first);
    assert!(
        !shares.is_empty() && shares.iter().all(|it| (50.0..70.0).contains(it)),
        "{shares:?}"
    );
    let nearest = shares.iter().map(|it| (it - 64.0).abs()).fold(f64::INFINITY, f64::min);
    assert!(nearest <= 5.0, "{shares:?}");
    // Flat over all points: the knee may lie beyond the last one.
    assert_eq!(added_shares(|_| 1.0, &first), [95.0]);
    assert_eq!(added_shares(|_| 1.0, &[10.0, 20.0]), [60.0, 80.0, 90.0, 95.0]);
    assert_eq!(added_shares(|_| 1.0, &[]), [0.0; 0]);
}
