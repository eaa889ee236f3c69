//! The comparison of two conditions: ratios with their uncertainty, and verdicts. Values only.

use serde::{Deserialize, Serialize};

use crate::attribute::Attributes;
use crate::environment::Aspect;
use crate::summary::Estimate;

/// The version of the machine-readable comparison.
pub const SCHEMA: u32 = 3;

/// The machine-readable comparison of two conditions: what `assay compare --json` prints.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// The first condition, which ratios are relative to.
    pub a: Side,
    /// The second condition.
    pub b: Side,
    /// Runs of the first condition that took turns with its others, to show what the machine does by itself.
    pub control: Vec<String>,
    /// How the runs lie to each other in time.
    pub design: Design,
    /// A ratio between 1 / (1 + margin) and 1 + margin makes no difference in practice.
    pub margin: f64,
    /// Confidence level of every interval of a ratio.
    pub level: f64,
    /// How many metrics have been tested for a difference.
    pub tested: usize,
    /// The share of false ones among all differences that are called, at most and in the long run.
    pub false_share: f64,
    /// What was measured under both conditions, in the order of `a`.
    pub pairs: Vec<Pair>,
    /// What was measured under one condition alone, that of `a` first.
    pub unmatched: Vec<Unmatched>,
    /// What else differs between the two conditions.
    pub differences: Vec<Difference>,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// What the user calls it, or the identifier of its run.
    pub name: String,
    /// Identifiers of its runs.
    pub runs: Vec<String>,
}

/// How the runs of two conditions lie to each other in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// They took turns: a run of one is compared with its neighbour of the other.
    Turns,
    /// Nothing is known: all runs of one are compared with all runs of the other.
    Independent,
}

/// A result that was measured under one condition alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unmatched {
    /// Where it was measured.
    pub only: Only,
    /// Identifier of the benchmark.
    pub benchmark: String,
    /// Identifier of the case.
    pub case: String,
    /// Name of the metric.
    pub metric: String,
    /// What a result of the other condition would have to share.
    pub identity: Attributes,
}

/// One of the two conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Only {
    /// The first.
    A,
    /// The second.
    B,
}

/// What a ratio may be about instead of the condition, as it is under each of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What differs.
    pub aspect: Aspect,
    /// Which of several: a setting by its name, or the benchmark and metric.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// Under the first condition; several values with commas between them.
    pub a: String,
    /// Under the second condition.
    pub b: String,
}

/// One metric of one case under both conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Under the first condition: of several runs, each of which counts as one value.
    pub a: Estimate,
    /// Under the second condition.
    pub b: Estimate,
    /// The shift between the runs as a ratio, `b` over `a`; `None` where a run has no number above 0.
    pub ratio: Option<f64>,
    /// Interval of the ratio; `None` with fewer than three runs of each condition.
    pub ratio_ci: Option<[f64; 2]>,
    /// The probability of a ratio as far from 1 by chance alone; `None` where it was not tested.
    pub p: Option<f64>,
    /// The same as it is worth among all metrics that were tested.
    pub p_adjusted: Option<f64>,
    /// Interval of the ratio of the first condition's control runs to its others: what the machine does by
    /// itself.
    pub floor: Option<[f64; 2]>,
    /// What follows for `b`.
    pub verdict: Verdict,
    /// Runs of each condition that would probably tell, where these cannot.
    pub runs_to_tell: Option<u64>,
    /// Whether it is one of the metrics that decide the exit code.
    pub is_headline: bool,
    /// Whether every run has a single value of it.
    pub is_single: bool,
}

/// How the second condition is, compared with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// More than the margin on the good side, and not by chance.
    Better,
    /// More than the margin on the bad side, and not by chance.
    Worse,
    /// The whole interval is within the margin.
    Equivalent,
    /// Neither is shown.
    CannotTell,
}

/// What all headline metrics say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// One of them is worse.
    Regression,
    /// None is worse, and one cannot be told.
    Undecided,
    /// None is worse.
    Fine,
}

impl Comparison {
    /// How many pairs have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.pairs.iter().filter(|pair| pair.verdict == verdict).count()
    }

    /// The pairs that decide the exit code: those of headline metrics, or all where there are none.
    pub fn deciding(&self) -> impl Iterator<Item = &Pair> {
        let has_headline = self.pairs.iter().any(|pair| pair.is_headline);
        self.pairs.iter().filter(move |pair| pair.is_headline || !has_headline)
    }

    /// What is worse counts first; what cannot be told is no success, except that metrics with a single
    /// value per run need not be told where another is.
    #[must_use]
    pub fn conclusion(&self) -> Conclusion {
        let has = |verdict| self.deciding().any(|pair| pair.verdict == verdict);
        let is_open = |pair: &Pair| pair.verdict == Verdict::CannotTell && !pair.is_single;
        let is_reported = self.deciding().any(|pair| pair.verdict != Verdict::CannotTell);
        if has(Verdict::Worse) {
            Conclusion::Regression
        } else if self.deciding().any(is_open) || !is_reported {
            Conclusion::Undecided
        } else {
            Conclusion::Fine
        }
    }
}
