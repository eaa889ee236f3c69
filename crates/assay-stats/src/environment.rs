//! Environment of runs, and its differences between two conditions or from one run to the next.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, Value};
use assay_model::comparison::{Design, Difference};
use assay_model::environment::{Aspect, Environment};
use assay_model::run::Run;

use crate::question;

/// Minimum difference in runnable tasks before a run: half a CPU.
const LOAD: f64 = 0.5;
/// Minimum difference in the share of stolen CPU time; doubts about a run have the same threshold.
const STEAL: f64 = 0.005;

/// Returns the environment of a run; with several hosts, that of the first.
#[must_use]
pub fn of(run: &Run) -> Environment {
    let facts = run.first_host().map(|host| &host.facts);
    let one = |aspect, value: Option<&str>| Some(((aspect, String::new()), value?.to_owned()));
    let mut found: Environment =
        [((Aspect::HostCount, String::new()), run.hosts.len().to_string())].into();
    let Some(facts) = facts else { return found };
    found.extend(
        [
            one(Aspect::Host, Some(&facts.name)),
            one(Aspect::Fingerprint, Some(&facts.fingerprint)),
            one(Aspect::Processor, Some(&facts.cpu.model)),
            one(Aspect::Microcode, facts.cpu.microcode.as_deref()),
            one(Aspect::Kernel, Some(&facts.system.kernel)),
            one(Aspect::Governor, facts.cpu.governor.as_deref()),
            one(Aspect::Version, facts.versions.get("assay").map(String::as_str)),
        ]
        .into_iter()
        .flatten(),
    );
    let settings = facts.settings.iter();
    found
        .extend(settings.map(|(name, value)| ((Aspect::Setting, name.clone()), value.clone())));
    found.extend(of_cases(run));
    found
}

/// Aspects that each case has by itself, with the attribute that holds each.
const OF_CASES: [(Aspect, Attribute); 8] = [
    (Aspect::Loop, Attribute::Kernel),
    (Aspect::Engine, Attribute::Engine),
    (Aspect::FarEnd, Attribute::To),
    (Aspect::Congestion, Attribute::Congestion),
    (Aspect::ArraySize, Attribute::BytesPerArray),
    (Aspect::FileSize, Attribute::TargetBytes),
    (Aspect::FileSystem, Attribute::FileSystem),
    (Aspect::Device, Attribute::Device),
];

/// Returns whether each case has its own value of an aspect.
pub(crate) fn is_of_cases(aspect: Aspect) -> bool {
    OF_CASES.iter().any(|(it, _)| *it == aspect)
}

/// Returns whether an aspect is the same for most cases, so that a difference is listed once and
/// not for each case.
const fn is_named_once(aspect: Aspect) -> bool {
    matches!(
        aspect,
        Aspect::FarEnd
            | Aspect::Congestion
            | Aspect::ArraySize
            | Aspect::FileSize
            | Aspect::FileSystem
            | Aspect::Device
    )
}

/// Returns the aspects of all cases: loops, engines, far ends, files.
fn of_cases(run: &Run) -> impl Iterator<Item = ((Aspect, String), String)> {
    run.finished_cases().flat_map(|record| {
        let question = question::of(record);
        record.series.iter().flat_map(move |series| {
            let reported = |name: Attribute| {
                let host = series.dimensions.get(&Attribute::Host).and_then(Value::text);
                let on_host = host.and_then(|host| record.facts_on.get(host));
                let found = [Some(&series.facts), on_host, Some(&record.facts)];
                let found = found.into_iter().flatten().chain([&series.dimensions]);
                found.into_iter().find_map(|it| shown(it.get(&name)?))
            };
            let of = format!("{question} {}", series.metric);
            let found =
                OF_CASES.map(|(aspect, name)| Some(((aspect, of.clone()), reported(name)?)));
            found.into_iter().flatten()
        })
    })
}

fn shown(value: &Value) -> Option<String> {
    let number = || value.number().map(|number| number.to_string());
    value.text().map(str::to_owned).or_else(number)
}

/// Returns unintended differences between the runs of two conditions. Runs at the same position are
/// ordered by their clocks.
#[must_use]
pub fn differences(
    [a, b]: [&[&Run]; 2],
    design: Design,
    place: &dyn Fn(&Run) -> usize,
) -> Vec<Difference> {
    let (of_a, of_b) = (values(a), values(b));
    let named = of_a.iter().filter_map(|(key, values)| {
        let other = of_b.get(key).filter(|other| *other != values)?;
        let [a, b] =
            [values, other].map(|it| it.iter().cloned().collect::<Vec<_>>().join(", "));
        let of = if is_named_once(key.0) { String::new() } else { key.1.clone() };
        Some(Difference { aspect: key.0, of, a, b })
    });
    let mut named: Vec<Difference> = named.collect();
    named.dedup();
    let measured = [(Aspect::Load, load as fn(&Run) -> _, LOAD), (Aspect::Steal, steal, STEAL)];
    let measured = measured.into_iter().filter_map(|(aspect, of, reports)| {
        let (a, b) = (middle(a, of)?, middle(b, of)?);
        let is_different = (a - b).abs() > reports;
        let [a, b] = [a, b].map(|value| format!("{value:.3}"));
        is_different.then_some(Difference { aspect, of: String::new(), a, b })
    });
    named.into_iter().chain(measured).chain(order([a, b], design, place)).collect()
}

/// Returns the distinct values of each aspect over the runs of a condition.
fn values(runs: &[&Run]) -> BTreeMap<(Aspect, String), BTreeSet<String>> {
    let mut all: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for (key, value) in runs.iter().flat_map(|run| of(run)) {
        all.entry(key).or_default().insert(value);
    }
    all
}

/// Returns a difference in order when all runs of one condition precede those of the other: drift
/// would then look like an effect of the condition.
fn order(
    [a, b]: [&[&Run]; 2],
    design: Design,
    place: &dyn Fn(&Run) -> usize,
) -> Option<Difference> {
    if design == Design::Turns || a.len().min(b.len()) < 2 {
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
    let (aspect, of) = (Aspect::Order, String::new());
    Some(Difference { aspect, of, a: a.to_owned(), b: b.to_owned() })
}

fn load(run: &Run) -> Option<f64> {
    run.first_host()?.state.load_one_minute
}

fn steal(run: &Run) -> Option<f64> {
    let (before, after) = (&run.first_host()?.state, run.state_after.as_ref()?);
    let share = (after.steal_s? - before.steal_s?) / (after.cpu_time_s? - before.cpu_time_s?);
    share.is_finite().then_some(share)
}

fn middle(runs: &[&Run], of: fn(&Run) -> Option<f64>) -> Option<f64> {
    let mut values: Vec<f64> = runs.iter().filter_map(|run| of(run)).collect();
    values.sort_unstable_by(f64::total_cmp);
    crate::quantile::median(&values)
}
