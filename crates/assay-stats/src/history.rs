//! History of one result over many runs, with changes of its level and of its environment.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, AttributeValue, Attributes, identity_attributes};
use assay_model::benchmark::Better;
use assay_model::doubt::{Doubt, TrustLevel};
use assay_model::environment::{Environment, EnvironmentAspect};
use assay_model::history::{
    DetectionMethod, EnvironmentChange, History, HistoryPoint, LevelChange, SCHEMA, Sensitivity,
};
use assay_model::run::Run;
use assay_model::summary::MetricEstimate;
use assay_model::trust::{DistrustReason, run_doubts};

use crate::change_points::{self, METHOD_NAME, SIGNIFICANCE};
use crate::compare::{ResultKey, key_results, keyed_estimates};
use crate::quantile::{self, LEVEL};
use crate::summarize::summarize;
use crate::workload_key;
use crate::{STATISTICS_VERSION, environment, shift};

/// Selection of a result by benchmark, metric and attributes.
#[derive(Debug, Clone)]
pub struct ResultQuery<'w> {
    /// Identifier of the benchmark, if given.
    pub benchmark: Option<&'w str>,
    /// Name of the metric.
    pub metric: &'w str,
    /// Required attributes, as the user wrote them.
    pub parameters: &'w [(Attribute, String)],
}

impl ResultQuery<'_> {
    /// Returns whether a result matches.
    pub fn matches(&self, estimate: &MetricEstimate) -> bool {
        let has = |(name, wanted): &(Attribute, String)| {
            estimate.parameters.get(name).is_some_and(|value| value.is_denoted_by(wanted))
        };
        estimate.metric == self.metric
            && self.benchmark.is_none_or(|benchmark| estimate.benchmark == benchmark)
            && estimate.median.is_finite()
            && self.parameters.iter().all(has)
    }
}

/// Returns whether a run has a matching result.
pub fn has_result(run: &Run, wanted: &ResultQuery<'_>) -> bool {
    keyed_estimates(run).iter().any(|(_, estimate)| wanted.matches(estimate))
}

/// Conditions of a result besides its identity: runs that differ in one have separate histories.
/// Others, such as the kernel or the engine of storage, are changes of the environment.
const CONDITIONS: [Attribute; 8] = [
    Attribute::To,
    Attribute::Hosts,
    Attribute::Threads,
    Attribute::BytesPerArray,
    Attribute::Target,
    Attribute::TargetBytes,
    Attribute::Prefix,
    Attribute::Congestion,
];
/// Maximum ratio of array sizes of one condition: assay fits them to the free memory of a small
/// machine.
const SIZE_TOLERANCE: f64 = 1.25;
/// Largest step that the search for the smallest one tries, as a factor.
const LARGEST_STEP: f64 = 1000.0;
/// Minimum margin of that search.
const SMALLEST_STEP: f64 = 0.001;
/// Results and environment of a run. It is smaller than the run, so that many fit into memory.
#[derive(Debug, Clone)]
pub struct RunResults {
    run: String,
    started: String,
    label: Option<String>,
    results: Vec<(ResultKey, MetricEstimate)>,
    /// Doubts about the whole run, or one of its hosts, with which values are not sound.
    doubts: Vec<Doubt>,
    /// Key of the workload of each case, by its identifier.
    workloads: BTreeMap<String, String>,
    environment: Environment,
}

impl RunResults {
    /// Collects the results of a run.
    pub fn from_run(run: &Run) -> Self {
        let summary = summarize(run);
        let doubts = run_doubts(&summary).cloned().collect();
        Self::from_results(run, key_results(run, summary.results), doubts)
    }

    /// Collects results of a run that were derived before, and the doubts about the run.
    pub fn from_results(
        run: &Run,
        results: Vec<(ResultKey, MetricEstimate)>,
        doubts: Vec<Doubt>,
    ) -> Self {
        let mut workloads = BTreeMap::new();
        for record in &run.cases {
            let workload = || workload_key::workload_key(record);
            workloads.entry(record.case.id.clone()).or_insert_with(workload);
        }
        Self {
            run: run.started.run.clone(),
            started: run.started.started.clone(),
            label: run.started.label.clone(),
            results,
            doubts,
            workloads,
            environment: environment::run_environment(run),
        }
    }

    /// Returns all results, with the keys by which runs are compared.
    pub fn results(&self) -> impl Iterator<Item = &(ResultKey, MetricEstimate)> {
        self.results.iter()
    }

    fn matching_results(&self, wanted: &ResultQuery<'_>) -> Vec<&(ResultKey, MetricEstimate)> {
        self.results.iter().filter(|(_, estimate)| wanted.matches(estimate)).collect()
    }

    /// Returns the level of trust in a result.
    fn trust(&self, estimate: &MetricEstimate) -> TrustLevel {
        let reason = DistrustReason::from_doubts(estimate, self.doubts.iter());
        DistrustReason::level_of(reason)
    }

    /// Returns the environment of a result: that of the run, without the aspects of other cases.
    fn result_environment(&self, estimate: &MetricEstimate) -> Environment {
        let workload = self.workloads.get(&estimate.case).map(String::as_str);
        let result_name = format!("{} {}", workload.unwrap_or_default(), estimate.metric);
        let applies = |(aspect, subject): &(EnvironmentAspect, String)| {
            !environment::is_case_aspect(*aspect) || *subject == result_name
        };
        let applying = self.environment.iter().filter(|(key, _)| applies(key));
        applying.map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

/// Run with its selected result and the environment of the result.
struct HistoryEntry<'r> {
    run: &'r RunResults,
    estimate: &'r MetricEstimate,
    environment: Environment,
}

impl HistoryEntry<'_> {
    /// Returns the conditions of the result besides its identity.
    fn conditions(&self) -> Attributes {
        let parameters = self.estimate.parameters.iter();
        let own = parameters.filter(|(name, _)| CONDITIONS.contains(name));
        own.map(|(name, value)| (*name, value.clone())).collect()
    }

    /// Returns whether label and conditions equal those of another entry.
    fn has_conditions_of(&self, other: &Self) -> bool {
        let (own, others) = (self.conditions(), other.conditions());
        self.run.label == other.run.label
            && own.len() == others.len()
            && own.iter().zip(&others).all(|(own, other)| {
                own == other || (own.0 == other.0 && are_similar_sizes(*own.0, own.1, other.1))
            })
    }
}

/// Returns whether two sizes of arrays are similar enough for one history.
fn are_similar_sizes(name: Attribute, a: &AttributeValue, b: &AttributeValue) -> bool {
    let sizes = a.as_number().zip(b.as_number());
    name == Attribute::BytesPerArray
        && sizes.is_some_and(|(a, b)| a.max(b) <= SIZE_TOLERANCE * a.min(b))
}

/// Returns the history of one result over all runs with the label and the conditions of the newest,
/// the oldest first, and the histories under other conditions. `choose` selects the result from the
/// matching results of the newest run that has any. Returns `None` if no run has one.
pub fn build_history(
    runs: &[Run],
    wanted: &ResultQuery<'_>,
    choose: impl Fn(&[&MetricEstimate]) -> usize,
    options: (f64, u64),
) -> Option<History> {
    let runs: Vec<RunResults> = runs.iter().map(RunResults::from_run).collect();
    history_of_results(&runs, wanted, choose, options)
}

/// Returns the history as [`build_history`] does, from results that were derived before.
pub fn history_of_results(
    runs: &[RunResults],
    wanted: &ResultQuery<'_>,
    choose: impl Fn(&[&MetricEstimate]) -> usize,
    options: (f64, u64),
) -> Option<History> {
    let newest =
        runs.iter().rev().map(|run| run.matching_results(wanted)).find(|it| !it.is_empty())?;
    let chosen = choose(&newest.iter().map(|(_, estimate)| estimate).collect::<Vec<_>>());
    let (key, example) = (*newest.get(chosen)?).clone();
    let names_n = wanted.parameters.iter().any(|(name, _)| *name == Attribute::N);
    let follows_n = example.parameters.contains_key(&Attribute::N) && !names_n;
    let entry_of = |run| {
        let estimate = same_result(run, wanted, (&key, &example), follows_n)?;
        Some(HistoryEntry { run, estimate, environment: run.result_environment(estimate) })
    };
    let mut series: Vec<Vec<HistoryEntry<'_>>> = Vec::new();
    for entry in runs.iter().rev().filter_map(entry_of) {
        match series.iter_mut().find(|known| entry.has_conditions_of(&known[0])) {
            Some(known) => known.push(entry),
            None => series.push(vec![entry]),
        }
    }
    let mut histories = series.into_iter().map(|mut entries| {
        entries.reverse();
        series_history(&entries, newest.len() - 1, options)
    });
    let newest_history = histories.next()??;
    let other_conditions = histories.flatten().collect();
    Some(History { other_conditions, ..newest_history })
}

/// Returns the history of runs under one condition, the oldest first; `None` without runs.
fn series_history(
    entries: &[HistoryEntry<'_>],
    other_results: usize,
    (margin, seed): (f64, u64),
) -> Option<History> {
    let newest = entries.last()?;
    let HistoryEntry { run, estimate, .. } = newest;
    let first = entries.first().and_then(|entry| equation_count(entry.estimate));
    let has_one_n = entries.iter().all(|entry| equation_count(entry.estimate) == first);
    let mut identity = identity_attributes(&estimate.parameters);
    identity.retain(|name, _| has_one_n || *name != Attribute::N);
    let point = |entry: &HistoryEntry<'_>| HistoryPoint {
        n: equation_count(entry.estimate).filter(|_| !has_one_n),
        ..history_point(entry)
    };
    let method = DetectionMethod {
        name: METHOD_NAME,
        permutations: change_points::permutation_count(entries.len()),
        seed,
        risk: SIGNIFICANCE,
        margin,
    };
    let changes = level_changes(entries, &method);
    Some(History {
        schema: SCHEMA,
        statistics: STATISTICS_VERSION,
        benchmark: estimate.benchmark.clone(),
        metric: estimate.metric.clone(),
        identity,
        label: run.label.clone(),
        conditions: newest.conditions(),
        other_conditions: Vec::new(),
        other_results,
        unit: estimate.unit,
        better: estimate.better,
        host: estimate.host.clone(),
        points: entries.iter().map(point).collect(),
        sensitivity: Sensitivity {
            runs_needed: change_points::required_values(),
            smallest_ratio: changes
                .is_empty()
                .then(|| smallest_ratio(entries, &method))
                .flatten(),
        },
        changes,
        environment: environment_changes(entries),
        method,
    })
}

/// Returns the factor of the smallest step that would have been found; `None` if a median is not
/// positive.
fn smallest_ratio(entries: &[HistoryEntry<'_>], method: &DetectionMethod) -> Option<f64> {
    let medians = entries.iter().map(|entry| entry.estimate.median);
    if !medians.clone().all(|median| median > 0.0) {
        return None;
    }
    let values: Vec<f64> = medians.map(f64::ln).collect();
    let range = [method.margin.max(SMALLEST_STEP).ln_1p(), LARGEST_STEP.ln()];
    change_points::smallest_found_step(&values, method.seed, range).map(f64::exp)
}

/// Returns the result of a run that is the same as the example: that with its key, or, if N is
/// followed, the one with the largest N among those that differ only in N.
fn same_result<'r>(
    run: &'r RunResults,
    wanted: &ResultQuery<'_>,
    (key, example): (&ResultKey, &MetricEstimate),
    follows_n: bool,
) -> Option<&'r MetricEstimate> {
    let results = run.matching_results(wanted);
    let exact = results.iter().find(|(result_key, _)| result_key == key);
    let largest_n = || {
        let others = results.iter().filter(|(_, it)| differs_only_in_n(it, example));
        others.max_by_key(|(_, it)| equation_count(it))
    };
    let found = exact.or_else(|| follows_n.then(largest_n).flatten())?;
    Some(&found.1)
}

/// Returns the number of equations of LINPACK, which assay chooses by the time and the memory of a
/// run.
fn equation_count(estimate: &MetricEstimate) -> Option<u64> {
    estimate.parameters.get(&Attribute::N)?.as_number().map(|n| n as u64)
}

/// Returns whether two results differ only in the number of equations.
fn differs_only_in_n(one: &MetricEstimate, other: &MetricEstimate) -> bool {
    let key_without_n = |it: &MetricEstimate| {
        let mut identity = identity_attributes(&it.parameters);
        identity.remove(&Attribute::N);
        (it.benchmark.clone(), it.metric.clone(), it.tool.name.clone(), identity)
    };
    equation_count(one).is_some() && key_without_n(one) == key_without_n(other)
}

fn history_point(HistoryEntry { run, estimate, .. }: &HistoryEntry<'_>) -> HistoryPoint {
    HistoryPoint {
        run: run.run.clone(),
        started: run.started.clone(),
        label: run.label.clone(),
        median: estimate.median,
        ci: estimate.ci,
        n: None,
        trust: run.trust(estimate),
        limit: estimate.limit.as_ref().map(|limit| limit.value),
    }
}

/// Returns the level changes that exceed the margin, tested on the logarithmic scale if all medians
/// are positive.
fn level_changes(entries: &[HistoryEntry<'_>], method: &DetectionMethod) -> Vec<LevelChange> {
    let medians: Vec<f64> = entries.iter().map(|it| it.estimate.median).collect();
    let has_ratios = medians.iter().all(|median| *median > 0.0);
    let values: Vec<f64> = match has_ratios {
        true => medians.iter().map(|median| median.ln()).collect(),
        false => medians.clone(),
    };
    let points = change_points::find(&values, method.seed);
    let ends = points.iter().skip(1).map(|next| next.index).chain([values.len()]);
    let mut start = 0;
    let mut changes = Vec::new();
    for (change, end) in points.iter().zip(ends) {
        let (before, after) = (start..change.index, change.index..end);
        let shift = has_ratios
            .then(|| shift::group_shift(&values[before.clone()], &values[after.clone()], LEVEL))
            .flatten();
        start = change.index;
        if shift.is_some_and(|shift| shift.amount.abs() <= method.margin.ln_1p()) {
            continue;
        }
        let median = |values: &[f64]| quantile::unsorted_median(values.iter().copied());
        let [before, after] =
            [before, after].map(|range| median(&medians[range]).unwrap_or(f64::NAN));
        let HistoryEntry { run, estimate, .. } = &entries[change.index];
        changes.push(LevelChange {
            point: change.index,
            run: run.run.clone(),
            before,
            after,
            ratio: shift.map(|shift| shift.amount.exp()),
            ratio_ci: shift.and_then(|shift| Some(shift.significance?.interval.map(f64::exp))),
            p: change.p,
            is_better: (after > before) == (estimate.better == Better::Higher),
        });
    }
    changes
}

/// Returns changes of the environment from point to point. Each value is compared with the last
/// known one; unknown values are skipped.
fn environment_changes(entries: &[HistoryEntry<'_>]) -> Vec<EnvironmentChange> {
    let mut changes = Vec::new();
    let mut last_values: BTreeMap<&(EnvironmentAspect, String), &String> = BTreeMap::new();
    for (point, HistoryEntry { run, environment, .. }) in entries.iter().enumerate() {
        for (key, value) in environment {
            let before = last_values.insert(key, value);
            changes.extend(before.filter(|before| *before != value).map(|before| {
                EnvironmentChange {
                    point,
                    run: run.run.clone(),
                    aspect: key.0,
                    of: key.1.clone(),
                    before: before.clone(),
                    after: value.clone(),
                }
            }));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::workload::{LinpackWorkload, Workload};

    use crate::compare::tests::{latency, runs_with_medians};

    /// assay chooses N by the time of a run: Rmax has one history over all N, and one per N where N
    /// is given.
    #[test]
    fn rmax_history_spans_problem_sizes() {
        let linpack = |n: u64| {
            let cpus = vec![0, 1];
            Workload::Linpack(LinpackWorkload { n, cpus, blas: None, seed: 1 })
        };
        let run_with_n =
            |n: u64| runs_with_medians(&linpack(n), "rmax", &[1e9 * n as f64]).remove(0);
        for (ns, wanted, expected) in [
            (&[1000, 1200, 1100][..], &[][..], &[Some(1000), Some(1200), Some(1100)][..]),
            (&[1000, 1000], &[], &[None, None]),
            (&[1000, 1200, 1000], &[(Attribute::N, "1000".to_owned())], &[None, None]),
        ] {
            let runs: Vec<Run> = ns.iter().map(|n| run_with_n(*n)).collect();
            let wanted = ResultQuery { benchmark: None, metric: "rmax", parameters: wanted };
            let history = build_history(&runs, &wanted, |_| 0, (0.03, 1)).unwrap();
            let point_ns: Vec<Option<u64>> = history.points.iter().map(|it| it.n).collect();
            assert_eq!(point_ns, expected, "{ns:?}");
            let has_n = history.identity.contains_key(&Attribute::N);
            assert_eq!(has_n, expected.contains(&None), "{ns:?}");
        }
    }

    /// Runs with other labels, other array sizes or another far end are other histories.
    #[test]
    fn conditions_are_never_mixed() {
        let medians = [5.0, 1.0, 5.0, 1.0, 5.0, 1.0, 5.0, 1.0, 5.0, 5.01];
        let run_with = |number: usize, label: &str, size: u64| {
            let mut run =
                runs_with_medians(&latency(), "latency", &[medians[number]]).remove(0);
            run.started.label = Some(label.to_owned());
            let facts = &mut run.cases[0].series[0].facts;
            facts.insert(Attribute::BytesPerArray, size.into());
            run
        };
        let is_slow = |number: &usize| medians[*number] > 2.0;
        let wanted = ResultQuery { benchmark: None, metric: "latency", parameters: &[] };
        let build = |condition: &dyn Fn(usize) -> (&'static str, u64)| {
            let run = |number: usize| {
                let (label, size) = condition(number);
                run_with(number, label, size)
            };
            let runs: Vec<Run> = (0..medians.len()).map(run).collect();
            let history = build_history(&runs, &wanted, |_| 0, (0.02, 1)).unwrap();
            let others = history.other_conditions.iter();
            let series = std::iter::once(&history).chain(others);
            series
                .map(|it| (it.label.clone().unwrap(), it.points.len(), it.changes.len()))
                .collect::<Vec<_>>()
        };
        let labels = |number: usize| (if is_slow(&number) { "off" } else { "on" }, 1 << 20);
        assert_eq!(build(&labels), [("off".to_owned(), 6, 0), ("on".to_owned(), 4, 0)]);
        let sizes = |number: usize| ("", if is_slow(&number) { 1 << 20 } else { 1 << 30 });
        assert_eq!(build(&sizes), [(String::new(), 6, 0), (String::new(), 4, 0)]);
        let fitted = |number: usize| ("", (1 << 20) + 4096 * number as u64);
        assert_eq!(build(&fitted), [(String::new(), 10, 0)], "sizes fitted to free memory");
    }

    /// The number of runs decides whether a history could show a change at all.
    #[test]
    fn clean_slowdown_needs_eight_runs() {
        let wanted = ResultQuery { benchmark: None, metric: "latency", parameters: &[] };
        for (n, found) in [(6, 0), (7, 0), (8, 1), (9, 1)] {
            let median =
                |i: usize| (if i < n / 2 { 1.0 } else { 5.0 }) + 0.001 * (i % 3) as f64;
            let medians: Vec<f64> = (0..n).map(median).collect();
            let runs = runs_with_medians(&latency(), "latency", &medians);
            let history = build_history(&runs, &wanted, |_| 0, (0.02, 1)).unwrap();
            assert_eq!((history.changes.len(), history.sensitivity.runs_needed), (found, 8));
            assert_eq!(history.sensitivity.smallest_ratio, None, "{n} runs");
        }
        let medians: Vec<f64> = (0..12).map(|i| 1.0 + 0.01 * f64::from(i * 5 % 7)).collect();
        let runs = runs_with_medians(&latency(), "latency", &medians);
        let history = build_history(&runs, &wanted, |_| 0, (0.02, 1)).unwrap();
        let smallest = history.sensitivity.smallest_ratio.unwrap();
        assert!((1.02..1.2).contains(&smallest), "{smallest}");
    }

    /// The newest run shows whether it can be trusted: its doubts count, and an interval that is missing.
    #[test]
    fn points_have_the_trust_of_their_runs() {
        let wanted = ResultQuery { benchmark: None, metric: "latency", parameters: &[] };
        let mut runs = runs_with_medians(&latency(), "latency", &[1.0, 1.0]);
        runs[1].doubts.push(Doubt::AnotherAssay);
        let history = build_history(&runs, &wanted, |_| 0, (0.02, 1)).unwrap();
        let trust: Vec<TrustLevel> = history.points.iter().map(|it| it.trust).collect();
        let first =
            if history.points[0].ci.is_none() { TrustLevel::Noisy } else { TrustLevel::Sound };
        assert_eq!(trust, [first, TrustLevel::Suspect]);
    }

    /// A step of the result is found, and changes of its environment are listed at their runs, with
    /// the loop of this result only.
    #[test]
    fn lists_environment_changes_at_their_runs() {
        let medians = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99, 1.1, 1.11, 1.09, 1.1, 1.11, 1.09];
        let mut runs = runs_with_medians(&latency(), "latency", &medians);
        for (number, run) in runs.iter_mut().enumerate() {
            run.started.run = format!("run-{number}");
            let facts = &mut run.hosts[0].facts;
            facts.system.kernel = if number < 6 { "6.1" } else { "6.18" }.to_owned();
            facts.cpu.governor = (number != 3).then(|| "performance".to_owned());
            let kernel = if number < 9 { "avx2" } else { "avx512" };
            run.cases[0].series[0].facts.insert(Attribute::Kernel, kernel.into());
        }
        let wanted = ResultQuery { benchmark: None, metric: "latency", parameters: &[] };
        let history = build_history(&runs, &wanted, |_| 0, (0.03, 1)).unwrap();
        let changes: Vec<usize> = history.changes.iter().map(|it| it.point).collect();
        assert_eq!(changes, [6]);
        let environment_changes: Vec<(usize, EnvironmentAspect, &str, &str)> = history
            .environment
            .iter()
            .map(|it| (it.point, it.aspect, it.before.as_str(), it.after.as_str()))
            .collect();
        let expected = [
            (6, EnvironmentAspect::Kernel, "6.1", "6.18"),
            (9, EnvironmentAspect::Loop, "avx2", "avx512"),
        ];
        assert_eq!(environment_changes, expected, "a run that does not know is no change");
    }
}
