//! Levels on several hosts: totals replace the results of single hosts.

use std::collections::BTreeSet;

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, ReportSection};
use assay_model::factor::{FactorLevel, HOSTS_FACTOR};
use assay_model::run::{ALL_HOSTS, Run};
use assay_model::summary::MetricEstimate;

use crate::summarize::summarize;

/// Returns the results of a run. If the number of hosts is a factor, the results of a single host are
/// also its total.
pub(super) fn total_results(run: &Run, levels: &[FactorLevel]) -> Vec<MetricEstimate> {
    let mut results = summarize(run).results;
    let is_varied = levels.iter().any(|it| it.factor == HOSTS_FACTOR);
    let hosts: BTreeSet<&str> = results.iter().map(|it| it.host.as_str()).collect();
    if is_varied && hosts.len() == 1 {
        results.iter_mut().filter(|it| has_totals(it)).for_each(|it| {
            let host = std::mem::replace(&mut it.host, ALL_HOSTS.to_owned());
            it.parameters.insert(Attribute::Host, ALL_HOSTS.into());
            it.parameters.insert(Attribute::Hosts, host.into());
        });
    }
    results
}

fn has_totals(estimate: &MetricEstimate) -> bool {
    let section = Benchmark::from_id(&estimate.benchmark).map(|it| it.definition().section);
    section.is_some_and(ReportSection::has_host_totals)
}

/// Removes the results of single hosts whose metric has a total in any run.
pub(super) fn keep_totals<'r>(runs: impl Iterator<Item = &'r mut Vec<MetricEstimate>>) {
    let mut runs: Vec<&mut Vec<MetricEstimate>> = runs.collect();
    let name = |it: &MetricEstimate| (it.benchmark.clone(), it.metric.clone());
    let all = runs.iter().flat_map(|run| run.iter());
    let totals: BTreeSet<_> = all.filter(|it| it.spans_hosts()).map(name).collect();
    for run in &mut runs {
        run.retain(|it| it.spans_hosts() || !totals.contains(&name(it)));
    }
}
