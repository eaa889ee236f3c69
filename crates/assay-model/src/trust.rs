//! Whether a result can be relied on, from what its summary says of it.

use crate::doubt::Doubt;
use crate::summary::{Estimate, Summary};

/// A half-width of the interval beyond which a value says little: a tenth of it.
pub const WIDEST: f64 = 0.1;

/// Why a value is not to be relied on. A value of a contended machine may be anything, one above its limit is
/// impossible, and one without a usable interval may be luck.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distrust {
    /// It is above its limit.
    AboveLimit,
    /// It is one sample, or worth one.
    OneSample,
    /// There are too few independent samples for an interval.
    NoInterval,
    /// Half the interval over the value is more than [`WIDEST`].
    WideInterval {
        /// How much.
        width: f64,
    },
}

impl Distrust {
    /// The stable name for scripts.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::AboveLimit => "above-limit",
            Self::OneSample => "one-sample",
            Self::NoInterval => "no-interval",
            Self::WideInterval { .. } => "wide-interval",
        }
    }

    /// The worst that can be said of a result; `None` = it can be relied on.
    #[must_use]
    pub fn of(estimate: &Estimate) -> Option<Self> {
        let is_above = |doubt: &Doubt| matches!(doubt, Doubt::AboveLimit { .. });
        if estimate.warnings.iter().any(is_above) {
            return Some(Self::AboveLimit);
        }
        let Some([low, high]) = estimate.ci else {
            return Some(if estimate.n < 2 { Self::OneSample } else { Self::NoInterval });
        };
        let half = (high - estimate.median).max(estimate.median - low);
        // A median of zero whose interval is zero is precise.
        let width = if half == 0.0 { 0.0 } else { half / estimate.median.abs() };
        (width.is_nan() || width > WIDEST).then_some(Self::WideInterval { width })
    }
}

/// What others did to the machine during the whole run, so that all of it is in doubt.
pub fn contention(summary: &Summary) -> impl Iterator<Item = &Doubt> {
    summary.warnings.iter().filter(|doubt| is_contention(doubt))
}

/// Whether a doubt is about what others did to the machine.
#[must_use]
pub fn is_contention(doubt: &Doubt) -> bool {
    let of_host = if let Doubt::OnHost { doubt, .. } = doubt { doubt } else { doubt };
    matches!(
        of_host,
        Doubt::Steal { .. }
            | Doubt::CpuPressure { .. }
            | Doubt::Throttled { .. }
            | Doubt::AnotherAssay
            | Doubt::Paused { .. }
            | Doubt::CpusTaken { .. }
    )
}
