//! Load and disturbances of a host at one moment, and doubts from two such moments.
//!
//! Reading takes well under a millisecond per CPU and starts nothing. A hidden counter raises no
//! doubt.

use assay_model::cpu_times::{CpuTimes, ticks_to_seconds, total_ticks};
use assay_model::doubt::Doubt;
use assay_model::facts::HostState;

use crate::control_group;
use crate::cpuinfo;
use crate::cpus;
use crate::meminfo;
use crate::root::Root;

/// Share of stolen CPU time above which results are doubtful.
pub(crate) const STEAL_SHARE: f64 = 0.005;
/// Maximum share of ten seconds in which a task waited for a CPU. assay itself causes up to 6 %:
/// while a pinned team holds all CPUs, a display that is refreshed twenty times a second waits up
/// to one scheduler slice (2.8 ms from eight CPUs on, kernel/sched/fair.c) each time.
const CPU_PRESSURE: f64 = 0.1;
/// Maximum share of ten seconds in which a task waited for memory; assay itself never causes that.
pub(crate) const MEMORY_PRESSURE: f64 = 0.01;
/// Maximum relative drop of the highest frequency. Wider than the 2 % tolerance of repeated
/// measurements: one CPU is busy before a run, all of them after it.
const FREQUENCY_DROP: f64 = 0.05;
/// Maximum load average of other programs: half a CPU.
pub(crate) const MAX_OTHER_LOAD: f64 = 0.5;

/// Reads the state of the host under `root`.
pub fn read(root: &Root) -> HostState {
    let times = cpu_times(root);
    HostState {
        load_one_minute: load_one_minute(root),
        steal_s: times.steal_ticks().map(ticks_to_seconds),
        cpu_time_s: times.total.map(|all| ticks_to_seconds(total_ticks(&all))),
        cpu_pressure: control_group::cpu_pressure(root)
            .and_then(|text| parse_pressure(&text))
            .or_else(|| pressure(root, "cpu")),
        memory_pressure: pressure(root, "memory"),
        throttled: control_group::throttled(root),
        frequency_hz: frequency_hz(root),
        available_bytes: meminfo::read_bytes(root, "MemAvailable"),
    }
}

/// Reads the CPU times; empty if `/proc` is not visible.
pub fn cpu_times(root: &Root) -> CpuTimes {
    CpuTimes::parse(&root.text("proc/stat").unwrap_or_default())
}

/// Returns the doubts about measurements in the `elapsed_s` seconds between two states. Load
/// average and CPU pressure include assay's own threads, so that they count only where
/// [`crate::cpu_demand`] is unknown.
pub fn find_disturbances(
    before: &HostState,
    after: &HostState,
    elapsed_s: f64,
    is_demand_known: bool,
) -> Vec<Doubt> {
    let pressure = || cpu_pressure_doubt(before, after);
    let load = || load_doubt(before);
    let doubts = [
        steal_doubt(before, after, elapsed_s),
        (!is_demand_known).then(pressure).flatten(),
        memory_pressure_doubt(before, after),
        throttling_doubt(before, after, elapsed_s),
        frequency_doubt(before, after),
        (!is_demand_known).then(load).flatten(),
    ];
    doubts.into_iter().flatten().collect()
}

fn steal_doubt(before: &HostState, after: &HostState, span_s: f64) -> Option<Doubt> {
    let stolen_s = after.steal_s? - before.steal_s?;
    let share = stolen_s / (after.cpu_time_s? - before.cpu_time_s?);
    (share > STEAL_SHARE).then_some(Doubt::Steal { stolen_s, share, span_s })
}

fn cpu_pressure_doubt(before: &HostState, after: &HostState) -> Option<Doubt> {
    let share = highest(before.cpu_pressure, after.cpu_pressure)?;
    (share > CPU_PRESSURE).then_some(Doubt::CpuPressure { share })
}

fn memory_pressure_doubt(before: &HostState, after: &HostState) -> Option<Doubt> {
    let share = highest(before.memory_pressure, after.memory_pressure)?;
    (share > MEMORY_PRESSURE).then_some(Doubt::MemoryPressure { share })
}

fn throttling_doubt(before: &HostState, after: &HostState, span_s: f64) -> Option<Doubt> {
    let times = after.throttled?.saturating_sub(before.throttled?);
    (times > 0).then_some(Doubt::Throttled { times, span_s })
}

fn frequency_doubt(before: &HostState, after: &HostState) -> Option<Doubt> {
    let ((_, before_hz), (_, after_hz)) = (before.frequency_hz?, after.frequency_hz?);
    let drop = 1.0 - after_hz / before_hz;
    (drop > FREQUENCY_DROP).then_some(Doubt::FrequencyDrop { before_hz, after_hz })
}

fn load_doubt(before: &HostState) -> Option<Doubt> {
    let load = before.load_one_minute?;
    (load > MAX_OTHER_LOAD).then_some(Doubt::OtherLoad { load })
}

fn highest(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    first.into_iter().chain(second).reduce(f64::max)
}

/// Reads the one-minute average, the first field of `/proc/loadavg` (`proc_loadavg(5)`).
fn load_one_minute(root: &Root) -> Option<f64> {
    parse_number(root.text("proc/loadavg")?.split_whitespace().next()?)
}

fn pressure(root: &Root, resource: &str) -> Option<f64> {
    parse_pressure(&root.text(&format!("proc/pressure/{resource}"))?)
}

/// Parses `some avg10=0.12 avg60=…` in percent (kernel documentation: accounting/psi.rst) → 0.0012.
fn parse_pressure(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let percent = line.split_whitespace().find_map(|field| field.strip_prefix("avg10="))?;
    parse_number(percent).map(|percent| percent / 100.0)
}

/// Returns the lowest and highest current frequency in Hz. Without cpufreq, uses `cpu MHz` of
/// cpuinfo if the CPU can measure it (flag `aperfmperf`); elsewhere that line is a constant.
fn frequency_hz(root: &Root) -> Option<(f64, f64)> {
    let usable = cpus::usable(root);
    let file = |cpu: &u32| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
    let scaled = |cpu: &u32| Some(1e3 * parse_number(&root.text(&file(cpu))?)?);
    range(usable.iter().filter_map(scaled)).or_else(|| {
        let blocks = cpuinfo::read(root, &usable);
        let measured = blocks.iter().filter(|block| cpuinfo::has_flag(block, "aperfmperf"));
        range(measured.filter_map(|block| Some(1e6 * parse_number(block.get("cpu MHz")?)?)))
    })
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let pairs = values.filter(|hz| *hz > 0.0).map(|hz| (hz, hz));
    pairs.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
}

/// Parses a finite, non-negative number.
fn parse_number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}
