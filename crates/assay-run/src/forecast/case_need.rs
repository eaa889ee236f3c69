//! Time that a case needs for its plan, as far as it is known.

use assay_model::plan::TimePriority;

use super::CASE_OVERHEAD_S;

/// Ratio of a first turn to its plan above which other cases are taken to exceed theirs, too.
const MIN_OVERRUN: f64 = 1.2;

/// Time of a case so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SpentTime {
    pub(super) seconds: f64,
    pub(super) first_turn_s: f64,
    /// Whether a turn has ended with a result.
    pub(super) has_result: bool,
    pub(super) is_over: bool,
}

/// Time that a case needs for its plan, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct CaseNeed {
    pub(super) priority: TimePriority,
    /// Whether it is left out if there is no time for a first result.
    pub(super) may_be_cut: bool,
    /// Whether its first result takes longer on a busy machine, by a factor that other cases show.
    pub(super) has_pace: bool,
    /// Forecast seconds up to its first result, with the choice of its loops.
    pub(super) forecast_s: f64,
    /// The same, or longer if other cases have exceeded their plans.
    pub(super) least_s: f64,
    /// Seconds of its budget and of the choice of its loops, at least `least_s`.
    pub(super) planned_s: f64,
    pub(super) spent: SpentTime,
}

impl CaseNeed {
    /// Seconds that the case still plans to use.
    pub(super) fn remaining_s(&self) -> f64 {
        if self.spent.is_over { 0.0 } else { (self.planned_s - self.spent.seconds).max(0.0) }
    }

    /// Seconds up to its first result.
    pub(super) fn first_result_s(&self) -> f64 {
        let has_result = self.spent.is_over || self.spent.has_result;
        if has_result { 0.0 } else { (self.least_s - self.spent.seconds).max(0.0) }
    }

    /// Whether it may get a first result within some seconds: others that took longer than their plans
    /// do not prove that it does, too.
    pub(super) fn may_fit(&self, within_s: f64) -> bool {
        within_s > (self.forecast_s - self.spent.seconds).max(0.0)
    }

    /// Whether it is a headline case that still needs its first result.
    pub(super) fn is_awaited(&self) -> bool {
        self.priority == TimePriority::Headline && self.is_waiting()
    }

    /// Whether it has neither ended nor a result.
    pub(super) fn is_waiting(&self) -> bool {
        !self.spent.is_over && !self.spent.has_result
    }

    /// Ratio of the first turns so far to their forecast, at least 1: a busy machine is slower. The
    /// turn of a fixed case, or of storage, takes as long as its plan, on any machine.
    pub(super) fn pace(needs: &[Self]) -> f64 {
        let is_measured = |it: &&Self| {
            it.spent.has_result && it.has_pace && it.priority != TimePriority::Fixed
        };
        let first_turns = || needs.iter().filter(is_measured);
        let took_s: f64 = first_turns().map(|it| it.spent.first_turn_s).sum();
        let forecast_s: f64 = first_turns().map(|it| it.least_s).sum();
        if forecast_s > 0.0 { (took_s / forecast_s).max(1.0) } else { 1.0 }
    }

    /// Ratio of the first turns that exceeded their whole plan, or were ended beyond it, to these plans;
    /// 1 without any. First results of other cases then take longer than their plans, too.
    pub(super) fn overrun(needs: &[Self]) -> f64 {
        let has_exceeded = |it: &&Self| {
            it.has_pace
                && it.priority != TimePriority::Fixed
                && it.spent.first_turn_s > MIN_OVERRUN * it.planned_s + CASE_OVERHEAD_S
        };
        let exceeded = || needs.iter().filter(has_exceeded);
        let planned_s: f64 = exceeded().map(|it| it.planned_s).sum();
        let took_s: f64 = exceeded().map(|it| it.spent.first_turn_s).sum();
        if planned_s > 0.0 { took_s / planned_s } else { 1.0 }
    }
}
