//! Response curve: latency over the rate reached, its knee, and its limits.

use assay_model::attribute::Attribute;
use assay_model::limit::Basis;
use assay_model::quantity::Unit;
use assay_model::run::ALL_HOSTS;
use assay_model::summary::Estimate;

use super::super::context::Context;
use super::super::rows;
use super::{Test, Times, share_title};
use crate::document::{
    Align, Axis, Band, Block, Cell, Document, Line, Plot, Point, Scale, Series, Table, Tone,
};
use crate::locale::{detailed, details, fact, grouped, semicolon, word};
use crate::precision::{self, Prefixes};
use crate::{units, words};

/// Percentiles of the curves; `None` is the median.
const CURVES: [Option<&str>; 3] = [None, Some("p99"), Some("p99.9")];

/// Returns the label of the closed-loop rate: Vdbench's `max`, translated.
pub(super) fn maximum() -> &'static str {
    word("rate-max")
}

/// Groups the points by curve, in order of appearance.
pub(super) fn groups<'t, 'a>(tests: &[&'t Test<'a>]) -> Vec<Vec<&'t Test<'a>>> {
    let name = |test: &Test<'_>| {
        (
            test.text(Attribute::Test),
            test.any().map(|it| (it.tool.name.clone(), it.host.clone())),
        )
    };
    let mut groups: Vec<Vec<&Test<'_>>> = Vec::new();
    for test in tests {
        match groups.iter_mut().find(|group| name(group[0]) == name(test)) {
            Some(group) => group.push(test),
            None => groups.push(vec![test]),
        }
    }
    // Points near the knee were measured last; the sort is stable and keeps the closed loop first.
    let share = |test: &&Test<'_>| test.number(Attribute::PercentOfMax).unwrap_or(0.0);
    for group in &mut groups {
        group.sort_by(|a, b| share(a).total_cmp(&share(b)));
    }
    groups
}

/// Plots the curves of several groups of hosts together, one plot for each test: near and far hosts
/// as two curves over their total rates.
pub(super) fn of_host_groups(curves: &[Vec<&Test<'_>>]) -> Vec<Plot> {
    let mut tests: Vec<(Option<String>, Vec<Series>, Vec<String>)> = Vec::new();
    for points in curves {
        let Some(first) = points.first().and_then(|it| it.any()) else { continue };
        let line = line(points, None);
        if !first.is_of_hosts() || line.len() < 2 {
            continue;
        }
        let test = points[0].text(Attribute::Test);
        let series = Series { name: first.host.clone(), points: line };
        let text = fact(&first.host, &knee(points));
        match tests.iter_mut().find(|(known, ..)| *known == test) {
            Some((_, all, texts)) => {
                all.push(series);
                texts.push(text);
            }
            None => tests.push((test, vec![series], vec![text])),
        }
    }
    let several = tests.into_iter().filter(|(_, series, _)| series.len() > 1);
    let plot = |(test, series, texts): (Option<String>, Vec<Series>, Vec<String>)| {
        let title = say!("response-curve", name = test.unwrap_or_default());
        Plot { rivals: true, ..Plot::new(title, texts.join(semicolon()), axes(), series) }
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

/// Whether a curve has its own plot. If hosts measured together, only their total has one, and
/// groups share another: 24 hosts with six tests each would need 144 plots.
pub(super) fn has_picture(points: &[&Test<'_>], curves: &[Vec<&Test<'_>>]) -> bool {
    let host =
        |points: &[&Test<'_>]| points.first().and_then(|it| it.any()).map(|it| it.host.clone());
    let same = |other: &&Vec<&Test<'_>>| {
        other[0].text(Attribute::Test) == points[0].text(Attribute::Test)
    };
    let is_of_all = |host: Option<String>| host.as_deref() == Some(ALL_HOSTS);
    is_of_all(host(points)) || !curves.iter().filter(same).any(|it| is_of_all(host(it)))
}

pub(super) fn add(
    document: &mut Document,
    context: &Context<'_>,
    points: &[&Test<'_>],
    has_picture: bool,
) {
    let Some(first) = points.first() else { return };
    let host = first.any().filter(|_| context.several_hosts).map(|it| it.host.clone());
    let name: Vec<String> = host.into_iter().chain(first.text(Attribute::Test)).collect();
    let name = details(&name);
    let by = first.measurer(context).text;
    let what =
        if by.is_empty() { name.clone() } else { say!("what-by", what = &name, by = by) };
    document.paragraph(Tone::Plain, say!("curve-knee", what = what, knee = knee(points)));
    let picture = has_picture.then(|| plot(&name, points)).flatten();
    document.blocks.extend(picture.map(Block::Plot));
    document.blocks.push(Block::Table(table(context, &name, points)));
}

fn table<'a>(context: &Context<'_>, name: &str, points: &[&Test<'a>]) -> Table {
    let columns = [
        (word("column-requested"), Align::Left),
        (word("column-rate"), Align::Right),
        (word("column-bandwidth"), Align::Right),
        (share_title(points), Align::Right),
        (word("column-median"), Align::Right),
        ("p99", Align::Right),
        ("p99.9", Align::Right),
        (word("column-service-median"), Align::Right),
        (word("column-note"), Align::Left),
    ];
    let mut table = Table::new(say!("response-curve", name = name), &columns);
    let amounts = points.iter().flat_map(|point| [point.rate, point.bandwidth]);
    let prefixes = Prefixes::of_medians(amounts.flatten());
    let latency = |point: &Test<'a>| point.from_due.or(point.latency);
    let times = Times::of(points.iter().filter_map(|point| latency(point)));
    for point in points {
        let mut row: Vec<Cell> = vec![asked(point).into()];
        row.push(point.rate.map(|it| spread(it, prefixes.value(it))).unwrap_or_default());
        row.push(point.bandwidth.map(|it| prefixes.value(it)).unwrap_or_default().into());
        row.push(rows::percent(point.share_of_limit()));
        let latency = latency(point);
        let [median, p99, p999] = times.cells(latency);
        row.push(latency.map(|it| spread(it, median.text)).unwrap_or_default());
        row.extend([p99, p999]);
        let service = point.latency.filter(|_| point.from_due.is_some());
        row.push(
            service.map(|it| times.cells(Some(it))[0].text.clone()).unwrap_or_default().into(),
        );
        row.push(point.notes(context));
        table.rows.push(row);
    }
    table.without_empty_columns()
}

/// Formats the requested rate: `max`, `50 %`, `80 %, knee`.
fn asked(point: &Test<'_>) -> String {
    let Some(percent) = point.number(Attribute::PercentOfMax) else {
        return maximum().to_owned();
    };
    let percent = units::in_percent(&grouped(&percent.to_string()));
    if is_knee(point) { detailed(&percent, word("knee")) } else { percent }
}

/// Appends the interval, `5.85 kIO/s ±14 %`; the short form omits it.
fn spread(estimate: &Estimate, value: String) -> Cell {
    match precision::relative(estimate) {
        Some(interval) => Cell::with_short(format!("{value} {interval}"), Some(value)),
        None => value.into(),
    }
}

fn is_knee(point: &Test<'_>) -> bool {
    let same = |knee: f64, rate: &Estimate| (rate.median - knee).abs() <= knee * 1e-9;
    point.from_due.is_some()
        && point
            .number(Attribute::KneeRate)
            .zip(point.rate)
            .is_some_and(|(knee, rate)| same(knee, rate))
}

/// Describes the knee, or the reason why there is none.
fn knee(points: &[&Test<'_>]) -> String {
    if points.iter().all(|it| it.from_due.is_none()) {
        return word("knee-unreported").to_owned();
    }
    let found = points.first().and_then(|it| {
        let rate = |value| units::quantity(value, Unit::IoPerSecond, 3);
        let knee = rate(it.number(Attribute::KneeRate)?);
        let latency = units::quantity(it.number(Attribute::KneeLatency)?, Unit::Second, 3);
        let ends = [Attribute::KneeRateLow, Attribute::KneeRateHigh];
        let [low, high] = ends.map(|name| it.number(name));
        let between = low.zip(high).filter(|(low, high)| low < high);
        Some(match between {
            Some((low, high)) => say!(
                "knee-between",
                rate = knee,
                low = rate(low),
                high = rate(high),
                latency = latency,
            ),
            None => say!("knee-at", rate = knee, latency = latency),
        })
    });
    found.unwrap_or_else(|| {
        let rates = points.iter().filter(|it| it.from_due.is_some()).filter_map(|it| it.rate);
        let most = rates.map(|rate| rate.median).fold(0.0, f64::max);
        let why = points.first().and_then(|it| it.text(Attribute::Knee)).unwrap_or_default();
        let why = words::knee(&why);
        let most = units::quantity(most, Unit::IoPerSecond, 3);
        say!("no-knee", rate = most, why = why)
    })
}

fn plot(name: &str, points: &[&Test<'_>]) -> Option<Plot> {
    let mut series: Vec<Series> = CURVES
        .into_iter()
        .map(|percentile| Series {
            name: percentile.unwrap_or(word("column-median")).to_owned(),
            points: line(points, percentile),
        })
        .filter(|series| series.points.len() > 1)
        .collect();
    let (first, last) = {
        let median = &series.first()?.points;
        (*median.first()?, *median.last()?)
    };
    // The closed loop has other arrivals and is therefore a separate point.
    series.extend(closed(points));
    let rate = |point: Point| units::quantity(point.x, Unit::IoPerSecond, 3);
    let time = |point: Point| units::quantity(point.y, Unit::Second, 3);
    let description = say!(
        "response-description",
        low = time(first),
        few = rate(first),
        high = time(last),
        many = rate(last),
        knee = knee(points),
    );
    let (bands, marks) = (bands(points), marks(points));
    let title = say!("response-curve", name = name);
    Some(Plot { bands, marks, ..Plot::new(title, description, axes(), series) })
}

/// Returns the open-loop points in ascending order of rate.
fn line(points: &[&Test<'_>], percentile: Option<&str>) -> Vec<Point> {
    let point = |test: &&Test<'_>| {
        let estimate = test.from_due?;
        let y = match percentile {
            None => estimate.median,
            Some(name) => *estimate.percentiles.as_ref()?.get(name)?,
        };
        let interval = estimate.ci.filter(|_| percentile.is_none());
        Some(Point { x: test.rate?.median, y, interval })
    };
    let drawable =
        |point: &Point| precision::is_positive(point.x) && precision::is_positive(point.y);
    let mut line: Vec<Point> = points.iter().filter_map(point).filter(drawable).collect();
    line.sort_by(|a, b| a.x.total_cmp(&b.x));
    line
}

fn closed(points: &[&Test<'_>]) -> Option<Series> {
    let test = points.iter().find(|test| test.from_due.is_none())?;
    let (rate, latency) = (test.rate?, test.latency?);
    let point = Point { x: rate.median, y: latency.median, interval: None };
    precision::is_positive(point.y)
        .then(|| Series { name: maximum().to_owned(), points: vec![point] })
}

fn bands(points: &[&Test<'_>]) -> Vec<Band> {
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
fn marks(points: &[&Test<'_>]) -> Vec<Line> {
    let knee = points.first().and_then(|it| it.number(Attribute::KneeRate));
    let knee = knee.map(|value| Line { label: word("knee").to_owned(), value });
    let line = |estimate: &Estimate, per: f64| {
        let limit = estimate.limit.as_ref()?;
        let shown = units::quantity(limit.value, estimate.unit, 3);
        let label = match limit.basis {
            Basis::Provisioned => say!("provisioned", limit = shown),
            _ => say!("limit-line", limit = shown),
        };
        Some(Line { label, value: limit.value / per })
    };
    let of_bandwidth = points.iter().find_map(|it| {
        let bytes = it.number(Attribute::Bytes).filter(|bytes| *bytes > 0.0)?;
        line(it.bandwidth?, bytes)
    });
    let of_rate = points.iter().find_map(|it| line(it.rate?, 1.0));
    knee.into_iter().chain(of_bandwidth).chain(of_rate).collect()
}
