//! Statistics of round trips: order statistics of all of them, without a model.
//!
//! A percentile is given only if there are enough samples for it: an upper bound of p99 at 95 % confidence
//! exists from 299 values on (0.99ⁿ ≤ 0.05), of p99.9 from 2995.

use assay_model::distribution::Distribution as AllOfThem;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The percentiles that are reported, and from how many values on.
const PERCENTILES: [(&str, f64, usize); 5] = [
    ("p50", 0.50, 1),
    ("p90", 0.90, 29),
    ("p99", 0.99, 299),
    ("p99.9", 0.999, 2995),
    ("p99.99", 0.9999, 29_956),
];

/// All round trips of a test in ascending order, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Distribution {
    sorted_ns: Vec<u64>,
}

impl Distribution {
    pub fn of(times_ns: &[u64]) -> Self {
        let mut sorted_ns = times_ns.to_vec();
        sorted_ns.sort_unstable();
        Self { sorted_ns }
    }

    /// The q-quantile by nearest rank: the smallest value not below a share q of all. 0 of none.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        let rank = (q * self.sorted_ns.len() as f64).ceil() as usize;
        let at = rank.saturating_sub(1);
        self.sorted_ns.get(at).copied().unwrap_or(0)
    }

    pub fn minimum_ns(&self) -> u64 {
        self.sorted_ns.first().copied().unwrap_or(0)
    }

    pub fn maximum_ns(&self) -> u64 {
        self.sorted_ns.last().copied().unwrap_or(0)
    }

    pub fn mean_ns(&self) -> f64 {
        let sum: f64 = self.sorted_ns.iter().map(|time| *time as f64).sum();
        sum / self.sorted_ns.len().max(1) as f64
    }

    /// The percentiles that the sample can carry, in nanoseconds.
    pub fn percentiles_ns(&self) -> Vec<(&'static str, u64)> {
        carried(self.sorted_ns.len()).map(|(name, q)| (name, self.quantile_ns(q))).collect()
    }
}

/// The percentiles that so many values can carry.
fn carried(n: usize) -> impl Iterator<Item = (&'static str, f64)> {
    PERCENTILES
        .iter()
        .filter(move |(_, _, minimum)| n >= *minimum)
        .map(|(name, q, _)| (*name, *q))
}

/// What is reported of the round trips of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// How many.
    pub n: usize,
    pub min_ns: u64,
    pub mean_ns: f64,
    pub max_ns: u64,
    /// Those that so many can carry, by name.
    pub percentiles_ns: Vec<(String, u64)>,
}

impl Figures {
    /// From all of them as they are stored: percentiles have a histogram's three digits.
    pub fn of(all: &AllOfThem) -> Self {
        let values = all.values();
        let max_ns = all.max_ns.unwrap_or(0);
        let percentile =
            |(name, q): (&str, f64)| (name.to_owned(), values.value_at_quantile(q).min(max_ns));
        Self {
            n: all.count as usize,
            min_ns: all.min_ns.unwrap_or(0),
            mean_ns: all.sum_ns / all.count.max(1) as f64,
            max_ns,
            percentiles_ns: carried(all.count as usize).map(percentile).collect(),
        }
    }

    /// `min 27.9 us, p50 29.0 us, …, max 120.3 us (n = 34000)`
    pub fn text(&self) -> String {
        let micros = |ns: u64| format!("{:.1} us", ns as f64 / 1e3);
        let one = |(name, ns): &(String, u64)| format!("{name} {}, ", micros(*ns));
        let percentiles: String = self.percentiles_ns.iter().map(one).collect();
        let (min, max) = (micros(self.min_ns), micros(self.max_ns));
        format!("min {min}, {percentiles}max {max} (n = {})", self.n)
    }

    /// The same in seconds.
    pub fn json(&self) -> Value {
        let seconds = |ns: f64| json!(ns * 1e-9);
        let mut map = Map::new();
        map.insert("n".into(), json!(self.n));
        map.insert("min".into(), seconds(self.min_ns as f64));
        map.insert("mean".into(), seconds(self.mean_ns));
        map.insert("max".into(), seconds(self.max_ns as f64));
        for (name, ns) in &self.percentiles_ns {
            map.insert(name.clone(), seconds(*ns as f64));
        }
        Value::Object(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let distribution = Distribution::of(&(1..=100).rev().collect::<Vec<u64>>());
        for (q, expected) in [(0.0, 1), (0.01, 1), (0.5, 50), (0.991, 100), (1.0, 100)] {
            assert_eq!(distribution.quantile_ns(q), expected, "{q}");
        }
        assert_eq!((distribution.minimum_ns(), distribution.maximum_ns()), (1, 100));
        assert!((distribution.mean_ns() - 50.5).abs() < 1e-9);
    }

    #[test]
    fn percentiles_need_data() {
        for (n, expected) in
            [(0, 0), (1, 1), (28, 1), (29, 2), (299, 3), (2995, 4), (29_956, 5)]
        {
            let distribution = Distribution::of(&vec![7; n]);
            assert_eq!(distribution.percentiles_ns().len(), expected, "{n}");
        }
        let none = Figures::of(&AllOfThem::of_values(&[]));
        assert_eq!(none.text(), "min 0.0 us, max 0.0 us (n = 0)");
    }
}
