//! Document of the history of one result over all stored runs: plot, change points, and changes of
//! the environment.

use assay_model::attribute::Attribute;
use assay_model::environment::EnvironmentAspect;
use assay_model::history::{self, EnvironmentChange, History, LevelChange};
use assay_model::quantity::Unit;

use super::comparison::identity;
use super::run::words;
use crate::document::{
    Axis, Block, Document, FactTable, Plot, PlotPoint, PlotSeries, ReferenceLine, ReportTable,
    Scale, TableCell, Tone, left, right,
};
use crate::locale::{comma, format_fixed, format_minute, join_details, semicolon, word};
use crate::{precision, units, words as catalogue};

/// Significant digits of a limit.
const LIMIT_DIGITS: usize = 4;
/// Confidence level of the intervals of changes.
const CHANGE_CI_LEVEL: f64 = 0.95;

/// Builds the document for the history of one result.
pub fn history(history: &History) -> Document {
    let mut document = Document::new(title(history));
    document.blocks.push(Block::Facts(facts(history)));
    if history.changes.is_empty() {
        document.paragraph(Tone::Plain, unchanged_sentence(history));
    }
    document.blocks.push(Block::Plot(plot(history)));
    if !history.changes.is_empty() {
        document.blocks.push(Block::Table(changes_table(history)));
    }
    if history.points.iter().any(|point| point.n.is_some()) {
        document.paragraph(Tone::Doubt, word("history-over-n"));
    }
    // With fewer runs no shift can be found, so there is no method to explain.
    let has_enough_runs = history.points.len() >= history.sensitivity.runs_needed;
    if has_enough_runs || !history.changes.is_empty() {
        document.paragraph(Tone::Quiet, explanation(history));
    }
    if !history.environment.is_empty() {
        document.blocks.push(Block::Table(environment_table(history)));
    }
    document.blocks.push(Block::Table(runs_table(history)));
    if !history.other_conditions.is_empty() {
        document.blocks.push(Block::Table(conditions_table(history)));
        document.paragraph(Tone::Quiet, word("history-select-condition"));
    }
    document
}

/// Returns the conclusion from runs without a change, with what they could have shown.
fn unchanged_sentence(history: &History) -> String {
    let (runs, sensitivity) = (history.points.len(), history.sensitivity);
    if runs == 1 {
        return word("history-one-run").to_owned();
    }
    if runs < sensitivity.runs_needed {
        let needed = sensitivity.runs_needed.to_string();
        return message!("history-too-few-runs", needed = needed, n = runs.to_string());
    }
    match sensitivity.smallest_ratio {
        Some(ratio) => message!("history-unchanged-within", factor = format_factor(ratio)),
        None => word("history-unchanged").to_owned(),
    }
}

/// Formats a factor above 1 with two digits of its change, rounded up: 1.053, 1.48, 3.2.
fn format_factor(ratio: f64) -> String {
    let decimals = (1.0 - (ratio - 1.0).log10().floor()).clamp(1.0, 6.0);
    let scale = 10f64.powf(decimals);
    format_fixed((ratio * scale).ceil() / scale, decimals as usize)
}

/// Names label and conditions: `on, array size 128 MiB`. `—` if there are none.
fn condition_name(history: &History, is_shown: impl Fn(Attribute) -> bool) -> String {
    let described = history.conditions.iter().filter(|(name, _)| is_shown(**name));
    let described = described.map(|(name, value)| {
        let title = if *name == Attribute::TargetBytes {
            catalogue::aspect(EnvironmentAspect::FileSize, "")
        } else {
            catalogue::dimension(*name).to_owned()
        };
        format!("{title} {}", units::format_attribute(*name, value))
    });
    let parts: Vec<String> = history.label.clone().into_iter().chain(described).collect();
    if parts.is_empty() { "—".to_owned() } else { parts.join(comma()) }
}

/// Returns whether a condition differs between the histories of a result.
fn is_varied(history: &History, name: Attribute) -> bool {
    let value = history.conditions.get(&name);
    history.other_conditions.iter().any(|other| other.conditions.get(&name) != value)
}

fn conditions_table(history: &History) -> ReportTable {
    let mut table = ReportTable::with_caption(word("history-other-conditions"));
    for other in &history.other_conditions {
        let newest = other.points.last();
        let started = newest.map(|it| format_minute(&it.started)).unwrap_or_default();
        let value = newest.map(|it| point_value(other, it)).unwrap_or_default();
        let finding = match other.changes.len() {
            0 => unchanged_sentence(other),
            count => message!("history-changed", n = count.to_string()),
        };
        let name = condition_name(other, |name| is_varied(history, name));
        table.push([
            left(word("column-condition"), name),
            right(word("history-runs"), other.points.len().to_string()),
            left(word("history-newest"), started),
            right(&metric_name(history), value),
            left(word("history-level"), finding),
        ]);
    }
    table
}

/// Returns the name of the result with the attributes that identify it.
pub(crate) fn title(history: &History) -> String {
    let name = identity::result_name((&history.benchmark, &history.metric), &history.identity);
    match identity::result_label(&history.benchmark, &history.identity) {
        label if label.is_empty() => name,
        label => [name, label].join(comma()),
    }
}

fn metric_name(history: &History) -> String {
    identity::figure_name((&history.benchmark, &history.metric), &history.identity)
}

fn facts(history: &History) -> FactTable {
    let (first, last) = (history.points.first(), history.points.last());
    let span = first.zip(last).map(|(first, last)| {
        message!(
            "history-span",
            n = history.points.len().to_string(),
            first = format_minute(&first.started),
            last = format_minute(&last.started),
        )
    });
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![fact(word("column-host"), history.host.clone())];
    if history.label.is_some() || !history.other_conditions.is_empty() {
        let name = condition_name(history, |name| is_varied(history, name));
        facts.push(fact(word("column-condition"), name));
    }
    facts.extend(span.map(|span| fact(word("history-runs"), span)));
    let newest = last.map(|last| {
        let trust = catalogue::trust_level(last.trust).to_owned();
        join_details(&[point_value(history, last), point_range(last), trust])
    });
    facts.extend(newest.map(|it| fact(word("history-newest"), it)));
    let change_text = |change: &LevelChange| {
        let started = history.points.get(change.point).map(|it| format_minute(&it.started));
        let parts: Vec<String> =
            std::iter::once(change_percent(change)).chain(started).collect();
        join_details(&parts)
    };
    let changes: Vec<String> = history.changes.iter().map(change_text).collect();
    if !changes.is_empty() {
        facts.push(fact(word("history-changes"), changes.join(semicolon())));
    }
    if history.other_results > 0 {
        let others = message!("history-others", n = history.other_results.to_string());
        facts.push(fact(word("history-other-results"), others));
    }
    FactTable { title: None, tone: Tone::Plain, facts }
}

/// Formats the value of the newest run; empty without a run.
pub(crate) fn newest_value(history: &History) -> String {
    history.points.last().map(|last| point_value(history, last)).unwrap_or_default()
}

/// Formats a value with the digits that its interval within the run supports.
fn point_value(history: &History, point: &history::HistoryPoint) -> String {
    let digits = precision::interval_digits(point.median, point.ci);
    precision::format_value(point.median, history.unit, digits)
}

/// Formats the interval of a value within its run.
fn point_range(point: &history::HistoryPoint) -> String {
    let range = precision::relative_range(point.median, point.ci);
    range.unwrap_or_else(|| word("distrust-no-interval").to_owned())
}

fn explanation(history: &History) -> String {
    message!(
        "history-explanation",
        method = history.method.name.to_string(),
        permutations = history.method.permutations.to_string(),
        seed = history.method.seed.to_string(),
        risk = precision::format_percent_setting(history.method.risk * 100.0),
        margin = precision::format_percent_setting(history.method.margin * 100.0),
    )
}

fn plot(history: &History) -> Plot {
    let run_number = |index: usize| (index + 1) as f64;
    let points = history.points.iter().enumerate().map(|(index, point)| PlotPoint {
        x: run_number(index),
        y: point.median,
        interval: point.ci,
    });
    let level_marks = history.changes.iter().map(|change| ReferenceLine {
        label: change_percent(change),
        // A change is drawn between two runs.
        value: run_number(change.point) - 0.5,
    });
    let environment_marks = history.environment.iter().map(|change| ReferenceLine {
        label: aspect_label(change),
        value: run_number(change.point) - 0.5,
    });
    let description = match history.changes.len() {
        // Describes only the plot: a paragraph below it reports that nothing changed.
        0 => word("history-drawn").to_owned(),
        count => message!("history-changed", n = count.to_string()),
    };
    let axes = [
        Axis::new(word("column-run"), Unit::Count, Scale::LinearFitted),
        Axis::new(metric_name(history), history.unit, Scale::LinearFitted),
    ];
    let series = vec![
        PlotSeries { name: word("history-runs").to_owned(), points: points.collect() },
        PlotSeries { name: word("history-level").to_owned(), points: level_points(history) },
    ];
    let marks = level_marks.chain(environment_marks).collect();
    let title = message!("history-plot", metric = metric_name(history));
    let limit = common_limit(history).map(|value| {
        let label =
            message!("limit-line", limit = units::quantity(value, history.unit, LIMIT_DIGITS));
        ReferenceLine { label, value }
    });
    Plot { is_comparison: true, marks, limit, ..Plot::new(title, description, axes, series) }
}

/// Returns the limit if all runs with a known limit agree; a machine that was changed has no common
/// limit.
fn common_limit(history: &History) -> Option<f64> {
    let mut limits = history.points.iter().filter_map(|point| point.limit);
    let first = limits.next()?;
    limits.all(|limit| limit.to_bits() == first.to_bits()).then_some(first)
}

/// Returns the points of the level line, which is constant between two changes.
fn level_points(history: &History) -> Vec<PlotPoint> {
    let ends = history.changes.iter().map(|change| change.point);
    let starts = std::iter::once(0).chain(ends.clone());
    let ends = ends.chain([history.points.len()]);
    let mut medians = history.changes.iter().map(|change| change.before).collect::<Vec<_>>();
    medians.extend(history.changes.last().map(|change| change.after));
    let points = starts.zip(ends).zip(medians).flat_map(|((start, end), median)| {
        [start as f64 + 0.5, end as f64 + 0.5].map(|x| PlotPoint {
            x,
            y: median,
            interval: None,
        })
    });
    points.collect()
}

fn change_percent(change: &LevelChange) -> String {
    catalogue::change_in_percent(change.after / change.before - 1.0)
}

fn aspect_label(change: &EnvironmentChange) -> String {
    catalogue::aspect(change.aspect, &change.of)
}

fn changes_table(history: &History) -> ReportTable {
    let interval = words::interval(Some(CHANGE_CI_LEVEL));
    let mut table = ReportTable::with_caption(word("history-changes"));
    for change in &history.changes {
        let started =
            history.points.get(change.point).map(|point| format_minute(&point.started));
        let coinciding = history.environment.iter().filter(|it| it.point == change.point);
        let coinciding = coinciding.map(aspect_label).collect::<Vec<_>>().join(comma());
        // The precision of the ratio of two levels is that of the levels.
        let digits = precision::interval_digits(change.ratio.unwrap_or(1.0), change.ratio_ci);
        let level = |value| precision::format_value(value, history.unit, digits);
        let ratio = |value| precision::ratio(value, change.ratio_ci, [digits; 2]);
        let range = change.ratio_ci.map(precision::ratio_range).unwrap_or_default();
        let verdict = word(if change.is_better { "verdict-better" } else { "verdict-worse" });
        let tone = if change.is_better { Tone::Plain } else { Tone::Bad };
        table.push([
            left(word("column-from-run"), &*change.run),
            left(word("column-since"), started.unwrap_or_default()),
            right(word("column-before"), level(change.before)),
            right(word("column-after"), level(change.after)),
            right(word("column-ratio"), change.ratio.map(ratio).unwrap_or_default()),
            right(&interval, range),
            left(word("column-which-is"), TableCell::with_tone(verdict, tone)),
            left(word("column-same-time"), coinciding),
        ]);
    }
    table.without_empty_columns()
}

fn environment_table(history: &History) -> ReportTable {
    let mut table = ReportTable::with_caption(word("history-around"));
    for it in &history.environment {
        table.push([
            left(word("column-from-run"), &*it.run),
            left(word("column-what"), aspect_label(it)),
            left(word("column-before"), &*it.before),
            left(word("column-after"), &*it.after),
        ]);
    }
    table
}

fn runs_table(history: &History) -> ReportTable {
    let mut table = ReportTable::with_caption(word("list-title"));
    for (index, point) in history.points.iter().enumerate() {
        let change = history.changes.iter().find(|change| change.point == index);
        let environment_changed = history.environment.iter().any(|it| it.point == index);
        let notes = change.map(change_percent).into_iter();
        let notes =
            notes.chain(environment_changed.then(|| word("history-surroundings").to_owned()));
        let share = point.limit.map(|limit| units::percent(100.0 * point.median / limit));
        table.push([
            left(word("column-run"), &*point.run),
            left(word("column-started"), format_minute(&point.started)),
            left(word("column-label"), point.label.as_deref().unwrap_or_default()),
            right("N", point.n.map(|n| n.to_string()).unwrap_or_default()),
            right(&metric_name(history), point_value(history, point)),
            right(word("column-of-limit"), share.unwrap_or_default()),
            left(word("column-state"), catalogue::trust_level(point.trust)),
            left("", notes.collect::<Vec<_>>().join(comma())),
        ]);
    }
    table.without_empty_columns()
}
