//! Plots of network samples: rates and CPU load over time, and the distribution of round trips.

use assay_model::attribute::{Attribute, AttributeValue, Role};
use assay_model::distribution::MergedDistribution;
use assay_model::quantity::Unit;
use assay_model::run::{Run, SeriesRecord};
use assay_model::summary::MetricEstimate;

use super::item_label;
use crate::build::run::cells;
use crate::build::run::network_labels::{case_and_end, metric_label};
use crate::document::{Axis, Plot, PlotPoint, PlotSeries, Scale};
use crate::locale::{join_sentences, with_detail, word};
use crate::{precision, units};

/// Maximum number of distinguishable curves.
const MAX_CURVES: usize = 6;
/// Maximum number of points that fit the width of a page; more samples are averaged.
const MAX_POINTS: usize = 60;
/// Quantiles at which a distribution is drawn: evenly spaced, and denser in the tails.
const QUANTILES: [f64; 17] = [
    0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.995, 0.999,
    0.9999,
];

/// Returns the series with the samples of a result, but no parts of a series.
fn find_series<'r>(run: &'r Run, estimate: &MetricEstimate) -> Option<&'r SeriesRecord> {
    run.case(&estimate.case)?.series.iter().find(|series| {
        // Only runs with several hosts have the host as a parameter.
        let is_same =
            |name: &Attribute, value: &AttributeValue| match estimate.parameters.get(name) {
                None if *name == Attribute::Host => value.as_text() == Some(&estimate.host),
                parameter => parameter == Some(value),
            };
        series.metric == estimate.metric
            && series
                .dimensions
                .iter()
                .all(|(name, value)| name.row().role != Role::Part && is_same(name, value))
    })
}

/// Plots one metric over the measured time.
pub(super) fn plot_over_time(run: &Run, all: &[&MetricEstimate], metric: &str) -> Option<Plot> {
    let found: Vec<&MetricEstimate> =
        all.iter().copied().filter(|it| it.metric == metric).collect();
    let mut series: Vec<PlotSeries> = found
        .iter()
        .filter_map(|it| {
            let points = points_over_time(find_series(run, it)?);
            Some(PlotSeries { name: curve_name(it), points })
        })
        .filter(|it| it.points.len() > 2)
        .collect();
    series.truncate(MAX_CURVES);
    let unit = found.first()?.unit;
    let (title, label) = match metric {
        "goodput" => (word("course-of-goodput"), word("column-goodput")),
        _ => (word("course-of-cpu-load"), word("column-cpu-load")),
    };
    let description = describe_courses(&series, unit);
    let axes = [
        Axis::new(word("axis-time-measured"), Unit::Second, Scale::Linear),
        Axis::new(label, unit, Scale::Linear),
    ];
    (!series.is_empty()).then(|| Plot {
        is_comparison: true,
        limit: cells::limit_line(&found),
        ..Plot::new(title, description, axes, series)
    })
}

fn curve_name(estimate: &MetricEstimate) -> String {
    match estimate.metric.as_str() {
        "goodput" => item_label(estimate),
        _ => case_and_end(estimate),
    }
}

/// Returns every sample at the end of its time span; neighbours are averaged if there are too many.
fn points_over_time(series: &SeriesRecord) -> Vec<PlotPoint> {
    let chunk_len = series.samples.len().div_ceil(MAX_POINTS).max(1);
    let mut elapsed = 0.0;
    let chunks = series.samples.chunks(chunk_len);
    let point = |samples: &[assay_model::event::Sample]| {
        let seconds: f64 = samples.iter().map(|it| it.weight).sum();
        let weighted: f64 = samples.iter().map(|it| it.weight * it.value).sum();
        elapsed += seconds;
        PlotPoint { x: elapsed, y: weighted / seconds, interval: None }
    };
    chunks.map(point).filter(|it| it.x.is_finite() && it.y.is_finite()).collect()
}

/// Plots the cumulative distribution of the round trips.
pub(super) fn plot_distribution(run: &Run, times: &[&MetricEstimate]) -> Option<Plot> {
    let mut series: Vec<PlotSeries> = times
        .iter()
        .filter_map(|it| {
            let points = quantile_points(find_series(run, it)?);
            let name = match case_and_end(it) {
                case if case.is_empty() => metric_label(it),
                case => with_detail(&metric_label(it), &case),
            };
            Some(PlotSeries { name, points })
        })
        .filter(|it| it.points.len() > 2)
        .collect();
    series.truncate(MAX_CURVES);
    let described = series.iter().filter_map(|it| {
        let at = |share: f64| it.points.iter().rfind(|point| point.y <= share);
        // With fewer than a hundred samples, the largest known quantile replaces p99.
        let (half, most) = (at(0.5)?, at(0.99)?);
        let time = |point: &PlotPoint| units::quantity(point.x, Unit::Second, 3);
        Some(message!(
            "distribution-goes",
            name = it.name.as_str(),
            median = time(half),
            most = time(most),
            share = precision::value_without_interval(most.y, Unit::Ratio),
        ))
    });
    let description = join_sentences(&described.collect::<Vec<_>>());
    let axes = [
        Axis::new(word("table-round-trips"), Unit::Second, Scale::Log10),
        Axis::new(word("axis-share-at-most"), Unit::Ratio, Scale::Linear),
    ];
    let title = word("distribution-of-round-trips");
    (!series.is_empty())
        .then(|| Plot { is_comparison: true, ..Plot::new(title, description, axes, series) })
}

/// Returns the quantiles for which there are enough samples.
fn quantile_points(series: &SeriesRecord) -> Vec<PlotPoint> {
    let kept = series.distributions.iter().filter(|it| !it.warmup).map(|it| &it.seen);
    let merged = MergedDistribution::merge(kept).filter(|it| !it.histogram.is_empty());
    let mut sorted: Vec<f64> = series.samples.iter().map(|it| it.value).collect();
    sorted.sort_by(f64::total_cmp);
    let count = merged.as_ref().map_or(sorted.len() as u64, |it| it.histogram.len());
    let value = |share: f64| match &merged {
        Some(it) => it.histogram.value_at_quantile(share) as f64 * 1e-9,
        None => sorted[((share * sorted.len() as f64) as usize).min(sorted.len() - 1)],
    };
    let is_known = |share: &f64| count as f64 * share.min(1.0 - share) >= 1.0;
    let point = |share: f64| PlotPoint { x: value(share), y: share, interval: None };
    let points = QUANTILES.into_iter().filter(is_known).map(point);
    points.filter(|point| precision::is_positive(point.x)).collect()
}

/// Describes each curve by its least and its greatest value.
pub(in crate::build::run) fn describe_courses(series: &[PlotSeries], unit: Unit) -> String {
    let described = series.iter().map(|it| {
        let ends = it.points.iter().fold([f64::INFINITY, 0.0], |[low, high], point| {
            [low.min(point.y), f64::max(high, point.y)]
        });
        let [low, high] = ends.map(|value| precision::format_value(value, unit, 3));
        message!("course-goes", name = it.name.as_str(), low = low, high = high)
    });
    join_sentences(&described.collect::<Vec<_>>())
}
