//! Comparison of two conditions: ratios with their uncertainty, and verdicts. Data types only.

use serde::{Deserialize, Serialize};

use crate::attribute::Attributes;
use crate::doubt::Doubt;
use crate::environment::EnvironmentAspect;
use crate::summary::MetricEstimate;

/// The version of the machine-readable comparison.
pub const SCHEMA: u32 = 3;

/// The machine-readable comparison of two conditions: the output of `assay compare --json`.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// The first condition, which ratios are relative to.
    pub a: ComparedCondition,
    /// The second condition.
    pub b: ComparedCondition,
    /// Control runs: additional runs of the first condition, alternating with its others. They show
    /// the machine's own variation.
    pub control: Vec<String>,
    /// Arrangement of the runs in time.
    pub design: ComparisonDesign,
    /// Ratios between 1 / (1 + margin) and 1 + margin count as equivalent.
    pub margin: f64,
    /// Confidence level of every interval of a ratio.
    pub level: f64,
    /// Number of metrics that were tested for a difference.
    pub tested: usize,
    /// False discovery rate: maximum expected share of false differences among those reported.
    pub false_share: f64,
    /// Metrics that were measured under both conditions, in the order of `a`.
    pub pairs: Vec<MetricComparison>,
    /// Results that were measured under one condition only, those of `a` first.
    pub unmatched: Vec<UnmatchedResult>,
    /// Other differences between the two conditions.
    pub differences: Vec<EnvironmentDifference>,
    /// Suspect runs of both conditions and of the control.
    pub suspect: Vec<SuspectRun>,
}

/// Suspect run of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct SuspectRun {
    /// Its identifier.
    pub run: String,
    /// The first doubt that makes it suspect.
    pub doubt: Doubt,
}

/// Condition with its runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedCondition {
    /// The user's name for it, or the identifier of its run.
    pub name: String,
    /// Identifiers of its runs.
    pub runs: Vec<String>,
}

/// Arrangement of the runs of two conditions in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonDesign {
    /// Alternating: each run is compared with its neighbour of the other condition.
    Turns,
    /// Alternating, and looked at after each block, to end once it is decided.
    Looks,
    /// Unknown: all runs of one condition are compared with all runs of the other.
    Independent,
}

/// Result that was measured under one condition only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnmatchedResult {
    /// The condition.
    pub only: ConditionLetter,
    /// Identifier of the benchmark.
    pub benchmark: String,
    /// Identifier of the case.
    pub case: String,
    /// Name of the metric.
    pub metric: String,
    /// Attributes that a result of the other condition would have to share.
    pub identity: Attributes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConditionLetter {
    /// The first.
    A,
    /// The second.
    B,
}

/// Environment difference between the conditions, which may explain a ratio.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentDifference {
    /// The aspect that differs.
    pub aspect: EnvironmentAspect,
    /// Name within the aspect: that of a setting, or the benchmark and metric.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// Value under the first condition; several are separated by commas.
    pub a: String,
    /// Value under the second condition.
    pub b: String,
}

/// Comparison of a metric of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricComparison {
    /// Estimate under the first condition; each of several runs counts as one value.
    pub a: MetricEstimate,
    /// Estimate under the second condition.
    pub b: MetricEstimate,
    /// Shift between the runs as a ratio, `b` over `a`; `None` if a run has no value above 0.
    pub ratio: Option<f64>,
    /// Interval of the ratio; `None` with fewer than three runs of each condition.
    pub ratio_ci: Option<[f64; 2]>,
    /// Probability (p-value) of a ratio at least this far from 1 by chance; `None` if not tested.
    pub p: Option<f64>,
    /// The p-value after correction for all tested metrics.
    pub p_adjusted: Option<f64>,
    /// Interval of the ratio of the control runs to the other runs of the first condition.
    pub floor: Option<[f64; 2]>,
    /// Verdict on `b`.
    pub verdict: ComparisonVerdict,
    /// Runs of each condition that would probably decide, if these cannot.
    pub runs_to_decide: Option<u64>,
    /// Whether it is one of the metrics that decide the exit code.
    pub is_headline: bool,
    /// Whether every run has a single value of it.
    pub has_single_values: bool,
}

/// Verdict on the second condition, compared with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonVerdict {
    /// Better by more than the margin, and not by chance.
    Better,
    /// Worse by more than the margin, and not by chance.
    Worse,
    /// The whole interval is within the margin.
    Equivalent,
    /// None of these is shown.
    CannotTell,
}

impl ComparisonVerdict {
    /// All verdicts.
    pub const ALL: [Self; 4] = [Self::Better, Self::Worse, Self::Equivalent, Self::CannotTell];

    /// Returns the word of machine-readable formats.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::CannotTell => "cannot-tell",
        }
    }
}

/// Overall result of all headline metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonConclusion {
    /// At least one is worse.
    Regression,
    /// None is worse, and at least one is undecided.
    Undecided,
    /// None is worse.
    Fine,
}

impl Comparison {
    /// Counts the pairs with this verdict.
    pub fn count_verdicts(&self, verdict: ComparisonVerdict) -> usize {
        self.pairs.iter().filter(|pair| pair.verdict == verdict).count()
    }

    /// Returns the pairs that decide the exit code: those of headline metrics, or all if there are
    /// none.
    pub fn deciding_pairs(&self) -> impl Iterator<Item = &MetricComparison> {
        let has_headline = self.pairs.iter().any(|pair| pair.is_headline);
        self.pairs.iter().filter(move |pair| pair.is_headline || !has_headline)
    }

    /// Returns whether every pair that decides the exit code has a verdict.
    pub fn is_decided(&self) -> bool {
        let mut deciding = self.deciding_pairs().peekable();
        deciding.peek().is_some()
            && deciding.all(|pair| pair.verdict != ComparisonVerdict::CannotTell)
    }

    /// Combines the verdicts.
    ///
    /// Any worse metric is a regression. An undecided metric prevents success. Exception: metrics
    /// with a single value per run may stay undecided if another metric is decided.
    pub fn conclusion(&self) -> ComparisonConclusion {
        let has = |verdict| self.deciding_pairs().any(|pair| pair.verdict == verdict);
        let is_open = |pair: &MetricComparison| {
            pair.verdict == ComparisonVerdict::CannotTell && !pair.has_single_values
        };
        let is_reported =
            self.deciding_pairs().any(|pair| pair.verdict != ComparisonVerdict::CannotTell);
        if has(ComparisonVerdict::Worse) {
            ComparisonConclusion::Regression
        } else if self.deciding_pairs().any(is_open) || !is_reported {
            ComparisonConclusion::Undecided
        } else {
            ComparisonConclusion::Fine
        }
    }
}
