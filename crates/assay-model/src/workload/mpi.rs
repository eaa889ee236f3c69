//! One MPI benchmark under one MPI installation, with its ranks placed.

use serde::{Deserialize, Serialize};

use super::Domain;
use crate::benchmark::MpiTest;
use crate::mpi_installation::MpiInstallation;

/// One benchmark over its message sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiWorkload {
    /// What is measured.
    #[serde(rename = "benchmark")]
    pub test: MpiTest,
    /// Whose library and launcher.
    pub mpi: MpiInstallation,
    /// Number of processes.
    pub ranks: u32,
    /// Where: rank i on the i-th CPU; without CPUs the launcher places the ranks on its hosts.
    pub placement: Domain,
    /// What the launcher gets to know about hosts.
    pub hosts: MpiHosts,
    /// Smallest message in bytes; 0 is a message without contents.
    pub from_bytes: u64,
    /// Largest message in bytes; all powers of two between the two are measured.
    pub to_bytes: u64,
    /// Whose method.
    #[serde(default, skip_serializing_if = "MpiPreset::is_assay")]
    pub preset: MpiPreset,
}

/// Whose method decides how often a message is sent and where the clock is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum MpiPreset {
    /// Assay's batches.
    #[default]
    #[serde(rename = "assay")]
    Assay,
    /// OSU's up to 5.6.
    #[serde(rename = "osu-5.4.3")]
    Osu5,
    /// OSU's from 5.7 on.
    #[serde(rename = "osu-7")]
    Osu7,
}

impl MpiPreset {
    /// The name as it is typed and stored.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assay => "assay",
            Self::Osu5 => "osu-5.4.3",
            Self::Osu7 => "osu-7",
        }
    }

    /// Whether it is what is meant where nothing is said.
    #[must_use]
    pub const fn is_assay(&self) -> bool {
        matches!(self, Self::Assay)
    }
}

/// Hosts as the user gave them, handed to the launcher unread.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MpiHosts {
    /// `--host`: names with commas between, in the launcher's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// A file of hosts in the launcher's own format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl MpiHosts {
    /// Whether only this machine takes part.
    #[must_use]
    pub const fn is_here(&self) -> bool {
        self.list.is_none() && self.file.is_none()
    }
}

impl MpiWorkload {
    /// What distinguishes it within its benchmark, for identifiers of cases.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.placement.placement, self.mpi.key)
    }
}
