//! Watchdog thread: ends the process if an execution takes too long or too much memory, and first
//! stores its input.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use assay_model::poisoned_lock::PoisonedLock as _;
use fs_err as fs;

/// Maximum time of an execution, far above that of any input in a debug build on a slow machine.
const MAX_EXECUTION_TIME: Duration = Duration::from_secs(30);
const MAX_RESIDENT_BYTES: u64 = 2 << 30;
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Current input of a reader, its start time, and the file to store it in.
type CurrentInput = Option<(Vec<u8>, Instant, PathBuf)>;

/// Handle of the watchdog. The thread watches the current input, if there is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watchdog(Arc<Mutex<CurrentInput>>);

impl Watchdog {
    /// Starts the watchdog.
    pub(crate) fn start() -> std::io::Result<Self> {
        let watchdog = Self::default();
        let thread_watchdog = watchdog.clone();
        thread::Builder::new().spawn(move || thread_watchdog.run())?;
        Ok(watchdog)
    }

    /// Begins an execution of `input`, to be stored in `file` if it exceeds a limit.
    pub(crate) fn begin(&self, input: &[u8], file: PathBuf) {
        *self.current() = Some((input.to_vec(), Instant::now(), file));
    }

    /// Ends the execution.
    pub(crate) fn end(&self) {
        *self.current() = None;
    }

    fn current(&self) -> std::sync::MutexGuard<'_, CurrentInput> {
        self.0.lock().even_if_poisoned()
    }

    #[expect(clippy::print_stderr, reason = "nothing else can be told any more")]
    fn run(&self) {
        loop {
            thread::sleep(POLL_INTERVAL);
            let current = self.current();
            let Some((input, started, file)) = &*current else { continue };
            let reason = match (
                started.elapsed() > MAX_EXECUTION_TIME,
                resident_bytes() > MAX_RESIDENT_BYTES,
            ) {
                (true, _) => format!("no end after {} s", MAX_EXECUTION_TIME.as_secs()),
                (_, true) => format!("more than {} MiB of memory", MAX_RESIDENT_BYTES >> 20),
                _ => continue,
            };
            if let Err(error) = fs::write(file, input) {
                eprintln!("{error}");
            }
            eprintln!("{}: {reason}", file.display());
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
