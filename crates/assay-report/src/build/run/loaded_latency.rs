//! Loaded latency: latency over the bandwidth of other traffic, with a curve for each mix.

use assay_model::attribute::Attribute;
use assay_model::benchmark::ReportSection;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::cells;
use super::context::ReportContext;
use super::estimate_parts::{number, text};
use crate::document::{
    Axis, Block, Details, Document, Plot, PlotPoint, PlotSeries, ReportTable, Scale, TableCell,
    Tone, left, right,
};
use crate::first_seen::group_by;
use crate::locale::{join_details, semicolon, word};
use crate::precision::{self, ColumnPrefixes};
use crate::units;

/// Shares of the highest bandwidth whose latency the table has.
const SHARES: [f64; 3] = [0.5, 0.8, 0.9];

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let all = context.section_results(ReportSection::LoadedLatency);
    let curves = curves(context, &all);
    if curves.is_empty() {
        return;
    }
    document.heading(word("heading-loaded-latency"));
    document.blocks.push(Block::Plot(plot(&curves)));
    document.blocks.push(Block::Table(shares_table(context, &curves)));
    document.paragraph(Tone::Quiet, word("loaded-latency-explanation"));
    let points = Block::Table(points_table(context, &curves));
    let title = word("details-loaded-latency").to_owned();
    document.blocks.push(Block::Details(Details { title, blocks: vec![points] }));
}

/// Point of a curve: the results of one pause, or of the idle chain.
#[derive(Clone, Copy)]
struct LoadPoint<'a> {
    latency: &'a MetricEstimate,
    bandwidth: &'a MetricEstimate,
}

/// Curve of one mix on one host, from idle to the highest bandwidth.
struct LoadCurve<'a> {
    name: String,
    idle: Option<LoadPoint<'a>>,
    /// Points with traffic, at least one, by ascending bandwidth.
    loaded: Vec<LoadPoint<'a>>,
}

/// Returns the curves in order of appearance. Every curve begins with the idle chain of its host.
fn curves<'a>(context: &ReportContext<'_>, all: &[&'a MetricEstimate]) -> Vec<LoadCurve<'a>> {
    let is_idle = |it: &MetricEstimate| it.parameters.contains_key(&Attribute::Point);
    let point_key = |it: &MetricEstimate| {
        (it.host.clone(), text(it, Attribute::ReadShare), text(it, Attribute::PauseS))
    };
    let points = group_by(all.iter().copied(), |it| point_key(it));
    let points: Vec<LoadPoint<'a>> = points
        .into_iter()
        .filter_map(|group| {
            let find = |metric: &str| {
                let is_finite = |it: &&&MetricEstimate| precision::is_positive(it.median);
                group.iter().filter(is_finite).find(|it| it.metric == metric).copied()
            };
            Some(LoadPoint { latency: find("latency")?, bandwidth: find("bandwidth")? })
        })
        .collect();
    let (idle, loaded): (Vec<_>, Vec<_>) =
        points.into_iter().partition(|it| is_idle(it.latency));
    let key = |it: &LoadPoint<'_>| (it.latency.host.clone(), read_share(it.latency));
    let keyed = |it: &LoadPoint<'_>| (key(it).0, key(it).1.to_bits());
    let mut curves = Vec::new();
    for mut loaded in group_by(loaded, keyed) {
        let (host, share) = key(&loaded[0]);
        let idle = idle.iter().find(|it| it.latency.host == host).copied();
        loaded.sort_by(|a, b| a.bandwidth.median.total_cmp(&b.bandwidth.median));
        let mix = message!(
            "attribute-reads",
            share = precision::format_percent_setting(100.0 * share)
        );
        let host = context.has_several_hosts.then_some(host);
        let name = join_details(&host.into_iter().chain([mix]).collect::<Vec<_>>());
        curves.push(LoadCurve { name, idle, loaded });
    }
    curves
}

fn read_share(estimate: &MetricEstimate) -> f64 {
    number(estimate, Attribute::ReadShare).unwrap_or(1.0)
}

impl<'a> LoadCurve<'a> {
    fn highest(&self) -> &LoadPoint<'a> {
        &self.loaded[self.loaded.len() - 1]
    }

    /// Returns the idle chain, then the points with traffic.
    fn points(&self) -> impl Iterator<Item = &LoadPoint<'a>> {
        self.idle.iter().chain(&self.loaded)
    }

    /// Returns the latency at a share of the highest bandwidth, interpolated between the points next
    /// to it; `None` below the first point.
    fn latency_at(&self, share: f64) -> Option<f64> {
        let wanted = share * self.highest().bandwidth.median;
        let at = |point: &LoadPoint<'_>| (point.bandwidth.median, point.latency.median);
        let next = self.points().position(|it| it.bandwidth.median >= wanted)?;
        let mut around = self.points().skip(next.checked_sub(1)?).map(at);
        let (low, high) = (around.next()?, around.next()?);
        let part = (wanted - low.0) / (high.0 - low.0);
        Some(low.1 + part * (high.1 - low.1))
    }

    fn series(&self) -> PlotSeries {
        let point = |it: &LoadPoint<'_>| PlotPoint {
            x: it.bandwidth.median,
            y: it.latency.median,
            interval: precision::usable_interval(it.latency.median, it.latency.ci),
        };
        PlotSeries { name: self.name.clone(), points: self.points().map(point).collect() }
    }
}

fn plot(curves: &[LoadCurve<'_>]) -> Plot {
    let time = |point: &LoadPoint<'_>| units::quantity(point.latency.median, Unit::Second, 3);
    let describe = |curve: &LoadCurve<'_>| {
        let rate = units::quantity(curve.highest().bandwidth.median, Unit::BytePerSecond, 3);
        Some(message!(
            "loaded-latency-description",
            mix = curve.name.as_str(),
            idle = time(curve.idle.as_ref()?),
            loaded = time(curve.highest()),
            rate = rate,
        ))
    };
    let description: Vec<String> = curves.iter().filter_map(describe).collect();
    let axes = [
        Axis::new(word("axis-traffic"), Unit::BytePerSecond, Scale::Linear),
        Axis::new(word("time-per-load"), Unit::Second, Scale::Linear),
    ];
    let series = curves.iter().map(LoadCurve::series).collect();
    let plot =
        Plot::new(word("table-loaded-latency"), description.join(semicolon()), axes, series);
    Plot { is_comparison: true, ..plot }
}

/// Returns a table with a row for each mix: the highest bandwidth, and the latency at shares of it.
fn shares_table(context: &ReportContext<'_>, curves: &[LoadCurve<'_>]) -> ReportTable {
    let at_shares = SHARES.map(|it| {
        message!("column-at-share", share = precision::format_percent_setting(100.0 * it))
    });
    let mut table = ReportTable::with_caption(word("table-loaded-latency"));
    let points = || curves.iter().flat_map(LoadCurve::points);
    let rates = ColumnPrefixes::for_medians(points().map(|it| it.bandwidth));
    let times = ColumnPrefixes::for_medians(points().map(|it| it.latency));
    for curve in curves {
        let time =
            |seconds: f64| TableCell::from(times.value_without_interval(seconds, Unit::Second));
        let highest = curve.highest();
        let mut row = vec![
            left(word("column-item"), curve.name.clone()),
            right(word("column-highest"), rates.value(highest.bandwidth)),
            right(
                word("column-idle"),
                curve.idle.map(|it| time(it.latency.median)).unwrap_or_default(),
            ),
        ];
        let shares = SHARES.iter().zip(&at_shares);
        row.extend(shares.map(|(share, title)| {
            right(title, curve.latency_at(*share).map(time).unwrap_or_default())
        }));
        row.push(right(word("column-at-highest"), time(highest.latency.median)));
        row.push(cells::note_column(context, highest.bandwidth));
        table.push(row);
    }
    table.without_empty_columns()
}

fn points_table(context: &ReportContext<'_>, curves: &[LoadCurve<'_>]) -> ReportTable {
    let latencies: Vec<&MetricEstimate> =
        curves.iter().flat_map(LoadCurve::points).map(|it| it.latency).collect();
    let interval = cells::interval_title(&latencies);
    let mut table = ReportTable::with_caption(word("details-loaded-latency"));
    let points = || curves.iter().flat_map(LoadCurve::points);
    let rates = ColumnPrefixes::for_medians(points().map(|it| it.bandwidth));
    let times = ColumnPrefixes::for_medians(points().map(|it| it.latency));
    for curve in curves {
        for LoadPoint { latency, bandwidth } in curve.points() {
            let pause = text(latency, Attribute::PauseS);
            let [value, width] =
                cells::value_columns((word("column-latency"), &interval), latency, &times);
            table.push([
                left(word("column-item"), curve.name.clone()),
                right(
                    word("column-pause"),
                    pause.unwrap_or_else(|| word("column-idle").to_owned()),
                ),
                right(word("column-bandwidth"), rates.value(bandwidth)),
                value,
                width,
                cells::sample_column(latency),
                cells::note_column(context, latency),
            ]);
        }
    }
    table.without_empty_columns()
}
