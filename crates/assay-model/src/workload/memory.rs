//! Workloads of memory beyond STREAM and latency of one CPU: bandwidth of caches, cache lines between
//! cores, and latency under traffic.

use serde::{Deserialize, Serialize};

use super::Domain;
use crate::attribute::{Attribute, AttributeValue, Attributes};

/// Reads of a working set by each core of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheBandwidthWorkload {
    /// Cores that read at the same time.
    pub domain: Domain,
    /// Size of the working set of each core in bytes.
    pub bytes_per_core: u64,
}

impl CacheBandwidthWorkload {
    pub(super) fn dimensions(&self) -> Attributes {
        Attributes::from([
            (Attribute::Placement, self.domain.placement.as_str().into()),
            (Attribute::Threads, self.domain.cpus.len().into()),
            (Attribute::Bytes, self.bytes_per_core.into()),
        ])
    }
}

/// Memory of a NUMA node, with a chain of dependent loads in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMemory {
    /// The kernel's number of the node.
    pub node: u32,
    /// Size of the chain in bytes.
    pub chain_bytes: u64,
    /// Bytes of a cache line, with one load each.
    pub line_bytes: u32,
}

/// Cache lines that pairs of CPUs hand to each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreToCoreWorkload {
    /// All pairs by their distance, the nearest first.
    pub groups: Vec<CpuPairs>,
}

/// Pairs of CPUs at one distance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuPairs {
    /// `same-core`, `same-cache`, `same-socket`, `across-sockets`.
    pub distance: String,
    /// The pairs, each with the lower CPU first.
    pub pairs: Vec<[u32; 2]>,
}

impl CoreToCoreWorkload {
    /// Returns all CPUs that occur in a pair, ascending.
    pub fn cpus(&self) -> Vec<u32> {
        let mut cpus: Vec<u32> = self
            .groups
            .iter()
            .flat_map(|group| group.pairs.iter().copied().flatten())
            .collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }
}

impl CpuPairs {
    /// Returns the dimensions that all pairs of this distance share.
    pub fn dimensions(&self) -> Attributes {
        Attributes::from([(Attribute::Placement, self.distance.as_str().into())])
    }

    /// Returns the dimensions of one pair.
    pub fn pair_dimensions(&self, [first, second]: [u32; 2]) -> Attributes {
        Attributes::from([
            (Attribute::Placement, format!("core:{second}").into()),
            (Attribute::Source, format!("core:{first}").into()),
            (Attribute::Distance, self.distance.as_str().into()),
        ])
    }
}

/// Dependent loads on one CPU while others move data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedLatencyWorkload {
    /// CPU that issues the dependent loads.
    pub cpu: u32,
    /// Size of their working set in bytes.
    pub bytes: u64,
    /// Bytes of a cache line, with one load each.
    pub line_bytes: u32,
    /// CPUs with a traffic generator each, and the name of all CPUs.
    pub traffic: Domain,
    /// Size of the buffer of each generator in bytes.
    pub bytes_per_generator: u64,
    /// Mixes of the traffic, each with its own curve.
    pub mixes: Vec<TrafficMix>,
    /// Pauses of a generator after each block in nanoseconds, ascending.
    pub pauses_ns: Vec<u64>,
}

/// Mix of reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrafficMix {
    /// Read lines for each written one; 0 = reads only.
    pub reads_per_write: u32,
}

impl TrafficMix {
    /// Returns the share of the reads, 0 … 1, to two decimals.
    pub fn read_share(self) -> f64 {
        let reads = f64::from(self.reads_per_write);
        if self.reads_per_write == 0 {
            1.0
        } else {
            (reads / (reads + 1.0) * 100.0).round() / 100.0
        }
    }
}

impl LoadedLatencyWorkload {
    /// Returns the CPU of the loads and those of the generators.
    pub(super) fn cpus(&self) -> Vec<u32> {
        std::iter::once(self.cpu).chain(self.traffic.cpus.iter().copied()).collect()
    }

    pub(super) fn dimensions(&self) -> Attributes {
        Attributes::from([
            (Attribute::Placement, self.traffic.placement.as_str().into()),
            (Attribute::Bytes, self.bytes.into()),
            (Attribute::Cpu, self.cpu.into()),
            (Attribute::Threads, self.traffic.cpus.len().into()),
            (Attribute::BytesPerArray, self.bytes_per_generator.into()),
        ])
    }

    /// Returns the dimensions of a point without traffic.
    pub fn idle_dimensions() -> Attributes {
        Attributes::from([(Attribute::Point, IDLE_POINT.into())])
    }

    /// Returns the dimensions of a point under traffic.
    pub fn point_dimensions(mix: TrafficMix, pause_ns: u64) -> Attributes {
        Attributes::from([
            (Attribute::ReadShare, AttributeValue::Number(mix.read_share())),
            (Attribute::PauseS, AttributeValue::Number(pause_ns as f64 / 1e9)),
        ])
    }
}

/// Name of the point without traffic.
const IDLE_POINT: &str = "idle";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_share_follows_from_the_mix() {
        for (reads_per_write, share) in [(0, 1.0), (1, 0.5), (2, 0.67), (3, 0.75)] {
            let mix = TrafficMix { reads_per_write };
            assert!((mix.read_share() - share).abs() < 1e-9, "{reads_per_write}");
        }
    }
}
