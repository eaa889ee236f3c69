//! Conversion of a file phase's outcome to measurement entries, and back.
//!
//! The latency of the requested operations is a result. Each kind of operation is a result, too, by
//! its exact moments.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::{FileFailure, FileInterval, FileOutcome, FileTally, OperationCount};
use crate::attribute::{Attribute, Attributes, Value};
use crate::distribution::Distribution;
use crate::doubt::Doubt;
use crate::entry::{Entry, Key, Seen, Span};
use crate::event::Stretch;
use crate::run::{CaseRecord, SeriesRecord};
use crate::storage_outcome::Ended;
use crate::workload::file_set::FileOperation;

const LATENCY: &str = "latency";
const INTENDED: &str = "latency_from_intended";
/// [`Attribute::Stage`] of results per interval.
const INTERVAL: &str = "interval";

impl FileOutcome {
    /// Converts the outcome and its intervals to entries.
    #[must_use]
    pub fn entries(&self, intervals: &[FileInterval]) -> Vec<Entry> {
        let mut entries = vec![
            Entry::Fact(Attribute::ElapsedS, self.elapsed_s.into()),
            Entry::Fact(Attribute::Errors, self.error_count.into()),
            Entry::Fact(Attribute::Ended, self.ended.word().into()),
        ];
        entries.extend(self.errors.iter().map(|error| {
            Entry::Doubt(Doubt::FileOperationFailed {
                path: error.path.clone(),
                operation: error.operation.name().to_owned(),
                cause: error.reason.clone(),
            })
        }));
        let due = self.total.from_intended_ns.as_ref().map_or(0, Histogram::len);
        let not_started = due.saturating_sub(self.total.requested.count);
        if not_started > 0 {
            entries.push(Entry::Fact(Attribute::NotStarted, not_started.into()));
        }
        entries.extend(Doubt::not_started(not_started, due).map(Entry::Doubt));
        let whole = Span::of_seconds(0.0, self.elapsed_s, false);
        add(&self.total, whole, None, &mut entries);
        entries.extend(intervals.iter().flat_map(FileInterval::entries));
        entries
    }

    /// Reads the intervals of every host in the total, in the order in which they were stored.
    #[must_use]
    pub fn members_of_record(record: &CaseRecord) -> Vec<(String, Vec<FileInterval>)> {
        let mut hosts: Vec<&str> = Vec::new();
        for host in record.series.iter().filter_map(member) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let own = |host: &str| (host.to_owned(), intervals(&of_member(record, Some(host))));
        hosts.into_iter().map(own).collect()
    }

    /// Reads the outcome and its intervals from a stored case.
    #[must_use]
    pub fn of_record(record: &CaseRecord) -> Option<(Self, Vec<FileInterval>)> {
        let number = |name| record.facts.get(&name).and_then(Value::number);
        let ended = record.facts.get(&Attribute::Ended).and_then(Value::text)?;
        let series = of_member(record, None);
        let outcome = Self {
            elapsed_s: number(Attribute::ElapsedS)?,
            total: tallies(&series, None)
                .pop_first()
                .map(|(_, tally)| tally)
                .unwrap_or_default(),
            errors: record.doubts.iter().filter_map(failure).collect(),
            error_count: number(Attribute::Errors)? as u64,
            ended: Ended::of_word(ended)?,
        };
        Some((outcome, intervals(&series)))
    }
}

impl FileInterval {
    /// Converts the interval to entries of one host in the total.
    #[must_use]
    pub fn entries_of_member(&self, host: &str) -> Vec<Entry> {
        let member = Attributes::from([(Attribute::Member, host.into())]);
        self.entries().into_iter().map(|entry| entry.of(&member)).collect()
    }

    fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let span = Span::of_seconds(self.start_s, self.length_s, self.warmup);
        add(&self.tally, span, Some(INTERVAL), &mut entries);
        for (metric, value) in [("cpu_user", self.cpu_user), ("cpu_system", self.cpu_system)] {
            let key = Key::with(metric, [(Attribute::Stage, INTERVAL.into())]);
            let weight = self.length_s;
            entries.push(Entry::Measured(key, Seen::Sample { value, weight }));
        }
        entries
    }
}

/// Returns the host of a series, if several hosts share the outcome.
fn member(series: &SeriesRecord) -> Option<&str> {
    series.dimensions.get(&Attribute::Member).and_then(Value::text)
}

fn of_member<'r>(record: &'r CaseRecord, host: Option<&str>) -> Vec<&'r SeriesRecord> {
    record.series.iter().filter(|series| member(series) == host).collect()
}

fn intervals(series: &[&SeriesRecord]) -> Vec<FileInterval> {
    let [user, system] = ["cpu_user", "cpu_system"].map(|metric| shares(series, metric));
    let share = |all: &[f64], index: usize| all.get(index).copied().unwrap_or(0.0);
    let intervals = tallies(series, Some(INTERVAL)).into_iter().enumerate();
    let intervals = intervals.map(|(index, (span, tally))| {
        let (start_s, length_s) = span.seconds();
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

fn add(tally: &FileTally, span: Span, stage: Option<&str>, entries: &mut Vec<Entry>) {
    let stage = stage.map(|stage| (Attribute::Stage, Value::from(stage)));
    let mut put = |metric, operation: Option<FileOperation>, seen: Distribution| {
        let operation = operation.map(|it| (Attribute::Operation, it.name().into()));
        let key = Key::with(metric, operation.into_iter().chain(stage.clone()));
        entries.push(Entry::Measured(key, Seen::Distribution(span, seen)));
    };
    let values = tally.service_ns.as_ref().map(Distribution::of);
    put(LATENCY, None, moments(tally.requested, None, values));
    if let Some(intended) = &tally.from_intended_ns {
        put(INTENDED, None, Distribution::of(intended));
    }
    for operation in FileOperation::ALL {
        let bytes = match operation {
            FileOperation::Read => Some(tally.read_bytes),
            FileOperation::Write => Some(tally.written_bytes),
            _ => None,
        };
        let count = tally.of(operation);
        if count.count > 0 || bytes.is_some_and(|bytes| bytes > 0) {
            put(LATENCY, Some(operation), moments(count, bytes, None));
        }
    }
}

/// Returns exact moments, with the values if they are kept.
fn moments(
    count: OperationCount,
    bytes: Option<u64>,
    values: Option<Distribution>,
) -> Distribution {
    Distribution {
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
fn tallies(series: &[&SeriesRecord], stage: Option<&str>) -> BTreeMap<Span, FileTally> {
    let mut found: BTreeMap<Span, FileTally> = BTreeMap::new();
    for series in series {
        let text = |name| series.dimensions.get(&name).and_then(Value::text);
        if text(Attribute::Stage) != stage {
            continue;
        }
        let word = text(Attribute::Operation);
        let operation = FileOperation::ALL.into_iter().find(|it| Some(it.name()) == word);
        for stretch in &series.distributions {
            let tally = found.entry(span(stretch)).or_default();
            put_back(tally, &series.metric, operation, &stretch.seen);
        }
    }
    found
}

fn span(stretch: &Stretch<Distribution>) -> Span {
    Span { from_ns: stretch.from_ns, to_ns: stretch.to_ns, warmup: stretch.warmup }
}

fn put_back(
    tally: &mut FileTally,
    metric: &str,
    operation: Option<FileOperation>,
    seen: &Distribution,
) {
    let count = OperationCount { count: seen.count, sum_ns: seen.sum_ns as u64 };
    let values = || seen.histogram.as_ref().map(|_| seen.values());
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

fn shares(series: &[&SeriesRecord], metric: &str) -> Vec<f64> {
    let matching = series.iter().filter(|series| series.metric == metric);
    matching.flat_map(|series| series.samples.iter().map(|sample| sample.value)).collect()
}

fn failure(doubt: &Doubt) -> Option<FileFailure> {
    let Doubt::FileOperationFailed { path, operation, cause } = doubt else { return None };
    let operation = FileOperation::ALL.into_iter().find(|it| it.name() == operation)?;
    Some(FileFailure { path: path.clone(), operation, reason: cause.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::new_histogram;
    use crate::run::recorded_for_tests;

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
    fn outcomes_of_files_come_back_from_the_record() {
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
            ended: Ended::Work,
        };
        let mut entries = outcome.entries(&intervals);
        for host in ["vm2", "vm1"] {
            entries.extend(intervals.iter().flat_map(|it| it.entries_of_member(host)));
        }
        let record = recorded_for_tests(entries);
        let (back, series) = FileOutcome::of_record(&record).unwrap();
        assert!(back == outcome, "{back:?}");
        assert!(series == intervals, "{series:?}");
        let hosts = FileOutcome::members_of_record(&record);
        let names: Vec<&str> = hosts.iter().map(|(host, _)| host.as_str()).collect();
        assert_eq!(names, ["vm2", "vm1"]);
        assert!(hosts.iter().all(|(_, own)| *own == intervals), "{hosts:?}");
    }
}
