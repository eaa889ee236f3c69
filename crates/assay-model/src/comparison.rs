//! The comparison of two conditions: ratios with their uncertainty, and verdicts. Values only.

use serde::{Deserialize, Serialize};

use crate::attribute::Attributes;
use crate::summary::Estimate;

/// The version of the machine-readable comparison.
pub const SCHEMA: u32 = 2;

/// The machine-readable comparison of two conditions: what `assay compare --json` prints.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// The first condition, which ratios are relative to.
    pub a: Side,
    /// The second condition.
    pub b: Side,
    /// A ratio between 1 / (1 + margin) and 1 + margin makes no difference in practice.
    pub margin: f64,
    /// Confidence level of every interval of a ratio.
    pub level: f64,
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
    /// Under the first condition.
    pub a: String,
    /// Under the second condition.
    pub b: String,
}

/// What may differ between two conditions although nobody asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The hosts.
    Host,
    /// The model of the processor.
    Processor,
    /// The version of the kernel.
    Kernel,
    /// The version of assay.
    Version,
    /// How many hosts took part.
    HostCount,
}

/// One metric of one case under both conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Under the first condition, of all its runs together.
    pub a: Estimate,
    /// Under the second condition.
    pub b: Estimate,
    /// Median of `b` over median of `a`; `None` where that is not a number above 0.
    pub ratio: Option<f64>,
    /// Interval of the ratio; `None` where a median has none.
    pub ratio_ci: Option<[f64; 2]>,
    /// What follows for `b`.
    pub verdict: Verdict,
    /// Samples of each condition that would probably tell, where these cannot.
    pub n_to_tell: Option<u64>,
}

/// How the second condition is, compared with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval is beyond the margin, on the good side.
    Better,
    /// The whole interval is beyond the margin, on the bad side.
    Worse,
    /// The whole interval is within the margin.
    Equivalent,
    /// The interval is too wide, or there is none.
    CannotTell,
}

impl Comparison {
    /// How many pairs have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.pairs.iter().filter(|pair| pair.verdict == verdict).count()
    }
}
