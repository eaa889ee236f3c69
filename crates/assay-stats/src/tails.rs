//! Minimum, mean, maximum and percentiles of every single I/O, message or operation.

use std::collections::BTreeMap;

use assay_model::distribution::{Distribution, Merged};

use crate::quantile::carried;

const S_PER_NS: f64 = 1e-9;
/// Relative width of a bucket of a histogram with three digits.
const BUCKET: f64 = 2e-3;

/// What every single value says, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Tails {
    /// How many.
    pub count: u64,
    /// The minimum, as exactly as it is known.
    pub min: f64,
    /// The median, to the digits of the histogram.
    pub median: f64,
    /// The exact mean.
    pub mean: f64,
    /// The maximum, as exactly as it is known.
    pub max: f64,
    /// Percentiles that so many values can carry.
    pub percentiles: Option<BTreeMap<String, f64>>,
}

impl Tails {
    /// Of all parts together; `None` where there is no value, or where one of the parts has no
    /// histogram: percentiles of a part are none of the whole.
    #[must_use]
    pub fn of<'d>(parts: impl IntoIterator<Item = &'d Distribution>) -> Option<Self> {
        let merged = Merged::of(parts.into_iter().filter(|part| part.count > 0))?;
        let histogram = &merged.histogram;
        if histogram.len() != merged.count {
            return None;
        }
        let mean = merged.mean_s().filter(|mean| mean.is_finite())?;
        // Some parts may know their ends exactly, and others only to the digits of the histogram. The
        // mean is exact.
        let end = |exact: Option<u64>, bucket: u64| {
            let bucket = bucket as f64 * S_PER_NS;
            exact
                .map_or(bucket, |exact| near(bucket, exact as f64 * S_PER_NS, |_, exact| exact))
        };
        let min = near(end(merged.min_ns, histogram.min()), mean, f64::min);
        let max = near(end(merged.max_ns, histogram.max()), mean, f64::max);
        let at = |share| {
            let bucket = histogram.value_at_quantile(share) as f64 * S_PER_NS;
            near(near(bucket, min, f64::max), max, f64::min)
        };
        let percentiles = carried(merged.count as f64, |p| Some(at(p)));
        Some(Self { count: merged.count, min, median: at(0.5), mean, max, percentiles })
    }

    /// The same beside a median and an interval that come from elsewhere: what a bucket's width has put
    /// on the wrong side of them is put right, and nothing else.
    #[must_use]
    pub fn around(self, median: f64, [low, high]: [f64; 2]) -> Self {
        let upper = |(name, value): (String, f64)| {
            let value = if name == "p50" { value } else { near(value, median, f64::max) };
            (name, value)
        };
        Self {
            min: near(near(self.min, median, f64::min), low, f64::min),
            max: near(near(self.max, median, f64::max), high, f64::max),
            percentiles: self.percentiles.map(|all| all.into_iter().map(upper).collect()),
            ..self
        }
    }
}

/// `choose` of the two where they are within the width of a bucket, else the value.
fn near(value: f64, exact: f64, choose: fn(f64, f64) -> f64) -> f64 {
    if (value - exact).abs() <= BUCKET * exact.abs() { choose(value, exact) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn percentiles_of_the_parts_together_are_those_of_the_whole() {
        let mut source = Random::new(5);
        let all: Vec<u64> =
            (0..5000).map(|_| (1e5 * (1.0 + source.normal().abs())) as u64).collect();
        let parts: Vec<Distribution> = all.chunks(700).map(Distribution::of_values).collect();
        let whole = Tails::of([&Distribution::of_values(&all)]).unwrap();
        let merged = Tails::of(&parts).unwrap();
        assert!((merged.mean / whole.mean - 1.0).abs() < 1e-12);
        assert_eq!(Tails { mean: whole.mean, ..merged }, whole);
        let mut sorted = all;
        sorted.sort_unstable();
        for (name, rank) in [("p50", 2500), ("p90", 4500), ("p99", 4950), ("p99.9", 4995)] {
            let exact = sorted[rank - 1] as f64 * 1e-9;
            let found = whole.percentiles.as_ref().unwrap()[name];
            assert!((found / exact - 1.0).abs() <= BUCKET, "{name}: {found} {exact}");
        }
        // It takes 29 956 values.
        assert!(!whole.percentiles.unwrap().contains_key("p99.99"));
    }

    #[test]
    fn a_part_without_its_values_leaves_no_percentiles() {
        let known = Distribution::of_values(&[10, 20, 30]);
        let moments = Distribution { histogram: None, ..known.clone() };
        let empty = Distribution::of_values(&[]);
        assert!(Tails::of([&known, &moments]).is_none());
        assert!(Tails::of([&empty]).is_none() && Tails::of([]).is_none());
        let found = Tails::of([&known, &empty]).unwrap();
        assert_eq!((found.count, found.percentiles), (3, None));
    }

    #[test]
    fn what_is_exact_wins_over_buckets() {
        let single = Tails::of([&Distribution::of_values(&[1_000_001])]).unwrap();
        assert!(single.min <= single.mean && single.mean <= single.max, "{single:?}");
        assert_eq!((single.median, single.max), (single.mean, single.mean), "{single:?}");
        let around = |median: f64| single.clone().around(median, [median; 2]);
        let moved = around(single.max * 1.001);
        assert!(moved.max > single.max && moved.min <= single.min);
        assert_eq!(around(single.max * 2.0), single, "what no bucket explains stays as it is");
    }
}
