//! MPI installation: library and launcher. Paths are texts in the format of [`crate::path_text`].

use serde::{Deserialize, Serialize};

use crate::mpi_outcome::MpiAbi;

/// MPI library with its launcher.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MpiInstallation {
    /// Identifier among the installations of one machine, for case identifiers: `mpich-4.0.2`.
    pub key: String,
    /// `MPICH`, `Open MPI`, `Intel MPI`, `MVAPICH` …
    pub name: String,
    /// Version that its launcher reports; empty if it reports none.
    pub version: String,
    /// The folder it is installed in: `/usr`, `/opt/mpich`.
    pub prefix: String,
    /// Path of the library that is loaded.
    pub library: String,
    /// ABI of the library, derived from its file name.
    pub abi: MpiAbi,
    /// Path of the launcher.
    pub launcher: String,
    /// Kind of launcher, which determines its options.
    pub starter: MpiLauncherKind,
}

/// Launchers, distinguished by their options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MpiLauncherKind {
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
    /// Returns name and version.
    pub fn label(&self) -> String {
        if self.version.is_empty() {
            self.name.clone()
        } else {
            format!("{} {}", self.name, self.version)
        }
    }

    /// Whether it is used through the MPI 5 standard ABI.
    pub fn uses_standard_abi(&self) -> bool {
        self.abi == MpiAbi::Standard
    }
}
