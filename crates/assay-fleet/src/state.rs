//! How busy and disturbed a host is at one moment, and what two such moments say about the time
//! between them.
//!
//! Reading takes well under a millisecond per CPU and starts nothing. A counter that is not visible
//! raises no warning: silence here means "nothing seen", never "nothing there".

use assay_model::cpu_times::{CpuTimes, ticks_s, total};
use assay_model::facts::HostState;
use assay_model::quantity::{Quantity, Unit};
use assay_model::warning::Warning;

use crate::control_group;
use crate::cpuinfo;
use crate::cpus;
use crate::meminfo;
use crate::root::Root;

/// Share of CPU time stolen above which results are doubtful.
pub(crate) const STEAL_SHARE: f64 = 0.005;
/// Share of ten seconds in which a task waited for a CPU. A small share is assay's own doing: while a
/// pinned team holds all CPUs, a display that is refreshed twenty times a second waits up to one slice
/// of the scheduler (2.8 ms from eight CPUs on, kernel/sched/fair.c) each time, 6 % in all.
const CPU_PRESSURE: f64 = 0.1;
/// Share of ten seconds in which a task waited for memory; assay itself never causes that.
pub(crate) const MEMORY_PRESSURE: f64 = 0.01;
/// Relative drop of the highest frequency. Wider than the 2 % that a repeated measurement should
/// keep to, because before a run one CPU is busy and after it all of them have been.
const FREQUENCY_DROP: f64 = 0.05;
/// Load average of others: half a CPU.
pub(crate) const LOAD: f64 = 0.5;

/// The state of the host under `root` now.
#[must_use]
pub fn read(root: &Root) -> HostState {
    let times = cpu_times(root);
    HostState {
        load_one_minute: load_one_minute(root),
        steal_s: times.stolen().map(ticks_s),
        cpu_time_s: times.all.map(|all| ticks_s(total(&all))),
        cpu_pressure: pressure(root, "cpu"),
        memory_pressure: pressure(root, "memory"),
        throttled: control_group::throttled(root),
        frequency_hz: frequency_hz(root),
        available_bytes: meminfo::bytes(root, "MemAvailable"),
    }
}

/// The times of the CPUs; empty where `/proc` is not visible.
#[must_use]
pub fn cpu_times(root: &Root) -> CpuTimes {
    CpuTimes::parse(&root.text("proc/stat").unwrap_or_default())
}

/// What may have disturbed the measurements of the `elapsed_s` seconds between two states.
#[must_use]
pub fn disturbance(before: &HostState, after: &HostState, elapsed_s: f64) -> Vec<Warning> {
    let span = Quantity::new(elapsed_s, Unit::Second);
    let warnings = [
        steal(before, after, span),
        waiting(before, after),
        memory_wait(before, after),
        throttling(before, after, span),
        slower(before, after),
        other_load(before),
    ];
    warnings.into_iter().flatten().collect()
}

fn steal(before: &HostState, after: &HostState, span: Quantity) -> Option<Warning> {
    let stolen_s = after.steal_s? - before.steal_s?;
    let share = stolen_s / (after.cpu_time_s? - before.cpu_time_s?);
    (share > STEAL_SHARE).then(|| {
        Warning::new(
            "steal",
            format!(
                "the hypervisor took {:.2} s of CPU time ({:.1} %) away within {span:.3}",
                stolen_s,
                100.0 * share
            ),
            "repeat at a quieter time, or on a machine that shares no CPUs with others",
        )
    })
}

fn waiting(before: &HostState, after: &HostState) -> Option<Warning> {
    let share = highest(before.cpu_pressure, after.cpu_pressure)?;
    (share > CPU_PRESSURE).then(|| {
        Warning::new(
            "cpu-pressure",
            format!("some task waited for a CPU in {:.0} % of the time", 100.0 * share),
            "stop other programs, or measure with fewer threads than CPUs",
        )
    })
}

fn memory_wait(before: &HostState, after: &HostState) -> Option<Warning> {
    let share = highest(before.memory_pressure, after.memory_pressure)?;
    (share > MEMORY_PRESSURE).then(|| {
        Warning::new(
            "memory-pressure",
            format!("some task waited for memory in {:.0} % of the time", 100.0 * share),
            "use smaller arrays, or free memory before the run",
        )
    })
}

fn throttling(before: &HostState, after: &HostState, span: Quantity) -> Option<Warning> {
    let times = after.throttled?.saturating_sub(before.throttled?);
    (times > 0).then(|| {
        Warning::new(
            "throttled",
            format!("the control group ran out of its CPU quota {times} times within {span:.3}"),
            "raise the CPU limit of the container or service, or use no more threads than it allows",
        )
    })
}

fn slower(before: &HostState, after: &HostState) -> Option<Warning> {
    let ((_, first), (_, last)) = (before.frequency_hz?, after.frequency_hz?);
    let drop = 1.0 - last / first;
    (drop > FREQUENCY_DROP).then(|| {
        Warning::new(
            "frequency-drop",
            format!(
                "the highest CPU frequency fell from {:.3} before to {:.3} after ({:.0} %)",
                Quantity::new(first, Unit::Hertz),
                Quantity::new(last, Unit::Hertz),
                -100.0 * drop
            ),
            "check cooling and power limits; fix the frequency when two machines are compared",
        )
    })
}

fn other_load(before: &HostState) -> Option<Warning> {
    let load = before.load_one_minute?;
    (load > LOAD).then(|| {
        Warning::new(
            "other-load",
            format!("the load average was {load:.2} before anything was measured"),
            "stop other programs; a measurement that has just ended counts for a minute, too",
        )
    })
}

fn highest(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    first.into_iter().chain(second).reduce(f64::max)
}

/// `/proc/loadavg` (`proc_loadavg(5)`) begins with the average over one minute.
fn load_one_minute(root: &Root) -> Option<f64> {
    number(root.text("proc/loadavg")?.split_whitespace().next()?)
}

/// `some avg10=0.12 avg60=…` in percent (kernel documentation: accounting/psi.rst) → 0.0012.
fn pressure(root: &Root, resource: &str) -> Option<f64> {
    let text = root.text(&format!("proc/pressure/{resource}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let percent = line.split_whitespace().find_map(|field| field.strip_prefix("avg10="))?;
    number(percent).map(|percent| percent / 100.0)
}

/// Lowest and highest current frequency in Hz. Without cpufreq, `cpu MHz` of cpuinfo counts where the
/// CPU can measure it (flag `aperfmperf`); elsewhere that line is a constant.
fn frequency_hz(root: &Root) -> Option<(f64, f64)> {
    let usable = cpus::usable(root);
    let file = |cpu: &u32| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
    let scaled = |cpu: &u32| Some(1e3 * number(&root.text(&file(cpu))?)?);
    range(usable.iter().filter_map(scaled)).or_else(|| {
        let blocks = cpuinfo::read(root, &usable);
        let measured = blocks.iter().filter(|block| cpuinfo::has_flag(block, "aperfmperf"));
        range(measured.filter_map(|block| Some(1e6 * number(block.get("cpu MHz")?)?)))
    })
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let pairs = values.filter(|hz| *hz > 0.0).map(|hz| (hz, hz));
    pairs.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
}

/// A finite number that is not negative: everything read here counts or measures something.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}
