//! Heartbeat: progress lines at a fixed interval where nothing can be redrawn. The caller provides
//! their text.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Heartbeat of a thread that prints until the value is dropped.
pub(crate) struct Pulse(Arc<Shared>);

struct Shared {
    beat: Mutex<Beat>,
    changed: Condvar,
}

#[derive(Default)]
struct Beat {
    /// Whether anything else was written since the last line.
    was_written: bool,
    is_over: bool,
}

impl Debug for Pulse {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pulse").finish_non_exhaustive()
    }
}

impl Pulse {
    /// Starts a thread that calls `write` whenever nothing was written for `every`.
    pub(crate) fn new(every: Duration, write: impl Fn() + Send + 'static) -> Self {
        let shared = Arc::new(Shared { beat: Mutex::default(), changed: Condvar::new() });
        let kept = Arc::clone(&shared);
        std::thread::spawn(move || kept.beat(every, &write));
        Self(shared)
    }

    /// Restarts the interval because other output has just been written.
    pub(crate) fn defer(&self) {
        self.0.change(|beat| beat.was_written = true);
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.0.change(|beat| beat.is_over = true);
    }
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut Beat)) {
        change(&mut self.beat.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    fn beat(&self, every: Duration, write: &dyn Fn()) {
        let mut beat = self.beat.lock().unwrap_or_else(PoisonError::into_inner);
        while !beat.is_over {
            beat.was_written = false;
            let is_quiet = |beat: &mut Beat| !beat.is_over && !beat.was_written;
            let waited = self.changed.wait_timeout_while(beat, every, is_quiet);
            let (after, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
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
    fn it_beats_until_it_is_dropped() {
        let (beats, heard) = mpsc::channel();
        let pulse = Pulse::new(Duration::from_millis(1), move || {
            // The receiver may be gone.
            let _ = beats.send(());
        });
        assert!(heard.recv().is_ok() && heard.recv().is_ok());
        pulse.defer();
        assert!(heard.recv().is_ok(), "it only begins to wait again");
        drop(pulse);
        // The thread ends and drops its sender.
        while heard.recv().is_ok() {}
    }
}
