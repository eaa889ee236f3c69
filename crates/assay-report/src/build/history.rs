//! One result over all stored runs: its curve, the changes of its level and of what surrounds it.

use assay_model::benchmark::Benchmark;
use assay_model::history::{Change, History, Turnover};
use assay_model::quantity::Unit;

use super::comparison::{identity, ratio_range, shown_ratio};
use crate::document::{
    Align, Axis, Block, Cell, Document, Facts, Line, Plot, Point, Scale, Series, Table, Tone,
};
use crate::{units, words as catalogue};

const CHANGES: &str = "Changes of the level";
const RUNS: &str = "Runs";
const AROUND: &str = "What changed around it";
const UNCHANGED: &str = "The level did not change.";
/// The names of the curves.
const VALUE: &str = "runs";
const LEVEL: &str = "level";
/// Significant digits of values, which may differ by parts of a percent.
const DIGITS: usize = 4;
/// Letters of an RFC 3339 time down to the minute.
const MINUTE: usize = 16;

/// The history of one result.
#[must_use]
pub fn history(history: &History) -> Document {
    let mut document = Document::new(title(history));
    document.blocks.push(Block::Facts(facts(history)));
    document.blocks.push(Block::Plot(plot(history)));
    if history.changes.is_empty() {
        document.paragraph(Tone::Plain, UNCHANGED);
    } else {
        document.blocks.push(Block::Table(changes(history)));
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
        format!(
            "{}, {} to {}",
            history.points.len(),
            minute(&first.started),
            minute(&last.started)
        )
    });
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let meaning = Benchmark::from_id(&history.benchmark)
        .and_then(|it| it.metric(&history.metric))
        .map(|metric| metric.meaning.to_owned());
    let mut facts = vec![fact("host", history.host.clone())];
    facts.extend(when.map(|when| fact("runs", when)));
    facts.extend(last.map(|last| fact("newest", written(history, last.median))));
    facts.extend(meaning.map(|meaning| fact("meaning", meaning)));
    if history.others > 0 {
        let others = format!("{} of this metric, told apart with --where", history.others);
        facts.push(fact("other results", others));
    }
    Facts { title: None, tone: Tone::Plain, facts }
}

fn written(history: &History, value: f64) -> String {
    units::quantity(value, history.unit, DIGITS)
}

/// `2026-11-22 07:01`.
fn minute(time: &str) -> String {
    time.get(..MINUTE).unwrap_or(time).replace('T', " ")
}

fn explanation(history: &History) -> String {
    format!(
        "A change is found by {} with {} permutations (seed {}): at most {} of them divide the runs as \
         clearly, and it is more than {}. Runs between two changes are taken to differ by chance alone.",
        history.method.name,
        history.method.permutations,
        history.method.seed,
        units::percent(history.method.risk * 100.0),
        units::percent(history.method.margin * 100.0),
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
        // Between two runs, as what happened is.
        value: number(change.point) - 0.5,
    });
    let of_turnover = history
        .environment
        .iter()
        .map(|turnover| Line { label: what(turnover), value: number(turnover.point) - 0.5 });
    Plot {
        title: format!("{} over {} runs", history.metric, history.points.len()),
        description: match history.changes.len() {
            0 => UNCHANGED.to_owned(),
            count => format!("The level changed {count} times."),
        },
        x: Axis { label: "run".to_owned(), unit: Unit::Count, scale: Scale::Near },
        y: Axis { label: history.metric.clone(), unit: history.unit, scale: Scale::Near },
        series: vec![
            Series { name: VALUE.to_owned(), points: points.collect() },
            Series { name: LEVEL.to_owned(), points: level(history) },
        ],
        rivals: true,
        bands: vec![],
        limit: None,
        marks: of_change.chain(of_turnover).collect(),
    }
}

/// Flat between two changes.
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
    let share = 100.0 * (change.after / change.before - 1.0);
    format!("{share:+.1}\u{a0}%")
}

fn what(turnover: &Turnover) -> String {
    catalogue::aspect(turnover.aspect, &turnover.of)
}

fn changes(history: &History) -> Table {
    let columns = [
        ("from run", Align::Left),
        ("since", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("ratio", Align::Right),
        ("95 % interval", Align::Right),
        ("which is", Align::Left),
        ("at the same time", Align::Left),
    ];
    let mut table = Table::new(CHANGES, &columns);
    for change in &history.changes {
        let since = history.points.get(change.point).map(|point| minute(&point.started));
        let beside = history.environment.iter().filter(|it| it.point == change.point);
        let beside = beside.map(what).collect::<Vec<_>>().join(", ");
        let is = if change.is_better { "better" } else { "worse" };
        let tone = if change.is_better { Tone::Plain } else { Tone::Bad };
        let is = Cell { text: is.to_owned(), tone, ..Cell::default() };
        table.rows.push(vec![
            change.run.as_str().into(),
            since.unwrap_or_default().into(),
            written(history, change.before).into(),
            written(history, change.after).into(),
            change.ratio.map(shown_ratio).unwrap_or_default().into(),
            change.ratio_ci.map(ratio_range).unwrap_or_default().into(),
            is,
            beside.into(),
        ]);
    }
    table.without_empty_columns()
}

fn around(history: &History) -> Table {
    let columns = [
        ("from run", Align::Left),
        ("what", Align::Left),
        ("before", Align::Left),
        ("after", Align::Left),
    ];
    let mut table = Table::new(AROUND, &columns);
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
        ("run", Align::Left),
        ("started", Align::Left),
        ("label", Align::Left),
        (history.metric.as_str(), Align::Right),
        ("", Align::Left),
    ];
    let mut table = Table::new(RUNS, &columns);
    for (index, point) in history.points.iter().enumerate() {
        let change = history.changes.iter().find(|change| change.point == index);
        let turned = history.environment.iter().any(|it| it.point == index);
        let notes = change.map(percent_of).into_iter();
        let notes = notes.chain(turned.then(|| "surroundings changed".to_owned()));
        table.rows.push(vec![
            point.run.as_str().into(),
            minute(&point.started).into(),
            point.label.clone().unwrap_or_default().into(),
            written(history, point.median).into(),
            notes.collect::<Vec<_>>().join(", ").into(),
        ]);
    }
    table.without_empty_columns()
}
