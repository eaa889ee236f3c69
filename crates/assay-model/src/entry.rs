//! Entries: what a measurement hands to the recorder, before its series has a number.
//!
//! A driver knows metrics and what distinguishes one series of its case from another; numbers,
//! preparations and times of day are the recorder's.

use crate::attribute::{Attribute, Attributes, Value};
use crate::distribution::Distribution;
use crate::doubt::Doubt;
use crate::event::{Count, Figures};

/// One thing that a measurement found.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// Something measured.
    Measured(Key, Seen),
    /// A fact about one series.
    SeriesFact(Key, Attribute, Value),
    /// A fact about the case.
    Fact(Attribute, Value),
    /// A doubt about the case.
    Doubt(Doubt),
}

/// Which series of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Name of the metric in the benchmark's row.
    pub metric: &'static str,
    /// What distinguishes it from other series of that metric; empty where there is one.
    pub extra: Attributes,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// A value in the metric's base unit, and what it is a mean over.
    Sample {
        /// The value.
        value: f64,
        /// Its weight.
        weight: f64,
    },
    /// All values of a stretch of time.
    Distribution(Span, Distribution),
    /// Rare events in a stretch of time.
    Count(Span, Count),
    /// What a tool said of values that only it has seen.
    Figures(Figures),
}

/// A stretch of time since the measurement of the case began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Its beginning in ns.
    pub from_ns: u64,
    /// Its end in ns.
    pub to_ns: u64,
    /// Whether it belongs to the warm-up.
    pub warmup: bool,
}

impl Key {
    /// The only series of a metric.
    #[must_use]
    pub const fn of(metric: &'static str) -> Self {
        Self { metric, extra: Attributes::new() }
    }

    /// One of several series of a metric.
    pub fn with(
        metric: &'static str,
        extra: impl IntoIterator<Item = (Attribute, Value)>,
    ) -> Self {
        Self { metric, extra: extra.into_iter().collect() }
    }
}

impl Seen {
    /// A value that is a mean over so many seconds, bytes or operations. Where that is exactly 1 it is a
    /// billionth more: a weight of 1 says that the value is one repetition of the same work, of which the
    /// mean is another.
    #[must_use]
    pub fn over(value: f64, weight: f64) -> Self {
        let is_one = (weight - 1.0).abs() < 1e-9;
        Self::Sample { value, weight: if is_one { 1.0 + 1e-9 } else { weight } }
    }
}

impl Span {
    /// From seconds; a span that counts.
    #[must_use]
    pub fn of_seconds(start_s: f64, length_s: f64, warmup: bool) -> Self {
        let ns = |seconds: f64| (seconds * 1e9).round().max(0.0) as u64;
        Self { from_ns: ns(start_s), to_ns: ns(start_s + length_s), warmup }
    }

    /// Its beginning and its length in seconds.
    #[must_use]
    pub fn seconds(self) -> (f64, f64) {
        let length_ns = self.to_ns.saturating_sub(self.from_ns);
        (self.from_ns as f64 * 1e-9, length_ns as f64 * 1e-9)
    }
}

impl Entry {
    /// The same, distinguished by one dimension more where it is about a series.
    #[must_use]
    pub fn within(mut self, name: Attribute, value: impl Into<Value>) -> Self {
        if let Self::Measured(key, _) | Self::SeriesFact(key, ..) = &mut self {
            key.extra.insert(name, value.into());
        }
        self
    }

    /// A sample of weight 1 of a metric's only series.
    #[must_use]
    pub const fn sample(metric: &'static str, value: f64) -> Self {
        Self::Measured(Key::of(metric), Seen::Sample { value, weight: 1.0 })
    }

    /// The same about one part of many: whatever is about a series has these dimensions, too.
    #[must_use]
    pub fn of(mut self, dimensions: &Attributes) -> Self {
        if let Self::Measured(key, _) | Self::SeriesFact(key, ..) = &mut self {
            key.extra.extend(dimensions.clone());
        }
        self
    }
}
