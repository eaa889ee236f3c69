//! Conversion of a file phase's outcome to measurement entries, and back.
//!
//! The latency of the requested operations is a result. Each kind of operation is a result, too, by
//! its exact moments.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::{FileFailure, FileInterval, FileOutcome, FileTally, OperationCount};
use crate::attribute::{Attribute, AttributeValue, Attributes};
use crate::distribution::LatencyDistribution;
use crate::doubt::Doubt;
use crate::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use crate::event::StretchRecord;
use crate::run::{CaseRecord, SeriesRecord};
use crate::storage_outcome::EndReason;
use crate::workload::file_set::FileOperation;

const LATENCY: &str = "latency";
const INTENDED: &str = "latency_from_intended";
/// [`Attribute::Stage`] of results per interval.
const INTERVAL: &str = "interval";

impl FileOutcome {
    /// Converts the outcome and its intervals to entries.
    #[must_use]
    pub fn to_entries(&self, intervals: &[FileInterval]) -> Vec<MeasurementEntry> {
        let mut entries = vec![
            MeasurementEntry::Fact(Attribute::ElapsedS, self.elapsed_s.into()),
            MeasurementEntry::Fact(Attribute::Errors, self.error_count.into()),
            MeasurementEntry::Fact(Attribute::Ended, self.ended.name().into()),
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
            entries.push(MeasurementEntry::Fact(Attribute::NotStarted, not_started.into()));
        }
        entries.extend(Doubt::not_started(not_started, due).map(MeasurementEntry::Doubt));
        let whole = MeasuredSpan::from_seconds(0.0, self.elapsed_s, false);
        add_tally_entries(&self.total, whole, None, &mut entries);
        entries.extend(intervals.iter().flat_map(FileInterval::to_entries));
        entries
    }

    /// Reads the intervals of every host in the total, in the order in which they were stored.
    #[must_use]
    pub fn member_intervals_from_record(
        record: &CaseRecord,
    ) -> Vec<(String, Vec<FileInterval>)> {
        let mut hosts: Vec<&str> = Vec::new();
        for host in record.series.iter().filter_map(member_host) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let own =
            |host: &str| (host.to_owned(), read_intervals(&member_series(record, Some(host))));
        hosts.into_iter().map(own).collect()
    }

    /// Reads the outcome and its intervals from a stored case.
    #[must_use]
    pub fn from_record(record: &CaseRecord) -> Option<(Self, Vec<FileInterval>)> {
        let number = |name| record.facts.get(&name).and_then(AttributeValue::as_number);
        let ended = record.facts.get(&Attribute::Ended).and_then(AttributeValue::as_text)?;
        let series = member_series(record, None);
        let outcome = Self {
            elapsed_s: number(Attribute::ElapsedS)?,
            total: read_tallies(&series, None)
                .pop_first()
                .map(|(_, tally)| tally)
                .unwrap_or_default(),
            errors: record.doubts.iter().filter_map(to_failure).collect(),
            error_count: number(Attribute::Errors)? as u64,
            ended: EndReason::from_name(ended)?,
        };
        Some((outcome, read_intervals(&series)))
    }
}

impl FileInterval {
    /// Converts the interval to entries of one host in the total.
    #[must_use]
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

/// Returns the host of a series, if several hosts share the outcome.
fn member_host(series: &SeriesRecord) -> Option<&str> {
    series.dimensions.get(&Attribute::Member).and_then(AttributeValue::as_text)
}

fn member_series<'r>(record: &'r CaseRecord, host: Option<&str>) -> Vec<&'r SeriesRecord> {
    record.series.iter().filter(|series| member_host(series) == host).collect()
}

fn read_intervals(series: &[&SeriesRecord]) -> Vec<FileInterval> {
    let [user, system] = ["cpu_user", "cpu_system"].map(|metric| sample_values(series, metric));
    let share = |all: &[f64], index: usize| all.get(index).copied().unwrap_or(0.0);
    let intervals = read_tallies(series, Some(INTERVAL)).into_iter().enumerate();
    let intervals = intervals.map(|(index, (span, tally))| {
        let (start_s, length_s) = span.to_seconds();
        FileInterval {
            start_s,
            length_s,
            warmup: span.warmup,
            tally,
            cpu_user: share(&user, index),
            cpu_system: share(&system, index),
        }
    });
    intervals.collect()
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

/// Returns exact moments, with the values if they are kept.
fn moments(
    count: OperationCount,
    bytes: Option<u64>,
    values: Option<LatencyDistribution>,
) -> LatencyDistribution {
    LatencyDistribution {
        count: count.count,
        sum_ns: count.sum_ns as f64,
        square_sum: None,
        bytes,
        min_ns: values.as_ref().and_then(|it| it.min_ns),
        max_ns: values.as_ref().and_then(|it| it.max_ns),
        histogram: values.and_then(|it| it.histogram),
    }
}

/// Returns the tallies of a stage by time span.
fn read_tallies(
    series: &[&SeriesRecord],
    stage: Option<&str>,
) -> BTreeMap<MeasuredSpan, FileTally> {
    let mut found: BTreeMap<MeasuredSpan, FileTally> = BTreeMap::new();
    for series in series {
        let text = |name| series.dimensions.get(&name).and_then(AttributeValue::as_text);
        if text(Attribute::Stage) != stage {
            continue;
        }
        let word = text(Attribute::Operation);
        let operation = FileOperation::ALL.into_iter().find(|it| Some(it.name()) == word);
        for stretch in &series.distributions {
            let tally = found.entry(stretch_span(stretch)).or_default();
            restore_tally(tally, &series.metric, operation, &stretch.seen);
        }
    }
    found
}

fn stretch_span(stretch: &StretchRecord<LatencyDistribution>) -> MeasuredSpan {
    MeasuredSpan { from_ns: stretch.from_ns, to_ns: stretch.to_ns, warmup: stretch.warmup }
}

fn restore_tally(
    tally: &mut FileTally,
    metric: &str,
    operation: Option<FileOperation>,
    seen: &LatencyDistribution,
) {
    let count = OperationCount { count: seen.count, sum_ns: seen.sum_ns as u64 };
    let values = || seen.histogram.as_ref().map(|_| seen.decode_histogram());
    match (metric, operation) {
        (INTENDED, _) => tally.from_intended_ns = values(),
        (LATENCY, None) => {
            tally.requested = count;
            tally.service_ns = values();
        }
        (LATENCY, Some(operation)) => {
            tally.operations[operation.index()] = count;
            match operation {
                FileOperation::Read => tally.read_bytes = seen.bytes.unwrap_or(0),
                FileOperation::Write => tally.written_bytes = seen.bytes.unwrap_or(0),
                _ => {}
            }
        }
        _ => {}
    }
}

fn sample_values(series: &[&SeriesRecord], metric: &str) -> Vec<f64> {
    let matching = series.iter().filter(|series| series.metric == metric);
    matching.flat_map(|series| series.samples.iter().map(|sample| sample.value)).collect()
}

fn to_failure(doubt: &Doubt) -> Option<FileFailure> {
    let Doubt::FileOperationFailed { path, operation, cause } = doubt else { return None };
    let operation = FileOperation::ALL.into_iter().find(|it| it.name() == operation)?;
    Some(FileFailure { path: path.clone(), operation, reason: cause.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::new_histogram;
    use crate::run::record_for_tests;

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
    fn outcome_round_trips_through_record() {
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
        let (back, series) = FileOutcome::from_record(&record).unwrap();
        assert!(back == outcome, "{back:?}");
        assert!(series == intervals, "{series:?}");
        let hosts = FileOutcome::member_intervals_from_record(&record);
        let names: Vec<&str> = hosts.iter().map(|(host, _)| host.as_str()).collect();
        assert_eq!(names, ["vm2", "vm1"]);
        assert!(hosts.iter().all(|(_, own)| *own == intervals), "{hosts:?}");
    }
}
