//! Checks of the kernel and the machine: clock source, mitigations, command line, watchdogs.

use assay_model::finding::FindingSeverity;
use assay_model::phrase;

use super::check::{CheckInput, CheckObstacle, CheckResult, DoctorCheck, list_names};
use crate::process_table;

/// Clock sources that take a microsecond or more to read, or tick too slowly.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "xen", "jiffies", "refined-jiffies"];

/// Parameters that remove CPUs, memory or clock sources.
const RESTRICTING_PARAMETERS: [&str; 9] = [
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
const TUNING_PARAMETERS: [&str; 21] = [
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

pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "kernel.machine",
        expected: "a name to find figures for the same machine type",
        why: "figures are most useful compared with those of equal machines",
        source: "DMTF DSP0134 (SMBIOS), System Information; systemd-detect-virt(1)",
        severity: FindingSeverity::Note,
        change: "note the machine type with the results yourself",
        observe: machine,
    },
    DoctorCheck {
        id: "kernel.clock-source",
        expected: "one that is read without leaving the program (tsc, kvm-clock, hyperv_clocksource_tsc_page, \
                   arch_sys_counter), not hpet, acpi_pm or xen",
        why: "a slow clock is part of every short measurement",
        source: "kernel documentation: timers/timekeeping.rst and virt/kvm/x86/timekeeping.rst",
        severity: FindingSeverity::Skews,
        change: "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
        observe: clock_source,
    },
    DoctorCheck {
        id: "kernel.mitigations",
        expected: "recorded, and equal on both sides of a comparison",
        why: "mitigations slow system calls, context switches and indirect calls down by very different amounts",
        source: "kernel documentation: admin-guide/hw-vuln/index.rst",
        severity: FindingSeverity::Note,
        change: "mitigations= on the kernel's command line, where the security of the machine allows it",
        observe: mitigations,
    },
    DoctorCheck {
        id: "kernel.command-line",
        expected: "no parameter that removes CPUs, memory or clocks",
        why: "such a parameter makes a machine smaller or slower than its type",
        source: "kernel documentation: admin-guide/kernel-parameters.rst",
        severity: FindingSeverity::Note,
        change: "edit the boot loader's configuration, and reboot",
        observe: command_line,
    },
    DoctorCheck {
        id: "kernel.nmi-watchdog",
        expected: "0, where latency is measured",
        why: "it interrupts every CPU regularly and takes one of its performance counters",
        source: "tuned profile network-latency; kernel documentation: admin-guide/sysctl/kernel.rst",
        severity: FindingSeverity::Note,
        change: "sysctl -w kernel.nmi_watchdog=0",
        observe: nmi_watchdog,
    },
    DoctorCheck {
        id: "kernel.timer-migration",
        expected: "0, where latency is measured",
        why: "timers of idle CPUs run on busy ones, which then are interrupted for others",
        source: "tuned profile network-latency",
        severity: FindingSeverity::Note,
        change: "sysctl -w kernel.timer_migration=0",
        observe: timer_migration,
    },
    DoctorCheck {
        id: "kernel.irqbalance",
        expected: "not running while latency is measured",
        why: "it moves interrupts between CPUs while they are measured",
        source: "Azure azhpc-images: components/setup_sku_customizations.sh (stops it); irqbalance(1)",
        severity: FindingSeverity::Note,
        change: "systemctl stop irqbalance",
        observe: irqbalance,
    },
];

fn machine(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let system = &input.facts.system;
    let virtualization = system.virtualization.as_deref();
    match (&system.product, virtualization) {
        (Some(product), None) => Ok(CheckResult::ok(product.clone())),
        (Some(product), Some(virtualization)) => {
            Ok(CheckResult::ok(format!("{product} ({virtualization})")))
        }
        (None, _) => Err(CheckObstacle::hidden(phrase!("product", "a product name"))),
    }
}

fn clock_source(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let clock = input.facts.system.clock_source.clone();
    let clock = clock
        .ok_or_else(|| CheckObstacle::hidden(phrase!("clock-source", "the clock source")))?;
    Ok(CheckResult::from_verdict(!SLOW_CLOCKS.contains(&clock.as_str()), clock))
}

fn mitigations(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let all = &input.facts.mitigations;
    if all.is_empty() {
        return Err(CheckObstacle::hidden(phrase!(
            "vulnerabilities",
            "the list of vulnerabilities"
        )));
    }
    let names_in_state = |state: &str| -> Vec<&str> {
        let matching = all.iter().filter(|(_, text)| text.starts_with(state));
        matching.map(|(name, _)| name.as_str()).collect()
    };
    let in_parentheses = |names: &[&str]| {
        if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
    };
    let (mitigated, vulnerable) = (names_in_state("Mitigation"), names_in_state("Vulnerable"));
    Ok(CheckResult::ok(phrase!(
        "mitigated",
        "{some} mitigated{these}, {others} vulnerable{those}, of {all} known",
        some = mitigated.len(),
        these = in_parentheses(&mitigated),
        others = vulnerable.len(),
        those = in_parentheses(&vulnerable),
        all = all.len(),
    )))
}

fn command_line(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let line = input.text("proc/cmdline")?;
    // The arguments of the first process follow a lone `--`.
    let parameters: Vec<&str> =
        line.split_whitespace().take_while(|parameter| *parameter != "--").collect();
    let find_parameters = |table: &[&str]| -> Vec<&str> {
        let is_listed = |parameter: &&str| table.iter().any(|name| parameter.starts_with(name));
        parameters.iter().copied().filter(is_listed).collect()
    };
    let restricting = find_parameters(&RESTRICTING_PARAMETERS);
    let tuning = find_parameters(&TUNING_PARAMETERS);
    Ok(match (restricting.is_empty(), tuning.is_empty()) {
        (true, true) => {
            CheckResult::ok(phrase!("no-parameter", "no parameter that moves results"))
        }
        (true, false) => CheckResult::ok(phrase!(
            "parameters-tuning",
            "parameters for tuning only: {parameters}",
            parameters = list_names(" ", &tuning),
        )),
        (false, _) => CheckResult::deviates([restricting, tuning].concat().join(" ")),
    })
}

fn nmi_watchdog(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let value = input.number("proc/sys/kernel/nmi_watchdog")?;
    Ok(CheckResult::from_verdict(value == 0, value.to_string()))
}

fn timer_migration(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let value = input.number("proc/sys/kernel/timer_migration")?;
    Ok(CheckResult::from_verdict(value == 0, value.to_string()))
}

fn irqbalance(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    if !input.can_see_all_processes() {
        return Err(CheckObstacle::hidden(phrase!(
            "all-processes",
            "the list of all processes"
        )));
    }
    let processes = process_table::snapshot(input.root);
    let running = processes.iter().any(|process| process.name == "irqbalance");
    let observed = match running {
        true => phrase!("running", "running"),
        false => phrase!("not-running", "not running"),
    };
    Ok(CheckResult::from_verdict(!running, observed))
}
