//! Parser of fio's numbers: units of size and time, percentages, arithmetic, lists.
//!
//! With `kb_base=1024`, fio's default, `k` and `kB` are 1024 and `KiB` is 1000: fio swaps the
//! labels on purpose. With `kb_base=1000` they have their SI and IEC meanings (fio's manual,
//! "Parameter types"). Nothing here guesses: the caller rejects malformed numbers.

use assay_model::quantity;

use super::arithmetic;

/// Base of unit prefixes in a job (`kb_base`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberBase {
    /// 1024 or 1000.
    pub(super) kb: u32,
}

/// Size in bytes or as a share of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SizeOrPercent {
    /// Bytes.
    Bytes(u64),
    /// Percent of the file or device.
    Percent(f64),
}

/// Largest offset: 2⁶³ − 1.
const MAX_BYTES: f64 = 9_223_372_036_854_775_807.0;

impl NumberBase {
    /// Parses bytes: `4k`, `0x1000`, `(8*1024)`, `1.5g`; truncates fractions of a byte.
    pub(super) fn parse_bytes(self, text: &str) -> Option<u64> {
        match self.parse_size(text)? {
            SizeOrPercent::Bytes(bytes) => Some(bytes),
            SizeOrPercent::Percent(_) => None,
        }
    }

    /// Parses bytes or a percentage.
    pub(super) fn parse_size(self, text: &str) -> Option<SizeOrPercent> {
        let text = text.trim();
        // fio reads no further than a parenthesis that closes nothing: its own tests have one.
        let text = if text.contains('(') { text } else { text.trim_end_matches(')') };
        if let Some(number) = text.strip_suffix('%') {
            // fio reads no further than the first sign: templates write `100%%`.
            let number = number.trim_end_matches('%');
            let percent =
                parse_decimal(number).filter(|value| (0.0..=100.0).contains(value))?;
            return Some(SizeOrPercent::Percent(percent));
        }
        if let Some(value) = parse_hexadecimal(text) {
            return Some(SizeOrPercent::Bytes(value));
        }
        let value = if is_expression(text) {
            arithmetic::evaluate(text, &|operand| self.parse_scaled(operand))?
        } else {
            self.parse_scaled(text)?
        };
        (0.0..=MAX_BYTES).contains(&value).then_some(SizeOrPercent::Bytes(value as u64))
    }

    fn parse_scaled(self, text: &str) -> Option<f64> {
        parse_with_unit(text, |unit| self.unit_factor(unit))
    }

    fn unit_factor(self, unit: &str) -> Option<f64> {
        let kb = f64::from(self.kb);
        let other = if self.kb == 1000 { 1024.0 } else { 1000.0 };
        let unit = unit.strip_suffix('b').unwrap_or(unit);
        let (prefix, base) = match unit.strip_suffix('i') {
            Some(iec) if !iec.is_empty() => (iec, other),
            _ => (unit, kb),
        };
        if prefix == "p" { Some(base.powi(5)) } else { quantity::letter_factor(prefix, base) }
    }
}

/// Parses a plain number and multiplies it by its unit.
fn parse_with_unit(text: &str, worth: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let (number, unit) = quantity::split_factor(text, worth)?;
    parse_decimal(number).map(|value| value * unit)
}

/// Parses seconds; a bare number is in seconds.
pub(super) fn parse_seconds(text: &str) -> Option<f64> {
    let worth = |unit: &str| match unit {
        "us" | "usec" => Some(1e-6),
        "ms" | "msec" => Some(1e-3),
        "" | "s" | "sec" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        "d" => Some(86_400.0),
        _ => None,
    };
    let scaled = |operand: &str| parse_with_unit(operand, worth);
    let text = text.trim();
    let value =
        if is_expression(text) { arithmetic::evaluate(text, &scaled)? } else { scaled(text)? };
    // Negative times and times above a century are mistakes.
    (0.0..=3.2e9).contains(&value).then_some(value)
}

/// Parses a whole number; `k` and the like are 1024-based, as in fio.
pub(super) fn parse_whole(text: &str) -> Option<u64> {
    NumberBase { kb: 1024 }.parse_bytes(text)
}

/// Parses a plain decimal number.
pub(super) fn parse_decimal(text: &str) -> Option<f64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    value.filter(|_| digits && !text.is_empty())
}

/// Parses `1` or `0`.
pub(super) fn parse_flag(text: &str) -> Option<bool> {
    match text.trim() {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

fn parse_hexadecimal(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    u64::from_str_radix(digits, 16).ok().filter(|value| i64::try_from(*value).is_ok())
}

fn is_expression(text: &str) -> bool {
    text.contains(['(', '+', '*', '/', '^'])
}
