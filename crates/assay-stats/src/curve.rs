//! Response curves and their knee: the rate up to which latency stays near that of an idle target.

/// Point of a response curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResponsePoint {
    /// Rate reached, in IO/s.
    pub rate_per_s: f64,
    /// Median latency at that rate, in seconds.
    pub latency_s: f64,
    /// Half the width of the interval of that median, in seconds; 0 without an interval.
    pub uncertainty_s: f64,
}

/// Result of the search for a knee.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Knee {
    /// The curve has a knee.
    At(KneePoint),
    /// The curve has no knee.
    None(NoKnee),
}

/// Knee of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KneePoint {
    /// Maximum rate at which latency is at most [`LATENCY_RISE`] times that of an idle target.
    pub rate_per_s: f64,
    /// Latency at the knee, in seconds.
    pub latency_s: f64,
    /// Interval of the rate, from the ends of the latencies' intervals, in IO/s.
    pub interval: (f64, f64),
    /// Index of the first given point beyond the knee.
    pub beyond: usize,
}

/// Reason why a curve has no knee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoKnee {
    /// Fewer than five points.
    TooFewPoints,
    /// Latency stays near that of an idle target.
    Flat,
    /// Latency rises, but by no more than the uncertainty.
    WithinUncertainty,
    /// The lowest rate is already beyond the knee, so that the idle latency is unknown.
    NoIdle,
    /// Latency falls with the rate by more than a queue can explain: something disturbed the points.
    Erratic,
}

impl NoKnee {
    /// Returns the stored name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooFewPoints => "too-few-points",
            Self::Flat => "flat",
            Self::WithinUncertainty => "within-uncertainty",
            Self::NoIdle => "no-idle",
            Self::Erratic => "erratic",
        }
    }
}

const MIN_POINTS: usize = 5;
/// Latency at the knee over that of an idle target. A queue with one server and random arrivals has
/// its maximum power, rate over latency, where the latency is twice that without a queue
/// (Kleinrock: Power and deterministic rules of thumb for probabilistic problems in computer
/// communications, ICC 1979).
pub const LATENCY_RISE: f64 = 2.0;

/// Returns the knee of a curve whose points are in ascending order of the requested rate.
///
/// It does not depend on which rates were measured: the latency of an idle target is extrapolated
/// linearly in 1 / latency to rate 0, from the two lowest rates, and the knee is where the latency,
/// made monotone by least-squares regression of its logarithm (pool adjacent violators: Ayer et al.
/// 1955), is twice that. Between two points 1 / latency is interpolated linearly in the rate, which
/// it is near any saturation and everywhere in an M/M/1 queue. A rate that falls although more was
/// requested counts as the maximum before.
pub fn find_knee(points: &[ResponsePoint]) -> Knee {
    let usable = |it: &ResponsePoint| it.rate_per_s > 0.0 && it.latency_s > 0.0;
    let finite = |it: &ResponsePoint| it.rate_per_s.is_finite() && it.latency_s.is_finite();
    if points.len() < MIN_POINTS || !points.iter().all(|it| usable(it) && finite(it)) {
        return Knee::None(NoKnee::TooFewPoints);
    }
    if is_erratic(points) {
        return Knee::None(NoKnee::Erratic);
    }
    let rates = running_maximum(points);
    let fit = |sign: f64| {
        // The interval may include 0; the latency is limited to a tenth of its value.
        let moved = |it: &ResponsePoint| {
            (it.latency_s + sign * it.uncertainty_s).max(it.latency_s / 10.0)
        };
        isotonic_fit(&points.iter().map(moved).collect::<Vec<f64>>())
    };
    let [low, middle, high] = [-1.0, 0.0, 1.0].map(fit);
    let [idle_low, idle, idle_high] =
        [&low, &middle, &high].map(|fit| idle_latency(&rates, fit));
    let Some((rate_per_s, beyond)) = crossing(&rates, &middle, LATENCY_RISE * idle) else {
        return Knee::None(NoKnee::Flat);
    };
    if beyond == 0 || LATENCY_RISE * idle <= middle[0] {
        return Knee::None(NoKnee::NoIdle);
    }
    let Some((last_s, most)) = low.last().zip(rates.last()) else {
        return Knee::None(NoKnee::TooFewPoints);
    };
    if *last_s <= LATENCY_RISE * idle_high {
        return Knee::None(NoKnee::WithinUncertainty);
    }
    let from = crossing(&rates, &high, LATENCY_RISE * idle_low).map_or(rate_per_s, |it| it.0);
    let to = crossing(&rates, &low, LATENCY_RISE * idle_high).map_or(*most, |it| it.0);
    let interval = (from.min(rate_per_s), to.max(rate_per_s));
    Knee::At(KneePoint { rate_per_s, latency_s: LATENCY_RISE * idle, interval, beyond })
}

/// Returns the share of the maximum rate, in percent, whose measurement would locate the knee best;
/// `None` where it is known to 5 %. `points` are in ascending order of their shares.
///
/// The gap around the knee is halved. Without a knee it may lie beyond the last point, or before
/// the first.
pub fn next_share(points: &[(f64, ResponsePoint)]) -> Option<f64> {
    let known: Vec<ResponsePoint> = points.iter().map(|(_, point)| *point).collect();
    let share = |at: usize| points.get(at).map(|(percent, _)| *percent);
    let (from, to) = match find_knee(&known) {
        Knee::At(knee) => (share(knee.beyond - 1)?, share(knee.beyond)?),
        Knee::None(NoKnee::NoIdle) => (0.0, share(0)?),
        Knee::None(NoKnee::Erratic) => return None,
        Knee::None(_) => (share(points.len().checked_sub(1)?)?, MAX_PERCENT),
    };
    (to - from > KNEE_RESOLUTION).then(|| f64::midpoint(from, to))
}

/// Resolution of the position of a knee, in percent of the maximum rate.
const KNEE_RESOLUTION: f64 = 5.0;
/// Maximum share of the maximum rate, in percent.
const MAX_PERCENT: f64 = 100.0;

/// Latency of a point over that of a later one, beyond the uncertainty of both, above which the curve cannot have
/// a knee. Latency near rate 0 is up to [`LATENCY_RISE`] times higher where the processor sleeps between requests.
const MAX_FALL: f64 = LATENCY_RISE * LATENCY_RISE;

/// Whether latency falls too far anywhere while the rate rises.
fn is_erratic(points: &[ResponsePoint]) -> bool {
    let mut highest_s: f64 = 0.0;
    points.iter().any(|point| {
        let falls = highest_s > MAX_FALL * (point.latency_s + point.uncertainty_s);
        highest_s = highest_s.max(point.latency_s - point.uncertainty_s);
        falls
    })
}

/// Returns the running maximum of the rates.
fn running_maximum(points: &[ResponsePoint]) -> Vec<f64> {
    let mut maximum = f64::NEG_INFINITY;
    let raised = |point: &ResponsePoint| {
        maximum = maximum.max(point.rate_per_s);
        maximum
    };
    points.iter().map(raised).collect()
}

/// Returns the isotonic fit: neighbours that decrease are replaced by their geometric mean until
/// none does.
fn isotonic_fit(values: &[f64]) -> Vec<f64> {
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for value in values {
        blocks.push((value.ln(), 1));
        while let [.., (before, of_before), (last, of_last)] = blocks[..]
            && before > last
        {
            let both = of_before + of_last;
            let mean = (before * of_before as f64 + last * of_last as f64) / both as f64;
            blocks.truncate(blocks.len() - 2);
            blocks.push((mean, both));
        }
    }
    blocks.iter().flat_map(|(mean, count)| vec![mean.exp(); *count]).collect()
}

/// Returns the latency at rate 0, extrapolated linearly in 1 / latency from the two lowest rates.
/// It is at least half the first latency, because an extrapolation from two noisy points is
/// unbounded.
fn idle_latency(rates: &[f64], fit: &[f64]) -> f64 {
    let (first, second) = (fit[0], fit[1]);
    let step = rates[1] - rates[0];
    if step <= 0.0 {
        return first;
    }
    let inverse = first.recip() + (first.recip() - second.recip()) * rates[0] / step;
    inverse.recip().max(first / 2.0)
}

/// Returns the rate at which a monotone curve crosses `level`, and the index of the first point
/// beyond it; `None` if it does not.
fn crossing(rates: &[f64], fit: &[f64], level: f64) -> Option<(f64, usize)> {
    let beyond = fit.iter().position(|latency| *latency > level)?;
    let Some(before) = beyond.checked_sub(1) else { return Some((rates[0], 0)) };
    let [from, at, to] = [fit[before], level, fit[beyond]].map(f64::recip);
    let part = (from - at) / (from - to);
    Some((rates[before] + part * (rates[beyond] - rates[before]), beyond))
}

#[cfg(test)]
mod tests;
