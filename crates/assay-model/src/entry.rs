//! Entries: results that a measurement passes to the recorder, before their series has a number.
//!
//! A driver supplies the metric and the dimensions of a series within its case. The recorder adds
//! the number of the series, the number of the preparation, and the time.

use crate::attribute::{Attribute, AttributeValue, Attributes};
use crate::distribution::LatencyDistribution;
use crate::doubt::Doubt;
use crate::event::{EventCount, ToolFigures};

/// Result of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub enum MeasurementEntry {
    /// A measured result of one series.
    Measured(SeriesKey, EntryValue),
    /// A fact about one series.
    SeriesFact(SeriesKey, Attribute, AttributeValue),
    /// A fact about the case.
    Fact(Attribute, AttributeValue),
    /// A doubt about the case.
    Doubt(Doubt),
}

/// Series within a case.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesKey {
    /// Name of the metric in the benchmark's row.
    pub metric: &'static str,
    /// Dimensions that distinguish it from other series of that metric; empty if there is only one.
    pub dimensions: Attributes,
}

/// Measured result: a value, or several values of a time span.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryValue {
    /// A value in the metric's base unit, with its weight in means.
    Sample {
        value: f64,
        /// Its weight: seconds, bytes or operations that the value is a mean over.
        weight: f64,
    },
    /// All values of a time span.
    Distribution(MeasuredSpan, LatencyDistribution),
    /// Rare events in a time span.
    Count(MeasuredSpan, EventCount),
    /// Statistics that a tool printed of values that it did not output.
    Figures(ToolFigures),
}

/// Time span since the measurement of the case began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MeasuredSpan {
    /// Its start in ns.
    pub from_ns: u64,
    /// Its end in ns.
    pub to_ns: u64,
    /// Whether it belongs to the warm-up.
    pub warmup: bool,
}

impl SeriesKey {
    /// Returns the key of a metric's only series.
    pub const fn only_series(metric: &'static str) -> Self {
        Self { metric, dimensions: Attributes::new() }
    }

    /// Returns the key of one of several series of a metric.
    pub fn with_dimensions(
        metric: &'static str,
        dimensions: impl IntoIterator<Item = (Attribute, AttributeValue)>,
    ) -> Self {
        Self { metric, dimensions: dimensions.into_iter().collect() }
    }
}

impl EntryValue {
    /// Returns a value that is a mean over `weight` seconds, bytes or operations.
    ///
    /// A weight of exactly 1 marks a value as one repetition of the same work, for which means are
    /// calculated differently. So a weight of 1 second, byte or operation is increased by a
    /// billionth.
    pub fn weighted(value: f64, weight: f64) -> Self {
        let is_one = (weight - 1.0).abs() < 1e-9;
        Self::Sample { value, weight: if is_one { 1.0 + 1e-9 } else { weight } }
    }
}

impl MeasuredSpan {
    /// Converts a span from seconds.
    pub fn from_seconds(start_s: f64, length_s: f64, warmup: bool) -> Self {
        let ns = |seconds: f64| (seconds * 1e9).round().max(0.0) as u64;
        Self { from_ns: ns(start_s), to_ns: ns(start_s + length_s), warmup }
    }
}

impl MeasurementEntry {
    /// Returns a result of a metric's only series.
    pub const fn measured(metric: &'static str, value: EntryValue) -> Self {
        Self::Measured(SeriesKey::only_series(metric), value)
    }

    /// Returns a fact about the case.
    pub fn fact(name: Attribute, value: impl Into<AttributeValue>) -> Self {
        Self::Fact(name, value.into())
    }

    /// Adds a dimension to the series; returns entries about the case unchanged.
    #[must_use]
    pub fn with_dimension(mut self, name: Attribute, value: impl Into<AttributeValue>) -> Self {
        if let Self::Measured(key, _) | Self::SeriesFact(key, ..) = &mut self {
            key.dimensions.insert(name, value.into());
        }
        self
    }

    /// Returns a sample of weight 1 of a metric's only series.
    pub const fn sample(metric: &'static str, value: f64) -> Self {
        Self::measured(metric, EntryValue::Sample { value, weight: 1.0 })
    }

    /// Adds `dimensions` to the series; returns entries about the case unchanged.
    #[must_use]
    pub fn with_dimensions(mut self, dimensions: &Attributes) -> Self {
        if let Self::Measured(key, _) | Self::SeriesFact(key, ..) = &mut self {
            key.dimensions.extend(dimensions.clone());
        }
        self
    }
}
