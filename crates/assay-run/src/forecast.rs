//! Forecasts the duration of a run, to divide the rest of its budget among the cases and to warn
//! of an exceeded budget in advance.
//!
//! Computes from the plan, from costs measured on this machine, and from the time that cases took
//! so far. It measures and prints nothing itself.
//!
//! A budget of the command line is kept: headline cases without time for a first result are left out,
//! too, and a run without time for any is refused. With the budget of a suite, each of them gets its first
//! result.

use std::collections::BTreeMap;

use assay_kernels::memory::stream::{Stream, StreamOperation};
use assay_model::facts::HostFacts;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::{Case, Plan, TimePriority};
use assay_model::quantity::Unit;
use assay_model::workload::Workload;

mod case_need;
mod memory_costs;
mod time_left;

use case_need::{CaseNeed, SpentTime};
pub(crate) use memory_costs::MemoryCosts;
pub(crate) use time_left::Allowance;

/// Ratio of the least budget that is advised to the forecast of the shortest first result: the forecast of
/// a busy machine is uncertain.
const ADVICE_MARGIN: f64 = 1.5;

/// Ratio of the least budget that is advised for a test of storage to the time besides its measurement:
/// the length of a test may follow from the budget, of which it takes up to three quarters.
const STORAGE_ADVICE: f64 = 4.0;
/// Seconds between the check of the budget and the first turn. Where a busy machine is expected to be
/// slower, its margin covers them.
const OPENING_S: f64 = 0.05;

/// Share of the budget above it after which a headline case is ended.
const HARD_END: f64 = 0.05;
/// Maximum share of the budget that is kept for the end of the run.
const LONGEST_END: f64 = 0.2;
/// Relative excess over a budget that is not reported.
pub(crate) const TOLERANCE: f64 = 0.2;
/// Maximum share of a case's budget for the choice of its loops.
const CHOOSING_SHARE: f64 = 0.5;
/// Launches that the budget of an MPI case should permit: the interval of a median needs six
/// independent values, and repetitions within one launch are not independent.
const LAUNCHES_PER_CASE: f64 = 8.0;
/// Shortest and longest measurement of one launch, in seconds.
const LAUNCH_RANGE_S: (f64, f64) = (0.5, 20.0);
/// Estimated overhead of a launch before one was measured: start of the ranks, comparison of all
/// contents, and the largest of two dozen sizes, which exceed their share. On two busy cores it was
/// 2.3 s.
const LAUNCH_OVERHEAD_S: f64 = 2.0;
/// Overhead of a case with the shortest measurement: starting threads, freeing memory. The 36 cases
/// of `quick` took 5 s on two busy cores with no budget at all.
const CASE_OVERHEAD_S: f64 = 0.1;
/// Seconds for opening and closing targets, and for measuring the free CPU time.
const STORAGE_OVERHEAD_S: f64 = 0.3;
/// Forecast of the duration of a run.
#[derive(Debug, Default)]
pub(crate) struct RunForecast {
    budget_s: f64,
    /// Whether headline cases without time for a first result are left out.
    keeps_budget: bool,
    /// Seconds from the start of the run to that of its budget: the time until all hosts of the run
    /// were ready, or less than 0 for the preparation of a run on one host.
    waited_s: f64,
    /// Part of the allowed excess that the run needs after its last case, in seconds.
    ending_s: f64,
    cases: Vec<Case>,
    /// Indices of the cases in the order of their first turns.
    order: Vec<usize>,
    priorities: Vec<TimePriority>,
    /// Whether the coordinator of several hosts grants the time of each case.
    is_granted: Vec<bool>,
    /// Whether the budget includes all time of each case.
    bounded: Vec<bool>,
    /// Minimum duration of each case in seconds, independent of its budget.
    least_s: Vec<f64>,
    /// Total overhead of MPI launches without their measurements, and their number.
    launched: (f64, u32),
    memory: Option<MemoryCosts>,
    /// Largest amount of memory touched at one time so far.
    touched_bytes: f64,
    /// Time of each case that has begun.
    spent: BTreeMap<String, SpentTime>,
    reported_s: Option<f64>,
}

impl RunForecast {
    /// Absolute excess over the budget that is not reported, for short runs.
    const TOLERANCE_S: f64 = 2.0;
    /// Growth of the forecast that is reported again; the progress bar shows the remaining time
    /// anyway.
    const GROWTH: f64 = 1.5;

    pub(crate) fn from_plan(plan: &Plan, host: &HostFacts, keeps_budget: bool) -> Self {
        let least_s = plan.cases.iter().map(|case| case.min_duration_s(host).unwrap_or(0.0));
        let (least_s, cases) = (least_s.collect(), plan.cases.clone());
        let budget_s = plan.budget_s;
        Self {
            budget_s,
            keeps_budget,
            priorities: plan.time_priorities(keeps_budget),
            order: (0..plan.cases.len()).collect(),
            bounded: plan.cases.iter().map(is_bounded).collect(),
            is_granted: vec![false; plan.cases.len()],
            cases,
            least_s,
            ..Self::default()
        }
    }

    /// Leaves the time of cases that hosts measure together to their coordinator. These are not
    /// shortened unless the budget is kept; transfers to another machine never are, because the hosts
    /// transfer at the same time.
    pub(crate) fn join_hosts(&mut self) {
        let limits = self.priorities.iter_mut().zip(&mut self.is_granted);
        for (case, (priority, is_granted)) in self.cases.iter().zip(limits) {
            *is_granted = is_joint(case);
            let is_fixed = match is_joint(case) {
                true => !self.keeps_budget,
                false => case.workload.as_network().is_some(),
            };
            if is_fixed {
                *priority = TimePriority::Fixed;
            }
        }
    }

    /// Includes the time of the preparation before the run in a budget that is kept. The end of a run,
    /// with its report, takes about as long: a busy machine delays both.
    pub(crate) fn begin_earlier(&mut self, prepared_s: f64) {
        if self.keeps_budget {
            let ending_s = prepared_s.min(LONGEST_END * self.budget_s);
            self.ending_s = ending_s.min(HARD_END * self.budget_s);
            self.waited_s -= prepared_s + ending_s - self.ending_s;
        }
    }

    /// Leaves all of the allowed excess to the end of a run of several hosts, whose last results and reports
    /// arrive one after the other.
    pub(crate) fn with_joint_end(mut self) -> Self {
        self.ending_s = HARD_END * self.budget_s;
        self
    }

    /// Returns a sufficient budget in seconds if the budget is kept and no case has a first result within it.
    /// `prepared_s` is the time of the preparation before the run, which the budget includes, as the end of
    /// the run, which takes about as long.
    pub(crate) fn sufficient_budget_s(&self, prepared_s: f64) -> Option<f64> {
        let needs = self.needs();
        let beside_s = 2.0 * prepared_s;
        // The same condition as that of the first turn, before which the run is opened.
        let needed_s = |need: &CaseNeed| {
            let opening_s = if need.has_pace { 0.0 } else { OPENING_S };
            need.forecast_s + beside_s + opening_s
        };
        let times_s = |(case, need): (&Case, &CaseNeed)| {
            let least_s = match uses_storage(&case.workload) {
                true => STORAGE_ADVICE * (STORAGE_OVERHEAD_S + beside_s),
                false => 0.0,
            };
            (needed_s(need), least_s.max(ADVICE_MARGIN * needed_s(need)))
        };
        let times_s = self.cases.iter().zip(&needs).map(times_s);
        let (needed_s, advised_s) = times_s.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let has_all_cut = needs.iter().all(|it| it.may_be_cut);
        let is_too_short = needed_s > (1.0 + HARD_END) * self.budget_s;
        (has_all_cut && is_too_short).then(|| round_up(advised_s))
    }

    /// Seconds after the budget at which the cases that represent the machine are ended.
    fn excess_s(&self) -> f64 {
        HARD_END * self.budget_s - self.ending_s
    }

    /// Excludes the time in which this host has waited for the others of its run to be ready.
    pub(crate) const fn exclude_wait(&mut self, waited_s: f64) {
        self.waited_s += waited_s;
    }

    /// Shortens no case.
    #[cfg(test)]
    fn fix_cases(&mut self) {
        self.priorities.fill(TimePriority::Fixed);
    }

    /// Adds the overhead of a launch, without its measurement.
    pub(crate) fn record_launch(&mut self, overhead_s: f64) {
        self.launched.0 += overhead_s;
        self.launched.1 += 1;
    }

    /// Sets the measured costs of memory.
    pub(crate) fn set_memory_costs(&mut self, rates: Option<MemoryCosts>) {
        self.memory = rates.or(self.memory);
    }

    /// Orders the first turns, by the costs of memory, if the budget is kept. Several hosts keep the order of
    /// their plan, which is the same for all.
    pub(crate) fn order_cases(&mut self) {
        if self.keeps_budget {
            self.order = self.shortest_first();
        }
    }

    /// Returns the order of the first turns: the cases that represent the machine before all others, and
    /// short first results before long ones. As many as possible then have one, and the first of them
    /// show how slow the machine is. Only neighbours change places that may take turns in any order.
    fn shortest_first(&self) -> Vec<usize> {
        let first_result_s = |at: &usize| self.least_alone_s(*at, &mut 0.0);
        let is_optional = |at: &usize| self.priorities[*at] == TimePriority::Optional;
        let mut order: Vec<usize> = (0..self.cases.len()).collect();
        let has_free_order = |at: usize| has_free_order(&self.cases[at]);
        for group in order.chunk_by_mut(|a, b| has_free_order(*a) && has_free_order(*b)) {
            group.sort_by(|a, b| {
                let by_time = first_result_s(a).total_cmp(&first_result_s(b));
                is_optional(a).cmp(&is_optional(b)).then(by_time)
            });
        }
        order
    }

    /// Returns the place of the first turn of a case.
    pub(crate) fn place(&self, case: &str) -> usize {
        let is_case = |at: &usize| self.cases[*at].id == case;
        self.order.iter().position(is_case).unwrap_or(self.order.len())
    }

    /// Updates the cost of first touch; ignores reused memory, which does not show the cost of new
    /// memory.
    pub(crate) fn record_touch(&mut self, bytes: f64, seconds: f64) {
        if bytes <= self.touched_bytes {
            return;
        }
        self.touched_bytes = bytes;
        if let Some(rates) = &mut self.memory {
            rates.touch_s = seconds / bytes;
        }
    }

    /// Updates the time that a case has used so far, within a turn.
    pub(crate) fn record_spent(&mut self, case: &str, spent_s: f64) {
        self.spent.entry(case.to_owned()).or_default().seconds = spent_s;
    }

    /// Records the end of a turn with a result, after which the case is over or has another one.
    pub(crate) fn record_turn(&mut self, case: &str, spent_s: f64, is_over: bool) {
        let spent = self.spent.entry(case.to_owned()).or_default();
        if !spent.has_result {
            spent.first_turn_s = spent_s;
        }
        *spent = SpentTime { seconds: spent_s, has_result: true, is_over, ..*spent };
    }

    /// Records that a case ends without another result.
    pub(crate) fn record_end(&mut self, case: &str) {
        self.spent.entry(case.to_owned()).or_default().is_over = true;
    }

    /// Records that a case was ended in a turn, `spent_s` after its start.
    pub(crate) fn record_cut(&mut self, case: &str, spent_s: f64) {
        let spent = self.spent.entry(case.to_owned()).or_default();
        if !spent.has_result {
            spent.first_turn_s = spent_s;
        }
        *spent = SpentTime { seconds: spent_s, is_over: true, ..*spent };
    }

    /// Returns a warning if the forecast exceeds the budget: once, and again if the forecast grows
    /// considerably.
    pub(crate) fn check_budget(&mut self, elapsed_s: f64) -> Option<Phrase> {
        let elapsed_s = elapsed_s - self.waited_s;
        let total_s = elapsed_s + self.required_s(elapsed_s);
        let spare_s = (TOLERANCE * self.budget_s).max(Self::TOLERANCE_S);
        if total_s <= self.budget_s + spare_s {
            return None;
        }
        let time = Phrase::approximate(total_s, Unit::Second);
        let words = match self.reported_s {
            None => phrase!(
                "run-over-budget",
                "the run takes about {time} instead of the {budget} of its budget",
                time = time,
                budget = Phrase::approximate(self.budget_s, Unit::Second),
            ),
            Some(previous_s) if total_s > Self::GROWTH * previous_s => phrase!(
                "run-even-longer",
                "the run takes about {time} by now, not {before}: what was measured so far took longer than expected",
                time = time,
                before = Phrase::approximate(previous_s, Unit::Second),
            ),
            Some(_) => return None,
        };
        self.reported_s = Some(total_s);
        Some(words)
    }

    /// Returns the needs of all cases, by their indices. Memory freed by one case is reused by the next
    /// one that begins; a case that was ended without a result leaves only the memory that it touched.
    fn needs(&self) -> Vec<CaseNeed> {
        let mut had_bytes = 0.0f64;
        let mut chosen: Vec<(Vec<u32>, u64)> = Vec::new();
        let mut need = |at: usize| {
            let case = &self.cases[at];
            let spent = self.spent.get(&case.id).copied().unwrap_or_default();
            let is_lost = spent.is_over && !spent.has_result;
            let loops = loop_arrays(&case.workload);
            let chooses_s = match loops {
                Some(loops) if !chosen.contains(&loops) => {
                    chosen.extend((!is_lost).then_some(loops));
                    choosing_time_s(case)
                }
                _ => 0.0,
            };
            let earlier_bytes = had_bytes;
            let least_s = self.least_alone_s(at, &mut had_bytes);
            if is_lost {
                let touched_bytes = if spent.seconds > 0.0 { self.touched_bytes } else { 0.0 };
                had_bytes = had_bytes.min(touched_bytes).max(earlier_bytes);
            }
            CaseNeed {
                priority: self.priorities[at],
                may_be_cut: self.keeps_budget && self.bounded[at],
                has_pace: !uses_storage(&case.workload) && case.workload.as_command().is_none(),
                forecast_s: least_s + chooses_s,
                least_s: least_s + chooses_s,
                planned_s: case.stopping.budget_s.max(least_s) + chooses_s,
                spent,
            }
        };
        let mut needs: Vec<(usize, CaseNeed)> =
            self.order.iter().map(|at| (*at, need(*at))).collect();
        needs.sort_unstable_by_key(|(at, _)| *at);
        let mut needs: Vec<CaseNeed> = needs.into_iter().map(|(_, need)| need).collect();
        let (pace, overrun) = (CaseNeed::pace(&needs), CaseNeed::overrun(&needs));
        for need in needs.iter_mut().filter(|it| it.has_pace) {
            // The first turns of a long plan are longer than first results.
            need.forecast_s = (pace * need.least_s).min(need.planned_s);
            let is_bound = need.priority == TimePriority::Fixed || need.spent.has_result;
            let overrun = if is_bound { 1.0 } else { overrun };
            need.least_s = need.forecast_s.max(overrun * need.least_s);
            need.planned_s = need.planned_s.max(need.least_s);
        }
        needs
    }

    /// Returns the seconds of a case up to its first result, without the choice of its loops, when
    /// `had_bytes` were touched before.
    fn least_alone_s(&self, at: usize, had_bytes: &mut f64) -> f64 {
        let case = &self.cases[at];
        let memory_s = self.memory.map_or(0.0, |it| it.least_s(&case.workload, had_bytes));
        let is_launched = case.workload.as_mpi().is_some_and(|it| it.preset.is_assay());
        let launch_s = match (is_launched && case.by == "assay", self.launched) {
            (false, _) => 0.0,
            (true, (_, 0)) => launch_budget_s(case) + LAUNCH_OVERHEAD_S,
            (true, (all_s, launches)) => launch_budget_s(case) + all_s / f64::from(launches),
        };
        let case_s = match uses_storage(&case.workload) {
            true => STORAGE_OVERHEAD_S,
            false => CASE_OVERHEAD_S,
        };
        self.least_s[at].max(memory_s).max(launch_s) + case_s
    }
}

/// Rounds a time up to tenths of a second, or from 2 s on to seconds.
fn round_up(seconds: f64) -> f64 {
    if seconds < 2.0 { (10.0 * seconds).ceil() / 10.0 } else { seconds.ceil() }
}

/// Whether the first turn of a case may change places with those of its neighbours: assay measures it
/// alone, without other hosts or programs.
fn has_free_order(case: &Case) -> bool {
    case.by == "assay"
        && match &case.workload {
            Workload::Stream(_)
            | Workload::Copy(_)
            | Workload::Latency(_)
            | Workload::LoadedLatency(_)
            | Workload::CacheBandwidth(_)
            | Workload::CoreToCore(_)
            | Workload::PeakFlops(_)
            | Workload::Linpack(_) => true,
            Workload::NetworkTcp(_)
            | Workload::NetworkUdp(_)
            | Workload::NetworkIcmp(_)
            | Workload::Storage(_)
            | Workload::Files(_)
            | Workload::Io500(_)
            | Workload::Command(_)
            | Workload::Imported(_)
            | Workload::Mpi(_)
            | Workload::Rdma(_) => false,
        }
}

/// Whether the budget includes all time of a case: not of programs whose repetitions the user fixed.
fn is_bounded(case: &Case) -> bool {
    case.workload.as_command().is_none_or(|work| work.runs.is_none())
}

/// Whether the hosts of a run measure a case together: between two of them, or on storage that they
/// may share.
pub(crate) fn is_joint(case: &Case) -> bool {
    case.pair.is_some() || uses_storage(&case.workload)
}

/// Whether a workload is I/O or operations of files, whose plan says how long they take.
const fn uses_storage(workload: &Workload) -> bool {
    workload.as_storage().is_some() || workload.as_files().is_some()
}

/// CPUs and array size of a workload whose loops are chosen.
fn loop_arrays(workload: &Workload) -> Option<(Vec<u32>, u64)> {
    let work = workload.as_stream()?;
    let mut cpus: Vec<u32> = work.domains.iter().flat_map(|it| it.cpus.clone()).collect();
    cpus.sort_unstable();
    Some((cpus, work.bytes_per_array * work.domains.len() as u64))
}

/// Seconds for the choice of loops: the full time, or a share of the case's budget.
fn choosing_time_s(case: &Case) -> f64 {
    let full_s: f64 = StreamOperation::ALL.into_iter().map(Stream::selection_s).sum();
    full_s.min(CHOOSING_SHARE * case.stopping.budget_s)
}

/// Seconds for the choice of the loop of one of `count` operations.
pub(crate) fn choosing_time_each_s(budget_s: f64, count: usize) -> f64 {
    CHOOSING_SHARE * budget_s / count as f64
}

/// Seconds of measurement in one MPI launch, by assay's own method.
pub(crate) fn launch_budget_s(case: &Case) -> f64 {
    (case.stopping.budget_s / LAUNCHES_PER_CASE).clamp(LAUNCH_RANGE_S.0, LAUNCH_RANGE_S.1)
}

#[cfg(test)]
mod tests;
