//! Short form of the coverage simulation; `cargo xtask truth statistics` runs the long one.

use super::*;
use crate::quantile::MIN_SAMPLES;

/// Cases per cell, and the tolerance for chance: three standard errors of a share of 95 %.
const TRIALS: u32 = 200;
const SLACK: f64 = 0.046;

#[test]
fn intervals_reach_coverage() {
    let mut faults = Vec::new();
    for cell in CoverageCell::all_cells() {
        // The longest cells run in the long form only.
        if cell.samples == 120 && cell.preparation_cost == PreparationCost::Expensive {
            continue;
        }
        let tally = cell.simulate(TRIALS, 1);
        faults.extend(
            cell.coverage_fault(&tally, SLACK).map(|fault| format!("{cell:?}: {fault}")),
        );
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Twelve stretches of storage and three preparations of three have an interval, and hardly ever a
/// wide one when they are independent.
#[test]
fn short_independent_series_keep_interval() {
    for (preparations, repetitions, most) in
        [(1, 12, 0.1), (3, 3, 0.13), (3, 4, 0.12), (1, 6, 0.13)]
    {
        let mut source = Random::new(12);
        let mut by_student = 0;
        for _ in 0..2000 {
            let mut values = MACHINES[1].value_generator(&mut source);
            let samples: Samples = (0..preparations)
                .map(|_| (0..repetitions).map(|at| values(at == 0)).collect())
                .collect();
            let analysis = analyse(&samples).unwrap();
            assert!(analysis.interval.is_some(), "{samples:?}");
            by_student += u32::from(analysis.effective.n < MIN_SAMPLES as f64);
        }
        let share = f64::from(by_student) / 2000.0;
        assert!(share < most, "{preparations} × {repetitions}: {share}");
    }
    assert_eq!(MIN_SAMPLES, 6, "the minimum that is asked for above");
}
