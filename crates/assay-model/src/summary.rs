//! Summary of a run: estimates with their uncertainty. Data types only.
//!
//! Summaries are derived from the stored samples and can be derived again with a better estimator.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::attribute::{Attribute, AttributeValue, Attributes};
use crate::benchmark::{Benchmark, Better, ReportSection};
use crate::doubt::Doubt;
use crate::event::RunStatus;
use crate::facts::HostFacts;
use crate::failure::FailureReason;
use crate::kernel_counters::CounterRecord;
use crate::limit::PhysicalLimit;
use crate::plan::OmittedMeasure;
use crate::quantity::Unit;

/// Version of the machine-readable result.
pub const SCHEMA: u32 = 2;

/// Results of a run. `--json` prints it with the report's texts in addition to identifiers.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of the statistics that derived it from the events.
    pub statistics: u32,
    /// Identity and status of the run.
    pub run: RunHeader,
    /// The hosts on which it ran.
    pub hosts: Vec<HostFacts>,
    /// Estimates of all metrics and cases.
    pub results: Vec<MetricEstimate>,
    /// Estimates of intermediate steps: rounds of a steady-state test, tries of a search. Their
    /// parameters include a `step`.
    pub steps: Vec<MetricEstimate>,
    /// Cases that failed.
    pub failures: Vec<CaseFailure>,
    /// Measures that were omitted because a requirement is missing.
    pub omitted: Vec<OmittedMeasure>,
    /// Doubts about the run as a whole.
    pub warnings: Vec<Doubt>,
    /// Kernel counters of the cases, by host.
    pub counters: Vec<CounterRecord>,
}

/// Identity and status of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    /// Identifier.
    pub id: String,
    /// The user's name of the condition under which it was measured, e.g. `on`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The user's note about the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Name of the suite.
    pub suite: String,
    /// RFC 3339 time in UTC.
    pub started: String,
    /// RFC 3339 time in UTC.
    pub finished: Option<String>,
    /// Final status.
    pub status: RunStatus,
    /// Seed that reproduces it, if anything in it is random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Estimate of a metric of a case with its uncertainty. All values in `unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricEstimate {
    /// Identifier of the benchmark.
    pub benchmark: String,
    /// Identifier of the case.
    pub case: String,
    /// Name of the metric.
    pub metric: String,
    /// Attributes that distinguish and describe it.
    pub parameters: Attributes,
    /// Base unit of all values here.
    pub unit: Unit,
    /// Direction in which values improve.
    pub better: Better,
    /// Number of samples after the warm-up.
    pub n: usize,
    /// Effective samples, reduced by autocorrelation.
    pub n_effective: f64,
    /// The median.
    pub median: f64,
    /// Interval of the median; `None` with too few samples.
    pub ci: Option<[f64; 2]>,
    /// Confidence level of `ci`.
    pub ci_level: f64,
    /// Minimum sample.
    pub min: f64,
    /// Maximum sample.
    pub max: f64,
    /// Arithmetic mean of a cost, harmonic mean of a rate.
    pub mean: f64,
    /// Percentiles for which there are enough samples (`p50`, `p99` …); `None` without any.
    pub percentiles: Option<BTreeMap<String, f64>>,
    /// The physical limit, if known.
    pub limit: Option<PhysicalLimit>,
    /// `median` over the limit, in percent.
    pub percent_of_limit: Option<f64>,
    /// Name of the host.
    pub host: String,
    /// Measurer.
    pub tool: MeasuringTool,
    /// Doubts about this estimate.
    pub warnings: Vec<Doubt>,
}

impl MetricEstimate {
    /// Whether it is a total over several hosts: all of a run or a group. For MPI, `hosts` are
    /// those of its ranks, so this is false.
    pub fn spans_hosts(&self) -> bool {
        let section = Benchmark::from_id(&self.benchmark).map(|it| it.definition().section);
        section.is_some_and(ReportSection::has_host_totals)
            && self.parameters.contains_key(&Attribute::Hosts)
    }

    /// Whether this host contributed to it, alone or together with others.
    pub fn involves_host(&self, host: &str) -> bool {
        let hosts = self.parameters.get(&Attribute::Hosts).filter(|_| self.spans_hosts());
        let mut hosts = hosts.and_then(AttributeValue::as_text).unwrap_or_default().split(',');
        self.host == host || hosts.any(|it| it == host)
    }
}

/// Measurer with its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuringTool {
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
    /// Cause of the failure.
    pub failure: FailureReason,
    /// Earlier case with the same cause of failure, for which this one was skipped.
    pub because: Option<String>,
}
