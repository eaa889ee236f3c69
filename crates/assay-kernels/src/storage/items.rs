//! Operations of tasks on numbered items: each task creates, queries, reads or removes files or
//! directories of its own, one after another, as mdtest does.
//!
//! All tasks begin together. The caller names the items and decides whether they may be changed.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use assay_model::file_outcome::{FileInterval, FileOutcome, FileTally};
use assay_model::poisoned_lock::PoisonedLock as _;
use assay_model::storage_outcome::EndReason;
use assay_model::workload::file_set::FileOperation;

pub use self::root::ItemRoot;
use self::task::Task;
use super::PhaseStart;
use super::error::StorageError;

mod root;
mod task;
#[cfg(test)]
mod tests;

/// Length of an interval.
const INTERVAL: Duration = Duration::from_millis(250);

/// Operation of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemOperation {
    /// Creates directories.
    MakeDirectory,
    /// Queries the attributes of directories or files.
    Query,
    /// Renames each item to its second name.
    Rename,
    /// Removes empty directories.
    RemoveDirectory,
    /// Creates files and writes them.
    Create(NewFileContents),
    /// Creates empty files by `mknod`.
    MakeNode,
    /// Opens and reads files.
    Read {
        /// Bytes to read of each; 0 only opens and closes it.
        bytes: u64,
        /// Whether the data is checked.
        verifies: bool,
    },
    /// Removes files.
    Remove,
}

/// Contents of new files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewFileContents {
    /// Bytes of each file.
    pub bytes: u64,
    /// Whether an existing file is an error; otherwise several tasks create the same file.
    pub is_new: bool,
    /// Whether `fsync` follows the write.
    pub syncs: bool,
    /// Whether the data is read back and checked.
    pub verifies: bool,
}

/// Function that appends the name of an item, by its position.
pub type ItemNamer<'p> = Box<dyn Fn(u64, &mut String) + Sync + 'p>;

/// Items of one task.
#[expect(missing_debug_implementations, reason = "functions do not implement Debug")]
pub struct TaskItems<'p> {
    /// Folder of `roots`, for messages.
    pub folder: PathBuf,
    /// Opened folders, of which each item's name begins with one.
    pub roots: &'p [ItemRoot],
    /// Number of items.
    pub count: u64,
    /// Appends the name of the item with this position, below the folder.
    pub name: ItemNamer<'p>,
    /// Appends the new name of a renamed item.
    pub new_name: Option<ItemNamer<'p>>,
    /// Number of an item, which its data contains, by its position.
    pub number: Box<dyn Fn(u64) -> u64 + Sync + 'p>,
    /// Seed of the data of these files.
    pub seed: u64,
}

/// Pass of all tasks over their items.
#[expect(missing_debug_implementations, reason = "functions do not implement Debug")]
pub struct ItemPass<'p> {
    /// The operation.
    pub operation: ItemOperation,
    /// Items of each task.
    pub tasks: Vec<TaskItems<'p>>,
    /// Seconds after which no task begins another item.
    pub deadline_s: Option<f64>,
}

/// Progress of a task.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TaskProgress {
    /// Number of finished items.
    pub done: u64,
    /// Seconds from the common start to its last item.
    pub elapsed_s: f64,
}

/// First failed operation of a pass.
#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} {}", path.display())]
pub struct ItemFailure {
    /// `create`, `read` …
    pub verb: &'static str,
    /// The item.
    pub path: PathBuf,
    /// The system's reason.
    pub source: std::io::Error,
}

/// Outcome of a pass.
#[derive(Debug)]
pub struct ItemOutcome {
    /// Time, counts and latencies of all tasks.
    pub files: FileOutcome,
    /// The same by interval.
    pub intervals: Vec<FileInterval>,
    /// Progress of each task.
    pub tasks: Vec<TaskProgress>,
    /// First failure, which has ended the pass.
    pub failure: Option<ItemFailure>,
}

/// State that the tasks share.
struct PassState<'s> {
    stop: &'s AtomicBool,
    started: OnceLock<Instant>,
    deadline: Option<Duration>,
    failed: AtomicBool,
    failure: Mutex<Option<ItemFailure>>,
    /// Tallies of all tasks by interval.
    intervals: Mutex<Vec<FileTally>>,
}

/// Runs one pass. The first failure ends it, and so does `stop`. `on_ready` decides about the start
/// once all tasks are ready; without a start nothing is done.
///
/// # Errors
/// [`StorageError`] when a folder cannot be opened or a thread cannot be started.
pub fn run(
    pass: &ItemPass<'_>,
    stop: &AtomicBool,
    on_ready: &mut dyn FnMut() -> PhaseStart,
) -> Result<ItemOutcome, StorageError> {
    let tasks: Vec<Task<'_, '_>> = pass
        .tasks
        .iter()
        .map(|items| Task::new(pass.operation, items))
        .collect::<Result<_, _>>()?;
    let state = PassState {
        stop,
        started: OnceLock::new(),
        deadline: pass.deadline_s.map(Duration::from_secs_f64),
        failed: AtomicBool::new(false),
        failure: Mutex::default(),
        intervals: Mutex::default(),
    };
    let (progress, elapsed) = state.run_tasks(tasks, on_ready)?;
    Ok(state.into_outcome(progress, elapsed))
}

/// Merges the outcomes of tasks that began together, in the order of tasks.
pub fn merge_outcomes(parts: Vec<ItemOutcome>) -> ItemOutcome {
    let (mut tallies, mut tasks, mut failure) = (Vec::new(), Vec::new(), None);
    let (mut elapsed_s, mut is_interrupted) = (0.0, false);
    for part in parts {
        elapsed_s = part.files.elapsed_s.max(elapsed_s);
        is_interrupted |= part.files.ended == EndReason::Interrupted;
        for (number, interval) in part.intervals.iter().enumerate() {
            add_tally(&mut tallies, number, &interval.tally);
        }
        tasks.extend(part.tasks);
        failure = failure.or(part.failure);
    }
    to_outcome(tallies, (tasks, elapsed_s), failure, is_interrupted)
}

impl PassState<'_> {
    /// Runs all tasks; returns their progress and the time until the last has ended.
    fn run_tasks(
        &self,
        tasks: Vec<Task<'_, '_>>,
        on_ready: &mut dyn FnMut() -> PhaseStart,
    ) -> Result<(Vec<TaskProgress>, Duration), StorageError> {
        let is_released = OnceLock::new();
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for (number, task) in tasks.into_iter().enumerate() {
                let is_released = &is_released;
                let work = move || {
                    // The caller releases the tasks once all threads exist.
                    if *is_released.wait() { task.work(self) } else { TaskProgress::default() }
                };
                match thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(thread) => threads.push(thread),
                    Err(source) => {
                        is_released.get_or_init(|| false);
                        let what = format!("thread of task {number}");
                        return Err(StorageError::Resource { what, source });
                    }
                }
            }
            let starts = on_ready() != PhaseStart::Never;
            is_released.get_or_init(|| starts);
            let progress =
                threads.into_iter().map(|it| it.join().unwrap_or_default()).collect();
            let elapsed = self.started.get().map_or(Duration::ZERO, Instant::elapsed);
            Ok((progress, elapsed))
        })
    }

    /// Whether the pass ends early.
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    fn fail(&self, failure: ItemFailure) {
        self.failed.store(true, Ordering::Relaxed);
        self.failure.lock().even_if_poisoned().get_or_insert(failure);
    }

    /// Adds the tally of a task to an interval.
    fn add_tally(&self, interval: usize, tally: &FileTally) {
        add_tally(&mut self.intervals.lock().even_if_poisoned(), interval, tally);
    }

    fn into_outcome(self, tasks: Vec<TaskProgress>, elapsed: Duration) -> ItemOutcome {
        let tallies = std::mem::take(&mut *self.intervals.lock().even_if_poisoned());
        let failure = self.failure.into_inner().unwrap_or_default();
        let is_interrupted = self.stop.load(Ordering::Relaxed);
        to_outcome(tallies, (tasks, elapsed.as_secs_f64()), failure, is_interrupted)
    }
}

fn add_tally(intervals: &mut Vec<FileTally>, number: usize, tally: &FileTally) {
    if intervals.len() <= number {
        intervals.resize_with(number + 1, FileTally::default);
    }
    intervals[number].merge(tally);
}

/// Returns the outcome of all tasks by their tallies in each interval.
fn to_outcome(
    tallies: Vec<FileTally>,
    (tasks, elapsed_s): (Vec<TaskProgress>, f64),
    failure: Option<ItemFailure>,
    is_interrupted: bool,
) -> ItemOutcome {
    let last = tallies.len().saturating_sub(1);
    let mut total = FileTally::default();
    let mut intervals = Vec::new();
    for (number, tally) in tallies.into_iter().enumerate() {
        total.merge(&tally);
        let start_s = INTERVAL.as_secs_f64() * number as f64;
        let end_s = if number == last { elapsed_s } else { start_s + INTERVAL.as_secs_f64() };
        intervals.push(FileInterval {
            start_s,
            length_s: end_s - start_s,
            warmup: false,
            tally,
            cpu_user: 0.0,
            cpu_system: 0.0,
        });
    }
    let ended = match (&failure, is_interrupted) {
        (_, true) => EndReason::Interrupted,
        (Some(_), false) => EndReason::Errors,
        (None, false) => EndReason::Work,
    };
    let error_count = u64::from(failure.is_some());
    let files = FileOutcome { elapsed_s, total, errors: Vec::new(), error_count, ended };
    ItemOutcome { files, intervals, tasks, failure }
}

impl ItemOperation {
    /// Returns the kind of operation that is counted.
    const fn counted(self) -> FileOperation {
        match self {
            Self::MakeDirectory => FileOperation::Mkdir,
            Self::Query => FileOperation::Getattr,
            Self::Rename => FileOperation::Setattr,
            Self::RemoveDirectory => FileOperation::Rmdir,
            Self::Create(_) | Self::MakeNode => FileOperation::Create,
            Self::Read { .. } => FileOperation::Read,
            Self::Remove => FileOperation::Delete,
        }
    }

    /// Returns the verb of failures.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::MakeDirectory | Self::Create(_) | Self::MakeNode => "create",
            Self::Query => "query",
            Self::Rename => "rename",
            Self::RemoveDirectory | Self::Remove => "remove",
            Self::Read { .. } => "read",
        }
    }
}
