//! Lines that say now and then how far a run is, where nothing can be drawn again. Never decides what stands in them.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Is written until it is dropped.
pub(crate) struct Pulse(Arc<Shared>);

struct Shared {
    beat: Mutex<Beat>,
    changed: Condvar,
}

#[derive(Default)]
struct Beat {
    /// Whether something else was written since the last line.
    was_written: bool,
    is_over: bool,
}

impl Debug for Pulse {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pulse").finish_non_exhaustive()
    }
}

impl Pulse {
    /// Calls `write` whenever nothing was written for so long.
    pub(crate) fn new(every: Duration, write: impl Fn() + Send + 'static) -> Self {
        let shared = Arc::new(Shared { beat: Mutex::default(), changed: Condvar::new() });
        let kept = Arc::clone(&shared);
        std::thread::spawn(move || kept.beat(every, &write));
        Self(shared)
    }

    /// Something else was written: whoever looks on has seen that something goes on.
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
            // Held meanwhile, so that no line comes after what ended it.
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
            // Nobody may be listening any more.
            let _ = beats.send(());
        });
        assert!(heard.recv().is_ok() && heard.recv().is_ok());
        pulse.defer();
        assert!(heard.recv().is_ok(), "it only begins to wait again");
        drop(pulse);
        // The thread ends and takes its end of the channel with it.
        while heard.recv().is_ok() {}
    }
}
