//! Unit symbols of each language, from one reviewed table. CLDR cannot be used: it mixes scripts,
//! lacks binary prefixes, FLOP/s and IOPS, and abbreviates gigabit as `Gb`.
//!
//! Bits are written out everywhere (`Gbit/s`, never `Gb/s`), so that the case of a letter never
//! distinguishes bits from bytes.

use assay_model::quantity::{Quantity, Unit};

use super::number::{group_digits, ungroup_digits, unit_space};
use super::{Language, Locale};

/// Invariant and Russian symbols, where they differ. The two sides of a slash, each with its
/// prefix, are looked up separately.
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
/// Symbol for I/O per second in reports; machine formats use `IO/s`.
const IOPS: &str = "IOPS";

/// Returns pairs of invariant and localised symbols.
fn symbol_table(
    language: Language,
) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let (first, second): (&[_], &[_]) = match language.locale {
        _ if language.has_invariant_units => (&[], &[]),
        Locale::Ru => (&RUSSIAN, &RUSSIAN_HERTZ),
        Locale::Fr => (&FRENCH, &[]),
        _ => (&[], &[]),
    };
    first.iter().chain(second)
}

/// Localises an invariant symbol: `GB/s` becomes `Go/s`.
pub(crate) fn localise_symbol(invariant: &str) -> String {
    let language = Language::current();
    // FLOP abbreviates English words and stays, together with its divisor.
    if invariant.ends_with("FLOP/s") || invariant == IOPS {
        return invariant.to_owned();
    }
    let localise_part = |part: &str| {
        let pair = symbol_table(language).find(|(invariant, _)| *invariant == part);
        pair.map_or_else(|| part.to_owned(), |(_, localised)| (*localised).to_owned())
    };
    invariant.split('/').map(localise_part).collect::<Vec<_>>().join("/")
}

/// Localises a quantity in invariant form, `34.12 GB/s`, with a no-break space.
pub(crate) fn localise(invariant: &str) -> String {
    let (number, unit) = invariant.split_once(' ').unwrap_or((invariant, ""));
    match unit {
        "" => group_digits(number),
        unit => with_symbol(&group_digits(number), unit),
    }
}

/// Appends the localised form of an invariant symbol such as `GB/s` to a formatted number.
pub fn with_symbol(number: &str, invariant: &str) -> String {
    format!("{number}{}{}", unit_space(), localise_symbol(invariant))
}

/// Returns the digits with which a value is printed. I/O per second has no `k`, which readers mistake
/// for kilobytes, so that every digit before the decimal point is shown: none is filled with zeros.
pub fn shown_digits(value: f64, unit: Unit, digits: usize) -> usize {
    if unit != Unit::IoPerSecond || Language::current().has_invariant_units {
        return digits;
    }
    match value.abs().log10().floor() {
        exponent if exponent.is_finite() => digits.max(exponent.max(0.0) as usize + 1),
        _ => digits,
    }
}

/// Formats I/O per second without `k`. Returns `None` for invariant units.
pub(crate) fn format_iops(value: f64, digits: usize) -> Option<String> {
    if Language::current().has_invariant_units || !value.is_finite() {
        return None;
    }
    let digits = shown_digits(value, Unit::IoPerSecond, digits);
    let rounded: f64 = format!("{value:.*e}", digits.saturating_sub(1)).parse().ok()?;
    let magnitude = if rounded == 0.0 { digits as f64 } else { rounded.abs().log10().floor() };
    let decimals = (digits as f64 - 1.0 - magnitude).clamp(0.0, 300.0) as usize;
    let number = format!("{rounded:.decimals$}");
    Some(localise(&format!("{number} {IOPS}")))
}

/// Parses a localised quantity of the given unit.
pub(crate) fn parse(text: &str, unit: Unit, language: Language) -> Option<f64> {
    let is_space = |c: char| super::NO_BREAK_SPACES.contains(&c);
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (number, symbol) = text.split_at(end);
    let symbol = symbol.trim_start_matches(is_space);
    let number = ungroup_digits(number, language)?;
    let to_invariant = |part: &str| {
        let pair = symbol_table(language).find(|(_, localised)| *localised == part);
        pair.map_or_else(|| part.to_owned(), |(invariant, _)| (*invariant).to_owned())
    };
    let symbol = match symbol {
        IOPS => "IO/s".to_owned(),
        localised => localised.split('/').map(to_invariant).collect::<Vec<_>>().join("/"),
    };
    Quantity::parse(&format!("{number}{symbol}"), unit).ok().map(|it| it.value)
}
