//! Conversions of a page: one value in two units, and the message with the right one.

use assay_model::quantity::Unit;

use super::checks::Check;
use super::{Linter, page_span};
use crate::figure::{PrintedFigure, PrintedUnit, text_before};
use crate::page::PageText;

/// Maximum ratio between a value and its conversion in brackets that is explained by confusion of
/// powers of 1000 and 1024. With a larger ratio the brackets hold another value, such as a burst.
const MAX_CONFUSION: f64 = 1.15;
/// Relative tolerance of a figure with "about".
pub(super) const ABOUT_TOLERANCE: f64 = 0.01;

/// Checks conversions: `757,820.9 MB/s = ~740 GB/s`, `4.5 GiB/s (4,500 MiB/s)` are one value in two
/// units.
pub(super) fn check_sentence(lint: &mut Linter<'_>, text: &PageText) {
    for pair in text.figures.windows(2) {
        let [a, b] = pair else { continue };
        let (Some(first), Some(second)) = (&a.unit, &b.unit) else { continue };
        let between = text.text.get(first.span.1..b.number_span.0).unwrap_or_default();
        let between = between.trim().trim_end_matches(['~', '≈', ' ']);
        // In `1000 x 256 KiB = 250 MiB`, the first figure is a factor.
        if is_operand(&text.text, a.number_span.0) || is_factor(&text.text, second.span.1) {
            continue;
        }
        let is_equal = matches!(between, "=" | "＝")
            || between.is_empty() && is_equated(text, first.span.1, b.number_span.0);
        let is_bracketed = matches!(between, "(" | "（")
            && text.text[second.span.1..].trim_start().starts_with([')', '）']);
        let as_bits = |unit: Unit| match unit {
            Unit::BytePerSecond => Some((Unit::BitPerSecond, 8.0)),
            other => Some((other, 1.0)),
        };
        let (Some((first_kind, first_bits)), Some((second_kind, second_bits))) =
            (as_bits(first.unit), as_bits(second.unit))
        else {
            continue;
        };
        if first_kind != second_kind || first.is_same(second) || !(is_equal || is_bracketed) {
            continue;
        }
        let approximation =
            if a.is_approximate || b.is_approximate { ABOUT_TOLERANCE } else { 0.0 };
        // The page converted one into the other, so the coarser rounding counts.
        let tolerance = a.relative_rounding().max(b.relative_rounding()) + approximation + 1e-9;
        let ratios = lint.number_format.possible_values(a).map(|a| {
            lint.number_format
                .possible_values(b)
                .map(|b| (a * first.factor * first_bits) / (b * second.factor * second_bits))
        });
        let ratios = ratios.as_flattened();
        // Sizes have either kind of prefix, and `25,600 KB/s (25 MB/s)` has one for both.
        let is_size = first.unit == Unit::Byte && second.unit == Unit::Byte
            || is_bracketed && is_decimal(first) && is_decimal(second)
            || is_definition(a, b);
        // Some pages cut off the digits that others round: `6,769 ms (6.7 s)`.
        let cut_off = if approximation > 0.0 { 0.0 } else { b.relative_rounding() };
        let is_correct = ratios.iter().any(|it| {
            let binary = BINARY_SIZES.iter().filter(|_| is_size);
            let mut factors = binary.flat_map(|factor| [*factor, 1.0 / factor]).chain([1.0]);
            factors
                .any(|factor| (-tolerance..=tolerance + cut_off).contains(&(it * factor - 1.0)))
        });
        let is_near = ratios.iter().any(|it| (1.0 / MAX_CONFUSION..MAX_CONFUSION).contains(it));
        if !is_correct && (is_equal || is_near) {
            let converted = format_correction(ratios[0] * b.value, count_digits(text, a));
            let message = format!(
                "`{}` would be {converted} {}",
                &text.text[a.number_span.0..first.span.1],
                second.text
            );
            // Brackets may hold another value, or one that was rounded otherwise.
            let check = if is_equal { Check::Conversion } else { Check::ConversionInBrackets };
            lint.add(check, page_span(text, b.number_span), message);
        }
    }
}

/// Returns the number of digits of a figure from its first that is not zero.
fn count_digits(text: &PageText, figure: &PrintedFigure) -> usize {
    let digits = text.text[figure.number_span.0..figure.number_span.1].chars();
    digits.filter_map(|it| it.to_digit(10)).skip_while(|it| *it == 0).count()
}

/// Formats a converted value without zeros at its end, with two digits more than the printed figure
/// at most: 10 Gbit/s are 1.25 GB/s.
fn format_correction(value: f64, digits: usize) -> String {
    const MAX_DECIMALS: usize = 12;
    let whole = value.abs().max(1e-12).log10().floor() as i32 + 1;
    let decimals = usize::try_from(digits as i32 + 2 - whole).unwrap_or(0).min(MAX_DECIMALS);
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Whether `1 KB/s = 1024 B/s` defines its prefix.
fn is_definition(one: &PrintedFigure, other: &PrintedFigure) -> bool {
    let is_value = |it: &PrintedFigure, value: f64| it.value.to_bits() == value.to_bits();
    let has_bytes = |it: &PrintedFigure| {
        it.base_value().is_some_and(|(_, unit)| unit == Unit::BytePerSecond)
    };
    is_value(one, 1.0) && is_value(other, 1024.0) && has_bytes(one) && has_bytes(other)
}

/// Whether a rate in bytes has a decimal prefix.
fn is_decimal(unit: &PrintedUnit) -> bool {
    unit.unit == Unit::BytePerSecond && unit.factor.log10().fract() == 0.0
}

/// Factors between decimal and binary prefixes. Sizes such as `64 KB (65536 bytes)` are common;
/// rates have decimal prefixes.
pub(super) const BINARY_SIZES: [f64; 4] = [1.024, 1.048_576, 1.073_741_824, 1.099_511_627_776];

/// Returns whether an operator and its operand follow a figure: `5 × 64 B ≈ 5 GB × 64`.
fn is_factor(text: &str, to: usize) -> bool {
    let behind = text[to..].trim_start().trim_start_matches('\\');
    let Some(operand) = behind.strip_prefix(['*', '×', '·', '+', '÷', '−', '_']) else {
        return false;
    };
    operand.trim_start().starts_with(|c: char| c.is_ascii_digit())
}

/// Returns whether an operator precedes a figure.
fn is_operand(text: &str, from: usize) -> bool {
    let before = text_before(text, from, 16).trim_end();
    let before = before.strip_suffix('\\').unwrap_or(before).trim_end();
    let digits = before.trim_end_matches(['x', 'X', 'х']).trim_end();
    before.ends_with(['*', '×', '·', '+', '/', '÷', '−', '_'])
        || digits.len() < before.len()
            && digits.ends_with(|c: char| c.is_ascii_digit() || c == ' ')
        || before.ends_with(" x")
        || before.ends_with(" -")
}

/// Returns whether `≈` separates both figures: alone it means "equal" and "about".
fn is_equated(text: &PageText, from: usize, to: usize) -> bool {
    text.text.get(from..to).is_some_and(|it| it.contains('≈'))
}
