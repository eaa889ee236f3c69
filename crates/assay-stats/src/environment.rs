//! Environment of runs, and its differences between two conditions or from one run to the next.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::comparison::{ComparisonDesign, EnvironmentDifference};
use assay_model::environment::{Environment, EnvironmentAspect};
use assay_model::run::Run;

use crate::{quantile, workload_key};

/// Minimum difference in runnable tasks before a run: half a CPU.
const MIN_LOAD_DIFFERENCE: f64 = 0.5;
/// Minimum difference in the share of stolen CPU time; doubts about a run have the same threshold.
const MIN_STEAL_DIFFERENCE: f64 = 0.005;

/// Returns the environment of a run; with several hosts, that of the first.
pub fn run_environment(run: &Run) -> Environment {
    let facts = run.first_host().map(|host| &host.facts);
    // An imported run has no facts of its machine.
    let entry = |aspect, value: Option<&str>| {
        let value = value.filter(|it| !it.is_empty())?;
        Some(((aspect, String::new()), value.to_owned()))
    };
    let mut environment: Environment =
        [((EnvironmentAspect::HostCount, String::new()), run.hosts.len().to_string())].into();
    let Some(facts) = facts else { return environment };
    environment.extend(
        [
            entry(EnvironmentAspect::Host, Some(&facts.name)),
            entry(EnvironmentAspect::Fingerprint, Some(&facts.fingerprint)),
            entry(EnvironmentAspect::Processor, Some(&facts.cpu.model)),
            entry(EnvironmentAspect::Microcode, facts.cpu.microcode.as_deref()),
            entry(EnvironmentAspect::Kernel, Some(&facts.system.kernel)),
            entry(EnvironmentAspect::Governor, facts.cpu.governor.as_deref()),
            entry(EnvironmentAspect::Version, facts.versions.get("assay").map(String::as_str)),
        ]
        .into_iter()
        .flatten(),
    );
    let settings = facts.settings.iter();
    environment.extend(
        settings
            .map(|(name, value)| ((EnvironmentAspect::Setting, name.clone()), value.clone())),
    );
    environment.extend(case_values(run));
    environment
}

/// Aspects that each case has by itself, with the attribute that holds each.
const CASE_ASPECTS: [(EnvironmentAspect, Attribute); 8] = [
    (EnvironmentAspect::Loop, Attribute::Kernel),
    (EnvironmentAspect::Engine, Attribute::Engine),
    (EnvironmentAspect::FarEnd, Attribute::To),
    (EnvironmentAspect::Congestion, Attribute::Congestion),
    (EnvironmentAspect::ArraySize, Attribute::BytesPerArray),
    (EnvironmentAspect::FileSize, Attribute::TargetBytes),
    (EnvironmentAspect::FileSystem, Attribute::FileSystem),
    (EnvironmentAspect::Device, Attribute::Device),
];

/// Returns whether each case has its own value of an aspect.
pub(crate) fn is_case_aspect(aspect: EnvironmentAspect) -> bool {
    CASE_ASPECTS.iter().any(|(it, _)| *it == aspect)
}

/// Returns whether an aspect is the same for most cases, so that a difference is listed once and
/// not for each case.
const fn is_listed_once(aspect: EnvironmentAspect) -> bool {
    matches!(
        aspect,
        EnvironmentAspect::FarEnd
            | EnvironmentAspect::Congestion
            | EnvironmentAspect::ArraySize
            | EnvironmentAspect::FileSize
            | EnvironmentAspect::FileSystem
            | EnvironmentAspect::Device
    )
}

/// Returns the aspects of all cases: loops, engines, far ends, files.
fn case_values(run: &Run) -> impl Iterator<Item = ((EnvironmentAspect, String), String)> {
    run.finished_cases().flat_map(|record| {
        let workload = workload_key::workload_key(record);
        record.series.iter().flat_map(move |series| {
            let value_of = |name: Attribute| {
                let host =
                    series.dimensions.get(&Attribute::Host).and_then(AttributeValue::as_text);
                let on_host = host.and_then(|host| record.facts_by_host.get(host));
                let sources = [Some(&series.facts), on_host, Some(&record.facts)];
                let sources = sources.into_iter().flatten().chain([&series.dimensions]);
                sources.into_iter().find_map(|it| format_value(it.get(&name)?))
            };
            let subject = format!("{workload} {}", series.metric);
            let aspects = CASE_ASPECTS
                .map(|(aspect, name)| Some(((aspect, subject.clone()), value_of(name)?)));
            aspects.into_iter().flatten()
        })
    })
}

fn format_value(value: &AttributeValue) -> Option<String> {
    let is_plain = value.as_text().is_some() || value.as_number().is_some();
    is_plain.then(|| value.to_string())
}

/// Returns unintended differences between the runs of two conditions. `position` returns the
/// position of a run in the store; runs at the same position are ordered by their clocks.
pub fn differences(
    [a, b]: [&[&Run]; 2],
    design: ComparisonDesign,
    position: &dyn Fn(&Run) -> usize,
) -> Vec<EnvironmentDifference> {
    let (values_a, values_b) = (distinct_values(a), distinct_values(b));
    let by_value = values_a.iter().filter_map(|(key, values)| {
        let other = values_b.get(key).filter(|other| *other != values)?;
        let [a, b] =
            [values, other].map(|it| it.iter().cloned().collect::<Vec<_>>().join(", "));
        let of = if is_listed_once(key.0) { String::new() } else { key.1.clone() };
        Some(EnvironmentDifference { aspect: key.0, of, a, b })
    });
    let mut by_value: Vec<EnvironmentDifference> = by_value.collect();
    by_value.dedup();
    let by_measurement = [
        (EnvironmentAspect::Load, run_load as fn(&Run) -> _, MIN_LOAD_DIFFERENCE),
        (EnvironmentAspect::Steal, steal_share, MIN_STEAL_DIFFERENCE),
    ];
    let by_measurement =
        by_measurement.into_iter().filter_map(|(aspect, read, min_difference)| {
            let (a, b) = (median_over_runs(a, read)?, median_over_runs(b, read)?);
            let is_different = (a - b).abs() > min_difference;
            let [a, b] = [a, b].map(|value| format!("{value:.3}"));
            is_different.then_some(EnvironmentDifference { aspect, of: String::new(), a, b })
        });
    by_value
        .into_iter()
        .chain(by_measurement)
        .chain(order_difference([a, b], design, position))
        .collect()
}

/// Returns the distinct values of each aspect over the runs of a condition.
fn distinct_values(runs: &[&Run]) -> BTreeMap<(EnvironmentAspect, String), BTreeSet<String>> {
    let mut values: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for (key, value) in runs.iter().flat_map(|run| run_environment(run)) {
        values.entry(key).or_default().insert(value);
    }
    values
}

/// Returns a difference in order when all runs of one condition precede those of the other: drift
/// would then look like an effect of the condition.
fn order_difference(
    [a, b]: [&[&Run]; 2],
    design: ComparisonDesign,
    position: &dyn Fn(&Run) -> usize,
) -> Option<EnvironmentDifference> {
    if design != ComparisonDesign::Independent || a.len().min(b.len()) < 2 {
        return None;
    }
    let times = |runs: &[&Run]| {
        let started = runs.iter().map(|run| (position(run), run.started.started.clone()));
        Some((started.clone().min()?, started.max()?))
    };
    let ((first_a, last_a), (first_b, last_b)) = (times(a)?, times(b)?);
    let [a, b] = match (last_a < first_b, last_b < first_a) {
        (true, _) => ["first", "later"],
        (_, true) => ["later", "first"],
        (false, false) => return None,
    };
    let (aspect, of) = (EnvironmentAspect::Order, String::new());
    Some(EnvironmentDifference { aspect, of, a: a.to_owned(), b: b.to_owned() })
}

fn run_load(run: &Run) -> Option<f64> {
    run.first_host()?.state.load_one_minute
}

fn steal_share(run: &Run) -> Option<f64> {
    let (before, after) = (&run.first_host()?.state, run.state_after.as_ref()?);
    let share = (after.steal_s? - before.steal_s?) / (after.cpu_time_s? - before.cpu_time_s?);
    share.is_finite().then_some(share)
}

fn median_over_runs(runs: &[&Run], read: fn(&Run) -> Option<f64>) -> Option<f64> {
    quantile::unsorted_median(runs.iter().filter_map(|run| read(run)))
}
