//! fio's statistics, derived from the outcomes of the engine.
//!
//! `lat` begins just before the submitting call. If that call is timed separately, `slat` is its
//! duration and `clat` begins at its end, as in fio. Otherwise `clat` equals `lat`.

use std::collections::BTreeMap;

use assay_model::distribution::as_text;
use assay_model::storage_outcome::{IoOperation, IoTally, StorageOutcome, StreamDetails};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::compile::{self, FioPlan, ReportRow, StreamRef};
use super::reported_job::ReportedJob;
use super::section_options::{DirectionReport, FioOptions};
use super::steady::FioSteadyWindow;

mod depth;
mod errors;
mod latency_classes;
mod priorities;
mod samples;
mod warm_up;

pub use errors::has_failed;
pub use priorities::PriorityLatency;
pub use samples::SampleSummary;

/// Resource usage of the process during a run, in addition to the outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FioProcessUsage {
    /// Context switches.
    pub switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
}

impl FioProcessUsage {
    fn share(self, share: f64) -> Self {
        let part = |count: u64| (count as f64 * share) as u64;
        Self {
            switches: part(self.switches),
            major_faults: part(self.major_faults),
            minor_faults: part(self.minor_faults),
        }
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            switches: self.switches + other.switches,
            major_faults: self.major_faults + other.major_faults,
            minor_faults: self.minor_faults + other.minor_faults,
        }
    }
}

/// Activity of a disk during the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DiskUse {
    /// Device name: `vda`.
    pub name: String,
    /// Completed reads and writes.
    pub ios: (u64, u64),
    /// Merged reads and writes.
    pub merges: (u64, u64),
    /// Milliseconds spent on reads and writes.
    pub ticks_ms: (u64, u64),
    /// Sum of the queue times of all requests, in milliseconds.
    pub in_queue_ms: u64,
    /// Milliseconds with at least one request in progress.
    pub busy_ms: u64,
    /// Duration of the run in milliseconds.
    pub elapsed_ms: u64,
}

impl DiskUse {
    /// Formats its figures in fio's order, the last in percent; text and terse output use different
    /// separators.
    pub(super) fn figures(&self) -> [String; 8] {
        [
            self.ios.0.to_string(),
            self.ios.1.to_string(),
            self.merges.0.to_string(),
            self.merges.1.to_string(),
            self.ticks_ms.0.to_string(),
            self.ticks_ms.1.to_string(),
            self.in_queue_ms.to_string(),
            format!("{:.2}%", self.utilisation()),
        ]
    }

    /// Returns the busy time in percent of the run.
    pub fn utilisation(&self) -> f64 {
        (100.0 * self.busy_ms as f64 / self.elapsed_ms.max(1) as f64).min(100.0)
    }
}

/// Facts about the run that a report needs besides the jobs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FioRunInfo {
    /// End of the run, in milliseconds since 1970.
    pub ended_ms: u64,
    /// Local end time as text, `Sat Nov 21 14:34:43 2026`.
    pub ended: String,
    /// Process ID.
    pub process: u32,
    /// Reported version: `fio-3.33 (assay 0.1.0)`.
    pub version: String,
    /// Resource usage per phase.
    pub uses: Vec<FioProcessUsage>,
    /// Disks that hold the files.
    pub disks: Vec<DiskUse>,
    /// Milliseconds from the start of the first phase to the end of the last.
    pub elapsed_ms: u64,
}

/// Reads, writes or trims of one report entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectionStatistics {
    /// Number of completed I/O.
    pub ios: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Run time in milliseconds; at least one if there was any I/O.
    pub runtime_ms: u64,
    /// Unrounded run time in seconds, so that rates of short runs are right.
    pub runtime_s: f64,
    /// Latency from just before submission to completion: fio's `lat`.
    pub latency: FioLatencyStatistics,
    /// Bandwidth over the intervals, in KiB/s.
    pub bandwidth: SampleSummary,
    /// Rate over the intervals, in IO/s.
    pub rate: SampleSummary,
    /// Duration of the submitting call (`slat`), if timed separately.
    pub submission: Option<FioLatencyStatistics>,
    /// Time from the end of the submitting call to completion (`clat`), if timed separately.
    pub completion: Option<FioLatencyStatistics>,
    /// Latencies by priority, if there are several: of `lat` with `lat_percentiles`, otherwise of
    /// `clat`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_priority: Vec<PriorityLatency>,
}

/// Latencies of one kind, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FioLatencyStatistics {
    /// Histogram of all values.
    #[serde(with = "as_text")]
    pub all: Histogram<u64>,
    /// Mean.
    pub mean_ns: f64,
    /// Standard deviation.
    pub deviation_ns: f64,
}

impl FioLatencyStatistics {
    /// Returns the statistics of no value.
    fn empty() -> Self {
        Self { all: empty_histogram(), mean_ns: 0.0, deviation_ns: 0.0 }
    }

    fn from_tallies(parts: &[&IoTally]) -> Option<Self> {
        let mut all = empty_histogram();
        let (mut sum, mut squares) = (0.0, 0.0);
        for part in parts {
            all.add(&part.service_ns).expect("a histogram that grows holds every value");
            sum += part.service_sum_ns as f64;
            squares += part.service_square_sum;
        }
        let (mean_ns, deviation_ns) = moments(all.len(), sum, squares);
        (!all.is_empty()).then_some(Self { all, mean_ns, deviation_ns })
    }
}

/// Returns mean and standard deviation.
fn moments(count: u64, sum: f64, squares: f64) -> (f64, f64) {
    if count == 0 {
        return (0.0, 0.0);
    }
    let mean = sum / count as f64;
    let variance = (squares - sum * mean) / (count as f64 - 1.0).max(1.0);
    (mean, variance.max(0.0).sqrt())
}

impl DirectionStatistics {
    /// Statistics of a direction without any I/O.
    pub(super) fn without_io() -> Self {
        Self {
            ios: 0,
            bytes: 0,
            runtime_ms: 0,
            runtime_s: 0.0,
            latency: FioLatencyStatistics::empty(),
            bandwidth: SampleSummary::default(),
            rate: SampleSummary::default(),
            submission: None,
            completion: None,
            by_priority: vec![],
        }
    }

    /// Returns fio's `clat`.
    pub(super) fn completion(&self) -> &FioLatencyStatistics {
        self.completion.as_ref().unwrap_or(&self.latency)
    }

    /// Returns B/s, truncated as fio prints it.
    pub fn bytes_per_s(&self) -> u64 {
        per_second(self.bytes, self.runtime_s) as u64
    }

    /// Returns IO/s.
    pub fn ios_per_s(&self) -> f64 {
        per_second(self.ios, self.runtime_s)
    }
}

/// Results of one report entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryResult {
    /// Options of the (first) job.
    pub job: ReportedJob,
    /// fio's group.
    pub group: usize,
    /// Number of jobs in the entry.
    pub members: u32,
    /// Reads.
    pub read: DirectionStatistics,
    /// Writes.
    pub write: DirectionStatistics,
    /// Trims.
    pub trim: DirectionStatistics,
    /// All directions together, if they are reported so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed: Option<Box<DirectionStatistics>>,
    /// Latencies of `fsync` calls.
    pub syncs: Option<FioLatencyStatistics>,
    /// Steady-state window, if requested.
    pub steady: Option<FioSteadyWindow>,
    /// Total run time of its jobs in milliseconds.
    pub runtime_ms: u64,
    /// CPU time in user mode, in percent of `runtime_ms`.
    pub user_percent: f64,
    /// CPU time in the kernel, in percent of `runtime_ms`.
    pub system_percent: f64,
    /// Its share of the resource usage of the process.
    pub usage: FioProcessUsage,
    /// Percent of I/O with 1, 2, 4, … 64 and more in flight.
    pub depths: [f64; 7],
    /// Percent of the submitting calls with 0, 4, 8, … 64 and more I/O.
    #[serde(default)]
    pub submissions: [f64; 7],
    /// Percent of the collecting calls with as many.
    #[serde(default)]
    pub collections: [f64; 7],
    /// Percent of I/O per latency class below 1 µs.
    pub below_us: [f64; 10],
    /// Percent of I/O per latency class from 1 µs to 1 ms.
    pub below_ms: [f64; 10],
    /// Percent of I/O per latency class from 1 ms.
    pub from_ms: [f64; 12],
    /// Depth that `latency_target` found; `None` = the job's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_depth: Option<u32>,
    /// Number and message of the error; 0 = none.
    pub error: (i32, String),
    /// Number of the first counted error; 0 = none.
    #[serde(default)]
    pub first_error: i32,
    /// Number of counted errors.
    pub errors: u64,
}

impl EntryResult {
    /// Returns the number of syncs that fio counts.
    pub fn counted_syncs(&self) -> u64 {
        let syncs = self.syncs.as_ref().filter(|_| !self.job.uncounted_syncs);
        syncs.map_or(0, |times| times.all.len())
    }

    /// Returns the entry if it reports each direction.
    pub fn separate(&self) -> Option<&Self> {
        (self.job.direction_report != DirectionReport::Mixed).then_some(self)
    }
}

/// Totals of one direction over the jobs of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupTotals {
    /// B/s of all jobs.
    pub bytes_per_s: u64,
    /// Minimum B/s of a job.
    pub minimum: u64,
    /// Maximum B/s of a job.
    pub maximum: u64,
    /// Bytes of all jobs.
    pub bytes: u64,
    /// Shortest run time of a job in milliseconds.
    pub shortest_ms: u64,
    /// Longest run time of a job in milliseconds.
    pub longest_ms: u64,
}

/// Returns the results of all report entries, in order.
pub(super) fn results(
    plan: &FioPlan,
    jobs: &[ReportedJob],
    outcomes: &[StorageOutcome],
    run_info: &FioRunInfo,
) -> Vec<EntryResult> {
    let entry =
        |row: &ReportRow| entry_result((plan, row, &jobs[row.section]), outcomes, run_info);
    plan.reports.iter().filter(|row| !row.is_hidden).map(entry).collect()
}

/// Returns the groups of a report: number, then totals of reads, writes, trims, and of all directions
/// of entries that report them together.
pub fn groups(results: &[EntryResult]) -> Vec<(usize, [Option<GroupTotals>; 4])> {
    let mut numbers: Vec<usize> = results.iter().map(|result| result.group).collect();
    numbers.dedup();
    let side = |number: usize, of: fn(&EntryResult) -> Option<&DirectionStatistics>| {
        let members = results.iter().filter(|result| result.group == number);
        let sides: Vec<&DirectionStatistics> =
            members.filter_map(of).filter(|side| side.bytes > 0).collect();
        let longest_ms = sides.iter().map(|side| side.runtime_ms).max()?;
        let longest_s = sides.iter().map(|side| side.runtime_s).fold(0.0, f64::max);
        let bytes = sides.iter().map(|side| side.bytes).sum();
        Some(GroupTotals {
            bytes_per_s: per_second(bytes, longest_s) as u64,
            minimum: sides.iter().map(|side| side.bytes_per_s()).min()?,
            maximum: sides.iter().map(|side| side.bytes_per_s()).max()?,
            bytes,
            shortest_ms: sides.iter().map(|side| side.runtime_ms).min()?,
            longest_ms,
        })
    };
    let each = |number| {
        let separate = [
            side(number, |result| result.separate().map(|_| &result.read)),
            side(number, |result| result.separate().map(|_| &result.write)),
            side(number, |result| result.separate().map(|_| &result.trim)),
        ];
        let [read, write, trim] = separate;
        (number, [read, write, trim, side(number, |result| result.mixed.as_deref())])
    };
    numbers.into_iter().map(each).collect()
}

/// Returns the seconds of searches for a depth. The CPU time of a phase includes them, and its runtime does not.
fn search_s(row: &ReportRow, outcomes: &[StorageOutcome]) -> f64 {
    let of_part =
        |part: &StreamRef| outcomes.get(part.phase)?.streams.get(part.stream)?.restarted_s;
    row.parts.iter().filter_map(of_part).sum()
}

fn entry_result(
    (plan, row, job): (&FioPlan, &ReportRow, &ReportedJob),
    outcomes: &[StorageOutcome],
    run_info: &FioRunInfo,
) -> EntryResult {
    let worker = &plan.options[row.section];
    let statistics =
        |operations: &[IoOperation]| direction_statistics(plan, row, outcomes, operations);
    let (mut read, mut write) =
        (statistics(&[IoOperation::Read]), statistics(&[IoOperation::Write]));
    let mut trim = DirectionStatistics::without_io();
    let mixed = match worker.direction_report {
        DirectionReport::Separate => None,
        DirectionReport::Mixed | DirectionReport::Both => {
            Some(Box::new(statistics(&[IoOperation::Read, IoOperation::Write])))
        }
    };
    if worker.rw.trims {
        std::mem::swap(&mut write, &mut trim);
    }
    if worker.rw.trims_first {
        std::mem::swap(&mut read, &mut trim);
    }
    let classified =
        [&read, &write, &trim].map(|side| latency_classes::classified_latency(worker, side));
    let (below_us, below_ms, from_ms) = latency_classes::class_shares(classified);
    let batches =
        depth::BatchShares::new(worker, row, outcomes, read.ios + write.ios + trim.ios);
    let phases = phases(row, outcomes);
    let streams = |index: usize| plan.plan.phases[index].workload.streams.len().max(1) as f64;
    let mine = |index: usize| {
        row.parts.iter().filter(|part| part.phase == index).count() as f64 / streams(index)
    };
    let active_s = |part: &StreamRef| Some(active_s(outcomes.get(part.phase)?, part.stream));
    let runtime_s: f64 = row.parts.iter().filter_map(active_s).sum();
    let cpu_span_s = runtime_s + search_s(row, outcomes);
    let percent =
        |seconds: f64| if cpu_span_s > 0.0 { 100.0 * seconds / cpu_span_s } else { 0.0 };
    let user: f64 = phases.iter().map(|(i, outcome)| outcome.cpu_user_s * mine(*i)).sum();
    let system: f64 = phases.iter().map(|(i, outcome)| outcome.cpu_system_s * mine(*i)).sum();
    let usage = phases.iter().map(|(index, _)| {
        run_info.uses.get(*index).copied().unwrap_or_default().share(mine(*index))
    });
    let errors = errors::entry_errors(plan, row, outcomes);
    EntryResult {
        job: job.clone(),
        group: row.group,
        members: row.members,
        depths: batches.depths,
        submissions: batches.submissions,
        collections: batches.collections,
        read,
        write,
        trim,
        mixed,
        syncs: sync_latency(row, outcomes),
        steady: steady_window(worker, row, outcomes),
        runtime_ms: milliseconds(runtime_s),
        user_percent: percent(user),
        system_percent: percent(system),
        usage: usage.fold(FioProcessUsage::default(), FioProcessUsage::plus),
        below_us,
        below_ms,
        from_ms,
        found_depth: last_stream(row, outcomes).and_then(|stream| stream.found_depth),
        error: (errors.number, errors.reason),
        first_error: errors.first,
        errors: errors.count,
    }
}

/// Returns the details of the last stream of an entry.
fn last_stream<'o>(
    row: &ReportRow,
    outcomes: &'o [StorageOutcome],
) -> Option<&'o StreamDetails> {
    let part = row.parts.last()?;
    outcomes.get(part.phase)?.streams.get(part.stream)
}

fn sync_latency(row: &ReportRow, outcomes: &[StorageOutcome]) -> Option<FioLatencyStatistics> {
    let streams =
        row.parts.iter().filter_map(|part| outcomes.get(part.phase)?.streams.get(part.stream));
    FioLatencyStatistics::from_tallies(
        &streams.filter_map(|stream| stream.syncs.as_ref()).collect::<Vec<_>>(),
    )
}

fn steady_window(
    worker: &FioOptions,
    row: &ReportRow,
    outcomes: &[StorageOutcome],
) -> Option<FioSteadyWindow> {
    let mut window = FioSteadyWindow::from_behaviour(&worker.behaviour)?;
    let phase = row.parts.first()?.phase;
    let streams: Vec<usize> =
        row.parts.iter().filter(|part| part.phase == phase).map(|part| part.stream).collect();
    for interval in &outcomes.get(phase)?.intervals {
        if window.add(interval, &streams) {
            break;
        }
    }
    Some(window)
}

/// Returns the seconds for which a stream was active.
fn active_s(outcome: &StorageOutcome, stream: usize) -> f64 {
    outcome.streams.get(stream).map_or(outcome.elapsed_s, |record| record.active_s)
}

/// Returns the phases of an entry with their outcomes, each once.
fn phases<'o>(
    row: &ReportRow,
    outcomes: &'o [StorageOutcome],
) -> Vec<(usize, &'o StorageOutcome)> {
    let mut indices: Vec<usize> = row.parts.iter().map(|part| part.phase).collect();
    indices.sort_unstable();
    indices.dedup();
    indices.into_iter().filter_map(|index| Some((index, outcomes.get(index)?))).collect()
}

fn direction_statistics(
    plan: &FioPlan,
    row: &ReportRow,
    outcomes: &[StorageOutcome],
    operations: &[IoOperation],
) -> DirectionStatistics {
    let worker = &plan.options[row.section];
    let mut side = DirectionStatistics::without_io();
    let (mut all, mut submissions, mut completions) = (vec![], vec![], vec![]);
    // Passes follow one another; jobs of a group run side by side.
    let mut longest_s: BTreeMap<usize, f64> = BTreeMap::new();
    for part in &row.parts {
        let Some(outcome) = outcomes.get(part.phase) else { continue };
        let mine = outcome.tallies.iter().filter(|tally| tally.stream == part.stream);
        let tallies = mine.filter(|tally| operations.contains(&tally.operation));
        let mut any = false;
        for tally in tallies.map(|tally| &tally.tally) {
            side.ios += tally.count;
            side.bytes += tally.bytes;
            any |= tally.count > 0;
            all.push(tally);
        }
        if any {
            let longest = longest_s.entry(part.phase).or_default();
            *longest = longest.max(active_s(outcome, part.stream));
        }
        if !any
            && let Some((ios, bytes, length_s)) =
                warm_up::only_warm_up(outcome, *part, operations)
        {
            side.ios += ios;
            side.bytes += bytes;
            let longest = longest_s.entry(part.phase).or_default();
            *longest = longest.max(length_s);
            all.extend(warm_up::calls_of_warm_up(worker, outcome, operations));
        }
        let Some(record) = outcome.streams.get(part.stream) else { continue };
        for operation in operations {
            submissions.extend(record.submissions[*operation as usize].as_ref());
            completions.extend(record.completions[*operation as usize].as_ref());
        }
    }
    let runtime_s = longest_s.values().sum();
    side.runtime_s = runtime_s;
    if side.ios > 0 {
        side.runtime_ms = milliseconds(runtime_s).max(1);
        side.latency = FioLatencyStatistics::from_tallies(&all).unwrap_or(side.latency);
        (side.bandwidth, side.rate) = samples::series(worker, row, outcomes, operations);
        side.submission = FioLatencyStatistics::from_tallies(&submissions);
        side.completion = FioLatencyStatistics::from_tallies(&completions);
        side.by_priority = priorities::by_priority((plan, worker), row, outcomes, operations);
        remove_disabled(&mut side, worker);
    }
    side
}

/// Removes latencies that the job does not measure (`disable_lat` and the like).
fn remove_disabled(side: &mut DirectionStatistics, worker: &FioOptions) {
    let [lat, slat, clat] = worker.logs.disabled;
    if compile::file_call(worker).is_some() {
        // fio times calls on files as completions, and their I/O not at all.
        let calls = std::mem::replace(&mut side.latency, FioLatencyStatistics::empty());
        side.completion = Some(if lat { FioLatencyStatistics::empty() } else { calls });
        return;
    }
    if lat && side.completion.is_none() {
        side.completion = Some(side.latency.clone());
    }
    if clat {
        side.completion = Some(FioLatencyStatistics::empty());
    }
    if lat {
        side.latency = FioLatencyStatistics::empty();
    }
    if slat {
        side.submission = None;
    }
}

fn empty_histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are within what a histogram can hold")
}

fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1e3).round() as u64
}

fn per_second(amount: u64, runtime_s: f64) -> f64 {
    if runtime_s > 0.0 { amount as f64 / runtime_s } else { 0.0 }
}
