//! Rules for the direction of figures: reads or writes.

use assay_model::quantity::Unit;

use super::checks::Check;
use super::{Linter, Rule, page_span};
use crate::figure::{PageNumberFormat, PrintedFigure, is_unspaced_script};
use crate::page::PageText;
use crate::steps;

/// Stems of words for reads and writes, in many languages.
const READ_WORDS: [&str; 27] = [
    "read",
    "чтен",
    "чита",
    "считыва",
    "lectur",
    "čten",
    "čtení",
    "lesen",
    "liest",
    "lesevorg",
    "lese",
    "lettur",
    "leitur",
    "odczyt",
    "okuma",
    "okur",
    "lees",
    "lez",
    "läs",
    "olvas",
    "읽기",
    "읽는",
    "读",
    "讀",
    "読",
    "リード",
    "leggere",
];
const WRITE_WORDS: [&str; 26] = [
    "writ",
    "запис",
    "écritur",
    "zápis",
    "schreib",
    "escritur",
    "scrittur",
    "escrita",
    "gravaç",
    "zapis",
    "yazma",
    "yazar",
    "schrijf",
    "skriv",
    "írás",
    "írási",
    "쓰기",
    "씁니다",
    "기록",
    "写",
    "寫",
    "書き",
    "書込",
    "ライト",
    "scrivere",
    "zapisu",
];
/// Words that share a stem but are not directions. The Chinese and Japanese word for "book" is not
/// listed: it has a single character.
const NON_DIRECTIONS: [&str; 14] = [
    "ready",
    "readi",
    "readab",
    "writh",
    // Permissions.
    "read-only",
    "read only",
    "lecture seule",
    "読み取り専用",
    "읽기 전용",
    "schreibgesch",
    "schreibschutz",
    "schreibweise",
    "lesezeichen",
    "写真",
];
/// First characters of other words with the character of a direction: 複寫 is replication, 编写 writing
/// of programs, 阅读 reading of texts.
const COMPOUND_STARTS: [&str; 12] =
    ["複", "复", "編", "编", "撰", "填", "缩", "縮", "閱", "阅", "解", "購"];
/// Words before a direction that make it a permission: "read-only".
const ONLY_WORDS: [&str; 6] = ["только для ", "solo ", "sólo ", "jen pro ", "pouze pro ", "只"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LintDirection {
    Reads,
    Writes,
}

impl LintDirection {
    const fn word(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
        }
    }
}

/// Returns the direction words of a text, in order. `lower` is the text in lower case.
fn find_directions(lower: &str) -> Vec<LintDirection> {
    locate_directions(lower).into_iter().map(|(_, direction)| direction).collect()
}

/// Returns the direction words of a text in lower case with their positions, in one pass.
fn locate_directions(lower: &str) -> Vec<(usize, LintDirection)> {
    steps::count(lower.len());
    let (mut found, mut before) = (Vec::new(), None::<char>);
    for (position, c) in lower.char_indices() {
        let is_start = before.is_none_or(|it| !it.is_alphabetic() || is_unspaced_script(it));
        before = Some(c);
        if is_start || is_unspaced_script(c) {
            found.extend(direction_at(lower, position).map(|it| (position, it)));
        }
    }
    found
}

/// Returns the direction whose word is at a position.
fn direction_at(lower: &str, position: usize) -> Option<LintDirection> {
    let (before, rest) = lower.split_at(position);
    let first = rest.bytes().next();
    let is_here = |word: &&str| word.bytes().next() == first && rest.starts_with(*word);
    let direction = match () {
        () if READ_WORDS.iter().any(is_here) => LintDirection::Reads,
        () if WRITE_WORDS.iter().any(is_here) => LintDirection::Writes,
        () => return None,
    };
    let mut compounds = ONLY_WORDS.iter().chain(&COMPOUND_STARTS);
    let is_other = compounds.any(|word| before.ends_with(word))
        || NON_DIRECTIONS.iter().any(|word| rest.starts_with(word));
    (!is_other).then_some(direction)
}

fn rates(text: &PageText) -> impl Iterator<Item = &PrintedFigure> {
    let is_rate = |figure: &&PrintedFigure| {
        figure.unit.as_ref().is_some_and(|it| match it.unit {
            Unit::BytePerSecond | Unit::BitPerSecond | Unit::Byte => it.factor >= 1e6,
            Unit::IoPerSecond => true,
            _ => false,
        })
    };
    text.figures.iter().filter(is_rate)
}

/// Reports two rates in a cell of which only one has a direction.
pub(super) fn check(lint: &mut Linter<'_>, cell: &PageText) {
    let is_bytes =
        |it: &&PrintedFigure| it.unit.as_ref().is_some_and(|it| it.unit != Unit::IoPerSecond);
    let mut rates = rates(cell).filter(is_bytes);
    let (Some(first), Some(second), None) = (rates.next(), rates.next(), rates.next()) else {
        return;
    };
    let lower = cell.text.to_lowercase();
    let is_rate =
        |it: &PrintedFigure| it.unit.as_ref().is_some_and(|unit| unit.unit != Unit::Byte);
    if !is_rate(first) && !is_rate(second) {
        return;
    }
    let directions = find_directions(&lower);
    let (reads, writes) = (
        directions.contains(&LintDirection::Reads),
        directions.contains(&LintDirection::Writes),
    );
    if reads != writes && is_list_of_two(cell, first, second) {
        let (present, missing) = if reads { ("reads", "writes") } else { ("writes", "reads") };
        let message = format!("one of two rates {present}: the word for {missing} is missing");
        // In `1.2 GB/s reads (600 MB/s per drive)`, both are reads.
        let span = page_span(cell, second.number_span);
        lint.add_if(lint.is_translated, Check::OneDirection, span, message, None);
        return;
    }
    let after = lower.get(second.number_span.1..).unwrap_or_default();
    let joined_words =
        ["읽기/쓰기", "reads/writes", "чтение/запись", "čtení/zápis", "lectures/écritures"];
    if joined_words.iter().any(|words| after.contains(words)) {
        let message = "both direction words follow the second rate".to_owned();
        lint.add(Check::DirectionsBehind, page_span(cell, second.number_span), message);
    }
}

/// Returns whether two figures are in one sentence, a few words apart.
fn is_list_of_two(cell: &PageText, first: &PrintedFigure, second: &PrintedFigure) -> bool {
    /// Maximum number of bytes between them.
    const NEAR: usize = 100;
    let between = cell.text.get(first.number_span.1..second.number_span.0).unwrap_or_default();
    between.len() <= NEAR && !between.contains(". ")
}

/// Maximum length of the label of a row or a column, in bytes.
const LONGEST_LABEL: usize = 80;

/// Reports a direction that differs from that of the source, and swapped figures for reads and
/// writes.
pub(super) fn compare_directions(
    lint: &mut Linter<'_>,
    text: &PageText,
    (source, source_format): (&PageText, PageNumberFormat),
) {
    // Long texts without figures are not about results.
    let has_figure = |text: &PageText| !text.figures.is_empty();
    if text.text.len().min(source.text.len()) > LONGEST_LABEL
        && !(has_figure(text) && has_figure(source))
    {
        return;
    }
    let (words, source_words) =
        (DirectionWords::of_text(text), DirectionWords::of_text(source));
    let (directions, source_directions) = (words.directions(), source_words.directions());
    let only_direction = |all: &[LintDirection]| {
        all.first().copied().filter(|first| all.iter().all(|it| it == first))
    };
    if let (Some(printed), Some(expected)) =
        (only_direction(&directions), only_direction(&source_directions))
    {
        if printed != expected {
            let start = text.text.len() - text.text.trim_start().len();
            let span = page_span(text, (start, text.text.trim_end().len().max(start)));
            let message = format!("{}, but the source has {}", printed.word(), expected.word());
            lint.add_difference(Rule::Direction, span, message);
        }
        return;
    }
    let count =
        |all: &[LintDirection]| all.iter().filter(|it| **it == LintDirection::Reads).count();
    let (reads, source_reads) = (count(&directions), count(&source_directions));
    if directions.len() == source_directions.len() && reads != source_reads {
        let start = text.text.len() - text.text.trim_start().len();
        let span = page_span(text, (start, text.text.trim_end().len().max(start)));
        let message = format!(
            "reads {reads} times and writes {} times, but the source has {source_reads} and {}",
            directions.len() - reads,
            directions.len() - source_reads
        );
        lint.add_likely_difference(Rule::Direction, span, message);
        return;
    }
    let (Some(page), Some(source)) =
        (directed_figures(text, &words), directed_figures(source, &source_words))
    else {
        return;
    };
    if let Some(figure) = find_swapped(lint.number_format, &page, (&source, source_format)) {
        let message = "reads and writes are swapped".to_owned();
        lint.add_difference(Rule::Direction, page_span(text, figure.number_span), message);
    }
}

/// Words for directions in a text.
struct DirectionWords {
    located: Vec<(usize, LintDirection)>,
    /// Bytes of the text in lower case, in which they are located.
    length: usize,
}

impl DirectionWords {
    fn of_text(text: &PageText) -> Self {
        let lower = text.text.to_lowercase();
        Self { located: locate_directions(&lower), length: lower.len() }
    }

    fn directions(&self) -> Vec<LintDirection> {
        self.located.iter().map(|(_, direction)| *direction).collect()
    }
}

/// Figure with the direction that its text gives it.
type DirectedFigure<'p> = (&'p PrintedFigure, LintDirection);

/// Returns the figures that reads or writes may have, rates and times, each with its direction.
/// `None` if the text does not show to which word they belong: each word must have figures, all
/// behind it, all before it, or equally many around it.
fn directed_figures<'p>(
    text: &'p PageText,
    words: &DirectionWords,
) -> Option<Vec<DirectedFigure<'p>>> {
    /// Maximum number of figures that are compared; real sentences have fewer.
    const MOST: usize = 16;
    // A change of length in lower case would shift the positions.
    if words.length != text.text.len() {
        return None;
    }
    let is_time =
        |it: &&PrintedFigure| it.unit.as_ref().is_some_and(|it| it.unit == Unit::Second);
    let times = text.figures.iter().filter(is_time);
    let mut figures: Vec<&PrintedFigure> = rates(text).chain(times).take(MOST + 1).collect();
    let words = &words.located;
    // Each word has a figure.
    if !(2..=MOST).contains(&figures.len()) || words.len() > figures.len() {
        return None;
    }
    figures.sort_by_key(|it| it.number_span.0);
    let position = |it: &&PrintedFigure| it.number_span.0;
    let (first, last) = (figures.first().map(position)?, figures.last().map(position)?);
    let (first_word, last_word) = (words.first()?.0, words.last()?.0);
    let next_word = |it: &&PrintedFigure| {
        words.partition_point(|(position, _)| *position < it.number_span.0)
    };
    let owners: Vec<usize> = match (first_word < first, last_word < last) {
        (true, true) => figures.iter().map(|it| next_word(it) - 1).collect(),
        (false, false) => figures.iter().map(next_word).collect(),
        // `300,000 read IOPS at 2 ms, 100,000 write IOPS at 3 ms`
        _ if figures.len().is_multiple_of(words.len()) => {
            (0..figures.len()).map(|at| at * words.len() / figures.len()).collect()
        }
        _ => return None,
    };
    steps::count(words.len() * owners.len());
    let has = |direction: LintDirection| words.iter().any(|(_, it)| *it == direction);
    let is_complete = (0..words.len()).all(|it| owners.contains(&it))
        && has(LintDirection::Reads)
        && has(LintDirection::Writes);
    is_complete.then(|| {
        let directions = owners.iter().map(|owner| words[*owner].1);
        figures.iter().copied().zip(directions).collect()
    })
}

/// Returns the first figure with another direction than the same figure of the source.
fn find_swapped<'p>(
    page_format: PageNumberFormat,
    page: &[DirectedFigure<'p>],
    (source, source_format): (&[DirectedFigure<'_>], PageNumberFormat),
) -> Option<&'p PrintedFigure> {
    if page.len() != source.len() {
        return None;
    }
    let is_same = |it: &PrintedFigure, source: &PrintedFigure| {
        let others = source_format.possible_values(source);
        let values = page_format.possible_values(it);
        values.iter().any(|it| others.iter().any(|other| it.to_bits() == other.to_bits()))
            && it.unit.as_ref().zip(source.unit.as_ref()).is_some_and(|(a, b)| a.is_same(b))
    };
    // A figure that occurs twice may have both directions.
    let directions = |(it, _): &DirectedFigure<'_>| -> Vec<LintDirection> {
        let same = source.iter().filter(|(source, _)| is_same(it, source));
        same.map(|(_, direction)| *direction).collect()
    };
    let expected: Vec<Vec<LintDirection>> = page.iter().map(directions).collect();
    if expected.iter().any(Vec::is_empty) {
        return None;
    }
    let mut pairs = page.iter().zip(&expected);
    let swapped = pairs.find(|((_, direction), expected)| !expected.contains(direction));
    swapped.map(|((figure, _), _)| *figure)
}

/// Returns whether the first word of a text is a direction or an operation.
pub(super) fn begins_with_direction(text: &str) -> bool {
    /// At least as many letters as the longest word above.
    const LONGEST: usize = 16;
    let start: String = text.chars().take(LONGEST).collect();
    steps::count(start.len());
    let lower = start.to_lowercase();
    let is_prefix = |word: &&str| lower.starts_with(*word);
    READ_WORDS.iter().chain(&WRITE_WORDS).any(is_prefix)
}
