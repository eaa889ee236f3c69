//! Which doubts which series raise, and which raise none.

use expect_test::{Expect, expect};

use super::*;
use crate::analysis::{Samples, analyse};
use crate::synthetic::{Source, World};

const STOPPING: Stopping =
    Stopping { target: 0.02, repetitions: 10, preparations: 3, budget_s: 10.0 };

fn world(preparations: usize, repetitions: usize) -> World {
    World { preparations, repetitions, between: 0.0, neighbours: 0.0, skewed: false }
}

fn samples(world: World) -> Samples {
    world.samples(&mut Source::new(3))
}

fn check(samples: &[Vec<f64>], stopped: Stopped, expected: &Expect) {
    let analysis = analyse(samples).unwrap();
    let found = doubts(&analysis, &STOPPING, stopped, Unit::Second, Luck::Pages);
    let line = |warning: &Warning| format!("{}: {}\n", warning.id, warning.text);
    expected.assert_eq(&found.iter().map(line).collect::<String>());
}

#[test]
fn a_good_series_raises_none() {
    check(&samples(world(3, 30)), Stopped::Precise, &expect![[""]]);
    check(&vec![vec![5.0; 4]; 3], Stopped::Precise, &expect![[""]]);
}

#[test]
fn too_few_samples_have_no_interval() {
    check(
        &[vec![5.0]],
        Stopped::Budget,
        &expect![[r#"
            no-interval: no 95 % interval of the median from 1 sample: it takes 6 independent ones
        "#]],
    );
    check(
        &[vec![5.0], vec![6.0], vec![7.0]],
        Stopped::Tool,
        &expect![[r#"
            no-interval: no 95 % interval of the median from 3 samples: it takes 6 independent ones
        "#]],
    );
}

#[test]
fn a_wide_interval_says_how_wide() {
    let wide: Samples = vec![(0..10).map(|i| 10.0 + f64::from(i * 7 % 10)).collect(); 3];
    check(
        &wide,
        Stopped::Budget,
        &expect![[r#"
        wide-interval: the 95 % interval of the median reaches ±24 %, where ±2.0 % was asked for (n = 30, worth 13.1)
    "#]],
    );
}

#[test]
fn one_preparation_hides_what_preparing_does() {
    check(
        &samples(world(1, 50)),
        Stopped::Budget,
        &expect![[r#"
            one-preparation: all samples share one placement in memory, where 3 were asked for; the interval does not show how much it matters
        "#]],
    );
    check(&samples(world(1, 50)), Stopped::Tool, &expect![[""]]);
}

#[test]
fn dependence_is_named_by_its_cause() {
    check(
        &samples(World { between: 0.9, ..world(7, 30) }),
        Stopped::Budget,
        &expect![[r#"
        preparations-differ: 75 % of the variance lies between the 7 preparations: 210 samples are worth 9.2 independent ones
    "#]],
    );
    check(
        &samples(World { neighbours: 0.95, ..world(1, 600) }),
        Stopped::Budget,
        &expect![[r#"
            one-preparation: all samples share one placement in memory, where 3 were asked for; the interval does not show how much it matters
            autocorrelated: neighbouring repetitions resemble each other: 600 samples are worth 29.7 independent ones
        "#]],
    );
}

#[test]
fn modes_are_named() {
    let mode = |i: u32| if i * 7 % 10 < 4 { 100.0 } else { 130.0 };
    let values = |_| (0..40).map(|i| mode(i) + f64::from(i) / 100.0).collect();
    check(
        &(0..3).map(values).collect::<Samples>(),
        Stopped::Budget,
        &expect![[r#"
        wide-interval: the 95 % interval of the median reaches ±11 %, where ±2.0 % was asked for (n = 78, worth 29.7)
        several-modes: the samples fall into groups: 38 % near 100.3 s and 62 % near 130.3 s; one number describes neither
    "#]],
    );
}

#[test]
fn refused_samples_are_counted() {
    let mut refused = samples(world(3, 30));
    refused[1][4] = f64::NAN;
    refused[2][4] = f64::INFINITY;
    check(
        &refused,
        Stopped::Precise,
        &expect![[r#"
        not-finite: 2 of 90 samples are not finite and do not count
    "#]],
    );
}

#[test]
fn percentages_have_two_digits_or_so() {
    for (share, expected) in [
        (0.5, "50 %"),
        (0.0314, "3.1 %"),
        (0.001_23, "0.12 %"),
        (12.0, "1200 %"),
        (0.0, "0.00 %"),
    ] {
        assert_eq!(percent(share), expected);
    }
}

#[test]
fn what_the_samples_share_by_chance_is_named() {
    let analysis = analyse(&samples(World { between: 0.75, ..world(7, 30) })).unwrap();
    for (luck, word) in
        [(Luck::Pages, "pages"), (Luck::Connections, "connections"), (Luck::Launch, "launches")]
    {
        let found = doubts(&analysis, &STOPPING, Stopped::Precise, Unit::Second, luck);
        let told: Vec<_> = found.iter().filter(|it| it.id == "preparations-differ").collect();
        assert!(told.len() == 1 && told[0].advice.contains(word), "{luck:?} {found:?}");
    }
}
