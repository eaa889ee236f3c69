//! Comparison of levels as JSON.

use assay_model::level_comparison::{
    LevelComparison, LevelCondition, LevelEstimate, MetricLevels, OverallTest, SCHEMA,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::plain_estimate;

/// Returns the document of a comparison.
pub(super) fn object(comparison: &LevelComparison) -> impl Serialize {
    object! {
        schema: SCHEMA,
        factors: &comparison.factors,
        conditions: comparison.conditions.iter().map(condition).collect::<Vec<_>>(),
        design: comparison.design,
        blocks: comparison.blocks,
        level: comparison.level,
        family_error: comparison.family_error,
        metrics: comparison.metrics.iter().map(|it| metric(comparison, it)).collect::<Vec<_>>(),
        unmatched: comparison.unmatched,
    }
}

fn condition(it: &LevelCondition) -> impl Serialize {
    object! { levels: levels(it), runs: &it.runs, }
}

fn levels(condition: &LevelCondition) -> Map<String, Value> {
    let levels = condition.levels.iter();
    levels.map(|it| (it.factor.clone(), it.level.clone().into())).collect()
}

fn metric(comparison: &LevelComparison, it: &MetricLevels) -> impl Serialize {
    let first = it.levels.first().map(|level| &level.estimate);
    let overall = |test: OverallTest| {
        object! {
            test: "friedman",
            statistic: test.statistic,
            p: test.p,
            p_adjusted: test.p_adjusted,
        }
    };
    object! {
        benchmark: first.map_or("", |it| it.benchmark.as_str()),
        metric: first.map_or("", |it| it.metric.as_str()),
        overall: it.overall.map(overall),
        levels: it.levels.iter().map(|it| level(comparison, it)).collect::<Vec<_>>(),
        pairs: &it.pairs,
        needed_blocks: it.needed_blocks,
        sufficient: it.sufficient.as_ref(),
    }
}

fn level(comparison: &LevelComparison, level: &LevelEstimate) -> impl Serialize {
    let condition = comparison.conditions.get(level.condition);
    object! {
        condition: level.condition,
        levels: condition.map(levels).unwrap_or_default(),
        result: plain_estimate(&level.estimate),
        ratio: level.ratio,
        ratio_ci: level.ratio_ci,
        efficiency: level.efficiency.map(|it| it.share),
        efficiency_ci: level.efficiency.and_then(|it| it.ci),
        letters: &level.letters,
    }
}
