//! Curves of an MPI table: one line per MPI over the message size.

use assay_model::quantity::Unit;

use super::super::cells;
use super::{MpiGroup, size};
use crate::document::{Axis, Plot, PlotPoint, PlotSeries, Scale};
use crate::locale::{join_sentences, word};
use crate::{precision, units};

/// Builds the plot; `None` for fewer than two sizes.
pub(super) fn plot(group: &MpiGroup<'_>) -> Option<Plot> {
    let series = |name: String| {
        let mut points: Vec<PlotPoint> = group
            .estimates
            .iter()
            .filter(|it| group.column(it) == name && precision::is_positive(it.median))
            .filter_map(|it| {
                // A logarithmic axis cannot show empty messages.
                let x = size(it).filter(|bytes| *bytes > 0)? as f64;
                Some(PlotPoint {
                    x,
                    y: it.median,
                    interval: precision::usable_interval(it.median, it.ci),
                })
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        PlotSeries { name, points }
    };
    let mut series: Vec<PlotSeries> = group.columns().into_iter().map(series).collect();
    series.retain(|one| one.points.len() > 1);
    let unit = group.estimates.first()?.unit;
    let describe = |one: &PlotSeries| {
        let (first, last) = (one.points.first()?, one.points.last()?);
        let value = |point: &PlotPoint| units::quantity(point.y, unit, 3);
        let bytes = |point: &PlotPoint| units::size(point.x as u64);
        Some(message!(
            "curve-goes",
            name = one.name.as_str(),
            low = value(first),
            small = bytes(first),
            high = value(last),
            large = bytes(last),
        ))
    };
    let description: Vec<String> = series.iter().filter_map(describe).collect();
    let axes = [
        Axis::new(word("axis-message-size"), Unit::Byte, Scale::Log2),
        Axis::new(group.metric.replace('_', " "), unit, Scale::Log10),
    ];
    (!series.is_empty()).then(|| Plot {
        is_comparison: true,
        limit: cells::limit_line(&group.estimates),
        ..Plot::new(group.title(), join_sentences(&description), axes, series)
    })
}
