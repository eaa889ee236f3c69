//! The network: throughput with what it cost both ends, and round trips.

use assay_model::benchmark::Benchmark;
use assay_model::event::Parameter;
use assay_model::summary::Estimate;

use super::context::{Context, metric_name, number, text};
use super::rows;
use crate::document::{Align, Block, Cell, Document, Table, Tone};
use crate::parameter;

const HEADING: &str = "Network";
const THROUGHPUT: &str = "What arrived, and what it cost";
const ROUND_TRIPS: &str = "Round trips";
const LOOPBACK: &str = "Everything here went over loopback within this machine, on the CPUs that also \
                        sent and received: it says nothing about a network.";

const BENCHMARKS: [Benchmark; 3] =
    [Benchmark::NetworkTcp, Benchmark::NetworkUdp, Benchmark::NetworkIcmp];
/// Metrics of the second table; all others belong to the first.
const TIMES: [&str; 2] = ["round_trip", "half_round_trip"];

pub(super) fn add(document: &mut Document, context: &Context<'_>) {
    let all: Vec<&Estimate> =
        BENCHMARKS.into_iter().flat_map(|benchmark| context.results(benchmark)).collect();
    if all.is_empty() {
        return;
    }
    document.heading(HEADING);
    let is_time = |estimate: &&&Estimate| TIMES.contains(&estimate.metric.as_str());
    let times: Vec<&Estimate> = all.iter().filter(is_time).copied().collect();
    let amounts: Vec<&Estimate> = all.iter().filter(|it| !is_time(it)).copied().collect();
    for (title, estimates) in [(THROUGHPUT, &amounts), (ROUND_TRIPS, &times)] {
        if !estimates.is_empty() {
            document.blocks.push(Block::Table(table(title, context, estimates)));
        }
    }
    if all.iter().all(|estimate| text(estimate, "path").as_deref() == Some("loopback")) {
        document.paragraph(Tone::Quiet, LOOPBACK.to_owned());
    }
}

fn table(title: &str, context: &Context<'_>, estimates: &[&Estimate]) -> Table {
    let interval = rows::interval_title(estimates);
    let columns = [
        ("what", Align::Left),
        ("where", Align::Left),
        ("case", Align::Left),
        ("value", Align::Right),
        (interval.as_str(), Align::Right),
        ("p99", Align::Right),
        ("of link", Align::Right),
        ("n", Align::Right),
        ("by", Align::Left),
        ("note", Align::Left),
    ];
    let mut table = Table::new(title, &columns);
    for estimate in estimates {
        let mut row: Vec<Cell> =
            vec![what(estimate).into(), place(estimate).into(), case(estimate).into()];
        row.extend(rows::estimate(estimate));
        row.extend([
            p99(estimate).into(),
            rows::percent(estimate.percent_of_limit),
            rows::samples(estimate),
            rows::measurer(context, estimate),
            rows::notes(context, estimate),
        ]);
        table.rows.push(row);
    }
    table.without_empty_columns()
}

/// `TCP goodput`, `UDP loss`.
pub(in crate::build) fn what(estimate: &Estimate) -> String {
    let protocol = estimate.benchmark.rsplit('.').next().unwrap_or_default().to_uppercase();
    format!("{protocol} {}", metric_name(estimate))
}

/// Whether an estimate belongs here.
pub(in crate::build) fn is_about(estimate: &Estimate) -> bool {
    BENCHMARKS.iter().any(|benchmark| benchmark.id() == estimate.benchmark)
}

/// The case, and the end where the figure is about one alone.
pub(in crate::build) fn case_and_end(estimate: &Estimate) -> String {
    let end = text(estimate, "end").map(|end| format!("{end} end"));
    let parts = [Some(case(estimate)).filter(|case| !case.is_empty()), end];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The path and the end, because a figure of one end says nothing about the other.
fn place(estimate: &Estimate) -> String {
    let to = text(estimate, "to").unwrap_or_default();
    let path = match text(estimate, "path").as_deref() {
        Some("loopback") if to != "loopback" => format!("{to} (loopback)"),
        _ => to,
    };
    match text(estimate, "end") {
        Some(end) => format!("{path}, {end} end"),
        None => path,
    }
}

/// What tells the cases of one metric apart: streams, direction, sizes, rates, load.
pub(in crate::build) fn case(estimate: &Estimate) -> String {
    let flag = |name: &str| estimate.parameters.get(name) == Some(&Parameter::Flag(false));
    let streams = number(estimate, "streams").map(|streams| match streams as u64 {
        1 => "1 stream".to_owned(),
        streams => format!("{streams} streams"),
    });
    let load = number(estimate, "load_streams").filter(|streams| *streams > 0.0);
    let parts = [
        streams,
        text(estimate, "direction"),
        flag("copy").then(|| "no copy".to_owned()),
        text(estimate, "rate_bit_per_s").and(number(estimate, "rate_bit_per_s")).map(|rate| {
            parameter::quantity(rate, assay_model::quantity::Unit::BitPerSecond, 3)
        }),
        number(estimate, "bytes").map(|bytes| format!("{bytes} B")),
        text(estimate, "waiting").filter(|waiting| waiting == "spin"),
        text(estimate, "messages_per_s").map(|rate| format!("{rate} per second")),
        load.map(|streams| format!("under load of {streams}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Of all round trips where they were kept, else of the samples.
fn p99(estimate: &Estimate) -> String {
    let of_samples = || estimate.percentiles.as_ref()?.get("p99").copied();
    let p99 = number(estimate, "all_p99_s").or_else(of_samples);
    p99.filter(|_| estimate.metric == "round_trip")
        .map(|value| parameter::quantity(value, estimate.unit, 3))
        .unwrap_or_default()
}
