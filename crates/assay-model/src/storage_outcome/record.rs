//! Conversion of a storage phase's outcome to measurement entries.
//!
//! Series without a dimension of [`Role::Part`](crate::attribute::Role::Part) become results:
//! latencies per interval, of reads and of writes. Series with one are parts of them: latencies per
//! stream, target and operation, `fsync` calls, submission times, streams within intervals, and the
//! intervals of each host in a total.

mod journal;

use super::{
    EndReason, IntervalTally, IoOperation, IoTally, StorageOutcome, StreamCount, StreamDetails,
    StreamTally,
};
use crate::attribute::{Attribute, AttributeValue, Attributes};
use crate::distribution::{LatencyDistribution, new_histogram};
use crate::doubt::Doubt;
use crate::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use journal::{format_journal, journal_name};

const LATENCY: &str = "latency";
const LATENCY_FROM_INTENDED: &str = "latency_from_intended";
/// Values of [`Attribute::Stage`] in the dimensions of parts.
const INTERVAL: &str = "interval";
const SYNC: &str = "sync";
const SUBMISSION: &str = "submission";
const COMPLETION: &str = "completion";

const READ_AND_WRITE: [IoOperation; 2] = [IoOperation::Read, IoOperation::Write];

impl IoOperation {
    /// Returns the value in dimensions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl EndReason {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Time, "time"),
        (Self::Work, "work"),
        (Self::Errors, "errors"),
        (Self::Interrupted, "interrupted"),
    ];

    /// Returns the value of [`Attribute::Ended`].
    pub fn name(self) -> &'static str {
        let row = Self::ALL.iter().find(|(ended, _)| *ended == self);
        row.map(|(_, word)| *word).expect("every end has its row")
    }
}

impl StorageOutcome {
    /// Converts the outcome to entries.
    pub fn to_entries(&self) -> Vec<MeasurementEntry> {
        let mut entries = self.to_fact_entries();
        let operations = self.used_operations();
        for interval in &self.intervals {
            let span = MeasuredSpan::from_seconds(
                interval.start_s,
                interval.length_s,
                interval.warmup,
            );
            add_interval(interval, span, &operations, &mut entries);
        }
        let whole = MeasuredSpan::from_seconds(0.0, self.elapsed_s, false);
        for it in &self.tallies {
            let key = |metric| part_key(metric, it.stream, Some(it.target), it.operation, None);
            entries.push(distribution_entry(
                key(LATENCY),
                whole,
                it.tally.service_distribution(),
            ));
            if !it.tally.from_intended_ns.is_empty() {
                entries.push(distribution_entry(
                    key(LATENCY_FROM_INTENDED),
                    whole,
                    it.tally.intended_distribution(),
                ));
            }
        }
        for (stream, details) in self.streams.iter().enumerate() {
            add_stream(stream, details, whole, &mut entries);
        }
        entries
    }

    /// Returns the journals of the streams as raw outputs: names and contents.
    pub fn journals(&self) -> Vec<(String, Vec<u8>)> {
        let kept = self.streams.iter().enumerate().filter(|(_, it)| !it.journal.is_empty());
        kept.map(|(stream, it)| (journal_name(stream), format_journal(&it.journal))).collect()
    }

    fn to_fact_entries(&self) -> Vec<MeasurementEntry> {
        let mut entries = vec![
            MeasurementEntry::fact(Attribute::ElapsedS, self.elapsed_s),
            MeasurementEntry::fact(Attribute::OpenS, self.open_s),
            MeasurementEntry::fact(Attribute::CloseS, self.close_s),
            MeasurementEntry::fact(Attribute::CpuUserS, self.cpu_user_s),
            MeasurementEntry::fact(Attribute::CpuSystemS, self.cpu_system_s),
            MeasurementEntry::fact(Attribute::Engine, self.engine.as_str()),
            MeasurementEntry::Fact(
                Attribute::EngineReason,
                AttributeValue::Reason(self.engine_reason.clone()),
            ),
            MeasurementEntry::fact(Attribute::Errors, self.error_count),
            MeasurementEntry::fact(Attribute::Ended, self.ended.name()),
        ];
        if self.not_started > 0 {
            entries.push(MeasurementEntry::fact(Attribute::NotStarted, self.not_started));
        }
        let due_of = |it: &StreamTally| it.tally.from_intended_ns.len();
        let due = self.tallies.iter().map(due_of).sum();
        entries.extend(Doubt::not_started(self.not_started, due).map(MeasurementEntry::Doubt));
        entries.extend(self.errors.iter().map(|error| {
            MeasurementEntry::Doubt(Doubt::IoFailed {
                target: error.target,
                operation: error.operation.name().to_owned(),
                offset: error.offset,
                bytes: error.bytes,
                cause: error.reason.clone(),
            })
        }));
        entries
    }

    /// Returns the operations of the outcome. Without any I/O, returns reads, so that empty
    /// intervals have an entry.
    fn used_operations(&self) -> Vec<IoOperation> {
        let is_used = |operation: &IoOperation| {
            self.tallies.iter().any(|it| it.operation == *operation)
                || self.intervals.iter().any(|it| it.tally_of(*operation).count > 0)
        };
        let used: Vec<IoOperation> = READ_AND_WRITE.into_iter().filter(is_used).collect();
        if used.is_empty() { vec![IoOperation::Read] } else { used }
    }
}

impl IoTally {
    /// Returns an empty tally.
    pub fn empty() -> Self {
        Self {
            count: 0,
            bytes: 0,
            service_ns: new_histogram(),
            from_intended_ns: new_histogram(),
            service_square_sum: 0.0,
            service_sum_ns: 0,
        }
    }

    /// Adds another tally; histograms merge exactly.
    ///
    /// # Panics
    /// Never: a histogram that grows holds any other.
    pub fn merge(&mut self, other: &Self) {
        const GROWS: &str = "a histogram that grows holds any other";
        self.count = self.count.saturating_add(other.count);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.service_ns.add(&other.service_ns).expect(GROWS);
        self.from_intended_ns.add(&other.from_intended_ns).expect(GROWS);
        self.service_square_sum += other.service_square_sum;
        self.service_sum_ns = self.service_sum_ns.saturating_add(other.service_sum_ns);
    }

    fn service_distribution(&self) -> LatencyDistribution {
        LatencyDistribution {
            count: self.count,
            sum_ns: self.service_sum_ns as f64,
            square_sum: Some(self.service_square_sum),
            bytes: Some(self.bytes),
            ..LatencyDistribution::from_histogram(&self.service_ns)
        }
    }

    fn intended_distribution(&self) -> LatencyDistribution {
        LatencyDistribution::from_histogram(&self.from_intended_ns)
    }
}

impl IntervalTally {
    /// Converts the interval to entries of one host in the total.
    pub fn to_member_entries(&self, host: &str) -> Vec<MeasurementEntry> {
        let mut entries = Vec::new();
        let span = MeasuredSpan::from_seconds(self.start_s, self.length_s, self.warmup);
        let is_used = |operation: &IoOperation| self.tally_of(*operation).count > 0;
        let mut operations: Vec<IoOperation> =
            READ_AND_WRITE.into_iter().filter(is_used).collect();
        if operations.is_empty() {
            operations.push(IoOperation::Read);
        }
        let without_streams = Self { streams: Vec::new(), ..self.clone() };
        add_interval(&without_streams, span, &operations, &mut entries);
        let member = Attributes::from([(Attribute::Member, host.into())]);
        entries.into_iter().map(|entry| entry.with_dimensions(&member)).collect()
    }

    /// Returns the tally of reads or of writes.
    pub const fn tally_of(&self, operation: IoOperation) -> &IoTally {
        match operation {
            IoOperation::Read => &self.reads,
            IoOperation::Write => &self.writes,
        }
    }
}

fn distribution_entry(
    key: SeriesKey,
    span: MeasuredSpan,
    distribution: LatencyDistribution,
) -> MeasurementEntry {
    MeasurementEntry::Measured(key, EntryValue::Distribution(span, distribution))
}

/// Returns the key of a part: a stream, optionally one of its targets, an operation, optionally a
/// stage.
fn part_key(
    metric: &'static str,
    stream: usize,
    target: Option<usize>,
    operation: IoOperation,
    stage: Option<&str>,
) -> SeriesKey {
    let mut dimensions = Attributes::from([
        (Attribute::Stream, stream.into()),
        (Attribute::Operation, operation.name().into()),
    ]);
    dimensions.extend(target.map(|target| (Attribute::TargetIndex, target.into())));
    dimensions.extend(stage.map(|stage| (Attribute::Stage, stage.into())));
    SeriesKey { metric, dimensions }
}

fn operation_key(metric: &'static str, operation: IoOperation) -> SeriesKey {
    SeriesKey::with_dimensions(metric, [(Attribute::Operation, operation.name().into())])
}

fn add_interval(
    interval: &IntervalTally,
    span: MeasuredSpan,
    operations: &[IoOperation],
    entries: &mut Vec<MeasurementEntry>,
) {
    for operation in operations {
        let tally = interval.tally_of(*operation);
        entries.push(distribution_entry(
            operation_key(LATENCY, *operation),
            span,
            tally.service_distribution(),
        ));
        if !tally.from_intended_ns.is_empty() {
            entries.push(distribution_entry(
                operation_key(LATENCY_FROM_INTENDED, *operation),
                span,
                tally.intended_distribution(),
            ));
        }
    }
    let samples = [
        ("in_flight", interval.in_flight),
        ("cpu_user", interval.cpu_user),
        ("cpu_system", interval.cpu_system),
    ];
    for (metric, value) in samples {
        let key = SeriesKey::with_dimensions(metric, [(Attribute::Stage, INTERVAL.into())]);
        let weight = interval.length_s;
        entries.push(MeasurementEntry::Measured(key, EntryValue::Sample { value, weight }));
    }
    for (stream, count) in interval.streams.iter().enumerate() {
        for (operation, moments) in READ_AND_WRITE.into_iter().zip(count.moments()) {
            if moments.count > 0 {
                let key = part_key(LATENCY, stream, None, operation, Some(INTERVAL));
                entries.push(distribution_entry(key, span, moments));
            }
        }
    }
}

impl StreamCount {
    /// Returns reads and writes as moments.
    fn moments(&self) -> [LatencyDistribution; 2] {
        let moments = |count, bytes, sum_ns: u64, max_ns| LatencyDistribution {
            count,
            sum_ns: sum_ns as f64,
            square_sum: None,
            bytes: Some(bytes),
            min_ns: None,
            max_ns: Some(max_ns),
            histogram: None,
        };
        [
            moments(self.reads, self.read_bytes, self.read_service_ns, self.read_maximum_ns),
            moments(
                self.writes,
                self.write_bytes,
                self.write_service_ns,
                self.write_maximum_ns,
            ),
        ]
    }
}

fn add_stream(
    stream: usize,
    details: &StreamDetails,
    whole: MeasuredSpan,
    entries: &mut Vec<MeasurementEntry>,
) {
    let key = SeriesKey::with_dimensions(
        "in_flight",
        [(Attribute::Stream, stream.into()), (Attribute::Stage, "whole".into())],
    );
    entries.push(MeasurementEntry::SeriesFact(
        key,
        Attribute::ActiveS,
        details.active_s.into(),
    ));
    let entry = |operation, stage, tally: &IoTally| {
        distribution_entry(
            part_key(LATENCY, stream, None, operation, Some(stage)),
            whole,
            tally.service_distribution(),
        )
    };
    entries.extend(details.syncs.iter().map(|it| entry(IoOperation::Write, SYNC, it)));
    let stages = [(SUBMISSION, &details.submissions), (COMPLETION, &details.completions)];
    for (stage, tallies) in stages {
        let pairs = READ_AND_WRITE.into_iter().zip(tallies);
        let recorded = pairs.filter_map(|(operation, it)| Some((operation, it.as_ref()?)));
        entries.extend(recorded.map(|(operation, it)| entry(operation, stage, it)));
    }
}

#[cfg(test)]
mod tests;
