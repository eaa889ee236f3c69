//! Formats and parses numbers with units in the current language.

use assay_model::quantity::{Bytes, Quantity, Unit};

use super::number::{NO_BREAK_SPACES, group_digits, in_percent};
use super::unit::with_symbol;
use super::{Language, unit};

/// Formats a quantity with significant digits; a no-break space precedes the unit.
pub fn quantity(value: f64, unit: Unit, digits: usize) -> String {
    format_prefixed(value, unit, digits, || format!("{:.digits$}", Quantity::new(value, unit)))
}

/// Formats a quantity with the unit prefix that `like` would have.
pub fn quantity_with_prefix(value: f64, unit: Unit, digits: usize, like: f64) -> String {
    format_prefixed(value, unit, digits, || {
        Quantity::new(value, unit).format_like(like, digits)
    })
}

/// Formats a quantity as `prefixed` does, or in scientific form where that has too many digits.
fn format_prefixed(
    value: f64,
    unit: Unit,
    digits: usize,
    prefixed: impl Fn() -> String,
) -> String {
    let written = prefixed();
    let number = written.split(' ').next().unwrap_or_default();
    if is_extreme(value, number) {
        let number = scientific(value, digits.saturating_sub(1));
        return match unit {
            Unit::Ratio | Unit::Count => number,
            _ => with_symbol(&number, unit.symbol()),
        };
    }
    let iops = (unit == Unit::IoPerSecond).then(|| unit::format_iops(value, digits)).flatten();
    iops.unwrap_or_else(|| unit::localise(&written))
}

/// Whether a number has more whole digits than a double represents, or more zeros behind the decimal
/// point than anybody counts.
fn is_extreme(value: f64, number: &str) -> bool {
    const MAX_WHOLE_DIGITS: usize = 15;
    const MAX_ZEROS: usize = 9;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = whole.trim_start_matches('-');
    let zeros = fraction.len() - fraction.trim_start_matches('0').len();
    value.is_finite()
        && value != 0.0
        && (whole.len() > MAX_WHOLE_DIGITS || (whole == "0" && zeros > MAX_ZEROS))
}

/// Formats an exact size: `96 KiB`.
pub fn size(bytes: u64) -> String {
    unit::localise(&Bytes(bytes).to_string())
}

/// Formats a percentage with three significant digits: `87.3 %`.
pub fn percent(value: f64) -> String {
    in_percent(&quantity(value, Unit::Ratio, 3))
}

/// Localises a tool's output such as `2.35` and `us`; keeps its digits and prefix.
pub fn localise_printed(number: &str, unit: &str) -> String {
    match unit {
        "%" => in_percent(&group_digits(number)),
        "us" => with_symbol(&group_digits(number), "µs"),
        unit => with_symbol(&group_digits(number), unit),
    }
}

/// Splits a formatted quantity, or two with one unit, into number and unit. Plain numbers have an
/// empty unit.
pub fn split_unit(written: &str) -> (&str, &str) {
    let is_unit = |it: &(&str, &str)| !it.1.starts_with(|c: char| c.is_ascii_digit());
    written.rsplit_once(NO_BREAK_SPACES).filter(is_unit).unwrap_or((written, ""))
}

/// Formats a number with its power of ten: `3.14e-3`.
pub fn scientific(value: f64, decimals: usize) -> String {
    let written = format!("{value:.decimals$e}");
    match written.split_once('e') {
        Some((mantissa, power)) => format!("{}e{power}", group_digits(mantissa)),
        None => written,
    }
}

/// Parses the output of [`quantity`] in a language.
pub fn parse_quantity(text: &str, unit: Unit, language: Language) -> Option<Quantity> {
    unit::parse(text, unit, language).map(|value| Quantity::new(value, unit))
}

/// Replaces spaces by no-break spaces.
pub fn with_no_break_spaces(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}
