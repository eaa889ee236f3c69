//! Priorities of the cases of a plan when its time is short. Reads no clock and ends no case.

use std::collections::BTreeSet;

use super::{Case, Plan};
use crate::workload::Workload;
use crate::workload::storage::ResponseCurvePoint;

/// How a case gives way when the budget of a run ends before the run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimePriority {
    /// Its length does not follow from the budget alone: the job of a tool, and, unless the budget is
    /// kept, a test between two hosts, a user's program or a test of storage.
    Fixed,
    /// It is shortened to its first result: it represents the machine, or is the first of its
    /// benchmark.
    Headline,
    /// It is shortened, and left out if there is no time for a first result.
    Optional,
}

impl Plan {
    /// Returns the priority of each case, in the order of the cases. If the budget is kept, tests of
    /// storage and between hosts and programs give way, too.
    pub fn time_priorities(&self, keeps_budget: bool) -> Vec<TimePriority> {
        let largest = largest_chain_bytes(self.cases.iter().map(|case| &case.workload));
        let is_headline = |case: &Case| represents_machine(&case.workload, largest);
        let mut represented: BTreeSet<_> = self
            .cases
            .iter()
            .filter(|case| is_headline(case))
            .map(|case| case.workload.benchmark())
            .collect();
        let priority = |case: &Case| match &case.workload {
            _ if case.by != "assay" => TimePriority::Fixed,
            _ if case.pair.is_some() && !keeps_budget => TimePriority::Fixed,
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
            Workload::Imported(_) | Workload::Rdma(_) | Workload::Io500(_) => {
                TimePriority::Fixed
            }
            Workload::Storage(_) | Workload::Files(_) | Workload::Command(_)
                if !keeps_budget =>
            {
                TimePriority::Fixed
            }
            // The user fixed the number of repetitions.
            Workload::Command(work) if work.runs.is_some() => TimePriority::Fixed,
            Workload::Command(_) => TimePriority::Headline,
            Workload::Storage(test) => match test.point {
                None | Some(ResponseCurvePoint::Maximum) => TimePriority::Headline,
                Some(ResponseCurvePoint::Share { .. } | ResponseCurvePoint::Bend { .. }) => {
                    TimePriority::Optional
                }
            },
            Workload::Files(_) => match represented.insert(case.workload.benchmark()) {
                true => TimePriority::Headline,
                false => TimePriority::Optional,
            },
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
        | Workload::Io500(_)
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
    use crate::workload::storage::{StorageTest, StorageWorkload};
    use crate::workload::{Domain, LatencyWorkload, StreamWorkload};

    fn case(id: &str, workload: Workload) -> Case {
        let stopping =
            StoppingRule { target: 0.01, repetitions: 3, preparations: 3, budget_s: 1.0 };
        Case::new(id, workload, stopping)
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
        let tool = Case { by: "stream".into(), ..case("tool", stream("node")) };
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
            (vec![tool], vec![Fixed]),
        ] {
            let plan = Plan::new("s", 1.0, cases);
            assert_eq!(plan.time_priorities(true), expected);
        }
    }

    #[test]
    fn pairs_give_way_to_a_kept_budget() {
        let pair = CasePair::new("b");
        let of_pair = Case { pair: Some(pair), ..case("pair", stream("node")) };
        let by_tool = Case { by: "iperf3".into(), ..of_pair.clone() };
        let cases = vec![of_pair, by_tool];
        let plan = Plan::new("s", 60.0, cases);
        assert_eq!(plan.time_priorities(false), [TimePriority::Fixed; 2]);
        assert_eq!(plan.time_priorities(true), [TimePriority::Headline, TimePriority::Fixed]);
    }

    /// Tests of storage and programs give way only to a budget that is kept, points of a curve before
    /// its maximum.
    #[test]
    fn storage_gives_way_to_a_kept_budget() {
        use TimePriority::{Fixed, Headline, Optional};
        let storage = |name: &str, point| {
            let workload = StorageWorkload::new(vec![], vec![], None);
            let test = StorageTest { point, ..StorageTest::new(name, workload) };
            case(name, Workload::Storage(Box::new(test)))
        };
        let cases = vec![
            storage("max", Some(ResponseCurvePoint::Maximum)),
            storage("10%", Some(ResponseCurvePoint::Share { percent: 10.0 })),
            storage("bend-1", Some(ResponseCurvePoint::Bend { nth: 1 })),
            storage("read", None),
            Case { by: "fio".into(), ..storage("read/fio", None) },
        ];
        let plan = Plan::new("s", 60.0, cases);
        assert_eq!(plan.time_priorities(false), [Fixed; 5]);
        assert_eq!(plan.time_priorities(true), [Headline, Optional, Optional, Headline, Fixed]);
    }
}
