//! Divides the time that a run has left among its cases. Reads no clock and ends no case.

use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::TimePriority;
use assay_model::quantity::Unit;

use super::RunForecast;
use super::case_need::CaseNeed;

/// Ratio of the time that is kept for first results to their forecast: a case that is ended completes its
/// pass in flight. Without a margin, a run on two CPUs with ten other threads was late by 0.5 s.
const KEPT_MARGIN: f64 = 1.2;
/// Ratio of a first result to its forecast up to which it may use more than half of the time that is
/// left. Chosen, not measured: a smaller one ends more cases that are nearly done, a larger one leaves
/// less to the others.
const MAX_EXCESS: f64 = 1.5;

/// Time that a run grants a case for its next turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Allowance {
    /// The plan alone limits the case.
    Planned,
    /// The case may use some seconds in total.
    UpTo {
        /// Seconds of the case, the earlier turns included.
        total_s: f64,
        /// Seconds from now after which the turn is ended.
        end_s: f64,
        /// Whether the case keeps a result if the turn is ended, or is optional.
        may_end: bool,
    },
    /// No time is left: the case ends with the results that it has.
    Nothing,
}

impl Allowance {
    /// Returns the allowance for seconds that the coordinator of several hosts granted.
    pub(crate) fn from_granted(granted_s: f64) -> Self {
        match granted_s > 0.0 {
            true => Self::UpTo { total_s: granted_s, end_s: f64::INFINITY, may_end: false },
            false => Self::Nothing,
        }
    }
}

impl RunForecast {
    /// Returns the time for the next turn of a case, `elapsed_s` after the start of the run.
    ///
    /// First results come first. Fixed cases keep their plans, headline cases get the rest up to
    /// their plans, and optional ones the remainder. Cases of one priority share their time in
    /// proportion to their plans. If the budget is kept, a fixed case does not begin after it and is
    /// ended soon after, and a headline case is left out whose first result does not fit. One that takes
    /// longer than forecast is ended while there is time for the first results of the others.
    pub(crate) fn allowance(&self, case: &str, elapsed_s: f64) -> Allowance {
        let needs = self.needs();
        let Some(at) = self.cases.iter().position(|it| it.id == case) else {
            return Allowance::Planned;
        };
        if self.is_granted[at] {
            return Allowance::Planned;
        }
        let own = &needs[at];
        let left_s = self.budget_s + self.waited_s - elapsed_s;
        let beside_fixed_s = left_s - planned_s(&needs, TimePriority::Fixed);
        let has_result = own.spent.has_result;
        let (shared_s, end_s) = match own.priority {
            TimePriority::Fixed => {
                if !own.may_be_cut {
                    return Allowance::Planned;
                }
                if left_s <= 0.0 {
                    return Allowance::Nothing;
                }
                let end_s = left_s + self.excess_s();
                return Allowance::UpTo { total_s: f64::INFINITY, end_s, may_end: true };
            }
            TimePriority::Headline => {
                let late_s = beside_fixed_s + self.excess_s();
                // Of storage, the plan says how long it takes.
                let is_waited_for = own.has_pace && is_any_waiting(&needs, at);
                let end_s = match is_waited_for {
                    true => self.bounded_end_s(&needs, at, beside_fixed_s, late_s),
                    false => late_s,
                };
                (beside_fixed_s, end_s)
            }
            TimePriority::Optional => {
                let required_s: f64 = self.required_each_s(&needs, left_s).iter().sum();
                let headlines_s = planned_s(&needs, TimePriority::Headline);
                (beside_fixed_s - headlines_s, left_s - required_s)
            }
        };
        let may_be_cut = match own.priority {
            TimePriority::Optional => true,
            TimePriority::Fixed | TimePriority::Headline => own.may_be_cut,
        };
        let has_time = match has_result {
            true => shared_s > 0.0 && end_s > 0.0,
            false => !may_be_cut || own.may_fit(end_s),
        };
        if !has_time {
            return Allowance::Nothing;
        }
        let share = shared_s.max(0.0) / planned_s(&needs, own.priority).max(f64::MIN_POSITIVE);
        let turn_s = (share.min(1.0) * own.remaining_s()).max(own.first_result_s());
        let total_s = own.spent.seconds + turn_s;
        Allowance::UpTo { total_s, end_s, may_end: has_result || may_be_cut }
    }

    /// Seconds that all cases need that have not ended, `elapsed_s` after the start: their first
    /// results, and the whole of those that are not shortened.
    pub(crate) fn required_s(&self, elapsed_s: f64) -> f64 {
        self.required_each_s(&self.needs(), self.budget_s - elapsed_s).iter().sum()
    }

    /// Returns the required seconds of each case when `left_s` are left. A headline case that is left
    /// out needs none.
    fn required_each_s(&self, needs: &[CaseNeed], left_s: f64) -> Vec<f64> {
        let fixed_s = planned_s(needs, TimePriority::Fixed);
        let end_s = left_s + self.excess_s();
        let (mut used_s, mut headlines_s) = (0.0, end_s - fixed_s);
        let mut each = vec![0.0; needs.len()];
        for at in &self.order {
            let it = &needs[*at];
            let required_s = match it.priority {
                // Tools do not begin after the budget, and are ended soon after it.
                TimePriority::Fixed if it.may_be_cut => match used_s < left_s {
                    true => it.remaining_s().min(end_s - used_s),
                    false => 0.0,
                },
                TimePriority::Fixed => it.remaining_s(),
                TimePriority::Optional => 0.0,
                TimePriority::Headline => {
                    let first_s = it.first_result_s();
                    let is_cut = it.may_be_cut && first_s > headlines_s;
                    let required_s = if is_cut { 0.0 } else { first_s };
                    headlines_s -= required_s;
                    required_s
                }
            };
            used_s += required_s;
            each[*at] = required_s;
        }
        each
    }

    /// Seconds after which the case `at` is ended, so that waiting cases keep their share of `left_s`: those
    /// that represent the machine their first results, and all others half of the time, or their own first
    /// results, if this case takes much longer than its forecast. Without a result, it may take until
    /// `late_s`.
    fn bounded_end_s(&self, needs: &[CaseNeed], at: usize, left_s: f64, late_s: f64) -> f64 {
        let own = &needs[at];
        if own.spent.has_result {
            return left_s - self.awaited_beside_s(needs, at, left_s);
        }
        let bounded_s = late_s - self.awaited_beside_s(needs, at, late_s);
        let first_s = own.first_result_s();
        let optional_s: f64 = needs
            .iter()
            .filter(|it| it.priority == TimePriority::Optional && it.is_waiting())
            .map(CaseNeed::first_result_s)
            .sum();
        let excess_s = (left_s - optional_s).clamp(KEPT_MARGIN * first_s, MAX_EXCESS * first_s);
        bounded_s.min(excess_s.max(0.5 * left_s))
    }

    /// Seconds that are kept for the first results of other headline cases until `end_s`, in the order of
    /// their first turns, as far as they fit with that of the case `at`, which may be late by the same
    /// margin.
    fn awaited_beside_s(&self, needs: &[CaseNeed], at: usize, end_s: f64) -> f64 {
        let mut kept_s = 0.0;
        let beside_s = end_s - KEPT_MARGIN * needs[at].first_result_s();
        let others =
            self.order.iter().filter(|other| **other != at).map(|other| &needs[*other]);
        for other in others.filter(|it| it.is_awaited()) {
            let first_s = KEPT_MARGIN * other.first_result_s();
            kept_s += if kept_s + first_s <= beside_s { first_s } else { 0.0 };
        }
        kept_s
    }

    /// Returns warnings if the budget does not suffice for the first results of all cases. Tools that
    /// do not begin are named.
    pub(crate) fn cut_warnings(&self) -> Vec<Phrase> {
        let needs = self.needs();
        let required_s = self.required_each_s(&needs, self.budget_s);
        let mut left_s = self.budget_s - required_s.iter().sum::<f64>();
        let mut are_cut = vec![false; needs.len()];
        for at in &self.order {
            let (it, required_s) = (&needs[*at], required_s[*at]);
            are_cut[*at] = match it.priority {
                TimePriority::Fixed => required_s == 0.0 && it.remaining_s() > 0.0,
                TimePriority::Headline => it.is_awaited() && required_s < it.first_result_s(),
                TimePriority::Optional => it.first_result_s() > left_s,
            };
            if it.priority == TimePriority::Optional && !are_cut[*at] {
                left_s -= it.first_result_s();
            }
        }
        let cut = are_cut.iter().filter(|it| **it).count();
        let late = self.cases.iter().zip(&needs).zip(&are_cut);
        let late: Vec<Phrase> = late
            .filter(|((_, it), is_cut)| **is_cut && it.priority == TimePriority::Fixed)
            .map(|((case, _), _)| case.id.as_str().into())
            .collect();
        let needed_s: f64 = needs
            .iter()
            .map(|it| match it.priority {
                TimePriority::Fixed => it.remaining_s(),
                TimePriority::Headline | TimePriority::Optional => it.first_result_s(),
            })
            .sum();
        // The preparation and the end of a run are part of a budget that is kept.
        let needed_s = needed_s - self.waited_s.min(0.0);
        let budget = Phrase::approximate(self.budget_s, Unit::Second);
        let too_short = (cut > 0).then(|| {
            phrase!(
                "plan-too-short",
                "within {budget}, about {few} of {all} cases are not measured; {needed} would be enough for all",
                few = cut,
                all = needs.len(),
                budget = budget.clone(),
                needed = Phrase::approximate(needed_s, Unit::Second),
            )
        });
        let tools = (!late.is_empty()).then(|| {
            phrase!(
                "plan-tools-late",
                "{cases}: does not begin, because the cases before it use the whole budget of {budget}",
                cases = Phrase::list(", ", late),
                budget = budget,
            )
        });
        too_short.into_iter().chain(tools).collect()
    }
}

/// Seconds that the cases of a priority still plan to use.
fn planned_s(needs: &[CaseNeed], priority: TimePriority) -> f64 {
    needs.iter().filter(|it| it.priority == priority).map(CaseNeed::remaining_s).sum()
}

/// Whether another case has neither ended nor a result.
fn is_any_waiting(needs: &[CaseNeed], at: usize) -> bool {
    needs.iter().enumerate().any(|(other, it)| other != at && it.is_waiting())
}

#[cfg(test)]
mod tests;
