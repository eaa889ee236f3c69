//! Relations between columns of a table, and between the cells of one column: percentages of two
//! columns, decimal and binary units of one quantity, a prefix that one cell lacks.
//!
//! A relation counts if most rows have it; rows without it are reported.

use assay_model::quantity::Unit;

use super::checks::Check;
use super::words::{MAX_ENDING, has_any_word};
use super::{FigureColumn, Linter, bare_figure, figure_with_unit, full_rows, page_span};
use crate::figure::{PrintedFigure, PrintedUnit, text_before};
use crate::page::{PageTable, PageText};

/// Maximum number of columns of figures that are combined.
const MAX_COLUMNS: usize = 8;
/// Minimum number of rows that have a relation.
const MIN_ROWS: usize = 3;

pub(super) fn check(lint: &mut Linter<'_>, table: &PageTable, columns: &[FigureColumn<'_>]) {
    let columns = &columns[..columns.len().min(MAX_COLUMNS)];
    check_binary_columns(lint, columns);
    let cells = table.rows.first().map_or(0, Vec::len).min(MAX_COLUMNS);
    for number in 0..cells {
        check_lost_prefix(lint, table, number);
        check_other_prefix(lint, table, number);
        check_percentages(lint, table, number, columns);
    }
}

/// Returns whether enough rows have a relation, and few enough lack it.
const fn is_usual(matching: usize, rows: usize) -> bool {
    matching >= MIN_ROWS && 4 * matching >= 3 * rows
}

/// Words of headings for a relation of two columns: whole words, since `duration` contains "ratio".
const RELATION_WORDS: [&str; 26] = [
    "change",
    "improve",
    "improvement",
    "diff",
    "difference",
    "delta",
    "gain",
    "increase",
    "decrease",
    "reduction",
    "overhead",
    "speedup",
    "slowdown",
    "ratio",
    "efficiency",
    "изменение",
    "разница",
    "прирост",
    "écart",
    "cambio",
    "změna",
    "提升",
    "变化",
    "下降",
    "変化",
    "변화",
];

/// Last words of German compounds: `Leistungsänderung`, `Laufzeitunterschied`.
const RELATION_ENDS: [&str; 3] = ["änderung", "abweichung", "unterschied"];

/// Formulas of a percentage from two columns.
const FORMULAS: [fn(f64, f64) -> f64; 6] = [
    |a, b| (b - a) / a,
    |a, b| (a - b) / a,
    |a, b| (b - a) / b,
    |a, b| (a - b) / b,
    |a, b| a / b,
    |a, b| b / a,
];

/// Maximum relative rounding of two figures together.
const MAX_ROUNDING: f64 = 0.02;
/// Maximum rounding of a ratio by the digits that are printed.
const MAX_COARSENESS: f64 = 0.04;

/// Probability that an unrelated percentage agrees with a formula, from the tolerances above.
const CHANCE: f64 = 0.05;
/// Maximum expected number of unrelated columns that agree as often.
const MAX_EXPECTED: f64 = 0.01;

/// Returns whether more rows agree with one of these formulas than by coincidence:
/// expected number = formulas × C(rows, matching) × chance ^ matching.
fn is_relation(formulas: usize, matching: usize, rows: usize) -> bool {
    let different = rows.saturating_sub(matching);
    // Products of a thousand rows would exceed the range of a number.
    let choices: f64 =
        (0..different).map(|at| ((rows - at) as f64 / (different - at) as f64).ln()).sum();
    let expected = (formulas as f64).ln() + choices + matching as f64 * CHANCE.ln();
    is_usual(matching, rows) && expected <= MAX_EXPECTED.ln()
}

/// Percentage in a cell, with its sign.
struct Percentage<'p> {
    cell: &'p PageText,
    figure: &'p PrintedFigure,
    value: f64,
}

impl<'p> Percentage<'p> {
    fn of_cell(cell: &'p PageText) -> Option<Self> {
        let [figure] = cell.figures.as_slice() else { return None };
        let unit = figure.unit.as_ref().filter(|it| it.unit == Unit::Ratio)?;
        let before = text_before(&cell.text, figure.number_span.0, 8).trim();
        let sign = match before.trim_start_matches(['*', '_']) {
            "" | "+" => 1.0,
            "-" | "−" | "–" => -1.0,
            _ => return None,
        };
        let is_alone = cell.text[unit.span.1..].trim_matches(super::EMPHASIS).is_empty();
        let value = sign * figure.value * 0.01;
        // Nothing follows from 0 %, which may stand for "none".
        (is_alone && figure.decimals < 3 && value != 0.0).then_some(Self {
            cell,
            figure,
            value,
        })
    }

    /// Returns whether this is a ratio of two figures, all rounded; `None` for figures so coarse that
    /// they would agree with any percentage.
    fn is_ratio(
        &self,
        formula: fn(f64, f64) -> f64,
        a: &PrintedFigure,
        b: &PrintedFigure,
    ) -> Option<bool> {
        let expected = formula(a.value, b.value);
        let half_digit = 0.006 * 10f64.powi(-i32::try_from(self.figure.decimals).unwrap_or(0));
        let ratio = (a.value / b.value).max(b.value / a.value);
        let relative = (a.relative_rounding() + b.relative_rounding()).min(MAX_ROUNDING);
        // Some pages cut off the digits that others round.
        let difference = expected.abs() - self.value.abs();
        let tolerance = half_digit + relative * ratio;
        let is_near = (-tolerance..=tolerance + half_digit).contains(&difference);
        let printed = |it: &PrintedFigure| {
            0.5 * 10f64.powi(-i32::try_from(it.decimals).unwrap_or(0)) / it.value
        };
        ((printed(a) + printed(b)) * ratio <= MAX_COARSENESS).then_some(is_near)
    }
}

/// Reports a percentage that does not follow from two columns, where the others do.
fn check_percentages(
    lint: &mut Linter<'_>,
    table: &PageTable,
    number: usize,
    columns: &[FigureColumn<'_>],
) {
    let heading = table.rows.first().and_then(|it| it.get(number));
    let heading = heading.map(|it| it.text.to_lowercase()).unwrap_or_default();
    let is_named = has_any_word(&heading, &RELATION_WORDS, MAX_ENDING)
        || RELATION_ENDS.iter().any(|word| heading.contains(word));
    if !is_named {
        return;
    }
    let cells = || full_rows(table).map(|row| row.get(number).and_then(Percentage::of_cell));
    let Some(percentages) = cells().collect::<Option<Vec<_>>>() else { return };
    let is_varied =
        percentages.windows(2).any(|it| it[0].value.to_bits() != it[1].value.to_bits());
    if percentages.len() <= MIN_ROWS || !is_varied {
        return;
    }
    let pairs = || {
        columns
            .iter()
            .enumerate()
            .flat_map(|(at, a)| columns[at + 1..].iter().map(move |b| (a, b)))
    };
    // Rows that have a relation, and those that lack it; some figures are too coarse to tell.
    let mut best: (usize, Vec<usize>) = (0, Vec::new());
    for (a, b) in pairs() {
        for formula in FORMULAS {
            let is_ratio =
                |row: usize| percentages[row].is_ratio(formula, a.cells[row].1, b.cells[row].1);
            let rows = || (0..percentages.len()).map(|row| (row, is_ratio(row)));
            let matching = rows().filter(|(_, it)| *it == Some(true)).count();
            if matching > best.0 {
                let others = rows().filter(|(_, it)| *it == Some(false));
                best = (matching, others.map(|(row, _)| row).collect());
            }
        }
    }
    let (matching, different) = best;
    if !is_relation(pairs().count() * FORMULAS.len(), matching, percentages.len()) {
        return;
    }
    for row in different {
        let Percentage { cell, figure, .. } = &percentages[row];
        let message = format!(
            "`{}` does not follow from the figures of its row, as the other percentages do",
            cell.text.trim()
        );
        lint.add(Check::PercentageOfColumns, page_span(cell, figure.number_span), message);
    }
}

/// Reports rows in which a decimal and a binary unit of one quantity disagree.
fn check_binary_columns(lint: &mut Linter<'_>, columns: &[FigureColumn<'_>]) {
    for (at, first) in columns.iter().enumerate() {
        for second in &columns[at + 1..] {
            let (Some(a), Some(b)) = (&first.unit, &second.unit) else { continue };
            if is_binary_pair(a, b) && heading_words(first, a) == heading_words(second, b) {
                compare_binary_columns(lint, (first, a), (second, b));
            }
        }
    }
}

/// Returns whether the units are of one kind, with a decimal and a binary prefix of one power.
fn is_binary_pair(a: &PrintedUnit, b: &PrintedUnit) -> bool {
    let ratio = (a.factor / b.factor).max(b.factor / a.factor);
    a.unit == b.unit && ratio > 1.0 + 1e-9 && ratio < 1.13
}

/// Returns the words of a heading without its unit.
fn heading_words(column: &FigureColumn<'_>, unit: &PrintedUnit) -> String {
    let text = &column.heading.text;
    let is_of_heading = std::ptr::eq(column.heading, column.unit_cell);
    let words = match is_of_heading {
        true => format!("{} {}", &text[..unit.span.0], &text[unit.span.1..]),
        false => text.clone(),
    };
    let words = words.to_lowercase();
    words.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty()).collect()
}

fn compare_binary_columns(
    lint: &mut Linter<'_>,
    (first, a): (&FigureColumn<'_>, &PrintedUnit),
    (second, b): (&FigureColumn<'_>, &PrintedUnit),
) {
    let ratio = |row: usize| {
        let (x, y) = (first.cells[row].1, second.cells[row].1);
        (y.value * b.factor) / (x.value * a.factor)
    };
    let tolerance = |row: usize| {
        first.cells[row].1.relative_rounding() + second.cells[row].1.relative_rounding() + 2e-4
    };
    let rows = first.cells.len();
    let is_other = |row: &usize| (ratio(*row) - 1.0).abs() > tolerance(*row);
    let different: Vec<usize> = (0..rows).filter(is_other).collect();
    if is_usual(rows - different.len(), rows) {
        for row in different {
            let (cell, figure) = &second.cells[row];
            let expected = figure.value / ratio(row);
            let message = format!(
                "`{}` {} would be {expected:.2} {}",
                first.cells[row].0.text.trim(),
                a.text,
                b.text
            );
            lint.add(Check::BinaryColumns, page_span(cell, figure.number_span), message);
        }
        return;
    }
    let usual = ratio(0);
    let is_even =
        |row: usize| (ratio(row) / usual - 1.0).abs() <= tolerance(row) + tolerance(0);
    // A factor of 1.024 or 1.0486 in every row is a confusion of prefixes, others are another
    // quantity.
    let is_confusion = (0.9..1.1).contains(&usual) && different.len() == rows;
    if is_confusion && rows >= MIN_ROWS && (0..rows).all(is_even) {
        let factor = a.factor.max(b.factor) / a.factor.min(b.factor);
        let message = format!(
            "`{}` and `{}` differ by a factor of {factor:.4}, and these columns do not",
            a.text, b.text
        );
        lint.add(Check::PrefixOfColumns, page_span(second.unit_cell, b.span), message);
    }
}

/// Number of a cell with a prefix: `102k`, `1.2 M`.
struct PrefixedNumber {
    span: (usize, usize),
    value: f64,
    prefix: String,
}

impl PrefixedNumber {
    /// Parses a cell that contains nothing else, except a unit.
    fn of_cell(cell: &PageText) -> Option<Self> {
        if let Some(figure) = bare_figure(cell) {
            // `99,000` may be grouped.
            return (figure.decimals != 3).then(|| Self {
                span: figure.number_span,
                value: figure.value,
                prefix: String::new(),
            });
        }
        let start = cell.text.find(|c: char| c.is_ascii_digit())?;
        let rest = &cell.text[start..];
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let value = rest[..length].parse().ok()?;
        let prefix = rest[length..].trim_matches(super::EMPHASIS);
        let is_alone = cell.text[..start].trim_matches(super::EMPHASIS).is_empty();
        let is_prefix =
            matches!(prefix, "k" | "K" | "M" | "k IOPS" | "K IOPS" | "kIOPS" | "KIOPS");
        let is_bare = matches!(prefix, "IOPS");
        let prefix = if is_bare { String::new() } else { prefix.to_lowercase() };
        (is_alone && (is_prefix || is_bare)).then_some(Self {
            span: (start, start + length),
            value,
            prefix,
        })
    }
}

/// Reports a number without the prefix that all others of its column have, if it is in their range:
/// `115` next to `102k`.
fn check_lost_prefix(lint: &mut Linter<'_>, table: &PageTable, number: usize) {
    const RANGE: f64 = 2.0;
    let cells = || full_rows(table).filter_map(|row| row.get(number));
    let numbers: Option<Vec<_>> = cells().map(PrefixedNumber::of_cell).collect();
    let Some(numbers) = numbers.filter(|it| it.len() > MIN_ROWS) else { return };
    let mut bare = numbers.iter().zip(cells()).filter(|(it, _)| it.prefix.is_empty());
    let (Some((number, cell)), None) = (bare.next(), bare.next()) else { return };
    let others = || numbers.iter().filter(|it| !it.prefix.is_empty());
    let prefix = others().next().map(|it| &it.prefix);
    let (low, high) = others()
        .fold((f64::MAX, 0_f64), |(low, high), it| (low.min(it.value), high.max(it.value)));
    let is_even = others().all(|it| Some(&it.prefix) == prefix) && high <= low * 10.0;
    if is_even && (low / RANGE..=high * RANGE).contains(&number.value) && number.value > 1.0 {
        let message = format!(
            "`{}` is a thousandth or less of the others in its column: the prefix is missing",
            cell.text.trim()
        );
        lint.add(Check::LostPrefix, page_span(cell, number.span), message);
    }
}

/// Reports a figure whose prefix alone differs from the others of its column, if its number is in
/// their range: `1.3 µs` among `1.2 ms` and `1.4 ms`.
fn check_other_prefix(lint: &mut Linter<'_>, table: &PageTable, number: usize) {
    /// Maximum ratio of the other figures.
    const SPREAD: f64 = 2.0;
    let cells = || full_rows(table).filter_map(|row| row.get(number));
    let figures: Option<Vec<&PrintedFigure>> = cells().map(figure_with_unit).collect();
    let Some(figures) = figures.filter(|it| it.len() > MIN_ROWS) else { return };
    let Some(units) =
        figures.iter().map(|it| it.unit.as_ref()).collect::<Option<Vec<&PrintedUnit>>>()
    else {
        return;
    };
    // Either of the first two figures has the usual prefix.
    let is_usual = |unit: &PrintedUnit| units.iter().filter(|it| it.is_same(unit)).count() > 2;
    let Some(usual) = units.iter().take(2).find(|it| is_usual(it)) else { return };
    let mut others = (0..units.len()).filter(|at| !units[*at].is_same(usual));
    let (Some(at), None) = (others.next(), others.next()) else { return };
    let rest =
        || figures.iter().enumerate().filter(|(it, _)| *it != at).map(|(_, it)| it.value);
    let (low, high) =
        rest().fold((f64::MAX, 0_f64), |(low, high), it| (low.min(it), high.max(it)));
    let is_rate_or_time = !matches!(usual.unit, Unit::Byte | Unit::Ratio | Unit::Hertz);
    let is_in_range = (low / SPREAD..=high * SPREAD).contains(&figures[at].value);
    let is_scaled = units[at].unit == usual.unit && is_rate_or_time && is_in_range;
    if let (true, Some(cell)) = (is_scaled && high <= low * SPREAD, cells().nth(at)) {
        let message = format!(
            "`{}` among figures in `{}`: its prefix is that of no other figure of the column",
            cell.text.trim(),
            usual.text
        );
        lint.add(Check::OtherPrefix, page_span(cell, units[at].span), message);
    }
}

#[cfg(test)]
mod tests {
    use super::is_relation;

    #[test]
    fn coincidence_is_rare_in_short_and_long_tables() {
        for (matching, rows, expected) in [
            (3, 4, false),
            (5, 6, true),
            (1500, 2000, true),
            (1499, 2000, false),
            (0, 0, false),
        ] {
            assert_eq!(is_relation(36, matching, rows), expected, "{matching} of {rows}");
        }
    }
}
