//! Network section: throughput with its CPU cost at both ends, and round trips.

use assay_model::attribute::Attribute;
use assay_model::benchmark::ReportSection;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

pub(in crate::build) mod pairs;

use super::context::ReportContext;
use super::estimate_parts::text;
use super::network_labels::{case_label, metric_label, protocol};
use super::{cells, words};
use crate::document::{Block, Document, ReportTable, Tone, left, right};
use crate::locale::{with_detail, word};
use crate::precision::{self, ColumnPrefixes};
use crate::units;

mod plots;

pub(super) use plots::describe_courses;

/// Significant digits of CPU load and cost, which vary too much for more.
const CPU_DIGITS: usize = 2;

/// Metrics of the second table; the first one has all others.
const ROUND_TRIP_METRICS: [&str; 4] =
    ["round_trip", "half_round_trip", "connect_time", "transaction_time"];

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let all = context.section_results(ReportSection::Network);
    if all.is_empty() {
        return;
    }
    document.heading(word("heading-network"));
    document.blocks.extend(pairs::heat_maps(&all, &item_label).into_iter().map(Block::HeatMap));
    let is_time =
        |estimate: &&&MetricEstimate| ROUND_TRIP_METRICS.contains(&estimate.metric.as_str());
    let times: Vec<&MetricEstimate> = all.iter().filter(is_time).copied().collect();
    let amounts: Vec<&MetricEstimate> = all.iter().filter(|it| !is_time(it)).copied().collect();
    if amounts.iter().any(|it| it.metric == "goodput") {
        document.blocks.push(Block::Table(items_table(context, &amounts)));
        document.paragraph(Tone::Quiet, word("network-items-say"));
        // UDP does not retransmit.
        if amounts.iter().any(|it| it.metric == "retransmits") {
            document.paragraph(Tone::Quiet, word("network-retransmits-say"));
        }
    }
    for (title, estimates) in
        [(word("table-network"), &amounts), (word("table-round-trips"), &times)]
    {
        if !estimates.is_empty() {
            document.blocks.push(Block::Table(table(title, context, estimates)));
        }
    }
    if let Some(run) = context.run {
        let over_time =
            ["goodput", "cpu_load"].map(|it| plots::plot_over_time(run, &amounts, it));
        let plots = over_time.into_iter().chain([plots::plot_distribution(run, &times)]);
        document.blocks.extend(plots.flatten().map(Block::Plot));
    }
    if all.iter().all(|estimate| text(estimate, Attribute::Path).as_deref() == Some("loopback"))
    {
        document.paragraph(Tone::Quiet, word("network-loopback"));
    }
}

/// Returns a table with one row for each throughput case; the list that follows contains all
/// metrics.
fn items_table(context: &ReportContext<'_>, amounts: &[&MetricEstimate]) -> ReportTable {
    let mut table = ReportTable::with_caption(word("table-network-items"));
    let prefixes = ColumnPrefixes::for_medians(amounts.iter().copied());
    for goodput in amounts.iter().copied().filter(|it| it.metric == "goodput") {
        let all = || amounts.iter().copied();
        let retransmits =
            all().find(|it| it.metric == "retransmits" && is_same_case(it, goodput));
        let retransmits = retransmits.map(precision::value).unwrap_or_default();
        table.push([
            left(word("column-item"), item_label(goodput)),
            left(word("column-where"), place_label(goodput)),
            right(word("column-goodput"), prefixes.value(goodput)),
            right(word("column-of-link"), cells::percent(goodput.percent_of_limit)),
            right(word("column-cpu-load"), load_of_both_ends(goodput, all())),
            right(word("column-cpu-time"), cost_of_both_ends(goodput, all())),
            right(word("column-retransmits"), retransmits),
            cells::host_and_measurer_column(context, goodput),
        ]);
    }
    table.without_empty_columns()
}

/// Returns `TCP, 6 streams, send`.
pub(in crate::build) fn item_label(estimate: &MetricEstimate) -> String {
    with_detail(&protocol(&estimate.benchmark), &case_label(estimate))
}

/// Returns the CPU load of the local and the remote end during the transfer: `34 / 29 %`.
pub(in crate::build) fn load_of_both_ends<'e>(
    goodput: &MetricEstimate,
    all: impl Iterator<Item = &'e MetricEstimate>,
) -> String {
    let percent =
        |it: &MetricEstimate| units::quantity(it.median * 100.0, Unit::Ratio, CPU_DIGITS);
    format_both_ends(goodput, "cpu_load", all, percent, units::in_percent)
}

/// Returns the CPU time per byte at both ends: `0.40 / 0.52 s/GB`.
fn cost_of_both_ends<'e>(
    goodput: &MetricEstimate,
    all: impl Iterator<Item = &'e MetricEstimate>,
) -> String {
    let cost = |it: &MetricEstimate| {
        units::split_unit(&units::quantity(it.median, it.unit, CPU_DIGITS)).0.to_owned()
    };
    format_both_ends(goodput, "cpu_per_byte", all, cost, |cost| {
        units::with_symbol(cost, "s/GB")
    })
}

fn format_both_ends<'e>(
    goodput: &MetricEstimate,
    metric: &str,
    all: impl Iterator<Item = &'e MetricEstimate>,
    format: impl Fn(&MetricEstimate) -> String,
    with_unit: impl Fn(&str) -> String,
) -> String {
    let (mut local, mut remote) = (None, None);
    let unknown = word("unknown");
    for estimate in all.filter(|it| it.metric == metric && is_same_case(it, goodput)) {
        match text(estimate, Attribute::End).as_deref() {
            Some("local") => local = Some(format(estimate)),
            Some("remote") => remote = Some(format(estimate)),
            _ => {}
        }
    }
    let reported = match (local, remote) {
        (Some(local), Some(remote)) => with_unit(&format!("{local} / {remote}")),
        (Some(local), None) => format!("{} / {unknown}", with_unit(&local)),
        (None, Some(remote)) => format!("{unknown} / {}", with_unit(&remote)),
        (None, None) => unknown.to_owned(),
    };
    units::with_no_break_spaces(&reported)
}

/// Whether both results belong to the same case and measurer.
fn is_same_case(estimate: &MetricEstimate, goodput: &MetricEstimate) -> bool {
    estimate.benchmark == goodput.benchmark
        && estimate.tool.name == goodput.tool.name
        && estimate.host == goodput.host
        && route(estimate) == route(goodput)
        && case_label(estimate) == case_label(goodput)
}

fn table(
    title: &str,
    context: &ReportContext<'_>,
    estimates: &[&MetricEstimate],
) -> ReportTable {
    let interval = cells::interval_title(estimates);
    let titles = (word("column-value"), interval.as_str());
    let mut table = ReportTable::with_caption(title);
    let prefixes = ColumnPrefixes::for_medians(estimates.iter().copied());
    for estimate in estimates {
        let [value, interval] = cells::value_columns(titles, estimate, &prefixes);
        table.push([
            left(word("column-what"), metric_label(estimate)),
            left(word("column-where"), place_label(estimate)),
            left(word("column-case"), case_label(estimate)),
            value,
            interval,
            right("p99", round_trip_p99(estimate, estimates, &prefixes)),
            right(word("column-of-link"), cells::percent(estimate.percent_of_limit)),
            cells::sample_column(estimate),
            cells::host_and_measurer_column(context, estimate),
            cells::note_column(context, estimate),
        ]);
    }
    table.without_empty_columns()
}

/// Returns the path, and the end for metrics of one end.
fn place_label(estimate: &MetricEstimate) -> String {
    let to = route(estimate);
    let path = match text(estimate, Attribute::Path).as_deref() {
        Some("loopback") if to != "loopback" => format!("{to} ({})", word("path-loopback")),
        Some("loopback") => word("path-loopback").to_owned(),
        _ => to,
    };
    match text(estimate, Attribute::End) {
        Some(end) => with_detail(&path, &words::end(&end)),
        None => path,
    }
}

/// Returns the pair of hosts, or the remote end.
fn route(estimate: &MetricEstimate) -> String {
    pairs::name(estimate).or_else(|| text(estimate, Attribute::To)).unwrap_or_default()
}

fn round_trip_p99(
    estimate: &MetricEstimate,
    all: &[&MetricEstimate],
    prefixes: &ColumnPrefixes,
) -> String {
    const METRICS: [&str; 4] =
        ["round_trip", "half_round_trip", "connect_time", "transaction_time"];
    let p99 = estimate.percentiles.as_ref().and_then(|all| all.get("p99").copied());
    // That of half round trips is half of that of round trips.
    let has_whole = all.iter().any(|it| it.metric == "round_trip" && it.case == estimate.case);
    let is_repeated = estimate.metric == "half_round_trip" && has_whole;
    p99.filter(|_| METRICS.contains(&estimate.metric.as_str()) && !is_repeated)
        .map(|value| prefixes.value_without_interval(value, estimate.unit))
        .unwrap_or_default()
}
