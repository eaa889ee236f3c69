//! Laws that the figures of a table must satisfy, whatever their source.

use assay_model::quantity::Unit;

use super::checks::Check;
use super::{
    FigureColumn, Linter, columns, direction, figure_columns, page_span, statistic_order,
};
use crate::figure::PrintedFigure;
use crate::page::{LintPage, PageTable, PageText};

pub(super) fn check(lint: &mut Linter<'_>, page: &LintPage) {
    for text in &page.prose {
        statistic_order::check_sentence(lint, text);
    }
    for table in &page.tables {
        check_header_rule(lint, table);
        let figures = figure_columns(table);
        statistic_order::check(lint, table);
        check_bits_and_bytes(lint, &figures);
        check_eightfold(lint, &figures);
        check_bandwidth_curve(lint, table, &figures);
        columns::check(lint, table, &figures);
        for cell in table.rows.iter().flatten() {
            direction::check(lint, cell);
        }
    }
}

/// Reports a heading whose number of cells differs from the line below: strict readers see no table
/// at all.
fn check_header_rule(lint: &mut Linter<'_>, table: &PageTable) {
    let (Some((start, cells)), Some(heading)) = (table.rule, table.rows.first()) else {
        return;
    };
    if cells != heading.len() {
        let message = format!(
            "the separator row has {cells} columns, the heading {}: strict readers drop the table",
            heading.len()
        );
        // One line of dashes may be a border in a program's output.
        let check = if cells > 1 { Check::HeaderRule } else { Check::RuleOfOneColumn };
        lint.add(check, (start, start + 1), message);
    }
}

/// Relative tolerance of a conversion from bytes to bits, both rounded.
const BITS_TOLERANCE: f64 = 1e-3;

/// Checks that columns in bytes and in bits per second agree. Unless they agree in most rows, they
/// are of two quantities.
fn check_bits_and_bytes(lint: &mut Linter<'_>, columns: &[FigureColumn<'_>]) {
    /// Maximum number of columns of each unit, which limits the work.
    const MOST: usize = 16;
    let with_unit = |unit: Unit| {
        let is_one = move |it: &&FigureColumn<'_>| {
            it.unit.as_ref().is_some_and(|printed| printed.unit == unit)
        };
        columns.iter().filter(is_one).take(MOST)
    };
    for bytes in with_unit(Unit::BytePerSecond) {
        for bits in with_unit(Unit::BitPerSecond) {
            let (Some(byte_unit), Some(bit_unit)) = (&bytes.unit, &bits.unit) else { continue };
            let pairs = || bytes.cells.iter().zip(&bits.cells);
            let expected = |(_, in_bytes): &(&PageText, &PrintedFigure)| {
                lint.number_format
                    .possible_values(in_bytes)
                    .map(|it| it * byte_unit.factor * 8.0)
            };
            let different: Vec<_> = pairs()
                .filter(|(in_bytes, (_, in_bits))| {
                    !is_converted(lint, expected(in_bytes), in_bits, bit_unit.factor)
                })
                .map(|(in_bytes, in_bits)| (expected(in_bytes)[0] / bit_unit.factor, in_bits))
                .collect();
            if 2 * different.len() >= bytes.cells.len() {
                continue;
            }
            for (expected, (cell, in_bits)) in different {
                let message =
                    format!("expected {expected:.4} (bytes × 8), found {}", in_bits.value);
                lint.add(Check::BitsAndBytes, page_span(cell, in_bits.number_span), message);
            }
        }
    }
}

/// Returns whether a figure in bits has one of the expected values, in bit/s.
fn is_converted(
    lint: &Linter<'_>,
    expected: [f64; 2],
    in_bits: &PrintedFigure,
    bit_factor: f64,
) -> bool {
    lint.number_format.possible_values(in_bits).into_iter().any(|value| {
        let is_grouped = value.to_bits() != in_bits.value.to_bits();
        let decimals = if is_grouped { 0 } else { in_bits.decimals.min(12) };
        let half_digit = 0.6 * bit_factor * 10f64.powi(-(decimals as i32));
        expected
            .iter()
            .any(|it| (value * bit_factor - it).abs() <= half_digit + BITS_TOLERANCE * it)
    })
}

/// Returns the values of a column, if none may be a thousand times larger.
fn unambiguous_values(lint: &Linter<'_>, column: &FigureColumn<'_>) -> Option<Vec<f64>> {
    let values = column.cells.iter().map(|(_, it)| lint.number_format.possible_values(it));
    values.map(|[value, other]| (value.to_bits() == other.to_bits()).then_some(value)).collect()
}

/// Reports two columns of one kind of unit whose values differ by exactly 8: a letter of one
/// heading is wrong.
fn check_eightfold(lint: &mut Linter<'_>, columns: &[FigureColumn<'_>]) {
    for pair in columns.windows(2) {
        let [a, b] = pair else { continue };
        let (Some(first), Some(second)) = (&a.unit, &b.unit) else { continue };
        let is_rate = matches!(first.unit, Unit::BytePerSecond | Unit::BitPerSecond);
        if !is_rate || first.unit != second.unit || first.factor >= second.factor {
            continue;
        }
        let (Some(less), Some(more)) =
            (unambiguous_values(lint, a), unambiguous_values(lint, b))
        else {
            continue;
        };
        let rows = less.iter().zip(&more).filter(|(less, _)| **less >= 1000.0);
        let ratios: Vec<f64> =
            rows.map(|(less, more)| more * second.factor / (less * first.factor)).collect();
        if ratios.len() >= 3 && ratios.iter().all(|ratio| (ratio / 8.0 - 1.0).abs() < 0.01) {
            let message = format!(
                "the column in `{}` is 8 times the one in `{}`: one of them is in bits and the other in bytes",
                second.text, first.text
            );
            lint.add(Check::EightfoldColumns, page_span(b.unit_cell, second.span), message);
        }
    }
}

/// Checks that bandwidth grows with the message size: a single fall after steady growth is an
/// error. Several falls are noise, and figures with an interval show their own uncertainty.
fn check_bandwidth_curve(
    lint: &mut Linter<'_>,
    table: &PageTable,
    columns: &[FigureColumn<'_>],
) {
    /// Maximum ratio that counts as a fall; protocol effects of large messages cost only a percent
    /// or two.
    const FALL: f64 = 0.95;
    /// Minimum number of sizes at which a single fall is unlikely to be noise.
    const LONG_CURVE: usize = 8;
    /// Words for "interval" in headings, common to several languages.
    const INTERVAL: [&str; 5] = ["interval", "интервал", "区间", "区間", "구간"];
    let heading = |it: &PageText| it.text.to_lowercase();
    let is_interval = |it: &PageText| INTERVAL.iter().any(|word| heading(it).contains(word));
    let is_message = |column: &FigureColumn<'_>| {
        let heading = heading(column.heading);
        heading.contains("#bytes") || heading.contains("message")
    };
    let is_size = |column: &&FigureColumn<'_>| {
        let doubles = column.cells.windows(2).all(|pair| pair[1].1.value > pair[0].1.value);
        let heading = heading(column.heading);
        doubles && (heading.contains("size") || heading.contains("bytes"))
    };
    let Some(sizes) = columns.iter().find(is_size) else { return };
    if table.rows.first().is_some_and(|headings| headings.iter().any(is_interval)) {
        return;
    }
    let is_rate = |it: &&FigureColumn<'_>| {
        it.unit.as_ref().is_some_and(|unit| unit.unit == Unit::BytePerSecond)
    };
    for rates in columns.iter().filter(is_rate) {
        let Some(values) = unambiguous_values(lint, rates) else { continue };
        let share = |at: usize| values[at + 1] / values[at];
        let falls: Vec<usize> =
            (0..rates.cells.len() - 1).filter(|at| share(*at) < FALL).collect();
        let [at_size] = falls[..] else { continue };
        if sizes.cells[at_size + 1].1.value < 65536.0 {
            continue;
        }
        let ((before, _), (cell, figure)) = (&rates.cells[at_size], &rates.cells[at_size + 1]);
        let share = 100.0 * (1.0 - share(at_size));
        let (less, more) = (cell.text.trim(), before.text.trim());
        let message = format!(
            "`{less}` is {share:.1} % less than `{more}` at the size before: bandwidth should not fall here"
        );
        // The rate of a memory falls at the size of each cache.
        let is_long = values.len() >= LONG_CURVE && is_message(sizes);
        lint.add_if(
            is_long,
            Check::BandwidthFall,
            page_span(cell, figure.number_span),
            message,
            None,
        );
    }
}
