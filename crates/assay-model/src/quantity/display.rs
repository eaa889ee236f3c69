//! Formatting of quantities for people; no other module does it.
//!
//! Sizes have binary prefixes, rates and frequencies decimal ones, times their usual submultiples.
//! The default is four significant digits, otherwise the formatter's precision; an exact number of
//! units has no fraction. The prefix is chosen after rounding, so that 999.96 kB/s prints as `1.000
//! MB/s` and never as `1000 kB/s`.

use std::fmt;

use super::{Bytes, Quantity, Unit};

const DIGITS: usize = 4;
/// Smallest number with more than four digits.
const MANY_DIGITS: u64 = 10_000;
/// Time per byte is printed per gigabyte, as is usual for transfer costs: fractions of a nanosecond
/// are hard to read.
const BYTES_PER_GB: f64 = 1e9;

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(DIGITS).max(1);
        let value = match self.unit {
            Unit::SecondPerByte => self.value * BYTES_PER_GB,
            _ => self.value,
        };
        let (factor, prefix) = choose_prefix(value, prefixes(self.unit), digits);
        let number = format_significant(value / factor, digits);
        match self.unit {
            Unit::Ratio | Unit::Count => write_aligned(f, &number),
            Unit::SecondPerByte => write_aligned(f, &format!("{number} {prefix}s/GB")),
            _ => write_aligned(f, &format!("{number} {prefix}{}", self.unit.symbol())),
        }
    }
}

impl Quantity {
    /// Formats with the prefix of `like`, so that a column has one unit: next to 200 µs, 1.8 ms
    /// prints as 1800 µs.
    pub fn format_like(self, like: f64, digits: usize) -> String {
        let (factor, prefix) = choose_prefix(like, prefixes(self.unit), DIGITS);
        // Units without prefixes have their normal format.
        match prefixes(self.unit).len() {
            1 => format!("{self:.digits$}"),
            _ => format!(
                "{} {prefix}{}",
                format_significant(self.value / factor, digits.max(1)),
                self.unit.symbol()
            ),
        }
    }
}

/// Applies width and alignment. `Formatter::pad` would also truncate the text at the precision,
/// which here means significant digits.
fn write_aligned(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let width = f.width().unwrap_or(0);
    match f.align() {
        Some(fmt::Alignment::Right) => write!(f, "{text:>width$}"),
        Some(fmt::Alignment::Center) => write!(f, "{text:^width$}"),
        Some(fmt::Alignment::Left) | None => write!(f, "{text:<width$}"),
    }
}

impl fmt::Display for Bytes {
    /// Formats exactly, with the largest binary prefix that leaves a whole number (`96 KiB`, `4097
    /// B`). A decimal prefix is used if only that one leaves few digits (`80 MB`, not `78125 KiB`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (binary, decimal) = (self.divide_exactly(&BINARY), self.divide_exactly(&DECIMAL));
        let is_short = |number: u64| number < MANY_DIGITS;
        let (number, prefix) = match is_short(decimal.0) && !is_short(binary.0) {
            true => decimal,
            false => binary,
        };
        write_aligned(f, &format!("{number} {prefix}B"))
    }
}

impl Bytes {
    /// Returns the whole number of the largest prefix that leaves no remainder, and the prefix.
    fn divide_exactly(self, prefixes: &[Prefix]) -> (u64, &'static str) {
        let divide = |(factor, prefix): &Prefix| {
            let factor = *factor as u64;
            (self.0 >= factor && self.0.is_multiple_of(factor))
                .then_some((self.0 / factor, *prefix))
        };
        prefixes.iter().rev().find_map(divide).unwrap_or((self.0, ""))
    }
}

type Prefix = (f64, &'static str);

const DECIMAL: [Prefix; 6] =
    [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"), (1e15, "P")];
const BINARY: [Prefix; 6] = [
    (1.0, ""),
    (1024.0, "Ki"),
    (1_048_576.0, "Mi"),
    (1_073_741_824.0, "Gi"),
    (1_099_511_627_776.0, "Ti"),
    (1_125_899_906_842_624.0, "Pi"),
];
const TIME: [Prefix; 5] = [(1e-12, "p"), (1e-9, "n"), (1e-6, "µ"), (1e-3, "m"), (1.0, "")];
const NONE: [Prefix; 1] = [(1.0, "")];

const fn prefixes(unit: Unit) -> &'static [Prefix] {
    match unit {
        Unit::Byte => &BINARY,
        Unit::Second => &TIME,
        // Costs in a column are easier to compare without prefixes.
        Unit::SecondPerByte | Unit::Ratio | Unit::Count => &NONE,
        Unit::BytePerSecond
        | Unit::BitPerSecond
        | Unit::FlopPerSecond
        | Unit::IoPerSecond
        | Unit::Hertz => &DECIMAL,
    }
}

/// Returns the largest prefix in which the rounded value is at least 1.
fn choose_prefix(value: f64, prefixes: &[Prefix], digits: usize) -> Prefix {
    /// Values below this never become 1 by rounding to one or more significant digits.
    const FAR_BELOW: f64 = 0.9;
    let fits = |(factor, _): &&Prefix| {
        let scaled = (value / factor).abs();
        scaled >= 1.0 || scaled > FAR_BELOW && round_significant(scaled, digits) >= 1.0
    };
    let plain = if value == 0.0 || !value.is_finite() {
        prefixes.iter().find(|(f, _)| *f >= 1.0)
    } else {
        None
    };
    *plain.or_else(|| prefixes.iter().rev().find(fits)).unwrap_or(&prefixes[0])
}

fn round_significant(value: f64, digits: usize) -> f64 {
    format_significant(value, digits).parse().unwrap_or(value)
}

/// Formats `value` with `digits` significant digits, never in exponent form above 1e-4.
fn format_significant(value: f64, digits: usize) -> String {
    if !value.is_finite() || value == 0.0 {
        return format!("{value}");
    }
    let magnitude = |v: f64| v.abs().log10().floor() as i32;
    let decimals = |m: i32| usize::try_from(digits as i32 - 1 - m).unwrap_or(0).min(300);
    let text = format!("{value:.*}", decimals(magnitude(value)));
    // Rounding can carry into one more digit: 9.9996 becomes 10.000, which has one too many. A
    // value too small for the decimals reads as 0, which has no magnitude.
    let carried = text.parse().ok().filter(|read: &f64| *read != 0.0).unwrap_or(value);
    match decimals(magnitude(carried)) {
        same if same == decimals(magnitude(value)) => text,
        fewer => format!("{value:.fewer$}"),
    }
}
