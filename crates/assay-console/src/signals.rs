//! Signal handling: the user's request to stop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use assay_fleet::process;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::terminal;

/// Time in which a further signal belongs to the first one: `timeout` signals its child and then the
/// process group, and a key is pressed twice.
const SAME_REQUEST: Duration = Duration::from_millis(300);

/// Installs handlers for all termination signals and returns their flag. The first signal sets the
/// flag, which cancels the run in good order; the second one kills the process.
pub fn cancel_on_signals() -> Result<Arc<AtomicBool>, CommandFailure> {
    let cancel = Arc::new(AtomicBool::new(false));
    for signal in termination_signals() {
        let conditional_default =
            flag::register_conditional_default(signal, Arc::clone(&cancel));
        conditional_default
            .and_then(|_| flag::register(signal, Arc::clone(&cancel)))
            .map_err(|error| handler_error(&error))?;
    }
    Ok(cancel)
}

/// Installs handlers as [`cancel_on_signals`] does, for commands that start other programs.
///
/// Prints a notice at the first signal, because cancelling may take a second. A second signal, after at
/// least a third of a second, also kills the child programs.
pub fn cancel_on_signals_with_notice() -> Result<Arc<AtomicBool>, CommandFailure> {
    let cancel = Arc::new(AtomicBool::new(false));
    for signal in termination_signals() {
        flag::register(signal, interrupt::flag())
            .and_then(|_| flag::register(signal, Arc::clone(&cancel)))
            .map_err(|error| handler_error(&error))?;
    }
    let mut signals =
        Signals::new(termination_signals()).map_err(|error| handler_error(&error))?;
    let handle = move || {
        let mut pending = signals.forever();
        if pending.next().is_some() {
            // A stopped terminal blocks writes, so a separate thread prints. The next signal is
            // then handled at once.
            let notify =
                || terminal::write_above_progress("stopping; press again to stop at once");
            // Without a thread the run stops without a notice.
            drop(std::thread::Builder::new().spawn(notify));
        }
        let began = Instant::now();
        if let Some(signal) = pending.find(|_| began.elapsed() > SAME_REQUEST) {
            // Tools and commands run in process groups of their own, which the terminal's signals
            // do not reach.
            process::kill_descendants();
            drop(emulate_default_handler(signal));
        }
    };
    std::thread::Builder::new()
        .spawn(handle)
        .map_err(|error| CommandFailure::from_thread_error(&error))?;
    Ok(cancel)
}

/// Returns the termination signals to handle. SIGHUP is left out if it is ignored, as under
/// `nohup`.
fn termination_signals() -> Vec<i32> {
    let is_ignored = |signal: i32| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    };
    let mut signals = vec![SIGINT, SIGTERM];
    signals.extend((!is_ignored(SIGHUP)).then_some(SIGHUP));
    signals
}

fn handler_error(error: &std::io::Error) -> CommandFailure {
    CommandFailure::new(FailureKind::Internal, "signals cannot be handled").with_cause(error)
}
