//! Comparison of the levels of factors that took turns in blocks: all pairs of a metric, corrected
//! over their family.
//!
//! Within a metric, Holm's correction bounds the probability that any pair of equal levels is
//! reported as different. Between metrics, the smallest evidence of each (Friedman's test where all
//! blocks are complete, otherwise its best pair) is corrected by Benjamini and Hochberg, and a metric
//! that fails has no different pairs.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, identity_attributes};
use assay_model::factor::FactorLevel;
use assay_model::level_comparison::{
    LevelComparison, LevelCondition, LevelEstimate, LevelPair, MetricLevels, OverallTest,
};
use assay_model::run::Run;
use assay_model::summary::MetricEstimate;

use super::{across_runs, format_attributes};
use crate::quantile::LEVEL;
use crate::shift::{MIN_RANKED, paired_shift};
use crate::summarize::summarize;
use crate::{false_discovery, family_wise, friedman, letters};

/// Largest probability that a metric without any effect shows one.
pub const FAMILY_ERROR: f64 = 0.05;

/// Runs under one combination of levels.
#[derive(Debug, Clone)]
pub struct LevelRuns {
    /// A level of each factor.
    pub levels: Vec<FactorLevel>,
    /// Its runs, each with its block ([`assay_model::event::TurnPosition`]).
    pub runs: Vec<Run>,
    /// Whether the runs are stored as such; otherwise they are parts of one run.
    pub are_stored: bool,
}

/// Compares combinations of levels, of which the first one is the reference.
#[must_use]
pub fn compare_levels(conditions: &[LevelRuns]) -> LevelComparison {
    let (results, unmatched) = match_results(conditions);
    let mut metrics: Vec<MetricLevels> = results.iter().map(compare_metric).collect();
    judge_metrics(&mut metrics);
    let blocks: BTreeSet<u32> =
        conditions.iter().flat_map(|it| it.runs.iter().map(block)).collect();
    let condition = |it: &LevelRuns| {
        let ids = it.runs.iter().map(|run| run.started.run.clone());
        LevelCondition {
            levels: it.levels.clone(),
            runs: ids.filter(|_| it.are_stored).collect(),
        }
    };
    let names = conditions.first().map(|it| it.levels.iter().map(|it| it.factor.clone()));
    LevelComparison {
        factors: names.into_iter().flatten().collect(),
        conditions: conditions.iter().map(condition).collect(),
        blocks: blocks.len(),
        level: LEVEL,
        family_error: FAMILY_ERROR,
        metrics,
        unmatched,
    }
}

fn block(run: &Run) -> u32 {
    run.started.turn.as_ref().map_or(0, |turn| turn.block)
}

/// Estimates of one result by block, for each condition.
type ResultByBlock = Vec<BTreeMap<u32, MetricEstimate>>;

/// Results of a run by their key, in order.
type RunResults = Vec<(String, MetricEstimate)>;

/// Matches the results of all conditions; returns those of at least two, and the number of others.
fn match_results(conditions: &[LevelRuns]) -> (Vec<ResultByBlock>, usize) {
    let estimates: Vec<Vec<(u32, Vec<MetricEstimate>)>> = conditions
        .iter()
        .map(|it| it.runs.iter().map(|run| (block(run), summarize(run).results)).collect())
        .collect();
    let effects = LevelEffects::find(&estimates);
    let mut order: Vec<String> = Vec::new();
    let mut results: BTreeMap<String, ResultByBlock> = BTreeMap::new();
    for (condition, runs) in estimates.iter().enumerate() {
        for (block, run) in runs {
            for (key, estimate) in key_results(run, &effects) {
                let known = results.entry(key.clone()).or_insert_with(|| {
                    order.push(key);
                    vec![BTreeMap::new(); conditions.len()]
                });
                known[condition].insert(*block, estimate);
            }
        }
    }
    let all = order.iter().filter_map(|key| results.remove(key));
    let is_common = |it: &ResultByBlock| it.iter().filter(|it| !it.is_empty()).count() > 1;
    let (common, alone): (Vec<_>, Vec<_>) = all.partition(is_common);
    (common, alone.len())
}

/// Estimates of each run with its block, by condition.
type ConditionEstimates = [Vec<(u32, Vec<MetricEstimate>)>];

/// Tools and attributes that differ between conditions because the level decides them.
struct LevelEffects {
    /// Benchmarks with a metric that each condition has by one tool, and not all by the same.
    tools: BTreeSet<String>,
    /// Attributes whose values differ, by group.
    attributes: BTreeMap<String, BTreeSet<Attribute>>,
}

impl LevelEffects {
    fn find(estimates: &ConditionEstimates) -> Self {
        let mut effects = Self { tools: level_tools(estimates), attributes: BTreeMap::new() };
        let mut values: BTreeMap<(String, Attribute), Vec<BTreeSet<String>>> = BTreeMap::new();
        for (condition, runs) in estimates.iter().enumerate() {
            for estimate in runs.iter().flat_map(|(_, run)| run) {
                for (name, value) in identity_attributes(&estimate.parameters) {
                    let seen = values
                        .entry((effects.group_name(estimate), name))
                        .or_insert_with(|| vec![BTreeSet::new(); estimates.len()]);
                    seen[condition].insert(format_attributes(&[(name, value)].into()));
                }
            }
        }
        for ((group, name), seen) in values {
            let mut measured = seen.iter().filter(|it| !it.is_empty());
            let first = measured.next();
            let is_partial = seen.iter().any(BTreeSet::is_empty);
            if is_partial || measured.any(|it| Some(it) != first) {
                effects.attributes.entry(group).or_default().insert(name);
            }
        }
        effects
    }

    /// Returns the name that results of all levels share: benchmark, metric, and the tool unless the
    /// level decides it.
    fn group_name(&self, estimate: &MetricEstimate) -> String {
        let metric = metric_name(estimate);
        match self.tools.contains(&metric) {
            true => metric,
            false => format!("{metric}/{}", estimate.tool.name),
        }
    }
}

fn metric_name(estimate: &MetricEstimate) -> String {
    format!("{}/{}", estimate.benchmark, estimate.metric)
}

/// Returns the metrics that each condition has by one tool, and not all conditions by the same.
fn level_tools(estimates: &ConditionEstimates) -> BTreeSet<String> {
    let mut tools: BTreeMap<String, BTreeMap<usize, BTreeSet<&str>>> = BTreeMap::new();
    for (condition, runs) in estimates.iter().enumerate() {
        for estimate in runs.iter().flat_map(|(_, run)| run) {
            let by_condition = tools.entry(metric_name(estimate)).or_default();
            by_condition.entry(condition).or_default().insert(&estimate.tool.name);
        }
    }
    let is_by_level = |by_condition: &BTreeMap<usize, BTreeSet<&str>>| {
        let all: BTreeSet<&str> = by_condition.values().flatten().copied().collect();
        all.len() > 1 && by_condition.values().all(|it| it.len() == 1)
    };
    tools.into_iter().filter(|(_, it)| is_by_level(it)).map(|(name, _)| name).collect()
}

/// Returns the results of a run with their keys: without attributes that follow from the level, where
/// the others distinguish all results.
fn key_results(run: &[MetricEstimate], effects: &LevelEffects) -> RunResults {
    let whole = |it: &MetricEstimate| {
        let identity = identity_attributes(&it.parameters);
        format!("{} {} {}", effects.group_name(it), it.host, format_attributes(&identity))
    };
    let reduced = |it: &MetricEstimate| {
        let mut identity = identity_attributes(&it.parameters);
        if let Some(names) = effects.attributes.get(&effects.group_name(it)) {
            identity.retain(|name, _| !names.contains(name));
        }
        format!("{} {} {}", effects.group_name(it), it.host, format_attributes(&identity))
    };
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    run.iter().for_each(|it| *count.entry(reduced(it)).or_default() += 1);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let key = |it: &MetricEstimate| {
        let short = reduced(it);
        let key = if count.get(&short) == Some(&1) { short } else { whole(it) };
        let before = seen.entry(key.clone()).or_default();
        *before += 1;
        (format!("{key} {before}"), it.clone())
    };
    run.iter().map(key).collect()
}

/// Compares all pairs of conditions, without a judgement, which depends on all metrics.
fn compare_metric(result: &ResultByBlock) -> MetricLevels {
    let measured: Vec<usize> =
        (0..result.len()).filter(|index| !result[*index].is_empty()).collect();
    let estimate = |condition: &usize| LevelEstimate {
        condition: *condition,
        estimate: across_runs::combine_runs(&result[*condition].values().collect::<Vec<_>>()),
        ratio: None,
        ratio_ci: None,
        letters: String::new(),
    };
    let mut levels: Vec<LevelEstimate> = measured.iter().map(estimate).collect();
    let mut pairs = Vec::new();
    for (a, of_a) in measured.iter().enumerate() {
        for (b, of_b) in measured.iter().enumerate().skip(a + 1) {
            let differences = log_differences(&result[*of_a], &result[*of_b]);
            let shift = differences.and_then(|it| paired_shift(&it, LEVEL));
            let Some(shift) = shift else { continue };
            let known = shift.significance;
            if a == 0 && *of_a == 0 {
                levels[b].ratio = Some(shift.amount.exp());
                levels[b].ratio_ci = known.map(|it| it.interval.map(f64::exp));
            }
            pairs.extend(known.map(|known| LevelPair {
                a,
                b,
                ratio: shift.amount.exp(),
                ratio_ci: known.interval.map(f64::exp),
                p: known.p,
                p_adjusted: 1.0,
                differs: false,
            }));
        }
    }
    let tested: Vec<f64> = pairs.iter().map(|pair| pair.p).collect();
    let adjusted = family_wise::adjust_p_values(&tested);
    pairs.iter_mut().zip(adjusted).for_each(|(pair, p)| pair.p_adjusted = p);
    let blocks = levels.iter().map(|level| level.estimate.n).max().unwrap_or(0);
    let needed_blocks = needed_blocks(pairs.len(), blocks);
    MetricLevels { overall: test_blocks(result, &measured), levels, pairs, needed_blocks }
}

/// Returns the number of blocks that ranks need to distinguish any of this many pairs, if there are
/// fewer: with n blocks, no p-value of the signed ranks is below 2 / 2ⁿ.
fn needed_blocks(pairs: usize, blocks: usize) -> Option<usize> {
    let needed = (2.0 * pairs as f64 / FAMILY_ERROR).log2().ceil();
    let needed = if needed.is_finite() { needed.max(0.0) as usize } else { 0 };
    (MIN_RANKED..needed).contains(&blocks).then_some(needed)
}

/// Returns the differences of the logarithms in common blocks; `None` if a value is not above 0.
fn log_differences(
    a: &BTreeMap<u32, MetricEstimate>,
    b: &BTreeMap<u32, MetricEstimate>,
) -> Option<Vec<f64>> {
    let logarithm = |it: &MetricEstimate| {
        let is_usable = it.median.is_finite() && it.median > 0.0;
        is_usable.then(|| it.median.ln())
    };
    let common = a.iter().filter_map(|(block, of_a)| Some((of_a, b.get(block)?)));
    common.map(|(of_a, of_b)| Some(logarithm(of_b)? - logarithm(of_a)?)).collect()
}

/// Tests all conditions together, if each of more than two is in every block.
fn test_blocks(result: &ResultByBlock, measured: &[usize]) -> Option<OverallTest> {
    let first = &result[*measured.first()?];
    let is_complete = measured.iter().all(|it| result[*it].keys().eq(first.keys()));
    if !is_complete || measured.len() < 3 {
        return None;
    }
    let row = |block: &u32| -> Option<Vec<f64>> {
        measured.iter().map(|it| Some(result[*it].get(block)?.median)).collect()
    };
    let blocks: Vec<Vec<f64>> = first.keys().map(row).collect::<Option<_>>()?;
    let test = friedman::test(&blocks)?;
    Some(OverallTest { statistic: test.statistic, p: test.p, p_adjusted: 1.0 })
}

/// Corrects the evidence of all metrics together, and assigns letters.
fn judge_metrics(metrics: &mut [MetricLevels]) {
    let evidence = |it: &MetricLevels| {
        let best = it.pairs.iter().map(|pair| pair.p_adjusted).reduce(f64::min);
        it.overall.map(|test| test.p).or(best)
    };
    let tested: Vec<f64> = metrics.iter().filter_map(evidence).collect();
    let mut adjusted = false_discovery::adjust_p_values(&tested).into_iter();
    for metric in metrics {
        let Some(p) = evidence(metric).and_then(|_| adjusted.next()) else { continue };
        if let Some(overall) = &mut metric.overall {
            overall.p_adjusted = p;
        }
        for pair in &mut metric.pairs {
            pair.differs = p <= FAMILY_ERROR && pair.p_adjusted <= FAMILY_ERROR;
        }
        let count = metric.levels.len();
        if metric.pairs.len() != count * (count - 1) / 2 {
            continue;
        }
        let differing: Vec<(usize, usize)> =
            metric.pairs.iter().filter(|it| it.differs).map(|it| (it.a, it.b)).collect();
        let letters = letters::assign_letters(count, &differing).unwrap_or_default();
        metric.levels.iter_mut().zip(letters).for_each(|(level, own)| level.letters = own);
    }
}

#[cfg(test)]
mod tests;
