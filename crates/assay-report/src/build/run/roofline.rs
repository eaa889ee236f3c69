//! Roofline plot: the attainable compute rate over arithmetic intensity, from measured memory
//! bandwidth and peak.
//!
//! S. Williams, A. Waterman, D. Patterson: Roofline, CACM 52 (2009): min(peak, bandwidth ×
//! operations per byte).

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::context::ReportContext;
use super::estimate_parts::{metric_name, text};
use crate::build::headlines::representative;
use crate::document::{Axis, Block, Document, Plot, PlotPoint, PlotSeries, Scale};
use crate::first_seen::distinct;
use crate::locale::{Argument, Language, word};
use crate::precision;
use crate::units;

/// Operations and bytes per element of STREAM's kernels, as STREAM counts them.
const KERNELS: [(&str, f64, f64); 3] =
    [("add", 1.0, 24.0), ("scale", 1.0, 16.0), ("triad", 2.0, 24.0)];
/// Lowest intensity of the plot, below that of all STREAM kernels.
const MIN_INTENSITY: f64 = 0.02;
/// Factor by which the plot extends beyond the ridge.
const BEYOND_RIDGE: f64 = 8.0;
/// Maximum number of hosts with a plot each; with more hosts there is none.
const MAX_HOSTS: usize = 4;

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let hosts = distinct(context.summary.results.iter().map(|it| it.host.as_str()));
    let plots: Vec<Plot> = hosts.into_iter().filter_map(|host| plot(context, host)).collect();
    if plots.len() <= MAX_HOSTS {
        document.blocks.extend(plots.into_iter().map(Block::Plot));
    }
}

/// Returns the result of a metric that represents the host, from assay or a tool.
fn representative_result<'a>(
    context: &ReportContext<'a>,
    host: &str,
    (benchmark, metric): (Benchmark, &str),
) -> Option<&'a MetricEstimate> {
    let is_one = |it: &&MetricEstimate| {
        it.host == host
            && it.benchmark == benchmark.id()
            && it.metric == metric
            && precision::is_positive(it.median)
    };
    let found: Vec<&MetricEstimate> = context.summary.results.iter().filter(is_one).collect();
    (!found.is_empty()).then(|| found[representative(&found)])
}

fn plot(context: &ReportContext<'_>, host: &str) -> Option<Plot> {
    let memory = representative_result(context, host, (Benchmark::MemoryStream, "triad"))?;
    let compute = representative_result(context, host, (Benchmark::PeakFlops, "fp64"))?;
    // A roof must not combine the bandwidth of one core with the peak of all.
    if text(memory, Attribute::Placement) != text(compute, Attribute::Placement) {
        return None;
    }
    let ridge = compute.median / memory.median;
    let last = ridge * BEYOND_RIDGE;
    let roof = |name: &str, bandwidth: f64, peak: f64| {
        let place = peak / bandwidth;
        let at = |x: f64| PlotPoint { x, y: (bandwidth * x).min(peak), interval: None };
        let inner = Some(place).filter(|x| *x > MIN_INTENSITY && *x < last).map(at);
        let points = [at(MIN_INTENSITY)].into_iter().chain(inner).chain([at(last)]).collect();
        PlotSeries { name: name.to_owned(), points }
    };
    let mut series = vec![roof(word("roofline-measured"), memory.median, compute.median)];
    if let (Some(of_memory), Some(of_compute)) = (&memory.limit, &compute.limit) {
        series.push(roof(word("roofline-limits"), of_memory.value, of_compute.value));
    }
    series.extend(KERNELS.into_iter().filter_map(|(kernel, operations, bytes)| {
        let found = representative_result(context, host, (Benchmark::MemoryStream, kernel))?;
        let x = operations / bytes;
        let point = PlotPoint { x, y: found.median * x, interval: None };
        Some(PlotSeries { name: metric_name(found), points: vec![point] })
    }));
    let solved = representative_result(context, host, (Benchmark::Linpack, "rmax"));
    series.extend(solved.map(|it| {
        let at = |x| PlotPoint { x, y: it.median, interval: None };
        PlotSeries { name: "LINPACK".to_owned(), points: vec![at(ridge), at(last)] }
    }));
    let title = match context.has_several_hosts {
        true => message!("roofline-title-of", host = host),
        false => word("roofline-title").to_owned(),
    };
    let ridge_text = Language::INVARIANT.scope(|| units::quantity(ridge, Unit::Ratio, 3));
    let description = message!(
        "roofline-description",
        ridge = Argument::Decimal(ridge_text),
        bandwidth = units::quantity(memory.median, Unit::BytePerSecond, 3),
        peak = units::quantity(compute.median, Unit::FlopPerSecond, 3),
    );
    let axes = [
        // Operations per byte are a number, not a ratio to be printed in percent.
        Axis::new(word("axis-operations-per-byte"), Unit::Count, Scale::Log10),
        Axis::new(word("axis-compute-rate"), Unit::FlopPerSecond, Scale::Log10),
    ];
    Some(Plot { is_comparison: true, ..Plot::new(title, description, axes, series) })
}
