//! Comparison of a page with its source, figure by figure: digits, units, qualifiers, directions,
//! names.
//!
//! Cells are compared with the cells at the same position, paragraphs in order. Within a cell or
//! paragraph figures may have another order, because word order differs between languages.

use assay_model::quantity::Unit;

use super::names::{PROTECTED, to_cyrillic};
use super::units::OPERATIONS;
use super::{Linter, Rule, direction, page_span};
use crate::figure::{
    BLANKS, PageNumberFormat, PrintedFigure, PrintedUnit, contains_unit, find_figures,
    heading_unit,
};
use crate::page::{LintPage, PageTable, PageText};
use crate::steps;

pub(super) fn check(lint: &mut Linter<'_>, page: &LintPage, source: &LintPage) {
    if page.tables.len() != source.tables.len() {
        let message =
            format!("{} tables, but the source has {}", page.tables.len(), source.tables.len());
        lint.add(Rule::Table, (0, 0), message);
    }
    let marks = super::page_number_format(source);
    for (table, of_source) in page.tables.iter().zip(&source.tables) {
        compare_tables(lint, table, (of_source, marks));
    }
    for (text, of_source) in pair_paragraphs(page, source).unwrap_or_default() {
        direction::compare_directions(lint, text, of_source);
        compare_texts(lint, text, (of_source, marks));
    }
}

/// Pairs the paragraphs: all of them, or those with figures, if their numbers are equal.
fn pair_paragraphs<'p>(
    page: &'p LintPage,
    source: &'p LintPage,
) -> Option<Vec<(&'p PageText, &'p PageText)>> {
    if page.prose.len() == source.prose.len() {
        return Some(page.prose.iter().zip(&source.prose).collect());
    }
    let (ours, theirs) = (with_figures(page), with_figures(source));
    (ours.len() == theirs.len()).then(|| ours.into_iter().zip(theirs).collect())
}

fn with_figures(page: &LintPage) -> Vec<&PageText> {
    let has_unit =
        |text: &&PageText| find_figures(&text.text).iter().any(|it| it.unit.is_some());
    page.prose.iter().filter(has_unit).collect()
}

/// Returns the reason why parts of a page cannot be compared, if any.
pub(super) fn comparison_gap(page: &LintPage, source: &LintPage) -> Option<String> {
    if pair_paragraphs(page, source).is_some() {
        return None;
    }
    let (ours, theirs) = (with_figures(page).len(), with_figures(source).len());
    Some(format!(
        "its sentences are not compared: paragraphs with figures are {ours} here and {theirs} in the source"
    ))
}

fn compare_tables(
    lint: &mut Linter<'_>,
    table: &PageTable,
    (source, marks): (&PageTable, PageNumberFormat),
) {
    let here = table.rows.first().and_then(|row| row.first()).map_or(0, |cell| cell.start);
    if table.rows.len() != source.rows.len() {
        let message =
            format!("{} rows, but the source has {}", table.rows.len(), source.rows.len());
        lint.add(Rule::Table, (here, here), message);
        return;
    }
    for (number, (row, of_source)) in table.rows.iter().zip(&source.rows).enumerate() {
        for (cell, of_source) in row.iter().zip(of_source) {
            compare_names(lint, cell, of_source);
            direction::compare_directions(lint, cell, of_source);
            if number == 0 {
                compare_headings(lint, cell, of_source);
            }
            compare_texts(lint, cell, (of_source, marks));
        }
    }
}

fn compare_names(lint: &mut Linter<'_>, cell: &PageText, source: &PageText) {
    let (small, of_source) = (cell.text.to_lowercase(), source.text.to_lowercase());
    for name in PROTECTED {
        let wanted = name.to_lowercase();
        let is_gone =
            has_word(&of_source, &wanted, NO_ENDING) && !has_word(&small, &wanted, MAX_ENDING);
        // Transliterated names are reported by another rule.
        let other = to_cyrillic(name);
        let is_other = other.chars().count() >= 3 && small.contains(&other);
        if is_gone && !is_other {
            let message =
                format!("{name} is in the source but not here: names are not translated");
            lint.add(Rule::Name, trimmed_span(cell), message);
            break;
        }
    }
}

/// Returns the page span of a text without surrounding blanks.
fn trimmed_span(text: &PageText) -> (usize, usize) {
    let start = text.text.len() - text.text.trim_start().len();
    page_span(text, (start, text.text.trim_end().len().max(start)))
}

/// Maximum length of a case ending of a name: Czech `STREAMu`, Hungarian `SSDkon`, Polish
/// `STREAMem`.
const MAX_ENDING: usize = 3;
const NO_ENDING: usize = 0;

fn has_word(text: &str, word: &str, longest_ending: usize) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
        let behind = &text[at + word.len()..];
        let letters = behind.chars().take(longest_ending + 1).take_while(|c| c.is_alphabetic());
        let ending = letters.count();
        steps::count(ending + 1);
        let rest = behind.chars().nth(if ending <= longest_ending { ending } else { 0 });
        is_edge(text[..at].chars().next_back()) && is_edge(rest)
    })
}

/// Compares the unit of a column.
fn compare_headings(lint: &mut Linter<'_>, cell: &PageText, source: &PageText) {
    match (heading_unit(&cell.text), heading_unit(&source.text)) {
        (Some(a), Some(b)) if !a.is_same(&b) => {
            let message = format!("`{}`, but the source has `{}`", a.text, b.text);
            lint.add(Rule::WrongUnit, page_span(cell, a.span), message);
        }
        (None, Some(b)) if !contains_unit(&cell.text, &b) => {
            let message = format!("the unit is missing: the source has `{}`", b.text);
            lint.add(Rule::WrongUnit, trimmed_span(cell), message);
        }
        (Some(a), None) if !contains_unit(&source.text, &a) => {
            let message = format!("`{}`, but the source has no unit", a.text);
            lint.add(Rule::WrongUnit, page_span(cell, a.span), message);
        }
        _ => {}
    }
}

/// Text with its figures and the number format of its page.
struct ComparedText<'p> {
    text: &'p PageText,
    marks: PageNumberFormat,
    figures: Vec<PrintedFigure>,
}

impl ComparedText<'_> {
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
        let number =
            self.figures.partition_point(|it| it.number_span.0 <= figure.number_span.0);
        let next = self.figures.get(number);
        let end = next.map_or(self.text.text.len(), |it| it.number_span.0);
        steps::count(end.saturating_sub(figure.number_span.1));
        (&self.text.text[figure.number_span.1..end.max(figure.number_span.1)], next)
    }

    /// Returns whether this page prints `MB/writes` where the other one has corrected it to `MB/s`.
    fn lacks_time(&self, size: &PrintedUnit, rate: &PrintedUnit) -> bool {
        let behind = self.text.text[size.span.1..].strip_prefix('/');
        (size.unit, rate.unit) == (Unit::Byte, Unit::BytePerSecond)
            && size.factor.to_bits() == rate.factor.to_bits()
            && behind.is_some_and(direction::begins_with_direction)
    }

    /// Returns whether a figure without a unit implies this one.
    fn implies_unit(&self, figure: &PrintedFigure, unit: &PrintedUnit) -> bool {
        const SHORT: usize = 6;
        let (behind, next) = self.text_after(figure);
        // `32-33 GB/s`, `von 32 bis 33 GB/s`.
        let is_of_range = behind.trim().chars().count() <= SHORT
            && next.and_then(|it| it.unit.as_ref()).is_some_and(|it| it.is_same(unit));
        let small = behind.to_lowercase();
        let is_operation = unit.unit == Unit::IoPerSecond
            && OPERATIONS.iter().any(|word| small.contains(word));
        // `5 s` is five seconds or "five with", depending on the language.
        let is_letter = unit.factor.to_bits() == 1f64.to_bits()
            && behind.trim_start_matches(BLANKS).starts_with(['s', 'с', 'o', 'о']);
        is_of_range || is_operation || is_letter || contains_unit(behind, unit)
    }
}

fn compare_texts(
    lint: &mut Linter<'_>,
    text: &PageText,
    (source, marks): (&PageText, PageNumberFormat),
) {
    let page =
        ComparedText { text, marks: lint.number_format, figures: find_figures(&text.text) };
    let source = ComparedText { text: source, marks, figures: find_figures(&source.text) };
    let (mut here, mut there): (Vec<&PrintedFigure>, Vec<&PrintedFigure>) =
        (page.figures.iter().collect(), source.figures.iter().collect());
    if here.len() != there.len() {
        // Numbers without a unit may be words in the other language.
        let has_partner = |side: &ComparedText<'_>, it: &PrintedFigure| {
            side.figures
                .iter()
                .take(MAX_MATCHED)
                .any(|other| has_same_digits(&page, it, &source, other))
        };
        here.retain(|it| it.unit.is_some());
        there.retain(|it| it.unit.is_some());
        // A figure that lost its unit is matched by its digits.
        let lost: Vec<&PrintedFigure> = page
            .figures
            .iter()
            .filter(|it| it.unit.is_none() && has_partner(&source, it))
            .collect();
        let wanted = there.len().saturating_sub(here.len());
        here.extend(lost.into_iter().take(wanted));
        here.sort_by_key(|it| it.number_span.0);
    }
    for (a, b) in match_figures(&page, &mut here, &source, &mut there) {
        compare_figures(lint, (&page, a), (&source, b));
    }
    let (ours, theirs) = (here.len(), there.len());
    for (a, b) in here.iter().zip(&there) {
        compare_figures(lint, (&page, a), (&source, b));
    }
    for a in here.iter().skip(theirs) {
        let message = format!("`{}` is not in the source", page.figure_text(a));
        lint.add(Rule::Digits, page_span(text, a.number_span), message);
    }
    if let Some(b) = there.get(ours) {
        let message = format!("`{}` of the source is missing", source.figure_text(b));
        lint.add(Rule::Digits, trimmed_span(text), message);
    }
}

/// Maximum number of figures of one text that are matched in any order; more are compared in order
/// only.
const MAX_MATCHED: usize = 64;

/// Removes and returns pairs of equal figures, and then pairs with the same digits.
fn match_figures<'f>(
    page: &ComparedText<'_>,
    here: &mut Vec<&'f PrintedFigure>,
    source: &ComparedText<'_>,
    there: &mut Vec<&'f PrintedFigure>,
) -> Vec<(&'f PrintedFigure, &'f PrintedFigure)> {
    if here.len().max(there.len()) > MAX_MATCHED {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for is_alike in [is_same_value, has_same_digits] {
        here.retain(|a| {
            let found = there.iter().position(|b| is_alike(page, a, source, b));
            pairs.extend(found.map(|number| (*a, there.remove(number))));
            found.is_none()
        });
    }
    pairs
}

/// Returns whether both have the same digits, whatever their units.
fn has_same_digits(
    page: &ComparedText<'_>,
    a: &PrintedFigure,
    source: &ComparedText<'_>,
    b: &PrintedFigure,
) -> bool {
    let (ours, theirs) = (page.marks.possible_values(a), source.marks.possible_values(b));
    ours.iter().any(|a| theirs.iter().any(|b| (a - b).abs() <= 1e-9 * b.abs()))
}

/// Returns whether both have the same value: the same digits, or other ones with another prefix.
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
                page.marks.possible_values(a).iter().any(|a| {
                    let base = a * ours.factor;
                    let others = source.marks.possible_values(b).map(|b| b * theirs.factor);
                    others.iter().any(|b| (base / b - 1.0).abs() <= rounding)
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
    let here = page_span(page.text, a.number_span);
    let shown =
        || format!("`{}`, and the source has `{}`", page.number_text(a), source.number_text(b));
    let is_equal = is_same_value(page, a, source, b);
    if !is_equal && !has_same_digits(page, a, source, b) {
        let [meant, _] = page.marks.possible_values(a);
        let is_other = meant.to_bits() != a.value.to_bits();
        let read = if is_other { format!(" (here it means {meant})") } else { String::new() };
        lint.add(Rule::Digits, here, shown() + &read);
    } else if a.decimals < b.decimals && (a.value - b.value).abs() <= 1e-9 * b.value.abs() {
        // `300` for `300,000` in an unknown language is more likely a value a thousand times
        // smaller.
        let is_fraction =
            source.marks.possible_values(b).iter().all(|it| it.to_bits() == b.value.to_bits());
        let rule = if is_fraction { Rule::Precision } else { Rule::Digits };
        lint.add(rule, here, shown());
    }
    match (&a.unit, &b.unit) {
        (Some(ours), Some(theirs))
            if !is_equal && !ours.is_same(theirs) && !source.lacks_time(theirs, ours) =>
        {
            let message = format!("`{}`, but the source has `{}`", ours.text, theirs.text);
            lint.add(Rule::WrongUnit, page_span(page.text, ours.span), message);
        }
        (None, Some(theirs)) if !page.implies_unit(a, theirs) => {
            let message =
                format!("the source has `{}`, and here is no unit", source.figure_text(b));
            lint.add(Rule::WrongUnit, here, message);
        }
        (Some(ours), None) if !source.implies_unit(b, ours) => {
            let message = format!("`{}`, but the source has no unit", ours.text);
            lint.add(Rule::WrongUnit, page_span(page.text, ours.span), message);
        }
        _ => {}
    }
    if b.is_approximate && !a.is_approximate {
        let message = format!(
            "`{}`, but the source has about {}",
            page.number_text(a),
            source.number_text(b)
        );
        lint.add(Rule::Qualifier, here, message);
    }
}
