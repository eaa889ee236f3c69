//! Merges the plans of several hosts into one: cases with the same workload on all hosts become one
//! case.

use std::collections::BTreeMap;

use assay_fleet::pairs::PairRounds;
use assay_model::attribute::{Attribute, Attributes, Role};
use assay_model::plan::expand::pair_case;
use assay_model::plan::{Case, OmittedMeasure, Plan};

/// Merged plan, and for each host the position of its own case identifiers in the plan.
#[derive(Debug)]
pub(super) struct MergedPlan {
    pub(super) plan: Plan,
    pub(super) positions: Vec<BTreeMap<String, usize>>,
}

/// Merges plans, given by host. A host without a plan takes no part, but the pairs that it would
/// have begun are in the plan.
///
/// Returns `None` without any plan, or if no case remains because hosts are missing.
pub(super) fn merge_plans(
    plans: &[(&str, Option<&Plan>)],
    pairs: &PairRounds,
    seed: u64,
) -> Option<MergedPlan> {
    // Takes the first of the longest plans.
    let all = plans.iter().rev().filter_map(|(_, plan)| *plan);
    let longest = all.max_by_key(|it| it.cases.len())?;
    let mut plan = Plan { seed: Some(seed), cases: Vec::new(), ..longest.clone() };
    let mut places = vec![BTreeMap::new(); plans.len()];
    // The longest plan determines the order; cases that it lacks follow at the end.
    let at_first =
        plans.iter().position(|(_, it)| it.is_some_and(|it| std::ptr::eq(it, longest)));
    let order = at_first.into_iter().chain((0..plans.len()).filter(|at| Some(*at) != at_first));
    for at in order {
        let (host, Some(of_host)) = plans[at] else { continue };
        plan.budget_s = plan.budget_s.max(of_host.budget_s);
        for case in &of_host.cases {
            let known = plan.cases.iter().position(|it| is_same(it, case));
            let place = known.unwrap_or_else(|| {
                let is_taken = plan.cases.iter().any(|it| it.id == case.id);
                let id = if is_taken { format!("{}@{host}", case.id) } else { case.id.clone() };
                plan.cases.push(Case { id, ..case.clone() });
                plan.cases.len() - 1
            });
            places[at].insert(case.id.clone(), place);
        }
    }
    plan.omitted = merge_omitted(plans);
    let asked = pair_cases(&plan);
    for at in (0..plans.len()).filter(|at| plans[*at].1.is_none()) {
        let turns = pairs.pairs_of_host(at).map(|it| it.turns).unwrap_or_default();
        for case in
            turns.iter().flat_map(|it| asked.iter().map(|case| pair_case(case.clone(), it)))
        {
            let known = plan.cases.iter().position(|it| it.id == case.id);
            let place = known.unwrap_or(plan.cases.len());
            places[at].insert(case.id.clone(), place);
            plan.cases.extend(known.is_none().then_some(case));
        }
    }
    let is_in_vain = plan.cases.is_empty() && plans.iter().any(|(_, plan)| plan.is_none());
    (!is_in_vain).then(|| sort_by_turn(plan, places))
}

/// Returns each workload for pairs by each measurer, as the first pair has it.
fn pair_cases(plan: &Plan) -> Vec<Case> {
    let mut asked: BTreeMap<(u32, &str), &Case> = BTreeMap::new();
    for case in &plan.cases {
        if let Some(pair) = &case.pair {
            asked.entry((pair.workload_number, &case.by)).or_insert(case);
        }
    }
    asked.into_values().cloned().collect()
}

/// Merges omitted benchmarks; names the hosts that omit one which others measure.
fn merge_omitted(plans: &[(&str, Option<&Plan>)]) -> Vec<OmittedMeasure> {
    let mut found: Vec<OmittedMeasure> = Vec::new();
    let planned: Vec<(&str, &Plan)> =
        plans.iter().filter_map(|(host, plan)| Some((*host, (*plan)?))).collect();
    for (host, omitted) in planned
        .iter()
        .flat_map(|(host, plan)| plan.omitted.iter().map(move |omitted| (host, omitted)))
    {
        let is_it = |it: &&mut OmittedMeasure| {
            it.benchmark == omitted.benchmark && it.reason == omitted.reason
        };
        match found.iter_mut().find(is_it) {
            Some(known) => known.hosts.push((*host).to_owned()),
            None => {
                let hosts = vec![(*host).to_owned()];
                found.push(OmittedMeasure { hosts, ..omitted.clone() });
            }
        }
    }
    let are_all = |it: &OmittedMeasure| it.hosts.len() == planned.len();
    found.iter_mut().filter(|it| are_all(it)).for_each(|it| it.hosts.clear());
    found
}

/// Sorts the cases by [`Case::pair_order`], independent of the host they come from.
fn sort_by_turn(mut plan: Plan, mut places: Vec<BTreeMap<String, usize>>) -> MergedPlan {
    let mut order: Vec<usize> = (0..plan.cases.len()).collect();
    order.sort_by_key(|place| plan.cases[*place].pair_order());
    let mut later = vec![0; order.len()];
    order.iter().enumerate().for_each(|(new, old)| later[*old] = new);
    plan.cases = order.iter().map(|old| plan.cases[*old].clone()).collect();
    places.iter_mut().flat_map(BTreeMap::values_mut).for_each(|place| *place = later[*place]);
    MergedPlan { plan, positions: places }
}

/// Whether two hosts would measure the same. Data location, loading CPU and fitting system size may
/// differ; the number of threads may not.
fn is_same(a: &Case, b: &Case) -> bool {
    let rest = a.id.strip_prefix(&b.id);
    rest.is_some_and(|it| it.is_empty() || it.starts_with('@'))
        && a.by == b.by
        && requested_attributes(a) == requested_attributes(b)
}

fn requested_attributes(case: &Case) -> Attributes {
    let mut asked = case.workload.dimensions(&case.by);
    asked.retain(|name, _| match name {
        Attribute::N => false,
        Attribute::Threads => true,
        other => other.row().role == Role::Identity,
    });
    asked
}

#[cfg(test)]
mod tests {
    use assay_fleet::fleet_file::FleetHost;
    use assay_model::benchmark::RdmaTest;
    use assay_model::plan::{MissingRequirement, StoppingRule};
    use assay_model::workload::{LinpackWorkload, RdmaWorkload, Workload};

    use super::*;

    fn plan(cases: &[(&str, usize)]) -> Plan {
        let case = |(id, threads): &(&str, usize)| {
            Case::new(
                (*id).to_owned(),
                Workload::Linpack(LinpackWorkload {
                    n: 1000,
                    cpus: (0..*threads as u32).collect(),
                    blas: None,
                    seed: 0,
                }),
                StoppingRule { target: 0.1, repetitions: 1, preparations: 1, budget_s: 1.0 },
            )
        };
        Plan::new("x", 1.0, cases.iter().map(case).collect())
    }

    #[test]
    fn names_hosts_that_omit_a_benchmark_unless_all_do() {
        let with = |reasons: &[MissingRequirement]| Plan {
            omitted: reasons
                .iter()
                .map(|reason| OmittedMeasure {
                    benchmark: "x".to_owned(),
                    reason: *reason,
                    hosts: Vec::new(),
                })
                .collect(),
            ..plan(&[("one", 2)])
        };
        let (a, b) = (
            with(&[MissingRequirement::Mpi, MissingRequirement::RdmaDevice]),
            with(&[MissingRequirement::Mpi]),
        );
        let hosts = [("a", Some(&a)), ("gone", None), ("b", Some(&b))];
        let merged = merge_plans(&hosts, &PairRounds::default(), 7).unwrap();
        let found = merged.plan.omitted.iter().map(|it| (it.reason, it.hosts.join(",")));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [
                (MissingRequirement::Mpi, String::new()),
                (MissingRequirement::RdmaDevice, "a".to_owned())
            ]
        );
    }

    #[test]
    fn merges_common_cases() {
        let (a, b) = (plan(&[("one", 2)]), plan(&[("one", 2), ("two", 2)]));
        let (c, d) = (plan(&[("one", 4), ("three", 1)]), plan(&[("one", 4)]));
        let all = [
            ("a", Some(&a)),
            ("b", Some(&b)),
            ("gone", None),
            ("c", Some(&c)),
            ("d", Some(&d)),
        ];
        let merged = merge_plans(&all, &PairRounds::default(), 7).unwrap();
        let ids: Vec<&str> = merged.plan.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids, ["one", "two", "one@c", "three"]);
        let places = |at: usize| merged.positions[at].values().copied().collect::<Vec<_>>();
        assert_eq!([places(0), places(1), places(2)], [vec![0], vec![0, 1], vec![]]);
        assert_eq!([places(3), places(4)], [vec![2, 3], vec![2]]);
    }

    #[test]
    fn plans_pairs_of_missing_host_for_every_measurer() {
        let hosts = ["a", "b"].map(FleetHost::from_name);
        let rounds = PairRounds::parse("a:b,b:a", &hosts).unwrap();
        let of_a = rounds.pairs_of_host(0).unwrap();
        let work = RdmaWorkload::perftest_default(RdmaTest::SendLatency, None);
        let by = ["assay", "ib_send_lat"].map(|by| {
            let workload = Workload::Rdma(work.clone());
            let case = Case { by: by.to_owned(), workload, ..plan(&[("", 1)]).cases.remove(0) };
            pair_case(case, &of_a.turns[0])
        });
        let of_a = Plan { cases: by.to_vec(), ..plan(&[]) };
        let merged = merge_plans(&[("a", Some(&of_a)), ("b", None)], &rounds, 7).unwrap();
        let ids: Vec<&str> = merged.plan.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "rdma.send_lat/a:b/rc",
                "rdma.send_lat/a:b/rc/ib_send_lat",
                "rdma.send_lat/b:a/rc",
                "rdma.send_lat/b:a/rc/ib_send_lat",
            ]
        );
    }
}
