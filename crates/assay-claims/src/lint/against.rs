//! Cell by cell against the page it was made from: figures, units, qualifiers, names.

use super::names::{PROTECTED, cyrillic};
use super::{Lint, Rule, at};
use crate::figure::{Figure, figures, of_heading};
use crate::page::{Page, Table, Text};

pub(super) fn check(lint: &mut Lint<'_>, page: &Page, source: &Page) {
    if page.tables.len() != source.tables.len() {
        let message =
            format!("{} tables, and the source has {}", page.tables.len(), source.tables.len());
        lint.add(Rule::Table, (0, 0), message);
    }
    for (table, of_source) in page.tables.iter().zip(&source.tables) {
        tables(lint, table, of_source);
    }
}

fn tables(lint: &mut Lint<'_>, table: &Table, source: &Table) {
    let here = table.rows.first().and_then(|row| row.first()).map_or(0, |cell| cell.start);
    if table.rows.len() != source.rows.len() {
        let message =
            format!("{} rows, and the source has {}", table.rows.len(), source.rows.len());
        lint.add(Rule::Table, (here, here), message);
        return;
    }
    for (row, of_source) in table.rows.iter().zip(&source.rows) {
        for (cell, of_source) in row.iter().zip(of_source) {
            names(lint, cell, of_source);
            cells(lint, cell, of_source);
        }
    }
}

fn names(lint: &mut Lint<'_>, cell: &Text, source: &Text) {
    let (small, of_source) = (cell.text.to_lowercase(), source.text.to_lowercase());
    for name in PROTECTED {
        let wanted = name.to_lowercase();
        let is_gone = has_word(&of_source, &wanted) && !has_word(&small, &wanted);
        // What is said in other letters is found by itself.
        let other = cyrillic(name);
        let is_other = other.chars().count() >= 3 && small.contains(&other);
        if is_gone && !is_other {
            let start = cell.text.len() - cell.text.trim_start().len();
            let message =
                format!("{name} stands in the source and not here: names are not translated");
            lint.add(
                Rule::Name,
                at(cell, (start, cell.text.trim_end().len().max(start))),
                message,
            );
            break;
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
        is_edge(text[..at].chars().next_back())
            && is_edge(text[at + word.len()..].chars().next())
    })
}

fn cells(lint: &mut Lint<'_>, cell: &Text, source: &Text) {
    let (here, there) = (figures(&cell.text), figures(&source.text));
    if let (Some(a), Some(b)) = (of_heading(&cell.text), of_heading(&source.text))
        && here.is_empty()
        && (a.unit, a.factor.to_bits()) != (b.unit, b.factor.to_bits())
    {
        let message = format!("`{}`, and the source has `{}`", a.text, b.text);
        lint.add(Rule::WrongUnit, at(cell, a.at), message);
    }
    if here.len() != there.len() {
        // Names bring figures of their own; only figures with units must be as many.
        let count = |all: &[Figure]| all.iter().filter(|it| it.unit.is_some()).count();
        if count(&here) < count(&there) {
            let start = cell.text.len() - cell.text.trim_start().len();
            let message = format!("{} figures, and the source has {}", here.len(), there.len());
            lint.add(
                Rule::Digits,
                at(cell, (start, cell.text.trim_end().len().max(start))),
                message,
            );
        }
        return;
    }
    for (a, b) in here.iter().zip(&there) {
        figure(lint, (cell, a), (source, b));
    }
}

fn figure(lint: &mut Lint<'_>, (cell, a): (&Text, &Figure), (source, b): (&Text, &Figure)) {
    let shown = |text: &Text, it: &Figure| text.text[it.number.0..it.number.1].to_owned();
    let here = at(cell, a.number);
    let (ours, theirs) = (meant(a), meant(b));
    if !same(ours, theirs) {
        let message =
            format!("`{}`, and the source has `{}`", shown(cell, a), shown(source, b));
        lint.add(Rule::Digits, here, message);
    } else if a.decimals < b.decimals && (a.value - b.value).abs() <= 1e-9 * b.value.abs() {
        let message =
            format!("`{}`, and the source has `{}`", shown(cell, a), shown(source, b));
        lint.add(Rule::Precision, here, message);
    }
    if let (Some(ours), Some(theirs)) = (&a.unit, &b.unit)
        && (ours.unit != theirs.unit || (ours.factor / theirs.factor - 1.0).abs() > 1e-9)
    {
        let message = format!("`{}`, and the source has `{}`", ours.text, theirs.text);
        lint.add(Rule::WrongUnit, at(cell, ours.at), message);
    }
    if b.is_about && !a.is_about {
        let message = format!("the source says about {}", shown(source, b));
        lint.add(Rule::Qualifier, here, message);
    }
}

/// The values that a number can mean: three digits behind a comma or a point may be a group.
fn meant(figure: &Figure) -> [f64; 2] {
    let grouped = if figure.decimals == 3 { figure.value * 1000.0 } else { figure.value };
    [figure.value, grouped]
}

fn same(a: [f64; 2], b: [f64; 2]) -> bool {
    a.iter().any(|a| b.iter().any(|b| (a - b).abs() <= 1e-9 * b.abs()))
}
