//! Error rates of verdicts, change points and modes, simulated, for `cargo xtask truth statistics`.
//!
//! The tables are the same for the same seed.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use std::thread;

use assay_stats::interval_coverage::ModalShape;
use assay_stats::looks::LAST_LOOK;
use assay_stats::simulation::programs::{ProgramNoise, ProgramTally, SimulatedPrograms};
use assay_stats::simulation::{SimulatedConditions, SimulatedHistory, VerdictTally};

/// Simulated comparisons per line: the standard error of a share of 4 % is 0.5 %.
const COMPARISONS: u32 = 1500;
/// Simulated histories per line.
const HISTORIES: u32 = 4000;

/// Simulated comparisons of programs per line, and families of levels.
const PROGRAMS: u32 = 1000;

/// Bound on a simulated share.
#[derive(Debug, Clone, Copy)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
    Within(f64, f64),
}

/// Simulation with the bound that its result must meet.
struct SimulatedClaim {
    label: String,
    outcome: &'static str,
    bound: Bound,
    simulate: Box<dyn Fn() -> f64 + Send>,
}

/// Prints the tables and returns the number of lines outside their bounds.
pub(super) fn print_tables(seed: u64) -> u32 {
    println!("{COMPARISONS} comparisons or {HISTORIES} histories each, seed {seed}\n");
    let mut lines = verdict_claims(seed);
    lines.extend(look_claims(seed));
    lines.extend(program_claims(seed));
    lines.extend(change_point_claims(seed));
    lines.extend(mode_claims(seed));
    let mut faults = 0;
    let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut waiting = lines.into_iter().peekable();
    while waiting.peek().is_some() {
        let batch: Vec<SimulatedClaim> = waiting.by_ref().take(workers).collect();
        thread::scope(|scope| {
            let started: Vec<_> = batch
                .into_iter()
                .map(|line| (line.label, line.outcome, line.bound, scope.spawn(line.simulate)))
                .collect();
            for (what, is, bound, share) in started {
                let share = share.join().expect("a simulation does not panic");
                let (holds, required) = match bound {
                    Bound::AtMost(most) => (share <= most, format!("≤ {:.0} %", 100.0 * most)),
                    Bound::AtLeast(minimum) => {
                        (share >= minimum, format!("≥ {:.0} %", 100.0 * minimum))
                    }
                    Bound::Within(low, high) => {
                        let limits = format!("{:.0}–{:.0} %", 100.0 * low, 100.0 * high);
                        ((low..=high).contains(&share), limits)
                    }
                };
                faults += u32::from(!holds);
                let mark = if holds { "" } else { "  DOES NOT HOLD" };
                println!("{what:66}  {is}: {:5.1} % ({required}){mark}", 100.0 * share);
            }
        });
    }
    faults
}

/// Returns simulations of false verdicts under equal conditions, and of a 3 % shift that must be
/// found.
fn verdict_claims(seed: u64) -> Vec<SimulatedClaim> {
    let misled = |what: &str, conditions: SimulatedConditions| SimulatedClaim {
        label: format!(
            "{what}, {} metrics, runs differ by {:.0} %",
            conditions.metrics,
            100.0 * conditions.spread
        ),
        outcome: "with a false verdict",
        bound: Bound::AtMost(0.05),
        simulate: Box::new(move || conditions.simulate(COMPARISONS, seed).misled_share()),
    };
    let equal = |spread: f64| SimulatedConditions { spread, ..SimulatedConditions::EQUAL };
    let runs = 2 * SimulatedConditions::EQUAL.runs;
    let mut lines = Vec::new();
    for spread in [0.0, 0.01, 0.02, 0.03] {
        let conditions = equal(spread);
        lines.push(misled(&format!("equal, {runs} runs in turns"), conditions));
        lines.push(misled(
            &format!("equal, {runs} runs in any order"),
            SimulatedConditions { in_turns: false, ..conditions },
        ));
        lines.push(misled(
            "equal, 8 runs in turns",
            SimulatedConditions { runs: 4, ..conditions },
        ));
    }
    let found = |metrics: usize| SimulatedClaim {
        label: format!(
            "1 of {metrics} metrics worse by 3 %, {runs} runs in turns, runs differ by 1 %"
        ),
        outcome: "found",
        bound: Bound::AtLeast(0.9),
        simulate: Box::new(move || {
            let shifted =
                SimulatedConditions { metrics, ratio: 1.03, ..SimulatedConditions::EQUAL };
            shifted.simulate(COMPARISONS, seed).found_share()
        }),
    };
    lines.extend([found(1), found(50)]);
    lines
}

/// Returns simulations of a suite in turns that is looked at after each block.
fn look_claims(seed: u64) -> Vec<SimulatedClaim> {
    let looks = SimulatedConditions { has_looks: true, ..SimulatedConditions::EQUAL };
    // Many metrics take as much longer.
    let count = |metrics: usize| if metrics > 1 { PROGRAMS / 5 } else { PROGRAMS };
    let line = |case: &str,
                outcome,
                bound,
                conditions: SimulatedConditions,
                share: fn(VerdictTally) -> f64| {
        let count = count(conditions.metrics);
        SimulatedClaim {
            label: format!(
                "{case}, {} metrics, at most 28 runs in turns, looks",
                conditions.metrics
            ),
            outcome,
            bound,
            simulate: Box::new(move || share(conditions.simulate(count, seed))),
        }
    };
    let mut lines = Vec::new();
    for metrics in [1, 50] {
        let equal = SimulatedConditions { metrics, ..looks };
        let shifted = SimulatedConditions { ratio: 1.03, ..equal };
        let misled = |it: VerdictTally| it.misled_share();
        lines.push(line("equal", "with a false verdict", Bound::AtMost(0.05), equal, misled));
        let found = |it: VerdictTally| it.found_share();
        lines.push(line("1 worse by 3 %", "found", Bound::AtLeast(0.9), shifted, found));
    }
    lines
}

/// Returns simulations of two programs that are looked at after each block, and of five equal levels
/// of a factor.
fn program_claims(seed: u64) -> Vec<SimulatedClaim> {
    let pairs = [
        (1.0, ProgramNoise::Independent),
        (1.01, ProgramNoise::Independent),
        (1.03, ProgramNoise::Independent),
        (1.05, ProgramNoise::Independent),
        (1.0, ProgramNoise::Drift),
        (1.03, ProgramNoise::Drift),
        (1.0, ProgramNoise::Bursts),
        (1.01, ProgramNoise::Bursts),
        (1.0, ProgramNoise::TwoModes),
        (1.01, ProgramNoise::TwoModes),
    ];
    let mut lines: Vec<SimulatedClaim> =
        pairs.into_iter().flat_map(|(ratio, noise)| pair_claims(ratio, noise, seed)).collect();
    let levels = SimulatedPrograms {
        ratios: vec![1.0; 4],
        has_looks: false,
        ..SimulatedPrograms::pair(1.0, ProgramNoise::Independent)
    };
    lines.push(SimulatedClaim {
        label: "five equal levels of a factor, 14 blocks, noise 1 %".to_owned(),
        outcome: "with any difference",
        bound: Bound::AtMost(0.05),
        simulate: Box::new(move || levels.family_error(PROGRAMS, seed)),
    });
    lines
}

/// Returns the claims about two programs with this ratio, from one simulation.
fn pair_claims(ratio: f64, noise: ProgramNoise, seed: u64) -> Vec<SimulatedClaim> {
    let tally = Arc::new(OnceLock::new());
    let line = |outcome, bound, share: fn(ProgramTally) -> f64| {
        let tally = Arc::clone(&tally);
        let simulate = move || SimulatedPrograms::pair(ratio, noise).simulate(PROGRAMS, seed);
        SimulatedClaim {
            label: format!(
                "two programs, {:.0} % apart, noise 1 %, {noise:?}, looks",
                100.0 * (ratio - 1.0)
            ),
            outcome,
            bound,
            simulate: Box::new(move || share(*tally.get_or_init(&simulate))),
        }
    };
    let misled = |it: ProgramTally| share_of(it.misled, it.comparisons);
    let mut lines = vec![line("with a false verdict", Bound::AtMost(0.05), misled)];
    if ratio > 1.02 {
        let found = |it: ProgramTally| share_of(it.found, it.comparisons);
        lines.push(line("found", Bound::AtLeast(0.95), found));
        let turns = |it: ProgramTally| share_of(it.blocks, it.comparisons * LAST_LOOK as u32);
        lines.push(line("share of 28 turns", Bound::AtMost(0.5), turns));
    }
    // The interval holds at every look, so that at one of them it is too wide.
    let covered = |it: ProgramTally| share_of(it.covered, it.comparisons);
    lines.push(line("ratio in its interval", Bound::AtLeast(0.93), covered));
    if noise == ProgramNoise::Independent {
        let medians = |it: ProgramTally| share_of(it.medians_covered, 2 * it.comparisons);
        lines.push(line("median in its interval", Bound::Within(0.93, 0.99), medians));
    }
    lines
}

fn share_of(part: u32, whole: u32) -> f64 {
    f64::from(part) / f64::from(whole)
}

/// Returns simulations of distributions with one mode and with several modes.
fn mode_claims(seed: u64) -> Vec<SimulatedClaim> {
    let line = |modal: ModalShape, n: usize, is, bound| SimulatedClaim {
        label: format!("{modal:?}, {n} values"),
        outcome: is,
        bound,
        simulate: Box::new(move || modal.multimodal_share(n, HISTORIES, seed)),
    };
    let mut lines = Vec::new();
    for n in [10, 33, 100] {
        for modal in [ModalShape::Normal, ModalShape::Lognormal, ModalShape::Exponential] {
            lines.push(line(modal, n, "called several modes", Bound::AtMost(0.01)));
        }
    }
    let peaks = ModalShape::Peaks { widths: 4.0, share_low: 0.5 };
    lines.push(line(peaks, 33, "found", Bound::AtLeast(0.8)));
    lines
}

/// Returns simulations of histories with and without a step.
fn change_point_claims(seed: u64) -> Vec<SimulatedClaim> {
    let mut lines = Vec::new();
    for runs in [20, 40, 100] {
        let past = SimulatedHistory { runs, spread: 0.01, step: 0.05, runs_after: None };
        for (position, after) in [("", None), (" 2 runs ago", Some(2))] {
            lines.push(SimulatedClaim {
                label: format!("{runs} runs that differ by 1 %, a step of 5 %{position}"),
                outcome: "found within 2 runs",
                bound: Bound::AtLeast(0.95),
                simulate: Box::new(move || {
                    let steps = SimulatedHistory { runs_after: after, ..past }
                        .simulate(HISTORIES, seed);
                    f64::from(steps.found) / f64::from(steps.histories)
                }),
            });
        }
        lines.push(SimulatedClaim {
            label: format!("{runs} runs without a change"),
            outcome: "with a false change",
            bound: Bound::AtMost(0.05),
            simulate: Box::new(move || {
                let steps = SimulatedHistory { step: 0.0, ..past }.simulate(HISTORIES, seed);
                f64::from(steps.misled) / f64::from(steps.histories)
            }),
        });
    }
    lines
}
