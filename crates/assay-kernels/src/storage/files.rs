//! Operations on file trees: directories made and removed, files written, read and queried.
//!
//! One blocking call per thread, through the same calls that programs use. Whether a tree may be
//! written is decided by the caller.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use assay_model::file_outcome::{FileFailure, FileInterval, FileOutcome, FileTally};
use assay_model::storage_outcome::Ended;
use assay_model::workload::file_set::{
    FileLoad, FileOperation, FileOrder, FileStream, FileWorkload,
};

pub use self::changes::Changes;
use self::tree::TreeState;
use self::worker::{Worker, nanoseconds};
use super::arrivals::Schedule;
use super::busy::Busy;
use super::error::StorageError;
use super::random::Draws;

mod changes;
mod open_file;
mod tree;
mod worker;

/// Failures that are reported in words; all are counted.
const MOST_TOLD: usize = 20;
/// How often the end of all work is looked for within an interval.
const GLANCE: Duration = Duration::from_millis(5);

/// How a running phase is watched and ended.
#[expect(missing_debug_implementations, reason = "a function has no text")]
pub struct FileControl<'a> {
    /// Set by anyone to end the phase.
    pub stop: &'a AtomicBool,
    /// Called when nothing is left to do before the first operation; the phase begins when it returns.
    pub on_ready: &'a mut dyn FnMut(),
    /// Called after each interval, in order, by the thread that called [`run`].
    pub on_interval: &'a mut dyn FnMut(&FileInterval),
    /// The phase ends when this many operations have failed.
    pub most_errors: u64,
}

/// Carries out one phase. Its load is closed or open; operations that fail are collected in the outcome.
///
/// # Errors
/// [`StorageError`] when the phase cannot take place.
pub fn run(
    workload: &FileWorkload,
    control: &mut FileControl<'_>,
) -> Result<FileOutcome, StorageError> {
    let look = |(index, tree)| TreeState::look(tree, Changes::of(workload, index));
    let trees: Vec<TreeState<'_>> =
        workload.trees.iter().enumerate().map(look).collect::<Result<_, _>>()?;
    let shared = Shared::new(workload, &trees)?;
    let mut workers = Vec::new();
    for (index, stream) in workload.streams.iter().enumerate() {
        for _ in 0..stream.threads {
            let id = workers.len() as u64;
            workers.push(Worker::new(&shared, index, workload, id)?);
        }
    }
    let tallies: Vec<Mutex<FileTally>> = workers.iter().map(|_| Mutex::default()).collect();
    (control.on_ready)();
    // The clock starts with the threads.
    shared.elapsed();
    Ok(thread::scope(|scope| {
        for (worker, tally) in workers.into_iter().zip(&tallies) {
            scope.spawn(move || worker.work(tally));
        }
        shared.watch(workload, &tallies, control)
    }))
}

/// What all threads of a phase share.
struct Shared<'w> {
    streams: Vec<StreamState<'w>>,
    /// Set when the threads are about to start.
    began: OnceLock<Instant>,
    /// When the last thread ended so far, in nanoseconds since that.
    ended_ns: AtomicU64,
    /// Set when the phase is over.
    over: AtomicBool,
    /// Threads that still work.
    active: AtomicUsize,
    /// The stream whose turn it is, where streams work one after another.
    turn: AtomicUsize,
    in_turn: bool,
    errors: Mutex<Vec<FileFailure>>,
    error_count: AtomicU64,
}

/// What the threads of one stream share.
struct StreamState<'w> {
    stream: &'w FileStream,
    tree: &'w TreeState<'w>,
    /// The next place in the order.
    cursor: AtomicU64,
    /// When the next operation is due; `None` = at once.
    schedule: Option<Mutex<Schedule>>,
    /// Whether another stream makes, or takes away, what this one needs.
    is_fed: bool,
    /// Threads that still work.
    active: AtomicUsize,
}

impl<'w> Shared<'w> {
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
                    what: format!("the stream {} works on no tree", stream.name),
                })?;
                let schedule = schedule(workload, stream, index as u64);
                Ok(StreamState {
                    stream,
                    tree,
                    cursor: AtomicU64::new(0),
                    schedule: schedule.map(Mutex::new),
                    is_fed: is_fed(workload, stream),
                    active: AtomicUsize::new(stream.threads as usize),
                })
            })
            .collect::<Result<_, StorageError>>()?;
        let threads = streams.iter().map(|it| it.stream.threads as usize).sum();
        Ok(Self {
            streams,
            began: OnceLock::new(),
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
        self.began.get_or_init(Instant::now).elapsed()
    }

    fn elapsed_ns(&self) -> u64 {
        nanoseconds(self.elapsed())
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn fail(&self, failure: FileFailure) {
        self.error_count.fetch_add(1, Ordering::Relaxed);
        let mut errors = locked(&self.errors);
        if errors.len() < MOST_TOLD {
            errors.push(failure);
        }
    }

    /// Makes the series until the time is up or nothing is left to do.
    fn watch(
        &self,
        workload: &FileWorkload,
        tallies: &[Mutex<FileTally>],
        control: &mut FileControl<'_>,
    ) -> FileOutcome {
        let timing = workload.timing;
        let end_s = timing.duration_s.map(|duration_s| timing.warmup_s + duration_s);
        let mut busy = Busy::begin();
        let mut outcome = FileOutcome {
            elapsed_s: 0.0,
            total: FileTally::default(),
            errors: Vec::new(),
            error_count: 0,
            ended: Ended::Time,
        };
        let mut start_s = 0.0;
        for number in 1.. {
            let due_s = f64::from(number) * timing.interval_s;
            let due_s = end_s.map_or(due_s, |end_s| due_s.min(end_s));
            let reason = self.wait_until(due_s, control);
            let is_last = reason.is_some() || end_s.is_some_and(|end_s| due_s >= end_s);
            if is_last {
                // What is under way is finished and belongs to the last interval.
                self.over.store(true, Ordering::Relaxed);
                while self.active.load(Ordering::Acquire) > 0 {
                    thread::sleep(GLANCE);
                }
            }
            // Work that is done ended with its last thread, not when that was seen.
            let now_s = match reason {
                Some(Ended::Work) => self.ended_ns.load(Ordering::Acquire) as f64 * 1e-9,
                _ => self.elapsed().as_secs_f64(),
            };
            let now_s = now_s.max(start_s);
            let interval = self.interval(tallies, (start_s, now_s), timing.warmup_s, &mut busy);
            (control.on_interval)(&interval);
            if !interval.warmup {
                outcome.elapsed_s += interval.length_s;
                outcome.total.join(&interval.tally);
            }
            start_s = now_s;
            if is_last {
                outcome.ended = reason.unwrap_or(Ended::Time);
                break;
            }
        }
        outcome.errors.append(&mut locked(&self.errors));
        outcome.error_count = self.error_count.load(Ordering::Relaxed);
        outcome
    }

    /// Waits; gives a reason to end before the time.
    fn wait_until(&self, due_s: f64, control: &FileControl<'_>) -> Option<Ended> {
        loop {
            if control.stop.load(Ordering::Relaxed) {
                return Some(Ended::Interrupted);
            }
            if self.error_count.load(Ordering::Relaxed) >= control.most_errors {
                return Some(Ended::Errors);
            }
            if self.active.load(Ordering::Acquire) == 0 {
                return Some(Ended::Work);
            }
            let left_s = due_s - self.elapsed().as_secs_f64();
            if left_s <= 0.0 {
                return None;
            }
            thread::sleep(GLANCE.min(Duration::from_secs_f64(left_s)));
        }
    }

    fn interval(
        &self,
        tallies: &[Mutex<FileTally>],
        (start_s, now_s): (f64, f64),
        warmup_s: f64,
        busy: &mut Busy,
    ) -> FileInterval {
        let mut tally = FileTally::default();
        for part in tallies {
            tally.join(&std::mem::take(&mut *locked(part)));
        }
        let (cpu_user, cpu_system) = busy.shares();
        // An interval that begins a little before the warm-up ends belongs to what follows it.
        let warmup = start_s + 0.5 * (now_s - start_s) < warmup_s;
        FileInterval { start_s, length_s: now_s - start_s, warmup, tally, cpu_user, cpu_system }
    }
}

/// Whether another stream on the same tree makes, or takes away, what `stream` needs.
fn is_fed(workload: &FileWorkload, stream: &FileStream) -> bool {
    let feeder = match stream.operation {
        FileOperation::Create => FileOperation::Delete,
        FileOperation::Mkdir => FileOperation::Rmdir,
        FileOperation::Rmdir => FileOperation::Mkdir,
        _ => FileOperation::Create,
    };
    let feeds = |other: &FileStream| other.tree == stream.tree && other.operation == feeder;
    !workload.in_turn && stream.order != FileOrder::Once && workload.streams.iter().any(feeds)
}

fn schedule(workload: &FileWorkload, stream: &FileStream, id: u64) -> Option<Schedule> {
    let FileLoad::Open { per_s, arrivals } = workload.load else { return None };
    let draws = Draws::new(workload.seed, u64::MAX - id);
    Some(Schedule::new(arrivals, per_s * stream.rate_share, 1.0, draws))
}

/// Nothing that is locked here can be left half changed, so a panic elsewhere does not spoil it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
