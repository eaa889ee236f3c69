//! Simulation of comparisons and histories with known truth: counts how often verdicts and change
//! points are right. `cargo xtask truth statistics` prints the result; the tests assert a short
//! form.
//!
//! Simulates whole runs, so that every step from samples to verdicts is the real one.

use assay_model::comparison::{Comparison, ComparisonVerdict};
use assay_model::event::{
    HostJoined, RunEvent, RunStarted, RunStatus, Sample, SeriesOpened, StopReason, TurnPosition,
};
use assay_model::facts::{HostFacts, HostState};
use assay_model::plan::{Case, Plan, StoppingRule};
use assay_model::run::Run;
use assay_model::workload::{LatencyWorkload, Workload};

use crate::change_points;
use crate::compare::{Condition, DEFAULT_RUNS, compare};
use crate::looks;
use crate::random::Random;

pub mod programs;

/// Margin of the comparisons: the default of the program.
const MARGIN: f64 = 0.02;

/// Two conditions in which one metric may differ.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedConditions {
    /// Number of metrics of the suite.
    pub metrics: usize,
    /// Number of runs of each condition.
    pub runs: u32,
    /// Relative standard deviation between runs.
    pub spread: f64,
    /// True ratio of the first metric, second condition over first; the others do not differ.
    pub ratio: f64,
    /// Whether the conditions took turns.
    pub in_turns: bool,
    /// Relative change of the machine from one run to the next.
    pub drift: f64,
    /// Whether the comparison ends early, once the first metric is decided.
    pub has_looks: bool,
}

impl SimulatedConditions {
    /// Suite of 50 metrics with the default number of runs of a comparison in turns, and no
    /// difference.
    pub const EQUAL: Self = Self {
        metrics: 50,
        runs: DEFAULT_RUNS,
        spread: 0.01,
        ratio: 1.0,
        in_turns: true,
        drift: 0.0,
        has_looks: false,
    };
}

/// Results of simulated comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerdictTally {
    /// Number of comparisons.
    pub comparisons: u32,
    /// Comparisons with a false better or worse verdict.
    pub misled: u32,
    /// Comparisons that found the difference, in the right direction.
    pub found: u32,
    /// Blocks of all comparisons.
    pub blocks: u32,
}

impl VerdictTally {
    /// Returns the share of comparisons with a false verdict.
    pub fn misled_share(&self) -> f64 {
        f64::from(self.misled) / f64::from(self.comparisons)
    }

    /// Returns the share of comparisons that found the difference.
    pub fn found_share(&self) -> f64 {
        f64::from(self.found) / f64::from(self.comparisons)
    }
}

impl SimulatedConditions {
    /// Simulates the given number of comparisons.
    pub fn simulate(self, comparisons: u32, seed: u64) -> VerdictTally {
        let mut random = Random::new(seed);
        let mut verdicts = VerdictTally { comparisons, ..VerdictTally::default() };
        for _ in 0..comparisons {
            let runs = self.runs(&mut random);
            let (comparison, blocks) = self.compare(&runs);
            verdicts.blocks += blocks as u32;
            // A higher latency is worse.
            let right = if self.ratio > 1.0 {
                ComparisonVerdict::Worse
            } else {
                ComparisonVerdict::Better
            };
            let differs = usize::from((self.ratio - 1.0).abs() > f64::EPSILON);
            let is_called = |it: ComparisonVerdict| {
                matches!(it, ComparisonVerdict::Better | ComparisonVerdict::Worse)
            };
            let others = &comparison.pairs[differs..];
            verdicts.misled += u32::from(others.iter().any(|pair| is_called(pair.verdict)));
            verdicts.found += u32::from(differs > 0 && comparison.pairs[0].verdict == right);
        }
        verdicts
    }

    /// Compares all runs, or as many as it takes to decide the first metric; returns the number of
    /// blocks.
    fn compare(self, [a, b]: &[Vec<Run>; 2]) -> (Comparison, usize) {
        let compare_blocks = |blocks: usize| {
            let condition = |name, runs| Condition { name, runs, positions: &[] };
            compare(condition("a", &a[..blocks]), condition("b", &b[..blocks]), MARGIN)
        };
        let looks =
            (0..a.len()).filter(|blocks| self.has_looks && looks::is_early_look(*blocks));
        let mut looks = looks.map(|blocks| (compare_blocks(blocks), blocks));
        let is_decided = |(comparison, _): &(Comparison, usize)| {
            let first = comparison.pairs.first();
            first.is_some_and(|pair| pair.verdict != ComparisonVerdict::CannotTell)
        };
        looks.find(is_decided).unwrap_or_else(|| (compare_blocks(a.len()), a.len()))
    }

    fn runs(self, random: &mut Random) -> [Vec<Run>; 2] {
        let mut runs = [Vec::new(), Vec::new()];
        let mut number = 0;
        for block in 0..self.runs {
            let mut order = [0, 1];
            random.shuffle(&mut order);
            // The order is not reversed in every second block: the worst case for drift.
            for condition in order {
                let turn = self.in_turns.then(|| TurnPosition {
                    has_looks: self.has_looks,
                    ..TurnPosition::new("simulated", 0, number, block)
                });
                let drift = 1.0 + self.drift * f64::from(number);
                let ratio = if condition == 1 { self.ratio } else { 1.0 };
                let level = |metric: usize, random: &mut Random| {
                    let own = if metric == 0 { ratio } else { 1.0 };
                    100.0 * own * drift * (self.spread * random.normal()).exp()
                };
                let levels: Vec<f64> =
                    (0..self.metrics).map(|metric| level(metric, random)).collect();
                runs[condition].push(simulated_run(&levels, turn));
                number += 1;
            }
        }
        runs
    }
}

/// Returns a run with one latency for every level.
pub(crate) fn simulated_run(levels: &[f64], turn: Option<TurnPosition>) -> Run {
    let stopping =
        StoppingRule { target: 0.01, repetitions: 3, preparations: 1, budget_s: 9.0 };
    let case = |metric: usize| {
        Case::new(
            format!("memory.latency/{metric}"),
            Workload::Latency(LatencyWorkload {
                cpu: 0,
                bytes: 1 << 12 | metric as u64,
                line_bytes: 64,
            }),
            stopping,
        )
    };
    let cases: Vec<Case> = (0..levels.len()).map(case).collect();
    let mut events = start_events(&cases, turn);
    for ((series, case), level) in (0..).zip(cases).zip(levels) {
        events.push(RunEvent::CaseStarted { case: case.id.clone() });
        events.push(RunEvent::SeriesOpened(SeriesOpened::new(
            series,
            case.id.clone(),
            "latency",
            case.workload.dimensions("assay"),
        )));
        // The variance within a run is part of the variance between runs.
        let value = *level;
        events.push(RunEvent::Sample(Sample::new(series, value)));
        events.push(RunEvent::CaseFinished { case: case.id, stopped: StopReason::Budget });
    }
    let (finished, state) = ("2026-01-01T00:01:00Z".to_owned(), HostState::default());
    events.push(RunEvent::RunFinished { finished, status: RunStatus::Complete, state });
    Run::fold(events).expect("the first event is that of a beginning")
}

/// Returns the events of a run with these cases before the first one begins.
pub(crate) fn start_events(cases: &[Case], turn: Option<TurnPosition>) -> Vec<RunEvent> {
    let run = turn.as_ref().map_or(0, |turn| turn.number).to_string();
    let plan = Plan::new("simulated", 60.0, cases.to_vec());
    let started = RunStarted { turn, ..RunStarted::new(run, "2026-01-01T00:00:00Z", plan) };
    let host = HostJoined::new("simulated", HostFacts::default());
    vec![RunEvent::RunStarted(Box::new(started)), RunEvent::HostJoined(Box::new(host))]
}

/// History of runs in which the level changes once.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedHistory {
    /// Number of runs.
    pub runs: usize,
    /// Relative standard deviation between runs.
    pub spread: f64,
    /// True step, relative; 0 for none.
    pub step: f64,
    /// Number of runs from the step on; `None` for a random number from 5 to all but 5.
    pub runs_after: Option<usize>,
}

/// Results of simulated histories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StepTally {
    /// Number of histories.
    pub histories: u32,
    /// Histories in which the step is found within two runs of its position.
    pub found: u32,
    /// Histories with a false change point.
    pub misled: u32,
}

impl SimulatedHistory {
    /// Simulates the given number of histories.
    pub fn simulate(self, histories: u32, seed: u64) -> StepTally {
        let mut random = Random::new(seed);
        let mut steps = StepTally { histories, ..StepTally::default() };
        for number in 0..histories {
            let at = match self.runs_after {
                Some(after) => self.runs - after,
                None => 5 + random.next_below(self.runs - 9),
            };
            let value = |run: usize| {
                let level = if run >= at { self.step.ln_1p() } else { 0.0 };
                level + self.spread * random.normal()
            };
            let values: Vec<f64> = (0..self.runs).map(value).collect();
            let found = change_points::find(&values, u64::from(number));
            let is_near = |place: usize| self.step > 0.0 && place.abs_diff(at) <= 2;
            steps.found += u32::from(found.iter().any(|change| is_near(change.index)));
            steps.misled += u32::from(found.iter().any(|change| !is_near(change.index)));
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three standard errors above a share of 4 % in 100 histories.
    const MAX_MISLED: f64 = 0.1;

    #[test]
    fn equal_conditions_are_rarely_different() {
        for (in_turns, runs, spread) in [
            (true, DEFAULT_RUNS, 0.0),
            (true, DEFAULT_RUNS, 0.03),
            (true, 4, 0.01),
            (false, 6, 0.01),
        ] {
            let conditions = SimulatedConditions {
                spread,
                runs,
                in_turns,
                metrics: 20,
                ..SimulatedConditions::EQUAL
            };
            let verdicts = conditions.simulate(100, 3);
            assert!(verdicts.misled_share() < MAX_MISLED, "{conditions:?}: {verdicts:?}");
        }
    }

    #[test]
    fn finds_shift_of_three_percent() {
        let verdicts =
            SimulatedConditions { ratio: 1.03, ..SimulatedConditions::EQUAL }.simulate(60, 5);
        // Three standard errors below 93 %.
        assert!(
            verdicts.found_share() > 0.83 && verdicts.misled_share() < MAX_MISLED,
            "{verdicts:?}"
        );
    }

    #[test]
    fn turns_balance_drift() {
        let drifting =
            SimulatedConditions { drift: 0.003, metrics: 20, ..SimulatedConditions::EQUAL };
        let verdicts = drifting.simulate(60, 7);
        assert!(verdicts.misled_share() < MAX_MISLED, "{verdicts:?}");
    }

    #[test]
    fn finds_steps_at_their_position() {
        let past = SimulatedHistory { runs: 40, spread: 0.01, step: 0.05, runs_after: None };
        let steps = past.simulate(200, 9);
        assert!(steps.found > 190 && steps.misled < 20, "{steps:?}");
        let fresh = SimulatedHistory { runs_after: Some(2), ..past }.simulate(200, 9);
        assert!(fresh.found > 180, "{fresh:?}");
        let steps = SimulatedHistory { step: 0.0, ..past }.simulate(300, 9);
        // Three standard errors above 3 %.
        assert!(steps.misled < 18, "{steps:?}");
    }
}
