//! Ratio of assay to a peer: the ratio of medians, its interval, and whether a target is reached.

use assay_stats::quantile;

/// Confidence level of all intervals here.
pub(crate) const LEVEL: f64 = 0.95;

/// Assay's values over the peer's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PeerRatio {
    /// Median of assay's values over that of the peer's; with neighbouring values, the median of
    /// their quotients.
    pub estimate: f64,
    /// Interval of the ratio within one turn; `None` with too few turns.
    pub interval: Option<(f64, f64)>,
}

/// Returns the median of unsorted values; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    quantile::median(&sorted(values))
}

/// Returns the interval of the median; `None` with too few values.
pub(crate) fn median_interval(values: &[f64]) -> Option<(f64, f64)> {
    quantile::median_interval(&sorted(values), LEVEL)
}

impl PeerRatio {
    /// Compares values that were measured in the same turns. A turn's two values are neighbours in
    /// time, so their quotient is free of the machine's slow drift. The interval is that of the
    /// median of these quotients, from order statistics, and assumes nothing about their
    /// distribution.
    pub(crate) fn from_turns(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        let quotients: Vec<f64> = ours.iter().zip(theirs).map(|(o, t)| o / t).collect();
        Some(Self {
            estimate: median(ours)? / median(theirs)?,
            interval: median_interval(&quotients),
        })
    }

    /// Compares values so close in time that the median of the neighbours' quotients is more
    /// precise than the quotient of the medians.
    pub(crate) fn from_neighbours(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        let quotients: Vec<f64> = ours.iter().zip(theirs).map(|(o, t)| o / t).collect();
        Some(Self { estimate: median(&quotients)?, interval: median_interval(&quotients) })
    }

    /// Compares values that were not measured alternately. The interval combines those of the two
    /// medians, each with half the error rate (Bonferroni): from the lower end of assay's over the
    /// upper end of the peer's to the reverse. It is conservative: wider than necessary, never too
    /// narrow.
    pub(crate) fn from_independent(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        let level = f64::midpoint(LEVEL, 1.0);
        let ends = |values: &[f64]| quantile::median_interval(&sorted(values), level);
        let interval = match (ends(ours), ends(theirs)) {
            (Some((our_low, our_high)), Some((their_low, their_high))) => {
                Some((our_low / their_high, our_high / their_low))
            }
            _ => None,
        };
        Some(Self { estimate: median(ours)? / median(theirs)?, interval })
    }

    /// Returns whether the ratio is at least `target`; undecided if the interval contains it.
    pub(crate) fn verdict(&self, target: f64) -> &'static str {
        match (self.estimate >= target, self.interval) {
            (true, None) => "reached, without an interval",
            (false, None) => "missed, without an interval",
            (true, Some((low, _))) if low >= target => "reached",
            (false, Some((_, high))) if high < target => "missed",
            (true, Some(_)) => "undecided, the median reaches it",
            (false, Some(_)) => "undecided, the median misses it",
        }
    }

    /// Returns whether the ratio is within these limits; undecided if the interval contains one of
    /// them.
    pub(crate) fn agreement(&self, (lowest, highest): (f64, f64)) -> &'static str {
        match self.interval {
            Some((low, high)) if lowest <= low && high <= highest => "alike",
            Some((low, high)) if high < lowest || highest < low => "apart",
            _ if (lowest..=highest).contains(&self.estimate) => {
                "undecided, the median is alike"
            }
            _ => "undecided, the median is apart",
        }
    }

    /// Formats the interval as `0.987…1.012`; a dash without one.
    pub(crate) fn format_interval(&self) -> String {
        self.interval.map_or("–".into(), |(low, high)| format!("{low:.3}…{high:.3}"))
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_drift_does_not_widen_the_interval() {
        let theirs: Vec<f64> = (1..=10).map(f64::from).collect();
        let ours: Vec<f64> = theirs.iter().map(|value| value * 1.1).collect();
        let ratio = PeerRatio::from_turns(&ours, &theirs).unwrap();
        let (low, high) = ratio.interval.unwrap();
        for value in [ratio.estimate, low, high] {
            assert!((value - 1.1).abs() < 1e-12, "{ratio:?}");
        }
    }

    #[test]
    fn neighbours_cancel_changes_of_host_speed() {
        let theirs = [1.0, 1.0, 3.0, 3.0, 3.0, 1.0, 1.0];
        // Most of assay's values are from the fast periods: the quotient of the medians would be a
        // third.
        let ours = [1.02, 1.02, 1.0, 3.06, 3.06, 1.02, 1.02];
        let ratio = PeerRatio::from_neighbours(&ours, &theirs).unwrap();
        assert!((ratio.estimate - 1.02).abs() < 1e-12, "{ratio:?}");
        assert_eq!(PeerRatio::from_neighbours(&[], &[]), None);
    }

    #[test]
    fn independent_values_have_the_wider_interval() {
        let theirs: Vec<f64> = (100..=110).map(f64::from).collect();
        let ours: Vec<f64> = theirs.iter().map(|value| value * 1.1).collect();
        let (low, high) =
            PeerRatio::from_independent(&ours, &theirs).unwrap().interval.unwrap();
        assert!(low < 1.1 && high > 1.1, "{low} {high}");
        assert_eq!(PeerRatio::from_independent(&ours, &[1.0; 6]).unwrap().interval, None);
    }

    #[test]
    fn verdict_depends_on_the_interval() {
        for (of_medians, interval, expected) in [
            (1.02, Some((1.0, 1.1)), "reached"),
            (1.02, Some((0.9, 1.1)), "undecided, the median reaches it"),
            (1.02, None, "reached, without an interval"),
            (0.98, None, "missed, without an interval"),
            (0.95, Some((0.9, 0.98)), "missed"),
            (0.95, Some((0.9, 1.1)), "undecided, the median misses it"),
        ] {
            let ratio = PeerRatio { estimate: of_medians, interval };
            assert_eq!(ratio.verdict(0.99), expected, "{ratio:?}");
        }
    }

    #[test]
    fn agreement_checks_both_limits() {
        for (of_medians, interval, expected) in [
            (1.0, Some((0.95, 1.05)), "alike"),
            (0.8, Some((0.7, 0.89)), "apart"),
            (1.3, Some((1.2, 1.4)), "apart"),
            (1.0, Some((0.8, 1.05)), "undecided, the median is alike"),
            (1.2, Some((1.0, 1.3)), "undecided, the median is apart"),
            (1.0, None, "undecided, the median is alike"),
        ] {
            let ratio = PeerRatio { estimate: of_medians, interval };
            assert_eq!(ratio.agreement((0.9, 1.1)), expected, "{ratio:?}");
        }
    }

    #[test]
    fn no_ratio_without_values() {
        assert_eq!(PeerRatio::from_turns(&[], &[]), None);
        assert_eq!(PeerRatio::from_turns(&[1.0; 5], &[1.0; 5]).unwrap().interval, None);
        assert!(PeerRatio::from_turns(&[1.0; 6], &[1.0; 6]).unwrap().interval.is_some());
    }
}
