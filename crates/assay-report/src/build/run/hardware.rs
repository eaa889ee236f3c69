//! Hardware counters: operations per cycle of the compute section, and clock, instructions, memory traffic and
//! energy of each case.

use assay_model::attribute::Attribute;
use assay_model::kernel_counters::{CounterRecord, ObservedClock};
use assay_model::quantity::Unit;
use assay_model::summary::{MetricEstimate, RunSummary};

use super::estimate_parts::number;
use crate::document::{Block, Details, Document, Paragraph, ReportTable, Tone, left, right};
use crate::locale::{format_fixed, join_details, word};
use crate::precision::format_value;
use crate::units::quantity;

/// Digits of figures that a second run does not repeat exactly.
const DIGITS: usize = 3;

/// Returns the FLOP of each cycle and core that a rate is, with the observed clock: the rate over cores and
/// clock.
pub(super) fn flop_per_cycle(
    estimate: &MetricEstimate,
    summary: &RunSummary,
) -> Option<String> {
    let peak = number(estimate, Attribute::FlopPerCycle)?;
    let cores = number(estimate, Attribute::RpeakCores)?;
    let ObservedClock { hz, is_minimum } = record_of(estimate, summary)?.observed_clock()?;
    let flop = estimate.median / cores / hz;
    if !flop.is_finite() {
        return None;
    }
    let flop = format_value(flop, Unit::Count, DIGITS);
    let (peak, clock) = (format_fixed(peak, 0), quantity(hz, Unit::Hertz, DIGITS));
    Some(match is_minimum {
        true => message!("hardware-flop-user", flop = flop, peak = peak, clock = clock),
        false => message!("hardware-flop", flop = flop, peak = peak, clock = clock),
    })
}

fn record_of<'s>(
    estimate: &MetricEstimate,
    summary: &'s RunSummary,
) -> Option<&'s CounterRecord> {
    let is_of = |it: &&CounterRecord| {
        it.case == estimate.case && it.host.as_ref().is_none_or(|host| *host == estimate.host)
    };
    summary.counters.iter().find(is_of)
}

/// Adds the table of all cases with such counters.
pub(super) fn add(document: &mut Document, summary: &RunSummary) {
    let mut table = ReportTable::with_caption("");
    for record in &summary.counters {
        let figures = figures(record);
        if figures.iter().all(String::is_empty) {
            continue;
        }
        let name: Vec<String> =
            [Some(record.case.clone()), record.host.clone()].into_iter().flatten().collect();
        let [clock, instructions, traffic, of_work, energy, efficiency] = figures;
        table.push([
            left(word("column-case"), join_details(&name)),
            right(word("column-observed-clock"), clock),
            right(word("column-instructions-per-cycle"), instructions),
            right(word("column-memory-traffic"), traffic),
            right(word("column-traffic-of-work"), of_work),
            right(word("column-energy"), energy),
            right(word("column-energy-efficiency"), efficiency),
        ]);
    }
    if table.rows.is_empty() {
        return;
    }
    let mut blocks = vec![Block::Table(table.without_empty_columns())];
    if summary.counters.iter().any(|it| it.traffic_of_work().is_some()) {
        let text = word("hardware-write-allocate").to_owned();
        blocks.push(Block::Paragraph(Paragraph { text, tone: Tone::Quiet }));
    }
    let title = word("details-hardware").to_owned();
    document.blocks.push(Block::Details(Details { title, blocks }));
}

/// Returns the cells of a case; those without a value are empty.
fn figures(record: &CounterRecord) -> [String; 6] {
    let count = |value| format_value(value, Unit::Count, DIGITS);
    let clock = record.observed_clock().map(|ObservedClock { hz, is_minimum }| {
        let clock = quantity(hz, Unit::Hertz, DIGITS);
        if is_minimum { format!("≥\u{a0}{clock}") } else { clock }
    });
    let per_byte = || {
        let joules = count(record.joules_per_byte()? * 1e9);
        Some(message!("joules-per-gigabyte", value = joules))
    };
    let per_joule = record.flop_per_joule().map(|flop| {
        let value = count(flop / 1e9);
        message!("gigaflop-per-joule", value = value)
    });
    let bytes = |value| quantity(value, Unit::Byte, DIGITS);
    let figures = [
        clock,
        record.instructions_per_cycle().map(count),
        record.memory_traffic_bytes().map(bytes),
        record.traffic_of_work().map(|it| format_value(it, Unit::Ratio, DIGITS)),
        record.energy_j().map(|joules| message!("joules", value = count(joules))),
        per_joule.or_else(per_byte),
    ];
    figures.map(Option::unwrap_or_default)
}
