//! Doubts raised by series with known defects, and none by sound ones.

use expect_test::{Expect, expect};

use super::*;
use crate::analysis::{Samples, analyse};
use crate::random::Random;
use crate::synthetic::SyntheticSeries;

const STOPPING: StoppingRule =
    StoppingRule { target: 0.02, repetitions: 10, preparations: 3, budget_s: 10.0 };

fn world(preparations: usize, repetitions: usize) -> SyntheticSeries {
    SyntheticSeries::independent(preparations, repetitions)
}

fn samples(world: SyntheticSeries) -> Samples {
    world.samples(&mut Random::new(3))
}

fn check(samples: &[Vec<f64>], stopped: StopReason, expected: &Expect) {
    let analysis = analyse(samples).unwrap();
    let found =
        series_doubts(&analysis, &STOPPING, stopped, Unit::Second, VarianceSource::Pages);
    let line = |doubt: &Doubt| format!("{doubt:?}\n");
    expected.assert_eq(&found.iter().map(line).collect::<String>());
}

#[test]
fn sound_series_raises_no_doubt() {
    check(&samples(world(3, 30)), StopReason::Precise, &expect![[""]]);
    check(&vec![vec![5.0; 4]; 3], StopReason::Precise, &expect![[""]]);
}

#[test]
fn too_few_samples_have_no_interval() {
    check(
        &[vec![5.0]],
        StopReason::Budget,
        &expect![[r#"
            NoInterval { n: 1, n_effective: 1.0, needed: 6, by_tool: false }
        "#]],
    );
    check(
        &[vec![5.0], vec![6.0], vec![7.0]],
        StopReason::Tool,
        &expect![[r#"
            NoInterval { n: 3, n_effective: 3.0, needed: 6, by_tool: true }
        "#]],
    );
}

#[test]
fn wide_interval_reports_width() {
    let wide: Samples = vec![(0..10).map(|i| 10.0 + f64::from(i * 7 % 10)).collect(); 3];
    check(
        &wide,
        StopReason::Budget,
        &expect![[r#"
            WideInterval { width: 0.2413793103448276, target: 0.02, n: 30, n_effective: 13.137903297881849, by_tool: false }
        "#]],
    );
}

#[test]
fn doubts_single_preparation() {
    check(
        &samples(world(1, 50)),
        StopReason::Budget,
        &expect![[r#"
            OnePreparation { asked: 3, luck: Pages }
        "#]],
    );
    check(&samples(world(1, 50)), StopReason::Tool, &expect![[""]]);
}

#[test]
fn dependence_reports_cause() {
    check(
        &samples(SyntheticSeries { intraclass_correlation: 0.9, ..world(7, 30) }),
        StopReason::Budget,
        &expect![[r#"
            PreparationsDiffer { between: 0.7531497721629298, preparations: 7, n: 210, n_effective: 8.963967457216533, luck: Pages }
        "#]],
    );
    check(
        &samples(SyntheticSeries { autocorrelation: 0.95, ..world(1, 600) }),
        StopReason::Budget,
        &expect![[r#"
            OnePreparation { asked: 3, luck: Pages }
            Autocorrelated { n: 600, n_effective: 16.75785124482183 }
        "#]],
    );
}

#[test]
fn reports_several_modes() {
    let mode = |i: u32| if i * 7 % 10 < 4 { 100.0 } else { 130.0 };
    let values = |_| (0..40).map(|i| mode(i) + f64::from(i) / 100.0).collect();
    check(
        &(0..3).map(values).collect::<Samples>(),
        StopReason::Budget,
        &expect![[r#"
            WideInterval { width: 0.22926829268292692, target: 0.02, n: 78, n_effective: 29.719926984747516, by_tool: false }
            WarmUpDiscarded { discarded: 42, all: 120 }
            SeveralModes { share_low: 0.38461538461538464, low: 100.275, high: 130.26, unit: Second }
        "#]],
    );
}

#[test]
fn counts_non_finite_samples() {
    let mut refused = samples(world(3, 30));
    refused[1][4] = f64::NAN;
    refused[2][4] = f64::INFINITY;
    check(
        &refused,
        StopReason::Precise,
        &expect![[r#"
            SamplesNotFinite { refused: 2, all: 90 }
        "#]],
    );
}

#[test]
fn reports_variance_source() {
    let analysis =
        analyse(&samples(SyntheticSeries { intraclass_correlation: 0.75, ..world(7, 30) }))
            .unwrap();
    for luck in [VarianceSource::Pages, VarianceSource::Connections, VarianceSource::Launch] {
        let found =
            series_doubts(&analysis, &STOPPING, StopReason::Precise, Unit::Second, luck);
        let reported = |it: &&Doubt| matches!(it, Doubt::PreparationsDiffer { luck: reported, .. } if *reported == luck);
        assert_eq!(found.iter().filter(reported).count(), 1, "{luck:?} {found:?}");
    }
}

#[test]
fn reports_missing_preparations() {
    let alike: Vec<f64> = (0..12).map(|at| 100.0 + f64::from(at * 5 % 12) * 0.01).collect();
    check(
        &vec![alike; 2],
        StopReason::Budget,
        &expect![[r#"
            FewPreparations { asked: 3, had: 2 }
        "#]],
    );
}
