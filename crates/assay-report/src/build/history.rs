//! History of one result over all stored runs: its plot, change points, and changes of the
//! environment.

use assay_model::history::{self, Change, History, Turnover};
use assay_model::quantity::Unit;

use super::comparison::identity;
use super::run::words;
use crate::document::{
    Align, Axis, Block, Cell, Document, Facts, Line, Plot, Point, Scale, Series, Table, Tone,
};
use crate::locale::{comma, word};
use crate::{precision, units, words as catalogue};

/// Significant digits of a limit.
const DIGITS: usize = 4;
/// Confidence level of the intervals of changes.
const LEVEL_OF_CHANGES: f64 = 0.95;
/// Characters of an RFC 3339 time up to the minute.
const MINUTE: usize = 16;

/// Builds the history of one result.
#[must_use]
pub fn history(history: &History) -> Document {
    let mut document = Document::new(title(history));
    document.blocks.push(Block::Facts(facts(history)));
    document.blocks.push(Block::Plot(plot(history)));
    if history.points.len() == 1 {
        document.paragraph(Tone::Plain, word("history-one-run"));
    } else if history.changes.is_empty() {
        document.paragraph(Tone::Plain, word("history-unchanged"));
    } else {
        document.blocks.push(Block::Table(changes(history)));
    }
    if history.points.iter().any(|point| point.n.is_some()) {
        document.paragraph(Tone::Doubt, word("history-over-n"));
    }
    document.paragraph(Tone::Quiet, explanation(history));
    if !history.environment.is_empty() {
        document.blocks.push(Block::Table(around(history)));
    }
    document.blocks.push(Block::Table(runs(history)));
    document
}

fn title(history: &History) -> String {
    let which = match identity::words(&history.identity) {
        words if words.is_empty() => String::new(),
        words => format!(", {words}"),
    };
    format!("{} {}{which}", history.benchmark, history.metric)
}

fn facts(history: &History) -> Facts {
    let (first, last) = (history.points.first(), history.points.last());
    let when = first.zip(last).map(|(first, last)| {
        say!(
            "history-span",
            n = history.points.len().to_string(),
            first = minute(&first.started),
            last = minute(&last.started),
        )
    });
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![fact(word("column-host"), history.host.clone())];
    facts.extend(when.map(|when| fact(word("history-runs"), when)));
    facts.extend(last.map(|last| fact(word("history-newest"), point_value(history, last))));
    if history.others > 0 {
        let others = say!("history-others", n = history.others.to_string());
        facts.push(fact(word("history-other-results"), others));
    }
    Facts { title: None, tone: Tone::Plain, facts }
}

/// Formats a value with the digits that its interval within the run supports.
fn point_value(history: &History, point: &history::Point) -> String {
    let digits = precision::digits_within(point.median, point.ci);
    precision::written(point.median, history.unit, digits)
}

/// Formats a time as `2026-11-22 07:01 UTC`.
fn minute(time: &str) -> String {
    time.get(..MINUTE).unwrap_or(time).replace('T', " ") + " UTC"
}

fn explanation(history: &History) -> String {
    say!(
        "history-explanation",
        method = history.method.name.to_string(),
        permutations = history.method.permutations.to_string(),
        seed = history.method.seed.to_string(),
        risk = precision::percent_setting(history.method.risk * 100.0),
        margin = precision::percent_setting(history.method.margin * 100.0),
    )
}

fn plot(history: &History) -> Plot {
    let number = |index: usize| (index + 1) as f64;
    let points = history.points.iter().enumerate().map(|(index, point)| Point {
        x: number(index),
        y: point.median,
        interval: point.ci,
    });
    let of_change = history.changes.iter().map(|change| Line {
        label: percent_of(change),
        // Changes lie between two runs.
        value: number(change.point) - 0.5,
    });
    let of_turnover = history
        .environment
        .iter()
        .map(|turnover| Line { label: what(turnover), value: number(turnover.point) - 0.5 });
    let description = match history.changes.len() {
        // Describes only the plot: a paragraph below it reports that nothing changed.
        0 => word("history-drawn").to_owned(),
        count => say!("history-changed", n = count.to_string()),
    };
    let axes = [
        Axis::new(word("column-run"), Unit::Count, Scale::Near),
        Axis::new(&history.metric, history.unit, Scale::Near),
    ];
    let series = vec![
        Series { name: word("history-runs").to_owned(), points: points.collect() },
        Series { name: word("history-level").to_owned(), points: level(history) },
    ];
    let marks = of_change.chain(of_turnover).collect();
    let title = say!("history-plot", metric = &history.metric);
    let limit = limit(history).map(|value| {
        let label = say!("limit-line", limit = units::quantity(value, history.unit, DIGITS));
        Line { label, value }
    });
    Plot { rivals: true, marks, limit, ..Plot::new(title, description, axes, series) }
}

/// Returns the limit if all runs with a known limit agree; a machine that was changed has no common
/// limit.
fn limit(history: &History) -> Option<f64> {
    let mut known = history.points.iter().filter_map(|point| point.limit);
    let first = known.next()?;
    known.all(|other| other.to_bits() == first.to_bits()).then_some(first)
}

/// Returns the level line, constant between two changes.
fn level(history: &History) -> Vec<Point> {
    let ends = history.changes.iter().map(|change| change.point);
    let begins = std::iter::once(0).chain(ends.clone());
    let ends = ends.chain([history.points.len()]);
    let mut medians = history.changes.iter().map(|change| change.before).collect::<Vec<_>>();
    medians.extend(history.changes.last().map(|change| change.after));
    let flat = begins.zip(ends).zip(medians).flat_map(|((begin, end), median)| {
        [begin as f64 + 0.5, end as f64 + 0.5].map(|x| Point { x, y: median, interval: None })
    });
    flat.collect()
}

fn percent_of(change: &Change) -> String {
    catalogue::change_in_percent(change.after / change.before - 1.0)
}

fn what(turnover: &Turnover) -> String {
    catalogue::aspect(turnover.aspect, &turnover.of)
}

fn changes(history: &History) -> Table {
    let columns = [
        (word("column-from-run"), Align::Left),
        (word("column-since"), Align::Left),
        (word("column-before"), Align::Right),
        (word("column-after"), Align::Right),
        (word("column-ratio"), Align::Right),
        (&*words::interval(Some(LEVEL_OF_CHANGES)), Align::Right),
        (word("column-which-is"), Align::Left),
        (word("column-same-time"), Align::Left),
    ];
    let mut table = Table::new(word("history-changes"), &columns);
    for change in &history.changes {
        let since = history.points.get(change.point).map(|point| minute(&point.started));
        let same_time = history.environment.iter().filter(|it| it.point == change.point);
        let same_time = same_time.map(what).collect::<Vec<_>>().join(comma());
        // The precision of the ratio of two levels is that of the levels.
        let digits = precision::digits_within(change.ratio.unwrap_or(1.0), change.ratio_ci);
        let level = |value| precision::written(value, history.unit, digits);
        let ratio = |value| precision::ratio(value, change.ratio_ci, [digits; 2]);
        let verdict = word(if change.is_better { "verdict-better" } else { "verdict-worse" });
        let tone = if change.is_better { Tone::Plain } else { Tone::Bad };
        let verdict = Cell { text: verdict.to_owned(), tone, ..Cell::default() };
        table.rows.push(vec![
            change.run.as_str().into(),
            since.unwrap_or_default().into(),
            level(change.before).into(),
            level(change.after).into(),
            change.ratio.map(ratio).unwrap_or_default().into(),
            change.ratio_ci.map(precision::ratio_range).unwrap_or_default().into(),
            verdict,
            same_time.into(),
        ]);
    }
    table.without_empty_columns()
}

fn around(history: &History) -> Table {
    let columns = [
        (word("column-from-run"), Align::Left),
        (word("column-what"), Align::Left),
        (word("column-before"), Align::Left),
        (word("column-after"), Align::Left),
    ];
    let mut table = Table::new(word("history-around"), &columns);
    table.rows = history
        .environment
        .iter()
        .map(|it| {
            [&it.run, &what(it), &it.before, &it.after].map(|text| text.as_str().into()).into()
        })
        .collect();
    table
}

fn runs(history: &History) -> Table {
    let columns = [
        (word("column-run"), Align::Left),
        (word("column-started"), Align::Left),
        (word("column-label"), Align::Left),
        ("N", Align::Right),
        (history.metric.as_str(), Align::Right),
        (word("column-of-limit"), Align::Right),
        ("", Align::Left),
    ];
    let mut table = Table::new(word("list-title"), &columns);
    for (index, point) in history.points.iter().enumerate() {
        let change = history.changes.iter().find(|change| change.point == index);
        let turned = history.environment.iter().any(|it| it.point == index);
        let notes = change.map(percent_of).into_iter();
        let notes = notes.chain(turned.then(|| word("history-surroundings").to_owned()));
        table.rows.push(vec![
            point.run.as_str().into(),
            minute(&point.started).into(),
            point.label.clone().unwrap_or_default().into(),
            point.n.map(|n| n.to_string()).unwrap_or_default().into(),
            point_value(history, point).into(),
            point
                .limit
                .map(|it| units::percent(100.0 * point.median / it))
                .unwrap_or_default()
                .into(),
            notes.collect::<Vec<_>>().join(comma()).into(),
        ]);
    }
    table.without_empty_columns()
}
