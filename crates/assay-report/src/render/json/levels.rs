//! Comparison of levels as JSON.

use assay_model::comparison::ComparisonDesign;
use assay_model::level_comparison::{
    LevelComparison, LevelCondition, LevelEstimate, LevelPair, MetricLevels, SCHEMA,
    SufficientLevel,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{EstimateOut, estimate};

#[derive(Serialize)]
pub(super) struct LevelComparisonOut<'a> {
    schema: u32,
    factors: &'a [String],
    conditions: Vec<ConditionOut<'a>>,
    design: ComparisonDesign,
    blocks: usize,
    level: f64,
    family_error: f64,
    metrics: Vec<MetricOut<'a>>,
    unmatched: usize,
}

#[derive(Serialize)]
struct ConditionOut<'a> {
    levels: Map<String, Value>,
    runs: &'a [String],
}

#[derive(Serialize)]
struct MetricOut<'a> {
    benchmark: &'a str,
    metric: &'a str,
    overall: Option<OverallOut>,
    levels: Vec<LevelOut<'a>>,
    pairs: Vec<PairOut>,
    needed_blocks: Option<usize>,
    sufficient: Option<SufficientOut<'a>>,
}

#[derive(Serialize)]
struct SufficientOut<'a> {
    level: usize,
    larger: &'a [usize],
}

#[derive(Serialize)]
struct OverallOut {
    test: &'static str,
    statistic: f64,
    p: f64,
    p_adjusted: f64,
}

#[derive(Serialize)]
struct LevelOut<'a> {
    condition: usize,
    levels: Map<String, Value>,
    result: EstimateOut<'a>,
    ratio: Option<f64>,
    ratio_ci: Option<[f64; 2]>,
    efficiency: Option<f64>,
    efficiency_ci: Option<[f64; 2]>,
    letters: &'a str,
}

#[derive(Serialize)]
struct PairOut {
    a: usize,
    b: usize,
    ratio: f64,
    ratio_ci: [f64; 2],
    p: f64,
    p_adjusted: f64,
    differs: bool,
}

impl<'a> LevelComparisonOut<'a> {
    pub(super) fn new(comparison: &'a LevelComparison) -> Self {
        let condition =
            |it: &'a LevelCondition| ConditionOut { levels: levels(it), runs: &it.runs };
        Self {
            schema: SCHEMA,
            factors: &comparison.factors,
            conditions: comparison.conditions.iter().map(condition).collect(),
            design: comparison.design,
            blocks: comparison.blocks,
            level: comparison.level,
            family_error: comparison.family_error,
            metrics: comparison.metrics.iter().map(|it| metric(comparison, it)).collect(),
            unmatched: comparison.unmatched,
        }
    }
}

fn levels(condition: &LevelCondition) -> Map<String, Value> {
    let levels = condition.levels.iter();
    levels.map(|it| (it.factor.clone(), it.level.clone().into())).collect()
}

fn metric<'a>(comparison: &'a LevelComparison, it: &'a MetricLevels) -> MetricOut<'a> {
    let first = it.levels.first().map(|level| &level.estimate);
    let level = |level: &'a LevelEstimate| LevelOut {
        condition: level.condition,
        levels: comparison.conditions.get(level.condition).map(levels).unwrap_or_default(),
        result: estimate(&level.estimate),
        ratio: level.ratio,
        ratio_ci: level.ratio_ci,
        efficiency: level.efficiency.map(|it| it.share),
        efficiency_ci: level.efficiency.and_then(|it| it.ci),
        letters: &level.letters,
    };
    MetricOut {
        benchmark: first.map_or("", |it| it.benchmark.as_str()),
        metric: first.map_or("", |it| it.metric.as_str()),
        overall: it.overall.map(|test| OverallOut {
            test: "friedman",
            statistic: test.statistic,
            p: test.p,
            p_adjusted: test.p_adjusted,
        }),
        levels: it.levels.iter().map(level).collect(),
        pairs: it.pairs.iter().map(pair).collect(),
        needed_blocks: it.needed_blocks,
        sufficient: it.sufficient.as_ref().map(sufficient),
    }
}

fn sufficient(it: &SufficientLevel) -> SufficientOut<'_> {
    SufficientOut { level: it.level, larger: &it.larger }
}

const fn pair(it: &LevelPair) -> PairOut {
    PairOut {
        a: it.a,
        b: it.b,
        ratio: it.ratio,
        ratio_ci: it.ratio_ci,
        p: it.p,
        p_adjusted: it.p_adjusted,
        differs: it.differs,
    }
}
