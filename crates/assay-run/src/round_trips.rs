//! Statistics of round trips: order statistics of all of them, without a model.
//!
//! A percentile is reported only if there are enough effective samples: an upper bound of p99 at 95
//! % confidence exists from 299 on (0.99ⁿ ≤ 0.05), of p99.9 from 2995.

use assay_model::distribution::LatencyDistribution;
use assay_model::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use assay_model::event::StretchRecord;
use assay_stats::quantile::supports_quantile;
use assay_stats::tails::{Tails, quantile_effective_count};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Percentiles that are reported.
const PERCENTILES: [(&str, f64); 5] =
    [("p50", 0.50), ("p90", 0.90), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];

/// Number of evenly spaced round trips stored as samples; ten repetitions suffice for a 99.9th
/// percentile (2995 values).
const MAX_SAMPLES: usize = 300;

/// Number of stretches in which the round trips of one exchange are stored, so that bursts are
/// visible.
const STRETCHES: usize = 16;

/// All round trips of a test, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoundTripTimes {
    in_order_ns: Vec<u64>,
    sorted_ns: Vec<u64>,
}

/// Returns times of round trips, or their halves by `divisor`, as entries: few evenly spaced ones as
/// samples, and the distribution of all, for the tail.
pub fn time_entries(
    times_ns: &[u64],
    span: MeasuredSpan,
    metric: &'static str,
    divisor: u64,
) -> Vec<MeasurementEntry> {
    let step = times_ns.len().div_ceil(MAX_SAMPLES).max(1);
    let seconds = |ns: &u64| *ns as f64 * 1e-9 / divisor as f64;
    let few = times_ns.iter().step_by(step);
    let few = few.map(|ns| MeasurementEntry::sample(metric, seconds(ns)));
    let all: Vec<u64> = times_ns.iter().map(|ns| ns / divisor).collect();
    few.chain(distribution_entries(&all, span, metric)).collect()
}

/// Returns the distribution of all times in each stretch, as entries; none without a time.
pub fn distribution_entries(
    times_ns: &[u64],
    span: MeasuredSpan,
    metric: &'static str,
) -> impl Iterator<Item = MeasurementEntry> + use<> {
    stretches(times_ns, span).into_iter().map(move |(span, seen)| {
        let key = SeriesKey::only_series(metric);
        MeasurementEntry::Measured(key, EntryValue::Distribution(span, seen))
    })
}

/// Divides consecutive round trips into stretches of the measured time, each with its distribution.
fn stretches(times_ns: &[u64], span: MeasuredSpan) -> Vec<(MeasuredSpan, LatencyDistribution)> {
    let parts = times_ns.chunks(times_ns.len().div_ceil(STRETCHES).max(1));
    let count = parts.len().max(1) as u64;
    let part_ns = span.to_ns.saturating_sub(span.from_ns) / count;
    let one = |(at, part): (u64, &[u64])| {
        let from_ns = span.from_ns + at * part_ns;
        let to_ns = if at + 1 == count { span.to_ns } else { from_ns + part_ns };
        (MeasuredSpan { from_ns, to_ns, ..span }, LatencyDistribution::from_values(part))
    };
    (0..).zip(parts).map(one).collect()
}

impl RoundTripTimes {
    pub fn new(times_ns: &[u64]) -> Self {
        let mut sorted_ns = times_ns.to_vec();
        sorted_ns.sort_unstable();
        Self { in_order_ns: times_ns.to_vec(), sorted_ns }
    }

    /// Returns the q-quantile by nearest rank: the smallest value that a share q of all do not
    /// exceed. 0 if empty.
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

    /// Median, and the percentiles that the sample size permits, in nanoseconds.
    pub fn percentiles_ns(&self) -> Vec<(&'static str, u64)> {
        let values: Vec<f64> = self.in_order_ns.iter().map(|ns| *ns as f64).collect();
        let one = |(name, q): (&'static str, f64)| {
            let ns = self.quantile_ns(q);
            let is_median = q <= 0.5 && !values.is_empty();
            let is_carried =
                || supports_quantile(quantile_effective_count(q, ns as f64, &values), q);
            (is_median || q > 0.5 && is_carried()).then_some((name, ns))
        };
        PERCENTILES.into_iter().filter_map(one).collect()
    }
}

/// Reported statistics of the round trips of a test.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RoundTripStatistics {
    /// Number of round trips.
    pub n: usize,
    pub min_ns: u64,
    pub mean_ns: f64,
    pub max_ns: u64,
    /// Percentiles that the sample size permits, by name.
    pub percentiles_ns: Vec<(String, u64)>,
}

impl RoundTripStatistics {
    /// Computes the statistics from stored distributions: percentiles have the histogram's three
    /// digits. Returns `None` if there are none.
    pub fn from_stretches(stretches: &[StretchRecord<LatencyDistribution>]) -> Option<Self> {
        let tails = Tails::from_stretches(stretches)?;
        let ns = |seconds: f64| (seconds * 1e9).round() as u64;
        let mut percentiles = tails.percentiles.unwrap_or_default();
        percentiles.entry("p50".to_owned()).or_insert(tails.median);
        let one = |(name, _): (&str, f64)| Some((name.to_owned(), ns(*percentiles.get(name)?)));
        Some(Self {
            n: tails.count as usize,
            min_ns: ns(tails.min),
            mean_ns: tails.mean * 1e9,
            max_ns: ns(tails.max),
            percentiles_ns: PERCENTILES.into_iter().filter_map(one).collect(),
        })
    }

    /// Computes the statistics from all round trips in order.
    pub fn from_times(times_ns: &[u64]) -> Self {
        let whole = MeasuredSpan::from_seconds(0.0, 1.0, false);
        let stretch = |(span, seen): (MeasuredSpan, LatencyDistribution)| StretchRecord {
            series: 0,
            preparation: 0,
            from_ns: span.from_ns,
            to_ns: span.to_ns,
            warmup: false,
            seen,
        };
        let all: Vec<_> = stretches(times_ns, whole).into_iter().map(stretch).collect();
        Self::from_stretches(&all).unwrap_or_default()
    }

    /// Formats `min 27.9 us, p50 29.0 us, …, max 120.3 us (n = 34000)`.
    pub fn format_text(&self) -> String {
        let micros = |ns: u64| format!("{:.1} us", ns as f64 / 1e3);
        let one = |(name, ns): &(String, u64)| format!("{name} {}, ", micros(*ns));
        let percentiles: String = self.percentiles_ns.iter().map(one).collect();
        let (min, max) = (micros(self.min_ns), micros(self.max_ns));
        format!("min {min}, {percentiles}max {max} (n = {})", self.n)
    }

    /// Converts the statistics to JSON, in seconds.
    pub fn to_json(&self) -> Value {
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
        let distribution = RoundTripTimes::new(&(1..=100).rev().collect::<Vec<u64>>());
        for (q, expected) in [(0.0, 1), (0.01, 1), (0.5, 50), (0.991, 100), (1.0, 100)] {
            assert_eq!(distribution.quantile_ns(q), expected, "{q}");
        }
        assert_eq!((distribution.minimum_ns(), distribution.maximum_ns()), (1, 100));
        assert!((distribution.mean_ns() - 50.5).abs() < 1e-9);
    }

    #[test]
    fn percentile_needs_enough_samples() {
        for (n, expected) in
            [(0, 0), (1, 1), (28, 1), (29, 2), (299, 3), (2995, 4), (29_956, 5)]
        {
            let distribution = RoundTripTimes::new(&vec![7; n]);
            assert_eq!(distribution.percentiles_ns().len(), expected, "{n}");
        }
        assert_eq!(RoundTripStatistics::from_stretches(&[]), None);
    }

    #[test]
    fn single_stall_yields_no_percentile() {
        // 1.5 % of 10,000 take ten times as long: consecutively, or spread evenly.
        let all_at_once: Vec<u64> = (0..10_000)
            .map(|at| if at / 150 == 3 { 100_000 } else { 10_000 + at % 7 })
            .collect();
        let now_and_then: Vec<u64> = (0..10_000)
            .map(|at| if at % 67 == 3 { 100_000 } else { 10_000 + at % 7 })
            .collect();
        for (times_ns, expected) in [
            (&all_at_once, &["p50", "p90"][..]),
            (&now_and_then, &["p50", "p90", "p99", "p99.9"]),
        ] {
            let names: Vec<&str> =
                RoundTripTimes::new(times_ns).percentiles_ns().iter().map(|it| it.0).collect();
            assert_eq!(names, expected);
            let figures = RoundTripStatistics::from_times(times_ns);
            let names: Vec<&str> =
                figures.percentiles_ns.iter().map(|it| it.0.as_str()).collect();
            assert_eq!(names, expected);
        }
    }
}
