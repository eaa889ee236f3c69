//! One workload at one rate after another, to find the greatest at which most I/O keep a latency.

use std::fmt::Write as _;

use assay_model::event::Parameter;
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
    let greatest = series::rate_per_s(&measurer.once(workload)?);
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
        measurer.recorder.note(&format!("  {}", step.line()));
        search.note(rate_per_s, step.shown);
        if step.shown == Verdict::Keeps {
            kept = Some((open, all));
        }
        tried.push(step);
    }
    learn(&tried, &search, greatest, measurer.recorder)?;
    kept.ok_or_else(|| {
        let why = tried.last().map_or_else(|| "no I/O was done".to_owned(), Tried::line);
        CaseError::failed(
            format!("no rate was shown to keep {goal}: {why}"),
            "allow more latency, or give every step more time (`--for`): a percentile needs many I/O",
        )
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

fn learn(
    all: &[Tried],
    search: &Search,
    greatest: f64,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let mut table = String::from("rate,reached,late,all,shown\n");
    for it in all {
        let Lateness { late, all } = it.lateness;
        let (rate, reached) = (it.rate_per_s, it.reached_per_s);
        let _ = writeln!(table, "{rate:.3},{reached:.3},{late},{all},{}", it.word());
    }
    recorder.raw("steps.csv", table.as_bytes())?;
    let step = |it: &Tried| {
        let (rate, reached) = (it.rate_per_s, it.reached_per_s);
        format!("{rate:.1}:{reached:.1}:{:.6}:{}", it.share_late(), it.word())
    };
    let steps = all.iter().map(step).collect::<Vec<_>>().join(" ");
    recorder.learn(None, "goal_steps", Parameter::Text(steps));
    recorder.learn(None, "goal_rate", Parameter::Number(search.keeps));
    recorder.learn(None, "goal_missed_at", Parameter::Number(search.misses));
    recorder.learn(None, "greatest_rate", Parameter::Number(greatest));
    Ok(())
}
