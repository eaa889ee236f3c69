//! Common lookups of the report's sections: results, their placements and measurers, and their notes.

use std::collections::BTreeMap;

use assay_model::benchmark::{Benchmark, ReportSection};
use assay_model::facts::HostFacts;
use assay_model::run::Run;
use assay_model::summary::{MetricEstimate, RunSummary};

use super::estimate_parts::{domain_label, is_concurrent};
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
        // Core-to-core latency has tens of thousands of pairs, each with a place of its own.
        let mut first_positions: BTreeMap<String, usize> = BTreeMap::new();
        for (position, estimate) in found.iter().enumerate() {
            first_positions.entry(self.place_label(estimate)).or_insert(position);
        }
        let metrics = benchmark.definition().metrics;
        found.sort_by_cached_key(|estimate| {
            (
                first_positions.get(&self.place_label(estimate)).copied(),
                metrics.iter().position(|metric| metric.name == estimate.metric),
            )
        });
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
