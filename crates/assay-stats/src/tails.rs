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
    /// The minimum, to the digits of the histogram.
    pub min: f64,
    /// The median, likewise.
    pub median: f64,
    /// The exact mean.
    pub mean: f64,
    /// The maximum, to the digits of the histogram.
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
        let at = |share| histogram.value_at_quantile(share) as f64 * S_PER_NS;
        let mean = merged.mean_s().filter(|mean| mean.is_finite())?;
        Some(Self {
            count: merged.count,
            // The mean is exact and the ends of the histogram are not.
            min: near(histogram.min() as f64 * S_PER_NS, mean, f64::min),
            median: at(0.5),
            mean,
            max: near(histogram.max() as f64 * S_PER_NS, mean, f64::max),
            percentiles: carried(merged.count as f64, |p| Some(at(p))),
        })
    }

    /// The same where this is the median: what a bucket's width has put on the wrong side of it is put
    /// right, and nothing else.
    #[must_use]
    pub fn around(self, median: f64) -> Self {
        let above = |value: f64| near(value, median, f64::max);
        let upper = |(name, value): (String, f64)| {
            let value = if name == "p50" { value } else { above(value) };
            (name, value)
        };
        Self {
            min: near(self.min, median, f64::min),
            max: above(self.max),
            percentiles: self.percentiles.map(|all| all.into_iter().map(upper).collect()),
            ..self
        }
    }
}

/// `choose` of the two where they lie within the width of a bucket, else the value.
fn near(value: f64, exact: f64, choose: fn(f64, f64) -> f64) -> f64 {
    if (value - exact).abs() <= BUCKET * exact.abs() { choose(value, exact) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Source;

    #[test]
    fn percentiles_of_the_parts_together_are_those_of_the_whole() {
        let mut source = Source::new(5);
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
        let moved = single.clone().around(single.max * 1.001);
        assert!(moved.max > single.max && moved.min <= single.min);
        let away = single.clone().around(single.max * 2.0);
        assert_eq!(away, single, "what no bucket explains stays as it is");
    }
}
