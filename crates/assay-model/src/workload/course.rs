//! How often a storage test is measured: once, in rounds until steady state, or at one rate after another
//! until the maximum that meets a latency goal is known.
//!
//! Only the rules; they are applied by the statistics.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::quantity::{Quantity, Unit};

/// How often a test is measured.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Course {
    /// Once.
    #[default]
    Once,
    /// Round after round until the rate does not change any more.
    Rounds(SteadyRule),
    /// At one rate after another, to find the maximum that meets a latency goal.
    Search(LatencyGoal),
}

impl Course {
    /// How often a case is measured at most.
    #[must_use]
    pub const fn most_measurements(self) -> u32 {
        match self {
            Self::Once => 1,
            Self::Rounds(rule) => rule.most_rounds,
            // The maximum rate comes before all steps.
            Self::Search(_) => 1 + LatencyGoal::MOST_STEPS,
        }
    }
}

/// Passes over all of a target, written `2x` or `2`.
///
/// # Errors
/// What is wrong, with an example.
pub fn passes(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let number = text.strip_suffix('x').unwrap_or(text).parse::<u32>();
    number
        .ok()
        .filter(|passes| (1..=MOST_PASSES).contains(passes))
        .ok_or_else(|| format!("`{text}` is no number of passes; write it like `2x`"))
}

/// More passes change nothing that twice the capacity has not changed.
const MOST_PASSES: u32 = 100;

/// When rounds have reached a steady state.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyRule {
    /// Neighbouring rounds that are looked at together.
    pub window: u32,
    /// Maximum minus minimum rate of a window, over its mean, at most.
    pub range: f64,
    /// What a straight line through the rates of a window changes from its first round to its last,
    /// over the mean, at most.
    pub slope: f64,
    /// Rounds after which it is given up.
    pub most_rounds: u32,
}

impl SteadyRule {
    /// Seconds of a round there.
    pub const ROUND_S: f64 = 60.0;

    /// SNIA's Solid State Storage Performance Test Specification 2.0.2: five rounds, 20 %, 10 %, and
    /// 25 rounds at most.
    pub const SNIA: Self = Self { window: 5, range: 0.20, slope: 0.10, most_rounds: 25 };
}

/// A latency that most I/O must keep, counted from when it was due.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyGoal {
    /// Percent of the I/O that must keep it: 99 for p99.
    pub percent: f64,
    /// The latency in seconds.
    pub most_s: f64,
}

/// Nobody waits longer for an I/O.
const MOST_LATENCY_S: f64 = 3600.0;

impl LatencyGoal {
    /// Rates that are tried at most: from a quarter of the maximum rate on six tries leave 4 % of the rate
    /// found, one confirms it, and any of these may be tried a second time.
    pub const MOST_STEPS: u32 = 16;

    /// Reads `p99<=1ms`.
    ///
    /// # Errors
    /// What is wrong, with an example.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no goal; write it like `p99<=1ms`");
        let (name, limit) = text.split_once("<=").ok_or_else(wrong)?;
        let name = name.trim();
        let percent = if name == "median" { Some("50") } else { name.strip_prefix('p') };
        let plain = |it: &&str| it.chars().all(|c| c.is_ascii_digit() || c == '.');
        let percent = percent.filter(plain).and_then(|it| it.parse::<f64>().ok());
        let percent = percent.ok_or_else(wrong)?;
        if !(50.0..100.0).contains(&percent) {
            return Err(format!("`{name}` lies outside p50 to p99.99"));
        }
        if limit.trim().ends_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("`{text}` has no unit; write it like `p99<=1ms`"));
        }
        let limit = Quantity::parse(limit.trim(), Unit::Second);
        let most_s = limit.map_err(|error| error.to_string())?.value;
        if most_s > 0.0 && most_s <= MOST_LATENCY_S {
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
    fn passes_are_read() {
        assert_eq!((passes("2x"), passes(" 1x "), passes("2")), (Ok(2), Ok(1), Ok(2)));
        let reported = "`two` is no number of passes; write it like `2x`".to_owned();
        assert_eq!(passes("two"), Err(reported));
        assert!(passes("0x").is_err() && passes("101x").is_err() && passes("-1x").is_err());
    }

    #[test]
    fn goals_are_read() {
        for (text, expected) in [
            ("p99<=1ms", "99 % in 0.001 s: p99 <= 1.000 ms"),
            (" p99.9 <= 250us ", "99.9 % in 0.00025 s: p99.9 <= 250.0 µs"),
            ("median<=2s", "50 % in 2 s: p50 <= 2.000 s"),
            ("p99<1ms", "`p99<1ms` is no goal; write it like `p99<=1ms`"),
            ("99<=1ms", "`99<=1ms` is no goal; write it like `p99<=1ms`"),
            ("pinf<=1ms", "`pinf<=1ms` is no goal; write it like `p99<=1ms`"),
            ("p100<=1ms", "`p100` lies outside p50 to p99.99"),
            ("p10<=1ms", "`p10` lies outside p50 to p99.99"),
            ("p99<=1", "`p99<=1` has no unit; write it like `p99<=1ms`"),
            ("p99<=0ms", "`p99<=0ms`: the latency must be more than zero and at most an hour"),
            (
                "p99<=1e99s",
                "`p99<=1e99s`: the latency must be more than zero and at most an hour",
            ),
            ("", "`` is no goal; write it like `p99<=1ms`"),
        ] {
            check(text, expected);
        }
        assert!(LatencyGoal::parse("p99<=1MiB").is_err());
    }
}
