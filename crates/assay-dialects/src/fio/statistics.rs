//! fio's figures, made of what the engine measured.
//!
//! `lat` begins just before the call that submits. Where that call is timed by itself, `slat` is how long it took and
//! `clat` begins at its end, as in fio; elsewhere `clat` is `lat`.

use assay_model::storage_outcome::{Operation, StorageOutcome, Tally};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::compile::{FioPlan, Part, ReportRow};
use super::steady::Window;
use super::worker::Worker;

mod depth;
mod samples;
mod spread;

pub use samples::Samples;

/// What the process used during the run, besides what outcomes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProcessUse {
    /// Changes of context.
    pub switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

/// What a disk did during the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DiskUse {
    /// Its name: `vda`.
    pub name: String,
    /// Reads and writes that it completed.
    pub ios: (u64, u64),
    /// Reads and writes that were merged.
    pub merges: (u64, u64),
    /// Milliseconds that reads and writes took.
    pub ticks_ms: (u64, u64),
    /// Milliseconds of all that were in its queue.
    pub in_queue_ms: u64,
    /// Milliseconds in which it was busy.
    pub busy_ms: u64,
    /// Milliseconds of the run.
    pub elapsed_ms: u64,
}

impl DiskUse {
    /// Its figures in fio's order, the last in percent; text and terse differ in what stands between.
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

    /// Percent of the time in which it was busy.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        (100.0 * self.busy_ms as f64 / self.elapsed_ms.max(1) as f64).min(100.0)
    }
}

/// Everything a report needs besides the jobs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Circumstances {
    /// Milliseconds since 1970 when the run ended.
    pub ended_ms: u64,
    /// How far the local time was ahead of UTC then.
    pub utc_offset_s: i32,
    /// Both as `Sat Nov 21 14:34:43 2026`: words, which are made again whenever they are wanted.
    #[serde(skip)]
    pub ended: String,
    /// This process.
    pub process: u32,
    /// The version that is reported: `fio-3.33 (assay 0.1.0)`.
    pub version: String,
    /// Per phase.
    pub uses: Vec<ProcessUse>,
    /// Disks below the files.
    pub disks: Vec<DiskUse>,
    /// Milliseconds from the start of the first phase to the end of the last.
    pub elapsed_ms: u64,
}

/// Reads or writes of one entry of the report.
#[derive(Debug, Clone)]
pub struct Side {
    /// I/O done.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Milliseconds over which it was done, at least one where anything was.
    pub runtime_ms: u64,
    /// The same in seconds, not rounded: short runs would have wrong rates.
    pub runtime_s: f64,
    /// From just before submission to completion: fio's `lat`.
    pub latency: Times,
    /// KiB/s over the intervals.
    pub bandwidth: Samples,
    /// IO/s over the intervals.
    pub rate: Samples,
    /// How long submitting took, where it was timed by itself.
    pub submission: Option<Times>,
    /// From its end to completion, likewise.
    pub completion: Option<Times>,
}

/// Times of one kind, in nanoseconds.
#[derive(Debug, Clone)]
pub struct Times {
    /// All of them.
    pub all: Histogram<u64>,
    /// Their mean.
    pub mean_ns: f64,
    /// Their standard deviation.
    pub deviation_ns: f64,
}

impl Times {
    fn of(parts: &[&Tally]) -> Option<Self> {
        let mut all = empty();
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

/// Mean and standard deviation.
fn moments(count: u64, sum: f64, squares: f64) -> (f64, f64) {
    if count == 0 {
        return (0.0, 0.0);
    }
    let mean = sum / count as f64;
    let variance = (squares - sum * mean) / (count as f64 - 1.0).max(1.0);
    (mean, variance.max(0.0).sqrt())
}

impl Side {
    /// What stands where nothing was done.
    pub(super) fn none() -> Self {
        Self {
            ios: 0,
            bytes: 0,
            runtime_ms: 0,
            runtime_s: 0.0,
            latency: Times { all: empty(), mean_ns: 0.0, deviation_ns: 0.0 },
            bandwidth: Samples::default(),
            rate: Samples::default(),
            submission: None,
            completion: None,
        }
    }

    /// fio's `clat`.
    pub(super) fn completion(&self) -> &Times {
        self.completion.as_ref().unwrap_or(&self.latency)
    }

    /// B/s, as whole as fio prints it.
    #[must_use]
    pub fn bytes_per_s(&self) -> u64 {
        per_second(self.bytes, self.runtime_s) as u64
    }

    /// IO/s.
    #[must_use]
    pub fn ios_per_s(&self) -> f64 {
        per_second(self.ios, self.runtime_s)
    }
}

/// One entry of the report.
#[derive(Debug, Clone)]
pub struct WorkerResult<'a> {
    /// The (first) job.
    pub worker: &'a Worker,
    /// Its entry in the plan.
    pub row: &'a ReportRow,
    /// Reads.
    pub read: Side,
    /// Writes.
    pub write: Side,
    /// Trims.
    pub trim: Side,
    /// Calls of `fsync`.
    pub syncs: Option<Times>,
    /// The window of a steady state, where one was requested.
    pub steady: Option<Window>,
    /// Milliseconds of all its jobs together.
    pub runtime_ms: u64,
    /// CPU in user mode in percent of `runtime_ms`.
    pub user_percent: f64,
    /// The same in the kernel.
    pub system_percent: f64,
    /// What the process used, its share.
    pub usage: ProcessUse,
    /// Percent of I/O with 1, 2, 4, … 32 or more in flight.
    pub depths: [f64; 7],
    /// Percent of I/O by latency, in fio's classes below 1 µs.
    pub below_us: [f64; 10],
    /// The same below 1 ms.
    pub below_ms: [f64; 10],
    /// The same from 1 ms.
    pub from_ms: [f64; 12],
    /// Number and text of the first error; 0 = none.
    pub error: (i32, String),
    /// All errors.
    pub errors: u64,
}

/// Jobs that are reported together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupSide {
    /// B/s of all its jobs.
    pub bytes_per_s: u64,
    /// Minimum B/s of a job.
    pub minimum: u64,
    /// Largest.
    pub maximum: u64,
    /// Bytes.
    pub bytes: u64,
    /// Minimum milliseconds of a job.
    pub shortest_ms: u64,
    /// Largest.
    pub longest_ms: u64,
}

/// The entries of the report, in order.
#[must_use]
pub fn results<'a>(
    plan: &'a FioPlan,
    outcomes: &[StorageOutcome],
    circumstances: &Circumstances,
) -> Vec<WorkerResult<'a>> {
    plan.reports.iter().map(|row| result(plan, row, outcomes, circumstances)).collect()
}

/// The groups of a report: number; reads, writes, trims.
#[must_use]
pub fn groups(results: &[WorkerResult<'_>]) -> Vec<(usize, [Option<GroupSide>; 3])> {
    let mut numbers: Vec<usize> = results.iter().map(|result| result.row.group).collect();
    numbers.dedup();
    let side = |number: usize, of: fn(&WorkerResult<'_>) -> Side| {
        let members = results.iter().filter(|result| result.row.group == number);
        let sides: Vec<Side> = members.map(of).filter(|side| side.bytes > 0).collect();
        let longest_ms = sides.iter().map(|side| side.runtime_ms).max()?;
        let longest_s = sides.iter().map(|side| side.runtime_s).fold(0.0, f64::max);
        let bytes = sides.iter().map(|side| side.bytes).sum();
        Some(GroupSide {
            bytes_per_s: per_second(bytes, longest_s) as u64,
            minimum: sides.iter().map(Side::bytes_per_s).min()?,
            maximum: sides.iter().map(Side::bytes_per_s).max()?,
            bytes,
            shortest_ms: sides.iter().map(|side| side.runtime_ms).min()?,
            longest_ms,
        })
    };
    let each = |number| {
        let trims = side(number, |r| r.trim.clone());
        (number, [side(number, |r| r.read.clone()), side(number, |r| r.write.clone()), trims])
    };
    numbers.into_iter().map(each).collect()
}

fn result<'a>(
    plan: &'a FioPlan,
    row: &'a ReportRow,
    outcomes: &[StorageOutcome],
    circumstances: &Circumstances,
) -> WorkerResult<'a> {
    let worker = &plan.workers[row.worker];
    let read = side(worker, row, outcomes, Operation::Read);
    let (mut write, mut trim) = (side(worker, row, outcomes, Operation::Write), Side::none());
    if worker.way.trims {
        std::mem::swap(&mut write, &mut trim);
    }
    let (below_us, below_ms, from_ms) =
        spread::classes([&read, &write, &trim].map(|side| &side.completion().all));
    let phases = phases(row, outcomes);
    let streams = |index: usize| plan.plan.phases[index].workload.streams.len().max(1) as f64;
    let mine = |index: usize| {
        row.parts.iter().filter(|part| part.phase == index).count() as f64 / streams(index)
    };
    let active_s = |part: &Part| Some(active_s(outcomes.get(part.phase)?, part.stream));
    let runtime_s: f64 = row.parts.iter().filter_map(active_s).sum();
    let percent =
        |seconds: f64| if runtime_s > 0.0 { 100.0 * seconds / runtime_s } else { 0.0 };
    let user: f64 = phases.iter().map(|(i, outcome)| outcome.cpu_user_s * mine(*i)).sum();
    let system: f64 = phases.iter().map(|(i, outcome)| outcome.cpu_system_s * mine(*i)).sum();
    let mut usage = ProcessUse::default();
    for (index, _) in &phases {
        let all = circumstances.uses.get(*index).copied().unwrap_or_default();
        let share = |count: u64| (count as f64 * mine(*index)) as u64;
        usage.switches += share(all.switches);
        usage.major_faults += share(all.major_faults);
        usage.minor_faults += share(all.minor_faults);
    }
    let failed = phases.iter().find_map(|(_, outcome)| outcome.errors.first());
    WorkerResult {
        worker,
        row,
        depths: depth::levels(row, outcomes),
        read,
        write,
        trim,
        syncs: syncs(row, outcomes),
        steady: steady(worker, row, outcomes),
        runtime_ms: milliseconds(runtime_s),
        user_percent: percent(user),
        system_percent: percent(system),
        usage,
        below_us,
        below_ms,
        from_ms,
        error: failed.map_or((0, String::new()), |failure| {
            (number_of(&failure.reason), failure.reason.clone())
        }),
        errors: phases.iter().map(|(_, outcome)| outcome.error_count).sum(),
    }
}

fn syncs(row: &ReportRow, outcomes: &[StorageOutcome]) -> Option<Times> {
    let streams =
        row.parts.iter().filter_map(|part| outcomes.get(part.phase)?.streams.get(part.stream));
    Times::of(&streams.filter_map(|stream| stream.syncs.as_ref()).collect::<Vec<_>>())
}

fn steady(worker: &Worker, row: &ReportRow, outcomes: &[StorageOutcome]) -> Option<Window> {
    let mut window = Window::of(&worker.manner)?;
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

/// Seconds for which a stream was at work.
fn active_s(outcome: &StorageOutcome, stream: usize) -> f64 {
    outcome.streams.get(stream).map_or(outcome.elapsed_s, |record| record.active_s)
}

/// The phases of an entry with their outcomes, each once.
fn phases<'o>(
    row: &ReportRow,
    outcomes: &'o [StorageOutcome],
) -> Vec<(usize, &'o StorageOutcome)> {
    let mut indices: Vec<usize> = row.parts.iter().map(|part| part.phase).collect();
    indices.sort_unstable();
    indices.dedup();
    indices.into_iter().filter_map(|index| Some((index, outcomes.get(index)?))).collect()
}

fn side(
    worker: &Worker,
    row: &ReportRow,
    outcomes: &[StorageOutcome],
    operation: Operation,
) -> Side {
    let mut side = Side::none();
    let (mut all, mut submissions, mut completions) = (vec![], vec![], vec![]);
    let mut runtime_s: f64 = 0.0;
    for part in &row.parts {
        let Some(outcome) = outcomes.get(part.phase) else { continue };
        let mine = outcome.tallies.iter().filter(|tally| tally.stream == part.stream);
        let tallies = mine.filter(|tally| tally.operation == operation);
        let mut any = false;
        for tally in tallies.map(|tally| &tally.tally) {
            side.ios += tally.count;
            side.bytes += tally.bytes;
            any |= tally.count > 0;
            all.push(tally);
        }
        if any {
            runtime_s = runtime_s.max(active_s(outcome, part.stream));
        }
        let Some(record) = outcome.streams.get(part.stream) else { continue };
        submissions.extend(record.submissions[operation as usize].as_ref());
        completions.extend(record.completions[operation as usize].as_ref());
    }
    side.runtime_s = runtime_s;
    if side.ios > 0 {
        side.runtime_ms = milliseconds(runtime_s).max(1);
        side.latency = Times::of(&all).unwrap_or(side.latency);
        (side.bandwidth, side.rate) = samples::series(worker, row, outcomes, operation);
        side.submission = Times::of(&submissions);
        side.completion = Times::of(&completions);
    }
    side
}

fn empty() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are within what a histogram can hold")
}

/// `… (os error 28)` → 28; an error that reports no number is EIO, which is 5 on every Linux.
fn number_of(reason: &str) -> i32 {
    const EIO: i32 = 5;
    let reported =
        reason.rsplit_once("(os error ").and_then(|(_, rest)| rest.split(')').next());
    reported.and_then(|number| number.parse().ok()).unwrap_or(EIO)
}

fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1e3).round() as u64
}

fn per_second(amount: u64, runtime_s: f64) -> f64 {
    if runtime_s > 0.0 { amount as f64 / runtime_s } else { 0.0 }
}
