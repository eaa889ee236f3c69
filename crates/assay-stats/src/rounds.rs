//! Steady state (SNIA): decides whether the last rounds still differ.
//!
//! Does not define a round or its duration. The live run and the summary use the same function,
//! [`SteadyState::from_rates`].

use assay_model::attribute::{Attribute, Attributes};
use assay_model::doubt::{Doubt, SteadyWindow};
use assay_model::workload::measurement_mode::SteadyRule;

use crate::rate_search::student_quantile;

/// Steady-state test over the rounds so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// Number of rounds.
    pub rounds: usize,
    /// The last rounds, if there are enough.
    pub window: Option<RoundWindow>,
    /// Rule that is tested.
    pub rule: SteadyRule,
}

impl SteadyState {
    /// Creates the test from the rate of every round, in order.
    pub fn from_rates(rates: &[f64], rule: &SteadyRule) -> Self {
        Self { rounds: rates.len(), window: RoundWindow::last(rates, rule), rule: *rule }
    }

    /// Returns whether a steady state is reached.
    pub fn is_reached(&self) -> bool {
        self.window.is_some_and(|window| window.is_steady(&self.rule))
    }

    /// Returns whether no further round follows.
    pub fn is_finished(&self) -> bool {
        self.is_reached() || self.rounds >= self.rule.most_rounds as usize
    }

    /// Returns the facts that are added to every result of the case.
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

    /// Returns the doubt `steady-state-not-reached` unless it is reached.
    pub fn doubt(&self) -> Option<Doubt> {
        let window = self.window.map(|it| SteadyWindow {
            rounds: self.rule.window,
            range: it.range,
            slope: it.slope,
            drift: it.drift,
        });
        (!self.is_reached()).then_some(Doubt::SteadyStateNotReached {
            rounds: self.rounds,
            window,
            range: self.rule.range,
            slope: self.rule.slope,
        })
    }
}

/// Window over the last few rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundWindow {
    /// Mean rate.
    pub mean: f64,
    /// Maximum minus minimum rate over the mean.
    pub range: f64,
    /// Change of the least-squares line from the first round to the last, over the mean; negative
    /// where it falls.
    pub slope: f64,
    /// Change by a lasting trend, likewise; `None` without one. See [`drift`].
    pub drift: Option<f64>,
}

impl RoundWindow {
    /// Returns the window over the last `rule.window` rates; `None` with fewer, or if their mean is
    /// not above 0.
    ///
    /// Slope = (n − 1) × Σ(i − ī)(xᵢ − x̄) / Σ(i − ī)², over x̄.
    pub fn last(rates: &[f64], rule: &SteadyRule) -> Option<Self> {
        let n = rule.window as usize;
        let last = rates.get(rates.len().checked_sub(n)?..).filter(|_| n > 1)?;
        let mean = last.iter().sum::<f64>() / n as f64;
        if !(mean.is_finite() && mean > 0.0) {
            return None;
        }
        let slope = (n as f64 - 1.0) * RegressionLine::fit(last).slope / mean;
        Some(Self { mean, range: relative_range(last), slope, drift: drift(rates, rule) })
    }

    /// Returns whether the rule is met.
    pub fn is_steady(&self, rule: &SteadyRule) -> bool {
        self.range <= rule.range && self.slope.abs() <= rule.slope && self.drift.is_none()
    }
}

/// Change over a window, over the mean, below which a trend does not matter.
const MIN_DRIFT: f64 = 0.02;

/// Returns the change by a lasting trend, over a window and over the mean; `None` without one.
/// SNIA's rule alone accepts a rate that falls by 2 % per round for ever, because that is only 8 %
/// over five rounds.
///
/// A line is fitted to the last rounds, from one window to two, as far back as they keep the
/// allowed range. Its slope b has the standard error s / √Σ(i − ī)², s² = Σ residual² / (n − 2); it
/// is a trend if |b| exceeds the error times the 95 % quantile of Student's t with n − 2 degrees of
/// freedom, and if it changes the rate by more than 2 % over a window.
fn drift(rates: &[f64], rule: &SteadyRule) -> Option<f64> {
    let n = rule.window as usize;
    let reach = (n..=2 * n).rev().filter_map(|k| rates.get(rates.len().checked_sub(k)?..));
    let last = reach.into_iter().find(|last| relative_range(last) <= rule.range)?;
    let line = RegressionLine::fit(last);
    let drift = (n as f64 - 1.0) * line.slope / line.mean;
    let is_trend = line.slope.abs() > student_quantile(last.len() as f64 - 2.0) * line.error;
    (drift.abs() > MIN_DRIFT && is_trend).then_some(drift)
}

/// Returns maximum minus minimum, over the mean.
fn relative_range(rates: &[f64]) -> f64 {
    let minimum = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (most - minimum) * rates.len() as f64 / rates.iter().sum::<f64>()
}

/// Least-squares line through the rates of successive rounds.
struct RegressionLine {
    mean: f64,
    slope: f64,
    /// Standard error of the slope.
    error: f64,
}

impl RegressionLine {
    fn fit(rates: &[f64]) -> Self {
        let n = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / n;
        let middle = (n - 1.0) / 2.0;
        let away = |index: usize| index as f64 - middle;
        let square: f64 = (0..rates.len()).map(|index| away(index).powi(2)).sum();
        let product = rates.iter().enumerate().map(|(i, rate)| away(i) * (rate - mean));
        let slope = product.sum::<f64>() / square;
        let left = |(i, rate): (usize, &f64)| (rate - mean - slope * away(i)).powi(2);
        let residual = rates.iter().enumerate().map(left).sum::<f64>() / (n - 2.0);
        Self { mean, slope, error: (residual / square).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Checks the number of rounds after which a series is steady, with range and slope in percent.
    fn check(rates: &[f64], expected: Option<(usize, f64, f64)>) {
        let rule = &SteadyRule::SNIA;
        let windows =
            (1..=rates.len()).filter_map(|n| Some((n, RoundWindow::last(&rates[..n], rule)?)));
        let found = windows.into_iter().find(|(_, window)| window.is_steady(rule));
        let found = found
            .map(|(n, it)| (n, (it.range * 1e4).round() / 1e2, (it.slope * 1e4).round() / 1e2));
        assert_eq!(found, expected, "{rates:?}");
    }

    #[test]
    fn steady_state_follows_definition() {
        // A fresh device: its rate falls until garbage collection is continuous.
        let fresh = [900.0, 700.0, 500.0, 420.0, 400.0, 398.0, 402.0, 401.0, 399.0];
        check(&fresh, Some((8, 5.44, -3.56)));
        check(&[100.0; 5], Some((5, 0.0, 0.0)));
        check(&[100.0; 4], None);
        // Range only: one round of five is 21 % lower, in the middle, so that the slope is 0.
        check(&[105.0, 105.0, 83.0, 105.0, 105.0], None);
        check(&[105.0, 105.0, 86.0, 105.0, 105.0], Some((5, 18.77, 0.0)));
        // Slope only: 11 % from the first to the last.
        check(&[94.5, 97.25, 100.0, 102.75, 105.5], None);
        check(&[95.5, 103.0, 96.0, 104.0, 101.5], Some((5, 8.5, 5.2)));
        // Within 10 %, but with a lasting trend.
        check(&[104.5, 102.25, 100.0, 97.75, 95.5], None);
        // It falls for ever.
        check(&(0..25).map(|n| 1000.0 * 0.9_f64.powi(n)).collect::<Vec<_>>(), None);
        check(&[0.0; 9], None);
        check(&[f64::NAN; 9], None);
        check(&[], None);
    }

    /// Counts how many of 1000 series reach a steady state within SNIA's rounds.
    fn count_steady(rate: impl Fn(i32) -> f64, noise: f64) -> usize {
        let mut source = Random::new(17);
        let mut steady = |_: &u32| {
            let rates: Vec<f64> =
                (0..25).map(|n| rate(n) * (1.0 + noise * source.normal())).collect();
            (1..=25)
                .any(|n| SteadyState::from_rates(&rates[..n], &SteadyRule::SNIA).is_reached())
        };
        (0..1000).filter(|nth| steady(nth)).count()
    }

    #[test]
    fn lasting_trend_is_never_steady_and_noise_is() {
        let falling = |n: i32| 1000.0 * 0.98_f64.powi(n);
        assert_eq!(count_steady(falling, 0.0), 0);
        assert!(count_steady(falling, 0.005) <= 20, "{}", count_steady(falling, 0.005));
        assert!(count_steady(|n| 1000.0 * 1.02_f64.powi(n), 0.005) <= 20);
        for noise in [0.0, 0.005, 0.02, 0.04] {
            assert!(count_steady(|_| 1000.0, noise) >= 990, "{noise}");
        }
    }

    #[test]
    fn finishes_when_steady_or_out_of_rounds() {
        let rule = SteadyRule { most_rounds: 7, ..SteadyRule::SNIA };
        let falling: Vec<f64> = (0..7).map(|n| 1000.0 * 0.9_f64.powi(n)).collect();
        let facts = |rates: &[f64]| {
            let it = SteadyState::from_rates(rates, &rule);
            (it.is_reached(), it.is_finished(), it.doubt().is_some(), it.facts().len())
        };
        assert_eq!(facts(&[]), (false, false, true, 2));
        assert_eq!(facts(&[5.0; 5]), (true, true, false, 4));
        assert_eq!(facts(&falling[..6]), (false, false, true, 4));
        assert_eq!(facts(&falling), (false, true, true, 4));
    }
}
