//! Divides the time that a run has left among its cases. Reads no clock and ends no case.

use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::TimePriority;
use assay_model::quantity::Unit;

use super::{CaseNeed, RunForecast};

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
    /// ended soon after, and a headline case is left out whose first result does not fit, but for the
    /// shortest of a run without any result. One that takes longer than forecast is ended while there is
    /// time for the first results of the others.
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
                let has_run_result = needs.iter().any(|it| it.spent.has_result);
                if !own.may_be_cut || !has_run_result {
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
            TimePriority::Fixed | TimePriority::Headline => {
                own.may_be_cut && last_hope(&needs) != Some(at)
            }
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
        let hope = last_hope(needs);
        let mut has_result = needs.iter().any(|it| it.spent.has_result);
        let fixed_s = planned_s(needs, TimePriority::Fixed);
        let end_s = left_s + self.excess_s();
        let (mut used_s, mut headlines_s) = (0.0, end_s - fixed_s);
        let mut each = vec![0.0; needs.len()];
        for at in &self.order {
            let it = &needs[*at];
            let required_s = match it.priority {
                // Tools do not begin after the budget, and are ended soon after it.
                TimePriority::Fixed if it.may_be_cut && has_result => match used_s < left_s {
                    true => it.remaining_s().min(end_s - used_s),
                    false => 0.0,
                },
                TimePriority::Fixed => it.remaining_s(),
                TimePriority::Optional => 0.0,
                TimePriority::Headline => {
                    let first_s = it.first_result_s();
                    let is_cut = it.may_be_cut && first_s > headlines_s && hope != Some(*at);
                    let required_s = if is_cut { 0.0 } else { first_s };
                    headlines_s -= required_s;
                    required_s
                }
            };
            has_result |= required_s > 0.0;
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

/// Returns the headline case with the shortest first result if no case has a result yet: it is not
/// ended before its own, so that a run has one.
fn last_hope(needs: &[CaseNeed]) -> Option<usize> {
    if needs.iter().any(|it| it.spent.has_result) {
        return None;
    }
    let headlines = needs.iter().enumerate();
    let awaited =
        headlines.filter(|(_, it)| it.priority == TimePriority::Headline && it.is_awaited());
    awaited.min_by(|a, b| a.1.least_s.total_cmp(&b.1.least_s)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use assay_model::facts::HostFacts;
    use assay_model::plan::{Case, CasePair, Plan, StoppingRule};
    use assay_model::workload::storage::{ResponseCurvePoint, StorageTest, StorageWorkload};
    use assay_model::workload::{
        CacheBandwidthWorkload, CoreToCoreWorkload, Domain, LatencyWorkload, PeakFlopsWorkload,
        Workload,
    };

    use super::*;

    /// Chains of 1 … `count` lines, of which the last one is the headline.
    fn chains(count: u64, budget_s: f64) -> Vec<Case> {
        let stopping = StoppingRule {
            target: 0.01,
            repetitions: 3,
            preparations: 3,
            budget_s: budget_s / count as f64,
        };
        let case = |lines: u64| {
            Case::new(
                lines.to_string(),
                Workload::Latency(LatencyWorkload {
                    cpu: 0,
                    bytes: lines * 64,
                    line_bytes: 64,
                }),
                stopping,
            )
        };
        (1..=count).map(case).collect()
    }

    /// Four cases of different benchmarks, so that each is a headline.
    fn headlines(budget_s: f64) -> Vec<Case> {
        let domain = || Domain { placement: "node".into(), cpus: vec![0] };
        let workloads = [
            Workload::CacheBandwidth(CacheBandwidthWorkload {
                domain: domain(),
                bytes_per_core: 4096,
            }),
            Workload::PeakFlops(PeakFlopsWorkload {
                domain: domain(),
                instruction_set: "avx2".into(),
            }),
            Workload::CoreToCore(CoreToCoreWorkload { groups: vec![] }),
        ];
        let mut cases = chains(1, budget_s / 4.0);
        let more = workloads.into_iter().zip(2..).map(|(workload, id)| Case {
            id: id.to_string(),
            workload,
            ..cases[0].clone()
        });
        let more: Vec<Case> = more.collect();
        cases.extend(more);
        cases
    }

    fn forecast(cases: &[Case], budget_s: f64) -> RunForecast {
        let plan = Plan::new("s", budget_s, cases.to_vec());
        RunForecast::from_plan(&plan, &HostFacts::default(), false)
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
                    let (took_s, is_ended, is_over) = match allowance {
                        Allowance::Planned => (case.stopping.budget_s, false, true),
                        Allowance::UpTo { total_s, end_s, may_end } => {
                            let ends_after_s = if may_end { end_s } else { f64::INFINITY };
                            let is_ended = turn_s > ends_after_s;
                            let took_s = turn_s.min(ends_after_s.max(0.0));
                            let limit_s = total_s.min(case.stopping.budget_s);
                            (took_s, is_ended, *spent_s + took_s + turn_s > limit_s)
                        }
                        Allowance::Nothing => (0.0, true, true),
                    };
                    let had_result = *spent_s > 0.0;
                    elapsed_s += took_s;
                    *spent_s += took_s;
                    match is_ended {
                        true => forecast.record_cut(&case.id, *spent_s),
                        false => forecast.record_turn(&case.id, *spent_s, is_over),
                    }
                    if is_ended && !had_result {
                        without_result.push(case.id.clone());
                    }
                    !is_ended && !is_over
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

    /// The first result of each headline takes `turn_s`.
    #[test]
    fn cuts_headlines_only_if_the_budget_is_kept() {
        for (budget_s, turn_s, keeps_budget, cut, most_s) in [
            (60.0, 4.0, true, &[][..], 60.0),
            // No time for the last one.
            (60.0, 20.0, true, &["4"], 63.0),
            (60.0, 20.0, false, &[], 80.0),
            // The last one begins and is ended.
            (60.0, 15.9, true, &["4"], 63.0),
            // A single result takes longer than the budget.
            (12.0, 30.0, true, &["2", "3", "4"], 30.0),
            (12.0, 30.0, false, &[], 120.0),
        ] {
            let cases = headlines(budget_s);
            let forecast = RunForecast { keeps_budget, ..forecast(&cases, budget_s) };
            let groups: Vec<&[Case]> = cases.chunks(1).collect();
            let run = simulate(&groups, forecast, turn_s);
            assert_eq!(run.without_result, cut, "{budget_s} {turn_s}: {run:?}");
            assert!(run.elapsed_s <= most_s + 1e-9, "{budget_s} {turn_s}: {run:?}");
        }
    }

    /// The first case takes `slow` times its forecast, the others `others` times theirs.
    #[test]
    fn slow_headline_leaves_others_their_time() {
        const SHORT: [f64; 4] = [6.0, 1.5, 1.5, 0.1];
        for (first_s, slow, others, cut) in [
            (SHORT, 1.0, 1.0, &[][..]),
            (SHORT, 1.3, 1.0, &[]),
            // All fit, although the forecasts of the others with their margins fill the rest.
            ([6.0, 1.9, 1.9, 0.95], 1.07, 1.0, &[]),
            // It is ended while there is time for the others, ...
            (SHORT, 3.0, 1.0, &["1"]),
            // ... of which the second is slow, too, and leaves the third no time.
            (SHORT, 1.8, 1.8, &["1", "3"]),
        ] {
            let mut cases = headlines(12.0);
            cases.iter_mut().for_each(|case| case.stopping.budget_s = 0.0);
            let took_s = |at: usize| first_s[at] * if at == 0 { slow } else { others };
            let mut forecast = RunForecast { keeps_budget: true, ..forecast(&cases, 12.0) };
            forecast.least_s = first_s.map(|it| it - super::super::CASE_OVERHEAD_S).to_vec();
            let (mut elapsed_s, mut without_result) = (0.0, Vec::new());
            for (at, case) in cases.iter().enumerate() {
                let (ends_s, may_end) = match forecast.allowance(&case.id, elapsed_s) {
                    Allowance::UpTo { end_s, may_end, .. } => (end_s, may_end),
                    _ => (0.0, true),
                };
                let is_ended = may_end && took_s(at) > ends_s;
                let spent_s = if is_ended { ends_s } else { took_s(at) };
                elapsed_s += spent_s;
                match is_ended {
                    true => forecast.record_cut(&case.id, spent_s),
                    false => forecast.record_turn(&case.id, spent_s, true),
                }
                if is_ended {
                    without_result.push(case.id.clone());
                }
            }
            assert_eq!(without_result, cut, "{slow} {others}: {elapsed_s}");
            assert!(elapsed_s <= 12.6, "{slow} {others}: {elapsed_s}");
        }
    }

    /// A headline case that takes much longer than its forecast has half of the time while others wait.
    #[test]
    fn slow_headline_leaves_half_to_waiting_cases() {
        let cases = chains(12, 12.0);
        let mut forecast = RunForecast { keeps_budget: true, ..forecast(&cases, 12.0) };
        forecast.record_turn("1", 0.1, true);
        let end_s = |forecast: &RunForecast| match forecast.allowance("12", 1.0) {
            Allowance::UpTo { end_s, .. } => end_s,
            other => panic!("{other:?}"),
        };
        assert!((end_s(&forecast) - 5.5).abs() < 1e-9, "{}", end_s(&forecast));
        (2..12).for_each(|it| forecast.record_end(&it.to_string()));
        assert!((end_s(&forecast) - 11.6).abs() < 1e-9, "{}", end_s(&forecast));
    }

    /// A headline case that hardly fits leaves the first results of the others their time, as far as its own
    /// may be a fifth late; `end_s` of 11 s.
    #[test]
    fn long_headline_leaves_first_results_to_waiting_cases() {
        for (others_s, end_s) in [(0.4, 7.92), (0.15, 9.5), (0.05, 9.9)] {
            let cases = chains(12, 12.0);
            let mut forecast = RunForecast { keeps_budget: true, ..forecast(&cases, 12.0) };
            let first_s = |at| if at == 11 { 6.6 } else { others_s };
            forecast.least_s =
                (0..12).map(|at| first_s(at) - super::super::CASE_OVERHEAD_S).collect();
            forecast.record_turn("1", others_s, true);
            let Allowance::UpTo { end_s: found_s, .. } = forecast.allowance("12", 1.0) else {
                panic!("{others_s}");
            };
            assert!((found_s - end_s).abs() < 1e-9, "{others_s}: {found_s}");
        }
    }

    /// The time until all hosts of a run are ready does not count.
    #[test]
    fn excludes_the_wait_for_other_hosts() {
        let cases = headlines(4.0);
        let mut forecast = RunForecast { keeps_budget: true, ..forecast(&cases, 4.0) };
        forecast.record_turn("1", 0.1, true);
        assert_eq!(forecast.allowance("2", 30.0), Allowance::Nothing);
        forecast.exclude_wait(30.0);
        assert!(matches!(forecast.allowance("2", 30.0), Allowance::UpTo { may_end: true, .. }));
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

    /// Fixed cases begin within a budget that is kept and end soon after it; of those that hosts measure
    /// together, the coordinator decides.
    #[test]
    fn fixed_cases_begin_within_the_budget() {
        let pair = CasePair::new("b");
        let ends = |end_s| Allowance::UpTo { total_s: f64::INFINITY, end_s, may_end: true };
        for (keeps_budget, pair, elapsed_s, expected) in [
            (true, None, 3.0, ends(1.2)),
            (true, Some(pair.clone()), 3.0, Allowance::Planned),
            (true, None, 4.1, Allowance::Nothing),
            (true, Some(pair), 4.1, Allowance::Planned),
            (false, None, 4.1, Allowance::Planned),
        ] {
            let mut cases = headlines(4.0);
            cases[1].pair = pair;
            let mut forecast = RunForecast { keeps_budget, ..forecast(&cases, 4.0) };
            forecast.join_hosts();
            forecast.fix_cases();
            assert_eq!(
                forecast.allowance("1", 9.0),
                Allowance::Planned,
                "the run has no result"
            );
            forecast.record_turn("1", 1.0, true);
            assert_eq!(forecast.allowance("2", elapsed_s), expected);
        }
    }

    /// Curves of a maximum and four points. The first maximum writes its file for 25 s before.
    #[test]
    fn storage_keeps_the_budget_and_its_maxima() {
        let points =
            [1, 2, 3, 4].map(|it| ResponseCurvePoint::Share { percent: f64::from(it) });
        let points = [&[ResponseCurvePoint::Maximum], &points[..]].concat();
        let workload = StorageWorkload::new(vec![], vec![], Some(3.0));
        let test = |curve: &str, point| StorageTest {
            point: Some(point),
            ..StorageTest::new(curve, workload.clone())
        };
        let like = chains(1, 4.0).remove(0);
        let case = |curve: &str, at: usize| Case {
            id: format!("{curve}{at}"),
            workload: Workload::Storage(Box::new(test(curve, points[at]))),
            ..like.clone()
        };
        let cases: Vec<Case> =
            ["a", "b", "c"].iter().flat_map(|curve| (0..5).map(|at| case(curve, at))).collect();
        for (layout_s, keeps_budget, cut) in [
            (0.0, true, 0),
            (0.0, false, 0),
            (25.0, true, 5),
            (70.0, true, 14),
            (70.0, false, 0),
        ] {
            let plan = Plan::new("s", 60.0, cases.clone());
            let mut forecast =
                RunForecast::from_plan(&plan, &HostFacts::default(), keeps_budget);
            assert_eq!(forecast.cut_warnings(), []);
            let (mut elapsed_s, mut left_out) = (0.0, Vec::new());
            for (case, nth) in cases.iter().zip(0..) {
                if forecast.allowance(&case.id, elapsed_s) == Allowance::Nothing {
                    forecast.record_end(&case.id);
                    left_out.push(case.id.as_str());
                    continue;
                }
                let turn_s = 3.5 + if nth == 0 { layout_s } else { 0.0 };
                elapsed_s += turn_s;
                forecast.record_turn(&case.id, turn_s, true);
            }
            assert_eq!(left_out.len(), cut, "{layout_s} {keeps_budget}: {left_out:?}");
            let has_time_for_maxima = layout_s < 60.0;
            assert!(
                !has_time_for_maxima || left_out.iter().all(|it| !it.ends_with('0')),
                "{left_out:?}"
            );
            assert!(
                !keeps_budget || elapsed_s <= f64::max(63.0, layout_s + 3.5),
                "{layout_s}: {elapsed_s}"
            );
        }
    }

    /// A round of pairs is a case of the merged plan, and takes its whole time.
    #[test]
    fn rounds_of_pairs_take_their_time() {
        let mut cases = headlines(8.0);
        for (case, round) in cases.iter_mut().zip(0..) {
            case.pair = Some(CasePair { round, together: 4, ..CasePair::new("b") });
        }
        let mut forecast = forecast(&cases, 4.0);
        assert!((forecast.required_s(0.0) - 8.0).abs() < 1e-9, "{}", forecast.required_s(0.0));
        assert!(forecast.check_budget(0.0).is_some());
    }

    /// Tools of 15 s each within 20 s: the second is ended, the others do not begin.
    #[test]
    fn names_tools_without_time() {
        let mut cases = headlines(60.0);
        cases.iter_mut().for_each(|case| case.by = "stream".into());
        for (keeps_budget, expected) in [
            (
                true,
                &[
                    "about 2 of 4 cases are not measured; 60 s would be enough",
                    "3, 4: does not begin",
                ][..],
            ),
            (false, &[]),
        ] {
            let plan = Plan::new("s", 20.0, cases.clone());
            let mut forecast =
                RunForecast::from_plan(&plan, &HostFacts::default(), keeps_budget);
            let words = forecast.cut_warnings();
            assert_eq!(words.len(), expected.len(), "{words:?}");
            for (words, expected) in words.iter().zip(expected) {
                assert!(words.to_string().contains(expected), "{words}");
            }
            assert_eq!(forecast.check_budget(0.0).is_some(), !keeps_budget);
        }
    }

    #[test]
    fn warns_of_cases_without_time() {
        for (count, budget_s, expected) in
            [(10, 60.0, None), (10, 0.55, Some("about 5 of 10 cases are not measured"))]
        {
            let words = forecast(&chains(count, budget_s), budget_s).cut_warnings();
            let words = words.first().map(ToString::to_string);
            assert_eq!(words.is_some(), expected.is_some(), "{words:?}");
            let text = words.unwrap_or_default();
            assert!(text.contains(expected.unwrap_or("")), "{text}");
        }
    }
}
