//! The ONE reader of quantities in text: `4k`, `64KiB`, `10Gbit/s`, `500us`, `80%`.
//!
//! With a unit after it a prefix means what SI and IEC say: `kB` is 1000 bytes, `KiB` is 1024.
//! A bare prefix on a size (`8k`), also with a small `b` (`8kb`), is binary, because every storage tool
//! in use reads it so; on a rate or a count it is decimal. Rates have the units of the field as well:
//! `10Gbps`, `10Gb/s`, `5000iops`.

use std::str::FromStr;

use thiserror::Error;

use super::{Bytes, Quantity, Unit};

/// Why a text is not the quantity that was requested.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// There is no number at the start.
    #[error("`{text}` does not start with a number; write it like `{example}`")]
    NoNumber {
        /// What was given.
        text: String,
        /// A well-formed quantity of the wanted kind.
        example: &'static str,
    },
    /// The number is negative.
    #[error("`{text}` is below zero; write it like `{example}`")]
    BelowZero {
        /// What was given.
        text: String,
        /// A well-formed quantity of the wanted kind.
        example: &'static str,
    },
    /// The number is infinite or too large to be exact.
    #[error("`{text}` is out of range")]
    OutOfRange {
        /// What was given.
        text: String,
    },
    /// The unit belongs to something else, or to nothing.
    #[error("`{found}` in `{text}` is no unit of {wanted}; write it like `{example}`")]
    WrongUnit {
        /// What was given.
        text: String,
        /// The part behind the number.
        found: String,
        /// The kind of quantity that was wanted, in words.
        wanted: &'static str,
        /// A well-formed quantity of the wanted kind.
        example: &'static str,
    },
    /// A share that may be one percent or all of it.
    #[error("`{text}` may be one percent or all of it; write `1%` or `100%`")]
    OneOrAll {
        /// What was given.
        text: String,
    },
    /// A size that is no whole number of bytes.
    #[error("`{text}` is no whole number of bytes")]
    Fraction {
        /// What was given.
        text: String,
    },
}

impl Quantity {
    /// Reads `text` as a quantity of the given unit.
    ///
    /// # Errors
    /// When there is no number, the unit is of another kind, or the value is not finite or negative.
    pub fn parse(text: &str, unit: Unit) -> Result<Self, QuantityError> {
        let trimmed = text.trim();
        let (number, suffix) = split(trimmed);
        let value: f64 = number.parse().map_err(|_| QuantityError::NoNumber {
            text: text.to_owned(),
            example: example(unit),
        })?;
        let factor = factor(suffix.trim(), unit).ok_or_else(|| QuantityError::WrongUnit {
            text: text.to_owned(),
            found: suffix.trim().to_owned(),
            wanted: kind(unit),
            example: example(unit),
        })?;
        let value = value * factor;
        if value < 0.0 {
            return Err(QuantityError::BelowZero {
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
        /// Above 2⁵³ a binary64 no longer holds every whole number.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let value = Quantity::parse(text, Unit::Byte)?.value;
        if value > EXACT {
            return Err(QuantityError::OutOfRange { text: text.to_owned() });
        }
        if value.fract() > 0.0 {
            return Err(QuantityError::Fraction { text: text.to_owned() });
        }
        Ok(Self(value as u64))
    }
}

/// A year: a longer time was not meant, and clocks count it without overflow.
pub const LONGEST_S: f64 = 366.0 * 86_400.0;

/// Reads `80%` or `0.8` as the ratio 0.8.
///
/// # Errors
/// When it is neither.
pub fn ratio(text: &str) -> Result<f64, QuantityError> {
    Quantity::parse(text, Unit::Ratio).map(|quantity| quantity.value)
}

/// Reads a share where only percent makes sense: `80%`, `0.8`, or `80`.
///
/// # Errors
/// When it is none of them, or a bare 1, which may be the one or the other.
pub fn share(text: &str) -> Result<f64, QuantityError> {
    let value = ratio(text)?;
    let is_bare = text.trim().ends_with(|last: char| last.is_ascii_digit());
    match is_bare {
        true if (value - 1.0).abs() < f64::EPSILON => {
            Err(QuantityError::OneOrAll { text: text.to_owned() })
        }
        true if value > 1.0 => Ok(value / 100.0),
        _ => Ok(value),
    }
}

/// Splits `text` into its number and what its unit is worth in the words of another language: `worth` is
/// asked with the unit in small letters. How that language writes numbers is left to the caller.
pub fn foreign(text: &str, worth: impl Fn(&str) -> Option<f64>) -> Option<(&str, f64)> {
    let (number, unit) = split(text.trim());
    Some((number, worth(&unit.to_ascii_lowercase())?))
}

/// What `k`, `m`, `g` or `t` multiplies by where `k` is worth `k`; 1 where there is no letter.
#[must_use]
pub fn letter(letter: &str, k: f64) -> Option<f64> {
    let power = ["", "k", "m", "g", "t"].iter().position(|it| *it == letter)?;
    Some(k.powi(power as i32))
}

/// Splits behind the number; `1e9` is one number, `1e` is `1` and `e`.
fn split(text: &str) -> (&str, &str) {
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

/// What one of `suffix` is worth in the base unit; `None` when it is a unit of something else.
fn factor(suffix: &str, unit: Unit) -> Option<f64> {
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
            let bytes = binary(bytes).or_else(|| decimal(bytes))?;
            second_factor(time).filter(|_| !time.is_empty()).map(|seconds| seconds / bytes)
        }
        Unit::Count => decimal(suffix),
        Unit::BytePerSecond => prefixed(suffix, &["B/s", "Bps"]),
        Unit::BitPerSecond => prefixed(suffix, &["bit/s", "bps", "b/s", "bit"]),
        Unit::FlopPerSecond => prefixed(suffix, &["FLOP/s", "FLOPS", "flops"]),
        Unit::IoPerSecond => prefixed(suffix, &["IO/s", "IOPS", "iops", "io/s"]),
        Unit::Hertz => prefixed(suffix, &["Hz"]),
    }
}

fn byte_factor(suffix: &str) -> Option<f64> {
    if let Some(prefix) = suffix.strip_suffix('B') {
        return binary(prefix).or_else(|| decimal(prefix));
    }
    let bare = suffix.strip_suffix('b').unwrap_or(suffix);
    binary(bare).or_else(|| letter(&bare.to_ascii_lowercase(), 1024.0))
}

fn second_factor(suffix: &str) -> Option<f64> {
    Some(match suffix {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" | "μs" => 1e-6,
        "ns" => 1e-9,
        "ps" => 1e-12,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    })
}

/// Nobody counts in thousandths of an I/O or a bit: a small letter is the prefix that it would be in capitals.
fn prefixed(suffix: &str, symbols: &[&str]) -> Option<f64> {
    let prefix = symbols.iter().find_map(|symbol| suffix.strip_suffix(symbol));
    let worth =
        |prefix: &str| decimal(prefix).or_else(|| letter(&prefix.to_ascii_lowercase(), 1e3));
    prefix.map_or_else(|| worth(suffix), |prefix| binary(prefix).or_else(|| worth(prefix)))
}

fn decimal(prefix: &str) -> Option<f64> {
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

fn binary(prefix: &str) -> Option<f64> {
    Some(match prefix {
        "Ki" => 1024.0,
        "Mi" => 1024f64.powi(2),
        "Gi" => 1024f64.powi(3),
        "Ti" => 1024f64.powi(4),
        "Pi" => 1024f64.powi(5),
        _ => return None,
    })
}

const fn kind(unit: Unit) -> &'static str {
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
