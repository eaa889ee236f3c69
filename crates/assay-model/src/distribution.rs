//! Distribution of all I/O, messages or operations of a stretch: a histogram with exact moments.
//!
//! Stored as `HdrHistogram` V2 (DEFLATE, base64), which other tools can read, and merged exactly
//! across stretches, threads and hosts. Values are whole nanoseconds.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// All values of a stretch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyDistribution {
    /// Number of values.
    pub count: u64,
    /// Their exact sum in ns.
    pub sum_ns: f64,
    /// The exact sum of their squares in ns², for a standard deviation without bucket rounding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub square_sum: Option<f64>,
    /// Bytes transferred, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The exact minimum in ns, if known; a histogram keeps it to its significant digits only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_ns: Option<u64>,
    /// The exact maximum in ns, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
    /// The values; `None` if only the moments are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<EncodedHistogram>,
}

/// A histogram as text: `HdrHistogram` V2, DEFLATE, base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EncodedHistogram {
    /// Shared, because the total contains the distributions of its hosts.
    text: Arc<str>,
}

/// Text that is not a histogram.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a histogram does not decode: {reason}")]
pub struct DecodeError {
    reason: String,
}

/// Reason why recording into an auto-resizing histogram cannot fail.
const AUTO_RESIZES: &str = "a histogram that grows takes any value";
/// Maximum length of an encoded histogram in characters, against memory exhaustion: 3 digits over
/// the whole range of 64 bits take less than 1 MiB.
const MAX_ENCODED_CHARS: usize = 4 << 20;

impl EncodedHistogram {
    /// Encodes a histogram for storage.
    pub fn from_histogram(histogram: &Histogram<u64>) -> Self {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(histogram, &mut bytes)
            .expect("writing to memory cannot fail, and every histogram has a form");
        Self { text: STANDARD.encode(bytes).into() }
    }

    /// Decodes the histogram; its minimum and maximum are rounded to its significant digits.
    fn decode(&self) -> Histogram<u64> {
        decode(&self.text).expect("it was decoded once when it was read or made")
    }
}

fn decode(text: &str) -> Result<Histogram<u64>, DecodeError> {
    let decode_error = |reason: String| DecodeError { reason };
    if text.len() > MAX_ENCODED_CHARS {
        return Err(decode_error(format!("it has {} characters", text.len())));
    }
    let bytes = STANDARD.decode(text).map_err(|error| decode_error(error.to_string()))?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| decode_error(error.to_string()))
}

impl TryFrom<String> for EncodedHistogram {
    type Error = DecodeError;

    fn try_from(text: String) -> Result<Self, DecodeError> {
        decode(&text)?;
        Ok(Self { text: text.into() })
    }
}

impl From<EncodedHistogram> for String {
    fn from(encoded: EncodedHistogram) -> Self {
        encoded.text.as_ref().to_owned()
    }
}

impl LatencyDistribution {
    /// Builds a distribution from a histogram; the sum is as exact as the histogram's significant
    /// digits.
    pub fn from_histogram(histogram: &Histogram<u64>) -> Self {
        let has_values = !histogram.is_empty();
        Self {
            count: histogram.len(),
            sum_ns: histogram.mean() * histogram.len() as f64,
            square_sum: None,
            bytes: None,
            min_ns: has_values.then(|| lowest_value(histogram)),
            max_ns: has_values.then(|| histogram.max()),
            histogram: has_values.then(|| EncodedHistogram::from_histogram(histogram)),
        }
    }

    /// Decodes the values into an auto-resizing histogram with as many significant digits as the
    /// stored one, so that both give the same quantiles. Empty if only moments are known.
    pub fn decode_histogram(&self) -> Histogram<u64> {
        let Some(encoded) = &self.histogram else { return new_histogram() };
        let mut values = encoded.decode();
        values.auto(true);
        values
    }

    /// Builds a distribution from values in ns, with exact moments.
    pub fn from_values(values_ns: &[u64]) -> Self {
        let mut histogram = new_histogram();
        for value in values_ns {
            histogram.record(*value).expect(AUTO_RESIZES);
        }
        let sum_ns = values_ns.iter().map(|ns| *ns as f64).sum();
        let square_sum = values_ns.iter().map(|ns| (*ns as f64).powi(2)).sum();
        let (min_ns, max_ns) =
            (values_ns.iter().min().copied(), values_ns.iter().max().copied());
        Self {
            sum_ns,
            square_sum: Some(square_sum),
            min_ns,
            max_ns,
            ..Self::from_histogram(&histogram)
        }
    }
}

/// Returns the lowest value. `Histogram::min` would skip zeros.
fn lowest_value(histogram: &Histogram<u64>) -> u64 {
    if histogram.count_at(0) > 0 { 0 } else { histogram.min_nz() }
}

/// Returns an empty auto-resizing histogram of ns with 3 significant digits.
///
/// Only `record` resizes it: `saturating_record` puts values outside its range into the last
/// bucket.
///
/// # Panics
/// Never: three digits are supported.
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are possible")
}

/// Serde format for a histogram in a message: the text of [`EncodedHistogram`].
pub mod as_text {
    use super::{Deserialize, EncodedHistogram, Histogram, Serialize, decode};
    use serde::{Deserializer, Serializer, de};

    /// Serializes the histogram as text.
    pub fn serialize<S: Serializer>(
        histogram: &Histogram<u64>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        EncodedHistogram::from_histogram(histogram).serialize(to)
    }

    /// Deserializes the histogram from text.
    ///
    /// # Errors
    /// A text that is no histogram.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram<u64>, D::Error> {
        let text = String::deserialize(from)?;
        let mut histogram = decode(&text).map_err(de::Error::custom)?;
        histogram.auto(true);
        Ok(histogram)
    }
}

/// Serde format for an optional histogram.
pub(crate) mod as_text_if_any {
    use super::{Deserialize, EncodedHistogram, Histogram, Serialize, as_text};
    use serde::{Deserializer, Serializer};

    /// Wrapper that deserializes a histogram inside an `Option`.
    #[derive(Deserialize)]
    struct TextHistogram(#[serde(with = "as_text")] Histogram<u64>);

    pub(crate) fn serialize<S: Serializer>(
        histogram: &Option<Histogram<u64>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        histogram.as_ref().map(EncodedHistogram::from_histogram).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Histogram<u64>>, D::Error> {
        Ok(Option::<TextHistogram>::deserialize(from)?
            .map(|TextHistogram(histogram)| histogram))
    }
}

/// All distributions of a series together: histograms merged exactly, moments summed.
#[derive(Debug, Clone)]
pub struct MergedDistribution {
    /// Number of values.
    pub count: u64,
    /// Their exact sum in ns.
    pub sum_ns: f64,
    /// The exact sum of squares, if every part has one.
    pub square_sum: Option<f64>,
    /// Bytes transferred.
    pub bytes: u64,
    /// The minimum in ns, as exact as in the parts; `None` without values.
    pub min_ns: Option<u64>,
    /// The maximum in ns, as exact as in the parts; `None` without values.
    pub max_ns: Option<u64>,
    /// The values of all parts that have a histogram.
    pub histogram: Histogram<u64>,
}

impl MergedDistribution {
    /// Merges distributions; `None` without any.
    pub fn merge<'a>(parts: impl IntoIterator<Item = &'a LatencyDistribution>) -> Option<Self> {
        parts.into_iter().map(Self::from_part).reduce(Self::merge_with)
    }

    fn from_part(part: &LatencyDistribution) -> Self {
        let (mut histogram, values) = (new_histogram(), part.decode_histogram());
        // Usually the precision is equal. Then reusing the decoded histogram saves a copy, which
        // would dominate the time to merge a thousand distributions.
        if values.sigfig() == histogram.sigfig() {
            histogram = values;
        } else {
            histogram.add(values).expect(AUTO_RESIZES);
        }
        Self {
            count: part.count,
            sum_ns: part.sum_ns,
            square_sum: part.square_sum,
            bytes: part.bytes.unwrap_or(0),
            min_ns: part.min_ns,
            max_ns: part.max_ns,
            histogram,
        }
    }

    /// Returns the merged values of this distribution and another.
    ///
    /// # Panics
    /// Never: a histogram that grows takes any other.
    #[must_use]
    pub fn merge_with(mut self, other: Self) -> Self {
        self.histogram.add(other.histogram).expect(AUTO_RESIZES);
        Self {
            count: self.count.saturating_add(other.count),
            sum_ns: self.sum_ns + other.sum_ns,
            square_sum: self.square_sum.zip(other.square_sum).map(|(a, b)| a + b),
            bytes: self.bytes.saturating_add(other.bytes),
            min_ns: self.min_ns.into_iter().chain(other.min_ns).min(),
            max_ns: self.max_ns.into_iter().chain(other.max_ns).max(),
            histogram: self.histogram,
        }
    }

    /// Returns the exact mean in seconds; `None` without values.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns * 1e-9 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_round_trip_and_merge_exactly() {
        let all: Vec<u64> = (1..=1000).map(|i| i * 997).collect();
        let (low, high) = all.split_at(300);
        let parts =
            [LatencyDistribution::from_values(low), LatencyDistribution::from_values(high)];
        let text = serde_json::to_string(&parts).unwrap();
        let decoded: [LatencyDistribution; 2] = serde_json::from_str(&text).unwrap();
        assert_eq!(decoded, parts);
        let merged = MergedDistribution::merge(&decoded).unwrap();
        let whole = LatencyDistribution::from_values(&all);
        assert_eq!(merged.histogram, whole.decode_histogram());
        assert_eq!((merged.min_ns, merged.max_ns), (Some(997), Some(997_000)));
        assert_eq!((merged.count, merged.sum_ns), (1000, whole.sum_ns));
        assert!(MergedDistribution::merge([]).is_none());
    }

    #[test]
    fn rejects_malformed_histogram() {
        for text in ["", "!", "AAAA", "HISTFAAAA", "aGVsbG8gd29ybGQ="] {
            let json = format!(r#"{{"count":1,"sum_ns":1.0,"histogram":"{text}"}}"#);
            let error =
                serde_json::from_str::<LatencyDistribution>(&json).unwrap_err().to_string();
            assert!(error.contains("a histogram does not decode"), "{error}");
        }
    }
}
