//! Selection of results for published tables, and their units and decimals.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::summary::MetricEstimate;

use super::run::estimate_parts::number;

/// Decimals that perftest and the OSU benchmarks print.
pub(super) const DECIMALS: usize = 2;

pub(super) const MICROSECOND: f64 = 1e-6;

pub(super) fn find_results<'a>(
    all: &[&'a MetricEstimate],
    benchmark: Benchmark,
    metric: &str,
) -> Vec<&'a MetricEstimate> {
    let is_match =
        |it: &&&MetricEstimate| it.benchmark == benchmark.id() && it.metric == metric;
    all.iter().filter(is_match).copied().collect()
}

/// Returns the sizes of some results in ascending order, each once.
pub(super) fn sizes(results: &[&MetricEstimate]) -> Vec<u64> {
    let mut sizes: Vec<u64> = results
        .iter()
        .filter_map(|it| number(it, Attribute::Bytes).map(|bytes| bytes as u64))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

pub(super) fn find_size<'a>(
    results: &[&'a MetricEstimate],
    bytes: u64,
) -> Option<&'a MetricEstimate> {
    let has_size = |it: &&&MetricEstimate| number(it, Attribute::Bytes) == Some(bytes as f64);
    results.iter().find(has_size).copied()
}
