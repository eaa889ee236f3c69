//! Parts of a page that contradict each other: a heading with another machine than the title, a
//! sentence with another value than the table, a percentage that does not follow from its sentence.

use std::collections::BTreeMap;

use assay_model::quantity::Unit;

use super::bounds::find_bound;
use super::checks::Check;
use super::words::{NO_ENDING, has_word};
use super::{Linter, column_unit, figure_with_unit, full_rows, page_span, products};
use crate::figure::{PrintedFigure, is_unspaced_script};
use crate::page::{LintPage, PageTable, PageText};
use crate::steps;

pub(super) fn check(lint: &mut Linter<'_>, page: &LintPage) {
    check_headings(lint, page);
    check_repeated_values(lint, page);
    for text in &page.prose {
        check_percentage(lint, text);
        products::check_sentence(lint, text);
    }
}

/// Returns whether a word is the short name of a series of machines: `HC`, `HBv2`.
fn is_series(word: &str) -> bool {
    const OTHERS: [&str; 10] = ["VM", "OS", "IO", "DB", "AI", "ML", "IP", "PC", "CI", "ID"];
    let (name, version) = word.split_once('v').unwrap_or((word, "1"));
    name.len() == 2
        && !OTHERS.contains(&name)
        && name.chars().all(|c| c.is_ascii_uppercase())
        && (1..=2).contains(&version.len())
        && version.chars().all(|c| c.is_ascii_digit())
}

/// Beginnings of the word for a series of machines.
const SERIES: [&str; 9] =
    ["series", "serie", "séri", "řad", "seri", "сери", "시리즈", "シリーズ", "系列"];

/// Returns the series in a text that are named as such: `HC-series`, `серии HC`.
fn named_series(text: &str) -> impl Iterator<Item = &str> {
    let lower = text.to_lowercase();
    let is_named = SERIES.iter().any(|word| lower.contains(word));
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(move |word| is_named && is_series(word))
}

/// Returns the position of the series that is all of a section's heading: `## HB-series`.
fn section_series(text: &str) -> Option<(usize, &str)> {
    /// Maximum number of letters of the word for a series, with its ending.
    const LONGEST: usize = 8;
    let heading = text.trim_start().strip_prefix('#')?;
    let mut words = heading.split(|c: char| !c.is_ascii_alphanumeric());
    let word = words.find(|word| is_series(word))?;
    let (before, behind) = heading.split_once(word)?;
    let letters = before.chars().chain(behind.chars()).filter(|c| c.is_alphanumeric());
    let rest: String = letters.flat_map(char::to_lowercase).collect();
    let is_word = SERIES.iter().any(|it| rest.starts_with(it));
    let is_all = rest.is_empty() || (is_word && rest.chars().count() <= LONGEST);
    is_all.then_some((text.len() - behind.len() - word.len(), word))
}

/// Reports the heading of a column or a section with another series than the title, if the page names it
/// nowhere else.
fn check_headings(lint: &mut Linter<'_>, page: &LintPage) {
    let first = page.titles.iter().chain(page.prose.first()).map(|it| it.text.as_str());
    let titles: Vec<&str> = first.flat_map(named_series).collect();
    let Some(title) = titles.first().filter(|it| titles.iter().all(|other| other == *it))
    else {
        return;
    };
    let headings = page.tables.iter().filter_map(|it| it.rows.first()).flatten();
    let columns = headings.filter(|it| is_series(it.text.trim())).map(|it| {
        let start = it.text.len() - it.text.trim_start().len();
        (it, start, it.text.trim())
    });
    let sections = page.prose.iter().skip(1).filter_map(|it| {
        let (start, word) = section_series(&it.text)?;
        Some((it, start, word))
    });
    // A page may have a section for each series.
    let is_one_of_several = sections.clone().any(|(_, _, word)| word == *title);
    let sections = sections.filter(|_| !is_one_of_several);
    let is_other = |(_, _, word): &(&PageText, usize, &str)| {
        word != title
            && word.len() == title.len()
            && word.as_bytes().first() == title.as_bytes().first()
    };
    // Each word is searched once; there are few of this form.
    let mut named: BTreeMap<&str, bool> = BTreeMap::new();
    for (heading, start, word) in columns.chain(sections).filter(is_other) {
        let is_named = named.entry(word).or_insert_with(|| {
            let is_section = |it: &PageText| section_series(&it.text).is_some();
            page.prose
                .iter()
                .any(|it| contains(&it.text, word) && (is_one_of_several || !is_section(it)))
        });
        if *is_named {
            continue;
        }
        let message = format!("the heading is `{word}`, and the page is about {title}");
        let span = page_span(heading, (start, start + word.len()));
        lint.add(Check::HeadingSeries, span, message);
    }
}

/// Returns whether a text contains a word, and counts the work.
fn contains(text: &str, word: &str) -> bool {
    steps::count(text.len());
    text.contains(word)
}

/// Minimum number of words of a label that a sentence repeats.
const MIN_WORDS: usize = 2;
/// Maximum number of rows and of paragraphs that are compared.
const MOST: usize = 64;

/// Value of a table with the words by which a sentence names it.
struct NamedValue {
    /// Label of its row, in lower case.
    label: String,
    /// Heading of its column, in lower case; `None` if no other column has values.
    heading: Option<String>,
    figure: PrintedFigure,
}

impl NamedValue {
    /// Returns the values of a table whose rows have labels of several words.
    fn of_table(table: &PageTable) -> impl Iterator<Item = Self> {
        let columns = table.rows.first().map_or(0, Vec::len);
        let heading = move |number: usize| {
            let words = table.rows[0][number].text.split(['[', '(']).next().unwrap_or_default();
            words.trim().trim_matches('*').to_lowercase()
        };
        full_rows(table).flat_map(move |row| {
            let label =
                row.first().map_or("", |it| it.text.trim().trim_matches('*')).to_lowercase();
            let has_figures = row.first().is_none_or(|it| !it.figures.is_empty());
            let is_label = label.split_whitespace().count() >= MIN_WORDS && !has_figures;
            let numbers = 1..if is_label { columns } else { 0 };
            numbers.filter_map(move |number| {
                let mut figure = figure_with_unit(&row[number])?.clone();
                figure.unit =
                    figure.unit.or_else(|| column_unit(table, number).map(|(_, unit)| unit));
                let heading = Some(heading(number)).filter(|_| columns > 2);
                let is_named =
                    heading.as_ref().is_none_or(|it| it.chars().count() >= MIN_WORDS);
                is_named.then_some(Self { label: label.clone(), heading, figure })
            })
        })
    }

    /// Returns whether a sentence in lower case names this value.
    fn is_named_in(&self, lower: &str) -> bool {
        let is_column = |it: &String| has_word(lower, it, NO_ENDING);
        lower.contains(self.label.as_str()) && self.heading.as_ref().is_none_or(is_column)
    }
}

/// Reports a sentence that names the row of a value with two words or more, and its column if there
/// are several, and has another value of the same unit.
fn check_repeated_values(lint: &mut Linter<'_>, page: &LintPage) {
    let values: Vec<NamedValue> =
        page.tables.iter().flat_map(NamedValue::of_table).take(MOST).collect();
    for text in page.prose.iter().filter(|_| !values.is_empty()).take(MOST * MOST) {
        let lower = text.text.to_lowercase();
        steps::count(lower.len());
        let mut named = values.iter().filter(|it| it.is_named_in(&lower));
        let (Some(NamedValue { figure: expected, .. }), None) = (named.next(), named.next())
        else {
            continue;
        };
        let [figure] = text.figures.as_slice() else { continue };
        if is_other_value(lint, figure, expected) && !is_bound_or_change(&text.text, figure) {
            let message = format!(
                "`{}`, and the table has {} for it",
                &text.text[figure.number_span.0..figure.number_span.1],
                expected.value
            );
            lint.add(Check::RepeatedValue, page_span(text, figure.number_span), message);
        }
    }
}

/// Returns whether a sentence has a bound or a difference instead of a value: "below 5 ms", "by 5 %".
fn is_bound_or_change(text: &str, figure: &PrintedFigure) -> bool {
    const BY: [&str; 5] = [" by", " um", " o", " на", "+"];
    let before = text[..figure.number_span.0].trim_end_matches([' ', '\u{a0}', '~', '*']);
    find_bound(text, figure).is_some() || BY.iter().any(|word| before.ends_with(word))
}

/// Returns whether two figures have one unit and values that are not roundings of each other, but
/// near enough to be of one quantity.
fn is_other_value(lint: &Linter<'_>, figure: &PrintedFigure, expected: &PrintedFigure) -> bool {
    const NEAR: f64 = 2.0;
    let (Some(a), Some(b)) = (&figure.unit, &expected.unit) else { return false };
    let ratios = lint.number_format.possible_values(figure).map(|it| it / expected.value);
    let rounding = figure.relative_rounding().max(expected.relative_rounding());
    a.is_same(b)
        && a.unit != Unit::Byte
        && ratios.iter().all(|it| {
            (1.0 / NEAR..NEAR).contains(it) && (it - 1.0).abs() > rounding + SENTENCE_TOLERANCE
        })
}

/// Relative difference that a sentence may round away.
const SENTENCE_TOLERANCE: f64 = 0.02;

/// Words before and between two figures that a percentage compares.
const CHANGES: [(&str, &str); 16] = [
    ("from", "to"),
    ("von", "auf"),
    ("de", "à"),
    ("de", "a"),
    ("с", "до"),
    ("从", "到"),
    ("从", "提高到"),
    ("从", "提升到"),
    ("从", "提升至"),
    ("从", "增加到"),
    ("从", "增至"),
    ("从", "降低到"),
    ("从", "下降到"),
    ("从", "降到"),
    ("从", "降至"),
    ("z", "na"),
];

/// Chinese words for a change, one of which precedes its percentage.
const CHINESE_CHANGES: [&str; 13] = [
    "提升", "提高", "增加", "增长", "降低", "下降", "减少", "快", "慢", "涨", "跌", "升", "降",
];

/// Whether a percentage after a Chinese change is its own: `提升 35%`, not `达到峰值的 70%`.
fn is_chinese_result(before: &str, behind: &str) -> bool {
    let before = before.trim_end_matches([' ', '了', '约']);
    let behind = behind.trim_start().trim_start_matches('%');
    CHINESE_CHANGES.iter().any(|word| before.ends_with(word)) && !behind.starts_with('的')
}

/// Words behind both figures of a change, where languages have them there.
const CHANGES_BEHIND: [(&str, [&str; 3]); 2] =
    [("から", ["へ", "に", "まで"]), ("에서", ["로", "으로", "까지"])];

/// Returns whether words around two figures say that one became the other.
fn is_change(before: &str, between: &str, behind: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() && !is_unspaced_script(c);
    let is_preposition = |(from, to): &(&str, &str)| {
        between == *to && before.strip_suffix(from).is_some_and(|it| !it.ends_with(is_letter))
    };
    let is_postposition = |(from, to): &(&str, [&str; 3])| {
        between == *from && to.iter().any(|word| behind.starts_with(word))
    };
    CHANGES.iter().any(is_preposition) || CHANGES_BEHIND.iter().any(is_postposition)
}

/// Returns whether a percentage follows so closely that it is that of the change, and not of
/// something else: "at 80 % of CPU".
fn is_result(before: &str, behind: &str) -> bool {
    const NEAR: usize = 32;
    /// Last words before a percentage that is a condition.
    const CONDITIONS: [&str; 17] = [
        "at", "in", "for", "with", "under", "on", "bei", "mit", "unter", "dans", "pour",
        "avec", "en", "con", "para", "при", "для",
    ];
    /// First words behind one.
    const SUBJECTS: [&str; 7] =
        ["of ", "cpu", "load", "util", "percentile", "confidence", "cases"];
    /// Words before one that is of something else: "CPU usage 80 %", 使用率.
    const OTHERS: [&str; 5] = ["cpu", "usage", "util", "load", "率"];
    let behind = behind.trim_start().trim_start_matches('%').trim_start().to_lowercase();
    let last_word = before.split_whitespace().next_back().unwrap_or_default();
    before.chars().count() <= NEAR
        && !before.contains([';', '。'])
        && !before.contains(". ")
        && !CONDITIONS.contains(&last_word)
        && !OTHERS.iter().any(|word| before.to_lowercase().contains(word))
        && !SUBJECTS.iter().any(|word| behind.starts_with(word))
}

/// Reports `from 100 MB/s to 150 MB/s, 52 % more`.
fn check_percentage(lint: &mut Linter<'_>, text: &PageText) {
    let [first, second, percent] = text.figures.as_slice() else { return };
    let is_percent =
        |it: &PrintedFigure| it.unit.as_ref().is_some_and(|unit| unit.unit == Unit::Ratio);
    let Some(b) = second.base_value() else { return };
    // In `from 104 to 156 MB/s`, both have the unit.
    let factor = second.unit.as_ref().map_or(1.0, |unit| unit.factor);
    let a = first.base_value().unwrap_or((first.value * factor, b.1));
    let end = first.unit.as_ref().map_or(first.number_span.1, |unit| unit.span.1);
    let between = text.text.get(end..second.number_span.0).unwrap_or_default().trim();
    let before = text.text[..first.number_span.0].trim_end();
    let second_end = second.unit.as_ref().map_or(second.number_span.1, |unit| unit.span.1);
    let behind = text.text[second_end..].trim_start();
    let is_ambiguous = |it: &PrintedFigure| {
        let [value, other] = lint.number_format.possible_values(it);
        value.to_bits() != other.to_bits()
    };
    let of_percent = &text.text[percent.number_span.1..];
    let to_percent = text.text.get(second_end..percent.number_span.0).unwrap_or_default();
    if !is_change(before, between, behind)
        || !is_result(to_percent, of_percent)
        || (before.ends_with('从') && !is_chinese_result(to_percent, of_percent))
        || !is_percent(percent)
        || is_percent(first)
        || a.1 != b.1
        || a.0 <= 0.0
        || b.0 <= 0.0
        || [first, second, percent].into_iter().any(is_ambiguous)
    {
        return;
    }
    let (low, high) = (a.0.min(b.0), a.0.max(b.0));
    let half_digit = 0.006 * 10f64.powi(-i32::try_from(percent.decimals).unwrap_or(0));
    let rounding = first.relative_rounding() + second.relative_rounding();
    let is_right = [high / low - 1.0, 1.0 - low / high, high / low, low / high]
        .iter()
        .any(|it| (it - percent.value * 0.01).abs() <= half_digit + rounding * (high / low));
    if !is_right && !percent.is_approximate {
        let message = format!(
            "`{}` % does not follow from the figures before it: {:.1} %",
            percent.value,
            100.0 * (b.0 - a.0).abs() / a.0
        );
        lint.add(Check::PercentageOfSentence, page_span(text, percent.number_span), message);
    }
}
