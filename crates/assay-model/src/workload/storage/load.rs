//! Start times of I/O: closed loops, and open ones with a rate.

use serde::{Deserialize, Serialize};

/// Load: the start times of I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum StorageLoad {
    /// Closed loop: as many I/O in flight as the streams allow.
    Closed,
    /// Closed loop in which no stream exceeds its share of the I/O: the slowest sets the pace.
    Balanced,
    /// Open loop: at times fixed in advance, independent of completions.
    Open {
        /// IO/s of all streams together.
        rate_per_s: f64,
        /// Arrival process.
        arrivals: ArrivalProcess,
    },
    /// Closed loop with a maximum bandwidth.
    Capped {
        /// Maximum B/s of all streams together.
        bytes_per_s: f64,
    },
    /// Open loop at a share of the rate of an earlier phase.
    ShareOf {
        /// Index of the phase in the plan.
        phase: usize,
        /// Percent of its rate.
        percent: f64,
        /// Rounding of the product, which depends on the tool's language.
        rounding: RateRounding,
        /// Arrival process.
        arrivals: ArrivalProcess,
    },
}

/// Arrival process: distribution of the gaps, with the mean 1 / rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalProcess {
    /// Exponential gaps: independent users.
    Exponential,
    /// Uniformly distributed between 0 and twice the mean.
    Uniform,
    /// Equal gaps.
    Constant,
}

/// Rounding of a share of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateRounding {
    /// No rounding.
    Exact,
    /// Vdbench's rounding of curve points: up to tens, above 1000 up to hundreds.
    Vdbench,
}

impl StorageLoad {
    /// Returns the requested I/O per second.
    pub const fn rate_per_s(&self) -> Option<f64> {
        match *self {
            Self::Open { rate_per_s, .. } => Some(rate_per_s),
            Self::Closed | Self::Balanced | Self::Capped { .. } | Self::ShareOf { .. } => None,
        }
    }
}

impl RateRounding {
    /// Returns `percent` of the reached rate, in IO/s.
    ///
    /// Vdbench: ⌊round(reached) × percent / 100⌋, then up to a multiple of 100 above 1000 and of 10
    /// otherwise (all 45 points of three published curves).
    pub fn round_share(self, reached_per_s: f64, percent: f64) -> f64 {
        match self {
            Self::Exact => reached_per_s * percent / 100.0,
            Self::Vdbench => {
                let target = (reached_per_s.round() * percent / 100.0).floor();
                let step = if target > 1000.0 { 100.0 } else { 10.0 };
                (target / step).ceil() * step
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_shares_like_published_curves() {
        let curve = [1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 75];
        let expected =
            [10, 50, 100, 140, 190, 230, 280, 320, 370, 420, 460, 510, 550, 650, 690];
        let large = [(10, 2100), (50, 10_300), (70, 14_400), (80, 16_500), (100, 20_600)];
        let small = curve.into_iter().zip(expected).map(|(p, rate)| (916.12, p, rate));
        for (reached, percent, rate) in
            small.chain(large.into_iter().map(|(p, rate)| (20_554.5, p, rate)))
        {
            let found = RateRounding::Vdbench.round_share(reached, f64::from(percent));
            assert_eq!(found.round() as i64, rate, "{percent} % of {reached}");
        }
        assert!((RateRounding::Exact.round_share(916.12, 50.0) - 458.06).abs() < 1e-9);
    }
}
