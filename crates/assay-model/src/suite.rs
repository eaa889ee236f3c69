//! A suite as the user wrote it, before anything is known about the host.

use std::ops::Range;
use std::sync::Arc;

use crate::benchmark::Benchmark;
use crate::quantity::Bytes;

mod files;
mod mpi;
mod network;
pub mod placement;
mod rdma;
mod read;
mod storage;

pub use files::{FileStep, FilesRequest, Needs};
pub use mpi::{MpiPlacement, MpiRequest};
pub use network::{NetworkRequest, Protocol};
pub use placement::{Placement, PlacementError};
pub use rdma::RdmaRequest;
pub use read::{SuiteError, busy_poll_us, did_you_mean, read};
pub use storage::{Order, StorageRequest, TargetRequest};

/// A suite file, or the same made from command-line options.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// One line for lists.
    pub title: String,
    /// Time for the whole run, in seconds.
    pub budget_s: f64,
    /// What to measure, in order.
    pub measures: Vec<Measure>,
}

/// One `[[measure]]` of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Who measures; empty = what the command line says.
    pub by: Vec<String>,
    /// Share of the budget, relative to the other measures.
    pub share: f64,
    /// Relative half-width of the interval to reach.
    pub target: f64,
    /// Whether the suite can do without it where something is missing.
    pub optional: bool,
    /// What is asked.
    pub request: Request,
    /// Where it was written, if it was.
    pub origin: Option<Origin>,
}

/// The text that a measure was written in, for whoever has to be shown the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// What the text is called.
    pub file: String,
    /// All of it.
    pub text: Arc<str>,
    /// The bytes of its heading.
    pub heading: Range<usize>,
    /// Its keys as they are called now, each with the bytes that give it and its value.
    pub keys: Vec<(&'static str, Range<usize>)>,
}

impl Origin {
    /// Where the first of these keys that is given stands; without any, the heading.
    #[must_use]
    pub fn span_of(&self, keys: &[&str]) -> Range<usize> {
        let given = |key: &&str| self.keys.iter().find(|(name, _)| name == key);
        let found = keys.iter().find_map(given).map(|(_, span)| span);
        found.unwrap_or(&self.heading).clone()
    }
}

impl Suite {
    /// Several suites in one run, each with the time it has alone.
    #[must_use]
    pub fn joined(suites: &[Self]) -> Self {
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
                match measures.iter_mut().find(|known| known.asks_as(measure)) {
                    // Asked twice, it is measured once.
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
    /// Whether another one asks the same, with whatever time and wherever it was written.
    fn asks_as(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.by.clone(), it.target.to_bits(), it.optional);
        key(self) == key(other) && self.request == other.request
    }
}

/// What is asked, per benchmark.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// A benchmark that asks nothing but the machine.
    Machine(Benchmark),
    /// `memory.stream`
    Stream {
        /// Where.
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
    /// `compute.peak_flops`
    PeakFlops {
        /// Where.
        placements: Vec<Placement>,
        /// Threads per domain; `None` = one per core.
        threads: Option<u32>,
        /// Which instruction sets.
        instruction_sets: InstructionSets,
    },
    /// `compute.linpack`
    Linpack {
        /// How many equations.
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
    /// `mpi.latency`, `mpi.bw` …
    Mpi(MpiRequest),
    /// `rdma.send_lat`, `rdma.write_bw` …
    Rdma(RdmaRequest),
}

impl Request {
    /// What it asks for.
    #[must_use]
    pub fn benchmark(&self) -> Benchmark {
        match self {
            Self::Machine(benchmark) => *benchmark,
            Self::Stream { .. } => Benchmark::MemoryStream,
            Self::Latency { .. } => Benchmark::MemoryLatency,
            Self::PeakFlops { .. } => Benchmark::PeakFlops,
            Self::Linpack { .. } => Benchmark::Linpack,
            Self::Network(asked) => match asked.protocol {
                Protocol::Tcp => Benchmark::NetworkTcp,
                Protocol::Udp => Benchmark::NetworkUdp,
                Protocol::Icmp => Benchmark::NetworkIcmp,
            },
            Self::Storage(_) => Benchmark::Storage,
            Self::Files(_) => Benchmark::StorageFiles,
            Self::Mpi(asked) => Benchmark::Mpi(asked.test),
            Self::Rdma(asked) => Benchmark::Rdma(asked.test),
        }
    }
}

/// Which instruction sets to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSets {
    /// The widest one the processor has.
    Widest,
    /// Every one the processor has.
    Every,
}

/// The largest share of memory that a matrix may take: the machine needs some for itself.
pub const MOST_MEMORY: f64 = 0.95;

/// How the number of equations is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinpackSize {
    /// Given.
    Equations(u64),
    /// So that the matrix takes this share of the memory that may be used.
    Memory(f64),
    /// So that the time for the case has room for the solves that an interval needs.
    Budget,
}

#[cfg(test)]
mod tests;
