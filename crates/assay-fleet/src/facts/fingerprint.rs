//! Fingerprint of a kind of machine. It survives reboots, updates, `taskset` and containers, and
//! changes with the visible hardware.
//!
//! It excludes values that need privilege, values that change between boots (measured frequencies,
//! memory reserved by the kernel, microcode, kernel version) and the host name: machines of one
//! make share it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_model::facts::{CpuFacts, SystemFacts, Topology};

use super::topology;
use super::virtualization::Virtualization;
use crate::cpus;
use crate::meminfo;
use crate::root::Root;

/// Number of hexadecimal digits: 64 bits, so that a million kinds of machines collide with a
/// probability of 3·10⁻⁸.
const DIGITS: usize = 16;

pub(super) fn compute(
    root: &Root,
    cpu: &CpuFacts,
    system: &SystemFacts,
    environment: &Virtualization,
) -> String {
    let whole = topology::read(root, &cpus::online(root));
    let text = description(&whole, cpu, system, environment, memory_bytes(root));
    blake3::hash(text.as_bytes()).to_hex().as_str()[..DIGITS].to_owned()
}

/// Formats the text to hash. Uses counts instead of CPU numbers, because firmware may renumber
/// CPUs.
fn description(
    whole: &Topology,
    cpu: &CpuFacts,
    system: &SystemFacts,
    environment: &Virtualization,
    memory_bytes: u64,
) -> String {
    let mut text = format!(
        "assay fingerprint 1\n{}\n{}\n{}\n{:?}\n{:?}\n{:?}\nmemory {memory_bytes}\n",
        system.architecture,
        cpu.vendor,
        cpu.model,
        cpu.signature,
        environment.hypervisor,
        system.product,
    );
    let mut places: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for cpu in &whole.cpus {
        *places.entry((cpu.socket, cpu.numa)).or_default() += 1;
    }
    let mut caches: BTreeMap<(u8, u64, u32, usize), usize> = BTreeMap::new();
    for cache in &whole.caches {
        let kind = (cache.level, cache.bytes, cache.line_bytes, cache.cpus.len());
        *caches.entry(kind).or_default() += 1;
    }
    let cores = whole.one_cpu_per_core(&whole.cpu_ids()).len();
    write!(text, "cores {cores}\nplaces {places:?}\ncaches {caches:?}\n")
        .expect("writing to a string cannot fail");
    text
}

/// Returns the installed memory, counted in the kernel's blocks
/// (admin-guide/mm/memory-hotplug.rst). Falls back to `MemTotal`, which varies between boots,
/// rounded to an eighth of its power of two.
fn memory_bytes(root: &Root) -> u64 {
    let directory = "sys/devices/system/memory";
    let block = root.text(&format!("{directory}/block_size_bytes"));
    let block = block.and_then(|size| u64::from_str_radix(&size, 16).ok()).unwrap_or(0);
    let blocks = root.entry_numbers(directory, "memory").len() as u64;
    match block.checked_mul(blocks) {
        Some(bytes) if bytes > 0 => bytes,
        _ => round_up_to_eighth(meminfo::read_bytes(root, "MemTotal").unwrap_or(0)),
    }
}

fn round_up_to_eighth(bytes: u64) -> u64 {
    let step = bytes.checked_ilog2().map_or(1, |power| 1 << power.saturating_sub(3));
    bytes.div_ceil(step).saturating_mul(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_hides_memory_reserved_by_kernel() {
        for (bytes, expected) in [
            (0, 0),
            (1, 1),
            (24_684_084 << 10, 24 << 30),
            (24_600_000 << 10, 24 << 30),
            (u64::MAX, u64::MAX),
        ] {
            assert_eq!(round_up_to_eighth(bytes), expected, "{bytes}");
        }
    }
}
