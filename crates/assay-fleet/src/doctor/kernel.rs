//! Checks of the kernel and the machine: clock source, mitigations, command line, watchdogs.

use assay_model::finding::FindingSeverity;
use assay_model::phrase;

use super::check::{Check, Scene, Seen, Unseen, named};
use crate::process_table;

/// Clock sources that take a microsecond or more to read, or tick too slowly.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "xen", "jiffies", "refined-jiffies"];

/// Parameters that remove CPUs, memory or clock sources.
const TAKING: [&str; 9] = [
    "mem=",
    "maxcpus=",
    "nr_cpus=",
    "nosmt",
    "isolcpus=",
    "numa=off",
    "notsc",
    "clocksource=",
    "hugepages=",
];
/// Parameters that affect speed but remove nothing.
const TUNING: [&str; 21] = [
    "mitigations=",
    "idle=",
    "intel_idle.max_cstate=",
    "processor.max_cstate=",
    "cpuidle.",
    "cpuidle_haltpoll.",
    "nohz_full=",
    "rcu_nocbs=",
    "intel_pstate=",
    "amd_pstate=",
    "transparent_hugepage=",
    "numa_balancing=",
    "default_hugepagesz=",
    "iommu=",
    "tsc=",
    "nmi_watchdog=",
    "nowatchdog",
    "nosoftlockup",
    "spectre_v2=",
    "nopti",
    "preempt=",
];

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "kernel.machine",
        expected: "a name by which figures for the same machine type can be found",
        why: "a figure is worth most beside those of equal machines",
        source: "DMTF DSP0134 (SMBIOS), System Information; systemd-detect-virt(1)",
        severity: FindingSeverity::Note,
        change: "note the machine type with the results yourself",
        look: machine,
    },
    Check {
        id: "kernel.clock-source",
        expected: "one that is read without leaving the program (tsc, kvm-clock, hyperv_clocksource_tsc_page, \
                   arch_sys_counter), not hpet, acpi_pm or xen",
        why: "a slow clock is part of every short measurement",
        source: "kernel documentation: timers/timekeeping.rst and virt/kvm/x86/timekeeping.rst",
        severity: FindingSeverity::Skews,
        change: "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
        look: clock_source,
    },
    Check {
        id: "kernel.mitigations",
        expected: "recorded, and equal on both sides of a comparison",
        why: "mitigations slow system calls, context switches and indirect calls down by very different amounts",
        source: "kernel documentation: admin-guide/hw-vuln/index.rst",
        severity: FindingSeverity::Note,
        change: "mitigations= on the kernel's command line, where the security of the machine allows it",
        look: mitigations,
    },
    Check {
        id: "kernel.command-line",
        expected: "no parameter that takes CPUs, memory or clocks away",
        why: "such a parameter makes a machine smaller or slower than its name says",
        source: "kernel documentation: admin-guide/kernel-parameters.rst",
        severity: FindingSeverity::Note,
        change: "edit the boot loader's configuration, and reboot",
        look: command_line,
    },
    Check {
        id: "kernel.nmi-watchdog",
        expected: "0, where latency is measured",
        why: "it interrupts every CPU regularly and takes one of its performance counters",
        source: "tuned profile network-latency; kernel documentation: admin-guide/sysctl/kernel.rst",
        severity: FindingSeverity::Note,
        change: "sysctl -w kernel.nmi_watchdog=0",
        look: nmi_watchdog,
    },
    Check {
        id: "kernel.timer-migration",
        expected: "0, where latency is measured",
        why: "timers of idle CPUs run on busy ones, which then are interrupted for others",
        source: "tuned profile network-latency",
        severity: FindingSeverity::Note,
        change: "sysctl -w kernel.timer_migration=0",
        look: timer_migration,
    },
    Check {
        id: "kernel.irqbalance",
        expected: "not running while latency is measured",
        why: "it moves interrupts between CPUs while they are measured",
        source: "Azure azhpc-images: components/setup_sku_customizations.sh (stops it); irqbalance(1)",
        severity: FindingSeverity::Note,
        change: "systemctl stop irqbalance",
        look: irqbalance,
    },
];

fn machine(scene: &Scene) -> Result<Seen, Unseen> {
    let system = &scene.facts.system;
    let layer = system.virtualization.as_deref();
    match (&system.product, layer) {
        (Some(product), None) => Ok(Seen::ok(product.clone())),
        (Some(product), Some(layer)) => Ok(Seen::ok(format!("{product} ({layer})"))),
        (None, _) => Err(Unseen::hidden(phrase!("product", "a product name"))),
    }
}

fn clock_source(scene: &Scene) -> Result<Seen, Unseen> {
    let clock = scene.facts.system.clock_source.clone();
    let clock =
        clock.ok_or_else(|| Unseen::hidden(phrase!("clock-source", "the clock source")))?;
    Ok(Seen::judged(!SLOW_CLOCKS.contains(&clock.as_str()), clock))
}

fn mitigations(scene: &Scene) -> Result<Seen, Unseen> {
    let all = &scene.facts.mitigations;
    if all.is_empty() {
        return Err(Unseen::hidden(phrase!("vulnerabilities", "the list of vulnerabilities")));
    }
    let with = |state: &str| -> Vec<&str> {
        let some = all.iter().filter(|(_, text)| text.starts_with(state));
        some.map(|(name, _)| name.as_str()).collect()
    };
    let list = |names: &[&str]| {
        if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
    };
    let (mitigated, vulnerable) = (with("Mitigation"), with("Vulnerable"));
    Ok(Seen::ok(phrase!(
        "mitigated",
        "{some} mitigated{these}, {others} vulnerable{those}, of {all} known",
        some = mitigated.len(),
        these = list(&mitigated),
        others = vulnerable.len(),
        those = list(&vulnerable),
        all = all.len(),
    )))
}

fn command_line(scene: &Scene) -> Result<Seen, Unseen> {
    let line = scene.text("proc/cmdline")?;
    // After a lone `--` come the arguments of the first process.
    let parameters: Vec<&str> =
        line.split_whitespace().take_while(|parameter| *parameter != "--").collect();
    let among = |table: &[&str]| -> Vec<&str> {
        let listed = |parameter: &&str| table.iter().any(|name| parameter.starts_with(name));
        parameters.iter().copied().filter(listed).collect()
    };
    let (taking, tuning) = (among(&TAKING), among(&TUNING));
    Ok(match (taking.is_empty(), tuning.is_empty()) {
        (true, true) => Seen::ok(phrase!("no-parameter", "no parameter that moves results")),
        (true, false) => Seen::ok(phrase!(
            "parameters-tuning",
            "parameters for tuning only: {parameters}",
            parameters = named(" ", &tuning),
        )),
        (false, _) => Seen::deviates([taking, tuning].concat().join(" ")),
    })
}

fn nmi_watchdog(scene: &Scene) -> Result<Seen, Unseen> {
    let value = scene.number("proc/sys/kernel/nmi_watchdog")?;
    Ok(Seen::judged(value == 0, value.to_string()))
}

fn timer_migration(scene: &Scene) -> Result<Seen, Unseen> {
    let value = scene.number("proc/sys/kernel/timer_migration")?;
    Ok(Seen::judged(value == 0, value.to_string()))
}

fn irqbalance(scene: &Scene) -> Result<Seen, Unseen> {
    if !scene.sees_all_processes() {
        return Err(Unseen::hidden(phrase!("all-processes", "the list of all processes")));
    }
    let processes = process_table::snapshot(scene.root);
    let running = processes.iter().any(|process| process.name == "irqbalance");
    let observed = match running {
        true => phrase!("running", "running"),
        false => phrase!("not-running", "not running"),
    };
    Ok(Seen::judged(!running, observed))
}
