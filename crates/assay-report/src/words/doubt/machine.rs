//! Doubts about the machine during the measurement: load, steal time, throttling.

use assay_model::doubt::Doubt;
use assay_model::quantity::{Quantity, Unit};

use crate::words::Said;

pub(super) fn said(doubt: &Doubt) -> Option<Said> {
    let span = |seconds| Quantity::new(seconds, Unit::Second);
    Some(match *doubt {
        Doubt::Steal { stolen_s, share, span_s } => Said::new(
            format!(
                "the hypervisor took {stolen_s:.2} s of CPU time ({:.1} %) away within {:.3}",
                100.0 * share,
                span(span_s)
            ),
            "repeat at a quieter time, or on a machine that shares no CPUs with others",
        ),
        Doubt::CpuPressure { share } => Said::new(
            format!("some task waited for a CPU in {:.0} % of the time", 100.0 * share),
            "stop other programs, or measure with fewer threads than CPUs",
        ),
        Doubt::MemoryPressure { share } => Said::new(
            format!("some task waited for memory in {:.0} % of the time", 100.0 * share),
            "use smaller arrays, or free memory before the run",
        ),
        Doubt::Throttled { times, span_s } => Said::new(
            format!(
                "the control group ran out of its CPU quota {times} times within {:.3}",
                span(span_s)
            ),
            "raise the CPU limit of the container or service, or use no more threads than it allows",
        ),
        Doubt::FrequencyDrop { before_hz, after_hz } => Said::new(
            format!(
                "the highest CPU frequency fell from {:.3} before to {:.3} after ({:.0} %)",
                Quantity::new(before_hz, Unit::Hertz),
                Quantity::new(after_hz, Unit::Hertz),
                100.0 * (after_hz / before_hz - 1.0)
            ),
            "check cooling and power limits; fix the frequency when two machines are compared",
        ),
        Doubt::OtherLoad { load } => Said::new(
            format!("the load average was {load:.2} before anything was measured"),
            "stop other programs; a measurement that has just ended counts for a minute, too",
        ),
        Doubt::AnotherAssay => Said::new(
            "another assay is measuring on this machine; the two may disturb each other",
            "wait until it has finished and measure again",
        ),
        Doubt::Paused { times, seconds, suspended_s } => Said::new(
            match suspended_s > 0.5 * seconds {
                true => format!("the machine was suspended for {suspended_s:.1} s meanwhile"),
                false => format!(
                    "assay stood still for {seconds:.1} s, {times} time{}: it was stopped, or got no CPU",
                    super::super::plural(times as usize)
                ),
            },
            "measure again: times in which nobody measured are part of these results",
        ),
        Doubt::CpusTaken { ref cpus } => cpus_taken(cpus),
        Doubt::ClockStepped { seconds } => Said::new(
            format!("the clock of the day was set by {seconds:+.1} s meanwhile"),
            "durations are of another clock and stay right; times of day in the run are of both",
        ),
        Doubt::OverBudget { elapsed_s, budget_s } => Said::new(
            format!(
                "the run took {elapsed_s:.0} s, where {budget_s:.0} s were the budget: every case \
                 is measured at least once, and an official tool decides itself how long it takes"
            ),
            "choose fewer cases in a suite file, or fewer tools with `--by`",
        ),
        _ => return None,
    })
}

fn cpus_taken(cpus: &[u32]) -> Said {
    let (end, cpus) = (super::super::plural(cpus.len()), cpus.iter().map(u32::to_string));
    let cpus = cpus.collect::<Vec<_>>().join(", ");
    Said::new(
        format!(
            "assay could no longer use CPU{end} {cpus}: taken offline, or away from its cpuset or affinity"
        ),
        "measure again: threads that belong on such a CPU shared another with the rest",
    )
}
