//! Checks of the processor: frequency, idle states, threads per core, and online CPUs.

use assay_model::finding::FindingSeverity;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::quantity::{Quantity, Unit};

use super::check::{CheckInput, CheckObstacle, CheckResult, DoctorCheck, none};
use crate::cpu_list;
use crate::cpus;

const DIRECTORY: &str = "sys/devices/system/cpu";

pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "cpu.governor",
        expected: "performance",
        why: "other governors follow the load with a delay, so that short measurements run at a lower clock",
        source: "tuned profile latency-performance; kernel documentation: admin-guide/pm/cpufreq.rst",
        severity: FindingSeverity::Skews,
        change: "cpupower frequency-set --governor performance",
        observe: governor,
    },
    DoctorCheck {
        id: "cpu.energy-preference",
        expected: "performance",
        why: "the processor itself lowers its clock to save energy, independently of the governor",
        source: "tuned profile throughput-performance; kernel documentation: admin-guide/pm/intel_pstate.rst",
        severity: FindingSeverity::Skews,
        change: "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference",
        observe: energy_preference,
    },
    DoctorCheck {
        id: "cpu.boost",
        expected: "on for peak figures; equal on both sides of a comparison",
        why: "without boost a processor stays at its nominal clock; with it, the clock depends on load and temperature",
        source: "tuned profile latency-performance (boost=1); kernel documentation: admin-guide/pm/cpufreq.rst",
        severity: FindingSeverity::Note,
        change: "echo 1 > /sys/devices/system/cpu/cpufreq/boost, or echo 0 > /sys/devices/system/cpu/intel_pstate/no_turbo",
        observe: boost,
    },
    DoctorCheck {
        id: "cpu.frequency-limit",
        expected: "scaling_max_freq equals cpuinfo_max_freq",
        why: "a limit below the highest frequency caps every figure",
        source: "kernel documentation: admin-guide/pm/cpufreq.rst",
        severity: FindingSeverity::Skews,
        change: "cpupower frequency-set --max with the value of cpuinfo_max_freq",
        observe: frequency_limit,
    },
    DoctorCheck {
        id: "cpu.frequency",
        expected: "the highest current frequency reaches the nominal one",
        why: "a clock below nominal comes from power saving, or from heat or power limits",
        source: "linux-rdma perftest, which warns that the CPU frequency is not the maximum",
        severity: FindingSeverity::Note,
        change: "set the governor to performance, or check cooling and power limits",
        observe: frequency,
    },
    DoctorCheck {
        id: "cpu.throttling",
        expected: "0 thermal throttling events since boot",
        why: "a processor that was too hot once will be again under the load of a measurement",
        source: "kernel documentation: ABI/testing/sysfs-devices-system-cpu (thermal_throttle)",
        severity: FindingSeverity::Skews,
        change: "improve the cooling; the counters start again at the next boot",
        observe: throttling,
    },
    DoctorCheck {
        id: "cpu.idle-states",
        expected: "no state deeper than the first (C1), where latency is measured",
        why: "waking from a deep idle state takes tens to hundreds of microseconds",
        source: "tuned profile latency-performance (force_latency=cstate.id_no_zero:1|3); \
                 the Azure HB-series keeps C-states enabled",
        severity: FindingSeverity::Note,
        change: "cpupower idle-set --disable-by-latency 3",
        observe: idle_states,
    },
    DoctorCheck {
        id: "cpu.smt",
        expected: "off, or one thread per core",
        why: "two threads of a core share its units and caches: one disturbs the other",
        source: "Azure HBv2 to HBv5-series overviews (SMT disabled)",
        severity: FindingSeverity::Note,
        change: "echo off > /sys/devices/system/cpu/smt/control, or use one thread per core",
        observe: smt,
    },
    DoctorCheck {
        id: "cpu.offline",
        expected: "every CPU present is online",
        why: "figures for a whole machine need all of its CPUs",
        source: "kernel documentation: core-api/cpu_hotplug.rst",
        severity: FindingSeverity::Note,
        change: "echo 1 > /sys/devices/system/cpu/cpuN/online",
        observe: offline,
    },
    DoctorCheck {
        id: "cpu.affinity",
        expected: "this process may use every CPU that is online",
        why: "figures for a whole machine need all of its CPUs, and the usual CPU counters hide the restriction",
        source: "sched_setaffinity(2); kernel documentation: admin-guide/cgroup-v2.rst (cpuset)",
        severity: FindingSeverity::Skews,
        change: "start without taskset, numactl or a cpuset; in a batch system, ask for the whole node",
        observe: usable_cpus,
    },
    DoctorCheck {
        id: "cpu.isolated",
        expected: "none, or exactly the CPUs that are measured",
        why: "threads run on isolated CPUs only when pinned there by number",
        source: "kernel documentation: admin-guide/kernel-parameters.rst (isolcpus)",
        severity: FindingSeverity::Note,
        change: "remove isolcpus= from the kernel's command line, or name these CPUs in the placement",
        observe: isolated,
    },
    DoctorCheck {
        id: "cpu.microcode",
        expected: "visible, and equal on both sides of a comparison",
        why: "microcode updates change mitigations, and with them speed",
        source: "kernel documentation: arch/x86/microcode.rst",
        severity: FindingSeverity::Note,
        change: "update the firmware or the microcode package, and reboot",
        observe: microcode,
    },
];

fn governor(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let governor = input.facts.cpu.governor.clone();
    let governor = governor
        .ok_or_else(|| CheckObstacle::hidden(phrase!("governor", "a cpufreq governor")))?;
    Ok(CheckResult::from_verdict(governor == "performance", governor))
}

/// Checks the preference of the first usable CPU, or the older energy performance bias (0 = most
/// performance, 15 = least).
fn energy_preference(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let cpu = first_cpu(input);
    let preference = format!("{DIRECTORY}/cpu{cpu}/cpufreq/energy_performance_preference");
    if let Some(preference) = input.root.text(&preference) {
        return Ok(CheckResult::from_verdict(preference == "performance", preference));
    }
    let bias = input.text(&format!("{DIRECTORY}/cpu{cpu}/power/energy_perf_bias"));
    let hidden =
        || CheckObstacle::hidden(phrase!("energy", "an energy preference of the processor"));
    let bias = bias.map_err(|_| hidden())?;
    let is_performance = bias == "0";
    let observed = phrase!(
        "energy-bias",
        "energy performance bias {bias} (performance is {best})",
        bias = bias,
        best = "0"
    );
    Ok(CheckResult::from_verdict(is_performance, observed))
}

fn boost(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let hidden = || CheckObstacle::hidden(phrase!("boost-switch", "a switch for boost"));
    let on = input.facts.cpu.boost.ok_or_else(hidden)?;
    Ok(CheckResult::from_verdict(
        on,
        if on { phrase!("on", "on") } else { phrase!("off", "off") },
    ))
}

fn frequency_limit(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let cpu = first_cpu(input);
    let khz = |name: &str| input.number(&format!("{DIRECTORY}/cpu{cpu}/cpufreq/{name}"));
    let (limit, highest) = (khz("scaling_max_freq")?, khz("cpuinfo_max_freq")?);
    let [part, whole] = [limit, highest].map(|khz| hertz(khz as f64 * 1e3));
    let text = phrase!("part-of", "{part} of {whole}", part = part, whole = whole);
    Ok(CheckResult::from_verdict(limit >= highest, text))
}

/// Checks the current frequency. Tolerates 2 % below nominal: the multiplier of a steady clock
/// changes in steps of that size.
fn frequency(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let hidden = || CheckObstacle::hidden(phrase!("frequency", "the current CPU frequency"));
    let (lowest, highest) = input.state.frequency_hz.ok_or_else(hidden)?;
    let range = phrase!("range", "{low} to {high}", low = hertz(lowest), high = hertz(highest));
    let (is_reached, nominal) = match input.facts.cpu.nominal_hz {
        None => (true, phrase!("nominal-hidden", "the nominal frequency is not visible")),
        Some(nominal) => (
            highest >= 0.98 * nominal,
            phrase!("nominal", "nominal {frequency}", frequency = hertz(nominal)),
        ),
    };
    Ok(CheckResult::from_verdict(is_reached, Phrase::list("; ", [range, nominal])))
}

fn throttling(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let count = |name: &str| {
        let path = |cpu: u32| format!("{DIRECTORY}/cpu{cpu}/thermal_throttle/{name}");
        let cpus = input.facts.topology.cpus.iter();
        cpus.filter_map(|cpu| input.root.number::<u64>(&path(cpu.id))).max()
    };
    let (core, package) = (count("core_throttle_count"), count("package_throttle_count"));
    let hidden =
        || CheckObstacle::hidden(phrase!("throttling", "a count of thermal throttling"));
    let max_count = core.max(package).ok_or_else(hidden)?;
    let observed =
        phrase!("throttled-cpu", "{n} since boot, on the CPU with the most", n = max_count);
    Ok(CheckResult::from_verdict(max_count == 0, observed))
}

fn idle_states(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let directory = format!("{DIRECTORY}/cpu{}/cpuidle", first_cpu(input));
    let mut states = Vec::new();
    let mut deepest = 0;
    for number in input.root.entry_numbers(&directory, "state") {
        let field = |name: &str| input.root.text(&format!("{directory}/state{number}/{name}"));
        if field("disable").as_deref() == Some("1") {
            continue;
        }
        deepest = deepest.max(number);
        let name = field("name").unwrap_or_else(|| format!("state{number}"));
        states.push(match field("latency") {
            Some(microseconds) => {
                let latency = Phrase::exact_value(format!("{microseconds} µs"));
                Phrase::concat([format!("{name} (").into(), latency, ")".into()])
            }
            None => name.into(),
        });
    }
    if states.is_empty() {
        return Err(CheckObstacle::hidden(phrase!("idle-states", "a list of idle states")));
    }
    Ok(CheckResult::from_verdict(deepest <= 1, Phrase::list(", ", states)))
}

fn smt(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let hidden =
        || CheckObstacle::hidden(phrase!("siblings", "which CPUs are threads of one core"));
    let on = input.facts.cpu.smt.ok_or_else(hidden)?;
    let control = input.root.text(&format!("{DIRECTORY}/smt/control"));
    let control = control.map_or(String::new(), |control| format!(" (smt/control: {control})"));
    let observed = match on {
        true => phrase!("threads-several", "several threads per core"),
        false => phrase!("threads-one", "one thread per core"),
    };
    Ok(CheckResult::from_verdict(!on, Phrase::concat([observed, control.into()])))
}

fn offline(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let present = cpu_list::read_list(input.root, &format!("{DIRECTORY}/present"));
    let present = present.ok_or_else(|| {
        CheckObstacle::hidden(phrase!("cpus-present", "the list of CPUs present"))
    })?;
    let online = cpus::online(input.root);
    let missing = present.difference(&online).copied().collect();
    let text = phrase!(
        "cpus-online",
        "{some} of {all} online",
        some = present.len().min(online.len()),
        all = present.len(),
    );
    Ok(match cpu_list::display(&missing) {
        none if none.is_empty() => CheckResult::ok(text),
        missing => {
            let offline = phrase!("cpus-offline", "offline: {cpus}", cpus = missing);
            CheckResult::deviates(Phrase::list("; ", [text, offline]))
        }
    })
}

fn usable_cpus(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let usable = input.facts.topology.cpus.iter().map(|cpu| cpu.id).collect();
    let online = cpus::online(input.root);
    let [some, all] = [&usable, &online].map(cpu_list::display);
    let text = phrase!("cpus-usable", "CPUs {some} of {all}", some = some, all = all);
    Ok(CheckResult::from_verdict(usable.is_superset(&online), text))
}

fn isolated(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let list = input.text(&format!("{DIRECTORY}/isolated"))?;
    Ok(if list.is_empty() { CheckResult::ok(none()) } else { CheckResult::deviates(list) })
}

fn microcode(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let revision = input.facts.cpu.microcode.clone();
    revision.map(CheckResult::ok).ok_or_else(|| {
        CheckObstacle::hidden(phrase!("microcode", "the processor's actual microcode revision"))
    })
}

fn first_cpu(input: &CheckInput) -> u32 {
    input.facts.topology.cpus.first().map_or(0, |cpu| cpu.id)
}

fn hertz(value: f64) -> Phrase {
    Quantity::new(value, Unit::Hertz).into()
}
