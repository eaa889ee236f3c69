//! One workload at one rate after another, to find the greatest at which most I/O keep a latency.

use assay_model::attribute::Attribute;
use assay_model::entry::{Entry, Key, Seen, Span};
use assay_model::event::Count;
use assay_model::failure::{Failure, TriedRate};
use assay_model::quantity::{Quantity, Unit};
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::course::LatencyGoal;
use assay_model::workload::storage::{Arrivals, Load, StorageWorkload};
use assay_stats::rate_search::{Lateness, Search, Verdict, verdict};

use super::Measurer;
use super::results::is_missed;
use crate::recorder::{CaseError, Recorder};
use crate::storage::series;

/// The workload at the greatest rate that keeps the goal, and what it did. All that were tried are kept
/// with the result.
pub(super) fn measure(
    measurer: &mut Measurer<'_, '_, '_>,
    workload: &StorageWorkload,
    goal: &LatencyGoal,
) -> Result<(StorageWorkload, StorageOutcome), CaseError> {
    let closed = measurer.once(workload)?;
    let greatest = series::rate_per_s(&closed);
    // The closed loop is step 0; what the search amounts to follows from the steps.
    record_step(
        &Key::with("rate", [(Attribute::Step, 0_u32.into())]),
        &closed,
        measurer.recorder,
    );
    let mut search = Search::below(greatest);
    let (mut tried, mut tries): (Vec<Tried>, Vec<StorageOutcome>) = Default::default();
    let mut kept = None;
    while let Some(rate_per_s) = search.next(LatencyGoal::MOST_STEPS) {
        if !search.is_second_try() {
            tries.clear();
        }
        let load = Load::Open { rate_per_s, arrivals: Arrivals::Exponential };
        let open = StorageWorkload { load, ..workload.clone() };
        tries.push(measurer.once(&open)?);
        let Some(all) = series::joined(&tries) else { break };
        let step = Tried::judge(&all, rate_per_s, goal);
        record_try(tried.len() + 1, rate_per_s, &all, goal, measurer.recorder);
        measurer.recorder.note(&format!("  {}", step.line()));
        search.note(rate_per_s, step.shown);
        if step.shown == Verdict::Keeps {
            kept = Some((open, all));
        }
        tried.push(step);
    }
    kept.ok_or_else(|| {
        let last = tried.last().map(Tried::failed);
        Failure::NoRateKeepsGoal { goal: goal.to_string(), last }.into()
    })
}

/// One rate that was tried.
struct Tried {
    rate_per_s: f64,
    reached_per_s: f64,
    lateness: Lateness,
    shown: Verdict,
}

impl Tried {
    fn judge(outcome: &StorageOutcome, rate_per_s: f64, goal: &LatencyGoal) -> Self {
        let stretch_s = series::stretch_s(outcome.elapsed_s);
        let stretches: Vec<Lateness> = series::stretches(&outcome.intervals, stretch_s)
            .iter()
            .map(|stretch| stretch.lateness(goal.most_s))
            .collect();
        let asked = rate_per_s * outcome.elapsed_s;
        let is_short = is_missed(series::count(outcome), asked);
        let allowed = 1.0 - goal.percent / 100.0;
        let lateness = Lateness {
            late: stretches.iter().map(|it| it.late).sum(),
            all: stretches.iter().map(|it| it.all).sum(),
        };
        Self {
            rate_per_s,
            reached_per_s: series::rate_per_s(outcome),
            lateness,
            shown: if is_short { Verdict::Misses } else { verdict(&stretches, allowed) },
        }
    }

    const fn word(&self) -> &'static str {
        match self.shown {
            Verdict::Keeps => "kept",
            Verdict::Misses => "missed",
            Verdict::Unclear => "unclear",
        }
    }

    fn share_late(&self) -> f64 {
        self.lateness.late as f64 / (self.lateness.all as f64).max(1.0)
    }

    fn failed(&self) -> TriedRate {
        TriedRate {
            asked_per_s: self.rate_per_s,
            reached_per_s: self.reached_per_s,
            late: self.share_late(),
            is_missed: self.shown == Verdict::Misses,
        }
    }

    /// `412.3 kIO/s asked for, 411.9 kIO/s reached, 0.3 % of the I/O later: kept`.
    fn line(&self) -> String {
        let rate = |value| Quantity::new(value, Unit::IoPerSecond);
        format!(
            "{:.4} asked for, {:.4} reached, {:.3} % of the I/O later: {}",
            rate(self.rate_per_s),
            rate(self.reached_per_s),
            100.0 * self.share_late(),
            self.word()
        )
    }
}

/// The rates of all stretches.
fn record_step(key: &Key, outcome: &StorageOutcome, recorder: &mut Recorder<'_, '_>) {
    for stretch in series::stretches(&outcome.intervals, series::stretch_s(outcome.elapsed_s)) {
        let (value, weight) = (stretch.rate_per_s(), stretch.length_s());
        recorder.record(Entry::Measured(key.clone(), Seen::Sample { value, weight }));
    }
}

/// One try: its rates, and in every stretch the I/O that were late among all. A rate that was tried twice
/// is recorded twice, the second time with what both tries counted, which is what decides.
fn record_try(
    step: usize,
    asked_per_s: f64,
    outcome: &StorageOutcome,
    goal: &LatencyGoal,
    recorder: &mut Recorder<'_, '_>,
) {
    let of = |metric| {
        Key::with(
            metric,
            [(Attribute::Step, step.into()), (Attribute::RequestedRate, asked_per_s.into())],
        )
    };
    record_step(&of("rate"), outcome, recorder);
    let mut start_s = 0.0;
    for stretch in series::stretches(&outcome.intervals, series::stretch_s(outcome.elapsed_s)) {
        let Lateness { late, all } = stretch.lateness(goal.most_s);
        let span = Span::of_seconds(start_s, stretch.length_s(), false);
        start_s += stretch.length_s();
        let count = Seen::Count(span, Count { part: late, whole: all });
        recorder.record(Entry::Measured(of("late"), count));
    }
}
