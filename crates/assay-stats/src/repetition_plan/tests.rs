//! Tests of the plan on simulated runs with known spreads and times.

use assay_model::event::{RunEvent, SeriesOpened, StopReason};
use assay_model::plan::{Case, StoppingRule};
use assay_model::workload::{LatencyWorkload, Workload};

use super::*;
use crate::random::Random;
use crate::simulation::start_events;

/// Spreads of runs, preparations and samples; counts of the last two; times of a start, a preparation
/// and a sample in seconds.
#[derive(Debug, Clone, Copy)]
struct KnownRuns {
    spreads: [f64; 3],
    counts: [u32; 2],
    times_s: [f64; 3],
}

impl KnownRuns {
    fn measure(self, runs: u32, random: &mut Random) -> Vec<Run> {
        (0..runs).map(|_| self.run(random)).collect()
    }

    fn run(self, random: &mut Random) -> Run {
        let stopping =
            StoppingRule { target: 0.01, repetitions: 3, preparations: 1, budget_s: 9.0 };
        let workload =
            Workload::Latency(LatencyWorkload { cpu: 0, bytes: 4096, line_bytes: 64 });
        let case = Case::new("memory.latency/x", workload, stopping);
        let mut events = start_events(std::slice::from_ref(&case), None);
        events.push(RunEvent::CaseStarted { case: case.id.clone() });
        events.push(RunEvent::SeriesOpened(SeriesOpened::new(
            0,
            case.id.clone(),
            "latency",
            case.workload.dimensions("assay"),
        )));
        let of_run = self.spreads[0] * random.normal();
        let mut now_s = self.times_s[0];
        for preparation in 0..self.counts[0] {
            let of_preparation = of_run + self.spreads[1] * random.normal();
            now_s += self.times_s[1];
            for _ in 0..self.counts[1] {
                now_s += self.times_s[2];
                let value = 1e-7 * (of_preparation + self.spreads[2] * random.normal()).exp();
                let at_ns = (now_s * 1e9) as u64;
                let sample = Sample { series: 0, value, weight: 1.0, preparation, at_ns };
                events.push(RunEvent::Sample(sample));
            }
        }
        let stopped = StopReason::Budget;
        events.push(RunEvent::CaseFinished { case: case.id, stopped });
        Run::fold(events).unwrap()
    }
}

const BETWEEN_RUNS: KnownRuns =
    KnownRuns { spreads: [0.01, 0.001, 0.002], counts: [4, 10], times_s: [5.0, 1.0, 0.1] };

#[test]
fn known_spreads_and_times_are_found() {
    let mut random = Random::new(6);
    let runs = BETWEEN_RUNS.measure(40, &mut random);
    let plan = plan_repetitions(&runs, 0.02);
    let [found] = plan.as_slice() else { panic!("{plan:#?}") };
    let [host, run, preparation, sample] = found.effects[..] else { panic!("{found:#?}") };
    assert_eq!((host.component, host.cost_s), (None, None));
    for (effect, spread, count) in
        [(run, 0.01, 40.0), (preparation, 0.001, 4.0), (sample, 0.002, 10.0)]
    {
        let component = effect.component.unwrap();
        let [low, high] = component.interval.map(f64::sqrt);
        assert!(low <= spread && spread <= high, "{effect:?}");
        assert!(count - effect.count < 0.1 * count, "{effect:?}");
    }
    let near = |found: Option<f64>, expected: f64| {
        found.is_some_and(|it| (it / expected - 1.0).abs() < 0.15)
    };
    assert!(near(sample.cost_s, 0.1) && near(preparation.cost_s, 2.0), "{found:#?}");
    assert!(near(run.cost_s, 14.1), "{found:#?}");
    assert_eq!(found.best, Some(RepetitionLevel::Run), "{found:#?}");
    assert!(sample.narrowing_per_minute.unwrap() < run.narrowing_per_minute.unwrap() / 10.0);
}

/// Two groups of the needed size find the difference in about four of five cases, simulated.
#[test]
fn needed_runs_have_their_power() {
    let (mut random, difference, spread) = (Random::new(7), 0.02, 0.01);
    let needed = needed_runs(spread * spread, difference).unwrap();
    let found = (0..2000).filter(|_| {
        let mut group = |shift: f64| -> Vec<f64> {
            (0..needed).map(|_| shift + spread * random.normal()).collect()
        };
        let (a, b) = (group(0.0), group(difference.ln_1p()));
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let squares = |of: &[f64]| of.iter().map(|it| (it - mean(of)).powi(2)).sum::<f64>();
        let freedom = 2 * needed - 2;
        let error =
            ((squares(&a) + squares(&b)) / f64::from(freedom) * 2.0 / f64::from(needed)).sqrt();
        student::two_sided_p((mean(&b) - mean(&a)) / error, freedom) <= 0.05
    });
    let power = found.count() as f64 / 2000.0;
    assert!((POWER - 0.03..0.95).contains(&power), "{needed}: {power}");
}

#[test]
fn the_costliest_noise_is_repeated() {
    let mut random = Random::new(8);
    for (spreads, expected) in [
        ([0.001, 0.02, 0.001], RepetitionLevel::Preparation),
        ([0.0, 0.0, 0.05], RepetitionLevel::Sample),
    ] {
        let known = KnownRuns { spreads, times_s: [60.0, 1.0, 0.1], ..BETWEEN_RUNS };
        let plan = plan_repetitions(&known.measure(8, &mut random), 0.02);
        assert_eq!(plan[0].best, Some(expected), "{plan:#?}");
    }
}

#[test]
fn too_few_runs_leave_the_rest_unknown() {
    let mut random = Random::new(9);
    let one = plan_repetitions(&BETWEEN_RUNS.measure(1, &mut random), 0.02);
    let found = &one[0];
    assert_eq!((found.half_width, found.needed_runs, found.best), (None, None, None));
    assert!(found.effects[1].component.is_none() && found.effects[3].component.is_some());
    assert_eq!(plan_repetitions(&[], 0.02), []);
}
