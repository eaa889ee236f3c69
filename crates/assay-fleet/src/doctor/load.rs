//! Checks of current load on the machine.

use std::time::{Duration, Instant};

use assay_model::finding::FindingSeverity;
use assay_model::phrase;
use assay_model::phrase::Phrase;

use super::check::{CheckInput, CheckObstacle, CheckResult, DoctorCheck, none};
use crate::process_table::{self, ProcessEntry};
use crate::state::{MAX_OTHER_LOAD, MEMORY_PRESSURE, STEAL_SHARE};

/// Sampling time of processes: 20 ticks of the usual 100 Hz clock, so that one tick is a share of
/// 5 %.
const SAMPLING_TIME: Duration = Duration::from_millis(200);
/// Minimum share of one CPU for a process to be listed.
const BUSY_SHARE: f64 = 0.05;
/// Maximum number of listed processes.
const MAX_LISTED: usize = 5;
/// Maximum share of the last ten seconds in which tasks waited for a CPU.
const CPU_PRESSURE: f64 = 0.01;

const RELIABLE_BENCHMARKING: &str =
    "Beyer, Löwe, Wendler: Reliable benchmarking: requirements and solutions (STTT 21, 2019)";

pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "load.average",
        expected: "below 0.5 before a measurement",
        why: "whatever else runs takes CPU time, caches and bandwidth away",
        source: RELIABLE_BENCHMARKING,
        severity: FindingSeverity::Skews,
        change: "stop other programs, and wait a minute",
        observe: average,
    },
    DoctorCheck {
        id: "load.processes",
        expected: "no other process uses more than 5 % of a CPU",
        why: "these are the programs that would disturb a measurement now",
        source: RELIABLE_BENCHMARKING,
        severity: FindingSeverity::Skews,
        change: "stop the programs named",
        observe: processes,
    },
    DoctorCheck {
        id: "load.steal",
        expected: "at most 0.5 % of CPU time since boot",
        why: "the hypervisor shares these CPUs with other guests",
        source: "proc_stat(5), steal",
        severity: FindingSeverity::Skews,
        change: "use a machine type or a host that is not shared, or measure at a quieter time",
        observe: steal,
    },
    DoctorCheck {
        id: "load.cpu-pressure",
        expected: "tasks wait for a CPU in less than 1 % of the last ten seconds",
        why: "there are more runnable tasks than CPUs",
        source: "kernel documentation: accounting/psi.rst",
        severity: FindingSeverity::Skews,
        change: "stop other programs",
        observe: cpu_pressure,
    },
    DoctorCheck {
        id: "load.memory-pressure",
        expected: "tasks wait for memory in less than 1 % of the last ten seconds",
        why: "the kernel is busy making room; new arrays will make it worse",
        source: "kernel documentation: accounting/psi.rst",
        severity: FindingSeverity::Skews,
        change: "stop other programs, or use less memory",
        observe: memory_pressure,
    },
];

fn average(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let hidden = || CheckObstacle::hidden(phrase!("load-average", "the load average"));
    let load = input.state.load_one_minute.ok_or_else(hidden)?;
    let formatted = Phrase::exact_value(format!("{load:.2}"));
    Ok(CheckResult::from_verdict(
        load < MAX_OTHER_LOAD,
        phrase!("load", "{load} over the last minute", load = formatted),
    ))
}

fn processes(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    if !input.can_see_all_processes() {
        return Err(CheckObstacle::hidden(phrase!(
            "all-processes",
            "the list of all processes"
        )));
    }
    let start = Instant::now();
    let before = process_table::snapshot(input.root);
    std::thread::sleep(SAMPLING_TIME);
    let after = process_table::snapshot(input.root);
    let busy = busiest(&before, &after, start.elapsed().as_secs_f64());
    if busy.is_empty() {
        return Ok(CheckResult::ok(none()));
    }
    let listed = busy.iter().take(MAX_LISTED).map(|(name, share)| {
        let share = Phrase::exact_value(format!("{:.0} %", 100.0 * share));
        Phrase::list(" ", [name.as_str().into(), share])
    });
    let listed = Phrase::list(", ", listed);
    Ok(CheckResult::deviates(phrase!("busy", "{processes} of a CPU", processes = listed)))
}

/// Returns the other processes above [`BUSY_SHARE`], busiest first.
fn busiest(
    before: &[ProcessEntry],
    after: &[ProcessEntry],
    elapsed_s: f64,
) -> Vec<(String, f64)> {
    let ticks = rustix::param::clock_ticks_per_second() as f64 * elapsed_s;
    let share = |process: &ProcessEntry| {
        let is_same = |earlier: &&ProcessEntry| {
            (earlier.id, earlier.start_ticks) == (process.id, process.start_ticks)
        };
        // A process that started between the snapshots has no earlier ticks.
        let earlier_ticks = before.iter().find(is_same).map_or(0, |earlier| earlier.busy_ticks);
        process.busy_ticks.saturating_sub(earlier_ticks) as f64 / ticks
    };
    let others = after.iter().filter(|entry| entry.id != std::process::id());
    let mut busy: Vec<(String, f64)> =
        others.map(|entry| (entry.name.clone(), share(entry))).collect();
    busy.retain(|(_, share)| *share > BUSY_SHARE);
    busy.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    busy
}

fn steal(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let state = input.state;
    let (Some(stolen), Some(all)) = (state.steal_s, state.cpu_time_s.filter(|all| *all > 0.0))
    else {
        return Err(CheckObstacle::hidden(phrase!("stolen-time", "the CPU time stolen")));
    };
    let share = stolen / all;
    let text = phrase!(
        "stolen",
        "{share} since boot ({time})",
        share = Phrase::exact_value(format!("{:.2} %", 100.0 * share)),
        time = Phrase::exact_value(format!("{stolen:.1} s")),
    );
    Ok(CheckResult::from_verdict(share <= STEAL_SHARE, text))
}

fn cpu_pressure(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    pressure(input.state.cpu_pressure, CPU_PRESSURE)
}

fn memory_pressure(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    pressure(input.state.memory_pressure, MEMORY_PRESSURE)
}

fn pressure(share: Option<f64>, limit: f64) -> Result<CheckResult, CheckObstacle> {
    let hidden = || CheckObstacle::hidden(phrase!("pressure", "pressure stall information"));
    let share = share.ok_or_else(hidden)?;
    let text = phrase!(
        "waited",
        "{share} of the last {time}",
        share = Phrase::exact_value(format!("{:.1} %", 100.0 * share)),
        time = Phrase::exact_value("10 s"),
    );
    Ok(CheckResult::from_verdict(share < limit, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u32, name: &str, busy_ticks: u64, start_ticks: u64) -> ProcessEntry {
        ProcessEntry {
            id,
            parent: 1,
            group: id,
            zombie: false,
            name: name.into(),
            busy_ticks,
            start_ticks,
        }
    }

    #[test]
    fn lists_busiest_other_processes_first() {
        let own = std::process::id();
        let second = rustix::param::clock_ticks_per_second();
        let before = [
            entry(10, "idle", 500, 1),
            entry(11, "half", 70, 1),
            entry(12, "ended", 70, 1),
            entry(13, "reused", 9_000_000, 1),
            entry(own, "me", 0, 1),
        ];
        let after = [
            entry(10, "idle", 500, 1),
            entry(11, "half", 70 + second / 2, 1),
            entry(13, "reused", second / 4, 2),
            entry(14, "new", second, 5),
            entry(own, "me", second, 1),
        ];
        let busy = busiest(&before, &after, 1.0);
        let busy: Vec<(&str, i64)> = busy
            .iter()
            .map(|(name, share)| (name.as_str(), (share * 100.0).round() as i64))
            .collect();
        assert_eq!(busy, [("new", 100), ("half", 50), ("reused", 25)]);
    }
}
