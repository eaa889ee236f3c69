//! The symbols of units in each language: one reviewed table, because CLDR has mixed scripts, no binary
//! prefixes, no FLOP/s and no IOPS, and writes a gigabit as `Gb`.
//!
//! Bits are written out everywhere (`Gbit/s`, never `Gb/s`), so that no letter's case tells them from bytes.

use assay_model::quantity::{Quantity, Unit};

use super::number::{before_unit, grouped, ungrouped};
use super::{Language, Locale};

/// Symbols that differ from the invariant ones. The parts of a symbol are looked up one by one: prefix
/// and unit, each side of a slash.
const RUSSIAN: [(&str, &str); 23] = [
    ("B", "Б"),
    ("kB", "кБ"),
    ("MB", "МБ"),
    ("GB", "ГБ"),
    ("TB", "ТБ"),
    ("PB", "ПБ"),
    ("KiB", "КиБ"),
    ("MiB", "МиБ"),
    ("GiB", "ГиБ"),
    ("TiB", "ТиБ"),
    ("PiB", "ПиБ"),
    ("bit", "бит"),
    ("kbit", "кбит"),
    ("Mbit", "Мбит"),
    ("Gbit", "Гбит"),
    ("Tbit", "Тбит"),
    ("Pbit", "Пбит"),
    ("s", "с"),
    ("ms", "мс"),
    ("µs", "мкс"),
    ("ns", "нс"),
    ("ps", "пс"),
    ("Hz", "Гц"),
];
const RUSSIAN_HERTZ: [(&str, &str); 5] =
    [("kHz", "кГц"), ("MHz", "МГц"), ("GHz", "ГГц"), ("THz", "ТГц"), ("PHz", "ПГц")];
const FRENCH: [(&str, &str); 11] = [
    ("B", "o"),
    ("kB", "ko"),
    ("MB", "Mo"),
    ("GB", "Go"),
    ("TB", "To"),
    ("PB", "Po"),
    ("KiB", "Kio"),
    ("MiB", "Mio"),
    ("GiB", "Gio"),
    ("TiB", "Tio"),
    ("PiB", "Pio"),
];
/// What I/O per second is called on pages; machine formats have `IO/s`.
const IOPS: &str = "IOPS";

fn table(language: Language) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let (first, second): (&[_], &[_]) = match language.locale {
        _ if language.has_invariant_units => (&[], &[]),
        Locale::Ru => (&RUSSIAN, &RUSSIAN_HERTZ),
        Locale::Fr => (&FRENCH, &[]),
        _ => (&[], &[]),
    };
    first.iter().chain(second)
}

/// A symbol of the invariant writer as the current language has it: `GB/s` is `Go/s`.
pub(crate) fn symbol(invariant: &str) -> String {
    let language = Language::current();
    // The letters of FLOP are an English word's and stay; what they are divided by goes with them.
    if invariant.ends_with("FLOP/s") || invariant == IOPS {
        return invariant.to_owned();
    }
    let part = |part: &str| {
        let own = table(language).find(|(known, _)| *known == part);
        own.map_or_else(|| part.to_owned(), |(_, own)| (*own).to_owned())
    };
    invariant.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// What the invariant writer wrote, `34.12 GB/s`, in the current language, held together.
pub(crate) fn localised(written: &str) -> String {
    let (number, unit) = written.split_once(' ').unwrap_or((written, ""));
    match unit {
        "" => grouped(number),
        unit => with_symbol(&grouped(number), unit),
    }
}

/// A number that is written already with an invariant symbol.
pub(crate) fn with_symbol(number: &str, invariant: &str) -> String {
    format!("{number}{}{}", before_unit(), symbol(invariant))
}

/// Thousands of I/O are not abbreviated on pages: a `k` has been read as a kilobyte. To some digits.
pub(crate) fn iops(value: f64, digits: usize) -> Option<String> {
    if Language::current().has_invariant_units || !value.is_finite() {
        return None;
    }
    // As the invariant writer does, which never rounds the digits before the decimal point of `284 kIO/s`.
    let exponent = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    let digits = digits.max(exponent.rem_euclid(3.0) as usize + 1);
    let rounded: f64 = format!("{value:.*e}", digits.saturating_sub(1)).parse().ok()?;
    let magnitude = if rounded == 0.0 { digits as f64 } else { rounded.abs().log10().floor() };
    let decimals = (digits as f64 - 1.0 - magnitude).clamp(0.0, 300.0) as usize;
    let number = format!("{rounded:.decimals$}");
    Some(localised(&format!("{number} {IOPS}")))
}

/// Reads what is written in a language as a quantity of this unit.
pub(crate) fn read(text: &str, unit: Unit, language: Language) -> Option<f64> {
    let space = |it: char| super::SPACES.contains(&it);
    let end = text.rfind(|it: char| it.is_ascii_digit())? + 1;
    let (number, symbol) = text.split_at(end);
    let symbol = symbol.trim_start_matches(space);
    let number = ungrouped(number, language)?;
    let part = |part: &str| {
        let known = table(language).find(|(_, own)| *own == part);
        known.map_or_else(|| part.to_owned(), |(invariant, _)| (*invariant).to_owned())
    };
    let symbol = match symbol {
        IOPS => "IO/s".to_owned(),
        own => own.split('/').map(part).collect::<Vec<_>>().join("/"),
    };
    Quantity::parse(&format!("{number}{symbol}"), unit).ok().map(|it| it.value)
}
