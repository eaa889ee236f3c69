//! History of one result over many runs, with changes of its level and of its environment.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Value, identity};
use assay_model::benchmark::Better;
use assay_model::environment::{Aspect, Environment};
use assay_model::history::{Change, History, Method, Point, SCHEMA, Turnover};
use assay_model::quantity::Bytes;
use assay_model::run::Run;
use assay_model::summary::Estimate;

use crate::change_points::{self, NAME, PERMUTATIONS, RISK};
use crate::compare::{Key, identified};
use crate::quantile::{self, LEVEL};
use crate::question;
use crate::{METHOD, environment, shift};

/// Selection of a result by benchmark, metric and attributes.
#[derive(Debug, Clone)]
pub struct Wanted<'w> {
    /// Identifier of the benchmark, if given.
    pub benchmark: Option<&'w str>,
    /// Name of the metric.
    pub metric: &'w str,
    /// Required attributes, as the user wrote them.
    pub parameters: &'w [(Attribute, String)],
}

impl Wanted<'_> {
    /// Returns whether a result matches.
    #[must_use]
    pub fn fits(&self, estimate: &Estimate) -> bool {
        let has = |(name, wanted): &(Attribute, String)| {
            estimate.parameters.get(name).is_some_and(|value| is_written(value, wanted))
        };
        estimate.metric == self.metric
            && self.benchmark.is_none_or(|benchmark| estimate.benchmark == benchmark)
            && estimate.median.is_finite()
            && self.parameters.iter().all(has)
    }
}

/// Returns whether `text` denotes the value.
fn is_written(value: &Value, text: &str) -> bool {
    match (value, value.number()) {
        (Value::Flag(flag), _) => text.parse() == Ok(*flag),
        (Value::Text(own), _) => own == text,
        (_, Some(number)) => {
            let sized = text.parse::<Bytes>().map(|bytes| bytes.0 as f64);
            [text.parse().ok(), sized.ok()]
                .into_iter()
                .flatten()
                .any(|it: f64| it.total_cmp(&number).is_eq())
        }
        _ => false,
    }
}

/// Returns whether a run has a matching result.
#[must_use]
pub fn has(run: &Run, wanted: &Wanted<'_>) -> bool {
    identified(run).iter().any(|(_, estimate)| wanted.fits(estimate))
}

/// Run with the selected result and its environment.
type Found<'r> = (&'r Run, Estimate, Environment);

/// Returns the history of one result over all runs, the oldest first. `choose` picks it among the
/// matching results of the newest run that has any. Returns `None` where no run has one.
#[must_use]
pub fn history(
    runs: &[Run],
    wanted: &Wanted<'_>,
    choose: impl Fn(&[&Estimate]) -> usize,
    (margin, seed): (f64, u64),
) -> Option<History> {
    let fitting = |run: &Run| {
        let all = identified(run).into_iter().filter(|(_, estimate)| wanted.fits(estimate));
        all.collect::<Vec<(Key, Estimate)>>()
    };
    let newest = runs.iter().rev().map(fitting).find(|found| !found.is_empty())?;
    let chosen = choose(&newest.iter().map(|(_, estimate)| estimate).collect::<Vec<_>>());
    let (key, example) = newest.get(chosen)?.clone();
    let names_n = wanted.parameters.iter().any(|(name, _)| *name == Attribute::N);
    let follows_n = example.parameters.contains_key(&Attribute::N) && !names_n;
    let of_run = |run| {
        let mut fitting = fitting(run);
        let exact = fitting.iter().position(|(its, _)| *its == key);
        let other = || {
            let others = fitting.iter().enumerate();
            let others = others.filter(|(_, (_, it))| is_of_another_n(it, &example));
            others.max_by_key(|(_, (_, it))| n(it)).map(|(place, _)| place)
        };
        let place = exact.or_else(|| follows_n.then(other).flatten())?;
        let (_, estimate) = fitting.swap_remove(place);
        let environment = surroundings(run, &estimate);
        Some((run, estimate, environment))
    };
    let found: Vec<Found<'_>> = runs.iter().filter_map(of_run).collect();
    let first = found.first().and_then(|(_, it, _)| n(it));
    let has_one_n = found.iter().all(|(_, it, _)| n(it) == first);
    let mut identity = identity(&example.parameters);
    identity.retain(|name, _| has_one_n || *name != Attribute::N);
    let point =
        |found: &Found<'_>| Point { n: n(&found.1).filter(|_| !has_one_n), ..point(found) };
    let method = Method { name: NAME, permutations: PERMUTATIONS, seed, risk: RISK, margin };
    Some(History {
        schema: SCHEMA,
        statistics: METHOD,
        benchmark: example.benchmark,
        metric: example.metric,
        identity,
        others: newest.len() - 1,
        unit: example.unit,
        better: example.better,
        host: example.host,
        points: found.iter().map(point).collect(),
        changes: changes(&found, &method),
        environment: turnovers(&found),
        method,
    })
}

/// Returns the number of equations, which assay chooses by the time and the memory of a run.
fn n(estimate: &Estimate) -> Option<u64> {
    estimate.parameters.get(&Attribute::N)?.number().map(|n| n as u64)
}

/// Returns whether two results differ only in the number of equations.
fn is_of_another_n(one: &Estimate, other: &Estimate) -> bool {
    let about = |it: &Estimate| {
        let mut identity = identity(&it.parameters);
        identity.remove(&Attribute::N);
        (it.benchmark.clone(), it.metric.clone(), it.tool.name.clone(), identity)
    };
    n(one).is_some() && about(one) == about(other)
}

fn point((run, estimate, _): &Found<'_>) -> Point {
    Point {
        run: run.started.run.clone(),
        started: run.started.started.clone(),
        label: run.started.label.clone(),
        median: estimate.median,
        ci: estimate.ci,
        n: None,
        limit: estimate.limit.as_ref().map(|limit| limit.value),
    }
}

/// Returns the environment of a result: that of the run, without the aspects of other cases.
fn surroundings(run: &Run, estimate: &Estimate) -> Environment {
    let case = run.cases.iter().find(|record| record.case.id == estimate.case);
    let own = format!("{} {}", case.map(question::of).unwrap_or_default(), estimate.metric);
    let is_about =
        |(aspect, of): &(Aspect, String)| !environment::is_of_cases(*aspect) || *of == own;
    environment::of(run).into_iter().filter(|(key, _)| is_about(key)).collect()
}

/// Returns changes that exceed the margin, tested on the logarithmic scale where it exists.
fn changes(found: &[Found<'_>], method: &Method) -> Vec<Change> {
    let medians: Vec<f64> = found.iter().map(|(_, estimate, _)| estimate.median).collect();
    let has_ratios = medians.iter().all(|median| *median > 0.0);
    let values: Vec<f64> = match has_ratios {
        true => medians.iter().map(|median| median.ln()).collect(),
        false => medians.clone(),
    };
    let points = change_points::find(&values, method.seed);
    let ends = points.iter().skip(1).map(|next| next.at).chain([values.len()]);
    let mut begin = 0;
    let mut changes = Vec::new();
    for (change, end) in points.iter().zip(ends) {
        let (before, after) = (begin..change.at, change.at..end);
        let shift = has_ratios
            .then(|| shift::of_groups(&values[before.clone()], &values[after.clone()], LEVEL))
            .flatten();
        begin = change.at;
        if shift.is_some_and(|shift| shift.by.abs() <= method.margin.ln_1p()) {
            continue;
        }
        let [before, after] = [before, after].map(|range| middle(&medians[range]));
        let (run, estimate, _) = &found[change.at];
        changes.push(Change {
            point: change.at,
            run: run.started.run.clone(),
            before,
            after,
            ratio: shift.map(|shift| shift.by.exp()),
            ratio_ci: shift.and_then(|shift| Some(shift.known?.interval.map(f64::exp))),
            p: change.p,
            is_better: (after > before) == (estimate.better == Better::Higher),
        });
    }
    changes
}

fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile::median(&sorted).unwrap_or(f64::NAN)
}

/// Returns changes of the environment from point to point. Each value is compared with the last
/// known one; unknown values are skipped.
fn turnovers(found: &[Found<'_>]) -> Vec<Turnover> {
    let mut all = Vec::new();
    let mut known: BTreeMap<&(Aspect, String), &String> = BTreeMap::new();
    for (point, (run, _, environment)) in found.iter().enumerate() {
        for (key, value) in environment {
            let before = known.insert(key, value);
            all.extend(before.filter(|before| *before != value).map(|before| Turnover {
                point,
                run: run.started.run.clone(),
                aspect: key.0,
                of: key.1.clone(),
                before: before.clone(),
                after: value.clone(),
            }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::workload::{LinpackWorkload, Workload};

    use crate::compare::tests::{latency, runs};

    /// assay chooses N by the time of a run: Rmax has one history over all N, and one per N where N
    /// is given.
    #[test]
    fn rmax_is_followed_over_the_numbers_of_equations() {
        let solve = |n: u64| {
            let cpus = vec![0, 1];
            Workload::Linpack(LinpackWorkload { n, cpus, blas: None, seed: 1 })
        };
        let of = |n: u64| runs(&solve(n), "rmax", &[1e9 * n as f64]).remove(0);
        for (ns, wanted, expected) in [
            (&[1000, 1200, 1100][..], &[][..], &[Some(1000), Some(1200), Some(1100)][..]),
            (&[1000, 1000], &[], &[None, None]),
            (&[1000, 1200, 1000], &[(Attribute::N, "1000".to_owned())], &[None, None]),
        ] {
            let runs: Vec<Run> = ns.iter().map(|n| of(*n)).collect();
            let wanted = Wanted { benchmark: None, metric: "rmax", parameters: wanted };
            let history = history(&runs, &wanted, |_| 0, (0.03, 1)).unwrap();
            let found: Vec<Option<u64>> = history.points.iter().map(|it| it.n).collect();
            assert_eq!(found, expected, "{ns:?}");
            let has_n = history.identity.contains_key(&Attribute::N);
            assert_eq!(has_n, expected.contains(&None), "{ns:?}");
        }
    }

    /// A step of the result is found, and changes of its environment are listed at their runs, with
    /// the loop of this result only.
    #[test]
    fn what_changed_around_a_result_stands_where_it_changed() {
        let medians = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99, 1.1, 1.11, 1.09, 1.1, 1.11, 1.09];
        let mut runs = runs(&latency(), "latency", &medians);
        for (number, run) in runs.iter_mut().enumerate() {
            run.started.run = format!("run-{number}");
            let facts = &mut run.hosts[0].facts;
            facts.system.kernel = if number < 6 { "6.1" } else { "6.18" }.to_owned();
            facts.cpu.governor = (number != 3).then(|| "performance".to_owned());
            let kernel = if number < 9 { "avx2" } else { "avx512" };
            run.cases[0].series[0].facts.insert(Attribute::Kernel, kernel.into());
        }
        let wanted = Wanted { benchmark: None, metric: "latency", parameters: &[] };
        let history = history(&runs, &wanted, |_| 0, (0.03, 1)).unwrap();
        let changes: Vec<usize> = history.changes.iter().map(|it| it.point).collect();
        assert_eq!(changes, [6]);
        let around: Vec<(usize, Aspect, &str, &str)> = history
            .environment
            .iter()
            .map(|it| (it.point, it.aspect, it.before.as_str(), it.after.as_str()))
            .collect();
        let expected =
            [(6, Aspect::Kernel, "6.1", "6.18"), (9, Aspect::Loop, "avx2", "avx512")];
        assert_eq!(around, expected, "a run that does not know is no change");
    }
}
