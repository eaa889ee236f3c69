//! Number formats: decimal marks, digit groups, trailing zeros, and marks for "about".

use std::collections::BTreeSet;

use super::{Lint, Rule, at, columns};
use crate::figure::{Figure, figures, is_without_blanks};
use crate::page::{Page, Table, Text};

pub(super) fn check(lint: &mut Lint<'_>, page: &Page) {
    for table in &page.tables {
        grouping(lint, table);
        zeros(lint, table);
        for (cell, figure) in
            table.rows.iter().flatten().flat_map(|cell| {
                figures(&cell.text).into_iter().map(move |figure| (cell, figure))
            })
        {
            // Cells with words may contain versions; a bare figure, or one with a unit, is a
            // number.
            if figure.unit.is_some() || super::only_figure(cell).is_some() {
                decimal_mark(lint, cell, &figure);
            }
            breaking(lint, cell, &figure);
        }
    }
    for text in &page.prose {
        for figure in figures(&text.text).iter().filter(|it| it.unit.is_some()) {
            decimal_mark(lint, text, figure);
        }
    }
    for text in page.texts() {
        qualifiers(lint, text);
        genitive(lint, text);
    }
    hyphens(lint, page);
}

/// Reports the decimal mark of another language. Three digits after it may be a group and are
/// skipped.
fn decimal_mark(lint: &mut Lint<'_>, text: &Text, figure: &Figure) {
    let (Some(found), Some(right)) = (figure.mark, lint.marks.decimal) else { return };
    let is_other = matches!((found, right), ('.', ',') | (',', '.'));
    if is_other && figure.decimals != 3 {
        let shown = &text.text[figure.number.0..figure.number.1];
        let (head, tail) = shown.rsplit_once(found).unwrap_or((shown, ""));
        let right = format!("{head}{right}{tail}");
        let message = format!("`{shown}` has the decimal mark of another language: {right}");
        lint.add_fix(Rule::DecimalMark, at(text, figure.number), message, Some(right));
    }
}

/// Reports columns in which some numbers are grouped and others of the same length are not.
fn grouping(lint: &mut Lint<'_>, table: &Table) {
    let long = |figure: &Figure| figure.value >= 1000.0;
    for column in columns(table) {
        let grouped = column.cells.iter().find(|(_, it)| it.group.is_some());
        let ungrouped = column.cells.iter().find(|(_, it)| long(it) && it.group.is_none());
        if let (Some((cell, one)), Some((other, figure))) = (grouped, ungrouped) {
            let shown =
                |cell: &Text, it: &Figure| cell.text[it.number.0..it.number.1].to_owned();
            let message = format!(
                "`{}` and `{}` in one column: group all or none",
                shown(other, figure),
                shown(cell, one)
            );
            lint.add(Rule::Grouping, at(other, figure.number), message);
        }
    }
}

/// Reports a group separator at which a line may break.
fn breaking(lint: &mut Lint<'_>, cell: &Text, figure: &Figure) {
    let is_unit = figure.unit.is_some();
    if figure.group == Some(' ') && is_unit {
        let shown = &cell.text[figure.number.0..figure.number.1];
        let right = shown.replace(' ', "\u{a0}");
        let message =
            format!("`{shown}` may break over two lines: its blank must be a no-break space");
        lint.add_fix(Rule::Grouping, at(cell, figure.number), message, Some(right));
    }
}

/// Reports a whole number among fractions, which has lost its trailing zeros.
fn zeros(lint: &mut Lint<'_>, table: &Table) {
    for column in columns(table) {
        // Three digits after the other mark are a group.
        let is_group =
            |it: &Figure| lint.marks.decimal.is_some() && it.mark != lint.marks.decimal;
        let has_fraction = |it: &Figure| it.decimals >= 2 && !is_group(it);
        let fractions = column.cells.iter().filter(|(_, it)| has_fraction(it)).count();
        let whole = column.cells.iter().find(|(_, it)| it.decimals == 0 && it.value > 0.0);
        if let (true, Some((cell, figure))) = (2 * fractions > column.cells.len(), whole) {
            let shown = &cell.text[figure.number.0..figure.number.1];
            let message = format!(
                "`{shown}` among figures with decimals: trailing zeros say how exact it is"
            );
            lint.add(Rule::Precision, at(cell, figure.number), message);
        }
    }
}

/// Reports words between a number and its unit that turn "about" into a count, and marks that look
/// like a range.
fn qualifiers(lint: &mut Lint<'_>, text: &Text) {
    let all = figures(&text.text);
    // Korean counter between number and unit: 900 개의 MB/s.
    if let Some(found) = text.text.find("개의 ") {
        let rest = text.text[found + "개의 ".len()..].trim_start();
        if ["MB", "GB", "Gb", "KB"].iter().any(|unit| rest.starts_with(unit)) {
            let start = text.text[..found].rfind("최대").unwrap_or(found);
            let message =
                "a counter between number and unit: \"about\" has become \"at most so many\"";
            lint.add(
                Rule::Qualifier,
                at(text, (start, found + "개의".len())),
                message.to_owned(),
            );
        }
    }
    let tildes: Vec<usize> = text.text.match_indices('~').map(|(at, _)| at).collect();
    for pair in tildes.windows(2) {
        let next = all.partition_point(|it| it.number.0 < pair[0]);
        let figure = all.get(next).filter(|it| it.number.0 < pair[1]);
        let end = |it: &Figure| it.unit.as_ref().map_or(0, |unit| unit.at.1).max(it.number.1);
        let between = figure.and_then(|it| text.text.get(end(it)..pair[1]));
        if between.is_some_and(|between| !is_list(between)) {
            let message =
                "two figures with ~ and nothing between them: the second mark reads as a range";
            lint.add(Rule::Qualifier, at(text, (pair[1], pair[1] + 1)), message.to_owned());
        }
    }
    for figure in &all {
        let before = &text.text[..figure.number.0];
        if let Some(head) = before.strip_suffix("~ ").or_else(|| before.strip_suffix("~\u{a0}"))
        {
            let here = at(text, (head.len(), figure.number.0));
            let message = "a blank between ~ and its number, where a line may break".to_owned();
            lint.add_fix(Rule::Qualifier, here, message, Some("~".to_owned()));
        }
    }
}

/// Returns whether the text between two figures separates them: a comma, or several words.
fn is_list(between: &str) -> bool {
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
        Some(first) if is_without_blanks(first) => letters(word) / 2,
        _ => usize::from(letters(word) > 1),
    };
    outside.flat_map(str::split_whitespace).map(words).sum::<usize>() >= 2
}

/// Checks the genitive singular after a fraction in Russian.
fn genitive(lint: &mut Lint<'_>, text: &Text) {
    for figure in figures(&text.text).iter().filter(|it| it.decimals > 0) {
        let Some(unit) = figure.unit.as_ref().filter(|it| it.text == "микросекунд")
        else {
            continue;
        };
        let right = "микросекунды".to_owned();
        let message = format!("`{}` behind a fraction is {right}", unit.text);
        lint.add_fix(Rule::UnitSpelling, at(text, unit.at), message, Some(right));
    }
}

/// Reports `8-KiB` and `8 KiB` on one page.
fn hyphens(lint: &mut Lint<'_>, page: &Page) {
    let mut all: Vec<(&Text, Figure, bool)> = Vec::new();
    for text in &page.prose {
        for figure in figures(&text.text) {
            let Some(unit) = &figure.unit else { continue };
            // The Turkish percent sign precedes its number.
            let Some(between) = text.text.get(figure.number.1..unit.at.0) else { continue };
            if between == "-" || between.trim().is_empty() {
                let is_hyphen = between == "-";
                all.push((text, figure, is_hyphen));
            }
        }
    }
    let meant =
        |figure: &Figure| figure.base().map(|(value, unit)| (value.to_bits(), unit.symbol()));
    let with_blanks: BTreeSet<_> = all
        .iter()
        .filter(|(_, _, hyphen)| !hyphen)
        .map(|(_, figure, _)| meant(figure))
        .collect();
    let odd =
        all.iter().find(|(_, figure, hyphen)| *hyphen && with_blanks.contains(&meant(figure)));
    if let Some((text, figure, _)) = odd {
        let end = figure.unit.as_ref().map_or(figure.number.1, |unit| unit.at.1);
        let shown = &text.text[figure.number.0..end];
        let message =
            format!("`{shown}` also stands here with a blank: write one of them everywhere");
        lint.add(Rule::UnitSpelling, at(text, (figure.number.0, end)), message);
    }
}
