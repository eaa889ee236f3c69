//! Response curves: where latency begins to rise faster than the rate that is requested.

/// One point of a response curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The rate that was reached, in IO/s.
    pub rate_per_s: f64,
    /// The median latency there, in seconds.
    pub latency_s: f64,
    /// Half the width of the interval of that median, in seconds; 0 where there is none.
    pub uncertainty_s: f64,
}

/// Where a curve bends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Knee {
    /// At this point of those given.
    At(usize),
    /// Nowhere.
    None(NoKnee),
}

/// Why a curve has no knee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoKnee {
    /// Fewer than five points.
    TooFewPoints,
    /// Latency does not rise by half from the minimum to the maximum.
    Flat,
    /// The rise is not clearly more than the uncertainty of its ends.
    WithinUncertainty,
    /// Latency rises in step with the rate, or slower.
    NoBend,
}

impl NoKnee {
    /// The stored name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooFewPoints => "too-few-points",
            Self::Flat => "flat",
            Self::WithinUncertainty => "within-uncertainty",
            Self::NoBend => "no-bend",
        }
    }
}

const FEWEST: usize = 5;
/// Minimum ratio of the maximum to the minimum latency: below it any curve would be bent somewhere.
const RISE: f64 = 1.5;
/// Kneedle's S: how many mean steps of the rate the curve must fall off after the knee.
const SENSITIVITY: f64 = 1.0;

/// The knee of a curve whose points are in ascending order of the rate that was requested.
///
/// Rate and latency are scaled to 0 … 1; the knee is the first local maximum of
/// d = rate − latency after which d falls by more than S × the mean step of the rate before it
/// rises above that maximum (Kneedle: Satopää et al., ICDCSW 2011, for convex increasing curves,
/// S = 1). A rate that falls although more was asked for counts as the largest before: the storage
/// is saturated there. Kneedle finds a knee in any noise, so the rise must be large enough first.
#[must_use]
pub fn knee(points: &[CurvePoint]) -> Knee {
    let usable = |it: &CurvePoint| it.rate_per_s.is_finite() && it.latency_s.is_finite();
    if points.len() < FEWEST || !points.iter().all(usable) {
        return Knee::None(NoKnee::TooFewPoints);
    }
    let by_latency = |a: &&CurvePoint, b: &&CurvePoint| a.latency_s.total_cmp(&b.latency_s);
    let (Some(least), Some(most)) =
        (points.iter().min_by(by_latency), points.iter().max_by(by_latency))
    else {
        return Knee::None(NoKnee::TooFewPoints);
    };
    if most.latency_s < RISE * least.latency_s {
        return Knee::None(NoKnee::Flat);
    }
    if most.latency_s - least.latency_s <= most.uncertainty_s + least.uncertainty_s {
        return Knee::None(NoKnee::WithinUncertainty);
    }
    let rates = rising(points);
    let distances = distances(points, &rates, least.latency_s, most.latency_s);
    let Some((distances, step)) = distances else { return Knee::None(NoKnee::NoBend) };
    first_fall(&distances, SENSITIVITY * step).map_or(Knee::None(NoKnee::NoBend), Knee::At)
}

/// The share of the maximum rate that says most about where the curve bends, in percent; `None` where
/// it is known to 5 %. `points` are in ascending order of their shares.
///
/// The wider of the gaps beside the knee is halved. Without a knee it may be beyond the last point.
#[must_use]
pub fn next_share(points: &[(f64, CurvePoint)]) -> Option<f64> {
    let known: Vec<CurvePoint> = points.iter().map(|(_, point)| *point).collect();
    let share = |at: usize| points.get(at).map(|(percent, _)| *percent);
    let gaps = match knee(&known) {
        Knee::At(at) => {
            [(at.checked_sub(1).and_then(share), share(at)), (share(at), share(at + 1))]
        }
        Knee::None(_) => [(share(points.len().checked_sub(1)?), Some(WHOLE)), (None, None)],
    };
    let width = |(from, to): &(f64, f64)| to - from;
    gaps.into_iter()
        .filter_map(|(from, to)| Some((from?, to?)))
        .filter(|gap| width(gap) > RESOLUTION)
        .max_by(|a, b| width(a).total_cmp(&width(b)))
        .map(|(from, to)| f64::midpoint(from, to))
}

/// Percent of the maximum rate to which the place of a knee is looked for.
const RESOLUTION: f64 = 5.0;
/// Percent that the maximum rate is of itself.
const WHOLE: f64 = 100.0;

/// Each rate, or a greater one before it.
fn rising(points: &[CurvePoint]) -> Vec<f64> {
    let mut greatest = f64::NEG_INFINITY;
    let raised = |point: &CurvePoint| {
        greatest = greatest.max(point.rate_per_s);
        greatest
    };
    points.iter().map(raised).collect()
}

/// Scaled rate − scaled latency of every point, and the mean step of the scaled rate.
fn distances(
    points: &[CurvePoint],
    rates: &[f64],
    least_s: f64,
    most_s: f64,
) -> Option<(Vec<f64>, f64)> {
    let (first, last) = (*rates.first()?, *rates.last()?);
    let span = last - first;
    if span <= 0.0 {
        return None;
    }
    let distance = |(point, rate): (&CurvePoint, &f64)| {
        (rate - first) / span - (point.latency_s - least_s) / (most_s - least_s)
    };
    let distances = points.iter().zip(rates).map(distance).collect();
    Some((distances, 1.0 / (rates.len() - 1) as f64))
}

/// The first local maximum above 0 after which the values fall by more than `fall`.
fn first_fall(values: &[f64], fall: f64) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (index, value) in values.iter().enumerate() {
        match best {
            Some(at) if *value < values[at] - fall => return Some(at),
            Some(at) if *value <= values[at] => {}
            _ if *value > 0.0 => best = Some(index),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Vec<CurvePoint> {
        let point = |(rate_per_s, latency_s): &(f64, f64)| CurvePoint {
            rate_per_s: *rate_per_s,
            latency_s: *latency_s,
            uncertainty_s: 0.0,
        };
        points.iter().map(point).collect()
    }

    /// An M/M/1 queue that serves 1000 a second: 1 / (1000 − rate).
    fn queue(percents: &[f64]) -> Vec<CurvePoint> {
        let point = |percent: &f64| (percent * 10.0, 1.0 / (1000.0 - percent * 10.0));
        curve(&percents.iter().map(point).collect::<Vec<_>>())
    }

    #[test]
    fn curves_bend_where_they_do() {
        let tens: Vec<f64> = (1..=9).map(|i| f64::from(i) * 10.0).collect();
        let corner = [(10.0, 1.0), (20.0, 1.0), (30.0, 1.0), (40.0, 1.0), (50.0, 4.0)];
        let saturated = [
            (10.0, 1.0),
            (20.0, 1.1),
            (30.0, 1.2),
            (40.0, 1.4),
            (50.0, 9.0),
            (49.0, 50.0),
            (48.0, 90.0),
        ];
        for (points, expected) in [
            (queue(&tens), Knee::At(6)),
            (curve(&corner), Knee::At(3)),
            (curve(&saturated), Knee::At(4)),
            (queue(&tens[..4]), Knee::None(NoKnee::TooFewPoints)),
            (queue(&[1.0, 5.0, 10.0, 20.0, 30.0]), Knee::None(NoKnee::Flat)),
            (
                curve(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0), (5.0, 5.0)]),
                Knee::None(NoKnee::NoBend),
            ),
            (
                curve(&[(1.0, 1.0), (2.0, 5.0), (3.0, 6.0), (4.0, 7.0), (5.0, 8.0)]),
                Knee::None(NoKnee::NoBend),
            ),
            (curve(&[(5.0, 1.0); 6]), Knee::None(NoKnee::Flat)),
            (curve(&[(f64::NAN, 1.0); 6]), Knee::None(NoKnee::TooFewPoints)),
        ] {
            assert_eq!(knee(&points), expected, "{points:?}");
        }
    }

    /// Shares that are added to a curve, one after another.
    fn added(latency_s: impl Fn(f64) -> f64, first: &[f64]) -> Vec<f64> {
        let point = |percent: f64| {
            let latency_s = latency_s(percent);
            (percent, CurvePoint { rate_per_s: percent, latency_s, uncertainty_s: 0.0 })
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
    fn points_are_added_where_the_curve_bends() {
        let first = [10.0, 30.0, 50.0, 70.0, 90.0];
        // A corner at 60 %: everything is added around it.
        let corner = |percent: f64| 1.0 + 9.0 * (percent - 60.0).max(0.0) / 40.0;
        let shares = added(corner, &first);
        assert!(
            !shares.is_empty() && shares.iter().all(|it| (45.0..75.0).contains(it)),
            "{shares:?}"
        );
        let nearest = shares.iter().map(|it| (it - 60.0).abs()).fold(f64::INFINITY, f64::min);
        assert!(nearest <= 5.0, "{shares:?}");
        // Flat as far as it was looked at: it may bend behind the last point.
        assert_eq!(added(|_| 1.0, &first), [95.0]);
        assert_eq!(added(|_| 1.0, &[10.0, 20.0]), [60.0, 80.0, 90.0, 95.0]);
        assert_eq!(added(|_| 1.0, &[]), [0.0; 0]);
    }

    #[test]
    fn noise_is_no_knee() {
        let mut points = queue(&[10.0, 20.0, 30.0, 40.0, 50.0]);
        for point in &mut points {
            point.uncertainty_s = point.latency_s;
        }
        assert_eq!(knee(&points), Knee::None(NoKnee::WithinUncertainty));
    }
}
