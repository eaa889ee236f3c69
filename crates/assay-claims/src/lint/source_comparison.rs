//! Comparison of a page with its source, figure by figure: digits, units, qualifiers, directions,
//! names.
//!
//! Cells are compared with the cells at the same position, paragraphs in order. Within a cell or
//! paragraph the order of figures may differ, because word order differs between languages.

use assay_model::quantity::Unit;

use super::conversions::BINARY_SIZES;
use super::names::{find_protected_names, to_cyrillic};
use super::units::OPERATION_WORDS;
use super::words::{MAX_ENDING, has_word};
use super::{Linter, Rule, bounds, direction, page_span, trimmed_span};
use crate::figure::{
    BLANKS, PageNumberFormat, PrintedFigure, PrintedUnit, contains_unit, heading_unit,
    names_about, text_before,
};
use crate::page::{LintPage, PageTable, PageText};
use crate::steps;

mod pairing;

use pairing::{comparison_gap, pair_prose, pair_tables};

/// Reports the differences; returns the reason why parts cannot be compared, if any.
pub(super) fn check(
    lint: &mut Linter<'_>,
    page: &LintPage,
    source: &LintPage,
) -> Option<String> {
    if page.tables.len() != source.tables.len() {
        let message =
            format!("{} tables, but the source has {}", page.tables.len(), source.tables.len());
        lint.add_difference(Rule::Table, (0, 0), message);
    }
    let source_format = super::page_number_format(source);
    let formats = (lint.number_format, source_format);
    if page.tables.len() == source.tables.len() {
        for (table, source_table) in page.tables.iter().zip(&source.tables) {
            compare_row_counts(lint, table, source_table);
        }
    }
    for (table, source_table) in pair_tables(page, source, formats) {
        compare_tables(lint, table, (source_table, source_format));
    }
    let titles = page.titles.iter().zip(&source.titles);
    let pairs = pair_prose((page, lint.number_format), (source, source_format));
    for (text, source_text) in titles.chain(pairs) {
        if is_unchanged(text, source_text, lint.number_format == source_format) {
            continue;
        }
        direction::compare_directions(lint, text, (source_text, source_format));
        bounds::compare(lint, text, (source_text, source_format));
        compare_replaced_names(lint, text, source_text);
        let page = ComparedText::new(text, lint.number_format);
        compare_texts(lint, &page, &ComparedText::new(source_text, source_format));
    }
    comparison_gap(page, source)
}

fn compare_tables(
    lint: &mut Linter<'_>,
    table: &PageTable,
    (source_table, source_format): (&PageTable, PageNumberFormat),
) {
    for (row_index, (row, source_row)) in table.rows.iter().zip(&source_table.rows).enumerate()
    {
        let labels = [row_labels(row), row_labels(source_row)];
        for (column, (cell, source_cell)) in row.iter().zip(source_row).enumerate() {
            if is_unchanged(cell, source_cell, lint.number_format == source_format) {
                continue;
            }
            compare_names(lint, cell, source_cell);
            direction::compare_directions(lint, cell, (source_cell, source_format));
            bounds::compare(lint, cell, (source_cell, source_format));
            if row_index == 0 {
                compare_headings(lint, cell, source_cell);
            }
            let (mut page, mut source) = (
                ComparedText::new(cell, lint.number_format),
                ComparedText::new(source_cell, source_format),
            );
            page.labels = labels_with_heading(&labels[0], table, column);
            source.labels = labels_with_heading(&labels[1], source_table, column);
            compare_texts(lint, &page, &source);
        }
    }
}

/// Returns whether a cell or a paragraph has the text of the source with the same meaning.
fn is_unchanged(cell: &PageText, source: &PageText, has_same_format: bool) -> bool {
    let is_plain = |it: &PrintedFigure| it.mark.is_none() && it.group.is_none();
    cell.text == source.text && (has_same_format || cell.figures.iter().all(is_plain))
}

fn compare_row_counts(lint: &mut Linter<'_>, table: &PageTable, source: &PageTable) {
    let start = table.rows.first().and_then(|row| row.first()).map_or(0, |cell| cell.start);
    if table.rows.len() != source.rows.len() {
        let message =
            format!("{} rows, but the source has {}", table.rows.len(), source.rows.len());
        lint.add_difference(Rule::Table, (start, start), message);
    }
}

/// Returns the cells of a row without figures, which may name the unit of the others.
fn row_labels(row: &[PageText]) -> String {
    let labels = row.iter().filter(|it| it.figures.is_empty());
    labels.take(MAX_LABELS).flat_map(|it| [it.text.as_str(), " "]).collect()
}

/// Returns the labels of a row with the heading of a column, or nothing if they are too long to be
/// searched for each cell.
fn labels_with_heading(labels: &str, table: &PageTable, column: usize) -> String {
    let heading = table.rows[0].get(column).map_or("", |it| it.text.as_str());
    let length = labels.len() + heading.len();
    if length > LONGEST_CELL {
        return String::new();
    }
    steps::count(length);
    [labels, heading].concat()
}

/// Maximum number of labels of one row.
const MAX_LABELS: usize = 8;

fn compare_names(lint: &mut Linter<'_>, cell: &PageText, source: &PageText) {
    // Most cells are bare numbers or equal.
    if cell.text == source.text || !source.text.contains(|c: char| c.is_ascii_alphabetic()) {
        return;
    }
    let (lower, source_lower) = (cell.text.to_lowercase(), source.text.to_lowercase());
    for (name, name_lower) in find_protected_names(&source.text, &source_lower) {
        let is_missing = !has_word(&lower, name_lower, MAX_ENDING);
        // Transliterated names are reported by another rule.
        let transliterated = to_cyrillic(name);
        let is_transliterated =
            transliterated.chars().count() >= 3 && lower.contains(&transliterated);
        if is_missing && !is_transliterated {
            let message =
                format!("{name} is in the source but not here: names are not translated");
            lint.add_difference(Rule::Name, trimmed_span(cell), message);
            break;
        }
    }
}

/// Reports a name in a sentence that replaces another name of the source.
fn compare_replaced_names(lint: &mut Linter<'_>, text: &PageText, source: &PageText) {
    let (lower, source_lower) = (text.text.to_lowercase(), source.text.to_lowercase());
    let first_only = |text: &str, here: &str, there: &str| {
        let mut names = find_protected_names(text, here);
        names.find(|(_, lower)| !there.contains(lower)).map(|(name, _)| name)
    };
    let added = first_only(&text.text, &lower, &source_lower);
    let lost = first_only(&source.text, &source_lower, &lower);
    if let (Some(added), Some(lost)) = (added, lost) {
        let message = format!("{added}, and the source has {lost}");
        lint.add_likely_difference(Rule::Name, trimmed_span(text), message);
    }
}

/// Compares the units in the headings of a column.
fn compare_headings(lint: &mut Linter<'_>, cell: &PageText, source: &PageText) {
    match (heading_unit(&cell.text), heading_unit(&source.text)) {
        (Some(a), Some(b)) if !a.is_same(&b) => {
            let message = format!("`{}`, but the source has `{}`", a.text, b.text);
            lint.add_difference(Rule::WrongUnit, page_span(cell, a.span), message);
        }
        (None, Some(b)) if !contains_unit(&cell.text, &b) => {
            let message = format!("the unit is missing: the source has `{}`", b.text);
            lint.add_difference(Rule::WrongUnit, trimmed_span(cell), message);
        }
        (Some(a), None) if !contains_unit(&source.text, &a) => {
            let message = format!("`{}`, but the source has no unit", a.text);
            lint.add_difference(Rule::WrongUnit, page_span(cell, a.span), message);
        }
        _ => {}
    }
}

/// Words for "about" that may be apart from their figure.
const NEAR_WORDS: [&str; 15] = [
    "大概",
    "大约",
    "左右",
    "约",
    "約",
    "程度",
    "前後",
    "정도",
    "대략",
    "приблизительно",
    "wenige",
    "quelque",
    "aproximad",
    "approximati",
    "rondar",
];

/// Stems of words for percentages.
const PERCENT_WORDS: [&str; 6] =
    ["percent", "prozent", "pourcent", "porcent", "procent", "процент"];

/// Text with its figures and the number format of its page.
struct ComparedText<'p> {
    text: &'p PageText,
    number_format: PageNumberFormat,
    figures: &'p [PrintedFigure],
    /// Heading of a cell and the cells of its row without figures.
    labels: String,
}

impl<'p> ComparedText<'p> {
    const fn new(text: &'p PageText, number_format: PageNumberFormat) -> Self {
        Self { text, number_format, figures: text.figures.as_slice(), labels: String::new() }
    }

    fn number_text(&self, figure: &PrintedFigure) -> &str {
        &self.text.text[figure.number_span.0..figure.number_span.1]
    }

    /// Returns the number with its unit.
    fn figure_text(&self, figure: &PrintedFigure) -> &str {
        let end = figure.unit.as_ref().map_or(0, |unit| unit.span.1).max(figure.number_span.1);
        &self.text.text[figure.number_span.0..end]
    }

    /// Returns the text between a figure and the next one.
    fn text_after(&self, figure: &PrintedFigure) -> (&str, Option<&PrintedFigure>) {
        let index = self.figures.partition_point(|it| it.number_span.0 <= figure.number_span.0);
        let next = self.figures.get(index);
        let end = next.map_or(self.text.text.len(), |it| it.number_span.0);
        steps::count(end.saturating_sub(figure.number_span.1));
        (&self.text.text[figure.number_span.1..end.max(figure.number_span.1)], next)
    }

    /// Returns whether this page prints `MB/writes` where the other one has corrected it to `MB/s`.
    fn lacks_time(&self, size: &PrintedUnit, rate: &PrintedUnit) -> bool {
        let after = self.text.text[size.span.1..].strip_prefix('/');
        (size.unit, rate.unit) == (Unit::Byte, Unit::BytePerSecond)
            && size.factor.to_bits() == rate.factor.to_bits()
            && after.is_some_and(direction::begins_with_direction)
    }

    /// Returns whether the text after a figure without a unit implies this unit.
    fn implies_unit(&self, figure: &PrintedFigure, unit: &PrintedUnit) -> bool {
        const SHORT: usize = 6;
        let (after, next) = self.text_after(figure);
        // `32-33 GB/s`, `von 32 bis 33 GB/s`.
        let is_range_start = after.trim().chars().count() <= SHORT
            && next.and_then(|it| it.unit.as_ref()).is_some_and(|it| it.is_same(unit));
        let lower = after.to_lowercase();
        let is_operation = unit.unit == Unit::IoPerSecond
            && OPERATION_WORDS.iter().any(|word| lower.contains(word));
        // `5 s` is five seconds or "five with", depending on the language.
        let may_be_word = unit.factor.to_bits() == 1f64.to_bits()
            && after.trim_start_matches(BLANKS).starts_with(['s', 'с', 'o', 'о']);
        // `8 G` of memory is `8 GB`, and a heading or a bracket may contain the unit.
        let prefix = unit.text.chars().next().filter(|c| "kKMGTP".contains(*c));
        let mut rest = after.trim_start_matches(BLANKS).chars();
        let is_prefix = prefix.is_some()
            && rest.next() == prefix
            && !rest.next().is_some_and(char::is_alphanumeric);
        let text = &self.text.text;
        let is_near = text.len() <= LONGEST_CELL
            && contains_unit(text, unit)
            && self
                .figures
                .iter()
                .filter_map(|it| it.unit.as_ref())
                .all(|it| !it.is_same(unit));
        let is_percentage = unit.unit == Unit::Ratio
            && PERCENT_WORDS.iter().any(|word| self.phrase_before(figure).contains(word));
        is_range_start
            || is_percentage
            || is_operation
            || may_be_word
            || is_prefix
            || is_near
            || contains_unit(after, unit)
            || contains_unit(&self.labels, unit)
    }

    /// Returns the text before a figure, as far as it may describe it.
    fn phrase_before(&self, figure: &PrintedFigure) -> String {
        const NEAR: usize = 48;
        text_before(&self.text.text, figure.number_span.0, NEAR).to_lowercase()
    }

    /// Returns whether a word for "about" is near a figure: `大概为 70%`, `4.5 倍左右`.
    fn names_about(&self, figure: &PrintedFigure) -> bool {
        const NEAR: usize = 48;
        let (from, to) = figure.number_span;
        let before = text_before(&self.text.text, from, NEAR);
        let after: String = self.text.text[to..].chars().take(NEAR / 4).collect();
        steps::count(2 * NEAR);
        let phrase = before.rsplit([',', ';']).next().unwrap_or_default();
        NEAR_WORDS.iter().any(|word| before.contains(word) || after.contains(word))
            || names_about(phrase)
    }

    /// Returns whether this text has a number with the prefix of its unit alone: `8G` for 8 GB.
    fn has_bare_prefix(&self, number: &str, figure: &PrintedFigure) -> bool {
        let Some(unit) = figure.unit.as_ref().filter(|_| self.text.text.len() <= LONGEST_CELL)
        else {
            return false;
        };
        // A network card of 万兆 has 10 Gbit/s.
        if unit.unit == Unit::BitPerSecond && unit.factor.to_bits() == 1e9_f64.to_bits() {
            return number == "10" && self.text.text.contains("万兆");
        }
        let prefix = unit.text.chars().next().filter(|c| "KMGT".contains(*c));
        let Some(prefix) = prefix.filter(|_| unit.unit == Unit::Byte) else { return false };
        steps::count(self.text.text.len());
        let bare = format!("{number}{prefix}");
        let text = &self.text.text;
        text.match_indices(&bare).any(|(at, _)| {
            let is_part = |c: char| c.is_ascii_alphanumeric();
            !text[..at].ends_with(|c: char| c.is_ascii_digit() || c == '.')
                && !text[at + bare.len()..].starts_with(is_part)
        })
    }

    /// Returns whether the digits of a number occur in this text, in any form: `64M`.
    fn contains_digits(&self, number: &str) -> bool {
        let text = &self.text.text;
        if text.len() > LONGEST_CELL {
            return false;
        }
        steps::count(text.len());
        text.match_indices(number).any(|(at, _)| {
            let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || c == '.');
            !is_digit(text[..at].chars().next_back())
                && !text[at + number.len()..].starts_with(|c: char| c.is_ascii_digit())
        })
    }
}

fn compare_texts(lint: &mut Linter<'_>, page: &ComparedText<'_>, source: &ComparedText<'_>) {
    let text = page.text;
    let (mut page_figures, mut source_figures): (Vec<&PrintedFigure>, Vec<&PrintedFigure>) =
        (page.figures.iter().collect(), source.figures.iter().collect());
    source_figures.retain(|it| !page.has_bare_prefix(source.number_text(it), it));
    if page_figures.len() != source_figures.len() {
        // Numbers without a unit may be words in the other language.
        let has_partner = |side: &ComparedText<'_>, it: &PrintedFigure| {
            side.figures
                .iter()
                .take(MAX_MATCHED)
                .any(|other| other.unit.is_some() && has_same_digits(page, it, source, other))
        };
        page_figures.retain(|it| it.unit.is_some());
        source_figures.retain(|it| it.unit.is_some());
        // A figure that lost its unit is matched by its digits.
        let lost: Vec<&PrintedFigure> = page
            .figures
            .iter()
            .filter(|it| it.unit.is_none() && has_partner(source, it))
            .collect();
        let missing = source_figures.len().saturating_sub(page_figures.len());
        page_figures.extend(lost.into_iter().take(missing));
        page_figures.sort_by_key(|it| it.number_span.0);
    }
    for (a, b) in match_figures(page, &mut page_figures, source, &mut source_figures) {
        compare_figures(lint, (page, a), (source, b));
    }
    let (page_count, source_count) = (page_figures.len(), source_figures.len());
    for (a, b) in page_figures.iter().zip(&source_figures) {
        compare_figures(lint, (page, a), (source, b));
    }
    let in_source = |it: &&&PrintedFigure| source.contains_digits(page.number_text(it));
    for a in
        page_figures.iter().skip(source_count).filter(|it| !in_source(it)).take(MAX_REPORTED)
    {
        let message = format!("`{}` is not in the source", page.figure_text(a));
        lint.add_difference(Rule::Digits, page_span(text, a.number_span), message);
    }
    let missing = source_figures.iter().skip(page_count).find(|it| !may_be_words(it));
    if let Some(b) = missing.filter(|it| !page.contains_digits(source.number_text(it))) {
        let message = format!("`{}` of the source is missing", source.figure_text(b));
        lint.add_difference(Rule::Digits, trimmed_span(text), message);
    }
}

/// Returns whether another language may print a figure in words: `zwei Minuten und fünf Sekunden`.
fn may_be_words(figure: &PrintedFigure) -> bool {
    const LARGEST: f64 = 12.0;
    const SHORTEST_WORD: usize = 4;
    let is_word = |it: &PrintedUnit| {
        it.text.chars().count() >= SHORTEST_WORD && it.text.chars().all(char::is_alphabetic)
    };
    figure.decimals == 0 && figure.value <= LARGEST && figure.unit.as_ref().is_some_and(is_word)
}

/// Returns whether two numbers are printed with the same digits: `1526 万` and `15.26 million`.
fn have_same_digits(a: &str, b: &str) -> bool {
    let digits = |text: &str| -> String { text.chars().filter(char::is_ascii_digit).collect() };
    digits(a) == digits(b)
}

/// Maximum length of a text that is searched for each of its figures, in bytes.
const LONGEST_CELL: usize = 1024;
/// Maximum number of figures of one text that are reported as added.
const MAX_REPORTED: usize = 64;
/// Maximum number of figures of one text that are matched in any order; more are compared in order
/// only.
const MAX_MATCHED: usize = 64;

/// Removes and returns pairs of figures: first those with the same value, then those with the same
/// digits.
fn match_figures<'f>(
    page: &ComparedText<'_>,
    page_figures: &mut Vec<&'f PrintedFigure>,
    source: &ComparedText<'_>,
    source_figures: &mut Vec<&'f PrintedFigure>,
) -> Vec<(&'f PrintedFigure, &'f PrintedFigure)> {
    if page_figures.len().max(source_figures.len()) > MAX_MATCHED {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for is_match in [is_same_value, has_same_digits] {
        page_figures.retain(|a| {
            let partner = source_figures.iter().position(|b| is_match(page, a, source, b));
            pairs.extend(partner.map(|index| (*a, source_figures.remove(index))));
            partner.is_none()
        });
    }
    pairs
}

/// Returns whether both figures have the same digits, with any units.
fn has_same_digits(
    page: &ComparedText<'_>,
    a: &PrintedFigure,
    source: &ComparedText<'_>,
    b: &PrintedFigure,
) -> bool {
    let (ours, theirs) =
        (page.number_format.possible_values(a), source.number_format.possible_values(b));
    ours.iter().any(|a| theirs.iter().any(|b| (a - b).abs() <= 1e-9 * b.abs()))
}

/// Returns whether both figures have the same value: the same digits and unit, or other digits with
/// another prefix, as `1600 MHz` and `1.60 GHz`.
fn is_same_value(
    page: &ComparedText<'_>,
    a: &PrintedFigure,
    source: &ComparedText<'_>,
    b: &PrintedFigure,
) -> bool {
    let is_same_number = has_same_digits(page, a, source, b);
    match (&a.unit, &b.unit) {
        (None, None) => is_same_number,
        (Some(ours), Some(theirs)) if ours.unit == theirs.unit => {
            let rounding = a.relative_rounding().max(b.relative_rounding());
            let is_same_value = || {
                page.number_format.possible_values(a).iter().any(|a| {
                    let base = a * ours.factor;
                    let others =
                        source.number_format.possible_values(b).map(|b| b * theirs.factor);
                    let is_size = ours.unit == Unit::Byte;
                    others.iter().any(|b| {
                        let ratio = (base / b).max(b / base);
                        let mut factors = BINARY_SIZES.iter().filter(|_| is_size).chain(&[1.0]);
                        factors.any(|factor| (ratio / factor - 1.0).abs() <= rounding)
                    })
                })
            };
            match (is_same_number, ours.is_same(theirs)) {
                (is_same_number, true) => is_same_number,
                // The same digits with another prefix are another value, even if they are coarse.
                (true, false) => false,
                (false, false) => is_same_value(),
            }
        }
        _ => false,
    }
}

/// Reports the differences between two corresponding figures.
fn compare_figures(
    lint: &mut Linter<'_>,
    (page, a): (&ComparedText<'_>, &PrintedFigure),
    (source, b): (&ComparedText<'_>, &PrintedFigure),
) {
    let span = page_span(page.text, a.number_span);
    let digits_message =
        || format!("`{}`, and the source has `{}`", page.number_text(a), source.number_text(b));
    let is_equal = is_same_value(page, a, source, b);
    if !is_equal && !has_same_digits(page, a, source, b) {
        let [value, _] = page.number_format.possible_values(a);
        let differs = value.to_bits() != a.value.to_bits();
        let hint = if differs { format!(" (here it means {value})") } else { String::new() };
        lint.add_difference(Rule::Digits, span, digits_message() + &hint);
    } else if a.decimals < b.decimals
        && (a.value - b.value).abs() <= 1e-9 * b.value.abs()
        && !have_same_digits(page.number_text(a), source.number_text(b))
    {
        // `300` for `300,000` in an unknown language is more likely a value a thousand times
        // smaller.
        let is_fraction = source
            .number_format
            .possible_values(b)
            .iter()
            .all(|it| it.to_bits() == b.value.to_bits());
        let rule = if is_fraction { Rule::Precision } else { Rule::Digits };
        lint.add_difference(rule, span, digits_message());
    }
    match (&a.unit, &b.unit) {
        (Some(ours), Some(theirs))
            if !is_equal && !ours.is_same(theirs) && !source.lacks_time(theirs, ours) =>
        {
            let message = format!("`{}`, but the source has `{}`", ours.text, theirs.text);
            lint.add_difference(Rule::WrongUnit, page_span(page.text, ours.span), message);
        }
        (None, Some(theirs)) if !page.implies_unit(a, theirs) => {
            let message =
                format!("the source has `{}`, and here is no unit", source.figure_text(b));
            lint.add_difference(Rule::WrongUnit, span, message);
        }
        (Some(ours), None) if !source.implies_unit(b, ours) => {
            let message = format!("`{}`, but the source has no unit", ours.text);
            lint.add_difference(Rule::WrongUnit, page_span(page.text, ours.span), message);
        }
        _ => {}
    }
    if b.is_approximate && !a.is_approximate && !page.names_about(a) {
        let message = format!(
            "`{}`, but the source has about {}",
            page.number_text(a),
            source.number_text(b)
        );
        lint.add_difference(Rule::Qualifier, span, message);
    }
}
