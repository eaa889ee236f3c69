//! Plot of bandwidth over the number of cores.

use assay_model::attribute::Attribute;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::super::estimate_parts::{metric_name, number, text};
use super::super::{cells, words};
use crate::document::{Axis, Plot, PlotPoint, PlotSeries, Scale};
use crate::locale::{comma, word};
use crate::{precision, units};

/// Metrics of the plot; the others are close to them and would hide them.
const PLOTTED_METRICS: [&str; 3] = ["triad", "read", "write"];

/// Builds the plot; `None` for fewer than two numbers of cores.
pub(super) fn plot(estimates: &[&MetricEstimate]) -> Option<Plot> {
    let drawn = estimates.iter().filter(|e| PLOTTED_METRICS.contains(&e.metric.as_str()));
    let points = drawn.filter_map(|it| Some((series_name(it, estimates), point(it)?)));
    let mut series = PlotSeries::group_points(points);
    for series in &mut series {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    series.retain(|series| series.points.len() > 1);
    let points = &series.first()?.points;
    let (first, last) = (points.first()?, points.last()?);
    let cores = |point: &PlotPoint| words::cores(point.x as usize);
    let value = |point: &PlotPoint| units::quantity(point.y, Unit::BytePerSecond, 3);
    let description =
        words::scaling_description(&cores(first), &value(first), &cores(last), &value(last));
    let axes = [
        Axis::new(word("axis-cores"), Unit::Count, Scale::Linear),
        Axis::new(word("column-bandwidth"), Unit::BytePerSecond, Scale::Linear),
    ];
    let (title, limit) =
        (words::scaling_title(&series_names(&series)), cells::limit_line(estimates));
    Some(Plot { limit, ..Plot::new(title, description, axes, series) })
}

fn series_names(series: &[PlotSeries]) -> String {
    series.iter().map(|series| series.name.as_str()).collect::<Vec<_>>().join(comma())
}

fn series_name(estimate: &MetricEstimate, all: &[&MetricEstimate]) -> String {
    let is_only_tool = all.iter().all(|other| other.tool.name == estimate.tool.name);
    let metric = metric_name(estimate);
    if is_only_tool {
        metric
    } else {
        message!("what-by", what = metric, by = estimate.tool.name.as_str())
    }
}

fn point(estimate: &MetricEstimate) -> Option<PlotPoint> {
    let placement = text(estimate, Attribute::Placement)?;
    let cores = placement.rsplit(':').next()?.parse::<u32>().ok().map(f64::from);
    let x = cores.or_else(|| number(estimate, Attribute::Threads))?;
    let drawable = precision::is_positive(estimate.median);
    drawable.then_some(PlotPoint {
        x,
        y: estimate.median,
        interval: precision::usable_interval(estimate.median, estimate.ci),
    })
}
