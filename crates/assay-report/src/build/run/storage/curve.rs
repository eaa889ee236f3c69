//! Response curve: latency over the rate reached, its knee, and its limits.

use assay_model::attribute::Attribute;
use assay_model::limit::LimitBasis;
use assay_model::quantity::Unit;
use assay_model::run::ALL_HOSTS;
use assay_model::summary::MetricEstimate;

use super::super::cells;
use super::super::context::ReportContext;
use super::{LatencyColumns, TestResults, share_title};
use crate::document::{
    Axis, Band, Block, Document, Plot, PlotPoint, PlotSeries, ReferenceLine, ReportTable,
    Scale, TableCell, Tone, left, right,
};
use crate::first_seen::group_by;
use crate::locale::{format_fact, group_digits, join_details, semicolon, with_detail, word};
use crate::precision::{self, ColumnPrefixes};
use crate::{units, words};

/// Percentiles of the curves; `None` is the median.
const CURVE_PERCENTILES: [Option<&str>; 3] = [None, Some("p99"), Some("p99.9")];

/// Returns the label of the closed-loop rate: Vdbench's `max`, translated.
pub(super) fn maximum_label() -> &'static str {
    word("rate-max")
}

/// Groups the points by curve, in order of appearance.
pub(super) fn group_by_curve<'t, 'a>(
    tests: &[&'t TestResults<'a>],
) -> Vec<Vec<&'t TestResults<'a>>> {
    let name = |test: &TestResults<'_>| {
        (
            test.text(Attribute::Test),
            test.any_result().map(|it| (it.tool.name.clone(), it.host.clone())),
        )
    };
    let mut groups = group_by(tests.iter().copied(), |test| name(test));
    // Points near the knee were measured last; the sort is stable and keeps the closed loop first.
    let share = |test: &&TestResults<'_>| test.number(Attribute::PercentOfMax).unwrap_or(0.0);
    for group in &mut groups {
        group.sort_by(|a, b| share(a).total_cmp(&share(b)));
    }
    groups
}

/// Plots the curves of several groups of hosts together, one plot for each test: near and far hosts
/// as two curves over their total rates.
pub(super) fn host_group_plots(curves: &[Vec<&TestResults<'_>>]) -> Vec<Plot> {
    let mut tests: Vec<(Option<String>, Vec<PlotSeries>, Vec<String>)> = Vec::new();
    for points in curves {
        let Some(first) = points.first().and_then(|it| it.any_result()) else { continue };
        let line = open_loop_points(points, None);
        if !first.spans_hosts() || line.len() < 2 {
            continue;
        }
        let test = points[0].text(Attribute::Test);
        let series = PlotSeries { name: first.host.clone(), points: line };
        let text = format_fact(&first.host, &describe_knee(points));
        match tests.iter_mut().find(|(name, ..)| *name == test) {
            Some((_, all, texts)) => {
                all.push(series);
                texts.push(text);
            }
            None => tests.push((test, vec![series], vec![text])),
        }
    }
    let several = tests.into_iter().filter(|(_, series, _)| series.len() > 1);
    let plot = |(test, series, texts): (Option<String>, Vec<PlotSeries>, Vec<String>)| {
        let title = message!("response-curve", name = test.unwrap_or_default());
        Plot {
            is_comparison: true,
            ..Plot::new(title, texts.join(semicolon()), axes(), series)
        }
    };
    several.map(plot).collect()
}

/// Returns the axes: latency over rate.
fn axes() -> [Axis; 2] {
    [
        Axis::new(word("axis-rate-reached"), Unit::IoPerSecond, Scale::Linear),
        Axis::new(word("axis-latency-from-due"), Unit::Second, Scale::Log10),
    ]
}

/// Whether a curve has its own plot. If hosts measured together, only their total has one; their
/// groups share another plot. Otherwise 24 hosts with six tests each would need 144 plots.
pub(super) fn has_plot(points: &[&TestResults<'_>], curves: &[Vec<&TestResults<'_>>]) -> bool {
    let host = |points: &[&TestResults<'_>]| {
        points.first().and_then(|it| it.any_result()).map(|it| it.host.clone())
    };
    let is_same_test = |other: &&Vec<&TestResults<'_>>| {
        other[0].text(Attribute::Test) == points[0].text(Attribute::Test)
    };
    let is_of_all = |host: Option<String>| host.as_deref() == Some(ALL_HOSTS);
    is_of_all(host(points)) || !curves.iter().filter(is_same_test).any(|it| is_of_all(host(it)))
}

pub(super) fn add(
    document: &mut Document,
    context: &ReportContext<'_>,
    points: &[&TestResults<'_>],
    has_picture: bool,
) {
    let Some(first) = points.first() else { return };
    let host =
        first.any_result().filter(|_| context.has_several_hosts).map(|it| it.host.clone());
    let name: Vec<String> = host.into_iter().chain(first.text(Attribute::Test)).collect();
    let name = join_details(&name);
    let by = first.measurer(context).text;
    let what =
        if by.is_empty() { name.clone() } else { message!("what-by", what = &name, by = by) };
    document.paragraph(
        Tone::Plain,
        message!("curve-knee", what = what, knee = describe_knee(points)),
    );
    let picture = has_picture.then(|| plot(&name, points)).flatten();
    document.blocks.extend(picture.map(Block::Plot));
    document.blocks.push(Block::Table(table(context, &name, points)));
}

fn table<'a>(
    context: &ReportContext<'_>,
    name: &str,
    points: &[&TestResults<'a>],
) -> ReportTable {
    let mut table = ReportTable::with_caption(message!("response-curve", name = name));
    let amounts = points.iter().flat_map(|point| [point.rate, point.bandwidth]);
    let prefixes = ColumnPrefixes::for_medians(amounts.flatten());
    let latency = |point: &TestResults<'a>| point.from_due.or(point.latency);
    let times =
        LatencyColumns::from_latencies(points.iter().filter_map(|point| latency(point)));
    for point in points {
        let rate = point.rate.map(|it| with_interval(it, prefixes.value(it)));
        let bandwidth = point.bandwidth.map(|it| prefixes.value(it));
        let latency = latency(point);
        let [median, p99, p999] = times.cells(latency);
        let median = latency.map(|it| with_interval(it, median.text));
        let service = point.latency.filter(|_| point.from_due.is_some());
        let service = service.map(|it| times.cells(Some(it))[0].text.clone());
        table.push([
            left(word("column-requested"), requested_rate(point)),
            right(word("column-rate"), rate.unwrap_or_default()),
            right(word("column-bandwidth"), bandwidth.unwrap_or_default()),
            right(share_title(points), cells::percent(point.share_of_limit())),
            right(word("column-median"), median.unwrap_or_default()),
            right("p99", p99),
            right("p99.9", p999),
            right(word("column-service-median"), service.unwrap_or_default()),
            left(word("column-note"), point.notes(context)),
        ]);
    }
    table.without_empty_columns()
}

/// Formats the requested rate: `max`, `50 %`, `80 %, knee`.
fn requested_rate(point: &TestResults<'_>) -> String {
    let Some(percent) = point.number(Attribute::PercentOfMax) else {
        return maximum_label().to_owned();
    };
    let percent = units::in_percent(&group_digits(&percent.to_string()));
    if is_knee(point) { with_detail(&percent, word("knee")) } else { percent }
}

/// Appends the interval, `5.85 kIO/s ±14 %`; the short form omits it.
fn with_interval(estimate: &MetricEstimate, value: String) -> TableCell {
    match precision::relative_interval(estimate) {
        Some(interval) => TableCell::with_short(format!("{value} {interval}"), Some(value)),
        None => value.into(),
    }
}

fn is_knee(point: &TestResults<'_>) -> bool {
    let is_equal = |knee: f64, rate: &MetricEstimate| (rate.median - knee).abs() <= knee * 1e-9;
    point.from_due.is_some()
        && point
            .number(Attribute::KneeRate)
            .zip(point.rate)
            .is_some_and(|(knee, rate)| is_equal(knee, rate))
}

/// Describes the knee, or the reason why there is none.
fn describe_knee(points: &[&TestResults<'_>]) -> String {
    if points.iter().all(|it| it.from_due.is_none()) {
        return word("knee-unreported").to_owned();
    }
    let description = points.first().and_then(|it| {
        let rate = |value| units::quantity(value, Unit::IoPerSecond, 3);
        let knee = rate(it.number(Attribute::KneeRate)?);
        let latency = units::quantity(it.number(Attribute::KneeLatency)?, Unit::Second, 3);
        let bounds = [Attribute::KneeRateLow, Attribute::KneeRateHigh];
        let [low, high] = bounds.map(|name| it.number(name));
        let between = low.zip(high).filter(|(low, high)| low < high);
        Some(match between {
            Some((low, high)) => message!(
                "knee-between",
                rate = knee,
                low = rate(low),
                high = rate(high),
                latency = latency,
            ),
            None => message!("knee-at", rate = knee, latency = latency),
        })
    });
    description.unwrap_or_else(|| {
        let rates = points.iter().filter(|it| it.from_due.is_some()).filter_map(|it| it.rate);
        let highest = rates.map(|rate| rate.median).fold(0.0, f64::max);
        let why = points.first().and_then(|it| it.text(Attribute::Knee)).unwrap_or_default();
        let why = words::knee(&why);
        let highest = units::quantity(highest, Unit::IoPerSecond, 3);
        message!("no-knee", rate = highest, why = why)
    })
}

fn plot(name: &str, points: &[&TestResults<'_>]) -> Option<Plot> {
    let mut series: Vec<PlotSeries> = CURVE_PERCENTILES
        .into_iter()
        .map(|percentile| PlotSeries {
            name: percentile.unwrap_or(word("column-median")).to_owned(),
            points: open_loop_points(points, percentile),
        })
        .filter(|series| series.points.len() > 1)
        .collect();
    let (first, last) = {
        let median = &series.first()?.points;
        (*median.first()?, *median.last()?)
    };
    // The closed loop has other arrivals and is therefore a separate point.
    series.extend(closed_loop_series(points));
    let rate = |point: PlotPoint| units::quantity(point.x, Unit::IoPerSecond, 3);
    let time = |point: PlotPoint| units::quantity(point.y, Unit::Second, 3);
    let description = message!(
        "response-description",
        low = time(first),
        few = rate(first),
        high = time(last),
        many = rate(last),
        knee = describe_knee(points),
    );
    let (bands, marks) = (bands(points), marks(points));
    let title = message!("response-curve", name = name);
    Some(Plot { bands, marks, ..Plot::new(title, description, axes(), series) })
}

/// Returns the open-loop points in ascending order of rate.
fn open_loop_points(points: &[&TestResults<'_>], percentile: Option<&str>) -> Vec<PlotPoint> {
    let point = |test: &&TestResults<'_>| {
        let estimate = test.from_due?;
        let y = match percentile {
            None => estimate.median,
            Some(name) => *estimate.percentiles.as_ref()?.get(name)?,
        };
        let interval = estimate.ci.filter(|_| percentile.is_none());
        Some(PlotPoint { x: test.rate?.median, y, interval })
    };
    let is_drawable =
        |point: &PlotPoint| precision::is_positive(point.x) && precision::is_positive(point.y);
    let mut line: Vec<PlotPoint> =
        points.iter().filter_map(point).filter(is_drawable).collect();
    line.sort_by(|a, b| a.x.total_cmp(&b.x));
    line
}

fn closed_loop_series(points: &[&TestResults<'_>]) -> Option<PlotSeries> {
    let test = points.iter().find(|test| test.from_due.is_none())?;
    let (rate, latency) = (test.rate?, test.latency?);
    let point = PlotPoint { x: rate.median, y: latency.median, interval: None };
    precision::is_positive(point.y)
        .then(|| PlotSeries { name: maximum_label().to_owned(), points: vec![point] })
}

fn bands(points: &[&TestResults<'_>]) -> Vec<Band> {
    let Some(knee) = points.first().and_then(|it| it.number(Attribute::KneeRate)) else {
        return vec![];
    };
    let band = |label: &str, from, to| Band { label: label.to_owned(), from, to };
    vec![
        band(word("up-to-the-knee"), 0.0, knee),
        band(word("beyond-the-knee"), knee, f64::INFINITY),
    ]
}

/// Returns marks at the knee, and at the limits of the volume or its data sheet.
fn marks(points: &[&TestResults<'_>]) -> Vec<ReferenceLine> {
    let knee = points.first().and_then(|it| it.number(Attribute::KneeRate));
    let knee = knee.map(|value| ReferenceLine { label: word("knee").to_owned(), value });
    let line = |estimate: &MetricEstimate, bytes_per_io: f64| {
        let limit = estimate.limit.as_ref()?;
        let value = units::quantity(limit.value, estimate.unit, 3);
        let label = match limit.basis {
            LimitBasis::Provisioned => message!("provisioned", limit = value),
            _ => message!("limit-line", limit = value),
        };
        Some(ReferenceLine { label, value: limit.value / bytes_per_io })
    };
    let of_bandwidth = points.iter().find_map(|it| {
        let bytes = it.number(Attribute::Bytes).filter(|bytes| *bytes > 0.0)?;
        line(it.bandwidth?, bytes)
    });
    let of_rate = points.iter().find_map(|it| line(it.rate?, 1.0));
    knee.into_iter().chain(of_bandwidth).chain(of_rate).collect()
}
