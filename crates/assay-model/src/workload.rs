//! Workloads: fully resolved measurements, independent of the measurer.

use serde::{Deserialize, Serialize};

use crate::attribute::{Attribute, Attributes};
use crate::benchmark::Benchmark;

pub mod command;
mod dimensions;
pub mod file_set;
pub mod io500;
pub mod measurement_mode;
mod memory;
mod mpi;
mod network;
mod parts;
mod rdma;
pub mod storage;

use command::CommandWorkload;
use measurement_mode::{LatencyGoal, MeasurementMode};
pub use memory::{
    CacheBandwidthWorkload, CoreToCoreWorkload, CpuPairs, LoadedLatencyWorkload, NodeMemory,
    TrafficMix,
};
pub use mpi::{MpiHosts, MpiPreset, MpiWorkload};
pub use network::{
    NetworkConnections, NetworkLatency, NetworkTest, NetworkThroughput, NetworkWorkload,
    TransferDirection,
};
pub use rdma::{
    MAX_DATAGRAM_BYTES, PORTABLE_DATAGRAM_BYTES, RdmaConnection, RdmaDevice, RdmaDuration,
    RdmaTuning, RdmaWorkload,
};

/// Fully resolved workload. The serialised form contains the benchmark's identifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "benchmark")]
pub enum Workload {
    /// Memory bandwidth.
    #[serde(rename = "memory.stream")]
    Stream(StreamWorkload),
    /// Memory latency.
    #[serde(rename = "memory.latency")]
    Latency(LatencyWorkload),
    /// Copies between domains.
    #[serde(rename = "memory.copy_between_domains")]
    Copy(CopyWorkload),
    /// Read bandwidth of a working set.
    #[serde(rename = "memory.cache_bandwidth")]
    CacheBandwidth(CacheBandwidthWorkload),
    /// Cache lines between pairs of CPUs.
    #[serde(rename = "memory.core_to_core")]
    CoreToCore(CoreToCoreWorkload),
    /// Memory latency under traffic.
    #[serde(rename = "memory.loaded_latency")]
    LoadedLatency(LoadedLatencyWorkload),
    /// Multiply-add peak.
    #[serde(rename = "compute.peak_flops")]
    PeakFlops(PeakFlopsWorkload),
    /// LU factorisation and solve.
    #[serde(rename = "compute.linpack")]
    Linpack(LinpackWorkload),
    /// TCP between two hosts.
    #[serde(rename = "network.tcp")]
    NetworkTcp(NetworkWorkload),
    /// UDP between two hosts.
    #[serde(rename = "network.udp")]
    NetworkUdp(NetworkWorkload),
    /// ICMP echoes.
    #[serde(rename = "network.icmp")]
    NetworkIcmp(NetworkWorkload),
    /// Reads and writes of files and devices.
    #[serde(rename = "storage")]
    Storage(Box<storage::StorageTest>),
    /// Operations on file trees.
    #[serde(rename = "storage.files")]
    Files(Box<file_set::FileTest>),
    /// The phases of IO500.
    #[serde(rename = "io500")]
    Io500(Box<io500::Io500Workload>),
    /// A program.
    #[serde(rename = "command")]
    Command(Box<CommandWorkload>),
    /// Imported results of another tool.
    #[serde(rename = "imported")]
    Imported(ImportedWorkload),
    /// MPI messages, with the identifier of the test.
    #[serde(untagged)]
    Mpi(MpiWorkload),
    /// RDMA verbs, with the identifier of the test.
    #[serde(untagged)]
    Rdma(RdmaWorkload),
}

/// Workload of an imported file of results, which cannot be executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedWorkload {
    /// The benchmark that the results belong to.
    pub of: Benchmark,
    /// Dimensions that all results of the case share.
    pub dimensions: Attributes,
}

impl Workload {
    /// Sets the seed, if the workload draws random numbers in every run.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        match &mut self {
            Self::Storage(test) => test.workload.seed = seed,
            Self::Files(test) => {
                test.before.iter_mut().for_each(|before| before.seed = seed);
                test.workload.seed = seed;
            }
            Self::Io500(work) => work.seed = seed,
            Self::Stream(_)
            | Self::Latency(_)
            | Self::Copy(_)
            | Self::CacheBandwidth(_)
            | Self::CoreToCore(_)
            | Self::LoadedLatency(_)
            | Self::PeakFlops(_)
            | Self::Linpack(_)
            | Self::NetworkTcp(_)
            | Self::NetworkUdp(_)
            | Self::NetworkIcmp(_)
            | Self::Command(_)
            | Self::Imported(_)
            | Self::Mpi(_)
            | Self::Rdma(_) => {}
        }
        self
    }

    /// Whether busy threads compute or move memory in timed passes, without I/O.
    pub const fn has_timed_passes(&self) -> bool {
        match self {
            Self::Stream(_)
            | Self::Latency(_)
            | Self::Copy(_)
            | Self::CacheBandwidth(_)
            | Self::CoreToCore(_)
            | Self::LoadedLatency(_)
            | Self::PeakFlops(_)
            | Self::Linpack(_) => true,
            Self::NetworkTcp(_)
            | Self::NetworkUdp(_)
            | Self::NetworkIcmp(_)
            | Self::Storage(_)
            | Self::Files(_)
            | Self::Io500(_)
            | Self::Command(_)
            | Self::Imported(_)
            | Self::Mpi(_)
            | Self::Rdma(_) => false,
        }
    }

    /// Whether the workload draws random numbers in every run.
    pub const fn is_random(&self) -> bool {
        self.as_storage().is_some() || self.as_files().is_some() || self.as_io500().is_some()
    }

    /// Whether assay checks every single result, so that those before an interruption count.
    pub const fn checks_each_result(&self) -> bool {
        match self {
            Self::Linpack(_)
            | Self::NetworkTcp(_)
            | Self::NetworkUdp(_)
            | Self::NetworkIcmp(_)
            | Self::Storage(_)
            | Self::Files(_)
            | Self::Io500(_)
            | Self::Command(_)
            | Self::CacheBandwidth(_)
            | Self::CoreToCore(_) => true,
            Self::Stream(_)
            | Self::Latency(_)
            | Self::Copy(_)
            | Self::LoadedLatency(_)
            | Self::PeakFlops(_)
            | Self::Imported(_)
            | Self::Mpi(_)
            | Self::Rdma(_) => false,
        }
    }

    pub const fn benchmark(&self) -> Benchmark {
        match self {
            Self::Stream(_) => Benchmark::MemoryStream,
            Self::Latency(_) => Benchmark::MemoryLatency,
            Self::Copy(_) => Benchmark::MemoryCopy,
            Self::CacheBandwidth(_) => Benchmark::CacheBandwidth,
            Self::CoreToCore(_) => Benchmark::CoreToCore,
            Self::LoadedLatency(_) => Benchmark::LoadedLatency,
            Self::PeakFlops(_) => Benchmark::PeakFlops,
            Self::Linpack(_) => Benchmark::Linpack,
            Self::NetworkTcp(_) => Benchmark::NetworkTcp,
            Self::NetworkUdp(_) => Benchmark::NetworkUdp,
            Self::NetworkIcmp(_) => Benchmark::NetworkIcmp,
            Self::Storage(_) => Benchmark::Storage,
            Self::Files(_) => Benchmark::StorageFiles,
            Self::Io500(_) => Benchmark::Io500,
            Self::Command(_) => Benchmark::Command,
            Self::Imported(work) => work.of,
            Self::Mpi(work) => Benchmark::Mpi(work.test),
            Self::Rdma(work) => Benchmark::Rdma(work.test),
        }
    }

    /// Returns the dimensions that all series of a case share; the measurer `by` adds those that
    /// distinguish them.
    pub fn dimensions(&self, by: &str) -> Attributes {
        match self {
            Self::Stream(work) => dimensions::stream(work),
            Self::Latency(work) => Attributes::from([
                (Attribute::Bytes, work.bytes.into()),
                (Attribute::Cpu, work.cpu.into()),
            ]),
            Self::Copy(work) => Attributes::from([
                (Attribute::Placement, work.domain.placement.as_str().into()),
                (Attribute::Source, work.source.placement.as_str().into()),
                (Attribute::Threads, work.domain.cpus.len().into()),
                (Attribute::BytesPerArray, work.bytes_per_array.into()),
            ]),
            Self::CacheBandwidth(work) => work.dimensions(),
            Self::CoreToCore(_) => Attributes::new(),
            Self::LoadedLatency(work) => work.dimensions(),
            Self::PeakFlops(work) => dimensions::peak(work),
            Self::Linpack(work) => dimensions::linpack(work, by),
            Self::NetworkTcp(work) | Self::NetworkUdp(work) | Self::NetworkIcmp(work) => {
                dimensions::network(work)
            }
            Self::Imported(work) => work.dimensions.clone(),
            Self::Mpi(work) => dimensions::mpi(work),
            Self::Rdma(work) => work.dimensions(),
            Self::Storage(test) => dimensions::storage(test),
            Self::Files(test) => dimensions::files(test),
            Self::Io500(work) => Attributes::from([
                (Attribute::Threads, work.tasks.into()),
                (Attribute::Seconds, work.stonewall_s.into()),
            ]),
            Self::Command(work) => work.dimensions(),
        }
    }

    /// Returns the CPUs that it keeps busy.
    pub fn cpus(&self) -> Vec<u32> {
        match self {
            Self::Stream(work) => work.domains.iter().flat_map(|d| d.cpus.clone()).collect(),
            Self::Latency(work) => vec![work.cpu],
            Self::Copy(work) => work.domain.cpus.clone(),
            Self::CacheBandwidth(work) => work.domain.cpus.clone(),
            Self::CoreToCore(work) => work.cpus(),
            Self::LoadedLatency(work) => work.cpus(),
            Self::PeakFlops(work) => work.domain.cpus.clone(),
            Self::Linpack(work) => work.cpus.clone(),
            // The system, which knows the interrupts, places the threads of network and storage.
            Self::NetworkTcp(_)
            | Self::NetworkUdp(_)
            | Self::NetworkIcmp(_)
            | Self::Storage(_)
            | Self::Files(_)
            | Self::Io500(_)
            | Self::Rdma(_)
            | Self::Imported(_) => Vec::new(),
            Self::Command(work) => work.cpus.clone(),
            Self::Mpi(work) => {
                // Over hosts, it is the same CPU on each.
                let mut cpus = work.placement.cpus.clone();
                cpus.dedup();
                cpus
            }
        }
    }

    /// Sets the other host and returns the new name within the benchmark, for case identifiers.
    #[must_use]
    pub fn with_host(mut self, host: &str) -> (Self, String) {
        let to = Some(host.to_owned());
        let name = match &mut self {
            Self::NetworkTcp(work) | Self::NetworkUdp(work) | Self::NetworkIcmp(work) => {
                (work.to, work.port) = (to, None);
                work.name()
            }
            Self::Rdma(work) => {
                (work.to, work.port) = (to, None);
                work.name()
            }
            Self::Stream(_)
            | Self::Latency(_)
            | Self::Copy(_)
            | Self::CacheBandwidth(_)
            | Self::CoreToCore(_)
            | Self::LoadedLatency(_)
            | Self::PeakFlops(_)
            | Self::Linpack(_)
            | Self::Storage(_)
            | Self::Files(_)
            | Self::Io500(_)
            | Self::Command(_)
            | Self::Imported(_) => host.to_owned(),
            Self::Mpi(work) => {
                work.hosts.list = to;
                format!("{host}/{}", work.mpi.key)
            }
        };
        (self, name)
    }

    /// Returns the latency goal of a storage search.
    pub fn latency_goal(&self) -> Option<&LatencyGoal> {
        match &self.as_storage()?.course {
            MeasurementMode::Search(goal) => Some(goal),
            MeasurementMode::Once | MeasurementMode::Rounds(_) => None,
        }
    }
}

/// A named set of CPUs: `node`, `numa:0`, `l3:4`, `core:0`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Its name, as in the parameter `placement` of a result.
    pub placement: String,
    /// Its CPUs, with one pinned thread each.
    pub cpus: Vec<u32>,
}

/// STREAM over one domain, or over several at once, each with its own clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamWorkload {
    /// Domains that run at the same time; results are per domain.
    pub domains: Vec<Domain>,
    /// Size of each of the three arrays of each domain, in bytes.
    pub bytes_per_array: u64,
    /// `bytes_per_array` × domains over the sum of the last-level caches that they use; below 4 the
    /// result is cache-assisted.
    pub cache_multiple: f64,
}

/// Copies by one domain from memory near another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyWorkload {
    /// Domain that copies, to memory near itself.
    pub domain: Domain,
    /// Domain with the source data in its local memory; without CPUs, a node that only has memory.
    pub source: Domain,
    /// Size of each array in bytes.
    pub bytes_per_array: u64,
    /// Memory of the source between NUMA nodes; `None` = between last-level caches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeMemory>,
}

impl CopyWorkload {
    /// Returns the name of the pair within the benchmark.
    pub(crate) fn name(&self) -> String {
        format!("{}/from-{}", self.domain.placement, self.source.placement)
    }
}

/// Dependent loads over one working set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyWorkload {
    /// CPU that issues the loads.
    pub cpu: u32,
    /// Size of the working set in bytes.
    pub bytes: u64,
    /// Bytes of a cache line, with one load each; older runs without it used the usual size.
    #[serde(default = "usual_line_bytes")]
    pub line_bytes: u32,
}

/// Returns the cache line size of every x86 and nearly every Arm processor, for use if none is
/// visible.
pub const fn usual_line_bytes() -> u32 {
    64
}

/// Multiply-adds in registers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeakFlopsWorkload {
    /// Its domain.
    pub domain: Domain,
    /// `avx512`, `avx2`, `sse2`, `neon`, `portable`.
    pub instruction_set: String,
}

/// A dense system of equations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinpackWorkload {
    /// Number of equations.
    pub n: u64,
    /// Its CPUs, with one thread each.
    pub cpus: Vec<u32>,
    /// Library that multiplies matrices, as the user named it; `None` = assay's own kernels.
    pub blas: Option<String>,
    /// Seed of the random system.
    pub seed: u64,
}
