//! iperf3's numbers with prefixes: sizes count 1024, rates count 1000, whatever the letter looks like.

use assay_model::quantity;

/// What `-f` chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// The prefix that fits.
    #[default]
    Adaptive,
    /// A fixed rate in bits: kilo (1), mega (2) … times 1000.
    Bits(u32),
    /// A fixed rate in bytes: kilo (1), mega (2) … times 1024.
    Bytes(u32),
}

impl Format {
    /// Reads the letter of `-f`: `k m g t` for bits, `K M G T` for bytes, `a` and `A` adaptive.
    #[must_use]
    pub fn from_letter(letter: &str) -> Option<Self> {
        let power = |letters: &str| letters.find(letter).map(|at| at as u32 + 1);
        match letter {
            "a" | "A" => Some(Self::Adaptive),
            _ if letter.len() != 1 => None,
            _ => power("kmgt").map(Self::Bits).or_else(|| power("KMGT").map(Self::Bytes)),
        }
    }
}

const PREFIXES: [&str; 5] = ["", "K", "M", "G", "T"];

/// `1.61 GByte`, four characters for the number: what iperf3 puts before `s` or `s/sec`.
#[must_use]
pub fn bytes(value: f64) -> String {
    scaled(value, 1024.0, "Byte", None)
}

/// `13.9 Gbit`, or in the format requested.
#[must_use]
pub fn rate(bit_per_s: f64, format: Format) -> String {
    match format {
        Format::Adaptive => scaled(bit_per_s, 1000.0, "bit", None),
        Format::Bits(power) => scaled(bit_per_s, 1000.0, "bit", Some(power)),
        Format::Bytes(power) => scaled(bit_per_s / 8.0, 1024.0, "Byte", Some(power)),
    }
}

fn scaled(mut value: f64, step: f64, unit: &str, fixed: Option<u32>) -> String {
    let mut power = 0;
    while fixed.map_or(value >= step && power + 1 < PREFIXES.len(), |it| power < it as usize) {
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

/// Reads a size as `-l`, `-w`, `-n` and `-k` take it: `k`, `m`, `g`, `t` count 1024 in either case.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    parse(text, 1024.0)
}

/// Reads a rate as `-b` and `--fq-rate` take it: `k`, `m`, `g`, `t` count 1000 in either case.
#[must_use]
pub fn parse_rate(text: &str) -> Option<u64> {
    parse(text, 1000.0)
}

fn parse(text: &str, step: f64) -> Option<u64> {
    let (number, unit) = quantity::foreign(text, |unit| quantity::letter(unit, step))?;
    let value = number.parse::<f64>().ok()? * unit;
    (0.0..1e18).contains(&value).then_some(value as u64)
}
