//! Facts about a host, stored with every run.
//!
//! Everything that may be invisible in a guest or a container is an `Option`; `None` always means
//! "not visible here" and never a default.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub mod difference;

/// Name of QEMU without KVM, which emulates every instruction, in systemd-detect-virt(1).
pub const EMULATOR: &str = "qemu";

/// Facts about a host, recorded just before a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HostFacts {
    /// The host name.
    pub name: String,
    /// Stable hash over the properties that make the machine comparable with itself (CPU, caches,
    /// NUMA, memory size, virtualisation); no property that changes from boot to boot is included.
    pub fingerprint: String,
    /// Operating system, kernel and its command line.
    pub system: SystemFacts,
    /// The processor.
    pub cpu: CpuFacts,
    /// CPUs and the caches, cores and nodes that they share.
    pub topology: Topology,
    /// Main memory.
    pub memory: MemoryFacts,
    /// Limits of the control group and of the process.
    pub limits: LimitFacts,
    /// Kernel settings that affect results, by their path: `transparent_hugepage/enabled` →
    /// `madvise`.
    pub settings: BTreeMap<String, String>,
    /// Name → state of each CPU vulnerability: `spectre_v2` → `Mitigation: Retpolines`.
    pub mitigations: BTreeMap<String, String>,
    /// Versions of the software involved: `assay`, `kernel`, `libc` …
    pub versions: BTreeMap<String, String>,
}

/// Operating system and kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SystemFacts {
    /// `PRETTY_NAME` of os-release.
    pub distribution: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// Parameters of `/proc/cmdline` that are known to contain no secret, and the number of the
    /// others.
    pub kernel_command_line: Option<String>,
    /// Processor architecture as the kernel names it: `x86_64`.
    pub architecture: String,
    /// The hypervisor or container engine, if detectable: `kvm`.
    pub virtualization: Option<String>,
    /// Product name from DMI, e.g. the name of a cloud machine type.
    pub product: Option<String>,
    /// The clock source in use: `tsc`.
    pub clock_source: Option<String>,
}

/// The processor.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CpuFacts {
    /// Vendor string.
    pub vendor: String,
    /// Model name.
    pub model: String,
    /// Family, model and stepping numbers, `25/17/1`, where the architecture has them.
    pub signature: Option<String>,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// Instruction-set flags as the kernel prints them.
    pub flags: Vec<String>,
    /// Nominal (base or time-stamp-counter) frequency in Hz.
    pub nominal_hz: Option<f64>,
    /// Highest frequency that cpufreq admits, in Hz.
    pub maximum_hz: Option<f64>,
    /// cpufreq governor.
    pub governor: Option<String>,
    /// Turbo or boost, if the setting is visible.
    pub boost: Option<bool>,
    /// Whether cores have more than one thread.
    pub smt: Option<bool>,
}

/// CPUs and the caches, cores and nodes that they share. CPU numbers are the kernel's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Topology {
    /// The CPUs this process may use, ascending.
    pub cpus: Vec<Cpu>,
    /// Every distinct data or unified cache that these CPUs use.
    pub caches: Vec<Cache>,
    /// The NUMA nodes that hold at least one of these CPUs.
    pub numa: Vec<NumaNode>,
    /// The NUMA nodes that have memory for this process and no CPU: HBM, CXL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_nodes: Vec<NumaNode>,
}

/// Logical CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The kernel's number.
    pub id: u32,
    /// Core number, unique within its socket.
    pub core: u32,
    /// Socket (physical package).
    pub socket: u32,
    /// NUMA node.
    pub numa: u32,
}

/// Physical cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1, 2, 3 …
    pub level: u8,
    /// Size in bytes.
    pub bytes: u64,
    /// Line size in bytes.
    pub line_bytes: u32,
    /// The usable CPUs that share it, ascending (`shared_cpu_list`).
    pub cpus: Vec<u32>,
}

/// NUMA node with its CPUs and memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumaNode {
    /// The kernel's number.
    pub id: u32,
    /// Its usable CPUs, ascending.
    pub cpus: Vec<u32>,
    /// Memory in bytes.
    pub bytes: u64,
}

/// Main memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MemoryFacts {
    /// Total size in bytes.
    pub total_bytes: u64,
    /// `MemAvailable`, in bytes.
    pub available_bytes: u64,
    /// Base page size in bytes.
    pub page_bytes: u64,
    /// Size of a transparent huge page in bytes.
    pub huge_page_bytes: Option<u64>,
    /// The modules, if SMBIOS is readable and plausible.
    pub modules: Option<Vec<MemoryModule>>,
}

/// Populated memory module (SMBIOS type 17).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryModule {
    /// Device locator.
    pub locator: String,
    /// Bank locator, which names the channel on most boards.
    pub bank: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Data width in bits, without error correction.
    pub width_bits: u32,
    /// Configured speed in transfers per second.
    pub transfers_per_s: u64,
    /// `DDR4`, `DDR5` …
    pub kind: String,
}

/// Limits of the control group and of the process.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LimitFacts {
    /// CPU time per wall time of the control group (2.0 = two CPUs); `None` = no limit.
    pub cpu_quota: Option<f64>,
    /// Memory of the control group still free, in bytes; `None` = no limit.
    pub memory_available_bytes: Option<u64>,
    /// Locked-memory limit in bytes; `None` = unlimited.
    pub locked_memory_bytes: Option<u64>,
    /// Stack limit in bytes; `None` = unlimited.
    pub stack_bytes: Option<u64>,
}

/// Load and disturbances of a host at one moment; recorded before and after a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HostState {
    /// Runnable tasks, averaged over a minute.
    pub load_one_minute: Option<f64>,
    /// CPU time stolen by the hypervisor since boot, in seconds, all CPUs.
    pub steal_s: Option<f64>,
    /// CPU time since boot, in seconds, all CPUs and states.
    pub cpu_time_s: Option<f64>,
    /// Share of the last 10 s in which some task waited for a CPU (PSI), 0 … 1.
    pub cpu_pressure: Option<f64>,
    /// Share of the last 10 s in which some task waited for memory (PSI), 0 … 1.
    pub memory_pressure: Option<f64>,
    /// Times the control group was throttled since it exists.
    pub throttled: Option<u64>,
    /// Lowest and highest current frequency over the usable CPUs, in Hz.
    pub frequency_hz: Option<(f64, f64)>,
    /// Memory available, in bytes.
    pub available_bytes: Option<u64>,
}

impl HostFacts {
    /// Whether the processor is emulated, also inside a container (`qemu, docker`). Speeds measured
    /// there do not describe a machine.
    pub fn is_emulated(&self) -> bool {
        let layers = self.system.virtualization.as_deref().unwrap_or_default();
        layers.split(", ").any(|layer| layer == EMULATOR)
    }

    /// Returns the memory that a measurement may use, in bytes: the available memory, capped by the
    /// control group; 0 = unknown.
    pub fn usable_bytes(&self) -> u64 {
        let available = Some(self.memory.available_bytes).filter(|bytes| *bytes > 0);
        available.into_iter().chain(self.limits.memory_available_bytes).min().unwrap_or(0)
    }

    /// Whether the memory is known; a host that hides `/proc/meminfo` does not report it, but its
    /// control group may.
    pub const fn has_known_memory(&self) -> bool {
        self.memory.available_bytes > 0 || self.limits.memory_available_bytes.is_some()
    }
}

impl Topology {
    /// Returns the number of NUMA nodes, with and without CPUs.
    pub const fn node_count(&self) -> usize {
        self.numa.len() + self.memory_nodes.len()
    }

    /// Returns all usable CPU numbers, ascending.
    pub fn cpu_ids(&self) -> Vec<u32> {
        self.cpus.iter().map(|cpu| cpu.id).collect()
    }

    /// Returns the caches of the highest level. A guest that shows only first-level caches hides
    /// the others, so the result is then empty.
    pub fn last_level(&self) -> impl Iterator<Item = &Cache> {
        let level =
            self.caches.iter().map(|cache| cache.level).max().filter(|level| *level > 1);
        self.caches.iter().filter(move |cache| Some(cache.level) == level)
    }

    /// Returns the sum of the distinct last-level caches that any of `cpus` uses, in bytes.
    /// STREAM's rule "four times the last-level cache" needs this sum, not the size of one cache,
    /// on machines with several.
    pub fn last_level_bytes(&self, cpus: &[u32]) -> u64 {
        let used = |cache: &&Cache| cache.cpus.iter().any(|cpu| cpus.contains(cpu));
        self.last_level().filter(used).map(|cache| cache.bytes).sum()
    }

    /// Returns the sum of the distinct caches of all levels that any of `cpus` uses, in bytes; 0
    /// without a visible last level. Many second-level caches together exceed the last-level cache of
    /// some servers, and with exclusive levels data is in either.
    pub fn cache_bytes(&self, cpus: &[u32]) -> u64 {
        if self.last_level_bytes(cpus) == 0 {
            return 0;
        }
        let used = |cache: &&Cache| cache.cpus.iter().any(|cpu| cpus.contains(cpu));
        self.caches.iter().filter(used).map(|cache| cache.bytes).sum()
    }

    /// Returns one CPU per physical core, the lowest-numbered thread of each.
    pub fn one_cpu_per_core(&self, cpus: &[u32]) -> Vec<u32> {
        let mut seen = std::collections::BTreeSet::new();
        let first = |cpu: &&Cpu| cpus.contains(&cpu.id) && seen.insert((cpu.socket, cpu.core));
        self.cpus.iter().filter(first).map(|cpu| cpu.id).collect()
    }
}

/// Capacity of a file system, as it reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystemCapacity {
    /// Total bytes.
    pub bytes: u64,
    /// Free bytes, for root.
    pub free_bytes: u64,
    /// Maximum number of files; 0 without a fixed maximum.
    pub files: u64,
    pub free_files: u64,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::attribute::Attribute;

    /// Collects the names under which values are stored, except names of the machine itself, such
    /// as kernel settings.
    fn names(value: &Value, found: &mut BTreeSet<String>) {
        const OF_THE_MACHINE: [&str; 3] = ["settings", "mitigations", "versions"];
        match value {
            Value::Object(all) => {
                for (name, value) in all {
                    found.insert(name.clone());
                    if !OF_THE_MACHINE.contains(&name.as_str()) {
                        names(value, found);
                    }
                }
            }
            Value::Array(all) => all.iter().for_each(|it| names(it, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn security_page_lists_every_stored_fact() {
        let topology = Topology {
            cpus: vec![Cpu { id: 0, core: 0, socket: 0, numa: 0 }],
            caches: vec![Cache { level: 1, bytes: 1, line_bytes: 1, cpus: vec![] }],
            numa: vec![NumaNode { id: 0, cpus: vec![], bytes: 1 }],
            memory_nodes: vec![NumaNode { id: 1, cpus: vec![], bytes: 1 }],
        };
        let module = MemoryModule {
            locator: String::new(),
            bank: String::new(),
            bytes: 1,
            width_bits: 1,
            transfers_per_s: 1,
            kind: String::new(),
        };
        let memory = MemoryFacts { modules: Some(vec![module]), ..MemoryFacts::default() };
        let facts = HostFacts { topology, memory, ..HostFacts::default() };
        let mut stored = BTreeSet::new();
        for value in [serde_json::to_value(&facts), serde_json::to_value(HostState::default())]
        {
            names(&value.unwrap(), &mut stored);
        }
        stored.extend(Attribute::ALL.iter().map(|it| it.name().to_owned()));
        let page = include_str!("../../../docs/security.md");
        let (_, listed) = page.split_once("## What a run stores").unwrap();
        let listed: BTreeSet<String> = listed
            .lines()
            .filter(|line| line.starts_with("| "))
            .flat_map(|line| line.split('`').skip(1).step_by(2).map(str::to_owned))
            .collect();
        let missing: Vec<_> = stored.difference(&listed).collect();
        let unknown: Vec<_> = listed.difference(&stored).collect();
        assert!(
            missing.is_empty() && unknown.is_empty(),
            "docs/security.md does not list {missing:?}, and lists {unknown:?}"
        );
    }
}
