//! Results of a case's steps: whether its rounds reached a steady state, and which rate of a search
//! meets the latency goal.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::doubt::Doubt;
use assay_model::run::{CaseRecord, SeriesRecord};
use assay_model::workload::measurement_mode::{LatencyGoal, MeasurementMode, SteadyRule};

use super::mix::covers_all_operations;
use crate::rate_search::{GoalVerdict, LateCount, RateSearch, RateTry};
use crate::rounds::SteadyState;

/// Additions to the results of a case.
#[derive(Default)]
pub(super) struct StepResults {
    /// Facts of every result.
    pub(super) facts: Attributes,
    /// Doubt of every result.
    pub(super) doubt: Option<Doubt>,
    /// Verdict of each step.
    pub(super) verdicts: BTreeMap<u64, GoalVerdict>,
}

/// Returns the results of the steps of this host; empty if the case has no steps.
pub(super) fn step_results(record: &CaseRecord, host: &str) -> StepResults {
    let Some(test) = record.case.workload.as_storage() else { return StepResults::default() };
    if test.course == MeasurementMode::Once {
        return StepResults::default();
    }
    let is_of_host = |it: &&SeriesRecord| {
        it.dimensions
            .get(&Attribute::Host)
            .and_then(AttributeValue::as_text)
            .is_none_or(|it| it == host)
    };
    let of_host = record.series.iter().filter(is_of_host);
    let whole_series: Vec<&SeriesRecord> =
        of_host.filter(|it| covers_all_operations(record, &it.dimensions)).collect();
    let results = match test.course {
        MeasurementMode::Once => None,
        MeasurementMode::Rounds(rule) => steady_results(&whole_series, &rule),
        MeasurementMode::Search(goal) => search_results(&whole_series, &goal),
    };
    results.unwrap_or_default()
}

fn steady_results(series: &[&SeriesRecord], rule: &SteadyRule) -> Option<StepResults> {
    let rates = series.iter().filter(|it| it.metric == "rate");
    let rates: BTreeMap<u64, f64> =
        rates.filter_map(|it| Some((step_number(it)?, rate_per_s(it)?))).collect();
    if rates.is_empty() {
        return None;
    }
    let steady = SteadyState::from_rates(&rates.into_values().collect::<Vec<_>>(), rule);
    Some(StepResults { facts: steady.facts(), doubt: steady.doubt(), ..StepResults::default() })
}

/// Judges the tries of a search; `None` without the maximum rate of a closed loop, with which a
/// search begins.
fn search_results(series: &[&SeriesRecord], goal: &LatencyGoal) -> Option<StepResults> {
    let is_closed = |it: &&&SeriesRecord| it.metric == "rate" && requested_rate(it).is_none();
    let maximum = series
        .iter()
        .filter(is_closed)
        .find_map(|it| step_number(it).is_some().then(|| rate_per_s(it)).flatten())?;
    let tries = series.iter().filter_map(|it| rate_try(it, series));
    let tries: BTreeMap<u64, RateTry> = tries.collect();
    let mut search = RateSearch::new(maximum);
    let verdicts =
        tries.into_iter().map(|(step, rate_try)| (step, search.record_try(rate_try, goal)));
    let verdicts = verdicts.collect();
    Some(StepResults { facts: search.facts(), doubt: search.doubt(), verdicts })
}

fn rate_try(series: &SeriesRecord, host_series: &[&SeriesRecord]) -> Option<(u64, RateTry)> {
    let counts = series.counts.iter().filter(|it| series.metric == "late" && !it.warmup);
    let stretches =
        counts.clone().map(|it| LateCount { late: it.seen.part, all: it.seen.whole });
    let elapsed_s: f64 =
        counts.map(|it| it.to_ns.saturating_sub(it.from_ns) as f64 * 1e-9).sum();
    let stretches: Vec<LateCount> = stretches.collect();
    let (requested_per_s, step) = (requested_rate(series)?, step_number(series)?);
    let rates =
        host_series.iter().find(|it| it.metric == "rate" && step_number(it) == Some(step));
    let reached_per_s = rates.and_then(|it| rate_per_s(it));
    let completed = match reached_per_s {
        Some(rate) => (rate * elapsed_s).round() as u64,
        None => stretches.iter().map(|it| it.all).sum(),
    };
    (!stretches.is_empty())
        .then_some((step, RateTry { requested_per_s, elapsed_s, done: completed, stretches }))
}

/// Returns all work over all time: the weights of samples are the seconds over which they are
/// means.
fn rate_per_s(series: &SeriesRecord) -> Option<f64> {
    let finite = series.samples.iter().filter(|it| it.value.is_finite());
    let time: f64 = finite.clone().map(|it| it.weight).sum();
    let rate = finite.map(|it| it.value * it.weight).sum::<f64>() / time;
    rate.is_finite().then_some(rate)
}

fn step_number(series: &SeriesRecord) -> Option<u64> {
    match series.dimensions.get(&Attribute::Step) {
        Some(AttributeValue::Integer(step)) => Some(*step),
        _ => None,
    }
}

fn requested_rate(series: &SeriesRecord) -> Option<f64> {
    series.dimensions.get(&Attribute::RequestedRate).and_then(AttributeValue::as_number)
}
