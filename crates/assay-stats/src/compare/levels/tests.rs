//! Tests of compared levels on simulated runs with known effects.

use assay_model::benchmark::Better;
use assay_model::event::TurnPosition;
use assay_model::factor::FactorLevel;

use super::*;
use crate::random::Random;
use crate::simulation::simulated_run;

/// Returns the runs of levels whose medians are `effects` times a common value, in blocks that drift,
/// with noise of `spread` and `metrics` metrics. Only the first metric has an effect.
fn conditions(
    effects: &[f64],
    (blocks, metrics): (u32, usize),
    spread: f64,
    random: &mut Random,
) -> Vec<LevelRuns> {
    let of_level = |(index, effect): (usize, &f64)| LevelRuns {
        levels: vec![FactorLevel { factor: "size".into(), level: index.to_string() }],
        runs: Vec::from_iter((0..blocks).map(|block| {
            let turn = TurnPosition::new("simulated", 0, block, block);
            let common = 100.0 * (1.0 + 0.05 * f64::from(block));
            let value = |metric: usize| {
                let own = if metric == 0 { *effect } else { 1.0 };
                common * own * (spread * random.normal()).exp()
            };
            simulated_run(&(0..metrics).map(value).collect::<Vec<_>>(), Some(turn))
        })),
        are_stored: true,
    };
    let mut of_level = of_level;
    effects.iter().enumerate().map(&mut of_level).collect()
}

fn letters_of(comparison: &LevelComparison) -> String {
    let letters = comparison.metrics[0].levels.iter().map(|it| it.letters.as_str());
    letters.collect::<Vec<_>>().join(" ")
}

#[test]
fn known_effects_are_found_with_their_ratios() {
    let mut random = Random::new(7);
    let runs = conditions(&[1.0, 1.0, 1.1, 1.2], (14, 2), 0.01, &mut random);
    let found = compare_levels(&runs);
    assert_eq!(letters_of(&found), "a a b c");
    let [first, _, third, _] = &found.metrics[0].levels[..] else { panic!("{found:#?}") };
    assert_eq!((first.ratio, found.blocks, found.unmatched), (None, 14, 0));
    let [low, high] = third.ratio_ci.unwrap();
    assert!(low < 1.1 && 1.1 < high && high - low < 0.04, "{third:?}");
    assert!(found.metrics[0].overall.unwrap().p < 1e-6);
    assert_eq!(found.conditions[2].runs.len(), 14);
    assert_eq!(found.metrics.len(), 2);
    assert!(found.metrics[1].levels.iter().all(|it| it.letters == "a"));
}

#[test]
fn few_or_incomplete_blocks_claim_nothing_false() {
    let mut random = Random::new(8);
    let two = compare_levels(&conditions(&[1.0, 2.0, 3.0], (2, 1), 0.01, &mut random));
    assert_eq!((letters_of(&two).as_str(), two.metrics[0].overall), ("  ", None));
    assert!(two.metrics[0].levels[1].ratio.is_some_and(|it| (1.9..2.1).contains(&it)));
    let six = compare_levels(&conditions(&[1.0, 2.0, 3.0], (6, 1), 0.01, &mut random));
    assert_eq!((letters_of(&six).as_str(), six.metrics[0].needed_blocks), ("a a a", Some(7)));
    let seven = compare_levels(&conditions(&[1.0, 2.0, 3.0], (7, 1), 0.01, &mut random));
    assert_eq!((letters_of(&seven).as_str(), seven.metrics[0].needed_blocks), ("a b c", None));
    let mut runs = conditions(&[1.0, 2.0, 3.0], (14, 1), 0.01, &mut random);
    runs[1].runs.truncate(12);
    let partial = compare_levels(&runs);
    assert_eq!((letters_of(&partial).as_str(), partial.metrics[0].overall), ("a b c", None));
    runs[2].runs.clear();
    let lost = compare_levels(&runs);
    assert_eq!(letters_of(&lost), "a b");
    runs[1].runs.clear();
    assert_eq!(compare_levels(&runs).metrics, []);
    assert_eq!(compare_levels(&[]).conditions, []);
}

/// Family-wise error rate of five levels without any effect: of 2,000 families, at most 5 % plus three
/// standard errors (0.5 %) report a difference. Power: 3 % at 1 % noise is found by 14 blocks in at
/// least 95 % of families.
#[test]
fn family_error_and_power_hold() {
    let mut random = Random::new(9);
    let reports = |effects: [f64; 5], random: &mut Random| {
        let mut block_values = |effect: f64| -> BTreeMap<u32, f64> {
            (0..14).map(|block| (block, effect * (0.01 * random.normal()).exp())).collect()
        };
        let values = effects.map(&mut block_values);
        let template = compare_template();
        let estimate = |median: f64| MetricEstimate { median, ..template.clone() };
        let result = values
            .iter()
            .map(|it| it.iter().map(|(block, it)| (*block, estimate(*it))).collect())
            .collect();
        let mut metrics = [compare_metric(&result, true)];
        judge_metrics(&mut metrics);
        let [metric] = metrics;
        let differs =
            |a, b| metric.pairs.iter().any(|it| (it.a, it.b, it.differs) == (a, b, true));
        (metric.pairs.iter().any(|it| it.differs), differs(0, 4))
    };
    let mut false_families = 0;
    for _ in 0..2000 {
        false_families += u32::from(reports([1.0; 5], &mut random).0);
    }
    assert!(false_families <= 130, "{false_families} of 2000");
    let mut found = 0;
    for _ in 0..400 {
        found += u32::from(reports([1.0, 1.0, 1.0, 1.0, 1.03], &mut random).1);
    }
    assert!(found >= 380, "{found} of 400");
}

/// Levels of a curve that saturates: the smallest one that no larger surpasses is named, and none
/// without a difference.
#[test]
fn smallest_sufficient_level_needs_a_verdict() {
    let mut random = Random::new(10);
    let mut sufficient = |effects: &[f64]| {
        let found = compare_levels(&conditions(effects, (14, 1), 0.01, &mut random));
        found.metrics[0].sufficient.clone().map(|it| (it.level, it.larger))
    };
    // Lower values are better.
    assert_eq!(sufficient(&[2.0, 1.5, 1.0, 1.0, 1.0]), Some((2, vec![3, 4])));
    assert_eq!(sufficient(&[2.0, 1.5, 1.0]), Some((2, vec![])));
    assert_eq!(sufficient(&[1.0, 1.0, 2.0]), Some((0, vec![1, 2])));
    assert_eq!(sufficient(&[1.0, 1.0, 1.0]), None);
}

/// Efficiency of a total whose rate is known: 1, 1.8 and 2.4 times that of one host.
#[test]
fn efficiency_is_ratio_over_number_of_hosts() {
    let mut random = Random::new(11);
    let mut runs = conditions(&[1.0, 1.8, 2.4], (14, 1), 0.005, &mut random);
    for (runs, hosts) in runs.iter_mut().zip(["1", "2", "4"]) {
        runs.levels = vec![FactorLevel { factor: "hosts".into(), level: hosts.into() }];
    }
    let mut metric = compare_levels(&runs).metrics.remove(0);
    assert_eq!(metric.levels[1].efficiency, None, "not a total");
    for level in &mut metric.levels {
        level.estimate.host = "all".to_owned();
        level.estimate.better = Better::Higher;
    }
    conclusions::add(&mut metric, &runs);
    assert_eq!(metric.levels[0].efficiency, None, "the reference");
    for (level, expected) in metric.levels[1..].iter().zip([0.9, 0.6]) {
        let efficiency = level.efficiency.unwrap();
        let [low, high] = efficiency.ci.unwrap();
        assert!((efficiency.share - expected).abs() < 0.01, "{efficiency:?}");
        assert!(low < efficiency.share && efficiency.share < high, "{efficiency:?}");
    }
}

/// Any number of labels: paired by block if their runs took turns, otherwise independent.
#[test]
fn labels_are_compared_by_their_design() {
    let mut random = Random::new(12);
    let runs = conditions(&[1.0, 1.0, 1.2], (10, 1), 0.01, &mut random);
    let named = |all: &[LevelRuns]| {
        let names = ["a", "b", "c"].into_iter().zip(all);
        let named: Vec<(&str, &[Run])> =
            names.map(|(name, it)| (name, it.runs.as_slice())).collect();
        compare_labels(&named)
    };
    let paired = named(&runs);
    assert_eq!((paired.design, paired.blocks), (ComparisonDesign::Turns, 10));
    assert_eq!((letters_of(&paired).as_str(), &*paired.factors[0]), ("a a b", "label"));
    let mut apart = runs;
    let all = apart.iter_mut().flat_map(|it| &mut it.runs);
    // Independent runs do not drift together.
    all.for_each(|run| run.started.turn = None);
    apart[1].runs.truncate(6);
    let apart = named(&apart);
    assert_eq!((apart.design, apart.blocks), (ComparisonDesign::Independent, 10));
    assert_eq!(apart.metrics[0].overall, None);
    let mut few = conditions(&[1.0; 5], (6, 1), 0.0, &mut random);
    few.iter_mut().flat_map(|it| &mut it.runs).for_each(|run| run.started.turn = None);
    let names = ["a", "b", "c", "d", "e"];
    let few: Vec<_> = names.into_iter().zip(few.iter().map(|it| it.runs.as_slice())).collect();
    assert_eq!(compare_labels(&few).metrics[0].needed_blocks, None);
}

fn compare_template() -> MetricEstimate {
    crate::summarize::summarize(&simulated_run(&[1.0], None)).results.remove(0)
}

/// A level that decides the tool, as `by = "{tool}"` does: both measure the same request.
#[test]
fn levels_of_tools_are_matched() {
    let mut random = Random::new(11);
    let mut runs = conditions(&[1.0, 1.1], (14, 2), 0.01, &mut random);
    for case in runs[1].runs.iter_mut().flat_map(|run| &mut run.cases) {
        case.case.by = "fio".to_owned();
        case.case.id.push_str("/fio");
    }
    let found = compare_levels(&runs);
    assert_eq!((letters_of(&found).as_str(), found.unmatched), ("a b", 0));
    let named = |index: usize| super::super::Condition {
        name: "",
        runs: &runs[index].runs,
        positions: &[],
    };
    let pair = super::super::compare(named(0), named(1), 0.02);
    assert_eq!((pair.pairs.len(), pair.unmatched.len()), (2, 0), "{pair:#?}");
    let [first, _] = &pair.pairs[..] else { panic!("{pair:#?}") };
    assert_eq!([&*first.a.tool.name, &*first.b.tool.name], ["assay", "fio"]);
}
