//! Workloads: what is measured, independent of the measurer, with every parameter resolved.

use serde::{Deserialize, Serialize};

use crate::attribute::{Attribute, Attributes};
use crate::benchmark::Benchmark;

pub mod course;
mod dimensions;
pub mod file_set;
mod mpi;
mod network;
mod rdma;
pub mod storage;

use course::{Course, LatencyGoal};
pub use mpi::{MpiHosts, MpiPreset, MpiWorkload};
pub use network::{Direction, Latency, NetworkQuestion, NetworkWorkload, Throughput};
pub use rdma::{
    DATAGRAM_BYTES, DATAGRAM_BYTES_ANYWHERE, RdmaConnection, RdmaDevice, RdmaDuration,
    RdmaTuning, RdmaWorkload,
};

/// One fully resolved request. The serialised form carries the benchmark's identifier.
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
    /// Whatever another tool has measured before, as far as its output tells.
    #[serde(rename = "imported")]
    Imported(ImportedWorkload),
    /// Messages of MPI; which benchmark, it says itself.
    #[serde(untagged)]
    Mpi(MpiWorkload),
    /// Verbs of RDMA; likewise.
    #[serde(untagged)]
    Rdma(RdmaWorkload),
}

/// What a file of results says was measured. Nothing carries it out again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedWorkload {
    /// The benchmark that the results belong to.
    pub of: Benchmark,
    /// What the file says of all results of the case.
    pub dimensions: Attributes,
}

impl Workload {
    /// The same with this seed, where anything in it is drawn anew in every run.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        if let Self::Storage(test) = &mut self {
            test.workload.seed = seed;
        } else if let Self::Files(test) = &mut self {
            test.before.iter_mut().for_each(|before| before.seed = seed);
            test.workload.seed = seed;
        }
        self
    }

    /// Whether anything in it is drawn anew in every run.
    #[must_use]
    pub const fn is_random(&self) -> bool {
        matches!(self, Self::Storage(_) | Self::Files(_))
    }

    /// The benchmark it belongs to.
    #[must_use]
    pub const fn benchmark(&self) -> Benchmark {
        match self {
            Self::Stream(_) => Benchmark::MemoryStream,
            Self::Latency(_) => Benchmark::MemoryLatency,
            Self::Copy(_) => Benchmark::MemoryCopy,
            Self::PeakFlops(_) => Benchmark::PeakFlops,
            Self::Linpack(_) => Benchmark::Linpack,
            Self::NetworkTcp(_) => Benchmark::NetworkTcp,
            Self::NetworkUdp(_) => Benchmark::NetworkUdp,
            Self::NetworkIcmp(_) => Benchmark::NetworkIcmp,
            Self::Storage(_) => Benchmark::Storage,
            Self::Files(_) => Benchmark::StorageFiles,
            Self::Imported(work) => work.of,
            Self::Mpi(work) => Benchmark::Mpi(work.test),
            Self::Rdma(work) => Benchmark::Rdma(work.test),
        }
    }

    /// The dimensions that all series of a case share; what distinguishes them is added by whoever
    /// measures. `by` is who that is.
    #[must_use]
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
        }
    }

    /// The CPUs it keeps busy.
    #[must_use]
    pub fn cpus(&self) -> Vec<u32> {
        match self {
            Self::Stream(work) => work.domains.iter().flat_map(|d| d.cpus.clone()).collect(),
            Self::Latency(work) => vec![work.cpu],
            Self::Copy(work) => work.domain.cpus.clone(),
            Self::PeakFlops(work) => work.domain.cpus.clone(),
            Self::Linpack(work) => work.cpus.clone(),
            // Where threads of the network and of storage run is left to the system, which knows
            // the interrupts.
            Self::NetworkTcp(_)
            | Self::NetworkUdp(_)
            | Self::NetworkIcmp(_)
            | Self::Storage(_)
            | Self::Files(_)
            | Self::Rdma(_)
            | Self::Imported(_) => Vec::new(),
            Self::Mpi(work) => {
                // Over hosts it is the same CPU of each.
                let mut cpus = work.placement.cpus.clone();
                cpus.dedup();
                cpus
            }
        }
    }

    /// The same to another host, and what distinguishes it then within its benchmark, for identifiers of cases.
    #[must_use]
    pub fn aimed(mut self, host: &str) -> (Self, String) {
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
            | Self::PeakFlops(_)
            | Self::Linpack(_)
            | Self::Storage(_)
            | Self::Files(_)
            | Self::Imported(_) => host.to_owned(),
            Self::Mpi(work) => {
                work.hosts.list = to;
                format!("{host}/{}", work.mpi.key)
            }
        };
        (self, name)
    }

    /// What a search of storage is to keep, if it is one.
    #[must_use]
    pub const fn latency_goal(&self) -> Option<&LatencyGoal> {
        if let Self::Storage(test) = self
            && let Course::Search(goal) = &test.course
        {
            return Some(goal);
        }
        None
    }

    /// The question to another host, if it is one.
    #[must_use]
    pub const fn network(&self) -> Option<&NetworkWorkload> {
        if let Self::NetworkTcp(work) | Self::NetworkUdp(work) | Self::NetworkIcmp(work) = self
        {
            return Some(work);
        }
        None
    }
}

/// A named set of CPUs: `node`, `numa:0`, `l3:4`, `core:0`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// The name, as in the parameter `placement` of a result.
    pub placement: String,
    /// One pinned thread runs on each of these CPUs.
    pub cpus: Vec<u32>,
}

/// STREAM over one domain, or over several at once, each with its own clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamWorkload {
    /// The domains that run at the same time; results are per domain.
    pub domains: Vec<Domain>,
    /// Size of each of the three arrays of each domain, in bytes.
    pub bytes_per_array: u64,
    /// `bytes_per_array` × domains over the sum of the last-level caches they use; below 4 the
    /// result is cache-assisted.
    pub cache_multiple: f64,
}

/// Copies of one domain from memory near another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyWorkload {
    /// Who copies, to memory near itself.
    pub domain: Domain,
    /// Near whom the data lie.
    pub source: Domain,
    /// Size of each array in bytes.
    pub bytes_per_array: u64,
}

/// Dependent loads over one working set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyWorkload {
    /// The CPU that loads.
    pub cpu: u32,
    /// Size of the working set in bytes.
    pub bytes: u64,
    /// One load per line of this many bytes; runs that do not say had the usual line.
    #[serde(default = "usual_line_bytes")]
    pub line_bytes: u32,
}

/// The cache line of every x86 processor and of nearly every Arm one, for where none is visible.
#[must_use]
pub const fn usual_line_bytes() -> u32 {
    64
}

/// Multiply-adds in registers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeakFlopsWorkload {
    /// Where it runs.
    pub domain: Domain,
    /// `avx512`, `avx2`, `sse2`, `neon`, `portable`.
    pub instruction_set: String,
}

/// A dense system of equations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinpackWorkload {
    /// Number of equations.
    pub n: u64,
    /// One thread runs on each of these CPUs.
    pub cpus: Vec<u32>,
    /// The library that multiplies matrices, as the user named it; `None` = assay's own kernels.
    pub blas: Option<String>,
    /// Seed of the random system.
    pub seed: u64,
}
