//! Ratios of rare events to occasions, pooled over all stretches, with Wilson's interval.

use assay_model::event::EventCount;

/// 97.5 % quantile of the normal distribution, for a two-sided interval of 95 %.
const Z: f64 = 1.959_964;
/// Minimum number of stretches for an estimate of the variance between them.
pub(crate) const MIN_STRETCHES: usize = 4;

/// Pooled counts of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledRatio {
    /// Σ part / Σ whole.
    pub share: f64,
    /// Σ whole: number of occasions, each of which counts as a sample.
    pub whole: u64,
    /// Number of effective occasions.
    pub n_effective: f64,
    /// Interval of the share at 95 %.
    pub interval: (f64, f64),
    /// Minimum share of a stretch.
    pub min: f64,
    /// Maximum share of a stretch.
    pub max: f64,
}

impl PooledRatio {
    /// Pools the counts of all stretches; `None` without any occasion.
    ///
    /// The interval is Wilson's for `n_effective` occasions. Events come in bursts, so n occasions
    /// are worth n / D: D is the variance of the share over the stretches, k/(k − 1) Σ (partᵢ − p
    /// wholeᵢ)² / n² (Cochran, Sampling Techniques, 6.8), over that of independent occasions, p (1
    /// − p) / n, and at least 1 (Kish's design effect; in Wilson's interval after Dean and Pagano,
    /// Journal of Survey Statistics and Methodology 3:484, 2015). Below four stretches, or without
    /// any event, D is 1.
    pub fn from_counts(counts: &[EventCount]) -> Option<Self> {
        let nonempty: Vec<EventCount> =
            counts.iter().copied().filter(|it| it.whole > 0).collect();
        let whole = nonempty.iter().fold(0_u64, |sum, it| sum.saturating_add(it.whole));
        let part = nonempty.iter().fold(0_u64, |sum, it| sum.saturating_add(it.part));
        let shares = nonempty.iter().map(|it| it.part as f64 / it.whole as f64);
        let min = shares.clone().reduce(f64::min)?;
        let max = shares.reduce(f64::max)?;
        let share = part as f64 / whole as f64;
        let parts: Vec<[f64; 2]> =
            nonempty.iter().map(|it| [it.part as f64, it.whole as f64]).collect();
        let n_effective = whole as f64 / design_effect(&parts, share, whole as f64);
        let interval = wilson(share, n_effective);
        Some(Self { share, whole, n_effective, interval, min, max })
    }
}

/// Returns the design effect D of stretches, each given as its events and its occasions.
pub(crate) fn design_effect(counts: &[[f64; 2]], share: f64, whole: f64) -> f64 {
    let independent = share * (1.0 - share) * whole;
    if counts.len() < MIN_STRETCHES || independent <= 0.0 {
        return 1.0;
    }
    let k = counts.len() as f64;
    let squared_deviation =
        |[events, occasions]: &[f64; 2]| (events - share * occasions).powi(2);
    let squares: f64 = counts.iter().map(squared_deviation).sum();
    // Never fewer than one effective occasion.
    (k / (k - 1.0) * squares / independent).clamp(1.0, whole)
}

/// Returns the interval at 95 % of a share p of n independent occasions, n > 0: (p + z²/2n ± z √(p
/// (1 − p)/n + z²/4n²)) / (1 + z²/n), within 0 … 1.
///
/// Wilson, Journal of the American Statistical Association 22:209, 1927. It is valid for shares
/// near and at 0, where p ± z √(p (1 − p)/n) is empty.
pub fn wilson(share: f64, n: f64) -> (f64, f64) {
    let z2 = Z * Z;
    let scale = 1.0 + z2 / n;
    let centre = (share + z2 / (2.0 * n)) / scale;
    let half_width =
        Z * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).max(0.0).sqrt() / scale;
    // Rounding must not carry an end past the share.
    ((centre - half_width).max(0.0).min(share), (centre + half_width).min(1.0).max(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Newcombe, Statistics in Medicine 17:857, 1998, table I, method 3, prints four decimals.
    #[test]
    fn wilson_matches_published_table() {
        for (part, whole, low, high) in [
            (81.0, 263.0, 0.2553, 0.3662),
            (15.0, 148.0, 0.0624, 0.1605),
            (0.0, 20.0, 0.0000, 0.1611),
            (1.0, 29.0, 0.0061, 0.1718),
        ] {
            let interval = wilson(part / whole, whole);
            let is_same = (interval.0 - low).abs() < 5e-5 && (interval.1 - high).abs() < 5e-5;
            assert!(is_same, "{part} of {whole}: {interval:?}");
        }
        let (low, high) = wilson(1.0, 20.0);
        assert!((low - 0.8389).abs() < 5e-5 && (high - 1.0).abs() < 1e-12, "{low} {high}");
    }

    fn check(counts: &[(u64, u64)], expected: Option<(f64, u64, f64, f64, f64)>) {
        let event_count =
            |(part, whole): &(u64, u64)| EventCount { part: *part, whole: *whole };
        let pooled =
            PooledRatio::from_counts(&counts.iter().map(event_count).collect::<Vec<_>>());
        let pooled =
            pooled.map(|it| (it.share, it.whole, it.n_effective.round(), it.min, it.max));
        assert_eq!(pooled, expected, "{counts:?}");
    }

    #[test]
    fn counts_are_pooled_before_division() {
        check(&[], None);
        check(&[(0, 0), (0, 0)], None);
        // The mean of the two shares would be 0.255.
        check(&[(1, 100), (1, 2)], Some((2.0 / 102.0, 102, 102.0, 0.01, 0.5)));
        check(&[(0, 1000), (0, 0)], Some((0.0, 1000, 1000.0, 0.0, 0.0)));
        check(&[(2, 100); 5], Some((0.02, 500, 500.0, 0.02, 0.02)));
        check(&[(u64::MAX, u64::MAX); 2], Some((1.0, u64::MAX, u64::MAX as f64, 1.0, 1.0)));
    }

    #[test]
    fn burst_reduces_effective_size() {
        // All 50 in one of five stretches: D = 5/4 × (40² + 4 × 10²) / (500 × 0.1 × 0.9).
        let burst = [(50, 100), (0, 100), (0, 100), (0, 100), (0, 100)];
        check(&burst, Some((0.1, 500, 9.0, 0.0, 0.5)));
    }
}
