//! Number formats: decimal marks, digit groups, trailing zeros, and marks for "about".

use std::collections::BTreeSet;

use super::{Linter, Rule, figure_columns, page_span};
use crate::figure::{PrintedFigure, find_figures, is_unspaced_script};
use crate::page::{LintPage, PageTable, PageText};
use crate::steps;

pub(super) fn check(lint: &mut Linter<'_>, page: &LintPage) {
    for table in &page.tables {
        check_grouping(lint, table);
        check_trailing_zeros(lint, table);
        for cell in table.rows.iter().flatten() {
            let is_bare = super::bare_figure(cell).is_some();
            for figure in find_figures(&cell.text) {
                // Cells with words may contain versions; a bare figure, or one with a unit, is a
                // number.
                if figure.unit.is_some() || is_bare {
                    check_decimal_mark(lint, cell, &figure);
                }
                check_line_break(lint, cell, &figure);
            }
        }
    }
    for text in &page.prose {
        for figure in find_figures(&text.text).iter().filter(|it| it.unit.is_some()) {
            check_decimal_mark(lint, text, figure);
        }
    }
    for text in page.texts() {
        check_qualifiers(lint, text);
        check_genitive(lint, text);
    }
    check_hyphens(lint, page);
}

/// Reports the decimal mark of another language. Three digits after it may be a group and are
/// skipped.
fn check_decimal_mark(lint: &mut Linter<'_>, text: &PageText, figure: &PrintedFigure) {
    let (Some(found), Some(right)) = (figure.mark, lint.number_format.decimal) else { return };
    let is_other = matches!((found, right), ('.', ',') | (',', '.'));
    if is_other && figure.decimals != 3 {
        let shown = &text.text[figure.number_span.0..figure.number_span.1];
        let (head, tail) = shown.rsplit_once(found).unwrap_or((shown, ""));
        let right = format!("{head}{right}{tail}");
        let message = format!("`{shown}` has the decimal mark of another language: {right}");
        lint.add_fix(
            Rule::DecimalMark,
            page_span(text, figure.number_span),
            message,
            Some(right),
        );
    }
}

/// Reports columns in which some numbers are grouped and others of the same length are not.
fn check_grouping(lint: &mut Linter<'_>, table: &PageTable) {
    let long = |figure: &PrintedFigure| figure.value >= 1000.0;
    for column in figure_columns(table) {
        let grouped = column.cells.iter().find(|(_, it)| it.group.is_some());
        let ungrouped = column.cells.iter().find(|(_, it)| long(it) && it.group.is_none());
        if let (Some((cell, one)), Some((other, figure))) = (grouped, ungrouped) {
            let shown = |cell: &PageText, it: &PrintedFigure| {
                cell.text[it.number_span.0..it.number_span.1].to_owned()
            };
            let message = format!(
                "`{}` and `{}` in one column: group all or none",
                shown(other, figure),
                shown(cell, one)
            );
            lint.add(Rule::Grouping, page_span(other, figure.number_span), message);
        }
    }
}

/// Reports a group separator at which a line may break.
fn check_line_break(lint: &mut Linter<'_>, cell: &PageText, figure: &PrintedFigure) {
    let is_unit = figure.unit.is_some();
    if figure.group == Some(' ') && is_unit {
        let shown = &cell.text[figure.number_span.0..figure.number_span.1];
        let right = shown.replace(' ', "\u{a0}");
        let message = format!("`{shown}` may break over two lines: use a no-break space");
        lint.add_fix(Rule::Grouping, page_span(cell, figure.number_span), message, Some(right));
    }
}

/// Reports a whole number among fractions, which has lost its trailing zeros.
fn check_trailing_zeros(lint: &mut Linter<'_>, table: &PageTable) {
    for column in figure_columns(table) {
        // Three digits after the other mark are a group.
        let is_group = |it: &PrintedFigure| {
            lint.number_format.decimal.is_some() && it.mark != lint.number_format.decimal
        };
        let has_fraction = |it: &PrintedFigure| it.decimals >= 2 && !is_group(it);
        let fractions = column.cells.iter().filter(|(_, it)| has_fraction(it)).count();
        let whole = column.cells.iter().find(|(_, it)| it.decimals == 0 && it.value > 0.0);
        if let (true, Some((cell, figure))) = (2 * fractions > column.cells.len(), whole) {
            let shown = &cell.text[figure.number_span.0..figure.number_span.1];
            let message = format!(
                "`{shown}` among figures with decimals: trailing zeros show the precision"
            );
            lint.add(Rule::Precision, page_span(cell, figure.number_span), message);
        }
    }
}

/// Reports words between a number and its unit that turn "about" into a count, and marks that look
/// like a range.
fn check_qualifiers(lint: &mut Linter<'_>, text: &PageText) {
    let all = find_figures(&text.text);
    // Korean counter between number and unit: 900 개의 MB/s.
    if let Some(found) = text.text.find("개의 ") {
        let rest = text.text[found + "개의 ".len()..].trim_start();
        if ["MB", "GB", "Gb", "KB"].iter().any(|unit| rest.starts_with(unit)) {
            let start = text.text[..found].rfind("최대").unwrap_or(found);
            let message = "a counter between number and unit: \"about\" has become \"at most\"";
            lint.add(
                Rule::Qualifier,
                page_span(text, (start, found + "개의".len())),
                message.to_owned(),
            );
        }
    }
    let tildes: Vec<usize> = text.text.match_indices('~').map(|(at, _)| at).collect();
    for pair in tildes.windows(2) {
        let next = all.partition_point(|it| it.number_span.0 < pair[0]);
        let figure = all.get(next).filter(|it| it.number_span.0 < pair[1]);
        let end = |it: &PrintedFigure| {
            it.unit.as_ref().map_or(0, |unit| unit.span.1).max(it.number_span.1)
        };
        let between = figure.and_then(|it| text.text.get(end(it)..pair[1]));
        if between.is_some_and(|between| !is_list(between)) {
            let message =
                "two figures with ~ and nothing between them: the second mark reads as a range";
            lint.add(
                Rule::Qualifier,
                page_span(text, (pair[1], pair[1] + 1)),
                message.to_owned(),
            );
        }
    }
    for figure in &all {
        let before = &text.text[..figure.number_span.0];
        if let Some(head) = before.strip_suffix("~ ").or_else(|| before.strip_suffix("~\u{a0}"))
        {
            let here = page_span(text, (head.len(), figure.number_span.0));
            let message = "a blank between ~ and its number, where a line may break".to_owned();
            lint.add_fix(Rule::Qualifier, here, message, Some("~".to_owned()));
        }
    }
}

/// Returns whether the text between two figures separates them: a comma, or several words.
fn is_list(between: &str) -> bool {
    steps::count(between.len());
    if between.contains([',', ';', '/', '·', '、', '，', '；']) {
        return true;
    }
    // A name in brackets belongs to the figure before.
    let outside = between.split('(').enumerate().map(|(number, part)| {
        let inner = if number == 0 { None } else { part.split_once(')') };
        inner.map_or(part, |(_, behind)| behind)
    });
    let letters = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count();
    let words = |word: &str| match word.chars().next() {
        // Two letters count as a word in scripts without blanks.
        Some(first) if is_unspaced_script(first) => letters(word) / 2,
        _ => usize::from(letters(word) > 1),
    };
    outside.flat_map(str::split_whitespace).map(words).sum::<usize>() >= 2
}

/// Checks the genitive singular after a fraction in Russian.
fn check_genitive(lint: &mut Linter<'_>, text: &PageText) {
    for figure in find_figures(&text.text).iter().filter(|it| it.decimals > 0) {
        let Some(unit) = figure.unit.as_ref().filter(|it| it.text == "микросекунд")
        else {
            continue;
        };
        let right = "микросекунды".to_owned();
        let message = format!("`{}` after a fraction must be {right}", unit.text);
        lint.add_fix(Rule::UnitSpelling, page_span(text, unit.span), message, Some(right));
    }
}

/// Reports `8-KiB` and `8 KiB` on one page.
fn check_hyphens(lint: &mut Linter<'_>, page: &LintPage) {
    let mut all: Vec<(&PageText, PrintedFigure, bool)> = Vec::new();
    for text in &page.prose {
        for figure in find_figures(&text.text) {
            let Some(unit) = &figure.unit else { continue };
            // The Turkish percent sign precedes its number.
            let Some(between) = text.text.get(figure.number_span.1..unit.span.0) else {
                continue;
            };
            if between == "-" || between.trim().is_empty() {
                let is_hyphen = between == "-";
                all.push((text, figure, is_hyphen));
            }
        }
    }
    let meant = |figure: &PrintedFigure| {
        figure.base_value().map(|(value, unit)| (value.to_bits(), unit.symbol()))
    };
    let with_blanks: BTreeSet<_> = all
        .iter()
        .filter(|(_, _, hyphen)| !hyphen)
        .map(|(_, figure, _)| meant(figure))
        .collect();
    let odd =
        all.iter().find(|(_, figure, hyphen)| *hyphen && with_blanks.contains(&meant(figure)));
    if let Some((text, figure, _)) = odd {
        let end = figure.unit.as_ref().map_or(figure.number_span.1, |unit| unit.span.1);
        let shown = &text.text[figure.number_span.0..end];
        let message =
            format!("`{shown}` is also written with a blank on this page: use one form");
        lint.add(Rule::UnitSpelling, page_span(text, (figure.number_span.0, end)), message);
    }
}
