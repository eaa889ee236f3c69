//! Assessment whether a result is reliable, based on its summary.

use crate::doubt::Doubt;
use crate::summary::{MetricEstimate, RunSummary};

/// Maximum relative half-width of the interval of a reliable value.
pub const MAX_RELATIVE_WIDTH: f64 = 0.1;

/// Reason why a value is unreliable. Values of a contended machine are arbitrary, values above
/// their limit are impossible, and values without a usable interval may be chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DistrustReason {
    /// The value is above its limit.
    AboveLimit,
    /// There is only one sample, or one effective sample.
    OneSample,
    /// There are too few effective samples for an interval.
    NoInterval,
    /// Half the interval over the value is more than [`MAX_RELATIVE_WIDTH`].
    WideInterval {
        /// Relative half-width.
        width: f64,
    },
}

impl DistrustReason {
    /// Returns the stable name for scripts.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::AboveLimit => "above-limit",
            Self::OneSample => "one-sample",
            Self::NoInterval => "no-interval",
            Self::WideInterval { .. } => "wide-interval",
        }
    }

    /// Returns the most serious reason; `None` for a reliable result.
    #[must_use]
    pub fn from_estimate(estimate: &MetricEstimate) -> Option<Self> {
        let is_above = |doubt: &Doubt| matches!(doubt, Doubt::AboveLimit { .. });
        if estimate.warnings.iter().any(is_above) {
            return Some(Self::AboveLimit);
        }
        let Some([low, high]) = estimate.ci else {
            return Some(if estimate.n < 2 { Self::OneSample } else { Self::NoInterval });
        };
        let half = (high - estimate.median).max(estimate.median - low);
        // A median of zero with an interval of zero is precise.
        let width = if half == 0.0 { 0.0 } else { half / estimate.median.abs() };
        (width.is_nan() || width > MAX_RELATIVE_WIDTH).then_some(Self::WideInterval { width })
    }
}

/// Returns the doubts about the whole run that are due to contention by other processes or guests.
pub fn contention_doubts(summary: &RunSummary) -> impl Iterator<Item = &Doubt> {
    summary.warnings.iter().filter(|doubt| is_contention(doubt))
}

/// Whether a doubt is due to contention by other processes or guests.
#[must_use]
pub fn is_contention(doubt: &Doubt) -> bool {
    let inner = if let Doubt::OnHost { doubt, .. } = doubt { doubt } else { doubt };
    matches!(
        inner,
        Doubt::Steal { .. }
            | Doubt::CpuPressure { .. }
            | Doubt::Throttled { .. }
            | Doubt::AnotherAssay
            | Doubt::Paused { .. }
            | Doubt::CpusTaken { .. }
    )
}
