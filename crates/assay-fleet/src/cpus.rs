//! Which CPUs there are and may be used. Never guesses a CPU that the kernel does not name.

use std::collections::BTreeSet;

use crate::control_group;
use crate::cpu_list::{self, listed};
use crate::root::Root;

/// The CPUs that the kernel schedules on. Where no such list is visible, the CPUs that have a
/// directory, and at the very minimum CPU 0.
pub(crate) fn online(root: &Root) -> BTreeSet<u32> {
    listed(root, "sys/devices/system/cpu/online")
        .or_else(|| not_empty(root.numbered("sys/devices/system/cpu", "cpu")))
        .unwrap_or_else(|| BTreeSet::from([0]))
}

/// The CPUs that this process may use: its affinity mask, within its cpuset, within what is online.
///
/// The mask is that of the process's first thread, so that calling this from a pinned thread does not
/// make the machine look smaller. A source that is not visible does not restrict; one that
/// contradicts the others (no CPU in common) is left out.
pub(crate) fn usable(root: &Root) -> BTreeSet<u32> {
    let online = online(root);
    let limits = [allowed(root), control_group::cpuset(root)];
    limits.iter().flatten().fold(online, within)
}

fn allowed(root: &Root) -> Option<BTreeSet<u32>> {
    let status = root.text("proc/self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    not_empty(cpu_list::parse(list.trim())?)
}

fn within(cpus: BTreeSet<u32>, limit: &BTreeSet<u32>) -> BTreeSet<u32> {
    not_empty(cpus.intersection(limit).copied()).unwrap_or(cpus)
}

fn not_empty(cpus: impl IntoIterator<Item = u32>) -> Option<BTreeSet<u32>> {
    let cpus: BTreeSet<u32> = cpus.into_iter().collect();
    (!cpus.is_empty()).then_some(cpus)
}
