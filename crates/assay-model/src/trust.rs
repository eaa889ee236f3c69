//! Assessment whether a result is reliable, based on its summary.

use crate::doubt::{Doubt, TrustLevel};
use crate::quantity::Unit;
use crate::summary::{MetricEstimate, RunSummary};

/// Maximum relative half-width of the interval of a sound value.
pub const MAX_RELATIVE_WIDTH: f64 = 0.1;
/// Upper end of the interval of a sound share of 0, such as a loss: it has no relative width.
const MAX_NEAR_ZERO: f64 = 0.01;

/// Reason why a value is not sound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DistrustReason<'s> {
    /// There is only one sample.
    OneSample,
    /// There are too few effective samples for an interval.
    NoInterval,
    /// Half the interval over the value is more than [`MAX_RELATIVE_WIDTH`].
    WideInterval {
        /// Relative half-width.
        width: f64,
    },
    /// A doubt about the value, its host or the whole run.
    Doubted(&'s Doubt),
}

impl<'s> DistrustReason<'s> {
    /// Returns the stable name for scripts: that of the doubt, or one that no doubt has.
    pub fn id(self) -> &'static str {
        match self {
            Self::OneSample => "one-sample",
            Self::NoInterval => "few-samples",
            Self::WideInterval { .. } => "very-wide-interval",
            Self::Doubted(doubt) => doubt.id(),
        }
    }

    /// Returns the level of a value with this reason.
    pub fn level(self) -> TrustLevel {
        match self {
            Self::OneSample | Self::NoInterval | Self::WideInterval { .. } => TrustLevel::Noisy,
            Self::Doubted(doubt) => doubt.row().level,
        }
    }

    /// Returns the most serious reason that the value itself gives; `None` for a sound value.
    pub fn from_estimate(estimate: &'s MetricEstimate) -> Option<Self> {
        let first = |is_it: &dyn Fn(&Doubt) -> bool| {
            estimate.warnings.iter().find(|doubt| is_it(doubt)).map(Self::Doubted)
        };
        let of_level = |level| first(&|doubt| doubt.row().level == level);
        first(&|doubt| matches!(doubt, Doubt::AboveLimit { .. }))
            .or_else(|| of_level(TrustLevel::Suspect))
            .or_else(|| check_interval(estimate))
            .or_else(|| of_level(TrustLevel::Noisy))
    }

    /// Returns the most serious reason of the value, its host and its run.
    pub fn from_run(estimate: &'s MetricEstimate, summary: &'s RunSummary) -> Option<Self> {
        Self::from_doubts(estimate, run_doubts(summary))
    }

    /// Returns the most serious reason of the value and of the doubts about its host and its run.
    pub fn from_doubts(
        estimate: &'s MetricEstimate,
        run_doubts: impl Iterator<Item = &'s Doubt>,
    ) -> Option<Self> {
        let own = Self::from_estimate(estimate);
        let concerns_value = |doubt: &&Doubt| {
            let host = if let Doubt::OnHost { host, .. } = doubt { Some(host) } else { None };
            host.is_none_or(|host| estimate.involves_host(host))
        };
        let common = run_doubts.filter(concerns_value).map(Self::Doubted);
        // The own reason comes first among equals.
        let worse = |first: Self, second: Self| {
            if second.level() > first.level() { second } else { first }
        };
        own.into_iter().chain(common).reduce(worse)
    }

    /// Returns the level of a value with or without a reason.
    pub fn level_of(reason: Option<Self>) -> TrustLevel {
        reason.map_or(TrustLevel::Sound, Self::level)
    }
}

/// Returns the reason in the interval of a value.
fn check_interval<'s>(estimate: &MetricEstimate) -> Option<DistrustReason<'s>> {
    let Some(interval) = estimate.ci else {
        return Some(match estimate.n {
            0 | 1 => DistrustReason::OneSample,
            _ => DistrustReason::NoInterval,
        });
    };
    if estimate.unit == Unit::Ratio && estimate.median == 0.0 && interval[1] <= MAX_NEAR_ZERO {
        return None;
    }
    let width = relative_wider_side(estimate.median, interval).unwrap_or(f64::INFINITY);
    (width > MAX_RELATIVE_WIDTH).then_some(DistrustReason::WideInterval { width })
}

/// Returns the wider side of an interval over the median, which reports print after ±. Returns 0 for an
/// interval without a width, even around a median of 0, and `None` for another one around 0.
pub fn relative_wider_side(median: f64, [low, high]: [f64; 2]) -> Option<f64> {
    let side = (high - median).max(median - low);
    let width = if side == 0.0 { 0.0 } else { side / median.abs() };
    width.is_finite().then_some(width)
}

/// Returns the doubts about the whole run, or one of its hosts, with which values are not sound.
pub fn run_doubts(summary: &RunSummary) -> impl Iterator<Item = &Doubt> {
    summary.warnings.iter().filter(|doubt| lowers_trust(doubt))
}

/// Whether values with a doubt are not sound.
pub fn lowers_trust(doubt: &Doubt) -> bool {
    doubt.row().level > TrustLevel::Sound
}
