//! History of one result over all stored runs: values, change points and environment changes. Data
//! types only.

use serde::Serialize;

use crate::attribute::Attributes;
use crate::benchmark::Better;
use crate::doubt::TrustLevel;
use crate::environment::EnvironmentAspect;
use crate::quantity::Unit;

/// Version of the machine-readable history.
pub const SCHEMA: u32 = 1;

/// History of one result: the output of `assay history`.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of the statistics that derived it from the events.
    pub statistics: u32,
    /// Identifier of the benchmark.
    pub benchmark: String,
    /// Name of the metric.
    pub metric: String,
    /// Attributes that identify the result.
    pub identity: Attributes,
    /// Label that all its runs share.
    pub label: Option<String>,
    /// Conditions besides the identity that all its runs share, such as the size of the arrays.
    pub conditions: Attributes,
    /// Histories of the same result with other labels or under other conditions, the newest first.
    pub other_conditions: Vec<Self>,
    /// Number of other results of the same metric, which are omitted.
    pub other_results: usize,
    /// Base unit of all values here.
    pub unit: Unit,
    /// Direction in which values improve.
    pub better: Better,
    /// Name of the host.
    pub host: String,
    /// Its value in every run, the oldest first.
    pub points: Vec<HistoryPoint>,
    /// Change points of the level.
    pub changes: Vec<LevelChange>,
    /// Changes of the environment between consecutive runs.
    pub environment: Vec<EnvironmentChange>,
    /// Method of change detection.
    pub method: DetectionMethod,
    /// Changes that the method can find in these runs.
    pub sensitivity: Sensitivity,
}

/// Changes that a method can find in a series of runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sensitivity {
    /// Minimum number of runs in which any change can be found.
    pub runs_needed: usize,
    /// Factor of the smallest step in the middle of these runs that would have been found, up or
    /// down. `None` with too few runs, or if a level changed.
    pub smallest_ratio: Option<f64>,
}

/// The result in one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryPoint {
    /// Identifier of the run.
    pub run: String,
    /// RFC 3339 time in UTC.
    pub started: String,
    /// Its label.
    pub label: Option<String>,
    pub median: f64,
    /// Its interval within the run.
    pub ci: Option<[f64; 2]>,
    /// Trust in the value within its run.
    pub trust: TrustLevel,
    /// Number of equations of that run, if it differs between runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Limit of the value in that run, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

/// Change point: a change of the level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelChange {
    /// The first point after it, from 0.
    pub point: usize,
    /// The run of that point.
    pub run: String,
    /// Median of the runs since the previous change.
    pub before: f64,
    /// Median of the runs until the next change.
    pub after: f64,
    /// Shift between both as a ratio.
    pub ratio: Option<f64>,
    /// Its interval.
    pub ratio_ci: Option<[f64; 2]>,
    /// Share of permutations with a division at least as clear (p-value).
    pub p: f64,
    /// Whether the new level is better.
    pub is_better: bool,
}

/// Change of the environment from one run to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvironmentChange {
    /// The first point after it, from 0.
    pub point: usize,
    /// The run of that point.
    pub run: String,
    /// The aspect that changed.
    pub aspect: EnvironmentAspect,
    /// Name within the aspect.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// Value in the run before.
    pub before: String,
    /// Value from this run on.
    pub after: String,
}

/// Method of change detection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DetectionMethod {
    /// Its name.
    pub name: &'static str,
    /// Number of permutations of a test.
    pub permutations: u32,
    /// Seed of the permutations.
    pub seed: u64,
    /// Significance level: larger p-values are not a change.
    pub risk: f64,
    /// Changes up to this size count as equivalent.
    pub margin: f64,
}
