//! MPI workload: one test under one MPI installation, with placed ranks.

use serde::{Deserialize, Serialize};

use super::Domain;
use crate::benchmark::MpiTest;
use crate::mpi_installation::MpiInstallation;

/// MPI test over its message sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiWorkload {
    /// The test.
    #[serde(rename = "benchmark")]
    pub test: MpiTest,
    /// Library and launcher.
    pub mpi: MpiInstallation,
    /// Number of processes.
    pub ranks: u32,
    /// Placement: rank i on the i-th CPU; without CPUs the launcher places the ranks on its hosts.
    pub placement: Domain,
    /// Hosts for the launcher.
    pub hosts: MpiHosts,
    /// Smallest message in bytes; 0 = without contents.
    pub from_bytes: u64,
    /// Largest message in bytes; sizes are the powers of two from the smallest.
    pub to_bytes: u64,
    /// Preset, the method of the benchmark.
    #[serde(default, skip_serializing_if = "MpiPreset::is_assay")]
    pub preset: MpiPreset,
}

/// Preset: the method that determines the number of messages and the clock readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum MpiPreset {
    /// assay's method, with batches.
    #[default]
    #[serde(rename = "assay")]
    Assay,
    /// OSU's method up to 5.6.
    #[serde(rename = "osu-5.4.3")]
    Osu5,
    /// OSU's method from 5.7 on.
    #[serde(rename = "osu-7")]
    Osu7,
}

impl MpiPreset {
    /// Returns the name as it is typed and stored.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assay => "assay",
            Self::Osu5 => "osu-5.4.3",
            Self::Osu7 => "osu-7",
        }
    }

    /// Whether it is the default.
    pub const fn is_assay(&self) -> bool {
        matches!(self, Self::Assay)
    }
}

/// Hosts as the user gave them, passed to the launcher unparsed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MpiHosts {
    /// `--host`: names separated by commas, in the launcher's syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// File of hosts in the launcher's format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl MpiHosts {
    /// Whether only this machine takes part.
    pub const fn is_local(&self) -> bool {
        self.list.is_none() && self.file.is_none()
    }
}

impl MpiWorkload {
    /// Returns the name within the benchmark, for case identifiers.
    pub fn name(&self) -> String {
        format!("{}/{}", self.placement.placement, self.mpi.key)
    }
}
