//! Samples from the series of a phase: one per stretch, and the distribution of all of its I/O.

use std::collections::BTreeSet;

use assay_model::attribute::{Attribute, Attributes};
use assay_model::distribution::{LatencyDistribution, new_histogram};
use assay_model::doubt::Doubt;
use assay_model::entry::{EntryValue, MeasurementEntry};
use assay_model::failure::FailureReason;
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::kernel_counters::PayloadBytes;
use assay_model::storage_outcome::{IntervalTally, IoTally, StorageOutcome};
use assay_model::workload::file_set::{FileOperation, FileStream, FileWorkload};
use assay_model::workload::storage::StorageWorkload;
use assay_stats::rate_search::{LateCount, is_rate_missed};
use hdrhistogram::Histogram;

/// Neighbouring intervals with at least one I/O in total.
#[derive(Debug)]
pub struct StorageStretch {
    length_s: f64,
    count: u64,
    bytes: u64,
    service: Histogram<u64>,
    from_intended: Histogram<u64>,
}

/// Interval of a series of block I/O or of file operations.
pub trait PhaseInterval {
    /// Whether the interval belongs to the warm-up.
    fn is_warmup(&self) -> bool;
    /// Adds the interval to a stretch.
    fn add_to(&self, stretch: &mut StorageStretch);
}

impl PhaseInterval for IntervalTally {
    fn is_warmup(&self) -> bool {
        self.warmup
    }

    fn add_to(&self, stretch: &mut StorageStretch) {
        stretch.length_s += self.length_s;
        for tally in [&self.reads, &self.writes] {
            stretch.add_tally(tally);
        }
    }
}

impl PhaseInterval for FileInterval {
    fn is_warmup(&self) -> bool {
        self.warmup
    }

    fn add_to(&self, stretch: &mut StorageStretch) {
        let tally = &self.tally;
        stretch.length_s += self.length_s;
        stretch.count += tally.requested.count;
        stretch.bytes += tally.read_bytes + tally.written_bytes;
        if let Some(service) = &tally.service_ns {
            add_histogram(&mut stretch.service, service);
        }
        if let Some(from_intended) = &tally.from_intended_ns {
            add_histogram(&mut stretch.from_intended, from_intended);
        }
    }
}

/// Number of stretches per phase, enough for a 95 % interval of the median of their rates.
const STRETCHES_PER_PHASE: f64 = 12.0;
/// Maximum length of a stretch: 100 slices of a throttle that lets I/O through every 100 ms.
const MAX_STRETCH_S: f64 = 10.0;

/// Returns the length of a stretch for a phase with `counting_s` seconds after the warm-up.
///
/// Throttles let I/O through in bursts: the median over intervals as short as the bursts would be
/// the rate of a burst, or of the pause between two.
pub fn stretch_length_s(counting_s: f64) -> f64 {
    (counting_s / STRETCHES_PER_PHASE).min(MAX_STRETCH_S)
}

/// Joins the intervals after the warm-up to stretches of at least `minimum_s` with some I/O in
/// each; the rest at the end joins the last one.
pub fn join_stretches<I: PhaseInterval>(
    intervals: &[I],
    minimum_s: f64,
) -> Vec<StorageStretch> {
    // Intervals end slightly late or early; ten short ones must not require an eleventh.
    let enough_s = 0.95 * minimum_s;
    let mut stretches: Vec<StorageStretch> = Vec::new();
    let mut open: Option<StorageStretch> = None;
    for interval in intervals.iter().filter(|it| !it.is_warmup()) {
        let stretch = open.get_or_insert_with(StorageStretch::new);
        interval.add_to(stretch);
        if stretch.count > 0 && stretch.length_s >= enough_s {
            stretches.extend(open.take());
        }
    }
    match (open, stretches.last_mut()) {
        (Some(rest), Some(last)) => last.merge(&rest),
        (Some(rest), None) if rest.count > 0 => stretches.push(rest),
        _ => {}
    }
    stretches
}

/// Returns the bytes of all I/O, including the warm-up.
pub fn payload(outcome: &StorageOutcome) -> PayloadBytes {
    let sum = |of: fn(&IntervalTally) -> u64| outcome.intervals.iter().map(of).sum();
    PayloadBytes { read: sum(|it| it.reads.bytes), written: sum(|it| it.writes.bytes) }
}

/// Returns the bytes of all operations on files, including the warm-up.
pub fn file_payload(intervals: &[FileInterval]) -> PayloadBytes {
    let sum = |of: fn(&FileInterval) -> u64| intervals.iter().map(of).sum();
    PayloadBytes {
        read: sum(|it| it.tally.read_bytes),
        written: sum(|it| it.tally.written_bytes),
    }
}

/// Returns the number of I/O after the warm-up.
pub fn io_count(outcome: &StorageOutcome) -> u64 {
    outcome.tallies.iter().map(|it| it.tally.count).sum()
}

/// Returns the rate after the warm-up in IO/s; 0 without measured time.
pub fn rate_per_s(outcome: &StorageOutcome) -> f64 {
    if outcome.elapsed_s > 0.0 { io_count(outcome) as f64 / outcome.elapsed_s } else { 0.0 }
}

/// Concatenates phases with the same streams and targets, without the time between them. `None`
/// without any.
pub fn concatenate(outcomes: &[StorageOutcome]) -> Option<StorageOutcome> {
    let (first, others) = outcomes.split_first()?;
    let mut all = first.clone();
    for other in others {
        let ended_s = all.intervals.last().map_or(0.0, |last| last.start_s + last.length_s);
        let moved = other.intervals.iter().cloned().map(|mut interval| {
            interval.start_s += ended_s;
            interval
        });
        all.intervals.extend(moved);
        all.tallies.extend(other.tallies.iter().cloned());
        all.elapsed_s += other.elapsed_s;
        all.cpu_user_s += other.cpu_user_s;
        all.cpu_system_s += other.cpu_system_s;
        all.errors.extend(other.errors.iter().cloned());
        all.error_count += other.error_count;
        all.not_started += other.not_started;
    }
    Some(all)
}

/// Returns rate, bandwidth and latency of the stretches as samples, and the CPU time per I/O.
pub fn stretch_samples(outcome: &StorageOutcome) -> Vec<MeasurementEntry> {
    let mut entries = Vec::new();
    for stretch in join_stretches(&outcome.intervals, stretch_length_s(outcome.elapsed_s)) {
        stretch.push_samples(&mut entries);
    }
    entries.extend(cpu_per_io(outcome));
    entries
}

/// Returns rate, bandwidth and latency of each repetition of a phase as samples, and the CPU time
/// per I/O. As in IOR, the bandwidth includes the time for opening and closing the targets.
pub fn repetition_samples(repetitions: &[StorageOutcome]) -> Vec<MeasurementEntry> {
    let mut entries = Vec::new();
    for outcome in repetitions {
        let mut whole = StorageStretch::new();
        whole.length_s = outcome.elapsed_s;
        outcome.tallies.iter().for_each(|it| whole.add_tally(&it.tally));
        if whole.count == 0 || whole.length_s <= 0.0 {
            continue;
        }
        let total_s = outcome.open_s + outcome.elapsed_s + outcome.close_s;
        let rates = [
            ("rate", whole.rate_per_s(), whole.length_s),
            ("bandwidth", whole.bytes as f64 / total_s, total_s),
        ];
        entries.extend(rates.map(|(metric, value, seconds)| {
            let sample = EntryValue::weighted(value, seconds);
            MeasurementEntry::measured(metric, sample)
        }));
        entries.push(MeasurementEntry::sample("latency", whole.median_service_s()));
    }
    entries.extend(concatenate(repetitions).as_ref().and_then(cpu_per_io));
    entries
}

/// Returns the CPU time per I/O; `None` if the time includes a search for a depth, whose I/O are not counted.
fn cpu_per_io(outcome: &StorageOutcome) -> Option<MeasurementEntry> {
    if outcome.streams.iter().any(|stream| stream.restarted_s.is_some()) {
        return None;
    }
    let (cpu_s, count) = (outcome.cpu_user_s + outcome.cpu_system_s, io_count(outcome));
    (count > 0).then(|| MeasurementEntry::sample("cpu_per_io", cpu_s / count as f64))
}

/// Returns the samples of file operations. A pass is one stretch. If several kinds of operation are
/// requested at once, the rate of each is a separate result.
pub fn file_samples(
    workload: &FileWorkload,
    outcome: &FileOutcome,
    intervals: &[FileInterval],
) -> Vec<MeasurementEntry> {
    let minimum_s = match workload.timing.duration_s {
        Some(_) => stretch_length_s(outcome.elapsed_s),
        None => outcome.elapsed_s,
    };
    let mut entries = Vec::new();
    for stretch in join_stretches(intervals, minimum_s) {
        stretch.push_samples(&mut entries);
    }
    let asked: BTreeSet<FileOperation> =
        workload.streams.iter().flat_map(FileStream::operations).collect();
    for operation in asked.iter().filter(|_| asked.len() > 1 && !workload.in_turn) {
        let alone: Vec<FileInterval> =
            intervals.iter().map(|interval| interval.for_operation(*operation)).collect();
        let operation = Attributes::from([(Attribute::Operation, operation.name().into())]);
        let mut found = Vec::new();
        for stretch in join_stretches(&alone, minimum_s) {
            stretch.push_rates(&mut found);
        }
        entries.extend(found.into_iter().map(|entry| entry.with_dimensions(&operation)));
    }
    entries
}

/// Returns the doubt about an open loop that missed its rate by more than chance explains.
pub fn rate_missed_doubt(
    asked_per_s: Option<f64>,
    count: u64,
    elapsed_s: f64,
) -> Option<Doubt> {
    let asked_per_s = asked_per_s.filter(|rate| is_rate_missed(count, rate * elapsed_s))?;
    let reached_per_s = count as f64 / elapsed_s;
    Some(Doubt::RateMissed { asked_per_s, reached_per_s })
}

/// Returns the failure for I/O errors of a phase; `None` if all I/O succeeded.
pub fn io_case_failure(
    workload: &StorageWorkload,
    outcome: &StorageOutcome,
) -> Option<FailureReason> {
    let first = outcome.errors.first()?;
    let target = workload.targets.get(first.target);
    Some(FailureReason::IoFailed {
        count: outcome.error_count,
        operation: first.operation.name().to_owned(),
        offset: first.offset,
        target: target.map_or_else(String::new, |it| it.path.display().to_string()),
        causes: vec![first.reason.clone()],
    })
}

/// Returns the mean number of I/O in flight after the warm-up; `None` if it is 0.
pub fn mean_in_flight(outcome: &StorageOutcome) -> Option<f64> {
    let counting = outcome.intervals.iter().filter(|interval| !interval.warmup);
    let time_s: f64 = counting.clone().map(|interval| interval.length_s).sum();
    let weighted: f64 = counting.map(|interval| interval.in_flight * interval.length_s).sum();
    (time_s > 0.0 && weighted > 0.0).then_some(weighted / time_s)
}

impl StorageStretch {
    fn new() -> Self {
        Self {
            length_s: 0.0,
            count: 0,
            bytes: 0,
            service: new_histogram(),
            from_intended: new_histogram(),
        }
    }

    fn add_tally(&mut self, tally: &IoTally) {
        self.count += tally.count;
        self.bytes += tally.bytes;
        add_histogram(&mut self.service, &tally.service_ns);
        add_histogram(&mut self.from_intended, &tally.from_intended_ns);
    }

    fn merge(&mut self, other: &Self) {
        self.length_s += other.length_s;
        self.count += other.count;
        self.bytes += other.bytes;
        add_histogram(&mut self.service, &other.service);
        add_histogram(&mut self.from_intended, &other.from_intended);
    }

    /// Appends samples of rate, bandwidth and latencies.
    fn push_samples(&self, entries: &mut Vec<MeasurementEntry>) {
        self.push_rates(entries);
        entries.push(MeasurementEntry::sample("latency", self.median_service_s()));
        let intended = self.median_from_intended_s();
        entries.extend(
            intended
                .map(|median_s| MeasurementEntry::sample("latency_from_intended", median_s)),
        );
    }

    /// Appends samples of rate and bandwidth; operations on directories move no bytes.
    fn push_rates(&self, entries: &mut Vec<MeasurementEntry>) {
        let mut weighted = |metric, value| {
            let sample = EntryValue::weighted(value, self.length_s);
            entries.push(MeasurementEntry::measured(metric, sample));
        };
        weighted("rate", self.rate_per_s());
        if self.bytes > 0 {
            weighted("bandwidth", self.bytes_per_s());
        }
    }

    /// Returns the rate in IO/s.
    pub fn rate_per_s(&self) -> f64 {
        self.count as f64 / self.length_s
    }

    /// Returns the length in seconds.
    pub const fn length_s(&self) -> f64 {
        self.length_s
    }

    /// Returns the number of I/O.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the bandwidth in B/s.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 / self.length_s
    }

    /// Returns the I/O that took longer than `most_s` from the time due, to 1 %, and all I/O that
    /// was due.
    pub fn lateness(&self, most_s: f64) -> LateCount {
        let most_ns = (most_s * 1e9) as u64;
        let in_time = self.from_intended.count_between(0, most_ns);
        let all = self.from_intended.len();
        LateCount { late: all.saturating_sub(in_time), all }
    }

    /// Returns the latency distribution: from the time due, or in a closed loop from submission.
    pub fn latency(&self) -> Option<(&'static str, LatencyDistribution)> {
        let all = [("latency_from_intended", &self.from_intended), ("latency", &self.service)];
        let known = all.into_iter().find(|(_, times)| !times.is_empty());
        known.map(|(metric, times)| (metric, LatencyDistribution::from_histogram(times)))
    }

    pub fn median_service_s(&self) -> f64 {
        median_s(&self.service)
    }

    /// Returns the median latency from the time due; `None` in a closed loop.
    pub fn median_from_intended_s(&self) -> Option<f64> {
        (!self.from_intended.is_empty()).then(|| median_s(&self.from_intended))
    }
}

fn add_histogram(all: &mut Histogram<u64>, other: &Histogram<u64>) {
    all.add(other).expect("a histogram without bounds grows to hold any other");
}

fn median_s(histogram: &Histogram<u64>) -> f64 {
    histogram.value_at_quantile(0.5).min(histogram.max()) as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use assay_model::engine_reason::EngineReason;
    use assay_model::storage_outcome::IoOperation;

    use super::*;

    fn tally(latencies_ns: &[u64]) -> IoTally {
        let mut service_ns = new_histogram();
        latencies_ns.iter().for_each(|it| service_ns.record(*it).unwrap());
        IoTally {
            count: latencies_ns.len() as u64,
            bytes: 4096 * latencies_ns.len() as u64,
            from_intended_ns: new_histogram(),
            service_square_sum: 0.0,
            service_sum_ns: latencies_ns.iter().sum(),
            service_ns,
        }
    }

    fn interval(warmup: bool, length_s: f64, latencies_ns: &[u64]) -> IntervalTally {
        IntervalTally {
            start_s: 0.0,
            length_s,
            warmup,
            reads: tally(latencies_ns),
            writes: tally(&[]),
            streams: vec![],
            in_flight: 1.0,
            cpu_user: 0.0,
            cpu_system: 0.0,
        }
    }

    /// Compares the rates of stretches; `intervals` are lengths and numbers of I/O.
    fn check(intervals: &[(f64, usize)], expected: &[f64]) {
        let mut all = vec![interval(true, 1.0, &[7; 100])];
        all.extend(intervals.iter().map(|(s, count)| interval(false, *s, &vec![1000; *count])));
        let rates: Vec<f64> =
            join_stretches(&all, 1.0).iter().map(StorageStretch::rate_per_s).collect();
        assert_eq!(rates.len(), expected.len(), "{rates:?}");
        for (rate, expected) in rates.iter().zip(expected) {
            assert!((rate - expected).abs() < 1e-9, "{rates:?}");
        }
    }

    #[test]
    fn stretches_have_io_and_exclude_warm_up() {
        check(&[(1.0, 10), (1.0, 20)], &[10.0, 20.0]);
        // A stall belongs to the I/O that ended it.
        check(&[(1.0, 10), (1.0, 0), (1.0, 20)], &[10.0, 10.0]);
        check(&[(1.0, 10), (1.0, 0)], &[5.0]);
        check(&[(1.0, 10), (0.25, 5)], &[12.0]);
        check(&[(1.0, 0), (1.0, 0)], &[]);
        check(&[], &[]);
        // Bursts of a throttle and the pauses between them make one rate.
        check(&[(0.1, 10), (0.1, 0)].repeat(10), &[50.0, 50.0]);
    }

    fn outcome(latencies_ns: &[u64]) -> StorageOutcome {
        StorageOutcome {
            open_s: 0.0,
            close_s: 0.0,
            elapsed_s: 1.0,
            tallies: vec![assay_model::storage_outcome::StreamTally {
                stream: 0,
                target: 0,
                operation: IoOperation::Read,
                tally: tally(latencies_ns),
            }],
            intervals: vec![interval(true, 0.5, &[1]), interval(false, 1.0, latencies_ns)],
            cpu_user_s: 0.25,
            cpu_system_s: 0.5,
            engine: "null".into(),
            engine_reason: EngineReason::AskedFor,
            errors: vec![],
            error_count: 0,
            not_started: 0,
            streams: vec![],
            ended: assay_model::storage_outcome::EndReason::Time,
        }
    }

    #[test]
    fn concatenates_phases() {
        let all = concatenate(&[outcome(&[1000; 10]), outcome(&[3000; 30])]).unwrap();
        assert_eq!((io_count(&all), all.elapsed_s, all.cpu_user_s), (40, 2.0, 0.5));
        assert!((rate_per_s(&all) - 20.0).abs() < 1e-9);
        let rates: Vec<f64> = join_stretches(&all.intervals, 1.0)
            .iter()
            .map(StorageStretch::rate_per_s)
            .collect();
        assert_eq!(rates, [10.0, 30.0]);
        let starts: Vec<f64> = all.intervals.iter().map(|it| it.start_s).collect();
        assert_eq!(starts, [0.0, 0.0, 1.0, 1.0]);
        assert!(concatenate(&[]).is_none());
    }
}
