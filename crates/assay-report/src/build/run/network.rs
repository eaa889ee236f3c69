//! Network section: throughput with its CPU cost at both ends, and round trips.

use assay_model::attribute::{Attribute, Value};
use assay_model::benchmark::Section;
use assay_model::quantity::Unit;
use assay_model::summary::Estimate;

pub(in crate::build) mod pairs;

use super::context::{Context, metric_name, number, reported, section_of, text};
use super::{rows, words};
use crate::document::{Align, Block, Cell, Document, Table, Tone};
use crate::locale::{detailed, details, word};
use crate::precision::{self, Prefixes};
use crate::units;

mod pictures;

/// Significant digits of CPU load and cost, which vary too much for more.
const END_DIGITS: usize = 2;

/// Metrics of the second table; the first one has all others.
const TIMES: [&str; 2] = ["round_trip", "half_round_trip"];

pub(super) fn add(document: &mut Document, context: &Context<'_>) {
    let all = context.section(Section::Network);
    if all.is_empty() {
        return;
    }
    document.heading(word("heading-network"));
    document.blocks.extend(pairs::maps(&all, &item).into_iter().map(Block::HeatMap));
    let is_time = |estimate: &&&Estimate| TIMES.contains(&estimate.metric.as_str());
    let times: Vec<&Estimate> = all.iter().filter(is_time).copied().collect();
    let amounts: Vec<&Estimate> = all.iter().filter(|it| !is_time(it)).copied().collect();
    if amounts.iter().any(|it| it.metric == "goodput") {
        document.blocks.push(Block::Table(items(context, &amounts)));
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
        let over_time = ["goodput", "cpu_load"].map(|it| pictures::course(run, &amounts, it));
        let plots = over_time.into_iter().chain([pictures::distribution(run, &times)]);
        document.blocks.extend(plots.flatten().map(Block::Plot));
    }
    if all.iter().all(|estimate| text(estimate, Attribute::Path).as_deref() == Some("loopback"))
    {
        document.paragraph(Tone::Quiet, word("network-loopback"));
    }
}

/// Returns a table with one row for each throughput case; the list that follows contains all
/// metrics.
fn items(context: &Context<'_>, amounts: &[&Estimate]) -> Table {
    let columns = [
        (word("column-item"), Align::Left),
        (word("column-where"), Align::Left),
        (word("column-goodput"), Align::Right),
        (word("column-of-link"), Align::Right),
        (word("column-cpu-load"), Align::Right),
        (word("column-cpu-time"), Align::Right),
        (word("column-retransmits"), Align::Right),
        (word("column-by"), Align::Left),
    ];
    let mut table = Table::new(word("table-network-items"), &columns);
    let prefixes = Prefixes::of_medians(amounts.iter().copied());
    for goodput in amounts.iter().copied().filter(|it| it.metric == "goodput") {
        let all = || amounts.iter().copied();
        let retransmits = all().find(|it| it.metric == "retransmits" && is_beside(it, goodput));
        table.rows.push(vec![
            item(goodput).into(),
            place(goodput).into(),
            prefixes.value(goodput).into(),
            rows::percent(goodput.percent_of_limit),
            load_of_both_ends(goodput, all()).into(),
            cost_of_both_ends(goodput, all()).into(),
            retransmits.map(precision::value).unwrap_or_default().into(),
            rows::host_and_measurer(context, goodput),
        ]);
    }
    table.without_empty_columns()
}

/// Returns `TCP, 6 streams, send`.
pub(in crate::build) fn item(estimate: &Estimate) -> String {
    detailed(&protocol(estimate), &case(estimate))
}

/// Returns the CPU load of the local and the remote end during the transfer: `34 / 29 %`.
pub(in crate::build) fn load_of_both_ends<'e>(
    goodput: &Estimate,
    all: impl Iterator<Item = &'e Estimate>,
) -> String {
    let percent = |it: &Estimate| units::quantity(it.median * 100.0, Unit::Ratio, END_DIGITS);
    of_both_ends(goodput, "cpu_load", all, percent, units::in_percent)
}

/// Returns the CPU time per byte at both ends: `0.40 / 0.52 s/GB`.
fn cost_of_both_ends<'e>(
    goodput: &Estimate,
    all: impl Iterator<Item = &'e Estimate>,
) -> String {
    let cost = |it: &Estimate| {
        units::parts(&units::quantity(it.median, it.unit, END_DIGITS)).0.to_owned()
    };
    of_both_ends(goodput, "cpu_per_byte", all, cost, |cost| units::with_symbol(cost, "s/GB"))
}

fn of_both_ends<'e>(
    goodput: &Estimate,
    metric: &str,
    all: impl Iterator<Item = &'e Estimate>,
    format: impl Fn(&Estimate) -> String,
    with_unit: impl Fn(&str) -> String,
) -> String {
    let (mut local, mut remote) = (None, None);
    let unknown = word("unknown");
    for estimate in all.filter(|it| it.metric == metric && is_beside(it, goodput)) {
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
    units::joined(&reported)
}

/// Whether both results belong to the same case and measurer.
fn is_beside(estimate: &Estimate, goodput: &Estimate) -> bool {
    estimate.benchmark == goodput.benchmark
        && estimate.tool.name == goodput.tool.name
        && estimate.host == goodput.host
        && place_of(estimate) == place_of(goodput)
        && case(estimate) == case(goodput)
}

pub(in crate::build) fn protocol(estimate: &Estimate) -> String {
    estimate.benchmark.rsplit('.').next().unwrap_or_default().to_uppercase()
}

fn table(title: &str, context: &Context<'_>, estimates: &[&Estimate]) -> Table {
    let interval = rows::interval_title(estimates);
    let columns = [
        (word("column-what"), Align::Left),
        (word("column-where"), Align::Left),
        (word("column-case"), Align::Left),
        (word("column-value"), Align::Right),
        (interval.as_str(), Align::Right),
        ("p99", Align::Right),
        (word("column-of-link"), Align::Right),
        ("n", Align::Right),
        (word("column-by"), Align::Left),
        (word("column-note"), Align::Left),
    ];
    let mut table = Table::new(title, &columns);
    let prefixes = Prefixes::of_medians(estimates.iter().copied());
    for estimate in estimates {
        let mut row: Vec<Cell> =
            vec![what(estimate).into(), place(estimate).into(), case(estimate).into()];
        row.extend(rows::estimate(estimate, &prefixes));
        row.extend([
            p99(estimate, &prefixes).into(),
            rows::percent(estimate.percent_of_limit),
            rows::samples(estimate),
            rows::host_and_measurer(context, estimate),
            rows::notes(context, estimate),
        ]);
        table.rows.push(row);
    }
    table.without_empty_columns()
}

/// Returns `TCP goodput`, `UDP loss`.
pub(in crate::build) fn what(estimate: &Estimate) -> String {
    format!("{} {}", protocol(estimate), metric_name(estimate))
}

/// Whether a result belongs to the network section.
pub(in crate::build) fn is_about(estimate: &Estimate) -> bool {
    section_of(estimate) == Some(Section::Network)
}

/// Returns the pair of hosts and the case, with the end for metrics of one end.
pub(in crate::build) fn case_and_end(estimate: &Estimate) -> String {
    let end = text(estimate, Attribute::End).map(|end| words::end(&end));
    let case = Some(case(estimate)).filter(|case| !case.is_empty());
    let parts = [pairs::name(estimate), case, end];
    details(&parts.into_iter().flatten().collect::<Vec<_>>())
}

/// Returns the path, and the end for metrics of one end.
fn place(estimate: &Estimate) -> String {
    let to = place_of(estimate);
    let path = match text(estimate, Attribute::Path).as_deref() {
        Some("loopback") if to != "loopback" => format!("{to} (loopback)"),
        _ => to,
    };
    match text(estimate, Attribute::End) {
        Some(end) => detailed(&path, &words::end(&end)),
        None => path,
    }
}

/// Returns the pair of hosts, or the remote end.
fn place_of(estimate: &Estimate) -> String {
    pairs::name(estimate).or_else(|| text(estimate, Attribute::To)).unwrap_or_default()
}

/// Returns the parameters that distinguish the cases of one metric: streams, direction, sizes,
/// rates, load.
pub(in crate::build) fn case(estimate: &Estimate) -> String {
    let is_off = |name: Attribute| estimate.parameters.get(&name) == Some(&Value::Flag(false));
    let streams =
        number(estimate, Attribute::Streams).map(|streams| say!("streams", n = streams as u64));
    let load = number(estimate, Attribute::LoadStreams).filter(|streams| *streams > 0.0);
    let parts = [
        streams,
        text(estimate, Attribute::Direction).map(|it| words::direction(&it)),
        is_off(Attribute::Copy).then(|| word("no-copy").to_owned()),
        text(estimate, Attribute::RateBitPerS)
            .and(number(estimate, Attribute::RateBitPerS))
            .map(|rate| units::quantity(rate, Unit::BitPerSecond, 3)),
        number(estimate, Attribute::Bytes)
            .map(|bytes| units::with_symbol(&bytes.to_string(), "B")),
        text(estimate, Attribute::Waiting).filter(|waiting| waiting == "spin"),
        text(estimate, Attribute::MessagesPerS).map(|rate| say!("per-second", rate = rate)),
        load.map(|streams| say!("under-load", n = streams as u64)),
    ];
    details(&parts.into_iter().flatten().collect::<Vec<_>>())
}

fn p99(estimate: &Estimate, prefixes: &Prefixes) -> String {
    let p99 = estimate.percentiles.as_ref().and_then(|all| all.get("p99").copied());
    // Format 1 had no distributions; it stored the percentile of all round trips separately.
    let p99 = reported(estimate, "all_p99_s").or(p99);
    p99.filter(|_| estimate.metric == "round_trip")
        .map(|value| prefixes.of_none(value, estimate.unit))
        .unwrap_or_default()
}
