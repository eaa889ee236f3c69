//! Expansion of cache bandwidth, core-to-core latency, loaded latency, and copies and loads between NUMA
//! nodes, which follow from the topology.

use super::domains::{self, NodeDomain};
use super::{NamedWorkload, PlanError, mpi, sizes};
use crate::facts::{Cpu, HostFacts};
use crate::quantity::Bytes;
use crate::suite::MpiPlacement;
use crate::workload::{
    CacheBandwidthWorkload, CopyWorkload, CoreToCoreWorkload, CpuPairs, Domain,
    LoadedLatencyWorkload, NodeMemory, TrafficMix, Workload, usual_line_bytes,
};

/// Smallest working set of the ladder, of which the largest is taken.
const FIRST_WORKING_SET: Bytes = Bytes::kib(4);
/// Reads only, two reads for each write, and one.
const READS_PER_WRITE: [u32; 3] = [0, 2, 1];
/// Pauses after each block of 1 KiB in nanoseconds. A core needs 40 to 100 ns for the block, so
/// that the longest leaves less than 1 % of the maximum.
const PAUSES_NS: [u64; 11] = [0, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_240, 20_480];

/// Returns the ladder of working sets of one core alone, and of all cores at once. The largest sets are
/// four times all caches of those cores together.
pub(super) fn cache_bandwidth(
    host: &HostFacts,
    from: Bytes,
    to: Option<Bytes>,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let node = domains::node(host, None, "threads")?;
    let first = domains::first_core(host);
    let core = Domain { placement: format!("core:{first}"), cpus: vec![first] };
    let mut named = Vec::new();
    for domain in [core, node].into_iter().filter(|domain| !domain.cpus.is_empty()) {
        let cores = domain.cpus.len() as u64;
        let caches = host.topology.cache_bytes(&domain.cpus);
        for bytes in sizes::ladder(host, from, to, caches.div_ceil(cores))? {
            // Half of the memory holds the largest ladder of a machine without visible caches.
            if bytes.saturating_mul(cores) > sizes::usable_share(host)? / 2 {
                break;
            }
            let name = format!("{}/bytes={bytes}", domain.placement);
            let workload =
                CacheBandwidthWorkload { domain: domain.clone(), bytes_per_core: bytes };
            named.push((name, Workload::CacheBandwidth(workload)));
        }
    }
    Ok(named)
}

/// Returns all pairs of cores, and the two first hardware threads of each core.
pub(super) fn core_to_core(host: &HostFacts) -> Result<Vec<NamedWorkload>, PlanError> {
    let topology = &host.topology;
    let first_threads = topology.one_cpu_per_core(&topology.cpu_ids());
    let is_first = |cpu: &&Cpu| first_threads.contains(&cpu.id);
    let cores: Vec<&Cpu> = topology.cpus.iter().filter(is_first).collect();
    let siblings = cores.iter().filter_map(|core| {
        let is_sibling = |cpu: &&Cpu| {
            cpu.id != core.id && (cpu.socket, cpu.core) == (core.socket, core.core)
        };
        topology.cpus.iter().find(is_sibling).map(|cpu| (*core, cpu))
    });
    let between_cores = cores
        .iter()
        .enumerate()
        .flat_map(|(i, a)| cores[i + 1..].iter().map(move |b| (*a, *b)));
    let pairs: Vec<(&Cpu, &Cpu)> = siblings.chain(between_cores).collect();
    let group = |which: MpiPlacement| {
        let at_distance = pairs.iter().filter(|(a, b)| mpi::has_distance(which, a, b, host));
        let pairs: Vec<[u32; 2]> = at_distance.map(|(a, b)| [a.id, b.id]).collect();
        let distance = which.name().to_owned();
        (!pairs.is_empty()).then_some(CpuPairs { distance, pairs })
    };
    let groups: Vec<CpuPairs> =
        MpiPlacement::EVERY_PAIR.into_iter().filter_map(group).collect();
    if groups.is_empty() {
        return Err(too_few_cores(cores.len()));
    }
    let workload = Workload::CoreToCore(CoreToCoreWorkload { groups });
    Ok(vec![("node".to_owned(), workload)])
}

/// Returns copies and loads by each NUMA node with CPUs from the memory of each node, also those without
/// CPUs. Empty with one node, which has nothing to compare.
pub(super) fn node_pairs(host: &HostFacts) -> Result<Vec<NamedWorkload>, PlanError> {
    let [nodes, memory_nodes] = [&host.topology.numa, &host.topology.memory_nodes]
        .map(|nodes| domains::node_domains(host, nodes));
    let mut sources = [nodes.clone(), memory_nodes].concat();
    // Where sizes are known, a node without one has no memory for this process.
    if sources.iter().any(|it| it.bytes > 0) {
        sources.retain(|it| it.bytes > 0);
    }
    if nodes.len().max(sources.len()) < 2 {
        return Ok(Vec::new());
    }
    let mut named = Vec::new();
    for NodeDomain { domain, .. } in &nodes {
        let Some(cpu) = domain.cpus.first() else { continue };
        let chain_bytes = chain_bytes(host, *cpu, None)?;
        for NodeDomain { node, domain: source, bytes: source_bytes } in &sources {
            let mut cpus = [domain.cpus.as_slice(), &source.cpus].concat();
            cpus.sort_unstable();
            cpus.dedup();
            let caches = host.topology.last_level_bytes(&cpus);
            let most = most_bytes(*source_bytes);
            let chain_bytes = chain_bytes.min(most);
            // Three arrays and the chain fit memory together.
            let fitting = sizes::usable_share(host)?.saturating_sub(chain_bytes) / 3;
            let bytes = sizes::array_bytes(host, None, caches, 1)?.min(fitting).min(most);
            let workload = CopyWorkload {
                domain: domain.clone(),
                source: source.clone(),
                bytes_per_array: bytes.max(sizes::MIN_ARRAY_BYTES),
                node: Some(NodeMemory {
                    node: *node,
                    chain_bytes,
                    line_bytes: line_bytes(host),
                }),
            };
            named.push((workload.name(), Workload::Copy(workload)));
        }
    }
    Ok(named)
}

/// Returns the most bytes of an array, and of a chain, in a node of `node_bytes` bytes: a sixth each:
/// three arrays and the chain may be in one node, and the rest may be in use. Nodes of unknown size have
/// no limit.
fn most_bytes(node_bytes: u64) -> u64 {
    if node_bytes == 0 { u64::MAX } else { (node_bytes / 6).max(sizes::MIN_ARRAY_BYTES) }
}

fn line_bytes(host: &HostFacts) -> u32 {
    let visible = host.topology.last_level().next().map(|cache| cache.line_bytes);
    visible.unwrap_or_else(usual_line_bytes)
}

/// Returns the last step of the ladder of `memory.latency` of one CPU.
fn chain_bytes(host: &HostFacts, cpu: u32, to: Option<Bytes>) -> Result<u64, PlanError> {
    let own_cache = host.topology.last_level_bytes(&[cpu]);
    let ladder = sizes::ladder(host, FIRST_WORKING_SET, to, own_cache)?;
    Ok(ladder.last().copied().unwrap_or(FIRST_WORKING_SET.0))
}

/// Returns the chain on the first core, with traffic from all others.
pub(super) fn loaded_latency(
    host: &HostFacts,
    to: Option<Bytes>,
    bytes: Option<Bytes>,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let Domain { placement, mut cpus } = domains::node(host, None, "threads")?;
    if cpus.len() < 2 {
        return Err(too_few_cores(cpus.len()));
    }
    let caches = host.topology.cache_bytes(&cpus);
    let cpu = cpus.remove(0);
    let chain_bytes = chain_bytes(host, cpu, to)?;
    let usable = sizes::usable_share(host)?.saturating_sub(chain_bytes);
    let workload = Workload::LoadedLatency(LoadedLatencyWorkload {
        cpu,
        bytes: chain_bytes,
        line_bytes: line_bytes(host),
        bytes_per_generator: generator_bytes(usable, bytes, caches, cpus.len() as u64)?,
        traffic: Domain { placement, cpus },
        mixes: READS_PER_WRITE.map(|reads_per_write| TrafficMix { reads_per_write }).to_vec(),
        pauses_ns: PAUSES_NS.to_vec(),
    });
    Ok(vec![("node".to_owned(), workload)])
}

/// Returns the bytes of the buffer of each of `generators` generators, which have `usable` bytes
/// besides the chain: by default four times the caches between them.
fn generator_bytes(
    usable: u64,
    requested: Option<Bytes>,
    caches: u64,
    generators: u64,
) -> Result<u64, PlanError> {
    let min_bytes = sizes::MIN_ARRAY_BYTES;
    let bytes = match requested {
        Some(Bytes(bytes)) if bytes < min_bytes => {
            return Err(PlanError::TooSmall {
                what: "a traffic buffer",
                given: Bytes(bytes).to_string(),
                minimum: Bytes(min_bytes).to_string(),
            });
        }
        Some(Bytes(bytes)) => bytes,
        None => {
            let rounded = (sizes::default_bytes(caches) / generators).next_multiple_of(1 << 20);
            rounded.min(usable / generators).max(min_bytes)
        }
    };
    if bytes > usable / generators {
        return Err(PlanError::NotEnoughMemory {
            what: format!("traffic with {generators} buffers of {}", Bytes(bytes)),
            needed: sizes::format_size(bytes.saturating_mul(generators)),
            usable: sizes::format_size(usable),
        });
    }
    Ok(bytes)
}

fn too_few_cores(cores: usize) -> PlanError {
    PlanError::TooManyThreads {
        asked: 2,
        what: "threads",
        placement: "this machine".to_owned(),
        cores,
    }
}
