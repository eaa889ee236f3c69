//! The processor: names, flags, frequencies, threads per core.
//!
//! CPUID and model-specific registers are out of reach without `unsafe` or privilege, so everything
//! comes from the kernel's files.

use std::collections::BTreeSet;

use assay_model::facts::CpuFacts;

use crate::cpu_list;
use crate::cpuinfo::{self, CpuinfoBlock};
use crate::root::Root;

mod arm;

/// Microcode revisions invented by hypervisors. KVM shows its guests 0x1000065 on AMD and 0x1 on
/// Intel (arch/x86/kvm/svm/svm.c and vmx.c), Hyper-V 0xffffffff.
const INVENTED_MICROCODE: [&str; 3] = ["0x1000065", "0x1", "0xffffffff"];

pub(super) fn read(root: &Root, usable: &BTreeSet<u32>, guest: bool) -> CpuFacts {
    let blocks = cpuinfo::read(root, usable);
    let nothing = CpuinfoBlock::new();
    let first = blocks.first().unwrap_or(&nothing);
    let cpu = usable.first().copied().unwrap_or(0);
    CpuFacts {
        vendor: vendor(first),
        model: join_distinct(blocks.iter().map(model)),
        signature: signature(first),
        microcode: microcode(first, guest),
        flags: cpuinfo::flags(first).map(str::to_owned).collect(),
        nominal_hz: nominal_hz(root, cpu, first),
        maximum_hz: maximum_hz(root, usable),
        governor: governor(root, usable),
        boost: boost(root),
        smt: smt(root, usable),
    }
}

fn vendor(block: &CpuinfoBlock) -> String {
    let given = ["vendor_id", "vendor", "mvendorid"].iter().find_map(|name| block.get(*name));
    given.cloned().or_else(|| arm::vendor(block)).unwrap_or_else(|| "unknown".into())
}

fn model(block: &CpuinfoBlock) -> String {
    let names = ["model name", "cpu model", "uarch", "cpu"];
    let given = names.iter().find_map(|name| block.get(*name)).filter(|name| !name.is_empty());
    given.cloned().or_else(|| arm::model(block)).unwrap_or_else(|| "unknown".into())
}

/// Joins the names of different kinds of cores: `Cortex-A55 + Cortex-A76`.
fn join_distinct(names: impl Iterator<Item = String>) -> String {
    let names: BTreeSet<String> = names.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if names.is_empty() { "unknown".into() } else { names.join(" + ") }
}

fn signature(block: &CpuinfoBlock) -> Option<String> {
    let field = |name: &str| block.get(name);
    match (field("cpu family"), field("model"), field("stepping")) {
        (Some(family), Some(model), Some(step)) => Some(format!("{family}/{model}/{step}")),
        _ => arm::signature(block),
    }
}

fn microcode(block: &CpuinfoBlock, guest: bool) -> Option<String> {
    let revision = block.get("microcode")?;
    let invented = guest && INVENTED_MICROCODE.contains(&revision.as_str());
    (!invented).then(|| revision.clone())
}

/// Returns the nominal frequency in Hz, from the first of these that is visible:
///
/// 1. `cpufreq/base_frequency` in kHz (`intel_pstate`, admin-guide/pm/intel_pstate.rst);
/// 2. `acpi_cppc/nominal_freq` in MHz (admin-guide/acpi/cppc_sysfs.rst);
/// 3. the model name, `… @ 2.50GHz`;
/// 4. the time-stamp counter on x86, when it is constant: the kernel presets its delay loop from it
///    (`lpj_fine` in arch/x86/kernel/tsc.c), so that `bogomips` in cpuinfo is twice its MHz. On current
///    processors the counter runs at the nominal frequency. `cpu MHz` is no source: where the kernel
///    can measure, it is the momentary frequency.
fn nominal_hz(root: &Root, cpu: u32, block: &CpuinfoBlock) -> Option<f64> {
    let directory = format!("sys/devices/system/cpu/cpu{cpu}");
    let base =
        || Some(1e3 * root.number::<f64>(&format!("{directory}/cpufreq/base_frequency"))?);
    let cppc =
        || Some(1e6 * root.number::<f64>(&format!("{directory}/acpi_cppc/nominal_freq"))?);
    let named = || parse_model_hz(block.get("model name")?);
    let counter = || {
        let constant = cpuinfo::has_flag(block, "constant_tsc");
        let bogomips: f64 = block.get("bogomips").filter(|_| constant)?.parse().ok()?;
        Some(1e6 * bogomips / 2.0)
    };
    [base(), cppc(), named(), counter()].into_iter().flatten().find(|hz| is_plausible_hz(*hz))
}

/// Parses `Intel(R) Xeon(R) Platinum 8168 CPU @ 2.70GHz` → 2.7e9.
fn parse_model_hz(model: &str) -> Option<f64> {
    let (_, clock) = model.rsplit_once('@')?;
    let clock = clock.trim();
    let scaled = |suffix: &str, factor: f64| {
        Some(clock.strip_suffix(suffix)?.trim().parse::<f64>().ok()? * factor)
    };
    scaled("GHz", 1e9).or_else(|| scaled("MHz", 1e6))
}

/// Accepts 100 MHz to 20 GHz: wider than any processor sold, narrower than a damaged file.
fn is_plausible_hz(hz: f64) -> bool {
    (1e8..2e10).contains(&hz)
}

fn maximum_hz(root: &Root, usable: &BTreeSet<u32>) -> Option<f64> {
    let maximum = |cpu: &u32| {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq");
        Some(1e3 * root.number::<f64>(&path)?).filter(|hz| is_plausible_hz(*hz))
    };
    usable.iter().filter_map(maximum).reduce(f64::max)
}

fn governor(root: &Root, usable: &BTreeSet<u32>) -> Option<String> {
    let path = |cpu: &u32| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
    let governors: BTreeSet<String> =
        usable.iter().filter_map(|cpu| root.text(&path(cpu))).collect();
    let governors: Vec<&str> = governors.iter().map(String::as_str).collect();
    (!governors.is_empty()).then(|| governors.join(", "))
}

fn boost(root: &Root) -> Option<bool> {
    let switch = |path: &str| match root.text(path).as_deref() {
        Some("0") => Some(false),
        Some("1") => Some(true),
        _ => None,
    };
    switch("sys/devices/system/cpu/cpufreq/boost")
        .or_else(|| switch("sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| !off))
}

/// Returns whether any usable core has more than one thread.
fn smt(root: &Root, usable: &BTreeSet<u32>) -> Option<bool> {
    let threads = |cpu: &u32| {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        cpu_list::read_list(root, &path).map(|siblings| siblings.len())
    };
    usable.iter().filter_map(threads).max().map(|most| most > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_clock_of_model_name() {
        for (model, expected) in [
            ("Intel(R) Xeon(R) Platinum 8168 CPU @ 2.70GHz", Some(2.7e9)),
            ("Intel(R) Atom(TM) CPU @ 800 MHz", Some(8e8)),
            ("AMD EPYC 7V73X 64-Core Processor", None),
            ("odd @ fastGHz", None),
            ("", None),
        ] {
            assert_eq!(parse_model_hz(model), expected, "{model}");
        }
    }

    #[test]
    fn drops_invented_microcode_revision() {
        for (revision, guest, expected) in [
            ("0x1000065", true, None),
            ("0x1000065", false, Some("0x1000065")),
            ("0xa101148", true, Some("0xa101148")),
        ] {
            let block = CpuinfoBlock::from([("microcode".to_owned(), revision.to_owned())]);
            assert_eq!(microcode(&block, guest).as_deref(), expected, "{revision} {guest}");
        }
    }
}
