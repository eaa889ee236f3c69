//! Results of a case's steps: whether a steady state was reached, which rate meets a goal.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes, Value};
use assay_model::doubt::Doubt;
use assay_model::run::{CaseRecord, SeriesRecord};
use assay_model::workload::Workload;
use assay_model::workload::course::{Course, LatencyGoal, SteadyRule};

use super::sides::is_whole;
use crate::rate_search::{Lateness, Search, Try, Verdict};
use crate::rounds::Steady;

/// Additions to the results of a case.
#[derive(Default)]
pub(super) struct Reported {
    /// Facts of every result.
    pub(super) facts: Attributes,
    /// Doubt of every result.
    pub(super) doubt: Option<Doubt>,
    /// Verdict of each step.
    pub(super) shown: BTreeMap<u64, Verdict>,
}

/// Returns the results of the steps of this host; empty if the case has no steps.
pub(super) fn reported(record: &CaseRecord, host: &str) -> Reported {
    let Workload::Storage(test) = &record.case.workload else { return Reported::default() };
    if test.course == Course::Once {
        return Reported::default();
    }
    let is_here = |it: &&SeriesRecord| {
        it.dimensions.get(&Attribute::Host).and_then(Value::text).is_none_or(|it| it == host)
    };
    let here = record.series.iter().filter(is_here);
    let whole: Vec<&SeriesRecord> =
        here.filter(|it| is_whole(record, &it.dimensions)).collect();
    let reported = match test.course {
        Course::Once => None,
        Course::Rounds(rule) => rounds(&whole, &rule),
        Course::Search(goal) => search(&whole, &goal),
    };
    reported.unwrap_or_default()
}

fn rounds(series: &[&SeriesRecord], rule: &SteadyRule) -> Option<Reported> {
    let rates = series.iter().filter(|it| it.metric == "rate");
    let rates: BTreeMap<u64, f64> =
        rates.filter_map(|it| Some((step(it)?, rate_per_s(it)?))).collect();
    if rates.is_empty() {
        return None;
    }
    let steady = Steady::of(&rates.into_values().collect::<Vec<_>>(), rule);
    Some(Reported { facts: steady.facts(), doubt: steady.doubt(), ..Reported::default() })
}

/// Judges the tries of a search; `None` without the maximum rate of a closed loop, with which a
/// search begins.
fn search(series: &[&SeriesRecord], goal: &LatencyGoal) -> Option<Reported> {
    let is_closed = |it: &&&SeriesRecord| it.metric == "rate" && requested(it).is_none();
    let maximum = series
        .iter()
        .filter(is_closed)
        .find_map(|it| step(it).is_some().then(|| rate_per_s(it)).flatten())?;
    let tries = series.iter().filter_map(|it| tried(it, series));
    let tries: BTreeMap<u64, Try> = tries.collect();
    let mut search = Search::below(maximum);
    let shown = tries.into_iter().map(|(step, tried)| (step, search.judge(tried, goal)));
    let shown = shown.collect();
    Some(Reported { facts: search.facts(), doubt: search.doubt(), shown })
}

fn tried(series: &SeriesRecord, all: &[&SeriesRecord]) -> Option<(u64, Try)> {
    let counts = series.counts.iter().filter(|it| series.metric == "late" && !it.warmup);
    let stretches =
        counts.clone().map(|it| Lateness { late: it.seen.part, all: it.seen.whole });
    let elapsed_s: f64 =
        counts.map(|it| it.to_ns.saturating_sub(it.from_ns) as f64 * 1e-9).sum();
    let stretches: Vec<Lateness> = stretches.collect();
    let (asked_per_s, at) = (requested(series)?, step(series)?);
    let rates = all.iter().find(|it| it.metric == "rate" && step(it) == Some(at));
    let reached_per_s = rates.and_then(|it| rate_per_s(it));
    let done = match reached_per_s {
        Some(rate) => (rate * elapsed_s).round() as u64,
        None => stretches.iter().map(|it| it.all).sum(),
    };
    (!stretches.is_empty()).then_some((at, Try { asked_per_s, elapsed_s, done, stretches }))
}

/// Returns all work over all time: the weights of samples are the seconds over which they are
/// means.
fn rate_per_s(series: &SeriesRecord) -> Option<f64> {
    let finite = series.samples.iter().filter(|it| it.value.is_finite());
    let time: f64 = finite.clone().map(|it| it.weight).sum();
    let rate = finite.map(|it| it.value * it.weight).sum::<f64>() / time;
    rate.is_finite().then_some(rate)
}

fn step(series: &SeriesRecord) -> Option<u64> {
    match series.dimensions.get(&Attribute::Step) {
        Some(Value::Integer(step)) => Some(*step),
        _ => None,
    }
}

fn requested(series: &SeriesRecord) -> Option<f64> {
    series.dimensions.get(&Attribute::RequestedRate).and_then(Value::number)
}
