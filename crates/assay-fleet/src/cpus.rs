//! Online and usable CPUs. Never assumes a CPU that the kernel does not list.

use std::collections::BTreeSet;

use crate::control_group;
use crate::cpu_list::{self, read_list};
use crate::root::Root;

/// Returns the CPUs that the kernel schedules on. Falls back to the CPUs with a directory in sysfs,
/// then to CPU 0.
pub(crate) fn online(root: &Root) -> BTreeSet<u32> {
    read_list(root, "sys/devices/system/cpu/online")
        .or_else(|| not_empty(root.entry_numbers("sys/devices/system/cpu", "cpu")))
        .unwrap_or_else(|| BTreeSet::from([0]))
}

/// Returns the CPUs that this process may use: intersection of affinity mask, cpuset and online
/// CPUs.
///
/// Uses the affinity mask of the process's first thread, so that the result does not depend on
/// pinned calling threads. A source that is not visible does not restrict. A source without a CPU
/// in common with the others is ignored.
pub(crate) fn usable(root: &Root) -> BTreeSet<u32> {
    let online = online(root);
    let limits = [affinity_mask(root), control_group::cpuset(root)];
    limits.iter().flatten().fold(online, restrict_to)
}

fn affinity_mask(root: &Root) -> Option<BTreeSet<u32>> {
    let status = root.text("proc/self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    not_empty(cpu_list::parse(list.trim())?)
}

fn restrict_to(cpus: BTreeSet<u32>, limit: &BTreeSet<u32>) -> BTreeSet<u32> {
    not_empty(cpus.intersection(limit).copied()).unwrap_or(cpus)
}

fn not_empty(cpus: impl IntoIterator<Item = u32>) -> Option<BTreeSet<u32>> {
    let cpus: BTreeSet<u32> = cpus.into_iter().collect();
    (!cpus.is_empty()).then_some(cpus)
}
