//! Headline values of a run, for the list of runs.

use std::cmp::Ordering;

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::{Benchmark, Better, Metric, ReportSection};
use assay_model::plan::{MissingRequirement, OmittedMeasure};
use assay_model::quantity::Quantity;
use assay_model::summary::{MetricEstimate, RunSummary};

use super::run::estimate_parts::{domain_label, is_program_figure, number, section_of};

/// Attributes by which one result represents the machine better than another.
const SIZE_ATTRIBUTES: [Attribute; 4] =
    [Attribute::Threads, Attribute::Bytes, Attribute::N, Attribute::Streams];

/// Returns the figures that programs printed, and at most one value for each metric with a headline in
/// the table of benchmarks: that of the whole node, or of the largest working set.
pub fn headlines(summary: &RunSummary) -> Vec<(String, Quantity)> {
    let metrics = Benchmark::ALL.into_iter().flat_map(|benchmark| {
        benchmark.definition().metrics.iter().map(move |metric| (benchmark, metric))
    });
    let headline = |(benchmark, metric): (Benchmark, &Metric)| {
        let name = metric.headline?;
        let candidates = summary.results.iter().filter(|e| {
            e.benchmark == benchmark.id() && e.metric == metric.name && e.median.is_finite()
        });
        let best = candidates.max_by(|a, b| compare_weight(a, b))?;
        if lacks_larger_set(summary, best) {
            return None;
        }
        Some((headline_label(name, best), Quantity::new(best.median, best.unit)))
    };
    own_figures(summary).into_iter().chain(metrics.filter_map(headline)).collect()
}

/// Maximum number of figures of programs.
const MAX_FIGURES: usize = 3;

/// Returns the first value of each figure that a user had read from the output of a program, here or of a file.
fn own_figures(summary: &RunSummary) -> Vec<(String, Quantity)> {
    let mut found: Vec<(String, Quantity)> = Vec::new();
    let is_foreign = |it: &MetricEstimate| it.benchmark == Benchmark::Foreign.id();
    for it in summary.results.iter().filter(|it| is_program_figure(it) || is_foreign(it)) {
        let Some(name) = it.parameters.get(&Attribute::Test).map(ToString::to_string) else {
            continue;
        };
        let is_known = found.iter().any(|(known, _)| *known == name);
        if it.median.is_finite() && !is_known && found.len() < MAX_FIGURES {
            found.push((name, Quantity::new(it.median, it.unit)));
        }
    }
    found
}

/// Returns the index of the result that represents the machine; `results` must not be empty.
pub fn representative(results: &[&MetricEstimate]) -> usize {
    let best = (0..results.len()).max_by(|a, b| compare_weight(results[*a], results[*b]));
    best.unwrap_or_default()
}

/// Whether the budget left no time for a larger working set: the latency of a cache does not represent
/// memory.
pub(super) fn lacks_larger_set(summary: &RunSummary, best: &MetricEstimate) -> bool {
    let Some(bytes) = number(best, Attribute::Bytes) else { return false };
    let is_larger = |omitted: &OmittedMeasure| {
        let size = omitted.benchmark.strip_prefix(&best.benchmark);
        let size = size.and_then(|it| it.rsplit_once("bytes=")?.1.parse::<f64>().ok());
        omitted.reason == MissingRequirement::Time && size.is_some_and(|it| it > bytes)
    };
    section_of(best) == Some(ReportSection::Ladder) && summary.omitted.iter().any(is_larger)
}

/// Orders results by how well they represent the machine.
///
/// The whole node comes first, then most threads, the largest working set or system, but the
/// shortest message for MPI latency. Ties prefer assay's own measurement, then the better value.
/// Storage has no whole: its best test represents it. A matrix of copies is represented by its
/// slowest pair, the highest cost of a wrong placement. Operations on files are represented by
/// creation, which every file system has to make durable.
fn compare_weight(a: &MetricEstimate, b: &MetricEstimate) -> Ordering {
    let size = |estimate: &MetricEstimate| {
        let sign = size_weight(section_of(estimate), estimate.better);
        SIZE_ATTRIBUTES.map(|name| sign * number(estimate, name).unwrap_or(0.0))
    };
    let sizes = || size(a).into_iter().zip(size(b)).map(|(a, b)| a.total_cmp(&b));
    let is_node = |estimate: &MetricEstimate| placement(estimate) == Some("node");
    let is_own = |estimate: &MetricEstimate| estimate.tool.name == "assay";
    let quality = match a.better {
        Better::Higher if section_of(a) == Some(ReportSection::Copies) => {
            b.median.total_cmp(&a.median)
        }
        Better::Higher => a.median.total_cmp(&b.median),
        Better::Lower => b.median.total_cmp(&a.median),
    };
    let is_creation = |it: &MetricEstimate| {
        it.parameters.get(&Attribute::Operation).and_then(AttributeValue::as_text)
            == Some("create")
    };
    is_node(a)
        .cmp(&is_node(b))
        .then(is_creation(a).cmp(&is_creation(b)))
        .then(sizes().fold(Ordering::Equal, Ordering::then))
        .then(is_own(a).cmp(&is_own(b)))
        .then(quality)
}

/// Returns 1 if the larger of two sizes represents the machine, -1 if the smaller, 0 if size does
/// not matter.
pub(crate) const fn size_weight(section: Option<ReportSection>, better: Better) -> f64 {
    match (section, better) {
        (Some(ReportSection::Mpi), Better::Lower) => -1.0,
        (Some(ReportSection::Storage | ReportSection::Files | ReportSection::Copies), _) => 0.0,
        (Some(ReportSection::Mpi), Better::Higher)
        | (
            Some(
                ReportSection::Bandwidth
                | ReportSection::Ladder
                | ReportSection::CacheBandwidth
                | ReportSection::CoreToCore
                | ReportSection::LoadedLatency
                | ReportSection::Compute
                | ReportSection::Network
                | ReportSection::Io500
                | ReportSection::Programs
                | ReportSection::General,
            )
            | None,
            _,
        ) => 1.0,
    }
}

fn placement(estimate: &MetricEstimate) -> Option<&str> {
    estimate.parameters.get(&Attribute::Placement).and_then(AttributeValue::as_text)
}

/// Returns the name with its domain, except for the whole node; a test's own name takes precedence.
pub(super) fn headline_label(name: &str, estimate: &MetricEstimate) -> String {
    let text = |name| estimate.parameters.get(&name).and_then(AttributeValue::as_text);
    let name = text(Attribute::Test).or_else(|| text(Attribute::Phase)).unwrap_or(name);
    let is_files = section_of(estimate) == Some(ReportSection::Files);
    let operation = || text(Attribute::Operation).filter(|_| is_files).map(str::to_owned);
    match domain_label(estimate).filter(|it| it != "node").or_else(operation) {
        None => name.to_owned(),
        Some(place) => format!("{name} ({place})"),
    }
}
