//! iperf3's numbers with unit prefixes: sizes use powers of 1024, rates powers of 1000, in either
//! case of the letter.

use assay_model::quantity;
use serde::{Deserialize, Serialize};

/// Unit of rates in the output (`-f`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateFormat {
    /// Largest prefix that fits.
    #[default]
    Adaptive,
    /// Fixed unit in bits: kilo (1), mega (2) … with factor 1000.
    Bits(u32),
    /// Fixed unit in bytes: kilo (1), mega (2) … with factor 1024.
    Bytes(u32),
}

impl RateFormat {
    /// Parses the letter of `-f`: `k m g t` for bits, `K M G T` for bytes, `a` or `A` for adaptive.
    pub fn from_letter(letter: &str) -> Option<Self> {
        let power = |letters: &str| letters.find(letter).map(|index| index as u32 + 1);
        match letter {
            "a" | "A" => Some(Self::Adaptive),
            _ if letter.len() != 1 => None,
            _ => power("kmgt").map(Self::Bits).or_else(|| power("KMGT").map(Self::Bytes)),
        }
    }
}

const PREFIXES: [&str; 5] = ["", "K", "M", "G", "T"];

/// Formats a size like `1.61 GByte`, the number four characters wide; iperf3 appends `s` or
/// `s/sec`.
pub fn format_bytes(value: f64) -> String {
    format_scaled(value, 1024.0, "Byte", None)
}

/// Formats a rate like `13.9 Gbit`, in the requested unit.
pub fn format_rate(bit_per_s: f64, format: RateFormat) -> String {
    match format {
        RateFormat::Adaptive => format_scaled(bit_per_s, 1000.0, "bit", None),
        RateFormat::Bits(power) => format_scaled(bit_per_s, 1000.0, "bit", Some(power)),
        RateFormat::Bytes(power) => format_scaled(bit_per_s / 8.0, 1024.0, "Byte", Some(power)),
    }
}

fn format_scaled(mut value: f64, step: f64, unit: &str, fixed: Option<u32>) -> String {
    let mut power = 0;
    while power + 1 < PREFIXES.len() && fixed.map_or(value >= step, |it| power < it as usize) {
        value /= step;
        power += 1;
    }
    let digits = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:4.digits$} {}{unit}", PREFIXES[power])
}

/// Parses a size of `-l`, `-w`, `-n` or `-k`: `k`, `m`, `g`, `t` are powers of 1024, in either
/// case.
pub fn parse_size(text: &str) -> Option<u64> {
    parse_quantity(text, 1024.0)
}

/// Parses a rate of `-b` or `--fq-rate`: `k`, `m`, `g`, `t` are powers of 1000, in either case.
pub fn parse_rate(text: &str) -> Option<u64> {
    parse_quantity(text, 1000.0)
}

fn parse_quantity(text: &str, step: f64) -> Option<u64> {
    let (number, unit) =
        quantity::split_factor(text, |unit| quantity::letter_factor(unit, step))?;
    let value = number.parse::<f64>().ok()? * unit;
    (0.0..1e18).contains(&value).then_some(value as u64)
}
