//! Signals: the user's request to stop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_fleet::process;
use assay_run::failure::{Failure, Kind};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::terminal;

/// One flag for all signals that ask for an end. The first one ends the run in good order, a second one
/// ends the process at once.
pub fn cancel_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    let cancel = Arc::new(AtomicBool::new(false));
    for signal in asking() {
        let at_once = flag::register_conditional_default(signal, Arc::clone(&cancel));
        at_once
            .and_then(|_| flag::register(signal, Arc::clone(&cancel)))
            .map_err(|error| unhandled(&error))?;
    }
    Ok(cancel)
}

/// The same for what starts other programs, which the second signal ends, too; what happens next is said at once: a
/// run in good order may take a second to end.
pub fn cancel_on_signals_aloud() -> Result<Arc<AtomicBool>, Failure> {
    let cancel = Arc::new(AtomicBool::new(false));
    for signal in asking() {
        flag::register(signal, Arc::clone(&cancel)).map_err(|error| unhandled(&error))?;
    }
    let mut signals = Signals::new(asking()).map_err(|error| unhandled(&error))?;
    std::thread::spawn(move || {
        let mut heard = signals.forever();
        if heard.next().is_some() {
            // Another thread, because a terminal that was halted takes no words and must not keep the next signal back.
            std::thread::spawn(|| terminal::interject("stopping; again to end now"));
        }
        if let Some(signal) = heard.next() {
            // Tools and commands are in process groups of their own, which no terminal reaches.
            process::end_descendants();
            drop(emulate_default_handler(signal));
        }
    });
    Ok(cancel)
}

/// What `nohup` keeps from a program stays kept from it.
fn asking() -> Vec<i32> {
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

fn unhandled(error: &std::io::Error) -> Failure {
    Failure::new(Kind::Internal, "signals cannot be handled").because(error)
}
