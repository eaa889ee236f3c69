//! Doubts about the machine during the measurement: load, steal time, throttling.

use assay_model::doubt::Doubt;
use assay_model::quantity::Unit;

use crate::locale::{comma, format_fixed, group_digits};
use crate::locale::{in_percent as percent_of, quantity, with_symbol};
use crate::words::{Explanation, explanation, in_percent};

pub(super) fn explain(doubt: &Doubt) -> Option<Explanation> {
    let span = |seconds| quantity(seconds, Unit::Second, 3);
    let seconds = |value, decimals| with_symbol(&format_fixed(value, decimals), "s");
    Some(match *doubt {
        Doubt::Steal { stolen_s, share, span_s } => explanation!(
            "doubt-steal",
            stolen = seconds(stolen_s, 2),
            share = in_percent(share, 1),
            span = span(span_s),
        ),
        Doubt::CpuPressure { share } => {
            explanation!("doubt-cpu-pressure", share = in_percent(share, 0))
        }
        Doubt::MemoryPressure { share } => {
            explanation!("doubt-memory-pressure", share = in_percent(share, 0))
        }
        Doubt::Throttled { times, span_s } => {
            explanation!("doubt-throttled", n = times, span = span(span_s))
        }
        Doubt::FrequencyDrop { before_hz, after_hz } => explanation!(
            "doubt-frequency-drop",
            before = quantity(before_hz, Unit::Hertz, 3),
            after = quantity(after_hz, Unit::Hertz, 3),
            change = percent_of(&format_fixed(100.0 * (after_hz / before_hz - 1.0), 0)),
        ),
        Doubt::OtherLoad { load } => {
            explanation!("doubt-other-load", load = format_fixed(load, 2))
        }
        Doubt::AnotherAssay => explanation!("doubt-another-assay"),
        Doubt::EmulatedCpu => explanation!("doubt-emulated-cpu"),
        Doubt::Paused { times, seconds: paused_s, suspended_s } => {
            match suspended_s > 0.5 * paused_s {
                true => explanation!("doubt-suspended", time = seconds(suspended_s, 1)),
                false => explanation!("doubt-paused", time = seconds(paused_s, 1), n = times),
            }
        }
        Doubt::CpusTaken { ref cpus } => {
            let names = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(comma());
            explanation!("doubt-cpus-taken", n = cpus.len(), cpus = names)
        }
        Doubt::ClockStepped { seconds: step } => {
            explanation!(
                "doubt-clock-stepped",
                step = with_symbol(&group_digits(&format!("{step:+.1}")), "s")
            )
        }
        Doubt::OverBudget { elapsed_s, budget_s } => explanation!(
            "doubt-over-budget",
            elapsed = seconds(elapsed_s, 0),
            budget = seconds(budget_s, 0),
        ),
        _ => return None,
    })
}
