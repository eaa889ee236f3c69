//! Common lookups of the report's sections: results, their placements and measurers, and their notes.

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::{Benchmark, ReportSection};
use assay_model::facts::HostFacts;
use assay_model::run::Run;
use assay_model::summary::{MetricEstimate, RunSummary};

use super::notes::Notes;
use crate::locale::{join_details, word};
use crate::units;

/// Results of a run, with the lookups that label them.
pub(super) struct ReportContext<'a> {
    pub(super) summary: &'a RunSummary,
    /// Run with its samples, if available.
    pub(super) run: Option<&'a Run>,
    pub(super) notes: Notes,
    /// Whether results come from several measurers, so that each row names its own.
    pub(super) has_several_measurers: bool,
    pub(super) has_several_hosts: bool,
}

impl<'a> ReportContext<'a> {
    pub(super) fn new(summary: &'a RunSummary, run: Option<&'a Run>) -> Self {
        let differ = |key: fn(&MetricEstimate) -> &str| {
            summary.results.windows(2).any(|pair| key(&pair[0]) != key(&pair[1]))
        };
        Self {
            summary,
            run,
            has_several_measurers: differ(|estimate| &estimate.tool.name),
            has_several_hosts: differ(|estimate| &estimate.host),
            notes: Notes::collect(summary),
        }
    }

    /// Returns the results of all benchmarks that this version supports, in the order of the table
    /// of benchmarks.
    pub(super) fn known_results(&self) -> Vec<&'a MetricEstimate> {
        Benchmark::ALL
            .into_iter()
            .flat_map(|benchmark| self.benchmark_results(benchmark))
            .collect()
    }

    /// Returns the results that a section prints.
    pub(super) fn section_results(&self, section: ReportSection) -> Vec<&'a MetricEstimate> {
        let here = Benchmark::ALL.into_iter().filter(|it| it.definition().section == section);
        here.flat_map(|benchmark| self.benchmark_results(benchmark)).collect()
    }

    /// Returns the results of one benchmark by placement, in order of appearance. Within a
    /// placement, metrics follow the order of the benchmark's definition.
    fn benchmark_results(&self, benchmark: Benchmark) -> Vec<&'a MetricEstimate> {
        let mut found: Vec<&MetricEstimate> =
            self.summary.results.iter().filter(|e| e.benchmark == benchmark.id()).collect();
        let places: Vec<String> =
            found.iter().map(|estimate| self.place_label(estimate)).collect();
        let metrics = benchmark.definition().metrics;
        let order = |estimate: &MetricEstimate| {
            let place = self.place_label(estimate);
            (
                places.iter().position(|p| *p == place),
                metrics.iter().position(|metric| metric.name == estimate.metric),
            )
        };
        found.sort_by_key(|estimate| order(estimate));
        found
    }

    /// Returns where a result was measured: `node`, `l3:0, all at once`, `numa:0 → numa:1`.
    pub(super) fn place_label(&self, estimate: &MetricEstimate) -> String {
        let mut parts = Vec::new();
        if self.has_several_hosts {
            parts.push(estimate.host.clone());
        }
        parts.extend(domain_label(estimate));
        if is_concurrent(estimate) {
            parts.push(units::with_no_break_spaces(word("all-at-once")));
        }
        join_details(&parts)
    }

    /// Returns the facts of the host of a result.
    pub(super) fn host_facts(&self, estimate: &MetricEstimate) -> Option<&'a HostFacts> {
        self.summary.hosts.iter().find(|host| host.name == estimate.host)
    }
}

/// Returns the display name of a metric.
pub(in crate::build) fn metric_name(estimate: &MetricEstimate) -> String {
    let known = match estimate.metric.as_str() {
        "copy" => "Copy",
        "scale" => "Scale",
        "add" => "Add",
        "triad" => "Triad",
        "fp64" => "FP64 peak",
        "fp32" => "FP32 peak",
        "core_clock" => "core clock",
        "rmax" => "Rmax",
        "cpu_load" => "CPU load",
        "cpu_per_io" => "CPU time per I/O",
        // Long enough to wrap in narrow tables.
        "cpu_per_byte" => return "CPU time per\u{a0}byte".to_owned(),
        other => return units::with_no_break_spaces(&other.replace('_', " ")),
    };
    units::with_no_break_spaces(known)
}

/// Returns the domain of a result, after the source of its data if it has one.
pub(in crate::build) fn domain_label(estimate: &MetricEstimate) -> Option<String> {
    let placement = text(estimate, Attribute::Placement)?;
    Some(match text(estimate, Attribute::Source) {
        Some(source) => units::with_no_break_spaces(&format!("{source} → {placement}")),
        None => placement,
    })
}

/// Returns an attribute as display text.
pub(in crate::build) fn text(estimate: &MetricEstimate, name: Attribute) -> Option<String> {
    estimate.parameters.get(&name).map(|value| units::format_attribute(name, value))
}

/// Returns an attribute as a number.
pub(in crate::build) fn number(estimate: &MetricEstimate, name: Attribute) -> Option<f64> {
    estimate.parameters.get(&name).and_then(AttributeValue::as_number)
}

/// Returns the section that prints a result; `None` for benchmarks unknown to this version.
pub(in crate::build) fn section_of(estimate: &MetricEstimate) -> Option<ReportSection> {
    Benchmark::from_id(&estimate.benchmark).map(|it| it.definition().section)
}

/// Whether several domains were measured at the same time.
pub(in crate::build) fn is_concurrent(estimate: &MetricEstimate) -> bool {
    match estimate.parameters.get(&Attribute::Concurrent) {
        Some(AttributeValue::Flag(concurrent)) => *concurrent,
        Some(value) => value.as_number().is_some_and(|domains| domains > 1.0),
        None => false,
    }
}
