//! Which questions go to pairs of hosts, and in which pairs a host begins.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Case;
use crate::suite::Request;
use crate::workload::{RdmaDevice, Workload};

/// The pairs in which a host begins, in a run of several hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairChoices {
    /// Rounds of the whole run, which share its time.
    pub rounds: u32,
    /// Those of this host, in order.
    pub turns: Vec<PairTurn>,
    /// Whether it is only the other end of pairs, and measures nothing by itself.
    pub is_far_end: bool,
    /// Whether ranks of MPI run on both ends, instead of on each host by itself.
    #[serde(default)]
    pub of_mpi: bool,
}

impl PairChoices {
    /// Whether it is asked between two hosts.
    #[must_use]
    pub const fn take(&self, request: &Request) -> bool {
        goes_out(request) || (self.of_mpi && matches!(request, Request::Mpi(_)))
    }
}

/// One pair of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairTurn {
    /// The host at the other end, as this run calls it.
    pub peer: String,
    /// Where data goes, if that is known beforehand.
    pub address: Option<String>,
    /// What identifiers of cases call the round: `a:b`.
    pub name: String,
    /// Its number.
    pub round: u32,
    /// Pairs of the round.
    pub together: u32,
    /// The RDMA device of this host, where the fleet file names one.
    #[serde(default)]
    pub own: RdmaDevice,
    /// That of the peer, likewise.
    #[serde(default)]
    pub far: RdmaDevice,
}

/// Whether it is asked between two hosts wherever there are two.
#[must_use]
pub const fn goes_out(request: &Request) -> bool {
    matches!(request, Request::Network(_) | Request::Rdma(_))
}

/// Numbers what pairs are asked, and puts it in that order. Whoever measures the same answers the same question, so that
/// they are neighbours; every host counts the same ones, because all expand one suite.
pub(super) fn in_order(cases: &mut [Case]) {
    // By round, what was asked last.
    let mut asked: BTreeMap<u32, (u32, Workload)> = BTreeMap::new();
    for case in cases.iter_mut() {
        let Some(pair) = &mut case.pair else { continue };
        pair.question = match asked.get(&pair.round) {
            Some((number, workload)) if *workload == case.workload => *number,
            Some((number, _)) => number + 1,
            None => 0,
        };
        asked.insert(pair.round, (pair.question, case.workload.clone()));
    }
    cases.sort_by_key(Case::turn);
}
