//! Divides the time that a run has left among its cases. Reads no clock and ends no case.

use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::TimePriority;
use assay_model::quantity::Unit;

use super::{CaseNeed, RunForecast};

/// Share of the budget above it after which a headline case is ended that has a result.
const HARD_END: f64 = 0.05;

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
    /// First results come first, those of headline cases always. Fixed cases keep their plans,
    /// headline cases get the rest up to their plans, and optional ones the remainder. Cases of one
    /// priority share their time in proportion to their plans.
    pub(crate) fn allowance(&self, case: &str, elapsed_s: f64) -> Allowance {
        let needs = self.needs();
        let own = self.cases.iter().zip(&needs).find(|(it, _)| it.id == case);
        let Some((_, own)) = own else { return Allowance::Planned };
        let planned_s = |priority: TimePriority| -> f64 {
            needs.iter().filter(|it| it.priority == priority).map(CaseNeed::remaining_s).sum()
        };
        let left_s = self.budget_s - elapsed_s;
        let beside_fixed_s = left_s - planned_s(TimePriority::Fixed);
        let (shared_s, end_s) = match own.priority {
            TimePriority::Fixed => return Allowance::Planned,
            TimePriority::Headline => {
                (beside_fixed_s, beside_fixed_s + HARD_END * self.budget_s)
            }
            TimePriority::Optional => {
                let required_s: f64 = needs.iter().map(CaseNeed::required_s).sum();
                (beside_fixed_s - planned_s(TimePriority::Headline), left_s - required_s)
            }
        };
        let has_result = own.spent.turns > 0;
        let has_time = match (has_result, own.priority) {
            (true, _) => shared_s > 0.0,
            (false, TimePriority::Optional) => end_s > own.first_result_s(),
            (false, _) => true,
        };
        if !has_time {
            return Allowance::Nothing;
        }
        let share = shared_s.max(0.0) / planned_s(own.priority).max(f64::MIN_POSITIVE);
        let turn_s = (share.min(1.0) * own.remaining_s()).max(own.first_result_s());
        let total_s = own.spent.seconds + turn_s;
        let may_end = has_result || own.priority == TimePriority::Optional;
        Allowance::UpTo { total_s, end_s, may_end }
    }

    /// Returns a warning if the budget does not suffice for the first results of all cases.
    pub(crate) fn cut_warning(&self) -> Option<Phrase> {
        let needs = self.needs();
        let required_s: f64 = needs.iter().map(CaseNeed::required_s).sum();
        let optional = needs.iter().filter(|it| it.priority == TimePriority::Optional);
        let least_s: Vec<f64> = optional.map(CaseNeed::first_result_s).collect();
        let needed_s = required_s + least_s.iter().sum::<f64>();
        let mut left_s = self.budget_s - required_s;
        let mut is_cut = |case_s: &&f64| {
            left_s -= **case_s;
            left_s < 0.0
        };
        let cut = least_s.iter().filter(&mut is_cut).count();
        (cut > 0).then(|| {
            phrase!(
                "plan-too-short",
                "within {budget}, about {few} of {all} cases are not measured; {needed} would be enough for all",
                few = cut,
                all = needs.len(),
                budget = Phrase::approximate(self.budget_s, Unit::Second),
                needed = Phrase::approximate(needed_s, Unit::Second),
            )
        })
    }
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

    /// Runs groups of cases by a simulated clock on a machine on which a preparation takes
    /// `turn_s`, and a turn in flight stops only at its end. Fixed cases are measured as a whole.
    fn simulate(groups: &[&[Case]], mut forecast: RunForecast, turn_s: f64) -> SimulatedRun {
        let mut elapsed_s = 0.0;
        let mut without_result = Vec::new();
        for group in groups {
            let mut open: Vec<(&Case, f64)> = group.iter().map(|case| (case, 0.0)).collect();
            while !open.is_empty() {
                open.retain_mut(|(case, spent_s)| {
                    let allowance = forecast.allowance(&case.id, elapsed_s);
                    let (took_s, is_over) = match allowance {
                        Allowance::Planned => (case.stopping.budget_s, true),
                        Allowance::UpTo { total_s, end_s, may_end } => {
                            let ends_after_s = if may_end { end_s } else { f64::INFINITY };
                            let is_ended = turn_s > ends_after_s;
                            if is_ended && *spent_s <= 0.0 {
                                without_result.push(case.id.clone());
                            }
                            let took_s = turn_s.min(ends_after_s.max(0.0));
                            let limit_s = total_s.min(case.stopping.budget_s);
                            (took_s, is_ended || *spent_s + took_s + turn_s > limit_s)
                        }
                        Allowance::Nothing => {
                            if *spent_s <= 0.0 {
                                without_result.push(case.id.clone());
                            }
                            (0.0, true)
                        }
                    };
                    elapsed_s += took_s;
                    *spent_s += took_s;
                    forecast.record_turn(&case.id, *spent_s, is_over);
                    !is_over
                });
            }
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
            let run = simulate(&[&cases], forecast(&cases, budget_s), turn_s);
            assert!(run.elapsed_s <= 1.1 * budget_s, "{turn_s}: {run:?}");
            assert!(run.without_result.len() >= cut, "{turn_s}: {run:?}");
            assert_eq!(run.without_result.is_empty(), cut == 0, "{turn_s}: {run:?}");
            assert!(!run.without_result.contains(&count.to_string()), "{turn_s}: {run:?}");
        }
    }

    /// A lone case has several turns, and a fixed one takes its plan on any machine: neither says
    /// that the machine is slow.
    #[test]
    fn lone_and_fixed_cases_cut_no_others() {
        let mut cases = chains(36, 60.0);
        cases[1].stopping.budget_s = 30.0;
        let mut forecast = forecast(&cases, 60.0);
        forecast.priorities[1] = TimePriority::Fixed;
        let (lone, others) = cases.split_at(1);
        let (fixed, others) = others.split_at(1);
        let run = simulate(&[lone, fixed, others], forecast, 0.8);
        assert!(run.without_result.is_empty(), "{run:?}");
        assert!(run.elapsed_s <= 60.0, "{run:?}");
    }

    /// A single case always has a result, and a case that is not shortened keeps its plan.
    #[test]
    fn a_headline_always_has_a_result() {
        let cases = chains(1, 0.001);
        let run = simulate(&[&cases], forecast(&cases, 0.001), 5.0);
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
