//! Steady state (SNIA): whether the last rounds still differ.
//!
//! Never decides what a round is or how long it lasts. The live run and the summary ask the same
//! function, [`Steady::of`].

use assay_model::attribute::{Attribute, Attributes};
use assay_model::doubt::{Doubt, SteadyWindow};
use assay_model::workload::course::SteadyRule;

/// What the rounds so far amount to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steady {
    /// Rounds that were made.
    pub rounds: usize,
    /// The last of them, where there are enough.
    pub window: Option<Window>,
    /// What they are held against.
    pub rule: SteadyRule,
}

impl Steady {
    /// From the rate of every round, in order.
    #[must_use]
    pub fn of(rates: &[f64], rule: &SteadyRule) -> Self {
        Self { rounds: rates.len(), window: Window::last(rates, rule), rule: *rule }
    }

    /// Whether the last rounds do not differ any more.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        self.window.is_some_and(|window| window.is_steady(&self.rule))
    }

    /// Whether no further round is made.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_reached() || self.rounds >= self.rule.most_rounds as usize
    }

    /// What is reported with every result of the case.
    #[must_use]
    pub fn facts(&self) -> Attributes {
        let mut facts = Attributes::from([
            (Attribute::Steady, self.is_reached().into()),
            (Attribute::Rounds, self.rounds.into()),
        ]);
        if let Some(window) = self.window {
            facts.insert(Attribute::SteadyRange, window.range.into());
            facts.insert(Attribute::SteadySlope, window.slope.into());
        }
        facts
    }

    /// `steady-state-not-reached`, where it is so.
    #[must_use]
    pub fn doubt(&self) -> Option<Doubt> {
        let window = self.window.map(|it| SteadyWindow {
            rounds: self.rule.window,
            range: it.range,
            slope: it.slope,
        });
        (!self.is_reached()).then_some(Doubt::SteadyStateNotReached {
            rounds: self.rounds,
            window,
            range: self.rule.range,
            slope: self.rule.slope,
        })
    }
}

/// The last few rounds together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Mean of their rates.
    pub mean: f64,
    /// Maximum minus minimum rate over the mean.
    pub range: f64,
    /// What the straight line of least squares changes from the first round to the last, over the
    /// mean; below 0 where it falls.
    pub slope: f64,
}

impl Window {
    /// The last `rule.window` of the rates; `None` while there are fewer, or none above 0.
    ///
    /// Slope = (n − 1) × Σ(i − ī)(xᵢ − x̄) / Σ(i − ī)², over x̄.
    #[must_use]
    pub fn last(rates: &[f64], rule: &SteadyRule) -> Option<Self> {
        let n = rule.window as usize;
        let last = rates.get(rates.len().checked_sub(n)?..).filter(|_| n > 1)?;
        let mean = last.iter().sum::<f64>() / n as f64;
        if !(mean.is_finite() && mean > 0.0) {
            return None;
        }
        let least = last.iter().copied().fold(f64::INFINITY, f64::min);
        let most = last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let middle = (n as f64 - 1.0) / 2.0;
        let (mut product, mut square) = (0.0, 0.0);
        for (index, rate) in last.iter().enumerate() {
            let away = index as f64 - middle;
            product += away * (rate - mean);
            square += away * away;
        }
        let slope = (n as f64 - 1.0) * product / square / mean;
        Some(Self { mean, range: (most - least) / mean, slope })
    }

    /// Whether the rule calls it steady.
    #[must_use]
    pub fn is_steady(&self, rule: &SteadyRule) -> bool {
        self.range <= rule.range && self.slope.abs() <= rule.slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The round after which a series is steady, with range and slope in percent.
    fn check(rates: &[f64], expected: Option<(usize, f64, f64)>) {
        let rule = &SteadyRule::SNIA;
        let windows =
            (1..=rates.len()).filter_map(|n| Some((n, Window::last(&rates[..n], rule)?)));
        let found = windows.into_iter().find(|(_, window)| window.is_steady(rule));
        let found = found
            .map(|(n, it)| (n, (it.range * 1e4).round() / 1e2, (it.slope * 1e4).round() / 1e2));
        assert_eq!(found, expected, "{rates:?}");
    }

    #[test]
    fn series_are_steady_when_their_definition_says_so() {
        // A device that is fresh: its rate falls until it collects garbage all the time.
        let fresh = [900.0, 700.0, 500.0, 420.0, 400.0, 398.0, 402.0, 401.0, 399.0];
        check(&fresh, Some((8, 5.44, -3.56)));
        check(&[100.0; 5], Some((5, 0.0, 0.0)));
        check(&[100.0; 4], None);
        // The range alone: one round of five is 21 % lower, in the middle, so that nothing slopes.
        check(&[105.0, 105.0, 83.0, 105.0, 105.0], None);
        check(&[105.0, 105.0, 86.0, 105.0, 105.0], Some((5, 18.77, 0.0)));
        // The slope alone: 11 % from the first to the last.
        check(&[94.5, 97.25, 100.0, 102.75, 105.5], None);
        check(&[95.5, 97.75, 100.0, 102.25, 104.5], Some((5, 9.0, 9.0)));
        check(&[104.5, 102.25, 100.0, 97.75, 95.5], Some((5, 9.0, -9.0)));
        // It falls for ever.
        check(&(0..25).map(|n| 1000.0 * 0.9_f64.powi(n)).collect::<Vec<_>>(), None);
        check(&[0.0; 9], None);
        check(&[f64::NAN; 9], None);
        check(&[], None);
    }

    #[test]
    fn it_is_over_when_it_is_steady_or_given_up() {
        let rule = SteadyRule { most_rounds: 7, ..SteadyRule::SNIA };
        let falling: Vec<f64> = (0..7).map(|n| 1000.0 * 0.9_f64.powi(n)).collect();
        let facts = |rates: &[f64]| {
            let it = Steady::of(rates, &rule);
            (it.is_reached(), it.is_over(), it.doubt().is_some(), it.facts().len())
        };
        assert_eq!(facts(&[]), (false, false, true, 2));
        assert_eq!(facts(&[5.0; 5]), (true, true, false, 4));
        assert_eq!(facts(&falling[..6]), (false, false, true, 4));
        assert_eq!(facts(&falling), (false, true, true, 4));
    }
}
