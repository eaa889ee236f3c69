//! Simulation of programs in turns that print a figure with a known effect: counts the verdicts, the
//! blocks until they are decided, and the intervals that contain the effect.
//!
//! Builds the events of `assay exec` block by block, and calls the functions that it calls.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::comparison::ComparisonVerdict;
use assay_model::event::{RunEvent, Sample, SeriesOpened, StopReason};
use assay_model::factor::FactorLevel;
use assay_model::plan::{Case, StoppingRule};
use assay_model::run::{Run, RunBuilder};
use assay_model::workload::Workload;
use assay_model::workload::command::{CommandWorkload, ProgramCall};

use super::{MARGIN, start_events};
use crate::compare::{are_programs_decided, compare_levels, compare_programs, program_levels};
use crate::looks::{LAST_LOOK, is_early_look};
use crate::random::Random;

/// Metrics of a program: its wall time, and the same time as a figure that it prints.
const SERIES: u32 = 2;

/// Disturbance of the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramNoise {
    /// None besides the independent noise.
    Independent,
    /// The machine slows down by 0.3 % from each run to the next.
    Drift,
    /// One run in twenty takes up to 30 % longer.
    Bursts,
    /// Every second run, at random, takes 10 % longer.
    TwoModes,
}

/// Programs that take turns and differ by known ratios.
#[derive(Debug, Clone)]
pub struct SimulatedPrograms {
    /// True ratio of each further program to the first one.
    pub ratios: Vec<f64>,
    /// Standard deviation of the independent noise, relative.
    pub spread: f64,
    /// Further disturbance.
    pub noise: ProgramNoise,
    /// Whether the comparison ends once it is decided.
    pub has_looks: bool,
}

/// Results of simulated comparisons with the first of two programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProgramTally {
    /// Number of comparisons.
    pub comparisons: u32,
    /// Comparisons with a false verdict: better or worse within the margin or in the wrong direction,
    /// equivalent beyond it.
    pub misled: u32,
    /// Comparisons that found a difference beyond the margin.
    pub found: u32,
    /// Comparisons whose interval contains the true ratio.
    pub covered: u32,
    /// Blocks of all comparisons.
    pub blocks: u32,
    /// Medians of single programs whose intervals contain the true one; twice as many as
    /// comparisons.
    pub medians_covered: u32,
}

impl SimulatedPrograms {
    /// Two programs with this ratio, 1 % of noise, and looks.
    pub fn pair(ratio: f64, noise: ProgramNoise) -> Self {
        Self { ratios: vec![ratio], spread: 0.01, noise, has_looks: true }
    }

    /// Simulates the given number of comparisons of the first two programs.
    pub fn simulate(&self, comparisons: u32, seed: u64) -> ProgramTally {
        let mut random = Random::new(seed);
        let mut tally = ProgramTally { comparisons, ..ProgramTally::default() };
        for _ in 0..comparisons {
            let (run, blocks) = self.measure(&mut random);
            tally.blocks += blocks;
            self.count(&run, &mut tally);
        }
        tally
    }

    /// Returns the share of families of equal levels with any difference. Every program is a level.
    pub fn family_error(&self, families: u32, seed: u64) -> f64 {
        let mut random = Random::new(seed);
        let is_false = |_| {
            let (run, _) = self.measure(&mut random);
            let metrics = compare_levels(&program_levels(&run)).metrics;
            metrics.iter().flat_map(|it| &it.pairs).any(|pair| pair.differs)
        };
        let count = (0..families).map(is_false).filter(|it| *it).count();
        count as f64 / f64::from(families)
    }

    /// Measures block after block; returns the run and the number of blocks.
    fn measure(&self, random: &mut Random) -> (Run, u32) {
        let cases: Vec<Case> = (0..=self.ratios.len()).map(|index| self.case(index)).collect();
        let mut events = start_events(&cases, None).into_iter();
        let Some(RunEvent::RunStarted(started)) = events.next() else {
            unreachable!("the first event is that of a beginning")
        };
        let mut builder = RunBuilder::new(*started);
        events.for_each(|event| builder.add(event));
        cases.iter().zip(0..).for_each(|(case, number)| open_case(case, number, &mut builder));
        let (mut blocks, mut runs) = (0, 0);
        while blocks < LAST_LOOK {
            let mut order: Vec<usize> = (0..cases.len()).collect();
            random.shuffle(&mut order);
            for program in order {
                let value = self.value(program, runs, random);
                add_samples(program as u32, (value, blocks as u32), &mut builder);
                runs += 1;
            }
            blocks += 1;
            if self.has_looks
                && is_early_look(blocks)
                && are_programs_decided(builder.run(), MARGIN)
            {
                break;
            }
        }
        for case in &cases {
            let (case, stopped) = (case.id.clone(), StopReason::Decided);
            builder.add(RunEvent::CaseFinished { case, stopped });
        }
        (builder.finish(), blocks as u32)
    }

    fn case(&self, index: usize) -> Case {
        let run = ProgramCall { words: vec![index.to_string()], shell: false };
        let level = FactorLevel { factor: "n".to_owned(), level: index.to_string() };
        let workload = CommandWorkload {
            decided_by_margin: self.has_looks.then_some(MARGIN),
            levels: if self.has_looks { Vec::new() } else { vec![level] },
            ..CommandWorkload::from_call(run)
        };
        let stopping =
            StoppingRule { target: 0.01, repetitions: 14, preparations: 1, budget_s: 9.0 };
        Case::new(
            format!("{}/{index}", Benchmark::Command.id()),
            Workload::Command(Box::new(workload)),
            stopping,
        )
    }

    fn median(&self, program: usize) -> f64 {
        program.checked_sub(1).and_then(|index| self.ratios.get(index)).copied().unwrap_or(1.0)
    }

    fn value(&self, program: usize, run: u32, random: &mut Random) -> f64 {
        let disturbed = match self.noise {
            ProgramNoise::Independent => 1.0,
            ProgramNoise::Drift => 1.0 + 0.003 * f64::from(run),
            ProgramNoise::Bursts if random.uniform() < 0.05 => 1.0 + 0.3 * random.uniform(),
            ProgramNoise::Bursts => 1.0,
            ProgramNoise::TwoModes if random.uniform() < 0.5 => 1.1,
            ProgramNoise::TwoModes => 1.0,
        };
        self.median(program) * disturbed * (self.spread * random.normal()).exp()
    }

    fn count(&self, run: &Run, tally: &mut ProgramTally) {
        let comparisons = compare_programs(run, MARGIN);
        let Some(comparison) = comparisons.first() else { return };
        let figure =
            comparison.pairs.iter().find(|it| it.a.parameters.contains_key(&Attribute::Test));
        let Some(pair) = figure else { return };
        let ratio = self.median(1);
        let differs = ratio.ln().abs() > MARGIN.ln_1p();
        // A longer time is worse.
        let right =
            if ratio > 1.0 { ComparisonVerdict::Worse } else { ComparisonVerdict::Better };
        let is_false = match pair.verdict {
            ComparisonVerdict::Better | ComparisonVerdict::Worse => {
                !differs || pair.verdict != right
            }
            ComparisonVerdict::Equivalent => differs,
            ComparisonVerdict::CannotTell => false,
        };
        let contains = |[low, high]: [f64; 2], truth: f64| low <= truth && truth <= high;
        tally.misled += u32::from(is_false);
        tally.found += u32::from(differs && pair.verdict == right);
        tally.covered += u32::from(pair.ratio_ci.is_some_and(|it| contains(it, ratio)));
        for (estimate, program) in [(&pair.a, 0), (&pair.b, 1)] {
            let truth = self.median(program);
            tally.medians_covered +=
                u32::from(estimate.ci.is_some_and(|it| contains(it, truth)));
        }
    }
}

fn open_case(case: &Case, number: u32, builder: &mut RunBuilder) {
    builder.add(RunEvent::CaseStarted { case: case.id.clone() });
    let figure = Attributes::from([(Attribute::Test, "figure".into())]);
    for (index, (metric, own)) in
        (0..).zip([("wall_time", Attributes::new()), ("time", figure)])
    {
        let mut dimensions = case.workload.dimensions(&case.by);
        dimensions.extend(own);
        builder.add(RunEvent::SeriesOpened(SeriesOpened::new(
            number * SERIES + index,
            case.id.clone(),
            metric.to_owned(),
            dimensions,
        )));
    }
}

fn add_samples(program: u32, (value, block): (f64, u32), builder: &mut RunBuilder) {
    for index in 0..SERIES {
        builder.add(RunEvent::Sample(Sample {
            preparation: block,
            ..Sample::new(program * SERIES + index, value)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_end_early_and_err_rarely() {
        let shifted = SimulatedPrograms::pair(1.03, ProgramNoise::Independent);
        let tally = shifted.simulate(100, 3);
        assert!(tally.found >= 95 && tally.misled == 0, "{tally:?}");
        assert!(tally.blocks <= 7 * 100 + 20 && tally.covered >= 93, "{tally:?}");
        for noise in [ProgramNoise::Drift, ProgramNoise::TwoModes] {
            let equal = SimulatedPrograms::pair(1.0, noise).simulate(100, 4);
            assert!(equal.misled <= 10 && equal.found == 0, "{noise:?}: {equal:?}");
        }
    }

    #[test]
    fn equal_levels_rarely_differ() {
        let equal = SimulatedPrograms {
            ratios: vec![1.0; 4],
            has_looks: false,
            ..SimulatedPrograms::pair(1.0, ProgramNoise::Independent)
        };
        let share = equal.family_error(100, 5);
        assert!(share <= 0.1, "{share}");
    }
}
