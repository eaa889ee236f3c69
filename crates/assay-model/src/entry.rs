//! Entries: results that a measurement passes to the recorder, before their series has a number.
//!
//! A driver supplies metrics and the dimensions of a series within its case. The recorder adds
//! numbers, preparations and times.

use crate::attribute::{Attribute, Attributes, Value};
use crate::distribution::Distribution;
use crate::doubt::Doubt;
use crate::event::{Count, Figures};

/// Result of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A measured result of one series.
    Measured(Key, Seen),
    /// A fact about one series.
    SeriesFact(Key, Attribute, Value),
    /// A fact about the case.
    Fact(Attribute, Value),
    /// A doubt about the case.
    Doubt(Doubt),
}

/// Series within a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Name of the metric in the benchmark's row.
    pub metric: &'static str,
    /// Dimensions that distinguish it from other series of that metric; empty for the only one.
    pub extra: Attributes,
}

/// Measured result: a value, or several values of a time span.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// A value in the metric's base unit, with its weight in means.
    Sample {
        /// The value.
        value: f64,
        /// Its weight: seconds, bytes or operations that the value is a mean over.
        weight: f64,
    },
    /// All values of a stretch of time.
    Distribution(Span, Distribution),
    /// Rare events in a stretch of time.
    Count(Span, Count),
    /// Statistics that a tool printed of values that it did not output.
    Figures(Figures),
}

/// Time span since the measurement of the case began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Its start in ns.
    pub from_ns: u64,
    /// Its end in ns.
    pub to_ns: u64,
    /// Whether it belongs to the warm-up.
    pub warmup: bool,
}

impl Key {
    /// Returns the key of a metric's only series.
    #[must_use]
    pub const fn of(metric: &'static str) -> Self {
        Self { metric, extra: Attributes::new() }
    }

    /// Returns the key of one of several series of a metric.
    pub fn with(
        metric: &'static str,
        extra: impl IntoIterator<Item = (Attribute, Value)>,
    ) -> Self {
        Self { metric, extra: extra.into_iter().collect() }
    }
}

impl Seen {
    /// Returns a value that is a mean over `weight` seconds, bytes or operations.
    ///
    /// A weight of exactly 1 is increased by a billionth: 1 marks a value as one repetition of the
    /// same work, for which means are calculated differently.
    #[must_use]
    pub fn over(value: f64, weight: f64) -> Self {
        let is_one = (weight - 1.0).abs() < 1e-9;
        Self::Sample { value, weight: if is_one { 1.0 + 1e-9 } else { weight } }
    }
}

impl Span {
    /// Converts a span from seconds.
    #[must_use]
    pub fn of_seconds(start_s: f64, length_s: f64, warmup: bool) -> Self {
        let ns = |seconds: f64| (seconds * 1e9).round().max(0.0) as u64;
        Self { from_ns: ns(start_s), to_ns: ns(start_s + length_s), warmup }
    }

    /// Returns its start and its length in seconds.
    #[must_use]
    pub fn seconds(self) -> (f64, f64) {
        let length_ns = self.to_ns.saturating_sub(self.from_ns);
        (self.from_ns as f64 * 1e-9, length_ns as f64 * 1e-9)
    }
}

impl Entry {
    /// Adds a dimension to the series; returns entries about the case unchanged.
    #[must_use]
    pub fn within(mut self, name: Attribute, value: impl Into<Value>) -> Self {
        if let Self::Measured(key, _) | Self::SeriesFact(key, ..) = &mut self {
            key.extra.insert(name, value.into());
        }
        self
    }

    /// Returns a sample of weight 1 of a metric's only series.
    #[must_use]
    pub const fn sample(metric: &'static str, value: f64) -> Self {
        Self::Measured(Key::of(metric), Seen::Sample { value, weight: 1.0 })
    }

    /// Adds `dimensions` to the series; returns entries about the case unchanged.
    #[must_use]
    pub fn of(mut self, dimensions: &Attributes) -> Self {
        if let Self::Measured(key, _) | Self::SeriesFact(key, ..) = &mut self {
            key.extra.extend(dimensions.clone());
        }
        self
    }
}
