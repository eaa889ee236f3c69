//! Assignment of network, RDMA and MPI measures to pairs of hosts, and the order of their cases.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Case;
use crate::suite::MeasureRequest;
use crate::workload::{RdmaDevice, Workload};

/// Pairs that a host starts, in a run of several hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairChoices {
    /// Number of rounds of the whole run, which share its time.
    pub rounds: u32,
    /// Pairs of this host, in order.
    pub turns: Vec<PairTurn>,
    /// Whether the host is only the other end of pairs and measures nothing itself.
    pub is_far_end: bool,
    /// Whether MPI ranks run on both ends, instead of on each host separately.
    #[serde(default)]
    pub of_mpi: bool,
}

impl PairChoices {
    /// Whether a request is measured between two hosts.
    pub const fn applies_to(&self, request: &MeasureRequest) -> bool {
        is_between_hosts(request) || (self.of_mpi && matches!(request, MeasureRequest::Mpi(_)))
    }
}

/// Pair that a host starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairTurn {
    /// Name of the host at the other end.
    pub peer: String,
    /// Address for data, if known in advance.
    pub address: Option<String>,
    /// Name of the pair in case identifiers: `a:b`.
    pub name: String,
    /// Number of its round.
    pub round: u32,
    /// Number of pairs in the round.
    pub together: u32,
    /// RDMA device of this host, if the fleet file names one.
    #[serde(default)]
    pub own: RdmaDevice,
    /// RDMA device of the peer, if the fleet file names one.
    #[serde(default)]
    pub far: RdmaDevice,
}

/// Whether a request is always measured between two hosts if there are two.
pub const fn is_between_hosts(request: &MeasureRequest) -> bool {
    match request {
        MeasureRequest::Network(_) | MeasureRequest::Rdma(_) => true,
        MeasureRequest::Machine(_)
        | MeasureRequest::Stream { .. }
        | MeasureRequest::Latency { .. }
        | MeasureRequest::CacheBandwidth { .. }
        | MeasureRequest::LoadedLatency { .. }
        | MeasureRequest::PeakFlops { .. }
        | MeasureRequest::Linpack { .. }
        | MeasureRequest::Storage(_)
        | MeasureRequest::Files(_)
        | MeasureRequest::Io500(_)
        | MeasureRequest::Mpi(_)
        | MeasureRequest::Command(_) => false,
    }
}

/// Numbers the workloads of pairs and sorts the cases. Equal workloads get the same number, so that
/// they are adjacent. All hosts use the same numbers, because all expand the same suite.
pub(super) fn order_cases(cases: &mut [Case]) {
    // Number and workload of the last case, by round.
    let mut last_workloads: BTreeMap<u32, (u32, Workload)> = BTreeMap::new();
    for case in cases.iter_mut() {
        let Some(pair) = &mut case.pair else { continue };
        pair.workload_number = match last_workloads.get(&pair.round) {
            Some((number, workload)) if *workload == case.workload => *number,
            Some((number, _)) => number + 1,
            None => 0,
        };
        last_workloads.insert(pair.round, (pair.workload_number, case.workload.clone()));
    }
    cases.sort_by_key(Case::pair_order);
}
