//! Parallel search of a folder for files by name, size and time of change. Follows no link.
//!
//! Directories, and parts of large ones, wait in one queue for all threads.

use std::collections::VecDeque;
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Instant, SystemTime};

use assay_model::poisoned_lock::PoisonedLock;

/// Files of a directory that one thread queries at a time.
const BATCH: usize = 256;

/// Files that are looked for.
#[derive(Debug, Clone, Copy)]
pub struct FindPattern<'p> {
    /// Part of their names.
    pub name_part: &'p [u8],
    /// Their size.
    pub bytes: u64,
    /// Time that they were modified after.
    pub newer_than: SystemTime,
}

/// Outcome of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FindOutcome {
    /// Files that were looked at.
    pub files: u64,
    /// Files that match.
    pub found: u64,
    /// Seconds of the search.
    pub elapsed_s: f64,
}

/// Searches a folder with this many threads.
///
/// # Errors
/// The first error of a directory or a file; an interruption if `stop` is set.
pub fn find(
    folder: &Path,
    pattern: FindPattern<'_>,
    threads: u32,
    stop: &AtomicBool,
) -> io::Result<FindOutcome> {
    let first = FindTask::Directory(folder.to_path_buf());
    let queue = FindQueue {
        state: Mutex::new(QueueState { waiting: VecDeque::from([first]), busy: 0 }),
        changed: Condvar::new(),
        ends: AtomicBool::new(false),
    };
    let start = Instant::now();
    let results: Vec<io::Result<(u64, u64)>> = thread::scope(|scope| {
        let spawn = |_| {
            let worker = thread::Builder::new();
            let worker = worker.spawn_scoped(scope, || search(&queue, pattern, stop));
            worker.inspect_err(|_| queue.end())
        };
        let workers: Vec<_> = (0..threads.max(1)).map(spawn).collect();
        let panicked = |_| Err(io::Error::other("a thread panicked"));
        let join = |worker: io::Result<thread::ScopedJoinHandle<'_, _>>| {
            worker.and_then(|worker| worker.join().unwrap_or_else(panicked))
        };
        workers.into_iter().map(join).collect()
    });
    let elapsed_s = start.elapsed().as_secs_f64();
    results.into_iter().try_fold(
        FindOutcome { files: 0, found: 0, elapsed_s },
        |all, result| {
            let (files, found) = result?;
            Ok(FindOutcome { files: all.files + files, found: all.found + found, ..all })
        },
    )
}

enum FindTask {
    Directory(PathBuf),
    /// Files with a matching name.
    Files(Vec<DirEntry>),
}

struct QueueState {
    waiting: VecDeque<FindTask>,
    /// Threads with a task, which may add others.
    busy: u32,
}

struct FindQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
    /// Set by the first error.
    ends: AtomicBool,
}

impl FindQueue {
    fn push(&self, task: FindTask) {
        let mut state = self.state.lock().even_if_poisoned();
        state.waiting.push_back(task);
        drop(state);
        self.changed.notify_one();
    }

    /// Takes a task; `None` if there will be no more.
    fn take(&self) -> Option<FindTask> {
        let mut state = self.state.lock().even_if_poisoned();
        loop {
            if self.ends.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(task) = state.waiting.pop_front() {
                state.busy += 1;
                return Some(task);
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).even_if_poisoned();
        }
    }

    fn finish(&self) {
        let mut state = self.state.lock().even_if_poisoned();
        state.busy -= 1;
        if state.busy == 0 && state.waiting.is_empty() {
            self.changed.notify_all();
        }
    }

    /// Ends the work of all threads, after an error.
    fn end(&self) {
        let _state = self.state.lock().even_if_poisoned();
        self.ends.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

/// Returns the numbers of files and of found files.
fn search(
    queue: &FindQueue,
    pattern: FindPattern<'_>,
    stop: &AtomicBool,
) -> io::Result<(u64, u64)> {
    let (mut files, mut found) = (0, 0);
    while let Some(task) = queue.take() {
        let result = if stop.load(Ordering::Relaxed) {
            Err(io::Error::from(io::ErrorKind::Interrupted))
        } else {
            match task {
                FindTask::Directory(path) => {
                    list(&path, (queue, pattern), stop).map(|count| files += count)
                }
                FindTask::Files(entries) => {
                    count_matches(&entries, pattern).map(|count| found += count)
                }
            }
        };
        queue.finish();
        result.inspect_err(|_| queue.end())?;
    }
    Ok((files, found))
}

/// Lists a directory; returns its number of files. Those with a matching name are queried later.
fn list(
    path: &Path,
    (queue, pattern): (&FindQueue, FindPattern<'_>),
    stop: &AtomicBool,
) -> io::Result<u64> {
    let mut files = 0;
    let mut batch = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            queue.push(FindTask::Directory(entry.path()));
            continue;
        }
        files += 1;
        if !has_part(entry.file_name().as_bytes(), pattern.name_part) {
            continue;
        }
        batch.push(entry);
        if batch.len() == BATCH {
            queue.push(FindTask::Files(std::mem::take(&mut batch)));
        }
        if stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
    if !batch.is_empty() {
        queue.push(FindTask::Files(batch));
    }
    Ok(files)
}

fn count_matches(entries: &[DirEntry], pattern: FindPattern<'_>) -> io::Result<u64> {
    let mut found = 0;
    for entry in entries {
        let metadata = entry.metadata()?;
        let is_match = metadata.len() == pattern.bytes
            && metadata.modified().is_ok_and(|time| time > pattern.newer_than);
        found += u64::from(is_match);
    }
    Ok(found)
}

fn has_part(name: &[u8], part: &[u8]) -> bool {
    part.is_empty() || name.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    /// Folder of a test, which is removed at its end.
    struct TestFolder(PathBuf);

    impl TestFolder {
        fn create(name: &str) -> Self {
            let name = format!("assay-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir(&folder).unwrap();
            Self(folder)
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn finds_by_name_size_and_time() {
        let root = TestFolder::create("find");
        let earlier = SystemTime::now() - Duration::from_secs(60);
        let at = |path: String| root.0.join(path);
        for folder in ["a", "a/b", "c", "empty"] {
            fs::create_dir(root.0.join(folder)).unwrap();
        }
        let create = |path: String, bytes: u64, seconds: u64| {
            let file = File::create(at(path)).unwrap();
            file.set_len(bytes).unwrap();
            file.set_modified(earlier + Duration::from_secs(seconds)).unwrap();
        };
        for number in 0..1000 {
            create(format!("a/b/file.{number}"), 3901, 2);
        }
        create("a/01".to_owned(), 3901, 2);
        create("c/too-small-01".to_owned(), 3900, 2);
        create("c/not-newer-01".to_owned(), 3901, 0);
        create("c/0".to_owned(), 3901, 2);
        std::os::unix::fs::symlink(at("a".to_owned()), at("c/link-01".to_owned())).unwrap();
        let pattern = FindPattern { name_part: b"01", bytes: 3901, newer_than: earlier };
        for threads in [1, 3, 16] {
            let outcome = find(&root.0, pattern, threads, &AtomicBool::new(false)).unwrap();
            // 101, 201, 301 … 901 and the single file; no name ends in 01x below 1000.
            assert_eq!((outcome.files, outcome.found), (1005, 10), "{threads} threads");
        }
    }

    #[test]
    fn errors_and_interruptions_end_the_search() {
        let root = TestFolder::create("errors");
        let pattern =
            FindPattern { name_part: b"", bytes: 0, newer_than: SystemTime::UNIX_EPOCH };
        let missing = root.0.join("missing");
        let error = find(&missing, pattern, 4, &AtomicBool::new(false)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let error = find(&root.0, pattern, 4, &AtomicBool::new(true)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    }
}
