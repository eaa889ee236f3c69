//! Common lookups of the report's sections: results, their placements and measurers, and their notes.

use assay_model::attribute::{Attribute, Value};
use assay_model::benchmark::{Benchmark, Section};
use assay_model::facts::HostFacts;
use assay_model::run::Run;
use assay_model::summary::{Estimate, Summary};

use super::notes::Notes;
use crate::locale::{details, word};
use crate::units;

/// The results of a run and what is needed to name them.
pub(super) struct Context<'a> {
    pub(super) summary: &'a Summary,
    /// The samples, where they are at hand.
    pub(super) run: Option<&'a Run>,
    pub(super) notes: Notes,
    /// Results come from more than one measurer, so each must say from which.
    pub(super) several_measurers: bool,
    pub(super) several_hosts: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(summary: &'a Summary, run: Option<&'a Run>) -> Self {
        let differ = |of: fn(&Estimate) -> &str| {
            summary.results.windows(2).any(|pair| of(&pair[0]) != of(&pair[1]))
        };
        Self {
            summary,
            run,
            several_measurers: differ(|estimate| &estimate.tool.name),
            several_hosts: differ(|estimate| &estimate.host),
            notes: Notes::collect(summary),
        }
    }

    /// The results of all benchmarks this version knows, in the order of their table.
    pub(super) fn known(&self) -> Vec<&'a Estimate> {
        Benchmark::ALL.into_iter().flat_map(|benchmark| self.results(benchmark)).collect()
    }

    /// The results that a section prints.
    pub(super) fn section(&self, section: Section) -> Vec<&'a Estimate> {
        let here = Benchmark::ALL.into_iter().filter(|it| it.definition().section == section);
        here.flat_map(|benchmark| self.results(benchmark)).collect()
    }

    /// The results of one benchmark: by the placement they have, in order of appearance, and
    /// within it by metric, in the order of the benchmark's definition.
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

    /// Where it was measured: `node`, `l3:0, all at once`, `numa:0 → numa:1`.
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

    /// The facts of the host it was measured on.
    pub(super) fn host(&self, estimate: &Estimate) -> Option<&'a HostFacts> {
        self.summary.hosts.iter().find(|host| host.name == estimate.host)
    }
}

/// The metric as people write it.
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
        // As long as that it may be broken where a table is narrow.
        "cpu_per_byte" => return "CPU time per\u{a0}byte".to_owned(),
        other => return units::joined(&other.replace('_', " ")),
    };
    units::joined(known)
}

/// The domain it was measured in, after the one that data came from.
pub(in crate::build) fn domains(estimate: &Estimate) -> Option<String> {
    let placement = text(estimate, Attribute::Placement)?;
    Some(match text(estimate, Attribute::Source) {
        Some(source) => units::joined(&format!("{source} → {placement}")),
        None => placement,
    })
}

/// An attribute as text for people.
pub(in crate::build) fn text(estimate: &Estimate, name: Attribute) -> Option<String> {
    estimate.parameters.get(&name).map(|value| units::display(name, value))
}

/// What format 1 kept under its own name, as a number.
pub(super) fn reported(estimate: &Estimate, name: &str) -> Option<f64> {
    match estimate.parameters.get(&Attribute::Reported) {
        Some(Value::Pairs(reported)) => reported.get(name)?.parse().ok(),
        _ => None,
    }
}

/// An attribute as a number.
pub(in crate::build) fn number(estimate: &Estimate, name: Attribute) -> Option<f64> {
    estimate.parameters.get(&name).and_then(Value::number)
}

/// The section that prints a result; `None` of a benchmark this version does not know.
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
