//! One MPI installation: its library and its launcher. Paths are texts as [`crate::path_text`] has them.

use serde::{Deserialize, Serialize};

use crate::mpi_outcome::MpiAbi;

/// A library and the launcher that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MpiInstallation {
    /// Distinguishes the installations of one machine, for identifiers of cases: `mpich-4.0.2`.
    pub key: String,
    /// `MPICH`, `Open MPI`, `Intel MPI`, `MVAPICH` …
    pub name: String,
    /// The version its launcher tells; empty when it tells none.
    pub version: String,
    /// The folder it is installed in: `/usr`, `/opt/mpich`.
    pub prefix: String,
    /// File of the library that is opened.
    pub library: String,
    /// The binary interface of the library, by its file name.
    pub abi: MpiAbi,
    /// The program that starts the ranks.
    pub launcher: String,
    /// Whose words the launcher understands.
    pub starter: MpiStarter,
}

/// The launchers, as far as their options differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MpiStarter {
    /// MPICH's and MVAPICH's Hydra.
    Hydra,
    /// Intel MPI's Hydra.
    IntelHydra,
    /// Open MPI's `orterun`, up to version 4.
    Orte,
    /// Open MPI's `prterun`, from version 5.
    Prrte,
    /// Slurm's `srun`.
    Srun,
}

impl MpiInstallation {
    /// Name and version.
    #[must_use]
    pub fn label(&self) -> String {
        if self.version.is_empty() {
            self.name.clone()
        } else {
            format!("{} {}", self.name, self.version)
        }
    }

    /// Whether it is reached by the interface of the MPI 5 standard.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        self.abi == MpiAbi::Standard
    }
}
