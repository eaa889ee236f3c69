//! Divides the time that a run has left among its cases. Reads no clock and ends no case.

use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::TimePriority;
use assay_model::quantity::Unit;

use super::{CaseNeed, RunForecast};

/// Share of the budget above it after which a headline case is ended, and the shortest such time in
/// seconds, for budgets of a few seconds.
const HARD_END: f64 = 0.05;
const SHORTEST_GRACE_S: f64 = 1.0;
/// Share of the budget that the first turn leaves to shorter cases, so that a run has a result.
const REST_SHARE: f64 = 0.1;

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

impl RunForecast {
    /// Returns the time for the next turn of a case, `elapsed_s` after the start of the run.
    ///
    /// First results come first, those of headline cases before those of optional ones. Fixed cases
    /// keep their plans, headline cases get the rest up to their plans, and optional ones the
    /// remainder. Cases of one priority share their time in proportion to their plans. A run always
    /// gets one result.
    pub(crate) fn allowance(&self, case: &str, elapsed_s: f64) -> Allowance {
        let needs = self.needs();
        let own = self.cases.iter().zip(&needs).find(|(it, _)| it.id == case);
        let Some((_, own)) = own else { return Allowance::Planned };
        let left_s = self.budget_s - elapsed_s;
        let beside_fixed_s = left_s - planned_s(&needs, TimePriority::Fixed);
        let (shared_s, end_s) = match own.priority {
            TimePriority::Fixed => return Allowance::Planned,
            TimePriority::Headline => (beside_fixed_s, beside_fixed_s + self.grace_s()),
            TimePriority::Optional => (
                beside_fixed_s - planned_s(&needs, TimePriority::Headline),
                beside_fixed_s - self.headline_reserve_s(&needs, beside_fixed_s),
            ),
        };
        let share = shared_s.max(0.0) / planned_s(&needs, own.priority).max(f64::MIN_POSITIVE);
        let turn_s = (share.min(1.0) * own.remaining_s()).max(own.first_result_s());
        let total_s = own.spent.seconds + turn_s;
        let has_result = own.spent.turns > 0;
        let has_time = if has_result { shared_s > 0.0 } else { end_s > own.first_result_s() };
        match has_time {
            true => {
                let has_any_result = needs.iter().any(CaseNeed::has_result);
                let rest_s = REST_SHARE * self.budget_s;
                let is_short = |it: &CaseNeed| {
                    !std::ptr::eq(it, own) && !it.spent.is_over && it.least_s < rest_s / 2.0
                };
                let end_s = if has_any_result { end_s } else { end_s.min(left_s - rest_s) };
                let may_end = has_any_result
                    || own.priority == TimePriority::Optional
                    || needs.iter().any(is_short);
                Allowance::UpTo { total_s, end_s, may_end }
            }
            false
                if own.priority == TimePriority::Headline
                    && self.only_result_s(&needs, beside_fixed_s).is_some() =>
            {
                Allowance::UpTo { total_s, end_s, may_end: false }
            }
            false => Allowance::Nothing,
        }
    }

    /// Seconds above the budget after which a headline case is ended.
    fn grace_s(&self) -> f64 {
        (HARD_END * self.budget_s).max(SHORTEST_GRACE_S)
    }

    /// Seconds for the first results of the headline cases that fit into this time, the shortest
    /// first.
    fn headline_reserve_s(&self, needs: &[CaseNeed], left_s: f64) -> f64 {
        let headlines = needs.iter().filter(|it| it.priority == TimePriority::Headline);
        let mut firsts: Vec<f64> = headlines.map(CaseNeed::first_result_s).collect();
        firsts.sort_by(f64::total_cmp);
        let limit_s = left_s + self.grace_s();
        let fits = |sum_s: f64, first_s: &f64| Some(sum_s + first_s).filter(|it| *it < limit_s);
        let reserve = firsts.iter().try_fold(0.0, |sum_s, it| fits(sum_s, it).ok_or(sum_s));
        reserve.unwrap_or_else(|sum_s| sum_s)
    }

    /// Seconds of the shortest first result of a headline case, if the run has no result and no
    /// case fits into this time: one is measured all the same.
    fn only_result_s(&self, needs: &[CaseNeed], left_s: f64) -> Option<f64> {
        let can_have_result = |it: &CaseNeed| {
            let limit_s = match it.priority {
                TimePriority::Fixed => return true,
                TimePriority::Headline => left_s + self.grace_s(),
                TimePriority::Optional => left_s,
            };
            it.has_result() || !it.spent.is_over && it.first_result_s() < limit_s
        };
        if needs.iter().any(can_have_result) {
            return None;
        }
        let headlines = needs.iter().filter(|it| it.priority == TimePriority::Headline);
        headlines.filter(|it| !it.spent.is_over).map(CaseNeed::first_result_s).reduce(f64::min)
    }

    /// Seconds that the run needs from now on, however short its time is: the plans of fixed cases,
    /// first results of headline cases that fit, or a single one.
    pub(crate) fn required_s(&self, elapsed_s: f64) -> f64 {
        let needs = self.needs();
        let fixed_s = planned_s(&needs, TimePriority::Fixed);
        let left_s = self.budget_s - elapsed_s - fixed_s;
        let only_s = self.only_result_s(&needs, left_s);
        fixed_s + only_s.unwrap_or_else(|| self.headline_reserve_s(&needs, left_s))
    }

    /// Returns a warning if the budget does not suffice for the first results of all cases.
    pub(crate) fn cut_warning(&self) -> Option<Phrase> {
        let needs = self.needs();
        let fixed_s = planned_s(&needs, TimePriority::Fixed);
        let mut left_s = self.budget_s - fixed_s;
        let mut firsts: Vec<&CaseNeed> =
            needs.iter().filter(|it| it.priority != TimePriority::Fixed).collect();
        let is_optional = |it: &CaseNeed| it.priority == TimePriority::Optional;
        firsts.sort_by(|a, b| {
            let by_time = a.first_result_s().total_cmp(&b.first_result_s());
            is_optional(a).cmp(&is_optional(b)).then(by_time)
        });
        let mut is_cut = |it: &&&CaseNeed| {
            let fits = it.first_result_s() <= left_s;
            left_s -= if fits { it.first_result_s() } else { 0.0 };
            !fits
        };
        let cut = firsts.iter().filter(&mut is_cut).count();
        let needed_s: f64 = firsts.iter().map(|it| it.first_result_s()).sum();
        (cut > 0 && needs.len() > 1).then(|| {
            phrase!(
                "plan-too-short",
                "within {budget}, about {few} of {all} cases are not measured; {needed} would be enough for all",
                few = cut,
                all = needs.len(),
                budget = Phrase::approximate(self.budget_s, Unit::Second),
                needed = Phrase::approximate(fixed_s + needed_s, Unit::Second),
            )
        })
    }
}

/// Seconds that all cases of a priority still plan to use.
fn planned_s(needs: &[CaseNeed], priority: TimePriority) -> f64 {
    needs.iter().filter(|it| it.priority == priority).map(CaseNeed::remaining_s).sum()
}

#[cfg(test)]
mod tests {
    use assay_model::facts::HostFacts;
    use assay_model::plan::{Case, Plan, StoppingRule};
    use assay_model::workload::{LatencyWorkload, Workload};

    use super::*;

    /// Chains of 1 … `count` lines, of which the last one is the headline.
    fn chains(count: u64, budget_s: f64) -> Vec<Case> {
        let stopping = StoppingRule {
            target: 0.01,
            repetitions: 3,
            preparations: 3,
            budget_s: budget_s / count as f64,
        };
        let case = |lines: u64| Case {
            id: lines.to_string(),
            by: "assay".into(),
            workload: Workload::Latency(LatencyWorkload {
                cpu: 0,
                bytes: lines * 64,
                line_bytes: 64,
            }),
            pair: None,
            stopping,
        };
        (1..=count).map(case).collect()
    }

    fn forecast(cases: &[Case], budget_s: f64) -> RunForecast {
        let plan = Plan {
            suite: "s".into(),
            budget_s,
            seed: None,
            cases: cases.to_vec(),
            omitted: vec![],
        };
        RunForecast::from_plan(&plan, &HostFacts::default())
    }

    /// Outcome of a simulated run.
    #[derive(Debug)]
    struct SimulatedRun {
        elapsed_s: f64,
        without_result: Vec<String>,
    }

    /// Runs turns by a simulated clock on a machine on which a preparation takes `turn_s`, and a
    /// turn in flight stops only at its end.
    fn simulate(cases: &[Case], budget_s: f64, turn_s: f64) -> SimulatedRun {
        let mut forecast = forecast(cases, budget_s);
        let mut elapsed_s = 0.0;
        let mut without_result = Vec::new();
        let mut open: Vec<(&Case, f64)> = cases.iter().map(|case| (case, 0.0)).collect();
        while !open.is_empty() {
            let mut left = Vec::new();
            for (case, spent_s) in open {
                let (total_s, ends_after_s) = match forecast.allowance(&case.id, elapsed_s) {
                    Allowance::Planned => (case.stopping.budget_s, f64::INFINITY),
                    Allowance::UpTo { total_s, end_s, may_end } => {
                        (total_s, if may_end { end_s } else { f64::INFINITY })
                    }
                    Allowance::Nothing => {
                        forecast.record_end(&case.id);
                        without_result.extend((spent_s <= 0.0).then(|| case.id.clone()));
                        continue;
                    }
                };
                let is_ended = turn_s > ends_after_s;
                let took_s = turn_s.min(ends_after_s.max(0.0));
                elapsed_s += took_s;
                without_result.extend((is_ended && spent_s <= 0.0).then(|| case.id.clone()));
                let spent_s = spent_s + took_s;
                let limit_s = total_s.min(case.stopping.budget_s);
                let is_over = is_ended || spent_s + turn_s > limit_s;
                match is_ended && spent_s <= took_s {
                    true => forecast.record_end(&case.id),
                    false => forecast.record_turn(&case.id, spent_s, is_over),
                }
                if !is_over {
                    left.push((case, spent_s));
                }
            }
            open = left;
        }
        SimulatedRun { elapsed_s, without_result }
    }

    #[test]
    fn keeps_the_budget_however_slow_the_machine_is() {
        for (count, budget_s, turn_s, cut) in [
            // Quiet: all cases have their plan.
            (12, 60.0, 0.2, 0),
            (12, 60.0, 1.0, 0),
            // Busy: each has one turn.
            (12, 60.0, 3.0, 0),
            // No time for all.
            (12, 60.0, 10.0, 6),
            (36, 12.0, 1.0, 24),
        ] {
            let cases = chains(count, budget_s);
            let run = simulate(&cases, budget_s, turn_s);
            assert!(run.elapsed_s <= 1.1 * budget_s, "{turn_s}: {run:?}");
            assert!(run.without_result.len() >= cut, "{turn_s}: {run:?}");
            assert_eq!(run.without_result.is_empty(), cut == 0, "{turn_s}: {run:?}");
            assert!(!run.without_result.contains(&count.to_string()), "{turn_s}: {run:?}");
        }
    }

    /// A run always has one result, and a case that is not shortened keeps its plan.
    #[test]
    fn a_run_always_has_a_result() {
        let cases = chains(1, 0.001);
        let run = simulate(&cases, 0.001, 5.0);
        assert!(run.without_result.is_empty(), "{run:?}");
        let mut fixed = forecast(&cases, 0.001);
        fixed.fix_cases();
        assert_eq!(fixed.allowance("1", 9.0), Allowance::Planned);
    }

    #[test]
    fn warns_of_cases_without_time() {
        for (count, budget_s, expected) in
            [(10, 60.0, None), (10, 0.55, Some("about 5 of 10 cases are not measured"))]
        {
            let words = forecast(&chains(count, budget_s), budget_s).cut_warning();
            let words = words.map(|it| it.to_string());
            assert_eq!(words.is_some(), expected.is_some(), "{words:?}");
            let text = words.unwrap_or_default();
            assert!(text.contains(expected.unwrap_or("")), "{text}");
        }
    }
}
