//! Outcome of one launch of `assay mpi`, as rank 0 passes it to the process that started the
//! launcher.
//!
//! Rank 0 writes it as JSON (`--raw FILE`) again after every size, so that a killed job leaves
//! partial results. Data types only: nothing here measures or summarises.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

mod record;

pub use self::record::job_facts;

/// Version of this format. Fields may be added; none changes its meaning within a version.
pub const FORMAT: u32 = 1;

/// Outcome of one benchmark under one MPI library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MpiOutcome {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Version of assay, the same on all ranks.
    pub assay: String,
    /// Name of the benchmark as typed after `assay mpi`: `latency`, `allreduce` …
    pub benchmark: String,
    /// Preset: `assay`, `osu-5.4.3` or `osu-7`.
    pub preset: String,
    /// The library; `None` when none could be opened.
    pub library: Option<MpiLibrary>,
    /// Launcher of the ranks: `hydra`, `intel-hydra`, `orterun`, `prterun`, `slurm` … ; `unknown`.
    pub launcher: String,
    /// Every rank, in order.
    pub ranks: Vec<MpiRank>,
    /// Variables of rank 0's environment that choose networks and transports.
    pub environment: BTreeMap<String, String>,
    /// Messages in flight in bandwidth tests.
    pub window: u32,
    /// Settings that differ from the preset's and OSU's defaults, as OSU prints them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// Topology of a neighbourhood collective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<MpiTopology>,
    /// Results of all measured sizes, in order.
    pub sizes: Vec<MpiSizeResult>,
    /// Whether all sizes were measured and all contents were correct.
    pub complete: bool,
    /// Reason why not.
    pub failure: Option<MpiFailure>,
}

/// Topology of the ranks, created once for all sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MpiTopology {
    /// Length of each dimension of a grid; empty for a graph.
    pub lengths: Vec<u32>,
    /// Seconds of its creation, mean over the ranks.
    pub creation_s: f64,
}

/// The library that was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiLibrary {
    /// `MPICH`, `Open MPI`, `Intel MPI`, `MVAPICH`, `Cray MPICH`; the banner's first word otherwise.
    pub name: String,
    /// Its version: `4.0.2`; empty when the banner has none.
    pub version: String,
    /// Complete version text of the library.
    pub banner: String,
    /// The file it was loaded from.
    pub path: String,
    /// ABI in use.
    pub abi: MpiAbi,
    /// Version of the MPI standard that it implements: `4.0`.
    pub standard: String,
}

/// ABI of an MPI library: libraries have the same functions, but different constants and types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MpiAbi {
    /// MPICH's, shared by Intel MPI, MVAPICH and Cray MPICH.
    Mpich,
    /// Open MPI's.
    OpenMpi,
    /// ABI of the MPI 5 standard.
    Standard,
}

impl MpiAbi {
    /// Returns the name as it is stored and printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mpich => "mpich",
            Self::OpenMpi => "open-mpi",
            Self::Standard => "standard",
        }
    }
}

/// Process of the job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiRank {
    /// Its number in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// The host it runs on.
    pub host: String,
    /// The CPUs it may run on, ascending, read back after the library was initialised.
    pub cpus: Vec<u32>,
    /// Its CPU before the first and after the last size; two values if it moved.
    pub seen_on: Vec<u32>,
}

/// Results for one message size.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MpiSizeResult {
    /// Size of a message, or of one rank's part in a collective; 0 for a barrier.
    pub bytes: u64,
    /// Timed iterations in each batch.
    pub iterations: u64,
    /// Iterations before the first batch that are not timed.
    pub warm_up: u64,
    /// Name of the metric → one value per batch, in order of measurement, in the metric's base unit.
    pub samples: BTreeMap<String, Vec<f64>>,
    /// Latencies in seconds of a second pass that times each message separately, in order; empty
    /// without such a pass. Each includes the cost of two clock readings.
    pub messages_s: Vec<f64>,
    /// Result of the pass that compared all contents.
    pub validation: Option<MpiValidation>,
    /// Whether the interval is as narrow as requested; `None` if the preset fixes the number of
    /// batches.
    pub precise: Option<bool>,
}

/// Number of messages with compared contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiValidation {
    /// Messages compared on all ranks.
    pub messages: u64,
    /// Messages with at least one wrong byte.
    pub wrong: u64,
}

/// Reason why a job has no or incomplete results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiFailure {
    /// Cause of the failure.
    pub reason: String,
    /// Advice for the user.
    pub advice: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_serde_names() {
        for abi in [MpiAbi::Mpich, MpiAbi::OpenMpi, MpiAbi::Standard] {
            assert_eq!(serde_json::to_value(abi).unwrap(), abi.name());
        }
    }
}
