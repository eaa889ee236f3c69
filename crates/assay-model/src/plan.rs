//! Plan of a run: every case, fully resolved.

use serde::{Deserialize, Serialize};

use crate::workload::{RdmaDevice, Workload};

pub mod expand;
mod priority;
mod time_estimate;

pub use priority::TimePriority;
pub use time_estimate::solve_over_budget;

/// Suite expanded for one host. Its printed form (`--dry-run`) shows every case without any
/// unresolved default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the suite.
    pub suite: String,
    /// Time budget of the whole run, in seconds.
    pub budget_s: f64,
    /// Seed from which all random numbers derive, by [`crate::seed`]; `None` = each case has its
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Cases in order of execution.
    pub cases: Vec<Case>,
    /// Optional measures of the suite that this machine or command line does not allow, and all
    /// measures that need memory if its size is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<OmittedMeasure>,
}

impl Plan {
    /// Returns a plan without a seed and without omitted measures.
    pub fn new(suite: impl Into<String>, budget_s: f64, cases: Vec<Case>) -> Self {
        Self { suite: suite.into(), budget_s, seed: None, cases, omitted: Vec::new() }
    }
}

/// A measure without a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedMeasure {
    /// Identifier of the benchmark. If only some tools cannot measure it, with the tool:
    /// `memory.stream/hpcc`.
    pub benchmark: String,
    /// The missing requirement.
    pub reason: MissingRequirement,
    /// Hosts of the run that lack it; empty = all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

/// Requirement of a measure that is not met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingRequirement {
    /// A second host.
    Host,
    /// A file, folder or device to measure.
    Target,
    /// An installation of MPI.
    Mpi,
    /// Domains of the requested kind, such as last-level caches.
    Domain,
    /// Enough cores for the requested threads or ranks.
    Cores,
    /// Enough memory.
    Memory,
    /// Memory whose size the host reports.
    KnownMemory,
    /// A tool that measures it.
    Tool,
    /// A library that it uses.
    Library,
    RdmaDevice,
    /// Time: the budget of the run ended before the case.
    Time,
}

/// Unit of execution: one workload, measured by one measurer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Unique within the plan and readable: `memory.stream/node`, `compute.linpack/n=8000/hpcc`.
    pub id: String,
    /// Measurer: `assay`, or the name of an official tool.
    pub by: String,
    /// The workload.
    pub workload: Workload,
    /// Rule for the number of repetitions.
    pub stopping: StoppingRule,
    /// The other end, if the host is one of a pair; `None` = as in the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<CasePair>,
}

impl Case {
    /// Returns a case that assay measures on one host.
    pub fn new(id: impl Into<String>, workload: Workload, stopping: StoppingRule) -> Self {
        Self { id: id.into(), by: "assay".to_owned(), workload, stopping, pair: None }
    }

    /// Returns the position among the cases between two hosts. Each workload is measured by all
    /// pairs, round by round, before the next one starts. A host's own cases come first.
    pub fn pair_order(&self) -> Option<(u32, u32)> {
        self.pair.as_ref().map(|pair| (pair.workload_number, pair.round))
    }
}

/// Other end and position of a case that is measured between two hosts of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CasePair {
    /// Name of the host at the other end.
    pub peer: String,
    /// Name or address of the peer for data, if known in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Number of the workload among those of pairs. All pairs measure a workload before the next
    /// one; cases with the same workload, by different measurers, have the same number.
    #[serde(rename = "question")]
    pub workload_number: u32,
    /// Number of the round: rounds are sequential, and the pairs of a round measure at the same
    /// time.
    pub round: u32,
    /// Number of pairs in that round.
    pub together: u32,
    /// RDMA device of this end, if the fleet file names one.
    #[serde(default, skip_serializing_if = "RdmaDevice::is_open")]
    pub own: RdmaDevice,
    /// RDMA device of the peer, if the fleet file names one.
    #[serde(default, skip_serializing_if = "RdmaDevice::is_open")]
    pub far: RdmaDevice,
}

impl CasePair {
    /// Returns the only pair of the first round.
    pub fn new(peer: impl Into<String>) -> Self {
        Self {
            peer: peer.into(),
            address: None,
            workload_number: 0,
            round: 0,
            together: 1,
            own: RdmaDevice::default(),
            far: RdmaDevice::default(),
        }
    }
}

/// Rule for stopping the repetitions of a case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StoppingRule {
    /// Half-width of the median's interval over the median at which a metric is precise enough.
    pub target: f64,
    /// Minimum number of repetitions, unless the budget ends first.
    pub repetitions: u32,
    /// Number of preparations. All repetitions after one preparation share its page placement, so
    /// several preparations are needed to show that variance.
    pub preparations: u32,
    /// Time budget of the case, in seconds.
    pub budget_s: f64,
}
