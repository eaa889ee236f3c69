//! Latency ladder: a curve over working sets, and the latency of each cache level.

use std::collections::BTreeMap;

use assay_model::attribute::Attribute;
use assay_model::attribute::AttributeValue;
use assay_model::benchmark::ReportSection;
use assay_model::facts::HostFacts;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::context::ReportContext;
use super::estimate_parts::{number, text};
use super::{cells, words};
use crate::document::{
    Axis, Band, Block, Document, Plot, PlotPoint, PlotSeries, ReportTable, Scale, Tone, left,
    right,
};
use crate::locale::{comma, word};
use crate::precision::{self, ColumnPrefixes};
use crate::units;

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let mut all = context.section_results(ReportSection::Ladder);
    let size = |estimate: &MetricEstimate| number(estimate, Attribute::Bytes).unwrap_or(0.0);
    all.sort_by(|a, b| size(a).total_cmp(&size(b)));
    let Some(first) = all.first() else { return };
    document.heading(word("heading-latency"));
    let levels =
        context.host_facts(first).map(|host| cache_levels(host, first)).unwrap_or_default();
    document.blocks.extend(plot(&all, &levels).map(Block::Plot));
    document.blocks.push(Block::Table(levels_table(context, &all, &levels)));
    document.paragraph(Tone::Quiet, huge_pages_note(&all));
}

/// Returns level and size of each cache that the measuring CPU uses, in ascending order.
pub(super) fn cache_levels(host: &HostFacts, estimate: &MetricEstimate) -> Vec<(u8, u64)> {
    let cpu = number(estimate, Attribute::Cpu).map(|cpu| cpu as u32);
    let uses = |cpus: &[u32]| cpu.is_none_or(|cpu| cpus.contains(&cpu));
    let mut sizes: BTreeMap<u8, u64> = BTreeMap::new();
    for cache in host.topology.caches.iter().filter(|cache| uses(&cache.cpus)) {
        let size = sizes.entry(cache.level).or_insert(0);
        *size = cache.bytes.max(*size);
    }
    let mut levels: Vec<(u8, u64)> = sizes.into_iter().collect();
    // A cache no larger than the level below causes no step in the curve.
    levels.dedup_by(|next, before| next.1 <= before.1);
    levels
}

fn plot(estimates: &[&MetricEstimate], levels: &[(u8, u64)]) -> Option<Plot> {
    let points = estimates.iter().filter_map(|estimate| {
        let x = number(estimate, Attribute::Bytes).filter(|x| precision::is_positive(*x))?;
        let y = Some(estimate.median).filter(|y| precision::is_positive(*y))?;
        let point = PlotPoint { x, y, interval: precision::usable_interval(y, estimate.ci) };
        Some((series_name(estimate, estimates), point))
    });
    let mut series = PlotSeries::group_points(points);
    series.retain(|series| series.points.len() > 1);
    let points = &series.first()?.points;
    let (first, last) = (points.first()?, points.last()?);
    let size = |point: &PlotPoint| units::size(point.x as u64);
    let time = |point: &PlotPoint| units::quantity(point.y, Unit::Second, 3);
    let description =
        words::ladder_description(&time(first), &size(first), &time(last), &size(last));
    let axes = [
        Axis::new(word("working-set"), Unit::Byte, Scale::Log2),
        Axis::new(word("time-per-load"), Unit::Second, Scale::Log10),
    ];
    let bands = level_bands(levels);
    Some(Plot { bands, ..Plot::new(word("ladder-title"), description, axes, series) })
}

/// Returns host, CPU and measurer, as far as they differ.
fn series_name(estimate: &MetricEstimate, all: &[&MetricEstimate]) -> String {
    let parts = |estimate: &MetricEstimate| {
        let cpu = text(estimate, Attribute::Cpu).map(|cpu| format!("CPU {cpu}"));
        [Some(estimate.host.clone()), cpu, Some(estimate.tool.name.clone())]
    };
    let differs = |i: &usize| {
        let i = *i;
        all.windows(2).any(|pair| parts(pair[0])[i] != parts(pair[1])[i])
    };
    let reported: Vec<String> =
        (0..3).filter(differs).filter_map(|i| parts(estimate)[i].clone()).collect();
    if reported.is_empty() { word("column-latency").to_owned() } else { reported.join(comma()) }
}

/// Returns the range of working sets that each level serves, and that of memory.
pub(super) fn level_bands(levels: &[(u8, u64)]) -> Vec<Band> {
    let mut bands = Vec::new();
    let mut from = 0.0;
    for (level, bytes) in levels {
        let label = format!("L{level} {}", units::size(*bytes));
        bands.push(Band {
            label: units::with_no_break_spaces(&label),
            from,
            to: *bytes as f64,
        });
        from = *bytes as f64;
    }
    if !bands.is_empty() {
        bands.push(Band { label: word("beyond-caches").to_owned(), from, to: f64::INFINITY });
    }
    bands
}

/// Returns a table with one row per cache and one for memory, each with a representative
/// measurement.
fn levels_table(
    context: &ReportContext<'_>,
    estimates: &[&MetricEstimate],
    levels: &[(u8, u64)],
) -> ReportTable {
    let interval = cells::interval_title(estimates);
    let titles = (word("column-latency"), interval.as_str());
    let mut table = ReportTable::with_caption(word("table-levels"));
    let chosen = representatives(estimates, levels);
    let prefixes = ColumnPrefixes::for_medians(chosen.iter().map(|(_, _, estimate)| *estimate));
    for (level, size, estimate) in chosen {
        let [value, interval] = cells::value_columns(titles, estimate, &prefixes);
        let bytes = text(estimate, Attribute::Bytes).unwrap_or_default();
        table.push([
            left(word("column-level"), level),
            right(word("column-size"), size),
            right(word("working-set"), bytes),
            value,
            interval,
            cells::sample_column(estimate),
            cells::host_and_measurer_column(context, estimate),
            cells::note_column(context, estimate),
        ]);
    }
    table.without_empty_columns()
}

/// Selects the measurement that represents each level.
///
/// A cache is represented by the largest working set that fills at most half of it and exceeds the
/// level below. Memory is represented by the largest of all, if it is at least twice the last
/// cache. Near a boundary two levels serve a working set, so it represents neither. Without known
/// caches, all working sets are returned.
pub(super) fn representatives<'a>(
    estimates: &[&'a MetricEstimate],
    levels: &[(u8, u64)],
) -> Vec<(String, String, &'a MetricEstimate)> {
    if levels.is_empty() {
        return estimates.iter().map(|e| (String::new(), String::new(), *e)).collect();
    }
    let size = |estimate: &MetricEstimate| number(estimate, Attribute::Bytes).unwrap_or(0.0);
    let mut found = Vec::new();
    let mut below = 0.0;
    for (level, bytes) in levels {
        let fits = |e: &&&MetricEstimate| size(e) > below && size(e) <= *bytes as f64 / 2.0;
        let label = units::size(*bytes);
        let best = estimates.iter().rev().find(fits);
        found.extend(best.map(|estimate| (format!("L{level}"), label, *estimate)));
        below = *bytes as f64;
    }
    let largest = estimates.last().filter(|estimate| size(estimate) >= 2.0 * below);
    let memory = |estimate: &&'a MetricEstimate| {
        (word("beyond-caches").to_owned(), String::new(), *estimate)
    };
    found.extend(largest.map(memory));
    found
}

fn huge_pages_note(estimates: &[&MetricEstimate]) -> String {
    let reported: Vec<_> =
        estimates.iter().filter(|e| e.parameters.contains_key(&Attribute::HugePages)).collect();
    if reported.is_empty() {
        return String::new();
    }
    let granted: Vec<String> = reported
        .iter()
        .filter(|estimate| match &estimate.parameters[&Attribute::HugePages] {
            AttributeValue::Flag(granted) => *granted,
            AttributeValue::Text(text) => !matches!(text.as_str(), "no" | "none" | "never"),
            value => value.as_number().is_some_and(|share| share > 0.0),
        })
        .filter_map(|estimate| text(estimate, Attribute::Bytes))
        .collect();
    words::huge_pages(&granted, reported.len())
}
