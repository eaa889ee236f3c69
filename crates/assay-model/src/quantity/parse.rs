//! Parsing of quantities: `4k`, `64KiB`, `10Gbit/s`, `500us`, `80%`; no other module does it.
//!
//! Before a unit, prefixes follow SI and IEC: `kB` is 1000 bytes, `KiB` is 1024. A bare prefix on a
//! size (`8k`), also with a lower-case `b` (`8kb`), is binary, as in all common storage tools. On a
//! rate or a count it is decimal. Rates also accept common abbreviations: `10Gbps`, `10Gb/s`,
//! `5000iops`.

use std::str::FromStr;

use thiserror::Error;

use super::{Bytes, Quantity, Unit};

/// Reason why a text is not a quantity of the requested kind.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// There is no number at the start.
    #[error("`{text}` does not start with a number; write it like `{example}`")]
    NoNumber {
        /// The given text.
        text: String,
        /// An example of the requested kind.
        example: &'static str,
    },
    /// The number is negative.
    #[error("`{text}` is negative; write it like `{example}`")]
    Negative {
        /// The given text.
        text: String,
        /// An example of the requested kind.
        example: &'static str,
    },
    /// The number is infinite or too large to be exact.
    #[error("`{text}` is out of range")]
    OutOfRange {
        /// The given text.
        text: String,
    },
    /// The unit is unknown or belongs to another kind of quantity.
    #[error("`{found}` in `{text}` is not a unit of {wanted}; write it like `{example}`")]
    WrongUnit {
        /// The given text.
        text: String,
        /// The part after the number.
        found: String,
        /// The requested kind of quantity, in words.
        wanted: &'static str,
        /// An example of the requested kind.
        example: &'static str,
    },
    /// An ambiguous share: one percent or all.
    #[error("`{text}` is ambiguous (1 % or 100 %); write `1%` or `100%`")]
    AmbiguousShare {
        /// The given text.
        text: String,
    },
    /// A size that is not a whole number of bytes.
    #[error("`{text}` is not a whole number of bytes")]
    NotWhole {
        /// The given text.
        text: String,
    },
}

impl Quantity {
    /// Parses `text` as a quantity of the given unit.
    ///
    /// # Errors
    /// If there is no number, the unit is of another kind, or the value is negative or not finite.
    pub fn parse(text: &str, unit: Unit) -> Result<Self, QuantityError> {
        let trimmed = text.trim();
        if unit == Unit::Second
            && let Some(seconds) = parse_compound_time(trimmed)
        {
            return Ok(Self::new(seconds, unit));
        }
        let (number, suffix) = split_number(trimmed);
        let value: f64 = number.parse().map_err(|_| QuantityError::NoNumber {
            text: text.to_owned(),
            example: example(unit),
        })?;
        let factor =
            unit_factor(suffix.trim(), unit).ok_or_else(|| QuantityError::WrongUnit {
                text: text.to_owned(),
                found: suffix.trim().to_owned(),
                wanted: kind_name(unit),
                example: example(unit),
            })?;
        let value = value * factor;
        if value < 0.0 {
            return Err(QuantityError::Negative {
                text: text.to_owned(),
                example: example(unit),
            });
        }
        if !value.is_finite() {
            return Err(QuantityError::OutOfRange { text: text.to_owned() });
        }
        Ok(Self::new(value, unit))
    }
}

impl FromStr for Bytes {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        /// Largest integer up to which a binary64 represents every whole number: 2⁵³.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let value = Quantity::parse(text, Unit::Byte)?.value;
        if value > EXACT {
            return Err(QuantityError::OutOfRange { text: text.to_owned() });
        }
        if value.fract() > 0.0 {
            return Err(QuantityError::NotWhole { text: text.to_owned() });
        }
        Ok(Self(value as u64))
    }
}

/// Parses a time of several units in descending order, like `1h30m` or `1m 30s`; `None` for any
/// other text.
fn parse_compound_time(text: &str) -> Option<f64> {
    let (mut rest, mut seconds, mut before, mut parts) = (text, 0.0, f64::INFINITY, 0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (symbol, after) = after.split_at(end);
        let factor = second_factor(symbol).filter(|_| !symbol.is_empty())?;
        if factor >= before {
            return None;
        }
        seconds += number.parse::<f64>().ok()? * factor;
        (rest, before, parts) = (after.trim_start(), factor, parts + 1);
    }
    (parts > 1).then_some(seconds)
}

/// Maximum duration, one year: longer ones are mistakes, and clocks can count this one without
/// overflow.
pub const MAX_DURATION_S: f64 = 366.0 * 86_400.0;

/// Parses `80%` or `0.8` as the ratio 0.8.
///
/// # Errors
/// If it is neither.
pub fn parse_ratio(text: &str) -> Result<f64, QuantityError> {
    Quantity::parse(text, Unit::Ratio).map(|quantity| quantity.value)
}

/// Parses a share, for options that mean percent: `80%`, `0.8`, or `80`.
///
/// # Errors
/// If it is none of them, or a bare 1, which is ambiguous.
pub fn parse_share(text: &str) -> Result<f64, QuantityError> {
    let value = parse_ratio(text)?;
    let is_bare = text.trim().ends_with(|last: char| last.is_ascii_digit());
    match is_bare {
        true if (value - 1.0).abs() < f64::EPSILON => {
            Err(QuantityError::AmbiguousShare { text: text.to_owned() })
        }
        true if value > 1.0 => Ok(value / 100.0),
        _ => Ok(value),
    }
}

/// Splits `text` into its number and the factor of its unit, by the rules of another tool: `worth`
/// maps a lower-case unit to its factor. The caller parses the number.
pub fn split_factor(text: &str, worth: impl Fn(&str) -> Option<f64>) -> Option<(&str, f64)> {
    let (number, unit) = split_number(text.trim());
    Some((number, worth(&unit.to_ascii_lowercase())?))
}

/// Returns the factor of `k`, `m`, `g` or `t` for a given factor of `k`; 1 for an empty text.
pub fn letter_factor(letter: &str, k: f64) -> Option<f64> {
    let power = ["", "k", "m", "g", "t"].iter().position(|it| *it == letter)?;
    Some(k.powi(power as i32))
}

/// Splits after the number; `1e9` is one number, `1e` is `1` and `e`.
fn split_number(text: &str) -> (&str, &str) {
    let digits = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let mut end = text.find(|c| !digits(c) && c != '-' && c != '+').unwrap_or(text.len());
    let rest = &text[end..];
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let length = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
        if length > 0 {
            end += rest.len() - unsigned.len() + length;
        }
    }
    text.split_at(end)
}

/// Returns the factor of `suffix` to the base unit; `None` for a unit of another kind.
fn unit_factor(suffix: &str, unit: Unit) -> Option<f64> {
    match unit {
        Unit::Byte => byte_factor(suffix),
        Unit::Second => second_factor(suffix),
        Unit::Ratio => match suffix {
            "" => Some(1.0),
            "%" => Some(0.01),
            _ => None,
        },
        Unit::SecondPerByte => {
            let (time, size) = suffix.split_once('/')?;
            let bytes = size.strip_suffix('B')?;
            let bytes = binary_factor(bytes).or_else(|| decimal_factor(bytes))?;
            second_factor(time).filter(|_| !time.is_empty()).map(|seconds| seconds / bytes)
        }
        Unit::Count => decimal_factor(suffix),
        Unit::BytePerSecond => prefixed_factor(suffix, &["B/s", "Bps"]),
        Unit::BitPerSecond => prefixed_factor(suffix, &["bit/s", "bps", "b/s", "bit"]),
        Unit::FlopPerSecond => prefixed_factor(suffix, &["FLOP/s", "FLOPS", "flops"]),
        Unit::IoPerSecond => prefixed_factor(suffix, &["IO/s", "IOPS", "iops", "io/s"]),
        Unit::Hertz => prefixed_factor(suffix, &["Hz"]),
    }
}

fn byte_factor(suffix: &str) -> Option<f64> {
    if let Some(prefix) = suffix.strip_suffix('B') {
        return binary_factor(prefix).or_else(|| decimal_factor(prefix));
    }
    let bare = suffix.strip_suffix('b').unwrap_or(suffix);
    binary_factor(bare).or_else(|| letter_factor(&bare.to_ascii_lowercase(), 1024.0))
}

fn second_factor(suffix: &str) -> Option<f64> {
    Some(match suffix {
        "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" | "μs" => 1e-6,
        "ns" => 1e-9,
        "ps" => 1e-12,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        "w" | "week" | "weeks" => 604_800.0,
        _ => return None,
    })
}

/// Returns the factor of a prefixed unit of rates. Lower-case prefixes count as upper-case ones,
/// because thousandths of a bit or an I/O make no sense.
fn prefixed_factor(suffix: &str, symbols: &[&str]) -> Option<f64> {
    let prefix = symbols.iter().find_map(|symbol| suffix.strip_suffix(symbol));
    let worth = |prefix: &str| {
        decimal_factor(prefix).or_else(|| letter_factor(&prefix.to_ascii_lowercase(), 1e3))
    };
    prefix
        .map_or_else(|| worth(suffix), |prefix| binary_factor(prefix).or_else(|| worth(prefix)))
}

fn decimal_factor(prefix: &str) -> Option<f64> {
    Some(match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        _ => return None,
    })
}

fn binary_factor(prefix: &str) -> Option<f64> {
    Some(match prefix {
        "Ki" => 1024.0,
        "Mi" => 1024f64.powi(2),
        "Gi" => 1024f64.powi(3),
        "Ti" => 1024f64.powi(4),
        "Pi" => 1024f64.powi(5),
        _ => return None,
    })
}

const fn kind_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Byte => "a size",
        Unit::BytePerSecond => "a byte rate",
        Unit::BitPerSecond => "a bit rate",
        Unit::FlopPerSecond => "a rate of floating-point operations",
        Unit::IoPerSecond => "an I/O rate",
        Unit::Second => "time",
        Unit::SecondPerByte => "time per byte",
        Unit::Hertz => "a frequency",
        Unit::Ratio => "a ratio",
        Unit::Count => "a count",
    }
}

const fn example(unit: Unit) -> &'static str {
    match unit {
        Unit::Byte => "64MiB",
        Unit::BytePerSecond => "10GB/s",
        Unit::BitPerSecond => "10Gbit/s",
        Unit::FlopPerSecond => "1.5TFLOP/s",
        Unit::IoPerSecond => "300kIO/s",
        Unit::Second => "60s",
        Unit::SecondPerByte => "2ns/B",
        Unit::Hertz => "2.5GHz",
        Unit::Ratio => "80%",
        Unit::Count => "1000",
    }
}
