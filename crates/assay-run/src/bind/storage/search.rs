//! Rate search: finds the maximum rate of a workload that meets a latency goal.
//!
//! Every try is recorded as a step; the result of the search is derived from the steps.

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use assay_model::event::EventCount;
use assay_model::failure::{FailureReason, TriedRate};
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::quantity::{Quantity, Unit};
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::measurement_mode::LatencyGoal;
use assay_model::workload::storage::{ArrivalProcess, StorageLoad, StorageWorkload};
use assay_stats::rate_search::{GoalVerdict, LateCount, RateSearch, RateTry};

use super::StorageCaseRun;
use crate::recorder::{CaseError, Recorder};
use crate::storage::series::{self, StorageStretch};

/// Number of stretches of a try: as many as the verdict needs, with a reserve for stretches without
/// I/O.
const STRETCHES: f64 = 70.0;
/// Number of parts for stored latencies: as many as the comparison of percentiles uses.
const PARTS: f64 = 16.0;

/// Returns the workload at the maximum rate that meets the goal, and its outcome.
pub(super) fn measure(
    measurer: &mut StorageCaseRun<'_, '_, '_>,
    workload: &StorageWorkload,
    goal: &LatencyGoal,
) -> Result<(StorageWorkload, StorageOutcome), CaseError> {
    let closed = measurer.run_once(&workload.with_step_seed(0))?;
    record_step(0, None, &closed, goal, measurer.recorder)?;
    let mut search = RateSearch::new(series::rate_per_s(&closed));
    let mut tries: Vec<StorageOutcome> = Vec::new();
    let (mut kept, mut last) = (OutcomesInGoal::default(), None);
    for step in 1.. {
        let Some(rate_per_s) = search.next_rate(LatencyGoal::MAX_STEPS) else { break };
        if !search.is_second_try() {
            tries.clear();
        }
        let load = StorageLoad::Open { rate_per_s, arrivals: ArrivalProcess::Exponential };
        let mut open = StorageWorkload { load, ..workload.with_step_seed(u64::from(step)) };
        let timing = &mut open.timing;
        let stretch_s = timing.duration_s.map_or(timing.interval_s, |it| it / STRETCHES);
        timing.interval_s = timing.interval_s.min(stretch_s);
        let outcome = match measurer.run_once(&open) {
            // A rate that met the goal is a result, though a higher one may exist.
            Err(CaseError::Interrupted) if search.met_rate > 0.0 => break,
            outcome => outcome?,
        };
        record_step(step, Some(rate_per_s), &outcome, goal, measurer.recorder)?;
        let tried = evaluate_try(rate_per_s, &stretches(&outcome), goal);
        tries.push(outcome);
        let shown = search.record_try(tried.clone(), goal);
        measurer.recorder.note(&format_try(&tried, shown));
        last = Some((tried, shown));
        let outcome =
            (shown == GoalVerdict::Met).then(|| series::concatenate(&tries)).flatten();
        kept.add(&search, outcome.map(|all| (open, all)));
    }
    kept.best().ok_or_else(|| {
        let last = last.map(|(tried, shown)| tried_rate(&tried, shown));
        FailureReason::NoRateKeepsGoal { goal: goal.to_string(), last }.into()
    })
}

/// Outcomes at the rates that met the goal; the last one is the result of the search.
struct OutcomesInGoal<T>(Vec<(f64, T)>);

impl<T> Default for OutcomesInGoal<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> OutcomesInGoal<T> {
    /// Adds the outcome of a try that met the goal. A rate that met it once and misses it when
    /// tried again loses its outcomes.
    fn add(&mut self, search: &RateSearch, measured: Option<T>) {
        self.0.extend(measured.map(|it| (search.met_rate, it)));
        self.0.retain(|(rate, _)| *rate <= search.met_rate);
    }

    fn best(mut self) -> Option<T> {
        self.0.pop().map(|(_, measured)| measured)
    }
}

fn stretches(outcome: &StorageOutcome) -> Vec<StorageStretch> {
    series::join_stretches(&outcome.intervals, outcome.elapsed_s / STRETCHES)
}

fn evaluate_try(asked_per_s: f64, seen: &[StorageStretch], goal: &LatencyGoal) -> RateTry {
    RateTry {
        requested_per_s: asked_per_s,
        elapsed_s: seen.iter().map(StorageStretch::length_s).sum(),
        done: seen.iter().map(StorageStretch::count).sum(),
        stretches: seen.iter().map(|it| it.lateness(goal.most_s)).collect(),
    }
}

fn share_late(tried: &RateTry) -> f64 {
    let late: u64 = tried.stretches.iter().map(|it| it.late).sum();
    let all: u64 = tried.stretches.iter().map(|it| it.all).sum();
    late as f64 / (all as f64).max(1.0)
}

fn tried_rate(tried: &RateTry, shown: GoalVerdict) -> TriedRate {
    TriedRate {
        asked_per_s: tried.requested_per_s,
        reached_per_s: tried.reached_per_s(),
        late: share_late(tried),
        is_missed: shown == GoalVerdict::Missed,
    }
}

/// Formats the progress: `412.3 kIO/s requested, 411.9 kIO/s reached, 0.3 % of the I/O too late:
/// met`.
fn format_try(tried: &RateTry, shown: GoalVerdict) -> Phrase {
    let rate = |value| Phrase::Measured(Quantity::new(value, Unit::IoPerSecond), 4);
    let verdict = match shown {
        GoalVerdict::Met => phrase!("keeps", "met"),
        GoalVerdict::Missed => phrase!("misses", "missed"),
        GoalVerdict::Unclear => phrase!("unclear", "unclear"),
    };
    phrase!(
        "tried",
        "{asked} requested, {reached} reached, {late} of the I/O too late: {verdict}",
        asked = rate(tried.requested_per_s),
        reached = rate(tried.reached_per_s()),
        late = Phrase::exact_value(format!("{:.3} %", 100.0 * share_late(tried))),
        verdict = verdict,
    )
}

/// Records one try: its rates, its latency, and the late I/O among all in every stretch.
///
/// The closed loop before all tries has no requested rate and no late I/O. Each try is stored at
/// once, so that a search without a result, or one that is interrupted, leaves its tries.
fn record_step(
    step: u32,
    asked_per_s: Option<f64>,
    outcome: &StorageOutcome,
    goal: &LatencyGoal,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let asked = asked_per_s.map(|rate| (Attribute::RequestedRate, AttributeValue::from(rate)));
    let key = |metric| {
        SeriesKey::with_dimensions(
            metric,
            [(Attribute::Step, step.into())].into_iter().chain(asked.clone()),
        )
    };
    let mut start_s = 0.0;
    for stretch in stretches(outcome) {
        let (value, weight) = (stretch.rate_per_s(), stretch.length_s());
        recorder.record(MeasurementEntry::Measured(
            key("rate"),
            EntryValue::weighted(value, weight),
        ));
        if asked_per_s.is_some() {
            let LateCount { late, all } = stretch.lateness(goal.most_s);
            let span = MeasuredSpan::from_seconds(start_s, weight, false);
            let count = EntryValue::Count(span, EventCount { part: late, whole: all });
            recorder.record(MeasurementEntry::Measured(key("late"), count));
        }
        start_s += weight;
    }
    start_s = 0.0;
    for part in series::join_stretches(&outcome.intervals, outcome.elapsed_s / PARTS) {
        let span = MeasuredSpan::from_seconds(start_s, part.length_s(), false);
        recorder.record_all(part.latency().map(|(metric, latency)| {
            MeasurementEntry::Measured(key(metric), EntryValue::Distribution(span, latency))
        }));
        start_s += part.length_s();
    }
    recorder.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: LatencyGoal = LatencyGoal { percent: 99.0, most_s: 1e-3 };

    /// Returns the rate whose outcome remains after tries of which some miss, and the rate of the
    /// search.
    fn remaining_after(misses: &[bool]) -> (Option<f64>, f64) {
        let (mut search, mut kept) = (RateSearch::new(1000.0), OutcomesInGoal::default());
        for late in misses.iter().map(|it| if *it { 500 } else { 0 }) {
            let Some(rate) = search.next_rate(LatencyGoal::MAX_STEPS) else { break };
            let stretches = vec![LateCount { late, all: 500 }; 60];
            let tried =
                RateTry { requested_per_s: rate, elapsed_s: 1.0, done: 30_000, stretches };
            let shown = search.record_try(tried, &GOAL);
            kept.add(&search, (shown == GoalVerdict::Met).then_some(rate));
        }
        (kept.best(), search.met_rate)
    }

    #[test]
    fn keeps_only_outcomes_at_the_reported_rate() {
        for length in 1..=LatencyGoal::MAX_STEPS {
            for tries in 0..1_u32 << length {
                let misses: Vec<bool> = (0..length).map(|it| tries >> it & 1 == 1).collect();
                let (measured, keeps) = remaining_after(&misses);
                assert_eq!(measured, (keeps > 0.0).then_some(keeps), "{misses:?}");
            }
        }
    }
}
