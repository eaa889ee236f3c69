//! Quantities: numbers with their unit. assay has no numbers without a unit.
//!
//! Only base units exist in memory, in the store and in every machine-readable format. Bits and
//! bytes are different units, converted only explicitly. Decimal and binary prefixes exist only in
//! text, handled by [`parse`] and `display`.

use serde::{Deserialize, Serialize};

mod display;
mod parse;

pub use parse::{
    MAX_DURATION_S, QuantityError, letter_factor, parse_ratio, parse_share, split_factor,
};

/// Base units. The serialised form is [`Unit::symbol`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unit {
    /// Bytes.
    #[serde(rename = "B")]
    Byte,
    #[serde(rename = "B/s")]
    BytePerSecond,
    #[serde(rename = "bit/s")]
    BitPerSecond,
    /// Floating-point operations per second.
    #[serde(rename = "FLOP/s")]
    FlopPerSecond,
    /// Input or output operations per second.
    #[serde(rename = "IO/s")]
    IoPerSecond,
    #[serde(rename = "s")]
    Second,
    #[serde(rename = "s/B")]
    SecondPerByte,
    /// Cycles per second.
    #[serde(rename = "Hz")]
    Hertz,
    /// A dimensionless ratio; 1 means equal.
    #[serde(rename = "ratio")]
    Ratio,
    /// A dimensionless count.
    #[serde(rename = "count")]
    Count,
}

impl Unit {
    /// Every unit, in the order of the glossary.
    pub const ALL: [Self; 10] = [
        Self::Byte,
        Self::BytePerSecond,
        Self::BitPerSecond,
        Self::FlopPerSecond,
        Self::IoPerSecond,
        Self::Second,
        Self::SecondPerByte,
        Self::Hertz,
        Self::Ratio,
        Self::Count,
    ];

    /// Returns the invariant symbol, as in machine-readable formats: `B/s`, `bit/s`, `ratio` …
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Byte => "B",
            Self::BytePerSecond => "B/s",
            Self::BitPerSecond => "bit/s",
            Self::FlopPerSecond => "FLOP/s",
            Self::IoPerSecond => "IO/s",
            Self::Second => "s",
            Self::SecondPerByte => "s/B",
            Self::Hertz => "Hz",
            Self::Ratio => "ratio",
            Self::Count => "count",
        }
    }
}

/// A value in a base unit. `Display` formats it for people, with a prefix: `34.12 GB/s`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// The value, in `unit` without any prefix.
    pub value: f64,
    /// The base unit of `value`.
    pub unit: Unit,
}

impl Quantity {
    /// Creates a quantity from a value in the base unit.
    pub const fn new(value: f64, unit: Unit) -> Self {
        Self { value, unit }
    }
}

/// An exact number of bytes: a size, never a rate.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Returns `n` × 1024 bytes.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// Returns `n` × 1024² bytes.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// Returns `n` × 1024³ bytes.
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }

    /// Converts the size to a quantity; exact below 2⁵³.
    pub fn to_quantity(self) -> Quantity {
        Quantity::new(self.0 as f64, Unit::Byte)
    }
}

#[cfg(test)]
mod tests;
