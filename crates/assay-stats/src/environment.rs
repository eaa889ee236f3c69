//! Environment of runs, and its differences between two conditions or from one run to the next.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::comparison::{ComparisonDesign, EnvironmentDifference};
use assay_model::environment::{Environment, EnvironmentAspect};
use assay_model::run::Run;

use crate::workload_key;

/// Minimum difference in runnable tasks before a run: half a CPU.
const MIN_LOAD_DIFFERENCE: f64 = 0.5;
/// Minimum difference in the share of stolen CPU time; doubts about a run have the same threshold.
const MIN_STEAL_DIFFERENCE: f64 = 0.005;

/// Returns the environment of a run; with several hosts, that of the first.
#[must_use]
pub fn run_environment(run: &Run) -> Environment {
    let facts = run.first_host().map(|host| &host.facts);
    let one = |aspect, value: Option<&str>| Some(((aspect, String::new()), value?.to_owned()));
    let mut found: Environment =
        [((EnvironmentAspect::HostCount, String::new()), run.hosts.len().to_string())].into();
    let Some(facts) = facts else { return found };
    found.extend(
        [
            one(EnvironmentAspect::Host, Some(&facts.name)),
            one(EnvironmentAspect::Fingerprint, Some(&facts.fingerprint)),
            one(EnvironmentAspect::Processor, Some(&facts.cpu.model)),
            one(EnvironmentAspect::Microcode, facts.cpu.microcode.as_deref()),
            one(EnvironmentAspect::Kernel, Some(&facts.system.kernel)),
            one(EnvironmentAspect::Governor, facts.cpu.governor.as_deref()),
            one(EnvironmentAspect::Version, facts.versions.get("assay").map(String::as_str)),
        ]
        .into_iter()
        .flatten(),
    );
    let settings = facts.settings.iter();
    found.extend(
        settings
            .map(|(name, value)| ((EnvironmentAspect::Setting, name.clone()), value.clone())),
    );
    found.extend(case_values(run));
    found
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
        let question = workload_key::workload_key(record);
        record.series.iter().flat_map(move |series| {
            let reported = |name: Attribute| {
                let host =
                    series.dimensions.get(&Attribute::Host).and_then(AttributeValue::as_text);
                let on_host = host.and_then(|host| record.facts_by_host.get(host));
                let found = [Some(&series.facts), on_host, Some(&record.facts)];
                let found = found.into_iter().flatten().chain([&series.dimensions]);
                found.into_iter().find_map(|it| format_value(it.get(&name)?))
            };
            let of = format!("{question} {}", series.metric);
            let found = CASE_ASPECTS
                .map(|(aspect, name)| Some(((aspect, of.clone()), reported(name)?)));
            found.into_iter().flatten()
        })
    })
}

fn format_value(value: &AttributeValue) -> Option<String> {
    let number = || value.as_number().map(|number| number.to_string());
    value.as_text().map(str::to_owned).or_else(number)
}

/// Returns unintended differences between the runs of two conditions. Runs at the same position are
/// ordered by their clocks.
#[must_use]
pub fn differences(
    [a, b]: [&[&Run]; 2],
    design: ComparisonDesign,
    place: &dyn Fn(&Run) -> usize,
) -> Vec<EnvironmentDifference> {
    let (of_a, of_b) = (distinct_values(a), distinct_values(b));
    let named = of_a.iter().filter_map(|(key, values)| {
        let other = of_b.get(key).filter(|other| *other != values)?;
        let [a, b] =
            [values, other].map(|it| it.iter().cloned().collect::<Vec<_>>().join(", "));
        let of = if is_listed_once(key.0) { String::new() } else { key.1.clone() };
        Some(EnvironmentDifference { aspect: key.0, of, a, b })
    });
    let mut named: Vec<EnvironmentDifference> = named.collect();
    named.dedup();
    let measured = [
        (EnvironmentAspect::Load, run_load as fn(&Run) -> _, MIN_LOAD_DIFFERENCE),
        (EnvironmentAspect::Steal, steal_share, MIN_STEAL_DIFFERENCE),
    ];
    let measured = measured.into_iter().filter_map(|(aspect, of, reports)| {
        let (a, b) = (median_over_runs(a, of)?, median_over_runs(b, of)?);
        let is_different = (a - b).abs() > reports;
        let [a, b] = [a, b].map(|value| format!("{value:.3}"));
        is_different.then_some(EnvironmentDifference { aspect, of: String::new(), a, b })
    });
    named.into_iter().chain(measured).chain(order_difference([a, b], design, place)).collect()
}

/// Returns the distinct values of each aspect over the runs of a condition.
fn distinct_values(runs: &[&Run]) -> BTreeMap<(EnvironmentAspect, String), BTreeSet<String>> {
    let mut all: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for (key, value) in runs.iter().flat_map(|run| run_environment(run)) {
        all.entry(key).or_default().insert(value);
    }
    all
}

/// Returns a difference in order when all runs of one condition precede those of the other: drift
/// would then look like an effect of the condition.
fn order_difference(
    [a, b]: [&[&Run]; 2],
    design: ComparisonDesign,
    place: &dyn Fn(&Run) -> usize,
) -> Option<EnvironmentDifference> {
    if design == ComparisonDesign::Turns || a.len().min(b.len()) < 2 {
        return None;
    }
    let times = |runs: &[&Run]| {
        let started = runs.iter().map(|run| (place(run), run.started.started.clone()));
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

fn median_over_runs(runs: &[&Run], of: fn(&Run) -> Option<f64>) -> Option<f64> {
    let mut values: Vec<f64> = runs.iter().filter_map(|run| of(run)).collect();
    values.sort_unstable_by(f64::total_cmp);
    crate::quantile::median(&values)
}
