//! Cores, caches, sockets and NUMA nodes, from `/sys/devices/system`.
//!
//! Contains only the given CPUs. Caches and nodes without any of them are left out, except nodes that
//! have memory and no CPU at all. Uses no table of processor models.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::facts::{Cache, Cpu, NumaNode, Topology};

use crate::cpu_list;
use crate::meminfo;
use crate::root::Root;

const CPUS: &str = "sys/devices/system/cpu";
const NODES: &str = "sys/devices/system/node";

/// Reads the topology restricted to `usable`.
pub(super) fn read(root: &Root, usable: &BTreeSet<u32>) -> Topology {
    let listed = nodes(root, usable);
    let memory_nodes = if listed.is_some() { memory_nodes(root) } else { Vec::new() };
    let numa = listed.unwrap_or_else(|| vec![single_node(root, usable)]);
    let (cpus, caches) = (cores(root, usable, &numa), caches(root, usable));
    Topology { cpus, caches, numa, memory_nodes }
}

/// Location of one CPU as the kernel reports it.
struct CpuLocation {
    id: u32,
    core: u32,
    socket: u32,
    /// The lowest-numbered CPU of the same core.
    first_thread: u32,
}

fn read_location(root: &Root, id: u32) -> CpuLocation {
    // ARM firmware may omit the socket, which the kernel shows as −1: then there is one.
    let number = |name: &str| root.number(&format!("{CPUS}/cpu{id}/topology/{name}"));
    let threads = format!("{CPUS}/cpu{id}/topology/thread_siblings_list");
    let threads = cpu_list::read_list(root, &threads).unwrap_or_default();
    CpuLocation {
        id,
        core: number("core_id").unwrap_or(id),
        socket: number("physical_package_id").unwrap_or(0),
        first_thread: threads.first().copied().unwrap_or(id).min(id),
    }
}

/// Assigns core numbers: the kernel's if they are unique within a socket. If dies or clusters of a
/// socket each count from 0, uses the first thread of each core instead.
fn cores(root: &Root, usable: &BTreeSet<u32>, numa: &[NumaNode]) -> Vec<Cpu> {
    let places: Vec<CpuLocation> = usable.iter().map(|id| read_location(root, *id)).collect();
    let mut cores: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let unique = places.iter().all(|place| {
        let first = cores.entry((place.socket, place.core)).or_insert(place.first_thread);
        *first == place.first_thread
    });
    let node =
        |id: u32| numa.iter().find(|node| node.cpus.contains(&id)).map_or(0, |node| node.id);
    let cpu = |place: &CpuLocation| Cpu {
        id: place.id,
        core: if unique { place.core } else { place.first_thread },
        socket: place.socket,
        numa: node(place.id),
    };
    places.iter().map(cpu).collect()
}

/// Reads the nodes with at least one of `usable`, of 0 bytes without memory that this process may use;
/// `None` for a single node, and if the map omits one of these CPUs.
fn nodes(root: &Root, usable: &BTreeSet<u32>) -> Option<Vec<NumaNode>> {
    let allowed = allowed_nodes(root);
    let node = |id: u32| {
        let listed = cpu_list::read_list(root, &format!("{NODES}/node{id}/cpulist"))?;
        let cpus: Vec<u32> = listed.intersection(usable).copied().collect();
        let memory = root.text(&format!("{NODES}/node{id}/meminfo"));
        let is_allowed = allowed.as_ref().is_none_or(|allowed| allowed.contains(&id));
        let bytes = memory
            .filter(|_| is_allowed)
            .and_then(|text| meminfo::parse_bytes(&text, "MemTotal"))
            .unwrap_or(0);
        (!cpus.is_empty()).then_some(NumaNode { id, cpus, bytes })
    };
    let all = root.entry_numbers(NODES, "node");
    let nodes: Vec<NumaNode> = all.iter().copied().filter_map(node).collect();
    let mapped: Vec<u32> = nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect();
    (mapped.len() == usable.len() && all.len() > 1).then_some(nodes)
}

/// Reads the nodes with memory that this process may use and without any CPU.
fn memory_nodes(root: &Root) -> Vec<NumaNode> {
    let allowed = allowed_nodes(root);
    let node = |id: u32| {
        let list = format!("{NODES}/node{id}/cpulist");
        let has_no_cpu = root.exists(&list) && root.text(&list).is_none();
        let text = root.text(&format!("{NODES}/node{id}/meminfo"))?;
        let bytes = meminfo::parse_bytes(&text, "MemTotal").filter(|bytes| *bytes > 0)?;
        let is_allowed = allowed.as_ref().is_none_or(|allowed| allowed.contains(&id));
        (has_no_cpu && is_allowed).then(|| NumaNode { id, cpus: Vec::new(), bytes })
    };
    root.entry_numbers(NODES, "node").into_iter().filter_map(node).collect()
}

/// Returns the nodes whose memory the cpuset admits; `None` if the kernel does not show them.
fn allowed_nodes(root: &Root) -> Option<BTreeSet<u32>> {
    let status = root.text("proc/self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"))?;
    cpu_list::parse(list.trim())
}

/// Returns one node with everything. It gets all memory, because its own file omits memory that the
/// kernel sets up later.
fn single_node(root: &Root, usable: &BTreeSet<u32>) -> NumaNode {
    let bytes = meminfo::read_bytes(root, "MemTotal").unwrap_or(0);
    NumaNode { id: 0, cpus: usable.iter().copied().collect(), bytes }
}

/// Reads all distinct data or unified caches; level and CPUs identify a cache. The size is that of
/// the whole cache, even if it is shared with CPUs outside `usable`.
fn caches(root: &Root, usable: &BTreeSet<u32>) -> Vec<Cache> {
    let mut distinct: BTreeMap<(u8, Vec<u32>), Cache> = BTreeMap::new();
    for cpu in usable {
        let directory = format!("{CPUS}/cpu{cpu}/cache");
        for index in root.entry_numbers(&directory, "index") {
            if let Some(cache) = cache(root, &format!("{directory}/index{index}"), usable) {
                distinct.entry((cache.level, cache.cpus.clone())).or_insert(cache);
            }
        }
    }
    distinct.into_values().collect()
}

/// Reads one cache; `None` for instruction caches and if the firmware omits size or sharing.
fn cache(root: &Root, directory: &str, usable: &BTreeSet<u32>) -> Option<Cache> {
    let text = |name: &str| root.text(&format!("{directory}/{name}"));
    if !["Data", "Unified"].contains(&text("type")?.as_str()) {
        return None;
    }
    let shared = cpu_list::read_list(root, &format!("{directory}/shared_cpu_list"))?;
    let cpus: Vec<u32> = shared.intersection(usable).copied().collect();
    Some(Cache {
        level: text("level")?.parse().ok()?,
        bytes: size_bytes(&text("size")?)?,
        line_bytes: text("coherency_line_size").and_then(|size| size.parse().ok()).unwrap_or(0),
        cpus,
    })
    .filter(|cache| cache.bytes > 0 && !cache.cpus.is_empty())
}

/// Parses a cache size in KiB: `32768K`. Sizes above 1 TiB count as damage.
fn size_bytes(text: &str) -> Option<u64> {
    let kib: u64 = text.strip_suffix('K')?.parse().ok()?;
    (kib <= 1 << 30).then_some(kib << 10)
}
