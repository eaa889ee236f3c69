//! Comparison of the levels of factors that took turns in blocks, or of any number of labels: all
//! pairs of a metric, corrected over their family.
//!
//! Within a metric, Holm's correction bounds the probability that any pair of equal levels is
//! reported as different. Between metrics, the smallest evidence of each (Friedman's test where all
//! blocks are complete, otherwise its best pair) is corrected by Benjamini and Hochberg, and a metric
//! that fails has no different pairs.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, AttributeValue, identity_attributes};
use assay_model::comparison::ComparisonDesign;
use assay_model::factor::{FactorLevel, LABEL_FACTOR};
use assay_model::level_comparison::{
    LevelComparison, LevelCondition, LevelEstimate, LevelPair, MetricLevels, OverallTest,
};
use assay_model::run::Run;
use assay_model::summary::MetricEstimate;

use super::{BlockKey, across_runs, block_key, format_attributes};
use crate::quantile::LEVEL;
use crate::rank_statistic::RankStatistic;
use crate::shift::{MIN_RANKED, Shift, group_shift, paired_shift};
use crate::{false_discovery, family_wise, friedman, letters};

mod conclusions;
mod hosts;

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

/// Compares combinations of levels, of which the first one is the reference. Attributes that follow
/// from the level, such as a depth that is varied, distinguish no results.
pub fn compare_levels(conditions: &[LevelRuns]) -> LevelComparison {
    let estimates = estimate_runs(conditions);
    let effects = LevelEffects::find(&estimates);
    let keyed = estimates
        .iter()
        .map(|runs| runs.iter().map(|run| key_results(run, &effects)).collect::<Vec<_>>());
    compare_results(conditions, keyed.collect())
}

/// Compares conditions under the user's names, of which the first one is the reference. Results match
/// only if the requests are the same.
pub fn compare_labels(conditions: &[(&str, &[Run])]) -> LevelComparison {
    let labelled = |(name, runs): &(&str, &[Run])| LevelRuns {
        levels: vec![FactorLevel {
            factor: LABEL_FACTOR.to_owned(),
            level: (*name).to_owned(),
        }],
        runs: runs.to_vec(),
        are_stored: true,
    };
    let conditions: Vec<LevelRuns> = conditions.iter().map(labelled).collect();
    let keyed = |run: &Run| -> RunResults {
        let text = |((key, number), estimate): (super::ResultKey, MetricEstimate)| {
            (format!("{key} {} {number}", estimate.host), estimate)
        };
        super::keyed_estimates(run).into_iter().map(text).collect()
    };
    let results = conditions.iter().map(|it| it.runs.iter().map(keyed).collect()).collect();
    compare_results(&conditions, results)
}

/// Compares the keyed results of all runs, by condition.
fn compare_results(conditions: &[LevelRuns], keyed: Vec<Vec<RunResults>>) -> LevelComparison {
    let (are_paired, blocks) = arrange_runs(conditions);
    let (results, unmatched) = match_results(keyed, &blocks);
    let mut metrics: Vec<MetricLevels> =
        results.iter().map(|result| compare_metric(result, are_paired)).collect();
    judge_metrics(&mut metrics);
    for metric in &mut metrics {
        conclusions::add(metric, conditions);
    }
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
        design: match are_paired {
            true => ComparisonDesign::Turns,
            false => ComparisonDesign::Independent,
        },
        blocks: blocks.iter().flatten().collect::<BTreeSet<_>>().len(),
        level: LEVEL,
        family_error: FAMILY_ERROR,
        metrics,
        unmatched,
    }
}

/// Returns whether runs of a block belong together, and the block of every run: that of its turn, or
/// its number if the conditions are independent.
fn arrange_runs(conditions: &[LevelRuns]) -> (bool, Vec<Vec<u32>>) {
    let turns = conditions.iter().map(|it| it.runs.iter().map(block_key).collect());
    let turns: Option<Vec<Vec<BlockKey>>> = turns.collect();
    let is_complete = |all: &Vec<Vec<BlockKey>>| {
        let sets = all.iter().map(|it| it.iter().collect::<BTreeSet<_>>());
        let sets: Vec<BTreeSet<&BlockKey>> = sets.filter(|it| !it.is_empty()).collect();
        let has_common = sets.windows(2).all(|it| !it[0].is_disjoint(&it[1]));
        has_common
            && sets
                .iter()
                .map(BTreeSet::len)
                .eq(all.iter().map(Vec::len).filter(|length| *length > 0))
    };
    if let Some(turns) = turns.filter(is_complete) {
        let all: BTreeSet<&BlockKey> = turns.iter().flatten().collect();
        let all: BTreeMap<&BlockKey, u32> = all.into_iter().zip(0..).collect();
        let number = |key: &BlockKey| all.get(key).copied().unwrap_or(0);
        let numbers = turns.iter().map(|runs| runs.iter().map(number).collect());
        return (true, numbers.collect());
    }
    let numbers = conditions.iter().map(|it| (0..it.runs.len() as u32).collect());
    (false, numbers.collect())
}

/// Estimates of one result by block, for each condition.
type ResultByBlock = Vec<BTreeMap<u32, MetricEstimate>>;

/// Results of a run by their key, in order.
type RunResults = Vec<(String, MetricEstimate)>;

/// Summarizes every run of every condition. Where results have a total of several hosts, those of
/// single hosts are left out.
fn estimate_runs(conditions: &[LevelRuns]) -> Vec<Vec<Vec<MetricEstimate>>> {
    let estimates = conditions
        .iter()
        .map(|it| it.runs.iter().map(|run| hosts::total_results(run, &it.levels)).collect());
    let mut estimates: Vec<Vec<Vec<MetricEstimate>>> = estimates.collect();
    hosts::keep_totals(estimates.iter_mut().flatten());
    estimates
}

/// Matches the results of all conditions; returns those of at least two, and the number of others.
fn match_results(
    keyed: Vec<Vec<RunResults>>,
    blocks: &[Vec<u32>],
) -> (Vec<ResultByBlock>, usize) {
    let count = keyed.len();
    let mut order: Vec<String> = Vec::new();
    let mut results: BTreeMap<String, ResultByBlock> = BTreeMap::new();
    for (condition, (runs, blocks)) in keyed.into_iter().zip(blocks).enumerate() {
        for (run, block) in runs.into_iter().zip(blocks) {
            for (key, estimate) in run {
                let known = results.entry(key.clone()).or_insert_with(|| {
                    order.push(key);
                    vec![BTreeMap::new(); count]
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

/// Estimates of each run, by condition.
type ConditionEstimates = [Vec<Vec<MetricEstimate>>];

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
            for estimate in runs.iter().flatten() {
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
        for estimate in runs.iter().flatten() {
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
    let operation = |it: &MetricEstimate| {
        let named = it.parameters.get(&Attribute::Operation).and_then(AttributeValue::as_text);
        named.map(str::to_owned)
    };
    // The reads and the writes of a mix have its key, if the share of reads is a level.
    let is_mix = |it: &MetricEstimate| operation(it).as_deref() == Some("mix");
    let mixes: BTreeSet<String> = run.iter().filter(|it| is_mix(it)).map(reduced).collect();
    let is_part = |it: &MetricEstimate| mixes.contains(&reduced(it)) && !is_mix(it);
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    let wholes = run.iter().filter(|it| !is_part(it));
    wholes.for_each(|it| *count.entry(reduced(it)).or_default() += 1);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let key = |it: &MetricEstimate| {
        let short = reduced(it);
        let is_alone = count.get(&short) == Some(&1) && !is_part(it);
        let key = if is_alone { short } else { whole(it) };
        let before = seen.entry(key.clone()).or_default();
        *before += 1;
        (format!("{key} {before}"), it.clone())
    };
    run.iter().map(key).collect()
}

/// Compares all pairs of conditions, without a judgement, which depends on all metrics.
fn compare_metric(result: &ResultByBlock, are_paired: bool) -> MetricLevels {
    let measured: Vec<usize> =
        (0..result.len()).filter(|index| !result[*index].is_empty()).collect();
    let estimate = |condition: &usize| LevelEstimate {
        condition: *condition,
        estimate: across_runs::combine_runs(&result[*condition].values().collect::<Vec<_>>()),
        ratio: None,
        ratio_ci: None,
        efficiency: None,
        letters: String::new(),
    };
    let mut levels: Vec<LevelEstimate> = measured.iter().map(estimate).collect();
    let mut pairs = Vec::new();
    for (a, of_a) in measured.iter().enumerate() {
        for (b, of_b) in measured.iter().enumerate().skip(a + 1) {
            let shift = pair_shift(&result[*of_a], &result[*of_b], are_paired);
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
    let overall = if are_paired { test_blocks(result, &measured) } else { None };
    let needed_blocks = needed_blocks(pairs.len(), blocks, are_paired);
    MetricLevels { overall, levels, pairs, needed_blocks, sufficient: None }
}

/// Returns the number of blocks that ranks need to distinguish any of this many pairs, if there are
/// fewer: no p-value is below 2 / 2ⁿ for the signed ranks of n blocks, and 2 / (2n over n) for the
/// rank sum of two times n independent runs.
fn needed_blocks(pairs: usize, blocks: usize, are_paired: bool) -> Option<usize> {
    let minimum_p = |n: usize| match are_paired {
        true => 2.0 * 0.5_f64.powf(n as f64),
        false => RankStatistic::rank_sum(n, n).minimum_p(),
    };
    let needed =
        (MIN_RANKED..64).find(|n| pairs as f64 * minimum_p(*n) <= FAMILY_ERROR).unwrap_or(0);
    (MIN_RANKED..needed).contains(&blocks).then_some(needed)
}

/// Returns the shift between the logarithms of two conditions; `None` if a value is not above 0.
fn pair_shift(
    a: &BTreeMap<u32, MetricEstimate>,
    b: &BTreeMap<u32, MetricEstimate>,
    are_paired: bool,
) -> Option<Shift> {
    match are_paired {
        true => {
            let common: Vec<&u32> = a.keys().filter(|block| b.contains_key(block)).collect();
            let values = |it: &BTreeMap<u32, MetricEstimate>| {
                super::log_medians(common.iter().filter_map(|block| it.get(block)))
            };
            let (of_a, of_b) = (values(a)?, values(b)?);
            let differences: Vec<f64> = of_b.iter().zip(&of_a).map(|(b, a)| b - a).collect();
            paired_shift(&differences, LEVEL)
        }
        false => {
            let values = |it: &BTreeMap<u32, MetricEstimate>| super::log_medians(it.values());
            group_shift(&values(a)?, &values(b)?, LEVEL)
        }
    }
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
