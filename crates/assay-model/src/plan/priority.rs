//! Priorities of the cases of a plan when its time is short. Reads no clock and ends no case.

use std::collections::BTreeSet;

use super::{Case, Plan};
use crate::workload::Workload;

/// How a case gives way when the budget of a run ends before the run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimePriority {
    /// Its length does not follow from the budget alone: the job of a tool, a user's program, a
    /// test of storage or between two hosts.
    Fixed,
    /// It is shortened to its first result: it represents the machine, or is the first of its
    /// benchmark.
    Headline,
    /// It is shortened, and left out if there is no time for a first result.
    Optional,
}

impl Plan {
    /// Returns the priority of each case, in the order of the cases.
    #[must_use]
    pub fn time_priorities(&self) -> Vec<TimePriority> {
        let largest = largest_chain_bytes(self.cases.iter().map(|case| &case.workload));
        let is_headline = |case: &Case| represents_machine(&case.workload, largest);
        let mut represented: BTreeSet<_> = self
            .cases
            .iter()
            .filter(|case| is_headline(case))
            .map(|case| case.workload.benchmark())
            .collect();
        let priority = |case: &Case| match &case.workload {
            _ if case.by != "assay" || case.pair.is_some() => TimePriority::Fixed,
            Workload::Stream(_)
            | Workload::Latency(_)
            | Workload::Copy(_)
            | Workload::CacheBandwidth(_)
            | Workload::CoreToCore(_)
            | Workload::LoadedLatency(_)
            | Workload::PeakFlops(_) => {
                let is_first = represented.insert(case.workload.benchmark());
                match is_first || is_headline(case) {
                    true => TimePriority::Headline,
                    false => TimePriority::Optional,
                }
            }
            Workload::Linpack(_)
            | Workload::NetworkTcp(_)
            | Workload::NetworkUdp(_)
            | Workload::NetworkIcmp(_)
            | Workload::Mpi(_) => TimePriority::Headline,
            Workload::Storage(_)
            | Workload::Files(_)
            | Workload::Command(_)
            | Workload::Imported(_)
            | Workload::Rdma(_) => TimePriority::Fixed,
        };
        self.cases.iter().map(priority).collect()
    }
}

/// Returns the size of the largest pointer chain.
pub(super) fn largest_chain_bytes<'w>(
    workloads: impl Iterator<Item = &'w Workload>,
) -> Option<u64> {
    workloads.filter_map(|workload| Some(workload.as_latency()?.bytes)).max()
}

/// Whether a case represents the machine: the whole node, or the largest pointer chain.
pub(super) fn represents_machine(
    workload: &Workload,
    largest_chain_bytes: Option<u64>,
) -> bool {
    let domain = match workload {
        Workload::Latency(work) => return Some(work.bytes) == largest_chain_bytes,
        Workload::Stream(work) => match work.domains.as_slice() {
            [domain] => domain,
            _ => return false,
        },
        Workload::PeakFlops(work) => &work.domain,
        Workload::Copy(_)
        | Workload::CacheBandwidth(_)
        | Workload::CoreToCore(_)
        | Workload::LoadedLatency(_)
        | Workload::Linpack(_)
        | Workload::NetworkTcp(_)
        | Workload::NetworkUdp(_)
        | Workload::NetworkIcmp(_)
        | Workload::Storage(_)
        | Workload::Files(_)
        | Workload::Command(_)
        | Workload::Imported(_)
        | Workload::Mpi(_)
        | Workload::Rdma(_) => return false,
    };
    domain.placement == "node"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{CasePair, StoppingRule};
    use crate::workload::{Domain, LatencyWorkload, RdmaDevice, StreamWorkload};

    fn case(id: &str, workload: Workload) -> Case {
        let stopping =
            StoppingRule { target: 0.01, repetitions: 3, preparations: 3, budget_s: 1.0 };
        Case { id: id.into(), by: "assay".into(), workload, pair: None, stopping }
    }

    fn stream(placement: &str) -> Workload {
        Workload::Stream(StreamWorkload {
            domains: vec![Domain { placement: placement.into(), cpus: vec![0] }],
            bytes_per_array: 1 << 20,
            cache_multiple: 4.0,
        })
    }

    fn chain(bytes: u64) -> Workload {
        Workload::Latency(LatencyWorkload { cpu: 0, bytes, line_bytes: 64 })
    }

    #[test]
    fn one_case_of_each_benchmark_is_a_headline() {
        use TimePriority::{Fixed, Headline, Optional};
        let pair = CasePair {
            peer: "b".into(),
            address: None,
            question: 0,
            round: 0,
            together: 1,
            own: RdmaDevice::default(),
            far: RdmaDevice::default(),
        };
        let tool = Case { by: "stream".into(), ..case("tool", stream("node")) };
        let of_pair = Case { pair: Some(pair), ..case("pair", stream("node")) };
        for (cases, expected) in [
            (
                vec![case("core", stream("core")), case("node", stream("node"))],
                vec![Optional, Headline],
            ),
            (
                vec![case("l3", stream("l3")), case("core", stream("core"))],
                vec![Headline, Optional],
            ),
            (
                vec![case("small", chain(4096)), case("large", chain(8192))],
                vec![Optional, Headline],
            ),
            (vec![tool, of_pair], vec![Fixed, Fixed]),
        ] {
            let plan =
                Plan { suite: "s".into(), budget_s: 1.0, seed: None, cases, omitted: vec![] };
            assert_eq!(plan.time_priorities(), expected);
        }
    }
}
