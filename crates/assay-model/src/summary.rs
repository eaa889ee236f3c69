//! The summary of a run: estimates with their uncertainty. Values only.
//!
//! Summaries are derived and can be derived again with a better estimator; samples are the truth.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::attribute::{Attribute, Attributes, Value};
use crate::benchmark::{Benchmark, Better, Section};
use crate::doubt::Doubt;
use crate::event::Status;
use crate::facts::HostFacts;
use crate::failure::Failure;
use crate::limit::Limit;
use crate::plan::Omitted;
use crate::quantity::Unit;

/// The version of the machine-readable result.
pub const SCHEMA: u32 = 2;

/// What a run amounts to. `--json` prints it with the words of the report beside identifiers.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// The version of the statistics that derived it from the events.
    pub statistics: u32,
    /// Which run.
    pub run: RunHead,
    /// Where it ran.
    pub hosts: Vec<HostFacts>,
    /// One entry per metric and case.
    pub results: Vec<Estimate>,
    /// What the steps on the way to a result amount to: rounds of a steady-state test, tries of a
    /// search. Their parameters have a `step`.
    pub steps: Vec<Estimate>,
    /// Cases that failed.
    pub failures: Vec<CaseFailure>,
    /// What the suite does without, because something is missing here.
    pub omitted: Vec<Omitted>,
    /// Doubts about the run as a whole.
    pub warnings: Vec<Doubt>,
}

/// Identity and fate of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHead {
    /// Identifier.
    pub id: String,
    /// What the user calls the condition it was measured under, e.g. `on`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What the user says about the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Name of the suite.
    pub suite: String,
    /// RFC 3339 time in UTC.
    pub started: String,
    /// RFC 3339 time in UTC.
    pub finished: Option<String>,
    /// How it ended.
    pub status: Status,
    /// What repeats it, where anything in it was drawn at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// One metric of one case with its uncertainty. All values in `unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Identifier of the benchmark.
    pub benchmark: String,
    /// Identifier of the case.
    pub case: String,
    /// Name of the metric.
    pub metric: String,
    /// What distinguishes and describes it.
    pub parameters: Attributes,
    /// Base unit of all values here.
    pub unit: Unit,
    /// Which way is good.
    pub better: Better,
    /// Samples that count; the warm-up is not among them.
    pub n: usize,
    /// Independent samples that `n` is worth under autocorrelation.
    pub n_effective: f64,
    /// The median.
    pub median: f64,
    /// Interval of the median; `None` when there are too few samples for one.
    pub ci: Option<[f64; 2]>,
    /// Confidence level of `ci`.
    pub ci_level: f64,
    /// Minimum sample.
    pub min: f64,
    /// Largest sample.
    pub max: f64,
    /// Arithmetic mean of a cost, harmonic mean of a rate.
    pub mean: f64,
    /// Percentiles the samples can carry (`p50`, `p99` …); `None` when they carry none.
    pub percentiles: Option<BTreeMap<String, f64>>,
    /// The physical limit, where one is known.
    pub limit: Option<Limit>,
    /// `median` over the limit, in percent.
    pub percent_of_limit: Option<f64>,
    /// Name of the host.
    pub host: String,
    /// Who measured.
    pub tool: Tool,
    /// Doubts about this estimate.
    pub warnings: Vec<Doubt>,
}

impl Estimate {
    /// Whether it is of several hosts together: of all of a run, or of a group of them. Of MPI, hosts are where its
    /// ranks run.
    #[must_use]
    pub fn is_of_hosts(&self) -> bool {
        let section = Benchmark::from_id(&self.benchmark).map(|it| it.definition().section);
        matches!(section, Some(Section::Storage | Section::Network))
            && self.parameters.contains_key(&Attribute::Hosts)
    }

    /// Whether this host had a part in it: alone, or together with others.
    #[must_use]
    pub fn is_partly_of(&self, host: &str) -> bool {
        let hosts = self.parameters.get(&Attribute::Hosts).filter(|_| self.is_of_hosts());
        let mut hosts = hosts.and_then(Value::text).unwrap_or_default().split(',');
        self.host == host || hosts.any(|it| it == host)
    }
}

/// Who measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// `assay`, or the name of an official tool.
    pub name: String,
    /// Its version, if it reports one.
    pub version: Option<String>,
}

/// A case that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseFailure {
    /// Identifier of the benchmark.
    pub benchmark: String,
    /// Identifier of the case.
    pub case: String,
    /// Name of the host.
    pub host: String,
    /// What failed and why.
    pub failure: Failure,
    /// The earlier case whose failure this one would only have repeated: it was skipped.
    pub because: Option<String>,
}
