//! Heartbeat: progress lines at a fixed interval, for files and terminals that cannot be redrawn.
//! The caller prints the lines.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use assay_model::poisoned_lock::PoisonedLock as _;

/// Heartbeat, printed by a thread until this value is dropped.
pub(crate) struct Heartbeat(Arc<Shared>);

/// State shared with the thread.
struct Shared {
    state: Mutex<HeartbeatState>,
    changed: Condvar,
}

#[derive(Default)]
struct HeartbeatState {
    /// Whether the terminal wrote anything else since the last line of the heartbeat.
    was_written: bool,
    /// Whether the heartbeat was dropped.
    is_over: bool,
}

impl Debug for Heartbeat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heartbeat").finish_non_exhaustive()
    }
}

impl Heartbeat {
    /// Starts a thread that calls `write` whenever nothing was written for `every`.
    pub(crate) fn new(interval: Duration, write: impl Fn() + Send + 'static) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let thread_shared = Arc::clone(&shared);
        let print = move || thread_shared.print_until_dropped(interval, &write);
        // Without a thread there is no heartbeat, which only shows progress.
        drop(std::thread::Builder::new().spawn(print));
        Self(shared)
    }

    /// Restarts the interval because other output has just been written.
    pub(crate) fn defer(&self) {
        self.0.update_state(|beat| beat.was_written = true);
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.0.update_state(|beat| beat.is_over = true);
    }
}

impl Shared {
    fn update_state(&self, change: impl FnOnce(&mut HeartbeatState)) {
        change(&mut self.state.lock().even_if_poisoned());
        self.changed.notify_all();
    }

    fn print_until_dropped(&self, interval: Duration, write: &dyn Fn()) {
        let mut beat = self.state.lock().even_if_poisoned();
        while !beat.is_over {
            beat.was_written = false;
            let is_quiet = |beat: &mut HeartbeatState| !beat.is_over && !beat.was_written;
            let result = self.changed.wait_timeout_while(beat, interval, is_quiet);
            let (after, timeout) = result.even_if_poisoned();
            beat = after;
            // The lock is held while writing, so that no line follows the end.
            if timeout.timed_out() && !beat.is_over {
                write();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn prints_until_dropped() {
        let (beats, received) = mpsc::channel();
        let heartbeat = Heartbeat::new(Duration::from_millis(1), move || {
            // The receiver may be gone.
            let _ = beats.send(());
        });
        assert!(received.recv().is_ok() && received.recv().is_ok());
        heartbeat.defer();
        assert!(received.recv().is_ok(), "it only begins to wait again");
        drop(heartbeat);
        // The thread ends and drops its sender.
        while received.recv().is_ok() {}
    }
}
