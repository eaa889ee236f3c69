//! The outcome of one launch of `assay mpi`, as rank 0 passes it to the process that started the launcher.
//!
//! Rank 0 writes it as JSON (`--raw FILE`) again after every size, so that a job that is killed leaves
//! what it had. Values only: nothing here measures or summarises.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

mod record;

/// The version of this format. Fields may be added; none changes its meaning within a version.
pub const FORMAT: u32 = 1;

/// One benchmark under one MPI library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MpiOutcome {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Version of the assay that measured, the same on all ranks.
    pub assay: String,
    /// Name of the benchmark as typed after `assay mpi`: `latency`, `allreduce` …
    pub benchmark: String,
    /// Whose method it was: `assay`, `osu-5.4.3` or `osu-7`.
    pub preset: String,
    /// The library; `None` when none could be opened.
    pub library: Option<MpiLibrary>,
    /// Who started the ranks: `hydra`, `intel-hydra`, `orterun`, `prterun`, `slurm` … ; `unknown`.
    pub launcher: String,
    /// Every rank, in order.
    pub ranks: Vec<MpiRank>,
    /// Variables of rank 0's environment that choose networks and transports.
    pub environment: BTreeMap<String, String>,
    /// Messages in flight at once in bandwidth tests.
    pub window: u32,
    /// Every size that was measured, in order.
    pub sizes: Vec<MpiSize>,
    /// Whether all sizes are there and all contents were right.
    pub complete: bool,
    /// Why not.
    pub failure: Option<MpiFailure>,
}

/// The library that was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiLibrary {
    /// `MPICH`, `Open MPI`, `Intel MPI`, `MVAPICH`, `Cray MPICH`; the banner's first word otherwise.
    pub name: String,
    /// Its version: `4.0.2`; empty when the banner has none.
    pub version: String,
    /// What the library says of itself, whole.
    pub banner: String,
    /// The file it was loaded from.
    pub path: String,
    /// The binary interface that was spoken.
    pub abi: MpiAbi,
    /// The version of the MPI standard it follows: `4.0`.
    pub standard: String,
}

/// The binary interface of an MPI library: the same functions, other constants and types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MpiAbi {
    /// MPICH's, shared by Intel MPI, MVAPICH and Cray MPICH.
    Mpich,
    /// Open MPI's.
    OpenMpi,
    /// The one of the MPI 5 standard.
    Standard,
}

impl MpiAbi {
    /// The name as it is stored and printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mpich => "mpich",
            Self::OpenMpi => "open-mpi",
            Self::Standard => "standard",
        }
    }
}

/// One process of the job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiRank {
    /// Its number in the world.
    pub rank: u32,
    /// The host it runs on.
    pub host: String,
    /// The CPUs it may run on, ascending, read back after the library was initialised.
    pub cpus: Vec<u32>,
    /// The CPU it was on before the first and after the last size; different when it moved.
    pub seen_on: Vec<u32>,
}

/// What one message size gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MpiSize {
    /// Size of a message, or of one rank's part in a collective; 0 for a barrier.
    pub bytes: u64,
    /// Timed iterations in each batch.
    pub iterations: u64,
    /// Iterations before the first batch that are not timed.
    pub warm_up: u64,
    /// Name of the metric → one value per batch, in order of measurement, in the metric's base unit.
    pub samples: BTreeMap<String, Vec<f64>>,
    /// A second pass in which each message was timed alone: seconds of `latency`, in order; empty
    /// where there was none. The cost of two clock readings is within each.
    pub messages_s: Vec<f64>,
    /// The pass in which all contents were compared.
    pub validation: Option<MpiValidation>,
    /// Whether the interval is as narrow as asked; `None` where the preset fixes the number of batches.
    pub precise: Option<bool>,
}

/// Contents that were compared with what they had to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiValidation {
    /// Messages compared on all ranks.
    pub messages: u64,
    /// Messages of which at least one byte was wrong.
    pub wrong: u64,
}

/// Why a job gave nothing, or not everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiFailure {
    /// What failed and why.
    pub reason: String,
    /// What to do.
    pub advice: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_is_stored() {
        for abi in [MpiAbi::Mpich, MpiAbi::OpenMpi, MpiAbi::Standard] {
            assert_eq!(serde_json::to_value(abi).unwrap(), abi.name());
        }
    }
}
