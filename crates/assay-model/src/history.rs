//! One result over all stored runs: its values, where its level changed, and what changed around it. Values
//! only.

use serde::Serialize;

use crate::attribute::Attributes;
use crate::benchmark::Better;
use crate::environment::Aspect;
use crate::quantity::Unit;

/// The version of the machine-readable history.
pub const SCHEMA: u32 = 1;

/// What `assay history` shows.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// The version of the statistics that derived it from the events.
    pub statistics: u32,
    /// Identifier of the benchmark.
    pub benchmark: String,
    /// Name of the metric.
    pub metric: String,
    /// What distinguishes the result.
    pub identity: Attributes,
    /// Other results of the same metric, which are left out.
    pub others: usize,
    /// Base unit of all values here.
    pub unit: Unit,
    /// Which way is good.
    pub better: Better,
    /// Name of the host.
    pub host: String,
    /// Its value in every run, the oldest first.
    pub points: Vec<Point>,
    /// Where its level changed.
    pub changes: Vec<Change>,
    /// What changed around it from one run to the next.
    pub environment: Vec<Turnover>,
    /// How changes were looked for.
    pub method: Method,
}

/// The result in one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Identifier of the run.
    pub run: String,
    /// RFC 3339 time in UTC.
    pub started: String,
    /// Its label.
    pub label: Option<String>,
    /// The median.
    pub median: f64,
    /// Its interval within the run.
    pub ci: Option<[f64; 2]>,
    /// Number of equations of that run, where it differs from run to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// What it could be at most in that run, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

/// A change of the level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The first point after it, from 0.
    pub point: usize,
    /// The run of that point.
    pub run: String,
    /// Median of the runs from the change before to this one.
    pub before: f64,
    /// Median of the runs from this one to the next change.
    pub after: f64,
    /// The shift between both as a ratio.
    pub ratio: Option<f64>,
    /// Its interval.
    pub ratio_ci: Option<[f64; 2]>,
    /// The share of permutations that divide as clearly.
    pub p: f64,
    /// Whether it is better than before.
    pub is_better: bool,
}

/// Something around the result that was another one in the run before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Turnover {
    /// The first point after it, from 0.
    pub point: usize,
    /// The run of that point.
    pub run: String,
    /// What it is.
    pub aspect: Aspect,
    /// Which of several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// In the run before.
    pub before: String,
    /// From this run on.
    pub after: String,
}

/// How changes were looked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Method {
    /// What it is called.
    pub name: &'static str,
    /// Permutations of a test.
    pub permutations: u32,
    /// What they were drawn from.
    pub seed: u64,
    /// The probability above which a division is no change.
    pub risk: f64,
    /// A change up to this makes no difference in practice.
    pub margin: f64,
}
