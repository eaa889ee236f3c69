//! Looks after an execution from another thread: one that does not end, or whose memory grows without a
//! bound, is written down before the process is given up.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fs_err as fs;

/// Longer than any input of this size may take on any machine, with all checks on.
const LONGEST: Duration = Duration::from_secs(30);
const MOST_BYTES: u64 = 2 << 30;
const LOOK: Duration = Duration::from_millis(50);

/// The input that a reader has now, since when, and where to write it.
type Current = Option<(Vec<u8>, Instant, PathBuf)>;

#[derive(Debug, Clone, Default)]
pub(crate) struct Watch(Arc<Mutex<Current>>);

impl Watch {
    /// Begins to look.
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

/// The resident memory of this process; pages of 4 KiB are the minimum that there are.
fn resident_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> =
        text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4096
}
