//! Figures that perftest would print of the same messages, stored as facts of a series and read
//! back.

use assay_dialects::perftest::LatencyRow;
use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::benchmark::RdmaTest;
use assay_model::entry::{MeasurementEntry, SeriesKey};

/// Seconds per microsecond; facts are stored in seconds.
const MICROSECOND_S: f64 = 1e-6;

/// Returns perftest's figures of all messages in order; empty for fewer messages than it can print.
pub(super) fn figure_entries(
    bytes: u64,
    times_ns: &[u64],
    test: RdmaTest,
) -> Vec<MeasurementEntry> {
    let divisor = if test.is_half_round_trip() { 2 } else { 1 };
    let Some(row) = LatencyRow::from_times_ns(bytes, times_ns, divisor) else {
        return Vec::new();
    };
    let fact = |(name, figure_us): (Attribute, f64)| {
        let key = SeriesKey::only_series(test.latency_metric());
        MeasurementEntry::SeriesFact(key, name, AttributeValue::from(figure_us * MICROSECOND_S))
    };
    let LatencyRow { min_us, max_us, typical_us, avg_us, stdev_us, p99_us, p999_us, .. } = row;
    let figures = [
        (Attribute::PerftestMin, min_us),
        (Attribute::PerftestMax, max_us),
        (Attribute::PerftestTypical, typical_us),
        (Attribute::PerftestAverage, avg_us),
        (Attribute::PerftestDeviation, stdev_us),
        (Attribute::PerftestP99, p99_us),
        (Attribute::PerftestP999, p999_us),
    ];
    figures.map(fact).into()
}

/// Returns perftest's `BW peak`.
pub(super) fn peak_entry(bytes_per_s: f64) -> MeasurementEntry {
    MeasurementEntry::SeriesFact(
        SeriesKey::only_series("bandwidth"),
        Attribute::PerftestPeak,
        bytes_per_s.into(),
    )
}

/// Returns the row that was stored with a series; `None` if it has none.
pub fn stored_row((bytes, iterations): (u64, u64), facts: &Attributes) -> Option<LatencyRow> {
    let us = |name| Some(facts.get(&name)?.as_number()? / MICROSECOND_S);
    Some(LatencyRow {
        bytes,
        iterations,
        min_us: us(Attribute::PerftestMin)?,
        max_us: us(Attribute::PerftestMax)?,
        typical_us: us(Attribute::PerftestTypical)?,
        avg_us: us(Attribute::PerftestAverage)?,
        stdev_us: us(Attribute::PerftestDeviation)?,
        p99_us: us(Attribute::PerftestP99)?,
        p999_us: us(Attribute::PerftestP999)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perftest_figures_round_trip() {
        let times_ns: Vec<u64> = (1..=1000).rev().map(|us| us * 2000).collect();
        for (test, divisor) in [
            (RdmaTest::SendLatency, 2),
            (RdmaTest::WriteLatency, 2),
            (RdmaTest::ReadLatency, 1),
            (RdmaTest::AtomicLatency, 1),
        ] {
            let mut facts = Attributes::new();
            for entry in figure_entries(2, &times_ns, test) {
                let MeasurementEntry::SeriesFact(key, name, value) = entry else {
                    panic!("{entry:?}")
                };
                assert_eq!(key.metric, test.latency_metric());
                facts.insert(name, value);
            }
            let expected = LatencyRow::from_times_ns(2, &times_ns, divisor).unwrap();
            let stored = stored_row((2, 1000), &facts).unwrap();
            assert_eq!(stored.to_string(), expected.to_string(), "{test:?}");
            assert!((stored.max_us - expected.max_us).abs() < 1e-9, "{stored:?}");
        }
        assert_eq!(figure_entries(2, &[1000; 4], RdmaTest::SendLatency), []);
        assert_eq!(stored_row((2, 4), &Attributes::new()), None);
    }
}
