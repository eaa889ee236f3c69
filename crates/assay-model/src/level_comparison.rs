//! Comparison of the levels of factors: each metric under every combination of levels, with letters
//! of those that cannot be distinguished. Data types only.

use serde::Serialize;

use crate::comparison::ComparisonDesign;
use crate::factor::FactorLevel;
use crate::summary::MetricEstimate;

/// The version of the machine-readable comparison of levels.
pub const SCHEMA: u32 = 2;

/// Metrics under every combination of levels, which took turns in blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelComparison {
    /// Names of the factors, in the order of the user.
    pub factors: Vec<String>,
    /// Combinations with the runs of each; the first one is the reference.
    pub conditions: Vec<LevelCondition>,
    /// Whether the runs took turns in blocks, or are independent.
    pub design: ComparisonDesign,
    /// Number of blocks in which at least one combination was measured; of independent runs, the
    /// largest number of one combination.
    pub blocks: usize,
    /// Confidence level of every interval of a ratio.
    pub level: f64,
    /// Largest probability that a metric without any effect shows one.
    pub family_error: f64,
    /// Metrics that were measured under at least two combinations.
    pub metrics: Vec<MetricLevels>,
    /// Number of results that only one combination has.
    pub unmatched: usize,
}

/// Combination of levels with its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelCondition {
    /// A level of each factor.
    pub levels: Vec<FactorLevel>,
    /// Identifiers of its runs; empty if all levels are cases of one run.
    pub runs: Vec<String>,
}

/// Metric under every combination.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricLevels {
    /// Test of all combinations together; `None` unless every block has all of them.
    pub overall: Option<OverallTest>,
    /// The combinations that have this metric, in the order of the conditions.
    pub levels: Vec<LevelEstimate>,
    /// Each pair of combinations.
    pub pairs: Vec<LevelPair>,
    /// Number of blocks that ranks need to distinguish any two combinations, if there are fewer; of
    /// independent runs, the number of each combination.
    pub needed_blocks: Option<usize>,
    /// Smallest level of a numeric factor that no other level surpasses; `None` unless levels differ.
    pub sufficient: Option<SufficientLevel>,
}

/// Smallest level that no other level surpasses by more than chance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SufficientLevel {
    /// Its index in the metric's levels.
    pub level: usize,
    /// Indices of the larger levels, ascending, none of which is better.
    pub larger: Vec<usize>,
}

/// Friedman's test of all combinations together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverallTest {
    /// Its statistic, chi-squared distributed with one less degree of freedom than combinations.
    pub statistic: f64,
    /// Probability of a statistic at least as large, if no level has an effect.
    pub p: f64,
    /// The p-value after correction for all metrics.
    pub p_adjusted: f64,
}

/// Estimate of a metric under one combination.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelEstimate {
    /// Index of the condition.
    pub condition: usize,
    /// Estimate over the blocks, each of which counts as one value.
    pub estimate: MetricEstimate,
    /// Ratio to the reference, paired by block; `None` for the reference itself, and without values
    /// above 0.
    pub ratio: Option<f64>,
    /// Interval of the ratio; `None` with fewer than three common blocks.
    pub ratio_ci: Option<[f64; 2]>,
    /// Share of proportional scaling, over the number of hosts; `None` for other factors.
    pub efficiency: Option<ScalingEfficiency>,
    /// Letters shared with the combinations that cannot be distinguished from this one; empty without
    /// a test.
    pub letters: String,
}

/// Rate of N hosts relative to N / M times that of the fewest, M.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalingEfficiency {
    /// The share; 1 = proportional.
    pub share: f64,
    /// Its interval, that of the ratio divided by the same number.
    pub ci: Option<[f64; 2]>,
}

/// Two combinations of one metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LevelPair {
    /// Index of the first in the metric's levels.
    pub a: usize,
    /// Index of the second.
    pub b: usize,
    /// Ratio of the second to the first.
    pub ratio: f64,
    /// Its interval, for this pair alone.
    pub ratio_ci: [f64; 2],
    /// Probability of a ratio at least this far from 1 by chance.
    pub p: f64,
    /// The p-value after correction for all pairs of the metric.
    pub p_adjusted: f64,
    /// Whether the two differ.
    pub differs: bool,
}
