//! What figures of one table must obey, whoever measured them.

use assay_model::quantity::Unit;

use super::{Column, Lint, Rule, at, columns, direction};
use crate::figure::Figure;
use crate::page::{Page, Table};

/// Parts of headings: what must not be less than what, and the law in words.
const ORDER: [(&[&str], &[&str], &str); 6] = [
    (&["t_min"], &["t_avg"], "min ≤ mean"),
    (&["t_min"], &["t_typical"], "min ≤ typical"),
    (&["t_avg"], &["t_max"], "mean ≤ max"),
    (&["t_typical"], &["t_max"], "typical ≤ max"),
    (&["p50", "median"], &["p99"], "median ≤ p99"),
    (&["min"], &["max"], "min ≤ max"),
];
pub(super) fn check(lint: &mut Lint<'_>, page: &Page) {
    for table in &page.tables {
        whole(lint, table);
        let columns = columns(table);
        order(lint, &columns);
        bits(lint, &columns);
        eightfold(lint, &columns);
        curve(lint, &columns);
        for cell in table.rows.iter().flatten() {
            direction::check(lint, cell);
        }
    }
}

/// A heading of more cells than the line below it: strict readers see no table at all.
fn whole(lint: &mut Lint<'_>, table: &Table) {
    let (Some((start, cells)), Some(heading)) = (table.rule, table.rows.first()) else {
        return;
    };
    if cells != heading.len() {
        let message = format!(
            "{cells} columns are ruled below a heading of {}: strict readers drop the table",
            heading.len()
        );
        lint.add(Rule::Table, (start, start + 1), message);
    }
}

fn order(lint: &mut Lint<'_>, columns: &[Column<'_>]) {
    let find = |words: &[&str]| {
        columns.iter().find(|column| {
            let heading = column.heading.text.to_lowercase();
            let heading = heading.trim();
            words.iter().any(|word| heading.split(['[', ' ', '(']).next() == Some(*word))
        })
    };
    for (less, more, law) in ORDER {
        let (Some(less), Some(more)) = (find(less), find(more)) else { continue };
        for ((_, low), (cell, high)) in less.cells.iter().zip(&more.cells) {
            // A decimal comma may have been taken for a group.
            if low.value > high.value {
                let message = format!("{law} is broken: {} > {}", low.value, high.value);
                lint.add(Rule::Impossible, at(cell, high.number), message);
            }
        }
    }
}

/// A column in MB/s and one in Gbit/s say the same.
fn bits(lint: &mut Lint<'_>, columns: &[Column<'_>]) {
    let of = |unit: Unit| {
        let is_one =
            |it: &&Column<'_>| it.unit.as_ref().is_some_and(|printed| printed.unit == unit);
        columns.iter().find(is_one)
    };
    let (Some(bytes), Some(bits)) = (of(Unit::BytePerSecond), of(Unit::BitPerSecond)) else {
        return;
    };
    let base = |column: &Column<'_>, figure: &Figure| {
        figure.value * column.unit.as_ref().map_or(1.0, |unit| unit.factor)
    };
    for ((_, in_bytes), (cell, in_bits)) in bytes.cells.iter().zip(&bits.cells) {
        let expected = base(bytes, in_bytes) * 8.0;
        let found = base(bits, in_bits);
        let unit = bits.unit.as_ref().map_or(1.0, |unit| unit.factor);
        let half_digit = 0.6 * unit * 10f64.powi(-(in_bits.decimals.min(12) as i32));
        let tolerance = half_digit + 1e-3 * expected;
        if (found - expected).abs() > tolerance {
            let message =
                format!("bytes × 8 would be {:.4} and not {}", expected / unit, in_bits.value);
            lint.add(Rule::Impossible, at(cell, in_bits.number), message);
        }
    }
}

/// Two columns of one kind of unit whose values differ by exactly 8: a letter of one heading is wrong.
fn eightfold(lint: &mut Lint<'_>, columns: &[Column<'_>]) {
    for pair in columns.windows(2) {
        let [a, b] = pair else { continue };
        let (Some(first), Some(second)) = (&a.unit, &b.unit) else { continue };
        let is_rate = matches!(first.unit, Unit::BytePerSecond | Unit::BitPerSecond);
        if !is_rate || first.unit != second.unit || first.factor >= second.factor {
            continue;
        }
        let rows = a.cells.iter().zip(&b.cells).filter(|((_, a), _)| a.value >= 1000.0);
        let ratios: Vec<f64> = rows
            .map(|((_, a), (_, b))| b.value * second.factor / (a.value * first.factor))
            .collect();
        if ratios.len() >= 3 && ratios.iter().all(|ratio| (ratio / 8.0 - 1.0).abs() < 0.01) {
            let message = format!(
                "the column in `{}` is 8 times the one in `{}`: one of them is in bits and the other in bytes",
                second.text, first.text
            );
            lint.add(Rule::WrongUnit, at(b.heading, second.at), message);
        }
    }
}

/// Bandwidth grows with the size of a message; where it falls again, something else was measured.
fn curve(lint: &mut Lint<'_>, columns: &[Column<'_>]) {
    /// Windows of large messages lose a percent or two to the protocol; this is more.
    const FALL: f64 = 0.95;
    let is_size = |column: &&Column<'_>| {
        let doubles = column.cells.windows(2).all(|pair| pair[1].1.value > pair[0].1.value);
        let heading = column.heading.text.to_lowercase();
        doubles && (heading.contains("size") || heading.contains("bytes"))
    };
    let Some(sizes) = columns.iter().find(is_size) else { return };
    let is_rate = |it: &&Column<'_>| {
        it.unit.as_ref().is_some_and(|unit| unit.unit == Unit::BytePerSecond)
    };
    for rates in columns.iter().filter(is_rate) {
        for (number, pair) in rates.cells.windows(2).enumerate() {
            let size = sizes.cells.get(number + 1).map_or(0.0, |(_, figure)| figure.value);
            let ([(_, before), (cell, after)], true) = (pair, size >= 65536.0) else {
                continue;
            };
            if after.value < FALL * before.value {
                let share = 100.0 * (1.0 - after.value / before.value);
                let message =
                    format!("{share:.1} % less than for half the size, which nothing explains");
                lint.add(Rule::Impossible, at(cell, after.number), message);
            }
        }
    }
}
