//! Measurement modes of a storage test: once, in rounds until steady state, or as a search for the
//! maximum rate that meets a latency goal.
//!
//! Defines only the rules; the statistics apply them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::quantity::{Quantity, Unit};

/// Measurement mode of a storage test.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MeasurementMode {
    /// Once.
    #[default]
    Once,
    /// Repeated rounds until the rate is stable.
    Rounds(SteadyRule),
    /// Search over rates for the maximum that meets a latency goal.
    Search(LatencyGoal),
}

impl MeasurementMode {
    /// Returns the maximum number of measurements of a case.
    pub const fn max_measurements(self) -> u32 {
        match self {
            Self::Once => 1,
            Self::Rounds(rule) => rule.most_rounds,
            // The maximum rate is measured before all steps.
            Self::Search(_) => 1 + LatencyGoal::MAX_STEPS,
        }
    }
}

/// Parses passes over a whole target, written `2x` or `2`.
///
/// # Errors
/// A message with the problem and an example.
pub fn parse_passes(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let number = text.strip_suffix('x').unwrap_or(text).parse::<u32>();
    number
        .ok()
        .filter(|passes| (1..=MAX_PASSES).contains(passes))
        .ok_or_else(|| format!("`{text}` is not a number of passes; write it like `2x`"))
}

/// Maximum number of passes; even a few have the full effect.
const MAX_PASSES: u32 = 100;

/// Criterion for the steady state of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyRule {
    /// Number of consecutive rounds in a window.
    pub window: u32,
    /// Maximum of (maximum − minimum rate of a window) / mean.
    pub range: f64,
    /// Maximum change along a straight line through the rates of a window, over the mean.
    pub slope: f64,
    /// Maximum number of rounds.
    pub most_rounds: u32,
}

impl SteadyRule {
    /// Seconds of a round in the SNIA specification.
    pub const ROUND_S: f64 = 60.0;

    /// SNIA's Solid State Storage Performance Test Specification 2.0.2: five rounds, 20 %, 10 %, and
    /// 25 rounds at most.
    pub const SNIA: Self = Self { window: 5, range: 0.20, slope: 0.10, most_rounds: 25 };
}

/// Latency that a share of the I/O must meet, from the intended start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyGoal {
    /// Percent of the I/O that must meet it: 99 for p99.
    pub percent: f64,
    /// The latency in seconds.
    pub most_s: f64,
}

/// Maximum latency of a goal.
const MAX_LATENCY_S: f64 = 3600.0;

impl LatencyGoal {
    /// Maximum number of rates that are tried. Starting at a quarter of the maximum rate, six tries
    /// leave a precision of 4 %, one confirms the result, and any of these may be repeated.
    pub const MAX_STEPS: u32 = 16;

    /// Parses `p99<=1ms`.
    ///
    /// # Errors
    /// A message with the problem and an example.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a latency goal; write it like `p99<=1ms`");
        let (name, limit) = text.split_once("<=").ok_or_else(wrong)?;
        let name = name.trim();
        let percent = if name == "median" { Some("50") } else { name.strip_prefix('p') };
        let plain = |it: &&str| it.chars().all(|c| c.is_ascii_digit() || c == '.');
        let percent = percent.filter(plain).and_then(|it| it.parse::<f64>().ok());
        let percent = percent.ok_or_else(wrong)?;
        if !(50.0..100.0).contains(&percent) {
            return Err(format!("`{name}` is outside p50 to p99.99"));
        }
        if limit.trim().ends_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("`{text}` has no unit; write it like `p99<=1ms`"));
        }
        let limit = Quantity::parse(limit.trim(), Unit::Second);
        let most_s = limit.map_err(|error| error.to_string())?.value;
        if most_s > 0.0 && most_s <= MAX_LATENCY_S {
            Ok(Self { percent, most_s })
        } else {
            Err(format!("`{text}`: the latency must be more than zero and at most an hour"))
        }
    }
}

impl fmt::Display for LatencyGoal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = Quantity::new(self.most_s, Unit::Second);
        write!(f, "p{} <= {most:.4}", self.percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found = match LatencyGoal::parse(text) {
            Ok(goal) => format!("{} % in {} s: {goal}", goal.percent, goal.most_s),
            Err(error) => error,
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn parses_passes() {
        assert_eq!(
            (parse_passes("2x"), parse_passes(" 1x "), parse_passes("2")),
            (Ok(2), Ok(1), Ok(2))
        );
        let reported = "`two` is not a number of passes; write it like `2x`".to_owned();
        assert_eq!(parse_passes("two"), Err(reported));
        assert!(
            parse_passes("0x").is_err()
                && parse_passes("101x").is_err()
                && parse_passes("-1x").is_err()
        );
    }

    #[test]
    fn parses_latency_goals() {
        for (text, expected) in [
            ("p99<=1ms", "99 % in 0.001 s: p99 <= 1.000 ms"),
            (" p99.9 <= 250us ", "99.9 % in 0.00025 s: p99.9 <= 250.0 µs"),
            ("median<=2s", "50 % in 2 s: p50 <= 2.000 s"),
            ("p99<1ms", "`p99<1ms` is not a latency goal; write it like `p99<=1ms`"),
            ("99<=1ms", "`99<=1ms` is not a latency goal; write it like `p99<=1ms`"),
            ("pinf<=1ms", "`pinf<=1ms` is not a latency goal; write it like `p99<=1ms`"),
            ("p100<=1ms", "`p100` is outside p50 to p99.99"),
            ("p10<=1ms", "`p10` is outside p50 to p99.99"),
            ("p99<=1", "`p99<=1` has no unit; write it like `p99<=1ms`"),
            ("p99<=0ms", "`p99<=0ms`: the latency must be more than zero and at most an hour"),
            (
                "p99<=1e99s",
                "`p99<=1e99s`: the latency must be more than zero and at most an hour",
            ),
            ("", "`` is not a latency goal; write it like `p99<=1ms`"),
        ] {
            check(text, expected);
        }
        assert!(LatencyGoal::parse("p99<=1MiB").is_err());
    }
}
