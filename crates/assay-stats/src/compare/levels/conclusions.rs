//! Conclusions from compared levels: the smallest one that no other surpasses, and the efficiency of
//! more hosts.

use assay_model::benchmark::Better;
use assay_model::factor::{FactorLevel, HOSTS_FACTOR};
use assay_model::level_comparison::{
    LevelPair, MetricLevels, ScalingEfficiency, SufficientLevel,
};
use assay_model::run::ALL_HOSTS;

use super::LevelRuns;

/// Adds the conclusions to a metric whose pairs are judged.
pub(super) fn add(metric: &mut MetricLevels, conditions: &[LevelRuns]) {
    let levels: Option<Vec<&[FactorLevel]>> = metric
        .levels
        .iter()
        .map(|it| conditions.get(it.condition).map(|condition| condition.levels.as_slice()))
        .collect();
    let Some(levels) = levels else { return };
    metric.sufficient = find_sufficient(metric, &levels);
    add_efficiency(metric, &levels);
}

/// Returns the smallest level of a single factor of numbers that no other level surpasses. Only a
/// metric in which levels differ has one, because equal letters prove nothing.
fn find_sufficient(
    metric: &MetricLevels,
    levels: &[&[FactorLevel]],
) -> Option<SufficientLevel> {
    let number = |of: &&[FactorLevel]| match of {
        [only] => only.level.parse::<f64>().ok().filter(|it| it.is_finite()),
        _ => None,
    };
    let numbers: Vec<f64> = levels.iter().map(number).collect::<Option<_>>()?;
    let count = levels.len();
    let is_tested = metric.pairs.len() == count * count.saturating_sub(1) / 2;
    if !is_tested || !metric.pairs.iter().any(|pair| pair.differs) {
        return None;
    }
    let better = metric.levels.first()?.estimate.better;
    let is_surpassed = |level: usize| {
        metric.pairs.iter().any(|pair| worse_of_pair(pair, better) == Some(level))
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
    let place = order.iter().position(|level| !is_surpassed(*level))?;
    Some(SufficientLevel { level: order[place], larger: order[place + 1..].to_vec() })
}

/// Returns the worse level of a pair that differs.
fn worse_of_pair(pair: &LevelPair, better: Better) -> Option<usize> {
    let is_second_better = match better {
        Better::Higher => pair.ratio > 1.0,
        Better::Lower => pair.ratio < 1.0,
    };
    pair.differs.then_some(if is_second_better { pair.a } else { pair.b })
}

/// Adds the efficiency of every number of hosts: the ratio to the fewest with the same other levels,
/// divided by the ratio of the numbers. The interval is that of the ratio, divided likewise.
fn add_efficiency(metric: &mut MetricLevels, levels: &[&[FactorLevel]]) {
    let hosts = |of: &[FactorLevel]| -> Option<f64> {
        let own = of.iter().find(|it| it.factor == HOSTS_FACTOR)?;
        own.level.parse().ok().filter(|it: &f64| *it > 0.0)
    };
    let others = |of: &[FactorLevel]| -> Vec<FactorLevel> {
        of.iter().filter(|it| it.factor != HOSTS_FACTOR).cloned().collect()
    };
    for index in 0..levels.len() {
        let estimate = &metric.levels[index].estimate;
        let Some(own) = hosts(levels[index]) else { continue };
        if estimate.better != Better::Higher || estimate.host != ALL_HOSTS {
            continue;
        }
        let alike = (0..levels.len()).filter(|it| others(levels[*it]) == others(levels[index]));
        let counted = alike.filter_map(|it| Some((it, hosts(levels[it])?)));
        let Some((fewest, of_fewest)) = counted.min_by(|a, b| a.1.total_cmp(&b.1)) else {
            continue;
        };
        let Some((ratio, interval)) = ratio_of_pair(metric, fewest, index) else { continue };
        let share = |ratio: f64| ratio * of_fewest / own;
        metric.levels[index].efficiency = Some(ScalingEfficiency {
            share: share(ratio),
            ci: interval.map(|it| it.map(share)),
        });
    }
}

/// Returns the ratio of one level to another, with its interval.
fn ratio_of_pair(
    metric: &MetricLevels,
    from: usize,
    to: usize,
) -> Option<(f64, Option<[f64; 2]>)> {
    if let Some(pair) = metric.pairs.iter().find(|it| (it.a, it.b) == (from, to)) {
        return Some((pair.ratio, Some(pair.ratio_ci)));
    }
    if let Some(pair) = metric.pairs.iter().find(|it| (it.a, it.b) == (to, from)) {
        let [low, high] = pair.ratio_ci;
        return Some((1.0 / pair.ratio, Some([1.0 / high, 1.0 / low])));
    }
    // Too few blocks for an interval.
    let level = metric.levels.get(to).filter(|_| from == 0)?;
    Some((level.ratio?, level.ratio_ci))
}
