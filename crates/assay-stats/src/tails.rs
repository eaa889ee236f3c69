//! Minimum, mean, maximum and percentiles of single I/O, messages or operations.

use std::collections::BTreeMap;

use assay_model::distribution::{LatencyDistribution, MergedDistribution};
use assay_model::event::StretchRecord;

use crate::quantile::supported_percentiles;
use crate::ratio::{MIN_STRETCHES, design_effect};

const S_PER_NS: f64 = 1e-9;
/// Relative width of a bucket of a histogram with three digits.
const BUCKET_WIDTH: f64 = 2e-3;

/// Statistics of single values, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Tails {
    /// Number of values.
    pub count: u64,
    /// Minimum: exact if known, otherwise to the digits of the histogram.
    pub min: f64,
    /// Median, to the digits of the histogram.
    pub median: f64,
    /// Exact mean.
    pub mean: f64,
    /// Maximum: exact if known, otherwise to the digits of the histogram.
    pub max: f64,
    /// Percentiles that the effective number of values supports.
    pub percentiles: Option<BTreeMap<String, f64>>,
}

/// Number of parts of the time whose values are compared. Successive stretches correlate; each part
/// spans many.
const MAX_PARTS: usize = 16;
/// Counts of the values of one part of the time: above a quantile, equal to it within the width of
/// a bucket, and all.
#[derive(Debug, Clone, Copy)]
struct TailCount {
    above: f64,
    equal: f64,
    whole: f64,
}

/// Returns the effective number of values of these parts for the p-quantile.
///
/// Values above a quantile come in bursts, as all rare events do; the variance of their share over
/// the parts determines the design effect ([`design_effect`]). A million values have a hundred
/// effective ones if one stall holds all that exceed p99. Of values equal to the quantile, as many
/// count as above it as make the share 1 − p. With too few parts, the number is 1.
fn effective_count(parts: &[TailCount], p: f64) -> f64 {
    if parts.len() < MIN_STRETCHES {
        return 1.0;
    }
    let sum = |field: fn(&TailCount) -> f64| parts.iter().map(field).sum::<f64>();
    let (above, equal, whole) = (sum(|it| it.above), sum(|it| it.equal), sum(|it| it.whole));
    let share = 1.0 - p;
    let split = ((share * whole - above) / equal.max(1.0)).clamp(0.0, 1.0);
    let counts: Vec<[f64; 2]> =
        parts.iter().map(|it| [it.above + split * it.equal, it.whole]).collect();
    whole / design_effect(&counts, share, whole)
}

/// Returns the effective number of values in order of time; `quantile` is their p-quantile.
pub fn quantile_effective_count(p: f64, quantile: f64, values: &[f64]) -> f64 {
    let tail_count = |part: &[f64]| {
        let count = |compare: fn(&f64, &f64) -> bool| {
            part.iter().filter(|value| compare(value, &quantile)).count() as f64
        };
        TailCount { above: count(f64::gt), equal: count(f64::eq), whole: part.len() as f64 }
    };
    let parts = values.chunks(values.len().div_ceil(MAX_PARTS).max(1));
    effective_count(&parts.map(tail_count).collect::<Vec<_>>(), p)
}

impl Tails {
    /// Merges all stretches, in order of time. Returns `None` without values. Also returns `None`
    /// if a stretch has no histogram, because percentiles of the others are not those of the whole.
    pub fn from_stretches<'d>(
        stretches: impl IntoIterator<Item = &'d StretchRecord<LatencyDistribution>>,
    ) -> Option<Self> {
        let mut nonempty: Vec<_> =
            stretches.into_iter().filter(|stretch| stretch.seen.count > 0).collect();
        let start = |it: &StretchRecord<LatencyDistribution>| (it.preparation, it.from_ns);
        nonempty.sort_by_key(|it| start(it));
        // Reads and writes of a mix have the same times.
        let times: Vec<_> = nonempty.chunk_by(|a, b| start(a) == start(b)).collect();
        let parts = times.chunks(times.len().div_ceil(MAX_PARTS).max(1));
        let parts = parts.map(|part| {
            MergedDistribution::merge(part.iter().copied().flatten().map(|it| &it.seen))
        });
        Self::from_parts(&parts.collect::<Option<Vec<MergedDistribution>>>()?)
    }

    fn from_parts(parts: &[MergedDistribution]) -> Option<Self> {
        let merged = parts.iter().cloned().reduce(MergedDistribution::merge_with)?;
        let histogram = &merged.histogram;
        if histogram.len() != merged.count {
            return None;
        }
        let mean = merged.mean_s().filter(|mean| mean.is_finite())?;
        // Some parts have exact extremes, others only to the digits of the histogram. The mean is
        // exact.
        let extreme = |exact: Option<u64>, bucket: u64| {
            let bucket = bucket as f64 * S_PER_NS;
            exact.map_or(bucket, |exact| {
                snap_to(bucket, exact as f64 * S_PER_NS, |_, exact| exact)
            })
        };
        let min = snap_to(extreme(merged.min_ns, histogram.min()), mean, f64::min);
        let max = snap_to(extreme(merged.max_ns, histogram.max()), mean, f64::max);
        let quantile = |share| {
            let bucket = histogram.value_at_quantile(share) as f64 * S_PER_NS;
            snap_to(snap_to(bucket, min, f64::max), max, f64::min)
        };
        let effective_values = |p| {
            let quantile_bucket = histogram.value_at_quantile(p);
            let tail_count = |part: &MergedDistribution| {
                let (part_histogram, whole) = (&part.histogram, part.histogram.len());
                let above = whole - part_histogram.count_between(0, quantile_bucket);
                let equal = part_histogram.count_at(quantile_bucket).min(whole - above);
                TailCount { above: above as f64, equal: equal as f64, whole: whole as f64 }
            };
            effective_count(&parts.iter().map(tail_count).collect::<Vec<_>>(), p)
        };
        let percentiles = supported_percentiles(effective_values, |p| Some(quantile(p)));
        Some(Self { count: merged.count, min, median: quantile(0.5), mean, max, percentiles })
    }

    /// Reconciles the values with a median and an interval from elsewhere: corrects only an
    /// inconsistent order within the width of a bucket.
    pub fn reconcile_with(self, median: f64, [low, high]: [f64; 2]) -> Self {
        let at_least_median = |(name, value): (String, f64)| {
            let value = if name == "p50" { value } else { snap_to(value, median, f64::max) };
            (name, value)
        };
        Self {
            min: snap_to(snap_to(self.min, median, f64::min), low, f64::min),
            max: snap_to(snap_to(self.max, median, f64::max), high, f64::max),
            percentiles: self
                .percentiles
                .map(|all| all.into_iter().map(at_least_median).collect()),
            ..self
        }
    }
}

/// Returns `choose(value, exact)` if both are within the width of a bucket, otherwise `value`.
fn snap_to(value: f64, exact: f64, choose: fn(f64, f64) -> f64) -> f64 {
    if (value - exact).abs() <= BUCKET_WIDTH * exact.abs() {
        choose(value, exact)
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn stretches(parts: &[LatencyDistribution]) -> Vec<StretchRecord<LatencyDistribution>> {
        let stretch = |(from_ns, seen): (u64, &LatencyDistribution)| StretchRecord {
            series: 1,
            preparation: 0,
            from_ns,
            to_ns: from_ns + 1,
            warmup: false,
            seen: seen.clone(),
        };
        (0..).zip(parts).map(stretch).collect()
    }

    fn tails(parts: &[LatencyDistribution]) -> Option<Tails> {
        Tails::from_stretches(&stretches(parts))
    }

    #[test]
    fn merged_percentiles_match_whole() {
        let mut random = Random::new(5);
        let all: Vec<u64> =
            (0..5000).map(|_| (1e5 * (1.0 + random.normal().abs())) as u64).collect();
        let parts = |n| all.chunks(n).map(LatencyDistribution::from_values).collect::<Vec<_>>();
        let whole = tails(&parts(5000)).unwrap();
        let merged = tails(&parts(200)).unwrap();
        assert!((merged.mean / whole.mean - 1.0).abs() < 1e-12);
        let percentiles = merged.percentiles.clone();
        assert_eq!(Tails { mean: whole.mean, percentiles: None, ..merged }, whole);
        let mut sorted = all.clone();
        sorted.sort_unstable();
        for (name, rank) in [("p50", 2500), ("p90", 4500), ("p99", 4950), ("p99.9", 4995)] {
            let exact = sorted[rank - 1] as f64 * 1e-9;
            let percentile = percentiles.as_ref().unwrap()[name];
            assert!(
                (percentile / exact - 1.0).abs() <= BUCKET_WIDTH,
                "{name}: {percentile} {exact}"
            );
        }
        // p99.99 needs 29 956 values.
        assert!(!percentiles.unwrap().contains_key("p99.99"));
    }

    /// Returns the share of 200 samples that have a p99. Each has 24,000 values in 24 stretches, of
    /// which stalls make one in forty a hundred times as long.
    fn p99_share(stalls: usize) -> f64 {
        let mut random = Random::new(3);
        let mut with_p99 = 0;
        for _ in 0..200 {
            let mut slow_counts = [0_u64; 24];
            for _ in 0..stalls {
                slow_counts[(random.uniform() * 24.0) as usize] += 600 / stalls as u64;
            }
            let part = |slow: &u64| {
                let values = (0..1000)
                    .map(|index| if index < *slow { 100_000 + index } else { 1000 + index });
                LatencyDistribution::from_values(&values.collect::<Vec<_>>())
            };
            let parts: Vec<LatencyDistribution> = slow_counts.iter().map(part).collect();
            let percentiles = tails(&parts).unwrap().percentiles.unwrap_or_default();
            with_p99 += u32::from(percentiles.contains_key("p99"));
        }
        f64::from(with_p99) / 200.0
    }

    #[test]
    fn few_stalls_support_no_p99() {
        assert_eq!(
            (p99_share(1), p99_share(2)),
            (0.0, 0.0),
            "24 000 values are worth a hundred"
        );
        assert!(
            p99_share(200) > 0.95,
            "what is slow everywhere is known well: {}",
            p99_share(200)
        );
        // For independent values, nearly all are effective.
        let mut random = Random::new(9);
        let mut effective_values = || {
            let values: Vec<f64> = (0..1000).map(|_| random.normal()).collect();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            quantile_effective_count(0.99, sorted[989], &values)
        };
        let enough = (0..200).filter(|_| effective_values() >= 299.0).count();
        assert!(enough >= 196, "{enough} of 200");
        assert!(
            quantile_effective_count(0.5, 0.0, &[0.0, 1.0, 0.0]) <= 1.0,
            "three values show no spread"
        );
    }

    #[test]
    fn missing_histogram_leaves_no_percentiles() {
        let complete = LatencyDistribution::from_values(&[10, 20, 30]);
        let moments = LatencyDistribution { histogram: None, ..complete.clone() };
        let empty = LatencyDistribution::from_values(&[]);
        assert!(tails(&[complete.clone(), moments]).is_none());
        assert!(tails(std::slice::from_ref(&empty)).is_none() && tails(&[]).is_none());
        let merged = tails(&[complete, empty]).unwrap();
        assert_eq!((merged.count, merged.percentiles), (3, None));
    }

    #[test]
    fn exact_values_override_buckets() {
        let single = tails(&[LatencyDistribution::from_values(&[1_000_001])]).unwrap();
        assert!(single.min <= single.mean && single.mean <= single.max, "{single:?}");
        assert_eq!((single.median, single.max), (single.mean, single.mean), "{single:?}");
        let reconciled = |median: f64| single.clone().reconcile_with(median, [median; 2]);
        let adjusted = reconciled(single.max * 1.001);
        assert!(adjusted.max > single.max && adjusted.min <= single.min);
        assert_eq!(
            reconciled(single.max * 2.0),
            single,
            "what no bucket explains stays as it is"
        );
    }
}
