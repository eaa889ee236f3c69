//! Time lines of headline cases from kernel counters: bytes of the case and of its devices, busy
//! CPUs and waiting tasks.

use assay_model::attribute::{Attribute, AttributeValue, Role};
use assay_model::kernel_counters::{CountedSeries, Counter, CounterRecord};
use assay_model::quantity::Unit;
use assay_model::run::{Run, SeriesRecord};

use super::context::ReportContext;
use super::network::describe_courses;
use crate::build::answer::judged_estimates;
use crate::document::{Axis, Block, Details, Document, Plot, PlotPoint, PlotSeries, Scale};
use crate::locale::{join_details, word};

/// Maximum number of time lines of a report.
const MAX_CASES: usize = 6;
/// Minimum number of points from which a course is visible.
const MIN_POINTS: usize = 4;
/// Share of the longest time below which a share is left out: it would lie on the axis.
const MIN_SHARE: f64 = 0.005;

/// Counters of bytes, and the message that names their curves.
const RATES: [(Counter, &str); 6] = [
    (Counter::DeviceReadBytes, "timeline-read"),
    (Counter::DeviceWrittenBytes, "timeline-written"),
    (Counter::NfsReadBytes, "timeline-read"),
    (Counter::NfsWrittenBytes, "timeline-written"),
    (Counter::ReceivedBytes, "timeline-received"),
    (Counter::SentBytes, "timeline-sent"),
];

/// Adds the time lines of the cases with headline values.
pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let judged = judged_estimates(context.summary);
    let is_headline = |it: &&CounterRecord| judged.iter().any(|one| one.case == it.case);
    let counters = context.summary.counters.iter().filter(|it| it.payload.is_some());
    for record in counters.filter(is_headline).take(MAX_CASES) {
        let name: Vec<String> =
            [Some(record.case.clone()), record.host.clone()].into_iter().flatten().collect();
        let title = message!("timeline-of", name = join_details(&name));
        let plots = [rate_plot(&title, record, context.run), share_plot(&title, record)];
        let blocks: Vec<Block> = plots.into_iter().flatten().map(Block::Plot).collect();
        if !blocks.is_empty() {
            document.blocks.push(Block::Details(Details { title, blocks }));
        }
    }
}

/// Plots the bytes per second of the case and of every counted place.
fn rate_plot(title: &str, record: &CounterRecord, run: Option<&Run>) -> Option<Plot> {
    let of_counter = |it: &CountedSeries| {
        let (_, message) = *RATES.iter().find(|(counter, _)| *counter == it.counter)?;
        let name = join_details(&[it.of.clone(), word(message).to_owned()]);
        Some(PlotSeries { name, points: per_second(record, &it.points) })
    };
    let payload = run.and_then(|run| payload_points(run, record));
    let payload =
        payload.map(|points| PlotSeries { name: word("timeline-payload").to_owned(), points });
    let series = payload.into_iter().chain(record.counted.iter().filter_map(of_counter));
    let axes = [
        Axis::new(word("axis-time-measured"), Unit::Second, Scale::Linear),
        Axis::new(word("column-bandwidth"), Unit::BytePerSecond, Scale::Linear),
    ];
    plot(title, axes, series.collect())
}

/// Plots the shares of time in which CPUs were busy and tasks waited.
fn share_plot(title: &str, record: &CounterRecord) -> Option<Plot> {
    let points = |counter| {
        let found = record.of_counter(counter).find(|it| it.of.is_empty());
        found.map(|it| it.points.as_slice()).unwrap_or_default()
    };
    let all = points(Counter::CpuAll);
    let of_cpus = |counters: &[Counter]| -> Vec<PlotPoint> {
        let sum = |index: usize| -> f64 {
            counters.iter().filter_map(|it| points(*it).get(index)).sum()
        };
        let share = |(index, all): (usize, &f64)| sum(index) / all;
        at_ends(record, all.iter().enumerate().map(share))
    };
    let busy = [Counter::CpuUser, Counter::CpuSystem, Counter::CpuInterrupts];
    let shares = [
        ("timeline-busy", of_cpus(&busy)),
        ("timeline-interrupts", of_cpus(&[Counter::CpuInterrupts])),
        ("timeline-stolen", of_cpus(&[Counter::CpuStolen])),
        ("timeline-cpu-pressure", per_second(record, points(Counter::CpuPressure))),
        ("timeline-io-pressure", per_second(record, points(Counter::IoPressure))),
    ];
    let series = shares
        .into_iter()
        .map(|(name, points)| PlotSeries { name: word(name).to_owned(), points })
        .filter(|it| it.points.iter().any(|point| point.y > MIN_SHARE));
    let axes = [
        Axis::new(word("axis-time-measured"), Unit::Second, Scale::Linear),
        Axis::new(word("timeline-share"), Unit::Ratio, Scale::Linear),
    ];
    plot(title, axes, series.collect())
}

fn plot(title: &str, axes: [Axis; 2], mut series: Vec<PlotSeries>) -> Option<Plot> {
    series.retain(|it| it.points.len() >= MIN_POINTS);
    let unit = axes[1].unit;
    let description = describe_courses(&series, unit);
    (!series.is_empty())
        .then(|| Plot { is_comparison: true, ..Plot::new(title, description, axes, series) })
}

/// Returns increases per second at the ends of their points.
fn per_second(record: &CounterRecord, increases: &[f64]) -> Vec<PlotPoint> {
    let rates = increases.iter().zip(&record.points_s).map(|(it, [from, to])| it / (to - from));
    at_ends(record, rates)
}

fn at_ends(record: &CounterRecord, values: impl Iterator<Item = f64>) -> Vec<PlotPoint> {
    let points = values.zip(&record.points_s).map(|(y, [_, to_s])| PlotPoint {
        x: *to_s,
        y,
        interval: None,
    });
    points.filter(|it| it.x.is_finite() && it.y.is_finite()).collect()
}

/// Returns the bytes per second of the intervals that a storage case recorded.
fn payload_points(run: &Run, record: &CounterRecord) -> Option<Vec<PlotPoint>> {
    let is_of_record = |series: &&SeriesRecord| {
        let host = series.dimensions.get(&Attribute::Host).and_then(AttributeValue::as_text);
        series.metric == "latency"
            && series.dimensions.keys().all(|name| name.row().role != Role::Part)
            && (record.host.is_none() || record.host.as_deref() == host)
    };
    let series = &run.case(&record.case)?.series;
    let mut by_end = std::collections::BTreeMap::<u64, (u64, f64)>::new();
    for interval in series.iter().filter(is_of_record).flat_map(|it| &it.distributions) {
        let point = by_end.entry(interval.to_ns).or_insert((interval.from_ns, 0.0));
        point.1 += interval.seen.bytes? as f64;
    }
    let points = by_end.into_iter().map(|(to_ns, (from_ns, bytes))| PlotPoint {
        x: to_ns as f64 / 1e9,
        y: bytes / (to_ns.saturating_sub(from_ns) as f64 / 1e9),
        interval: None,
    });
    let points: Vec<PlotPoint> = points.filter(|it| it.y.is_finite()).collect();
    // Rounds and tries are recorded without the pauses between them.
    let (last, end) = (points.last()?.x, record.points_s.last()?[1]);
    ((last - end).abs() <= 0.1 * end).then_some(points)
}
