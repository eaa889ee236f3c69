//! Doubts about the machine during the measurement: load, steal time, throttling.

use assay_model::doubt::Doubt;
use assay_model::quantity::Unit;

use crate::locale::{comma, format_fixed, group_digits};
use crate::locale::{in_percent as percent_of, quantity, with_symbol};
use crate::words::{Explanation, in_percent, reported};

pub(super) fn explain(doubt: &Doubt) -> Option<Explanation> {
    let span = |seconds| quantity(seconds, Unit::Second, 3);
    let seconds = |value, decimals| with_symbol(&format_fixed(value, decimals), "s");
    Some(match *doubt {
        Doubt::Steal { stolen_s, share, span_s } => reported!(
            "doubt-steal",
            stolen = seconds(stolen_s, 2),
            share = in_percent(share, 1),
            span = span(span_s),
        ),
        Doubt::CpuPressure { share } => {
            reported!("doubt-cpu-pressure", share = in_percent(share, 0))
        }
        Doubt::MemoryPressure { share } => {
            reported!("doubt-memory-pressure", share = in_percent(share, 0))
        }
        Doubt::Throttled { times, span_s } => {
            reported!("doubt-throttled", n = times, span = span(span_s))
        }
        Doubt::FrequencyDrop { before_hz, after_hz } => reported!(
            "doubt-frequency-drop",
            before = quantity(before_hz, Unit::Hertz, 3),
            after = quantity(after_hz, Unit::Hertz, 3),
            change = percent_of(&format_fixed(100.0 * (after_hz / before_hz - 1.0), 0)),
        ),
        Doubt::OtherLoad { load } => {
            reported!("doubt-other-load", load = format_fixed(load, 2))
        }
        Doubt::AnotherAssay => reported!("doubt-another-assay"),
        Doubt::EmulatedCpu => reported!("doubt-emulated-cpu"),
        Doubt::Paused { times, seconds: paused_s, suspended_s } => {
            match suspended_s > 0.5 * paused_s {
                true => reported!("doubt-suspended", time = seconds(suspended_s, 1)),
                false => reported!("doubt-paused", time = seconds(paused_s, 1), n = times),
            }
        }
        Doubt::CpusTaken { ref cpus } => {
            let names = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(comma());
            reported!("doubt-cpus-taken", n = cpus.len(), cpus = names)
        }
        Doubt::ClockStepped { seconds: step } => {
            reported!(
                "doubt-clock-stepped",
                step = with_symbol(&group_digits(&format!("{step:+.1}")), "s")
            )
        }
        Doubt::OverBudget { elapsed_s, budget_s } => reported!(
            "doubt-over-budget",
            elapsed = seconds(elapsed_s, 0),
            budget = seconds(budget_s, 0),
        ),
        _ => return None,
    })
}
