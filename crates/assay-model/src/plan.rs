//! The plan of a run: every case, fully resolved.

use serde::{Deserialize, Serialize};

use crate::workload::{RdmaDevice, Workload};

pub mod expand;
mod outlook;

/// A suite expanded for one host. Printing it (`--dry-run`) shows every case, with no default left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the suite.
    pub suite: String,
    /// Time for the whole run, in seconds.
    pub budget_s: f64,
    /// What everything random follows from, by [`crate::seed`]; `None` = each case says its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// In order of execution.
    pub cases: Vec<Case>,
    /// Measures that the suite can do without, and that this machine or command line does not allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<Omitted>,
}

/// A measure without a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    /// Identifier of the benchmark; where others measure it, with the tool that does not: `memory.stream/hpcc`.
    pub benchmark: String,
    /// What is missing.
    pub reason: Missing,
    /// The hosts of a run that lack it; empty = all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

/// What a measure needs and is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// A second host.
    Host,
    /// A file, folder or device to measure.
    Target,
    /// An installation of MPI.
    Mpi,
    /// Domains of the kind that is requested, like last-level caches.
    Domain,
    /// As many cores as threads or ranks are requested.
    Cores,
    /// Memory for what is requested.
    Memory,
    /// A tool that measures it.
    Tool,
    /// A library that it is to use.
    Library,
    /// An RDMA device.
    RdmaDevice,
}

/// One unit of execution: one workload, measured by one measurer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Unique within the plan and readable: `memory.stream/node`, `compute.linpack/n=8000/hpcc`.
    pub id: String,
    /// Who measures: `assay`, or the name of an official tool.
    pub by: String,
    /// What is asked.
    pub workload: Workload,
    /// When to stop repeating.
    pub stopping: Stopping,
    /// The other end, where the host is one of a pair; `None` = as the workload says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
}

impl Case {
    /// When it has its turn among all that are measured between two hosts: every question goes to all pairs, round by round,
    /// before the next one does. A host's own cases come first.
    #[must_use]
    pub fn turn(&self) -> Option<(u32, u32)> {
        self.pair.as_ref().map(|pair| (pair.question, pair.round))
    }
}

/// The other end of a case that is measured between two hosts of a run, and when it has its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The host at the other end, as this run calls it.
    pub peer: String,
    /// Where data goes, if that is known beforehand: a name or an address of the peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The number of the question among those that pairs are asked. Each goes to every pair before the next; all who measure
    /// the same answer the same one.
    pub question: u32,
    /// The number of the round: rounds follow each other, the pairs of a round measure together.
    pub round: u32,
    /// Pairs of that round.
    pub together: u32,
    /// The RDMA device of this end, where the fleet file names one.
    #[serde(default, skip_serializing_if = "RdmaDevice::is_open")]
    pub own: RdmaDevice,
    /// That of the peer, likewise.
    #[serde(default, skip_serializing_if = "RdmaDevice::is_open")]
    pub far: RdmaDevice,
}

/// When a case has been repeated often enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// Half-width of the median's interval over the median at which a metric is precise enough.
    pub target: f64,
    /// Never fewer repetitions than this, unless the budget ends first.
    pub repetitions: u32,
    /// Times everything is allocated and placed again: the luck of page placement is the same for
    /// all repetitions after one preparation, so they alone cannot show it.
    pub preparations: u32,
    /// Time for the case, in seconds.
    pub budget_s: f64,
}
