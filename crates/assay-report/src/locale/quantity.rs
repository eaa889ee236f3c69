//! Numbers with their units, as the current language writes them.

use assay_model::quantity::{Bytes, Quantity, Unit};

use super::number::{self, SPACES, grouped};
use super::{Language, unit};

/// A quantity to some significant digits, number and unit held together.
#[must_use]
pub fn quantity(value: f64, unit: Unit, digits: usize) -> String {
    let iops = (unit == Unit::IoPerSecond).then(|| unit::iops(value, digits)).flatten();
    let written = || unit::localised(&format!("{:.digits$}", Quantity::new(value, unit)));
    iops.unwrap_or_else(written)
}

/// The same with the prefix that `like` has in this unit.
#[must_use]
pub fn quantity_beside(value: f64, unit: Unit, digits: usize, like: f64) -> String {
    let iops = (unit == Unit::IoPerSecond).then(|| unit::iops(value, digits)).flatten();
    iops.unwrap_or_else(|| unit::localised(&Quantity::new(value, unit).beside(like, digits)))
}

/// An exact size: `96 KiB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    unit::localised(&Bytes(bytes).to_string())
}

/// `87.3 %`, to three significant digits.
#[must_use]
pub fn percent(value: f64) -> String {
    in_percent(&quantity(value, Unit::Ratio, 3))
}

/// A number that is written already, in percent.
#[must_use]
pub fn in_percent(number: &str) -> String {
    number::percent(number)
}

/// A number that is written already with an invariant symbol, `GB/s`, which becomes the language's.
#[must_use]
pub fn with_symbol(number: &str, symbol: &str) -> String {
    unit::with_symbol(number, symbol)
}

/// What somebody else printed as `2.35` and `us`, with the same digits and the same prefix.
#[must_use]
pub fn printed(number: &str, unit: &str) -> String {
    match unit {
        "%" => in_percent(&grouped(number)),
        "us" => with_symbol(&grouped(number), "µs"),
        unit => with_symbol(&grouped(number), unit),
    }
}

/// Number and unit of a written quantity, or of two with one unit; no unit of a plain number.
#[must_use]
pub fn parts(written: &str) -> (&str, &str) {
    let is_unit = |it: &(&str, &str)| !it.1.starts_with(|c: char| c.is_ascii_digit());
    written.rsplit_once(SPACES).filter(is_unit).unwrap_or((written, ""))
}

/// A decimal number and its power of ten: `3.14e-3`.
#[must_use]
pub fn scientific(value: f64, decimals: usize) -> String {
    let written = format!("{value:.decimals$e}");
    match written.split_once('e') {
        Some((mantissa, power)) => format!("{}e{power}", grouped(mantissa)),
        None => written,
    }
}

/// Reads what [`quantity`] wrote in a language.
#[must_use]
pub fn read(text: &str, unit: Unit, language: Language) -> Option<Quantity> {
    unit::read(text, unit, language).map(|value| Quantity::new(value, unit))
}

/// Spaces that no line may break at.
#[must_use]
pub fn joined(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}
