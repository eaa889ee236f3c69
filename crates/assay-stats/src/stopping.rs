//! Sequential stopping rule: decides after every repetition whether to repeat, to prepare again or
//! to stop.
//!
//! The rule is a function of the samples and of the time spent. It reads no clock and keeps no
//! state, so a case can be replayed from its samples.

use assay_model::event::StopReason;
use assay_model::plan::StoppingRule;

use crate::analysis::{Analysis, analyse};

pub use crate::analysis::Samples;

/// Step that follows a repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Repeat with the present preparation.
    Repeat,
    /// Release all resources, allocate and place them again, then measure once.
    PrepareAfresh,
    /// Stop: the case is finished.
    Stop(StopReason),
}

/// Time that a case has taken so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaseTime {
    /// Seconds since the case began, including preparation, measurement and checks.
    pub elapsed_s: f64,
    /// Seconds of the latest repetition; `None` = unknown. Then it is estimated as the mean over
    /// all the time, which wastes the end of a budget when preparations are expensive.
    pub repetition_s: Option<f64>,
    /// Samples that a repetition adds to a series: 1 of a kernel, hundreds of a connection.
    pub batch: usize,
}

impl From<f64> for CaseTime {
    fn from(elapsed_s: f64) -> Self {
        Self { elapsed_s, repetition_s: None, batch: 1 }
    }
}

/// Share of the variance presumed between preparations until more is known: small, but not ruled
/// out by fewer than several preparations.
const PRESUMED_BETWEEN: f64 = 0.05;
/// Growth between looks. A look after every sample would find a narrow interval by chance sooner or
/// later. Each look comes after half as many samples again, so that a case of 1,000 samples has a
/// dozen.
const LOOK_GROWTH: f64 = 1.5;

/// Multiple of the requested repetitions below which a series does not show its dependence well: it
/// has to look independent to be precise.
const DEPENDENCE_FACTOR: f64 = 3.0;

/// Decides the next step of a case in which all `series` are measured together.
///
/// Each series holds one group per preparation, the present one last. The rule:
///
/// - *Precise*: at 10, 15, 22, 33 … repetitions (`stopping.repetitions` and growing by half), after
///   at least `stopping.preparations`, the half-width of every series' interval is at most
///   `stopping.target` of its median, or the median is 0, and every series has
///   `stopping.repetitions` samples left after its warm-up was discarded. Up to three times as
///   many, the effective samples must reach that number as well: a slow drift looks precise for as
///   long as it has not moved.
/// - *Budget*: another repetition would end after `stopping.budget_s`. A case always gets its first
///   repetition.
/// - A preparation is replaced when it has had its share: √(p/r × (1 − ρ)/ρ) repetitions,
///   which gives the narrowest interval for the time when preparing takes p, a repetition r, and
///   the share ρ of the variance is between preparations (Cochran, Sampling Techniques, 3rd ed.,
///   §10.6; for benchmarks Kalibera and Jones, ISMM 2013), but at least
///   `stopping.repetitions` / `stopping.preparations`. The first `stopping.preparations` have only
///   this minimum share if the budget has room for as many full ones again, so that a quiet machine
///   is done soon; otherwise they share the budget evenly.
///
/// Because of the distance between the looks, 91 to 98 of 100 intervals still cover their median
/// after such a case (simulated; 95 to 98 when the samples are independent).
///
/// All preparations happen within the budget whenever they fit with one repetition each. No planned
/// step overruns the budget; only a step that takes longer than those before it can.
pub fn next_step<S: AsRef<[Vec<f64>]>>(
    series: impl IntoIterator<Item = S>,
    stopping: &StoppingRule,
    spent: impl Into<CaseTime>,
) -> NextStep {
    let series: Vec<S> = series.into_iter().collect();
    let progress = Progress::new(&series, stopping, spent.into());
    if progress.repetitions == 0 {
        let early = progress.left_s > 0.0;
        return if early { NextStep::Repeat } else { NextStep::Stop(StopReason::Budget) };
    }
    if progress.may_be_precise(stopping)
        && series.iter().all(|one| is_series_precise(one.as_ref(), stopping))
    {
        return NextStep::Stop(StopReason::Precise);
    }
    let repeat_fits = progress.repetition_s <= progress.left_s;
    let afresh_fits = progress.preparation_s + progress.repetition_s <= progress.left_s;
    let enough = progress.endangers_owed() || progress.has_full_share(&series);
    match () {
        () if enough && afresh_fits => NextStep::PrepareAfresh,
        () if repeat_fits => NextStep::Repeat,
        () => NextStep::Stop(StopReason::Budget),
    }
}

/// Returns whether every series is as precise as requested. For measurers that return many
/// repetitions at once, without looks in between.
pub fn is_precise<S: AsRef<[Vec<f64>]>>(
    series: impl IntoIterator<Item = S>,
    stopping: &StoppingRule,
) -> bool {
    series.into_iter().all(|one| is_series_precise(one.as_ref(), stopping))
}

/// Progress of a case, in repetitions and in seconds.
struct Progress {
    /// Samples of the longest series.
    samples: usize,
    batch: usize,
    repetitions: usize,
    preparations: usize,
    in_preparation: usize,
    /// Preparations requested, at least 1.
    requested_preparations: usize,
    minimum_share: usize,
    left_s: f64,
    repetition_s: f64,
    preparation_s: f64,
}

impl Progress {
    fn new<S: AsRef<[Vec<f64>]>>(
        series: &[S],
        stopping: &StoppingRule,
        spent: CaseTime,
    ) -> Self {
        let most = |of: fn(&[Vec<f64>]) -> usize| {
            series.iter().map(|one| of(one.as_ref())).max().unwrap_or(0)
        };
        let batch = spent.batch.max(1);
        let samples = most(|one| one.iter().map(Vec::len).sum());
        let repetitions = samples.div_ceil(batch);
        let preparations = most(<[_]>::len);
        let present = |one: &S| one.as_ref().get(preparations.max(1) - 1).map_or(0, Vec::len);
        let requested_preparations = stopping.preparations.max(1) as usize;
        let share_s = spent.elapsed_s / preparations.max(1) as f64;
        // Without the time of a repetition, a preparation with its first repetition is assumed to
        // cost as much as a preparation with all of its repetitions has, which is never too little.
        let mean_s = spent.elapsed_s / repetitions.max(1) as f64;
        let (repetition_s, repeating_s) =
            spent.repetition_s.map_or((mean_s, mean_s), |reported_s| {
                (reported_s, reported_s * repetitions as f64 / preparations.max(1) as f64)
            });
        Self {
            samples,
            batch,
            repetitions,
            preparations,
            in_preparation: series.iter().map(present).max().unwrap_or(0).div_ceil(batch),
            requested_preparations,
            minimum_share: (stopping.repetitions as usize)
                .div_ceil(requested_preparations * batch)
                .max(1),
            left_s: stopping.budget_s - spent.elapsed_s,
            repetition_s,
            preparation_s: (share_s - repeating_s).max(0.0),
        }
    }

    fn owed_preparations(&self) -> usize {
        self.requested_preparations.saturating_sub(self.preparations)
    }

    fn may_be_precise(&self, stopping: &StoppingRule) -> bool {
        self.owed_preparations() == 0
            && passes_look(self.samples, self.batch, stopping.repetitions as usize)
    }

    /// Returns the seconds that a preparation with this many repetitions takes.
    fn preparation_time_s(&self, repetitions: f64) -> f64 {
        self.preparation_s + repetitions * self.repetition_s
    }

    /// Returns whether, after one more repetition, the outstanding preparations could not be
    /// repeated as often as this one.
    fn endangers_owed(&self) -> bool {
        let each_s = self.preparation_time_s((self.in_preparation + 1) as f64);
        self.owed_preparations() > 0
            && self.repetition_s + self.owed_preparations() as f64 * each_s > self.left_s
    }

    /// Returns whether this preparation has had its share of repetitions.
    fn has_full_share<S: AsRef<[Vec<f64>]>>(&self, series: &[S]) -> bool {
        if !passes_look(self.in_preparation, 1, self.minimum_share) {
            return false;
        }
        let best = self.best_share(PRESUMED_BETWEEN).max(self.minimum_share as f64);
        let further = (self.owed_preparations() + self.requested_preparations) as f64;
        let early = self.preparations <= self.requested_preparations;
        if early && further * self.preparation_time_s(best) <= self.left_s {
            return true;
        }
        // A greater ρ only makes the share smaller, so often there is nothing to analyse.
        let has = self.in_preparation as f64;
        has >= best || has >= self.best_share(max_intraclass_correlation(series))
    }

    /// Returns the best number of repetitions at this ρ; practically infinite when a repetition
    /// takes no time.
    fn best_share(&self, between: f64) -> f64 {
        let costs = self.preparation_s / self.repetition_s.max(f64::MIN_POSITIVE);
        (costs * (1.0 - between) / between).sqrt()
    }
}

fn max_intraclass_correlation<S: AsRef<[Vec<f64>]>>(series: &[S]) -> f64 {
    let analyses = series.iter().filter_map(|one| analyse(one.as_ref()));
    analyses
        .map(|analysis| analysis.effective.intraclass_correlation)
        .fold(PRESUMED_BETWEEN, f64::max)
}

/// Returns whether the latest `batch` of `n` samples contains a look: `first`, 1.5 × `first`, …
/// each rounded down.
fn passes_look(n: usize, batch: usize, first: usize) -> bool {
    let mut look = first.max(1);
    while look + batch <= n {
        look = ((look as f64 * LOOK_GROWTH) as usize).max(look + 1);
    }
    look <= n
}

fn is_series_precise(samples: &[Vec<f64>], stopping: &StoppingRule) -> bool {
    let narrow = |analysis: &Analysis| {
        let (n, minimum) = (analysis.sorted.len() as f64, f64::from(stopping.repetitions));
        let Some(width) = analysis.relative_half_width() else {
            // Around a median of 0 no relative width can be required.
            return n >= minimum && analysis.interval.is_some();
        };
        let effective = &analysis.effective;
        // Tolerates rounding.
        let worth = effective.n * (1.0 + 1e-9);
        let is_shown = worth >= minimum && (effective.z_score <= 0.0 || n > minimum)
            || n >= minimum * DEPENDENCE_FACTOR
            || width <= 0.0;
        n >= minimum && is_shown && width <= stopping.target
    };
    analyse(samples).as_ref().is_some_and(narrow)
}

#[cfg(test)]
mod tests;
