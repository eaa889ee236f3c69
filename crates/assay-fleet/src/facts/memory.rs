//! Main memory: sizes from the kernel, modules from SMBIOS.

use assay_model::facts::MemoryFacts;

use super::smbios;
use crate::meminfo;
use crate::root::Root;

/// Maximum size of the SMBIOS table; real ones have a few KiB.
const MAX_TABLE_BYTES: u64 = 1 << 20;

pub(super) fn read(root: &Root, guest: bool) -> MemoryFacts {
    MemoryFacts {
        total_bytes: meminfo::read_bytes(root, "MemTotal").unwrap_or(0),
        available_bytes: meminfo::read_bytes(root, "MemAvailable").unwrap_or(0),
        page_bytes: page_bytes(root),
        huge_page_bytes: root.number("sys/kernel/mm/transparent_hugepage/hpage_pmd_size"),
        // A hypervisor shows its guest invented modules.
        modules: if guest { None } else { modules(root) },
    }
}

fn modules(root: &Root) -> Option<Vec<assay_model::facts::MemoryModule>> {
    smbios::modules(&root.read_bytes("sys/firmware/dmi/tables/DMI", MAX_TABLE_BYTES).ok()?)
}

/// Returns the page size of the first mapping of this process (`proc_pid_smaps(5)`), or the page
/// size reported to the program. Reads only the first page of the file, which is much cheaper.
fn page_bytes(root: &Root) -> u64 {
    let start = root.read_bytes("proc/self/smaps", 4096).unwrap_or_default();
    meminfo::parse_bytes(&String::from_utf8_lossy(&start), "KernelPageSize")
        .unwrap_or_else(|| rustix::param::page_size() as u64)
}
