//! Suite as the user wrote it, independent of any host.

use std::ops::Range;
use std::sync::Arc;

use crate::benchmark::Benchmark;
use crate::quantity::Bytes;

mod command;
pub mod factorial;
mod files;
mod io500;
mod mpi;
mod network;
mod parse;
pub mod placement;
mod rdma;
mod storage;

pub use command::CommandRequest;
pub use files::{FileStep, FilesRequest, RequiredTreeState};
pub use io500::Io500Request;
pub use mpi::{MpiPlacement, MpiRequest};
pub use network::{NetworkProtocol, NetworkRequest};
pub use parse::{
    SuiteError, UNLIMITED, parse_busy_poll_us, parse_factorial_suite, parse_suite, suggest,
};
pub use placement::{Placement, PlacementError};
pub use rdma::RdmaRequest;
pub use storage::{AccessOrder, StorageRequest, TargetRequest};

/// A suite file, or its equivalent from command-line options.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Title for lists, on one line.
    pub title: String,
    /// Time budget of the whole run, in seconds.
    pub budget_s: f64,
    /// Measures, in order.
    pub measures: Vec<Measure>,
}

/// A `[[measure]]` of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Measurers; empty = as on the command line.
    pub by: Vec<String>,
    /// Share of the budget, relative to the other measures.
    pub share: f64,
    /// Relative half-width of the interval to reach.
    pub target: f64,
    /// Whether it is omitted, instead of an error, if a requirement is missing.
    pub optional: bool,
    /// The benchmark with its settings.
    pub request: MeasureRequest,
    /// Its source text, if from a file.
    pub origin: Option<SuiteSource>,
}

impl Measure {
    /// Returns a required measure by any measurer, whose interval is to reach `target`.
    pub const fn new(request: MeasureRequest, target: f64) -> Self {
        Self { by: Vec::new(), share: 1.0, target, optional: false, request, origin: None }
    }
}

/// Source text of a measure, for error messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteSource {
    /// Name of the file.
    pub file: String,
    /// The whole text.
    pub text: Arc<str>,
    /// Byte range of its heading.
    pub heading: Range<usize>,
    /// Its keys by their current names, each with the byte range of key and value.
    pub keys: Vec<(&'static str, Range<usize>)>,
}

impl SuiteSource {
    /// Returns the byte range of the first of `keys` that is present; without any, that of the
    /// heading.
    pub fn key_span(&self, keys: &[&str]) -> Range<usize> {
        let given = |key: &&str| self.keys.iter().find(|(name, _)| name == key);
        let found = keys.iter().find_map(given).map(|(_, span)| span);
        found.unwrap_or(&self.heading).clone()
    }
}

impl Suite {
    /// Merges several suites into one run; each keeps its time.
    pub fn merge(suites: &[Self]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let mut measures: Vec<Measure> = Vec::new();
        let mut budget_s: f64 = suites.iter().map(|suite| suite.budget_s).sum();
        for suite in suites {
            if !names.contains(&suite.name.as_str()) {
                names.push(&suite.name);
            }
            let shares: f64 = suite.measures.iter().map(|measure| measure.share).sum();
            for measure in &suite.measures {
                let seconds = measure.share * suite.budget_s / shares;
                match measures.iter_mut().find(|known| known.requests_same(measure)) {
                    // A duplicate measure is measured once.
                    Some(known) => {
                        budget_s -= known.share.min(seconds);
                        known.share = known.share.max(seconds);
                    }
                    None => measures.push(Measure { share: seconds, ..measure.clone() }),
                }
            }
        }
        Self { name: names.join("+"), title: String::new(), budget_s, measures }
    }
}

impl Measure {
    /// Whether another measure requests the same, regardless of time and source.
    fn requests_same(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.by.clone(), it.target.to_bits(), it.optional);
        key(self) == key(other) && self.request == other.request
    }
}

/// Requested benchmark with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum MeasureRequest {
    /// A benchmark without settings.
    Machine(Benchmark),
    /// `memory.stream`
    Stream {
        /// Placements.
        placements: Vec<Placement>,
        /// Threads per domain; `None` = one per core.
        threads: Option<u32>,
        /// Size of each array; `None` = by the rule of four times the last-level caches.
        bytes: Option<Bytes>,
    },
    /// `memory.latency`
    Latency {
        /// Smallest working set.
        from: Bytes,
        /// Largest working set; `None` = beyond the last-level cache.
        to: Option<Bytes>,
    },
    /// `memory.cache_bandwidth`
    CacheBandwidth {
        /// Smallest working set of a core.
        from: Bytes,
        /// Largest working set; `None` = beyond the last-level caches.
        to: Option<Bytes>,
    },
    /// `memory.loaded_latency`
    LoadedLatency {
        /// Working set of the chain; `None` = the largest of `memory.latency`.
        to: Option<Bytes>,
        /// Size of the buffer of each generator; `None` = four times all caches together.
        bytes: Option<Bytes>,
    },
    /// `compute.peak_flops`
    PeakFlops {
        /// Placements.
        placements: Vec<Placement>,
        /// Threads per domain; `None` = one per core.
        threads: Option<u32>,
        /// Selection of instruction sets.
        instruction_sets: InstructionSets,
    },
    /// `compute.linpack`
    Linpack {
        /// Number of equations.
        size: LinpackSize,
        /// Number of threads; `None` = one per core.
        threads: Option<u32>,
        /// BLAS library; `None` = assay's own kernels.
        blas: Option<String>,
    },
    /// `network.tcp`, `network.udp`, `network.icmp`
    Network(NetworkRequest),
    /// `storage`
    Storage(Box<StorageRequest>),
    /// `storage.files`
    Files(FilesRequest),
    /// `io500`
    Io500(Io500Request),
    /// `mpi.latency`, `mpi.bw` …
    Mpi(MpiRequest),
    /// `rdma.send_lat`, `rdma.write_bw` …
    Rdma(RdmaRequest),
    /// `command`
    Command(Box<CommandRequest>),
}

impl MeasureRequest {
    pub fn benchmark(&self) -> Benchmark {
        match self {
            Self::Machine(benchmark) => *benchmark,
            Self::Stream { .. } => Benchmark::MemoryStream,
            Self::Latency { .. } => Benchmark::MemoryLatency,
            Self::CacheBandwidth { .. } => Benchmark::CacheBandwidth,
            Self::LoadedLatency { .. } => Benchmark::LoadedLatency,
            Self::PeakFlops { .. } => Benchmark::PeakFlops,
            Self::Linpack { .. } => Benchmark::Linpack,
            Self::Network(asked) => match asked.protocol {
                NetworkProtocol::Tcp => Benchmark::NetworkTcp,
                NetworkProtocol::Udp => Benchmark::NetworkUdp,
                NetworkProtocol::Icmp => Benchmark::NetworkIcmp,
            },
            Self::Storage(_) => Benchmark::Storage,
            Self::Files(_) => Benchmark::StorageFiles,
            Self::Io500(_) => Benchmark::Io500,
            Self::Mpi(asked) => Benchmark::Mpi(asked.test),
            Self::Rdma(asked) => Benchmark::Rdma(asked.test),
            Self::Command(_) => Benchmark::Command,
        }
    }
}

/// Selection of instruction sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSets {
    /// The widest one that the processor supports.
    Widest,
    /// All that the processor supports.
    Every,
}

/// Maximum share of memory for a matrix: the system needs the rest.
pub const MAX_MATRIX_MEMORY_SHARE: f64 = 0.95;

/// Choice of the number of equations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinpackSize {
    /// The given number.
    Equations(u64),
    /// Matrix size as a share of the usable memory.
    Memory(f64),
    /// The largest number whose solves fit the time budget, with enough of them for an interval.
    Budget,
}

#[cfg(test)]
mod tests;
