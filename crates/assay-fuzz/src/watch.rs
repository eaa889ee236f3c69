//! Watchdog thread: stores the input of an endless execution or of one with unbounded memory, then
//! ends the process.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fs_err as fs;

/// Maximum time of an execution; no valid input of this size takes as long on any machine, with all
/// checks on.
const LONGEST: Duration = Duration::from_secs(30);
const MOST_BYTES: u64 = 2 << 30;
const LOOK: Duration = Duration::from_millis(50);

/// Current input of a reader, its start time, and the file to store it in.
type Current = Option<(Vec<u8>, Instant, PathBuf)>;

#[derive(Debug, Clone, Default)]
pub(crate) struct Watch(Arc<Mutex<Current>>);

impl Watch {
    /// Starts the watchdog.
    pub(crate) fn start() -> Self {
        let watch = Self::default();
        let looking = watch.clone();
        thread::spawn(move || looking.look());
        watch
    }

    pub(crate) fn begin(&self, input: &[u8], file: PathBuf) {
        *self.current() = Some((input.to_vec(), Instant::now(), file));
    }

    pub(crate) fn end(&self) {
        *self.current() = None;
    }

    fn current(&self) -> std::sync::MutexGuard<'_, Current> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(clippy::print_stderr, reason = "nothing else can be told any more")]
    fn look(&self) {
        loop {
            thread::sleep(LOOK);
            let current = self.current();
            let Some((input, since, file)) = &*current else { continue };
            let why = match (since.elapsed() > LONGEST, resident_bytes() > MOST_BYTES) {
                (true, _) => format!("no end after {} s", LONGEST.as_secs()),
                (_, true) => format!("more than {} MiB of memory", MOST_BYTES >> 20),
                _ => continue,
            };
            if let Err(error) = fs::write(file, input) {
                eprintln!("{error}");
            }
            eprintln!("{}: {why}", file.display());
            std::process::exit(1);
        }
    }
}

/// Returns the resident memory of this process, assuming the smallest page size of 4 KiB.
fn resident_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> =
        text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4096
}
