//! Conversion of a file phase's outcome to measurement entries.
//!
//! The latency of the requested operations is a result. Each kind of operation is a result, too, by
//! its exact moments.

use hdrhistogram::Histogram;

use super::{FileInterval, FileOutcome, FileTally, OperationCount};
use crate::attribute::{Attribute, AttributeValue, Attributes};
use crate::distribution::LatencyDistribution;
use crate::doubt::Doubt;
use crate::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use crate::workload::file_set::FileOperation;

const LATENCY: &str = "latency";
const INTENDED: &str = "latency_from_intended";
/// [`Attribute::Stage`] of results per interval.
const INTERVAL: &str = "interval";

impl FileOutcome {
    /// Converts the outcome and its intervals to entries.
    pub fn to_entries(&self, intervals: &[FileInterval]) -> Vec<MeasurementEntry> {
        let mut entries = vec![
            MeasurementEntry::fact(Attribute::ElapsedS, self.elapsed_s),
            MeasurementEntry::fact(Attribute::Errors, self.error_count),
            MeasurementEntry::fact(Attribute::Ended, self.ended.name()),
        ];
        entries.extend(self.errors.iter().map(|error| {
            MeasurementEntry::Doubt(Doubt::FileOperationFailed {
                path: error.path.clone(),
                operation: error.operation.name().to_owned(),
                cause: error.reason.clone(),
            })
        }));
        let due = self.total.from_intended_ns.as_ref().map_or(0, Histogram::len);
        let not_started = due.saturating_sub(self.total.requested.count);
        if not_started > 0 {
            entries.push(MeasurementEntry::fact(Attribute::NotStarted, not_started));
        }
        entries.extend(Doubt::not_started(not_started, due).map(MeasurementEntry::Doubt));
        let whole = MeasuredSpan::from_seconds(0.0, self.elapsed_s, false);
        add_tally_entries(&self.total, whole, None, &mut entries);
        entries.extend(intervals.iter().flat_map(FileInterval::to_entries));
        entries
    }
}

impl FileInterval {
    /// Converts the interval to entries of one host in the total.
    pub fn to_member_entries(&self, host: &str) -> Vec<MeasurementEntry> {
        let member = Attributes::from([(Attribute::Member, host.into())]);
        self.to_entries().into_iter().map(|entry| entry.with_dimensions(&member)).collect()
    }

    fn to_entries(&self) -> Vec<MeasurementEntry> {
        let mut entries = Vec::new();
        let span = MeasuredSpan::from_seconds(self.start_s, self.length_s, self.warmup);
        add_tally_entries(&self.tally, span, Some(INTERVAL), &mut entries);
        for (metric, value) in [("cpu_user", self.cpu_user), ("cpu_system", self.cpu_system)] {
            let key = SeriesKey::with_dimensions(metric, [(Attribute::Stage, INTERVAL.into())]);
            let weight = self.length_s;
            entries.push(MeasurementEntry::Measured(key, EntryValue::Sample { value, weight }));
        }
        entries
    }
}

fn add_tally_entries(
    tally: &FileTally,
    span: MeasuredSpan,
    stage: Option<&str>,
    entries: &mut Vec<MeasurementEntry>,
) {
    let stage = stage.map(|stage| (Attribute::Stage, AttributeValue::from(stage)));
    let mut put = |metric, operation: Option<FileOperation>, seen: LatencyDistribution| {
        let operation = operation.map(|it| (Attribute::Operation, it.name().into()));
        let key =
            SeriesKey::with_dimensions(metric, operation.into_iter().chain(stage.clone()));
        entries.push(MeasurementEntry::Measured(key, EntryValue::Distribution(span, seen)));
    };
    let values = tally.service_ns.as_ref().map(LatencyDistribution::from_histogram);
    put(LATENCY, None, moments(tally.requested, None, values));
    if let Some(intended) = &tally.from_intended_ns {
        put(INTENDED, None, LatencyDistribution::from_histogram(intended));
    }
    for operation in FileOperation::ALL {
        let bytes = match operation {
            FileOperation::Read => Some(tally.read_bytes),
            FileOperation::Write => Some(tally.written_bytes),
            _ => None,
        };
        let count = tally.count_of(operation);
        if count.count > 0 || bytes.is_some_and(|bytes| bytes > 0) {
            put(LATENCY, Some(operation), moments(count, bytes, None));
        }
    }
}

/// Returns exact moments, with the values if they are kept. These have fewer digits than the mean,
/// which lies between minimum and maximum all the same.
fn moments(
    count: OperationCount,
    bytes: Option<u64>,
    values: Option<LatencyDistribution>,
) -> LatencyDistribution {
    let mean_ns = count.sum_ns / count.count.max(1);
    let is_whole = count.sum_ns.is_multiple_of(count.count.max(1));
    LatencyDistribution {
        count: count.count,
        sum_ns: count.sum_ns as f64,
        square_sum: None,
        bytes,
        min_ns: values.as_ref().and_then(|it| it.min_ns).map(|it| it.min(mean_ns)),
        max_ns: values
            .as_ref()
            .and_then(|it| it.max_ns)
            .map(|it| it.max(mean_ns + u64::from(!is_whole))),
        histogram: values.and_then(|it| it.histogram),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::new_histogram;
    use crate::file_outcome::FileFailure;
    use crate::run::record_for_tests;
    use crate::storage_outcome::EndReason;

    fn tally(n: u64, kept: bool) -> FileTally {
        let mut tally = FileTally { read_bytes: 4096 * n, ..FileTally::default() };
        let mut values = new_histogram();
        for i in 1..=n {
            values.record(i * 1000).unwrap();
            tally.requested.add(i * 1000);
            tally.operations[FileOperation::Read.index()].add(i * 1000);
            tally.operations[FileOperation::Open.index()].add(i);
        }
        tally.service_ns = kept.then(|| values.clone());
        tally.from_intended_ns = (kept && n > 2).then_some(values);
        tally
    }

    #[test]
    fn mean_lies_between_rounded_extremes() {
        for ns in [66_800, 1_000_003] {
            let mut values = Histogram::new(2).unwrap();
            values.record(ns).unwrap();
            let mut count = OperationCount::default();
            count.add(ns);
            let seen = moments(count, None, Some(LatencyDistribution::from_histogram(&values)));
            assert!(seen.min_ns.unwrap() <= ns && seen.max_ns.unwrap() >= ns, "{seen:?}");
        }
    }

    #[test]
    fn records_totals_and_intervals() {
        let interval = |start_s, warmup, n| FileInterval {
            start_s,
            length_s: 1.0,
            warmup,
            tally: tally(n, n > 0),
            cpu_user: 0.5,
            cpu_system: 0.25,
        };
        let intervals =
            [interval(0.0, true, 3), interval(1.0, false, 2), interval(2.0, false, 0)];
        let outcome = FileOutcome {
            elapsed_s: 2.0,
            total: tally(7, true),
            errors: vec![FileFailure {
                path: "/a/b".into(),
                operation: FileOperation::Getattr,
                reason: "no".to_owned(),
            }],
            error_count: 9,
            ended: EndReason::Work,
        };
        let mut entries = outcome.to_entries(&intervals);
        for host in ["vm2", "vm1"] {
            entries.extend(intervals.iter().flat_map(|it| it.to_member_entries(host)));
        }
        let record = record_for_tests(entries);
        let count = |dimensions: &[(Attribute, AttributeValue)]| -> u64 {
            let wanted = Attributes::from_iter(dimensions.iter().cloned());
            let series = record.series.iter().filter(|it| it.metric == LATENCY);
            let series = series.filter(|it| it.dimensions == wanted);
            series.flat_map(|it| &it.distributions).map(|it| it.seen.count).sum()
        };
        let read = (Attribute::Operation, AttributeValue::from("read"));
        let interval = (Attribute::Stage, AttributeValue::from(INTERVAL));
        let member = (Attribute::Member, AttributeValue::from("vm1"));
        assert_eq!(count(&[]), 7);
        assert_eq!(count(std::slice::from_ref(&read)), 7);
        assert_eq!(count(std::slice::from_ref(&interval)), 5);
        assert_eq!(count(&[read, interval, member]), 5);
        assert_eq!(record.facts.get(&Attribute::Errors), Some(&9_u64.into()));
    }
}
