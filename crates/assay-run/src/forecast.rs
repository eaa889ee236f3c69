//! Forecasts the duration of a run, to divide the rest of its budget among the cases and to warn
//! of an exceeded budget in advance.
//!
//! Computes from the plan, from costs measured on this machine, and from the time that cases took
//! so far. It measures and prints nothing itself.
//!
//! A budget of the command line is kept: headline cases without time for a first result are left out,
//! too. With the budget of a suite, or one of a few seconds, each of them gets its first result.

use std::collections::BTreeMap;

use assay_kernels::memory::stream::{Stream, StreamOperation};
use assay_model::facts::HostFacts;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::{Case, Plan, TimePriority};
use assay_model::quantity::Unit;
use assay_model::workload::{NodeMemory, Workload};

mod time_left;

pub(crate) use time_left::Allowance;

/// Shortest budget that is kept, in seconds: a shorter one asks for first results as soon as possible.
const LEAST_KEPT_S: f64 = 10.0;

/// Returns the note on a budget of the command line that is too short to be kept.
pub fn short_budget_note(budget_s: f64) -> Option<Phrase> {
    (budget_s < LEAST_KEPT_S).then(|| {
        phrase!(
            "budget-not-kept",
            "a budget below {least} is not kept: cases that represent the machine get their first results",
            least = Phrase::approximate(LEAST_KEPT_S, Unit::Second),
        )
    })
}

/// Share of the budget above it after which a headline case is ended.
const HARD_END: f64 = 0.05;
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
/// Seconds of a pair of cores in one round: starting two threads, their warm-up and a few repetitions.
const CORE_PAIR_S: f64 = 1.5e-3;
/// Number of STREAM's arrays.
const STREAM_ARRAYS: f64 = 3.0;
/// Arrays that the six operations access, each counted once: 2 + 2 + 3 + 3 + 1 + 1.
const ARRAYS_WALKED: f64 = 12.0;
const ARRAYS_COPIED: f64 = 2.0;

/// Costs of memory on this host, in seconds per byte and thread unless stated otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MemoryCosts {
    /// First touch of new memory, by all touching threads together: the kernel must find it, and in
    /// a guest also the host.
    pub(crate) touch_s: f64,
    pub(crate) fill_s: f64,
    pub(crate) walk_s: f64,
    pub(crate) check_s: f64,
    /// Seconds per cache line of a pointer chain, to link and to check it.
    pub(crate) line_s: f64,
}

impl MemoryCosts {
    /// Costs of a typical current server, for plans that are only printed and measure nothing.
    pub(crate) const TYPICAL: Self =
        Self { touch_s: 5e-10, fill_s: 1e-10, walk_s: 1e-10, check_s: 2e-10, line_s: 1e-7 };

    /// Returns the larger of each cost.
    pub(crate) const fn at_least(&self, least: &Self) -> Self {
        Self {
            touch_s: self.touch_s.max(least.touch_s),
            fill_s: self.fill_s.max(least.fill_s),
            walk_s: self.walk_s.max(least.walk_s),
            check_s: self.check_s.max(least.check_s),
            line_s: self.line_s.max(least.line_s),
        }
    }
}

/// Ratio of a first turn to its plan above which other cases are taken to exceed theirs, too.
const MIN_OVERRUN: f64 = 1.2;

/// Forecast of the duration of a run.
#[derive(Debug, Default)]
pub(crate) struct RunForecast {
    budget_s: f64,
    /// Whether headline cases without time for a first result are left out.
    keeps_budget: bool,
    /// Seconds from the start of the run to that of its budget: the time until all hosts of the run
    /// were ready, or less than 0 for the preparation of a run on one host.
    waited_s: f64,
    /// Seconds that the run needs after its last case, at most the excess that is allowed.
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

/// Time of a case so far.
#[derive(Debug, Clone, Copy, Default)]
struct SpentTime {
    seconds: f64,
    first_turn_s: f64,
    /// Whether a turn has ended with a result.
    has_result: bool,
    is_over: bool,
}

/// Time that a case needs for its plan, as far as it is known.
#[derive(Debug, Clone, Copy)]
struct CaseNeed {
    priority: TimePriority,
    /// Whether it is left out if there is no time for a first result.
    may_be_cut: bool,
    /// Whether its first result takes longer on a busy machine, by a factor that other cases show.
    has_pace: bool,
    /// Forecast seconds up to its first result, with the choice of its loops.
    forecast_s: f64,
    /// The same, or longer if other cases have exceeded their plans.
    least_s: f64,
    /// Seconds of its budget and of the choice of its loops, at least `least_s`.
    planned_s: f64,
    spent: SpentTime,
}

impl CaseNeed {
    /// Seconds that the case still plans to use.
    fn remaining_s(&self) -> f64 {
        if self.spent.is_over { 0.0 } else { (self.planned_s - self.spent.seconds).max(0.0) }
    }

    /// Seconds up to its first result.
    fn first_result_s(&self) -> f64 {
        let has_result = self.spent.is_over || self.spent.has_result;
        if has_result { 0.0 } else { (self.least_s - self.spent.seconds).max(0.0) }
    }

    /// Whether it may get a first result within some seconds: others that took longer than their plans
    /// do not prove that it does, too.
    fn may_fit(&self, within_s: f64) -> bool {
        within_s > (self.forecast_s - self.spent.seconds).max(0.0)
    }

    /// Whether it is a headline case that still needs its first result.
    fn is_awaited(&self) -> bool {
        self.priority == TimePriority::Headline && self.is_waiting()
    }

    /// Whether it has neither ended nor a result.
    fn is_waiting(&self) -> bool {
        !self.spent.is_over && !self.spent.has_result
    }

    /// Ratio of the first turns so far to their forecast, at least 1: a busy machine is slower. The
    /// turn of a fixed case, or of storage, takes as long as its plan, on any machine.
    fn pace(needs: &[Self]) -> f64 {
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
    fn overrun(needs: &[Self]) -> f64 {
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
        let keeps_budget = keeps_budget && budget_s >= LEAST_KEPT_S;
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

    /// Whether headline cases without time for a first result are left out.
    pub(crate) const fn keeps_budget(&self) -> bool {
        self.keeps_budget
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
            self.waited_s -= prepared_s;
            self.ending_s = prepared_s.min(HARD_END * self.budget_s);
        }
    }

    /// Leaves all of the allowed excess to the end of a run of several hosts, whose last results and reports
    /// arrive one after the other.
    pub(crate) fn with_joint_end(mut self) -> Self {
        self.ending_s = HARD_END * self.budget_s;
        self
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

impl MemoryCosts {
    /// Seconds of one preparation, one repetition and one check, if memory dominates them.
    /// `had_bytes` were touched before.
    fn least_s(&self, workload: &Workload, had_bytes: &mut f64) -> f64 {
        let mut touch_s = |bytes: f64, threads: f64| {
            let new = (bytes - *had_bytes).max(0.0);
            *had_bytes = had_bytes.max(bytes);
            // Reused memory is only filled with zeros.
            new * self.touch_s + (bytes - new) * self.fill_s / threads
        };
        let mut walked = |array: f64, walks: f64, threads: f64| {
            let bytes = STREAM_ARRAYS * array;
            let worked_s = bytes * (self.fill_s + self.check_s) + walks * array * self.walk_s;
            touch_s(bytes, threads) + worked_s / threads
        };
        match workload {
            Workload::Stream(work) => {
                let threads: usize = work.domains.iter().map(|it| it.cpus.len()).sum();
                let array = work.bytes_per_array as f64 * work.domains.len() as f64;
                walked(array, ARRAYS_WALKED, threads.max(1) as f64)
            }
            Workload::Copy(work) => {
                let threads = work.domain.cpus.len().max(1) as f64;
                let copied_s = walked(work.bytes_per_array as f64, ARRAYS_COPIED, threads);
                let lines = |it: NodeMemory| it.chain_bytes / u64::from(it.line_bytes.max(1));
                copied_s + work.node.map_or(0, lines) as f64 * self.line_s
            }
            Workload::Latency(work) => {
                let lines = work.bytes as f64 / f64::from(work.line_bytes.max(1));
                touch_s(work.bytes as f64, 1.0) + lines * self.line_s
            }
            Workload::LoadedLatency(work) => {
                let lines = work.bytes as f64 / f64::from(work.line_bytes.max(1));
                let buffers = work.bytes_per_generator as f64 * work.traffic.cpus.len() as f64;
                touch_s(work.bytes as f64 + buffers, 1.0) + lines * self.line_s
            }
            Workload::CacheBandwidth(work) => {
                let threads = work.domain.cpus.len() as f64;
                touch_s(work.bytes_per_core as f64 * threads, threads)
            }
            Workload::CoreToCore(work) => {
                let pairs: usize = work.groups.iter().map(|group| group.pairs.len()).sum();
                CORE_PAIR_S * pairs as f64
            }
            Workload::PeakFlops(_)
            | Workload::Linpack(_)
            | Workload::NetworkTcp(_)
            | Workload::NetworkUdp(_)
            | Workload::NetworkIcmp(_)
            | Workload::Storage(_)
            | Workload::Files(_)
            | Workload::Io500(_)
            | Workload::Command(_)
            | Workload::Imported(_)
            | Workload::Mpi(_)
            | Workload::Rdma(_) => 0.0,
        }
    }
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
mod tests {
    use assay_model::benchmark::RdmaTest;
    use assay_model::plan::StoppingRule;
    use assay_model::workload::{
        Domain, LatencyWorkload, LinpackWorkload, RdmaWorkload, StreamWorkload,
    };

    use super::*;

    fn case(id: &str, workload: Workload, budget_s: f64) -> Case {
        let stopping = StoppingRule { target: 0.01, repetitions: 3, preparations: 3, budget_s };
        Case::new(id, workload, stopping)
    }

    fn chain(bytes: u64) -> Workload {
        Workload::Latency(LatencyWorkload { cpu: 0, bytes, line_bytes: 64 })
    }

    fn stream(cpus: &[u32], bytes_per_array: u64) -> Workload {
        let domain = Domain { placement: "node".into(), cpus: cpus.to_vec() };
        Workload::Stream(StreamWorkload {
            domains: vec![domain],
            bytes_per_array,
            cache_multiple: 4.0,
        })
    }

    fn outlook(budget_s: f64, cases: Vec<Case>) -> RunForecast {
        let plan = Plan::new("test", budget_s, cases);
        RunForecast::from_plan(&plan, &HostFacts::default(), false)
    }

    #[test]
    fn warns_once_of_exceeded_budget() {
        for (elapsed_s, expected) in [
            ([0.0, 20.0, 40.0], [None; 3]),
            ([0.0, 31.0, 51.0], [None; 3]),
            ([0.0, 80.0, 100.0], [None, Some("about 120 s instead of the 60 s"), None]),
            ([0.0, 80.0, 140.0], [None, Some("about 120 s instead of the 60 s"), None]),
            (
                [0.0, 80.0, 180.0],
                [
                    None,
                    Some("about 120 s instead of the 60 s"),
                    Some("about 200 s by now, not 120 s: what was measured so far took longer"),
                ],
            ),
        ] {
            let cases = ["a", "b", "c"].map(|id| case(id, chain(4096), 20.0));
            let mut outlook = outlook(60.0, cases.to_vec());
            outlook.fix_cases();
            for ((case, elapsed_s), expected) in cases.iter().zip(elapsed_s).zip(expected) {
                let words = outlook.check_budget(elapsed_s).map(|it| it.to_string());
                assert_eq!(words.is_some(), expected.is_some(), "{words:?}");
                assert!(words.unwrap_or_default().contains(expected.unwrap_or("")));
                outlook.record_turn(&case.id, 20.0, true);
            }
        }
    }

    /// 1 ns to touch a byte, a tenth of it to fill, a hundredth to walk, a twentieth to check; 100
    /// ns per line.
    const RATES: MemoryCosts = MemoryCosts {
        touch_s: 1e-9,
        fill_s: 1e-10,
        walk_s: 1e-11,
        check_s: 5e-11,
        line_s: 1e-7,
    };

    #[test]
    fn memory_time_follows_bytes() {
        let giga = 1_000_000_000;
        let mut had_bytes = 0.0;
        let mut least_s = |workload: &Workload| RATES.least_s(workload, &mut had_bytes);
        // Two threads touch, fill and check 3 GB, and walk 12 GB.
        let first_s = 3.0 + (0.3 + 0.15 + 0.12) / 2.0;
        // Memory is reused: it is filled with zeros instead of touched.
        let second_s = 0.3 + 0.3 + 0.15 + 0.12;
        for (workload, expected_s) in [
            (stream(&[0, 1], giga), first_s),
            (stream(&[0], giga), second_s),
            (chain(giga), 0.1 + giga as f64 / 64.0 * 1e-7),
        ] {
            let found_s = least_s(&workload);
            assert!((found_s - expected_s).abs() < 1e-9, "{found_s} {expected_s}");
        }
    }

    /// Ranks must start even with a short budget, and a solve cannot be shortened.
    #[test]
    fn warns_of_cases_longer_than_budget() {
        let solve = |n| {
            let cpus = vec![0, 1];
            Workload::Linpack(LinpackWorkload { n, cpus, blas: None, seed: 1 })
        };
        let ranks = serde_json::json!({
            "benchmark": "mpi.bw", "ranks": 2, "placement": { "placement": "same-cache", "cpus": [0, 1] },
            "mpi": {
                "key": "x-1", "name": "X", "version": "1", "prefix": "/opt/x", "library": "/opt/x/libmpi.so",
                "abi": "open-mpi", "launcher": "/opt/x/mpiexec", "starter": "orte",
            },
            "hosts": {}, "from_bytes": 1, "to_bytes": 4_194_304,
        });
        let ranks = Workload::Mpi(serde_json::from_value(ranks).unwrap());
        for (workload, budget_s, expected) in [
            (solve(1000), 4.0, None),
            (solve(10_000), 4.0, Some("about 30 s instead of the 4.0 s")),
            (ranks.clone(), 20.0, None),
            (ranks, 0.3, Some("about 2.6 s instead of the")),
        ] {
            let mut outlook = outlook(budget_s, vec![case("a", workload, budget_s)]);
            let words = outlook.check_budget(0.0).map(|it| it.to_string());
            assert_eq!(words.is_some(), expected.is_some(), "{words:?}");
            assert!(
                words.as_deref().unwrap_or("").contains(expected.unwrap_or("")),
                "{words:?}"
            );
        }
    }

    #[test]
    fn updates_forecast_while_touching() {
        let giga = 1_000_000_000;
        let cases =
            vec![case("a", stream(&[0], giga), 4.0), case("b", stream(&[0], giga), 4.0)];
        let mut outlook = outlook(8.0, cases);
        outlook.fix_cases();
        outlook.set_memory_costs(Some(RATES));
        // 3.57 s and the budgets, plus the choice of loops, once for both cases.
        let choosing_s = outlook.required_s(0.0) - 8.0;
        assert!(choosing_s > 0.0 && choosing_s <= 2.0, "{choosing_s}");
        assert_eq!(outlook.check_budget(0.0), None);
        outlook.record_touch(0.1e9, 0.7);
        outlook.record_spent("a", 0.7);
        // 21 s to touch all memory.
        assert!(
            (outlook.required_s(0.7) - (21.57 + CASE_OVERHEAD_S + 4.0 + choosing_s - 0.7))
                .abs()
                < 1e-9
        );
        let words = outlook.check_budget(0.7).unwrap().to_string();
        assert!(words.contains("instead of the 8.0 s"), "{words}");
        outlook.record_touch(0.2e9, 1.4);
        outlook.record_spent("a", 1.4);
        assert_eq!(outlook.check_budget(1.4), None, "nothing new");
    }
    /// The memory costs of the other tests, and 12 s.
    fn kept(cases: Vec<Case>) -> RunForecast {
        let plan = Plan::new("test", 12.0, cases);
        let mut forecast = RunForecast::from_plan(&plan, &HostFacts::default(), true);
        forecast.set_memory_costs(Some(RATES));
        forecast.order_cases();
        forecast
    }

    #[test]
    fn short_headlines_begin_first() {
        let test = RdmaWorkload::perftest_default(RdmaTest::SendLatency, None);
        let cases = vec![
            case("node", stream(&[0, 1], 4_000_000_000), 1.0),
            case("half", stream(&[0], 2_000_000_000), 1.0),
            case("small", chain(4096), 1.0),
            case("large", chain(1_000_000_000), 1.0),
            case("net", Workload::Rdma(test), 1.0),
            case("after", chain(8192), 1.0),
        ];
        let places = |forecast: &RunForecast| -> Vec<String> {
            forecast.order.iter().map(|at| forecast.cases[*at].id.clone()).collect()
        };
        let forecast = kept(cases.clone());
        assert_eq!(places(&forecast), ["large", "half", "node", "small", "net", "after"]);
        assert_eq!([forecast.place("node"), forecast.place("small")], [2, 3]);
        let mut forecast = outlook(12.0, cases);
        forecast.set_memory_costs(Some(RATES));
        forecast.order_cases();
        assert_eq!(places(&forecast), ["node", "half", "small", "large", "net", "after"]);
    }

    /// A case that was left out has touched no memory for the next one.
    #[test]
    fn cut_case_leaves_no_memory() {
        let cases = || {
            vec![
                case("a", stream(&[0], 1 << 30), 1.0),
                case("b", stream(&[0, 1], 1 << 30), 1.0),
            ]
        };
        let second_s = |forecast: &RunForecast| forecast.needs()[1].least_s;
        let mut forecast = kept(cases());
        forecast.order = vec![0, 1];
        let reused_s = second_s(&forecast);
        forecast.record_end("a");
        let alone_s = second_s(&forecast);
        assert!(alone_s > reused_s + 2.0, "{reused_s} {alone_s}");
        // It was ended after a third.
        forecast.record_touch(f64::from(1 << 30), 1.0);
        forecast.record_cut("a", 1.0);
        let rest_s = second_s(&forecast);
        assert!(rest_s < alone_s && rest_s > reused_s, "{reused_s} {rest_s} {alone_s}");
    }

    /// The end of a run takes as long as its preparation, but the budget is used.
    #[test]
    fn keeps_time_for_the_end_of_the_run() {
        for (prepared_s, end_s) in [(0.0, 12.6), (0.1, 12.4), (0.6, 11.4), (3.0, 9.0)] {
            let mut forecast = kept(vec![case("a", chain(4096), 12.0)]);
            forecast.record_turn("a", 0.0, false);
            forecast.begin_earlier(prepared_s);
            let Allowance::UpTo { end_s: found_s, .. } = forecast.allowance("a", 0.0) else {
                panic!("{prepared_s}");
            };
            assert!((found_s - end_s).abs() < 1e-9, "{prepared_s}: {found_s}");
        }
    }
}
