//! Operations on file trees: directories created and removed, files written, read and queried.
//!
//! Each thread makes one blocking call at a time, the same calls that programs make. The caller
//! decides whether a tree may be written.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use assay_model::file_outcome::{FileFailure, FileInterval, FileOutcome, FileTally};
use assay_model::poisoned_lock::PoisonedLock as _;
use assay_model::storage_outcome::EndReason;
use assay_model::workload::file_set::{
    FileLoad, FileOperation, FileOrder, FileStream, FileWorkload,
};

pub use self::changes::Changes;
use self::tree::TreeState;
use self::worker::FileWorker;
pub(super) use self::worker::{nanoseconds, record_requested};
use super::arrivals::ArrivalSchedule;
use super::cpu_usage::CpuUsage;
use super::error::StorageError;
use super::random::RandomStream;

mod changes;
mod open_file;
mod tree;
mod worker;

/// Maximum number of failures reported with details; all are counted.
const MAX_REPORTED_FAILURES: usize = 20;
/// Interval of the checks for the end of all work.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Callbacks and controls of a running phase.
#[expect(missing_debug_implementations, reason = "functions do not implement Debug")]
pub struct FileControl<'a> {
    /// Ends the phase when set, by any thread.
    pub stop: &'a AtomicBool,
    /// Called when everything is ready for the first operation; the phase begins when it returns.
    pub on_ready: &'a mut dyn FnMut(),
    /// Called after each interval, in order, by the thread that called [`run`].
    pub on_interval: &'a mut dyn FnMut(&FileInterval),
    /// Number of failed operations that ends the phase.
    pub max_errors: u64,
}

/// Runs one phase. Its load is closed or open; failed operations are collected in the outcome.
///
/// # Errors
/// [`StorageError`] when the phase cannot take place, or is interrupted before its start.
pub fn run(
    workload: &FileWorkload,
    control: &mut FileControl<'_>,
) -> Result<FileOutcome, StorageError> {
    let look = |(index, tree)| {
        TreeState::scan(tree, Changes::from_workload(workload, index), control.stop)
    };
    let trees: Vec<TreeState<'_>> =
        workload.trees.iter().enumerate().map(look).collect::<Result<_, _>>()?;
    let shared = FilePhaseState::new(workload, &trees)?;
    let mut workers = Vec::new();
    for (index, stream) in workload.streams.iter().enumerate() {
        for _ in 0..stream.threads {
            let id = workers.len() as u64;
            workers.push(FileWorker::new(&shared, index, workload, id)?);
        }
    }
    let tallies: Vec<Mutex<FileTally>> = workers.iter().map(|_| Mutex::default()).collect();
    (control.on_ready)();
    // The clock starts with the threads.
    shared.elapsed();
    thread::scope(|scope| {
        for (number, (worker, tally)) in workers.into_iter().zip(&tallies).enumerate() {
            let work = move || worker.work(tally);
            if let Err(source) = thread::Builder::new().spawn_scoped(scope, work) {
                // Ends the threads that have started.
                shared.over.store(true, Ordering::Relaxed);
                let what = format!("thread {number} of the load");
                return Err(StorageError::Resource { what, source });
            }
        }
        Ok(shared.monitor(workload, &tallies, control))
    })
}

/// State that all threads of a phase share.
struct FilePhaseState<'w> {
    streams: Vec<StreamState<'w>>,
    /// Start of the threads.
    started: OnceLock<Instant>,
    /// Time of the last thread's end so far, in nanoseconds since `began`.
    ended_ns: AtomicU64,
    /// Set when the phase is over.
    over: AtomicBool,
    /// Number of running threads.
    active: AtomicUsize,
    /// Index of the active stream, if streams run one after another.
    turn: AtomicUsize,
    in_turn: bool,
    errors: Mutex<Vec<FileFailure>>,
    error_count: AtomicU64,
}

/// State that the threads of one stream share.
struct StreamState<'w> {
    stream: &'w FileStream,
    tree: &'w TreeState<'w>,
    /// Next position in the order.
    cursor: AtomicU64,
    /// Schedule of the operations; `None` in a closed loop.
    schedule: Option<Mutex<ArrivalSchedule>>,
    /// Whether another stream provides work for this one, by creating or removing entries.
    has_feeder: bool,
    /// Number of running threads.
    active: AtomicUsize,
}

impl<'w> FilePhaseState<'w> {
    fn new(
        workload: &'w FileWorkload,
        trees: &'w [TreeState<'w>],
    ) -> Result<Self, StorageError> {
        let streams: Vec<StreamState<'w>> = workload
            .streams
            .iter()
            .enumerate()
            .map(|(index, stream)| {
                let tree = trees.get(stream.tree).ok_or_else(|| StorageError::Workload {
                    what: format!("the stream {} has no tree", stream.name),
                })?;
                let schedule = build_schedule(workload, stream, index as u64);
                Ok(StreamState {
                    stream,
                    tree,
                    cursor: AtomicU64::new(0),
                    schedule: schedule.map(Mutex::new),
                    has_feeder: has_feeder(workload, stream),
                    active: AtomicUsize::new(stream.threads as usize),
                })
            })
            .collect::<Result<_, StorageError>>()?;
        let threads = streams.iter().map(|it| it.stream.threads as usize).sum();
        Ok(Self {
            streams,
            started: OnceLock::new(),
            ended_ns: AtomicU64::new(0),
            over: AtomicBool::new(false),
            active: AtomicUsize::new(threads),
            turn: AtomicUsize::new(0),
            in_turn: workload.in_turn,
            errors: Mutex::new(Vec::new()),
            error_count: AtomicU64::new(0),
        })
    }

    fn elapsed(&self) -> Duration {
        self.started.get_or_init(Instant::now).elapsed()
    }

    fn elapsed_ns(&self) -> u64 {
        nanoseconds(self.elapsed())
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn record_failure(&self, failure: FileFailure) {
        self.error_count.fetch_add(1, Ordering::Relaxed);
        let mut errors = self.errors.lock().even_if_poisoned();
        if errors.len() < MAX_REPORTED_FAILURES {
            errors.push(failure);
        }
    }

    /// Produces the intervals until the time is up or no work is left.
    fn monitor(
        &self,
        workload: &FileWorkload,
        tallies: &[Mutex<FileTally>],
        control: &mut FileControl<'_>,
    ) -> FileOutcome {
        let timing = workload.timing;
        let end_s = timing.duration_s.map(|duration_s| timing.warmup_s + duration_s);
        let mut busy = CpuUsage::start();
        let mut outcome = FileOutcome {
            elapsed_s: 0.0,
            total: FileTally::default(),
            errors: Vec::new(),
            error_count: 0,
            ended: EndReason::Time,
        };
        let mut start_s = 0.0;
        for number in 1.. {
            let due_s = f64::from(number) * timing.interval_s;
            let due_s = end_s.map_or(due_s, |end_s| due_s.min(end_s));
            let reason = self.wait_until(due_s, control);
            let is_last = reason.is_some() || end_s.is_some_and(|end_s| due_s >= end_s);
            if is_last {
                // Operations in flight are finished and belong to the last interval.
                self.over.store(true, Ordering::Relaxed);
                while self.active.load(Ordering::Acquire) > 0 {
                    thread::sleep(POLL_INTERVAL);
                }
            }
            // The work ended with its last thread, not when that was noticed.
            let now_s = match reason {
                Some(EndReason::Work) => self.ended_ns.load(Ordering::Acquire) as f64 * 1e-9,
                _ => self.elapsed().as_secs_f64(),
            };
            let now_s = now_s.max(start_s);
            let interval =
                self.take_interval(tallies, (start_s, now_s), timing.warmup_s, &mut busy);
            (control.on_interval)(&interval);
            if !interval.warmup {
                outcome.elapsed_s += interval.length_s;
                outcome.total.merge(&interval.tally);
            }
            start_s = now_s;
            if is_last {
                outcome.ended = reason.unwrap_or(EndReason::Time);
                break;
            }
        }
        outcome.errors.append(&mut self.errors.lock().even_if_poisoned());
        outcome.error_count = self.error_count.load(Ordering::Relaxed);
        outcome
    }

    /// Waits until `due_s`; returns the reason for an earlier end, if any.
    fn wait_until(&self, due_s: f64, control: &FileControl<'_>) -> Option<EndReason> {
        loop {
            if control.stop.load(Ordering::Relaxed) {
                return Some(EndReason::Interrupted);
            }
            if self.error_count.load(Ordering::Relaxed) >= control.max_errors {
                return Some(EndReason::Errors);
            }
            if self.active.load(Ordering::Acquire) == 0 {
                return Some(EndReason::Work);
            }
            let left_s = due_s - self.elapsed().as_secs_f64();
            if left_s <= 0.0 {
                return None;
            }
            thread::sleep(POLL_INTERVAL.min(Duration::from_secs_f64(left_s)));
        }
    }

    fn take_interval(
        &self,
        tallies: &[Mutex<FileTally>],
        (start_s, now_s): (f64, f64),
        warmup_s: f64,
        busy: &mut CpuUsage,
    ) -> FileInterval {
        let mut tally = FileTally::default();
        for part in tallies {
            tally.merge(&std::mem::take(&mut *part.lock().even_if_poisoned()));
        }
        let (cpu_user, cpu_system) = busy.take_shares();
        // An interval that begins shortly before the end of the warm-up belongs to the measured
        // time.
        let warmup = start_s + 0.5 * (now_s - start_s) < warmup_s;
        FileInterval { start_s, length_s: now_s - start_s, warmup, tally, cpu_user, cpu_system }
    }
}

/// Returns whether another stream on the same tree provides work for `stream`, by creating or
/// removing entries.
fn has_feeder(workload: &FileWorkload, stream: &FileStream) -> bool {
    let feeder = match stream.operation {
        FileOperation::Create => FileOperation::Delete,
        FileOperation::Mkdir => FileOperation::Rmdir,
        FileOperation::Rmdir => FileOperation::Mkdir,
        _ => FileOperation::Create,
    };
    let feeds = |other: &FileStream| other.tree == stream.tree && other.operation == feeder;
    !workload.in_turn && stream.order != FileOrder::Once && workload.streams.iter().any(feeds)
}

fn build_schedule(
    workload: &FileWorkload,
    stream: &FileStream,
    id: u64,
) -> Option<ArrivalSchedule> {
    let FileLoad::Open { per_s, arrivals } = workload.load else { return None };
    let draws = RandomStream::new(workload.seed, u64::MAX - id);
    Some(ArrivalSchedule::new(arrivals, per_s * stream.rate_share, 1.0, draws))
}

#[cfg(test)]
mod tests;
