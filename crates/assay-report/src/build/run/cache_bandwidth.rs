//! Read bandwidth of each cache level: a curve over the working set of a core for each placement, and
//! the plateaus.

use assay_model::attribute::Attribute;
use assay_model::benchmark::ReportSection;
use assay_model::facts::HostFacts;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::cells;
use super::context::ReportContext;
use super::estimate_parts::{number, text};
use super::latency::{cache_levels, level_bands, representatives};
use crate::document::{
    Axis, Block, Document, Plot, PlotPoint, PlotSeries, ReportTable, Scale, left, right,
};
use crate::first_seen::group_by;
use crate::locale::{semicolon, word};
use crate::precision::{self, ColumnPrefixes};
use crate::units;

/// Prefix of the placement of a single core, which has its caches for itself.
const CORE_PREFIX: &str = "core:";

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let mut all = context.section_results(ReportSection::CacheBandwidth);
    if all.is_empty() {
        return;
    }
    all.sort_by(|a, b| bytes(a).total_cmp(&bytes(b)));
    let groups = group_by(all.iter().copied(), |it| context.place_label(it));
    document.heading(word("heading-cache-bandwidth"));
    document.blocks.extend(plot(context, &groups).map(Block::Plot));
    // A host that shows no caches has no levels.
    let table = levels_table(context, &groups);
    document.blocks.extend((!table.rows.is_empty()).then_some(Block::Table(table)));
}

fn bytes(estimate: &MetricEstimate) -> f64 {
    number(estimate, Attribute::Bytes).unwrap_or(0.0)
}

fn per_core(estimate: &MetricEstimate, value: f64) -> f64 {
    value / number(estimate, Attribute::Threads).unwrap_or(1.0).max(1.0)
}

/// Returns the part of each cache level that a core of the placement has, in ascending order.
fn levels_of_core(host: &HostFacts, estimate: &MetricEstimate) -> Vec<(u8, u64)> {
    let placement = text(estimate, Attribute::Placement).unwrap_or_default();
    let mut levels = cache_levels(host, estimate);
    if placement.starts_with(CORE_PREFIX) {
        return levels;
    }
    let topology = &host.topology;
    for (level, bytes) in &mut levels {
        let caches = topology.caches.iter().filter(|cache| cache.level == *level);
        let cores = caches.map(|cache| topology.one_cpu_per_core(&cache.cpus).len()).max();
        *bytes /= cores.unwrap_or(1).max(1) as u64;
    }
    levels.dedup_by(|next, before| next.1 <= before.1);
    levels
}

fn plot(context: &ReportContext<'_>, groups: &[Vec<&MetricEstimate>]) -> Option<Plot> {
    let point = |estimate: &&MetricEstimate| PlotPoint {
        x: bytes(estimate),
        y: per_core(estimate, estimate.median),
        interval: precision::usable_interval(estimate.median, estimate.ci)
            .map(|it| it.map(|end| per_core(estimate, end))),
    };
    let is_drawn =
        |point: &PlotPoint| precision::is_positive(point.x) && precision::is_positive(point.y);
    let series: Vec<PlotSeries> = groups
        .iter()
        .map(|group| PlotSeries {
            name: context.place_label(group[0]),
            points: group.iter().map(point).filter(is_drawn).collect(),
        })
        .filter(|series| series.points.len() > 1)
        .collect();
    let describe = |series: &PlotSeries| {
        let (first, last) = (series.points.first()?, series.points.last()?);
        let rate = |point: &PlotPoint| units::quantity(point.y, Unit::BytePerSecond, 3);
        Some(message!(
            "cache-bandwidth-description",
            place = series.name.as_str(),
            high = rate(first),
            small = units::size(first.x as u64),
            low = rate(last),
            large = units::size(last.x as u64),
        ))
    };
    let description: Vec<String> = series.iter().filter_map(describe).collect();
    let axes = [
        Axis::new(word("working-set"), Unit::Byte, Scale::Log2),
        Axis::new(word("axis-bandwidth-per-core"), Unit::BytePerSecond, Scale::Log10),
    ];
    // Of several placements, the first is a single core, whose caches are those of the kernel.
    let first = groups.first()?.first()?;
    let bands = context.host_facts(first).map(|host| levels_of_core(host, first));
    let bands = level_bands(&bands.unwrap_or_default());
    let title = word("table-cache-bandwidth");
    let plot = Plot::new(title, description.join(semicolon()), axes, series);
    (!plot.series.is_empty()).then_some(Plot { bands, is_comparison: true, ..plot })
}

/// Returns a table with a row for each level and placement: the working set that represents it.
fn levels_table(context: &ReportContext<'_>, groups: &[Vec<&MetricEstimate>]) -> ReportTable {
    let levels_of = |group: &Vec<&MetricEstimate>| {
        let host = context.host_facts(group[0]);
        host.map(|host| levels_of_core(host, group[0])).unwrap_or_default()
    };
    let rows: Vec<_> =
        groups.iter().flat_map(|group| representatives(group, &levels_of(group))).collect();
    let estimates: Vec<&MetricEstimate> = rows.iter().map(|(_, _, it)| *it).collect();
    let interval = cells::interval_title(&estimates);
    let mut table = ReportTable::with_caption(word("table-cache-bandwidth"));
    let prefixes = ColumnPrefixes::for_medians(estimates.iter().copied());
    let of_cores = ColumnPrefixes::for_values(
        estimates.iter().map(|it| (it.unit, per_core(it, it.median))),
    );
    for (level, size, estimate) in rows {
        let each = per_core(estimate, estimate.median);
        let size_of_set = text(estimate, Attribute::Bytes).unwrap_or_default();
        let [value, width] =
            cells::value_columns((word("column-bandwidth"), &interval), estimate, &prefixes);
        table.push([
            left(word("column-where"), context.place_label(estimate)),
            left(word("column-level"), level),
            right(word("column-size"), size),
            right(word("working-set"), size_of_set),
            value,
            width,
            right(
                word("column-per-core"),
                of_cores.value_without_interval(each, estimate.unit),
            ),
            cells::sample_column(estimate),
            cells::measurer_column(context, estimate),
            cells::note_column(context, estimate),
        ]);
    }
    table.without_empty_columns()
}
