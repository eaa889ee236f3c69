//! Artificial comparison of levels: a memory bandwidth over threads, and one of few blocks.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::comparison::ComparisonDesign;
use assay_model::factor::FactorLevel;
use assay_model::level_comparison::{
    LevelComparison, LevelCondition, LevelEstimate, LevelPair, MetricLevels, OverallTest,
    ScalingEfficiency, SufficientLevel,
};
use assay_model::summary::MetricEstimate;
use assay_report::build;
use assay_report::render::text;

use crate::maker::{EstimateBuilder, estimate};

const THREADS: [&str; 4] = ["1", "2", "4", "8"];

fn condition(level: &str) -> LevelCondition {
    LevelCondition {
        levels: vec![FactorLevel { factor: "threads".to_owned(), level: level.to_owned() }],
        runs: vec![format!("run-{level}")],
    }
}

fn level(
    condition: usize,
    estimate: MetricEstimate,
    first: f64,
    letters: &str,
) -> LevelEstimate {
    let ratio = (condition > 0).then_some(estimate.median / first);
    LevelEstimate {
        condition,
        estimate: MetricEstimate { n: 14, ..estimate },
        ratio,
        ratio_ci: ratio.map(|it| [it * 0.99, it * 1.01]),
        efficiency: None,
        letters: letters.to_owned(),
    }
}

/// Bandwidth that grows up to four threads, and a latency without verdict.
pub(crate) fn threads() -> LevelComparison {
    let triad = |median: f64| {
        estimate(Benchmark::MemoryStream, "triad", median, 0.01)
            .with(Attribute::Placement, "node")
    };
    let latency = |median: f64| {
        estimate(Benchmark::MemoryLatency, "latency", median, 0.01)
            .with(Attribute::Bytes, 4096_u64)
    };
    let bandwidths = [(12e9, "a"), (23e9, "b"), (38e9, "c"), (38.1e9, "c")];
    let bandwidths = bandwidths.into_iter().enumerate();
    let latencies = [(1.4e-9, ""), (1.41e-9, "")].into_iter().enumerate();
    LevelComparison {
        factors: vec!["threads".to_owned()],
        conditions: THREADS.map(condition).into(),
        design: ComparisonDesign::Turns,
        blocks: 14,
        level: 0.95,
        family_error: 0.05,
        metrics: vec![
            MetricLevels {
                overall: Some(OverallTest { statistic: 38.4, p: 2e-8, p_adjusted: 4e-8 }),
                levels: bandwidths
                    .map(|(at, (median, letters))| level(at, triad(median), 12e9, letters))
                    .collect(),
                pairs: vec![LevelPair {
                    a: 0,
                    b: 1,
                    ratio: 23.0 / 12.0,
                    ratio_ci: [1.9, 1.94],
                    p: 1e-4,
                    p_adjusted: 6e-4,
                    differs: true,
                }],
                needed_blocks: None,
                sufficient: Some(SufficientLevel { level: 2, larger: vec![3] }),
            },
            MetricLevels {
                overall: None,
                levels: latencies
                    .map(|(at, (median, letters))| level(at, latency(median), 1.4e-9, letters))
                    .collect(),
                pairs: Vec::new(),
                needed_blocks: Some(7),
                sufficient: None,
            },
        ],
        unmatched: 1,
    }
}

/// The same bandwidth over the number of hosts, with its efficiency.
pub(crate) fn hosts() -> LevelComparison {
    let mut comparison = threads();
    comparison.factors = vec!["hosts".to_owned()];
    for condition in &mut comparison.conditions {
        condition.levels.iter_mut().for_each(|it| it.factor = "hosts".to_owned());
    }
    comparison.metrics.truncate(1);
    let metric = &mut comparison.metrics[0];
    metric.levels[3].letters = "d".to_owned();
    metric.sufficient = Some(SufficientLevel { level: 3, larger: Vec::new() });
    for (level, hosts) in metric.levels.iter_mut().zip([1.0, 2.0, 4.0, 8.0]) {
        level.efficiency = level.ratio.map(|ratio| ScalingEfficiency {
            share: ratio / hosts,
            ci: level.ratio_ci.map(|it| it.map(|it| it / hosts)),
        });
    }
    comparison
}

/// Bandwidth over two factors, from independent runs.
pub(crate) fn threads_and_sizes() -> LevelComparison {
    let mut comparison = threads();
    comparison.factors.push("size".to_owned());
    for (condition, (threads, size)) in comparison.conditions.iter_mut().zip([
        ("1", "1MiB"),
        ("1", "1GiB"),
        ("2", "1MiB"),
        ("2", "1GiB"),
    ]) {
        threads.clone_into(&mut condition.levels[0].level);
        let level = FactorLevel { factor: "size".to_owned(), level: size.to_owned() };
        condition.levels.push(level);
    }
    comparison.metrics.truncate(1);
    comparison.metrics[0].sufficient = None;
    comparison.metrics[0].overall = None;
    comparison.metrics[0].needed_blocks = Some(7);
    comparison.design = ComparisonDesign::Independent;
    comparison
}

/// A named test of storage has several metrics, a program's figure is one.
#[test]
fn headings_name_metric_and_case() {
    for (benchmark, metric, test, expected) in [
        (Benchmark::Storage, "rate", "SeqWrite", "rate, SeqWrite"),
        (Benchmark::Storage, "latency", "SeqWrite", "latency, SeqWrite"),
        (Benchmark::Command, "bit_rate", "goodput", "goodput"),
    ] {
        let mut comparison = threads();
        comparison.metrics.truncate(1);
        for level in &mut comparison.metrics[0].levels {
            level.estimate = estimate(benchmark, metric, 1e6, 0.01).with(Attribute::Test, test);
        }
        let document = build::level_comparison(&comparison);
        let text = text::document(&document, &text::TextOptions::default());
        assert!(text.lines().any(|line| line == expected), "{expected}: {text}");
    }
}
