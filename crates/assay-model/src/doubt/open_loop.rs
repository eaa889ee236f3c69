//! Doubts about an open loop whose due operations never started.

use super::Doubt;

/// Share of unstarted I/O above which p99 is only a lower bound.
const NOT_STARTED_SHARE: f64 = 0.01;

impl Doubt {
    /// Returns the doubt about an open loop if too many of its due operations never started. One
    /// may have become due at the very end, so a single one is ignored.
    pub fn not_started(count: u64, due: u64) -> Option<Self> {
        (count > 1 && count as f64 > NOT_STARTED_SHARE * due as f64)
            .then_some(Self::NotStarted { count, due })
    }

    /// Returns the doubt about messages on one connection, whose due number is the requested rate
    /// times the duration.
    pub fn message_rate_missed(
        asked_per_s: f64,
        (answered, left): (u64, u64),
        seconds: f64,
    ) -> Option<Self> {
        Self::not_started(left, answered + left)?;
        Some(Self::MessageRateMissed { asked_per_s, answered, seconds })
    }
}
