//! Rules for the direction of figures: reads or writes.

use assay_model::quantity::Unit;

use super::{Linter, Rule, page_span};
use crate::figure::{PageNumberFormat, PrintedFigure, find_figures, is_unspaced_script};
use crate::page::PageText;
use crate::steps;

/// Stems of words for reads and writes, in many languages.
const READ_WORDS: [&str; 26] = [
    "read",
    "чтен",
    "чита",
    "считыва",
    "lectur",
    "čten",
    "čtení",
    "lesen",
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
const NON_DIRECTIONS: [&str; 4] = ["ready", "readi", "readab", "writh"];

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
pub(super) fn find_directions(lower: &str) -> Vec<LintDirection> {
    steps::count(lower.len());
    let is_direction_word = |position: usize| {
        let before = lower[..position].chars().next_back();
        let is_start = before.is_none_or(|c| !c.is_alphabetic() || is_unspaced_script(c));
        let first = lower[position..].chars().next();
        (is_start || first.is_some_and(is_unspaced_script))
            && !NON_DIRECTIONS.iter().any(|word| lower[position..].starts_with(word))
    };
    let mut matches: Vec<(usize, LintDirection)> = Vec::new();
    for (words, direction) in
        [(&READ_WORDS[..], LintDirection::Reads), (&WRITE_WORDS[..], LintDirection::Writes)]
    {
        for word in words {
            let positions = lower
                .match_indices(word)
                .map(|(position, _)| position)
                .filter(|position| is_direction_word(*position));
            matches.extend(positions.map(|position| (position, direction)));
        }
    }
    matches.sort_by_key(|(position, _)| *position);
    matches.dedup_by_key(|(position, _)| *position);
    matches.into_iter().map(|(_, direction)| direction).collect()
}

fn rates(text: &PageText) -> Vec<PrintedFigure> {
    let is_rate = |figure: &PrintedFigure| {
        figure.unit.as_ref().is_some_and(|it| match it.unit {
            Unit::BytePerSecond | Unit::BitPerSecond | Unit::Byte => it.factor >= 1e6,
            Unit::IoPerSecond => true,
            _ => false,
        })
    };
    find_figures(&text.text).into_iter().filter(is_rate).collect()
}

/// Reports two rates in a cell of which only one has a direction.
pub(super) fn check(lint: &mut Linter<'_>, cell: &PageText) {
    let lower = cell.text.to_lowercase();
    let is_bytes =
        |it: &PrintedFigure| it.unit.as_ref().is_some_and(|it| it.unit != Unit::IoPerSecond);
    let rates: Vec<PrintedFigure> = rates(cell).into_iter().filter(is_bytes).collect();
    let [_, second] = rates.as_slice() else { return };
    let directions = find_directions(&lower);
    let (reads, writes) = (
        directions.contains(&LintDirection::Reads),
        directions.contains(&LintDirection::Writes),
    );
    if reads != writes {
        let (present, missing) = if reads { ("reads", "writes") } else { ("writes", "reads") };
        let message = format!("one of two rates {present}: the word for {missing} is missing");
        // In `1.2 GB/s reads (600 MB/s per drive)`, both are reads.
        let found = (Rule::Direction, Linter::likely_if(lint.is_translated));
        lint.add_finding(found, page_span(cell, second.number_span), message, None);
        return;
    }
    let after = lower.get(second.number_span.1..).unwrap_or_default();
    let joined_words =
        ["읽기/쓰기", "reads/writes", "чтение/запись", "čtení/zápis", "lectures/écritures"];
    if joined_words.iter().any(|words| after.contains(words)) {
        let message = "both direction words follow the second rate".to_owned();
        lint.add_likely(Rule::Direction, page_span(cell, second.number_span), message);
    }
}

/// Reports a direction that differs from that of the source, and swapped figures for reads and
/// writes.
pub(super) fn compare_directions(
    lint: &mut Linter<'_>,
    text: &PageText,
    (source, source_format): (&PageText, PageNumberFormat),
) {
    let (directions, source_directions) = (
        find_directions(&text.text.to_lowercase()),
        find_directions(&source.text.to_lowercase()),
    );
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
            lint.add(Rule::Direction, span, message);
        }
        return;
    }
    let (page_rates, source_rates) = (rates(text), rates(source));
    let ([first, second], [source_first, source_second]) = (&page_rates[..], &source_rates[..])
    else {
        return;
    };
    let ([a, b], [source_a, source_b]) = (&directions[..], &source_directions[..]) else {
        return;
    };
    let page_format = lint.number_format;
    let is_one = |it: &PrintedFigure, source: &PrintedFigure| {
        let others = source_format.possible_values(source);
        let values = page_format.possible_values(it);
        values.iter().any(|it| others.iter().any(|other| it.to_bits() == other.to_bits()))
            && it.unit.as_ref().zip(source.unit.as_ref()).is_some_and(|(a, b)| a.is_same(b))
    };
    let is_same_order = is_one(first, source_first) && is_one(second, source_second);
    let is_reversed = is_one(second, source_first) && is_one(first, source_second);
    if a == b || source_a == source_b || is_same_order == is_reversed {
        return;
    }
    if (is_same_order && a != source_a) || (is_reversed && a == source_a) {
        let message = "reads and writes are swapped".to_owned();
        lint.add(Rule::Direction, page_span(text, first.number_span), message);
    }
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
