//! Values of options as people write them: one parser for each kind, for all commands.

use assay_console::options::{self, parse_seconds};
use assay_model::attribute::Attribute;
use assay_model::quantity::{self, Bytes, Quantity, Unit};
use assay_model::spelling::nearest_word;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Choice of an option: its name with other spellings, its help, and the value that it selects.
pub(super) type Choice<T> = (&'static [&'static str], &'static str, T);

/// Returns the parser of an option with named values.
pub(super) fn one_of<T: Clone + Send + Sync>(
    choices: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> {
    let listed = choices.iter().filter_map(|(names, help, _)| {
        let (name, other) = names.split_first()?;
        Some(PossibleValue::new(*name).aliases(other.iter().copied()).help(*help))
    });
    PossibleValuesParser::new(listed).map(|typed| {
        let is_typed =
            |it: &&Choice<T>| it.0.iter().any(|name| name.eq_ignore_ascii_case(&typed));
        let choice = choices.iter().find(is_typed);
        choice.expect("the parser accepts only these names").2.clone()
    })
}

/// Time budget of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TimeBudget {
    /// Seconds that the run keeps.
    Seconds(f64),
    /// Time of the first results of the cases that represent the machine.
    Shortest,
}

impl TimeBudget {
    /// Planned seconds of a run of first results, too few for further ones.
    const SHORTEST_S: f64 = 0.1;

    /// Parses a time, or `shortest`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "shortest" => Ok(Self::Shortest),
            time => parse_seconds(time).map(Self::Seconds),
        }
    }

    pub(crate) const fn seconds(self) -> f64 {
        match self {
            Self::Seconds(seconds) => seconds,
            Self::Shortest => Self::SHORTEST_S,
        }
    }

    /// Whether cases are left out to keep it.
    pub(crate) const fn is_kept(self) -> bool {
        matches!(self, Self::Seconds(_))
    }
}

/// Rate of I/O, which depends on the size of one I/O if it is a bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum IoRate {
    /// I/O per second.
    PerSecond(f64),
    /// Bytes per second.
    Bandwidth(f64),
}

impl IoRate {
    /// Returns the I/O per second of this size.
    pub(crate) fn per_second(self, size: Bytes) -> f64 {
        match self {
            Self::PerSecond(rate) => rate,
            Self::Bandwidth(bytes_per_s) => bytes_per_s / (size.0 as f64).max(1.0),
        }
    }
}

/// Bandwidth, in bits or in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bandwidth {
    pub(crate) bit_per_s: f64,
}

impl Bandwidth {
    /// Plausibility limit: 250 times the fastest links on the market (400 Gbit/s).
    const MAX_BIT_PER_S: f64 = 100e12;

    /// Parses a bandwidth with its unit, like 10Gbit/s or 400MiB/s. Without one, `1G` could mean
    /// bits or bytes, and a size is not a rate.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let typed = text.trim();
        let unit = unit_text(typed);
        if matches!(unit, "" | "k" | "K" | "m" | "M" | "g" | "G" | "t" | "T") {
            let number = typed.trim_end_matches(char::is_alphabetic);
            return Err(format!(
                "`{text}` has no unit; write it like `{number}Mbit/s` or `{number}MiB/s`"
            ));
        }
        if unit.ends_with('B') {
            return Err(format!("`{text}` is a size; write a rate like `{typed}/s`"));
        }
        let (unit, bits) = match unit.contains('B') {
            true => (Unit::BytePerSecond, 8.0),
            false => (Unit::BitPerSecond, 1.0),
        };
        let quantity = Quantity::parse(text, unit).map_err(|error| error.to_string())?;
        let bit_per_s = quantity.value * bits;
        if (1.0..=Self::MAX_BIT_PER_S).contains(&bit_per_s) {
            Ok(Self { bit_per_s })
        } else {
            Err("expected a rate of 1 bit/s to 100 Tbit/s".into())
        }
    }

    /// Returns the bytes per second.
    pub(crate) fn bytes_per_s(self) -> f64 {
        self.bit_per_s / 8.0
    }
}

/// Returns the text after the number.
fn unit_text(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit() || ".e+_".contains(c)).trim()
}

/// Parses a rate of I/O or operations per second, like 5000 or 300k.
pub(super) fn parse_rate(text: &str) -> Result<f64, String> {
    parse_positive(text, Unit::IoPerSecond)
}

/// Parses a rate of I/O: per second, or a bandwidth like 400MiB/s.
pub(super) fn parse_io_rate(text: &str) -> Result<IoRate, String> {
    let unit = unit_text(text.trim());
    let is_bandwidth = ["B/s", "bit", "Bps", "bps"].iter().any(|it| unit.contains(it));
    if is_bandwidth {
        return Bandwidth::parse(text).map(|it| IoRate::Bandwidth(it.bytes_per_s()));
    }
    parse_rate(text).map(IoRate::PerSecond)
}

/// Parses a value above zero.
pub(super) fn parse_positive(text: &str, unit: Unit) -> Result<f64, String> {
    let value = Quantity::parse(text, unit).map_err(|error| error.to_string())?.value;
    if value > 0.0 { Ok(value) } else { Err("expected a value above zero".into()) }
}

/// Parses a whole number, also like 1e4.
pub(super) fn parse_count(text: &str) -> Result<u64, String> {
    /// Largest power of two up to which every whole number is a float.
    const MOST: f64 = 9_007_199_254_740_992.0;
    let is_whole = |it: &f64| it.fract() == 0.0 && (0.0..=MOST).contains(it);
    let power = || text.contains(['e', 'E']).then(|| text.parse::<f64>().ok()).flatten();
    match text.parse::<u64>() {
        Ok(count) => Ok(count),
        Err(_) => power()
            .filter(is_whole)
            .map(|it| it as u64)
            .ok_or_else(|| "expected a whole number, like 10000 or 1e4".to_owned()),
    }
}

pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    let ratio = quantity::parse_share(text).map_err(|error| error.to_string())?;
    if ratio > 0.0 && ratio <= 0.95 {
        Ok(ratio)
    } else {
        Err("expected a share above 0%, at most 95%".into())
    }
}

/// Parses the largest difference that counts as equivalent. It must be positive, or equivalence
/// could not be shown.
pub(super) fn parse_margin(text: &str) -> Result<f64, String> {
    let ratio = quantity::parse_share(text).map_err(|error| error.to_string())?;
    if ratio > 0.0 && ratio < 1.0 {
        Ok(ratio)
    } else {
        Err("expected a share above 0% and below 100%, like `5%`".into())
    }
}

/// Parses a time to wait, which may be zero.
pub(super) fn parse_pause(text: &str) -> Result<f64, String> {
    if text == "0s" { Ok(0.0) } else { parse_seconds(text) }
}

/// Parses a parameter of a result with its value.
pub(super) fn parse_parameter(text: &str) -> Result<(Attribute, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("expected NAME=VALUE, like placement=node, found `{text}`"))?;
    let attribute = Attribute::from_name(name).ok_or_else(|| {
        let known = Attribute::ALL.iter().map(|it| it.name());
        match nearest_word(name, known) {
            Some(near) => format!("there is no parameter `{name}`; did you mean {near}?"),
            None => format!("there is no parameter `{name}`"),
        }
    })?;
    Ok((attribute, value.to_owned()))
}

/// Parses a note: one line of text, short enough for reports.
pub(super) fn parse_note(text: &str) -> Result<String, String> {
    const LONGEST: usize = 400;
    let text = text.trim();
    if !text.is_empty()
        && !text.chars().any(char::is_control)
        && text.chars().count() <= LONGEST
    {
        Ok(text.to_owned())
    } else {
        Err(format!("expected a line of 1 to {LONGEST} characters"))
    }
}

/// Parses a host whose port is a separate option.
pub(super) fn parse_host(text: &str) -> Result<String, String> {
    options::parse_host(text, Some("-p"))
}
