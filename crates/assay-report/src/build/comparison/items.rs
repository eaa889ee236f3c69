//! The network under two conditions as people lay it out: one row per item, and under each condition
//! what arrived or how long it took, and what it cost the CPUs of both ends.
//!
//! A summary of the list that follows it; nothing stands here alone.

use assay_model::benchmark::Benchmark;
use assay_model::comparison::{Comparison, Pair};
use assay_model::event::Parameter;
use assay_model::quantity::Unit;
use assay_model::summary::Estimate;

use super::{case, ratio_cells, verdict, what};
use crate::build::run::words;
use crate::document::{Align, Cell, Table};
use crate::{parameter, precision};

const TITLE: &str = "Item by item";
/// Beside each condition, what it says follows the table.
const CPU: &str = "CPU";
/// What `CPU` says.
pub(super) const CPU_IS: &str = "CPU is the share of all CPUs that worked at the local / at the remote \
                                 end while the item was measured.";
/// Of a load that varies from moment to moment more digits are not worth their place.
const PERCENT_DIGITS: usize = 2;
const NOT_TOLD: &str = "not told";
/// What people ask of a network, in their order.
const ITEMS: [(Benchmark, &str); 7] = [
    (Benchmark::NetworkTcp, "goodput"),
    (Benchmark::NetworkUdp, "goodput"),
    (Benchmark::NetworkTcp, "round_trip"),
    (Benchmark::NetworkTcp, "half_round_trip"),
    (Benchmark::NetworkUdp, "round_trip"),
    (Benchmark::NetworkUdp, "half_round_trip"),
    (Benchmark::NetworkIcmp, "round_trip"),
];

/// `None` where nothing was transferred under both conditions, or nobody told its CPU time: the list
/// says as much then.
pub(super) fn table(comparison: &Comparison) -> Option<Table> {
    let load = |pair: &&Pair| pair.a.metric == "cpu_load" && is_network(&pair.a);
    comparison.pairs.iter().find(load)?;
    let (a, b) = (&comparison.a.name, &comparison.b.name);
    let ratio = format!("{b} ÷ {a}");
    let interval = words::interval(Some(comparison.level));
    let columns = [
        ("item", Align::Left),
        (a.as_str(), Align::Right),
        (CPU, Align::Left),
        (b.as_str(), Align::Right),
        (CPU, Align::Left),
        (ratio.as_str(), Align::Right),
        (interval.as_str(), Align::Right),
        ("verdict", Align::Left),
        ("by", Align::Left),
    ];
    let several = comparison.pairs.windows(2).any(|it| it[0].a.tool.name != it[1].a.tool.name);
    let mut table = Table::new(TITLE, &columns);
    for (benchmark, metric) in ITEMS {
        for pair in &comparison.pairs {
            if pair.a.benchmark == benchmark.id() && pair.a.metric == metric {
                table.rows.push(row(comparison, pair, several));
            }
        }
    }
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

fn is_network(estimate: &Estimate) -> bool {
    ITEMS.iter().any(|(benchmark, _)| benchmark.id() == estimate.benchmark)
}

fn row(comparison: &Comparison, pair: &Pair, several: bool) -> Vec<Cell> {
    let item = format!("{}, {}", what(&pair.a).replace('_', " "), case(&pair.a));
    let cpu = |side: fn(&Pair) -> &Estimate| match pair.a.metric.as_str() {
        "goodput" => cpu(comparison, pair, side),
        _ => String::new(),
    };
    let by = if several { pair.a.tool.name.clone() } else { String::new() };
    let mut row: Vec<Cell> = vec![
        item.into(),
        precision::value(&pair.a).into(),
        cpu(|pair| &pair.a).into(),
        precision::value(&pair.b).into(),
        cpu(|pair| &pair.b).into(),
    ];
    row.extend(ratio_cells(pair));
    row.extend([verdict(pair), by.into()]);
    row
}

/// The load of both ends while this arrived.
fn cpu(comparison: &Comparison, goodput: &Pair, side: fn(&Pair) -> &Estimate) -> String {
    let of_end = |end: &str| {
        let found = comparison.pairs.iter().find(|pair| is_load_of(&pair.a, &goodput.a, end));
        found.map(|pair| {
            let percent = side(pair).median * 100.0;
            parameter::quantity(percent, Unit::Ratio, PERCENT_DIGITS)
        })
    };
    match (of_end("local"), of_end("remote")) {
        (Some(local), Some(remote)) => format!("{local} / {remote}\u{a0}%"),
        (Some(local), None) => format!("{local}\u{a0}% / {NOT_TOLD}"),
        (None, Some(remote)) => format!("{NOT_TOLD} / {remote}\u{a0}%"),
        (None, None) => NOT_TOLD.to_owned(),
    }
}

/// The same case by the same measurer, seen from one end.
fn is_load_of(load: &Estimate, goodput: &Estimate, end: &str) -> bool {
    let is_of_end = |(name, value): &(&String, &Parameter)| {
        *name == "end" && **value == Parameter::Text(end.to_owned())
    };
    load.metric == "cpu_load"
        && load.benchmark == goodput.benchmark
        && load.tool.name == goodput.tool.name
        && load.parameters.iter().any(|it| is_of_end(&it))
        && case_of(load) == case_of(goodput)
}

fn case_of(estimate: &Estimate) -> String {
    crate::build::run::network::case(estimate)
}
