//! Common lookups of the report's sections: results, their placements and measurers, and their notes.

use assay_model::attribute::{Attribute, Value};
use assay_model::benchmark::{Benchmark, Section};
use assay_model::facts::HostFacts;
use assay_model::run::Run;
use assay_model::summary::{Estimate, Summary};

use super::notes::Notes;
use crate::locale::{details, word};
use crate::units;

/// Results of a run, with the lookups that label them.
pub(super) struct Context<'a> {
    pub(super) summary: &'a Summary,
    /// Run with its samples, if available.
    pub(super) run: Option<&'a Run>,
    pub(super) notes: Notes,
    /// Whether results come from several measurers, so that each row names its own.
    pub(super) several_measurers: bool,
    pub(super) several_hosts: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(summary: &'a Summary, run: Option<&'a Run>) -> Self {
        let differ = |key: fn(&Estimate) -> &str| {
            summary.results.windows(2).any(|pair| key(&pair[0]) != key(&pair[1]))
        };
        Self {
            summary,
            run,
            several_measurers: differ(|estimate| &estimate.tool.name),
            several_hosts: differ(|estimate| &estimate.host),
            notes: Notes::collect(summary),
        }
    }

    /// Returns the results of all benchmarks that this version supports, in the order of the table
    /// of benchmarks.
    pub(super) fn known(&self) -> Vec<&'a Estimate> {
        Benchmark::ALL.into_iter().flat_map(|benchmark| self.results(benchmark)).collect()
    }

    /// Returns the results that a section prints.
    pub(super) fn section(&self, section: Section) -> Vec<&'a Estimate> {
        let here = Benchmark::ALL.into_iter().filter(|it| it.definition().section == section);
        here.flat_map(|benchmark| self.results(benchmark)).collect()
    }

    /// Returns the results of one benchmark by placement, in order of appearance. Within a
    /// placement, metrics follow the order of the benchmark's definition.
    fn results(&self, benchmark: Benchmark) -> Vec<&'a Estimate> {
        let mut found: Vec<&Estimate> =
            self.summary.results.iter().filter(|e| e.benchmark == benchmark.id()).collect();
        let places: Vec<String> = found.iter().map(|estimate| self.place(estimate)).collect();
        let metrics = benchmark.definition().metrics;
        let order = |estimate: &Estimate| {
            let place = self.place(estimate);
            (
                places.iter().position(|p| *p == place),
                metrics.iter().position(|metric| metric.name == estimate.metric),
            )
        };
        found.sort_by_key(|estimate| order(estimate));
        found
    }

    /// Returns where a result was measured: `node`, `l3:0, all at once`, `numa:0 → numa:1`.
    pub(super) fn place(&self, estimate: &Estimate) -> String {
        let mut parts = Vec::new();
        if self.several_hosts {
            parts.push(estimate.host.clone());
        }
        parts.extend(domains(estimate));
        if is_concurrent(estimate) {
            parts.push(units::joined(word("all-at-once")));
        }
        details(&parts)
    }

    /// Returns the facts of the host of a result.
    pub(super) fn host(&self, estimate: &Estimate) -> Option<&'a HostFacts> {
        self.summary.hosts.iter().find(|host| host.name == estimate.host)
    }
}

/// Returns the display name of a metric.
pub(in crate::build) fn metric_name(estimate: &Estimate) -> String {
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
        other => return units::joined(&other.replace('_', " ")),
    };
    units::joined(known)
}

/// Returns the domain of a result, after the source of its data if it has one.
pub(in crate::build) fn domains(estimate: &Estimate) -> Option<String> {
    let placement = text(estimate, Attribute::Placement)?;
    Some(match text(estimate, Attribute::Source) {
        Some(source) => units::joined(&format!("{source} → {placement}")),
        None => placement,
    })
}

/// Returns an attribute as display text.
pub(in crate::build) fn text(estimate: &Estimate, name: Attribute) -> Option<String> {
    estimate.parameters.get(&name).map(|value| units::display(name, value))
}

/// Returns a number that format 1 stored under a tool's own name.
pub(super) fn reported(estimate: &Estimate, name: &str) -> Option<f64> {
    match estimate.parameters.get(&Attribute::Reported) {
        Some(Value::Pairs(reported)) => reported.get(name)?.parse().ok(),
        _ => None,
    }
}

/// Returns an attribute as a number.
pub(in crate::build) fn number(estimate: &Estimate, name: Attribute) -> Option<f64> {
    estimate.parameters.get(&name).and_then(Value::number)
}

/// Returns the section that prints a result; `None` for benchmarks unknown to this version.
pub(in crate::build) fn section_of(estimate: &Estimate) -> Option<Section> {
    Benchmark::from_id(&estimate.benchmark).map(|it| it.definition().section)
}

/// Whether several domains were measured at the same time.
pub(in crate::build) fn is_concurrent(estimate: &Estimate) -> bool {
    match estimate.parameters.get(&Attribute::Concurrent) {
        Some(Value::Flag(concurrent)) => *concurrent,
        Some(value) => value.number().is_some_and(|domains| domains > 1.0),
        None => false,
    }
}
