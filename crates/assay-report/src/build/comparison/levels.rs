//! Comparison of the levels of factors, or of labels: a table and a picture for each metric.

mod picture;

use assay_model::comparison::ComparisonDesign;
use assay_model::factor::{LABEL_FACTOR, format_levels};
use assay_model::level_comparison::{LevelComparison, LevelEstimate, MetricLevels};
use assay_model::quantity::Unit;
use assay_model::suite::factorial::{Factor, FactorialSuite};

use super::super::run::estimate_parts::figure_name;
use super::super::run::words;
use super::{case_label_of, sort_key};
use crate::document::{
    Block, ColumnCell, Document, FactTable, ReportTable, TableCell, Tone, left, right,
};
use crate::locale::{comma, join_details, join_sentences, word};
use crate::precision::{self, ColumnPrefixes, format_percent_setting, format_setting};

/// Digits of a statistic and a p-value.
const TEST_DIGITS: usize = 2;

/// Builds the comparison of levels, metric by metric.
pub fn level_comparison(comparison: &LevelComparison) -> Document {
    let names = comparison.factors.iter().map(|it| factor_name(it));
    let factors = names.collect::<Vec<_>>().join(comma());
    let mut document = Document::new(message!("levels-title", factors = factors));
    if comparison.metrics.is_empty() {
        document.paragraph(Tone::Bad, word("compare-nothing"));
        return document;
    }
    let mut metrics: Vec<&MetricLevels> = comparison.metrics.iter().collect();
    metrics.sort_by_key(|it| it.levels.first().map(|level| sort_key(&level.estimate)));
    for metric in metrics {
        add_metric(&mut document, comparison, metric);
    }
    document.paragraph(Tone::Quiet, explanation(comparison));
    document
}

/// Inserts the comparison of levels before the sections of one of its runs.
pub fn add_levels(document: &mut Document, comparison: &LevelComparison) {
    let levels = level_comparison(comparison);
    let heading = std::iter::once(Block::Heading(levels.title));
    document.insert_before_sections(heading.chain(levels.blocks));
}

/// Returns the name of a factor; labels of runs are no factor of the user.
fn factor_name(factor: &str) -> &str {
    if factor == LABEL_FACTOR { word("column-label") } else { factor }
}

fn add_metric(document: &mut Document, comparison: &LevelComparison, metric: &MetricLevels) {
    let Some(first) = metric.levels.first() else { return };
    let name = figure_name(&first.estimate);
    let case = case_label_of(&first.estimate);
    let title =
        if case.is_empty() { name.clone() } else { join_details(&[name.clone(), case]) };
    document.heading(&title);
    document.blocks.push(Block::Table(table(comparison, metric)));
    if metric.levels.iter().all(|level| level.letters.is_empty()) {
        document.paragraph(Tone::Doubt, word("levels-without-letters"));
    }
    if let Some(needed) = metric.needed_blocks {
        let needed = needed.to_string();
        let text = match comparison.design {
            ComparisonDesign::Turns | ComparisonDesign::Looks => {
                message!("levels-more-blocks", needed = needed)
            }
            ComparisonDesign::Independent => message!("levels-more-runs", needed = needed),
        };
        document.paragraph(Tone::Doubt, text);
    }
    document.paragraph(Tone::Plain, sufficient_level(comparison, metric).unwrap_or_default());
    if let Some(test) = metric.overall {
        let figure = |value| precision::format_value(value, Unit::Count, TEST_DIGITS);
        let text = message!(
            "levels-overall",
            statistic = format!("χ² = {}", figure(test.statistic)),
            p = format!("p = {}", figure(test.p_adjusted)),
        );
        document.paragraph(Tone::Quiet, text);
    }
    document.blocks.extend(picture::draw(comparison, metric, &name));
}

fn table(comparison: &LevelComparison, metric: &MetricLevels) -> ReportTable {
    let interval = words::interval(Some(comparison.level));
    let reference = comparison.conditions.first().map(|it| {
        it.levels.iter().map(|level| level.level.as_str()).collect::<Vec<_>>().join(comma())
    });
    let ratio = format!("÷ {}", reference.unwrap_or_default());
    let cell = match comparison.factors.iter().any(|it| it == LABEL_FACTOR) {
        true => left::<&str>,
        false => right::<&str>,
    };
    let mut table = ReportTable::with_caption("");
    let prefixes = ColumnPrefixes::for_medians(metric.levels.iter().map(|it| &it.estimate));
    for level in &metric.levels {
        let Some(condition) = comparison.conditions.get(level.condition) else { continue };
        let levels = comparison.factors.iter().zip(&condition.levels);
        let mut row: Vec<ColumnCell> =
            levels.map(|(name, it)| cell(factor_name(name), &it.level)).collect();
        // An interval too wide to print still exists.
        let missing = if level.estimate.ci.is_some() { "–" } else { word("no-interval") };
        let own = prefixes.interval(&level.estimate).unwrap_or_else(|| missing.to_owned());
        let [over_first, over_interval] = ratio_cells(level, metric);
        let [efficiency, efficiency_interval] = efficiency_cells(level, metric);
        row.extend([
            right(word("column-median"), prefixes.value(&level.estimate)),
            right(&interval, own),
            right("n", level.estimate.n.to_string()),
            right(&ratio, over_first),
            right(&interval, over_interval),
            right(word("column-efficiency"), efficiency),
            right(&interval, efficiency_interval),
            left(word("column-letters"), &*level.letters),
        ]);
        table.push(row);
    }
    table.without_empty_columns()
}

fn efficiency_cells(level: &LevelEstimate, metric: &MetricLevels) -> [TableCell; 2] {
    let as_ratio = level.efficiency.map(|efficiency| LevelEstimate {
        ratio: Some(efficiency.share),
        ratio_ci: efficiency.ci,
        ..level.clone()
    });
    as_ratio.map(|it| ratio_cells(&it, metric)).unwrap_or_default()
}

fn ratio_cells(level: &LevelEstimate, metric: &MetricLevels) -> [TableCell; 2] {
    let (Some(ratio), Some(first)) = (level.ratio, metric.levels.first()) else {
        return [TableCell::default(), TableCell::default()];
    };
    let digits = [&first.estimate, &level.estimate].map(precision::estimate_digits);
    let interval = match level.ratio_ci {
        Some(interval) => precision::ratio_range(interval),
        None => word("no-interval").to_owned(),
    };
    [precision::ratio(ratio, level.ratio_ci, digits).into(), interval.into()]
}

/// Names the smallest level that no other one surpasses.
fn sufficient_level(comparison: &LevelComparison, metric: &MetricLevels) -> Option<String> {
    let found = metric.sufficient.as_ref()?;
    let levels = |index: &usize| {
        let level = metric.levels.get(*index)?;
        Some(comparison.conditions.get(level.condition)?.levels.as_slice())
    };
    let level = format_levels(levels(&found.level)?);
    if found.larger.is_empty() {
        return Some(message!("levels-sufficient-last", level = level));
    }
    let larger = found.larger.iter().filter_map(|it| Some(levels(it)?.first()?.level.as_str()));
    let larger = larger.collect::<Vec<_>>().join(comma());
    Some(message!("levels-sufficient", level = level, larger = larger))
}

fn explanation(comparison: &LevelComparison) -> String {
    let wrong = format_percent_setting(comparison.family_error * 100.0);
    let blocks = comparison.blocks.to_string();
    let rule = match comparison.design {
        ComparisonDesign::Turns | ComparisonDesign::Looks => {
            message!("levels-explanation", blocks = blocks, wrong = wrong)
        }
        ComparisonDesign::Independent => {
            message!("levels-explanation-independent", wrong = wrong)
        }
    };
    let has_efficiency =
        comparison.metrics.iter().flat_map(|it| &it.levels).any(|it| it.efficiency.is_some());
    let efficiency = has_efficiency.then(|| word("levels-efficiency").to_owned());
    let alone = match comparison.unmatched {
        0 => None,
        n => Some(message!("levels-unmatched", n = n.to_string())),
    };
    join_sentences(&[Some(rule), efficiency, alone].into_iter().flatten().collect::<Vec<_>>())
}

/// Times of a planned measurement of combinations, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct FactorPlanTimes {
    /// Budget of each turn.
    pub turn_s: f64,
    /// All turns, and changes that settle.
    pub total_s: f64,
    /// Part of it in which changes settle.
    pub settling_s: f64,
}

/// Builds the list of combinations of a dry run.
pub fn factor_plan(suite: &FactorialSuite, blocks: u32, times: FactorPlanTimes) -> Document {
    let mut document = Document::new(message!("plan-title", suite = &suite.name));
    let count = suite.combinations.len();
    let text = message!(
        "levels-plan",
        combinations = count.to_string(),
        blocks = blocks.to_string(),
        turns = (count as u64 * u64::from(blocks)).to_string(),
        time = format_time(times.turn_s),
    );
    let total = format_time(times.total_s);
    let total = match times.settling_s > 0.0 {
        true => message!(
            "levels-plan-settling",
            time = total,
            settle = format_time(times.settling_s)
        ),
        false => message!("levels-plan-total", time = total),
    };
    let sentences = [text, total, word("plan-nothing-run").to_owned()];
    document.paragraph(Tone::Plain, join_sentences(&sentences));
    let mut table = ReportTable::with_caption("");
    for combination in &suite.combinations {
        let levels = suite.factors.iter().zip(&combination.levels);
        table.push(levels.map(|(factor, it)| right(&factor.levels.name, &*it.level)));
    }
    document.blocks.push(Block::Table(table));
    // A suite of somebody else's is read before its commands run.
    let facts: Vec<(String, String)> = suite.factors.iter().flat_map(commands).collect();
    if !facts.is_empty() {
        document.blocks.push(Block::Facts(FactTable { title: None, tone: Tone::Plain, facts }));
    }
    document
}

fn format_time(seconds: f64) -> String {
    format_setting(seconds, Unit::Second, 3)
}

/// Returns the commands of a factor by their keys in the suite.
fn commands(factor: &Factor) -> impl Iterator<Item = (String, String)> {
    let all = [("apply", &factor.apply), ("restore", &factor.restore)];
    let name = &factor.levels.name;
    let named = all.map(|(key, command)| {
        command.as_ref().map(|it| (format!("{name}: {key}"), it.line.clone()))
    });
    named.into_iter().flatten()
}
