//! Pictures of levels: a curve over the numbers of one factor, a heat map over the levels of two.

use assay_model::benchmark::Better;
use assay_model::factor::format_levels;
use assay_model::level_comparison::{LevelComparison, LevelEstimate, MetricLevels};
use assay_model::quantity::Unit;

use crate::document::{Axis, Block, HeatMap, Plot, PlotPoint, PlotSeries, Scale};
use crate::first_seen::distinct;
use crate::locale::word;
use crate::precision;

/// Smallest ratio of the largest to the smallest level of a logarithmic axis. Such levels are powers
/// in practice.
const MIN_LOG_RATIO: f64 = 8.0;

/// Draws the medians of a metric.
pub(super) fn draw(
    comparison: &LevelComparison,
    metric: &MetricLevels,
    name: &str,
) -> Option<Block> {
    match &comparison.factors[..] {
        [factor] => curve(comparison, metric, [factor, name]).map(Block::Plot),
        [first, second] => {
            heat_map(comparison, metric, (name, [first, second])).map(Block::HeatMap)
        }
        _ => None,
    }
}

/// Draws the medians over the levels of a single factor whose levels are numbers.
fn curve(
    comparison: &LevelComparison,
    metric: &MetricLevels,
    [factor, name]: [&str; 2],
) -> Option<Plot> {
    let point = |level: &LevelEstimate| -> Option<PlotPoint> {
        let own = comparison.conditions.get(level.condition)?.levels.first()?;
        let x = parse_level(&own.level)?;
        let y = level.estimate.median;
        Some(PlotPoint { x, y, interval: precision::usable_interval(y, level.estimate.ci) })
    };
    let mut points = metric.levels.iter().map(point).collect::<Option<Vec<_>>>()?;
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let (low, high) = (points.first()?.x, points.last()?.x);
    if points.len() < 2 {
        return None;
    }
    let is_log = low > 0.0 && high / low >= MIN_LOG_RATIO && has_log_steps(&points);
    let scale = if is_log { Scale::Log2 } else { Scale::LinearFitted };
    let unit = metric.levels.first()?.estimate.unit;
    let axes = [Axis::new(factor, Unit::Count, scale), Axis::new(name, unit, Scale::Linear)];
    let series = vec![PlotSeries { name: name.to_owned(), points }];
    let title = message!("levels-plot", metric = name, factor = factor);
    let description = word("levels-plot-description");
    Some(Plot { is_comparison: true, ..Plot::new(title, description, axes, series) })
}

/// Whether each level is at least 1.4 times the one before it, as steps of √2, 2 or 10 are.
fn has_log_steps(points: &[PlotPoint]) -> bool {
    points.windows(2).all(|it| it[1].x >= 1.4 * it[0].x)
}

fn parse_level(level: &str) -> Option<f64> {
    level.parse().ok().filter(|it: &f64| it.is_finite())
}

/// Draws the medians over the levels of two factors: the first ones below each other.
fn heat_map(
    comparison: &LevelComparison,
    metric: &MetricLevels,
    (name, factors): (&str, [&String; 2]),
) -> Option<HeatMap> {
    let axis = |index: usize| sort_levels(comparison, metric, index);
    let (rows, columns) = (axis(0), axis(1));
    if rows.len() < 2 || columns.len() < 2 {
        return None;
    }
    let mut cells = vec![vec![None; columns.len()]; rows.len()];
    for level in &metric.levels {
        let levels = &comparison.conditions.get(level.condition)?.levels;
        let [first, second] = &levels[..] else { return None };
        let row = rows.iter().position(|it| *it == first.level)?;
        let column = columns.iter().position(|it| *it == second.level)?;
        cells[row][column] = Some(level.estimate.median);
    }
    let first = &metric.levels.first()?.estimate;
    let mut sorted: Vec<&LevelEstimate> = metric.levels.iter().collect();
    sorted.sort_by(|a, b| a.estimate.median.total_cmp(&b.estimate.median));
    if first.better == Better::Lower {
        sorted.reverse();
    }
    let label = |level: &LevelEstimate| {
        let condition = comparison.conditions.get(level.condition);
        let levels = condition.map(|it| format_levels(&it.levels)).unwrap_or_default();
        (levels, precision::value(&level.estimate))
    };
    let ((worst_levels, worst), (best_levels, best)) =
        (label(sorted.first()?), label(sorted.last()?));
    let names = factors.map(String::as_str).join(" × ");
    Some(HeatMap {
        title: message!("levels-plot", metric = name, factor = names),
        description: message!(
            "heat-description",
            worst = worst,
            from = worst_levels,
            best = best,
            to = best_levels,
        ),
        rows: rows.iter().map(|it| format!("{} {it}", factors[0])).collect(),
        columns: columns.iter().map(|it| format!("{} {it}", factors[1])).collect(),
        cells,
        marked: Vec::new(),
        unit: first.unit,
        better: first.better,
    })
}

/// Returns the measured levels of a factor: numbers ascending, others as the user ordered them.
fn sort_levels(
    comparison: &LevelComparison,
    metric: &MetricLevels,
    factor: usize,
) -> Vec<String> {
    let levels = distinct(metric.levels.iter().filter_map(|level| {
        let own = comparison.conditions.get(level.condition)?.levels.get(factor)?;
        Some(own.level.clone())
    }));
    let numbers: Option<Vec<f64>> = levels.iter().map(|it| parse_level(it)).collect();
    if let Some(numbers) = numbers {
        let mut order: Vec<usize> = (0..levels.len()).collect();
        order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
        return order.into_iter().map(|it| levels[it].clone()).collect();
    }
    levels
}
