//! Builders of artificial summaries and estimates.

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::{Benchmark, Better};
use assay_model::doubt::Doubt;
use assay_model::event::RunStatus;
use assay_model::facts::HostFacts;
use assay_model::limit::{LimitBasis, PhysicalLimit};
use assay_model::quantity::Unit;
use assay_model::summary::{MeasuringTool, MetricEstimate, RunHeader, RunSummary, SCHEMA};

pub(crate) fn summary(suite: &str, status: RunStatus, host: HostFacts) -> RunSummary {
    RunSummary {
        schema: SCHEMA,
        statistics: 2,
        run: RunHeader {
            id: "20261121-104455-7f3a".to_owned(),
            label: None,
            note: None,
            suite: suite.to_owned(),
            started: "2026-11-21T10:44:55Z".to_owned(),
            finished: Some("2026-11-21T10:46:12Z".to_owned()),
            status,
            seed: None,
        },
        hosts: vec![host],
        results: vec![],
        steps: vec![],
        failures: vec![],
        omitted: vec![],
        warnings: vec![],
        counters: vec![],
    }
}

/// Builds a median with an interval of `±share` and fifteen samples; unit and direction are those
/// of the metric.
pub(crate) fn estimate(
    benchmark: Benchmark,
    metric: &str,
    median: f64,
    share: f64,
) -> MetricEstimate {
    let row = benchmark.metric(metric);
    MetricEstimate {
        benchmark: benchmark.id().to_owned(),
        case: benchmark.id().to_owned(),
        metric: metric.to_owned(),
        parameters: [].into(),
        unit: row.map_or(Unit::Count, |row| row.unit),
        better: row.map_or(Better::Higher, |row| row.better),
        n: 15,
        n_effective: 15.0,
        median,
        ci: Some([median * (1.0 - share), median * (1.0 + share * 0.8)]),
        ci_level: 0.95,
        min: median * (1.0 - share * 3.0),
        max: median * (1.0 + share * 2.0),
        mean: median * 0.999,
        percentiles: None,
        limit: None,
        percent_of_limit: None,
        host: "node-7".to_owned(),
        tool: MeasuringTool { name: "assay".to_owned(), version: Some("0.1.0".to_owned()) },
        warnings: vec![],
    }
}

/// Builder methods for estimates.
pub(crate) trait EstimateBuilder: Sized {
    fn with(self, name: Attribute, value: impl Into<AttributeValue>) -> Self;
    fn with_case(self, id: &str) -> Self;
    fn with_limit(self, value: f64, basis: LimitBasis) -> Self;
    fn by_tool(self, tool: &str, version: &str) -> Self;
    fn with_doubt(self, doubt: Doubt) -> Self;
}

impl EstimateBuilder for MetricEstimate {
    fn with(mut self, name: Attribute, value: impl Into<AttributeValue>) -> Self {
        self.parameters.insert(name, value.into());
        self
    }

    fn with_case(mut self, id: &str) -> Self {
        id.clone_into(&mut self.case);
        self
    }

    fn with_limit(mut self, value: f64, basis: LimitBasis) -> Self {
        self.limit = Some(PhysicalLimit { value, basis });
        self.percent_of_limit = Some(100.0 * self.median / value);
        self
    }

    fn by_tool(mut self, tool: &str, version: &str) -> Self {
        self.tool = MeasuringTool { name: tool.to_owned(), version: Some(version.to_owned()) };
        self
    }

    fn with_doubt(mut self, doubt: Doubt) -> Self {
        self.warnings.push(doubt);
        self
    }
}

/// Builds a ladder with a plateau at each cache and a gradual step above the last.
pub(crate) fn ladder(
    sizes: &[u64],
    plateaus: &[(u64, f64)],
    memory: f64,
) -> Vec<MetricEstimate> {
    let latency = |bytes: u64| {
        let mut below = None;
        for (size, seconds) in plateaus {
            if bytes <= *size {
                return *seconds;
            }
            below = Some(*size);
        }
        // The part that still fits the last cache is served from it.
        let hit = below.map_or(0.0, |size| size as f64 / bytes as f64 * 0.6);
        let last = plateaus.last().map_or(memory, |(_, seconds)| *seconds);
        hit * last + (1.0 - hit) * memory
    };
    let point = |bytes: &u64| {
        let share = if *bytes > 1 << 20 { 0.02 } else { 0.002 };
        estimate(Benchmark::MemoryLatency, "latency", latency(*bytes), share)
            .with(Attribute::Bytes, *bytes)
            .with(Attribute::Cpu, 0_u64)
            .with(Attribute::HugePages, true)
    };
    sizes.iter().map(point).collect()
}
