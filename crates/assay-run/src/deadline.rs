//! Deadline of a turn: ends a measurement in flight by the flag that an interrupt sets.
//!
//! A thread waits for the deadline and wakes only then. It decides nothing else: the caller arms it
//! before a turn, and keeps or drops the results of the turn.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use assay_model::poisoned_lock::PoisonedLock as _;

/// Deadline of the current turn.
pub(crate) struct TurnDeadline<'c> {
    cancel: &'c AtomicBool,
    /// Set by the user's interrupts only.
    interrupted: &'c AtomicBool,
    state: Mutex<DeadlineState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct DeadlineState {
    /// `None` if no turn has a deadline.
    at: Option<Instant>,
    /// Whether the turn may be ended: otherwise only once it has a result.
    may_end: bool,
    has_ended: bool,
    is_closed: bool,
}

impl<'c> TurnDeadline<'c> {
    pub(crate) fn new(cancel: &'c AtomicBool, interrupted: &'c AtomicBool) -> Self {
        Self { cancel, interrupted, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for deadlines until the last turn is over.
    pub(crate) fn watch(&self) {
        let mut state = self.lock();
        while !state.is_closed {
            let left = state.time_left(Instant::now());
            state = match left {
                None => self.changed.wait(state).even_if_poisoned(),
                Some(Duration::ZERO) => {
                    state.at = None;
                    // An interrupt of the user came first: it ends the run.
                    state.has_ended = !self.cancel.swap(true, Ordering::Relaxed);
                    state
                }
                Some(left) => {
                    let waited = self.changed.wait_timeout(state, left);
                    waited.even_if_poisoned().0
                }
            };
        }
    }

    /// Sets the deadline of a turn. `has_result`: the case keeps a result if the turn is ended;
    /// otherwise the deadline waits for [`TurnDeadline::mark_result`].
    pub(crate) fn arm(&self, after_s: f64, has_result: bool) {
        let after = Duration::try_from_secs_f64(after_s.max(0.0)).unwrap_or(Duration::MAX);
        let mut state = self.lock();
        (state.at, state.may_end) = (Instant::now().checked_add(after), has_result);
        self.changed.notify_all();
    }

    /// Records that the case has a result, and may be ended.
    pub(crate) fn mark_result(&self) {
        self.lock().may_end = true;
        self.changed.notify_all();
    }

    /// Ends the deadline; returns whether it has ended the turn. Withdraws its own request to stop,
    /// but not that of the user.
    pub(crate) fn disarm(&self) -> bool {
        let mut state = self.lock();
        state.at = None;
        let has_ended = std::mem::take(&mut state.has_ended);
        if has_ended {
            self.cancel.store(false, Ordering::SeqCst);
            // A signal sets this flag before the other: none is lost, at any moment.
            if self.interrupted.load(Ordering::SeqCst) {
                self.cancel.store(true, Ordering::SeqCst);
            }
        }
        has_ended
    }

    /// Keeps [`TurnDeadline::watch`] waiting until the guard is dropped.
    pub(crate) const fn open(&self) -> OpenDeadline<'_> {
        OpenDeadline(self)
    }

    fn lock(&self) -> MutexGuard<'_, DeadlineState> {
        self.state.lock().even_if_poisoned()
    }
}

/// Guard of a deadline that is watched.
pub(crate) struct OpenDeadline<'d>(&'d TurnDeadline<'d>);

impl Drop for OpenDeadline<'_> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

impl DeadlineState {
    /// Returns the time until the turn is ended; `None` if it is not.
    fn time_left(&self, now: Instant) -> Option<Duration> {
        let at = self.at.filter(|_| self.may_end)?;
        Some(at.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deadline that has passed ends a turn at once, but not before the case has a result.
    #[test]
    fn ends_a_turn_that_has_a_result() {
        for (has_result, marks, expected) in
            [(true, false, true), (false, true, true), (false, false, false)]
        {
            let cancel = AtomicBool::new(false);
            let interrupted = AtomicBool::new(false);
            let deadline = TurnDeadline::new(&cancel, &interrupted);
            deadline.arm(0.0, has_result);
            if marks {
                deadline.mark_result();
            }
            let left = deadline.lock().time_left(Instant::now());
            assert_eq!(left.is_some(), expected, "{has_result} {marks}");
        }
    }

    #[test]
    fn withdraws_its_request_only() {
        for (before, during) in [(false, false), (true, false), (false, true)] {
            let cancel = AtomicBool::new(before);
            let interrupted = AtomicBool::new(before);
            let deadline = TurnDeadline::new(&cancel, &interrupted);
            std::thread::scope(|scope| {
                let _open = deadline.open();
                scope.spawn(|| deadline.watch());
                deadline.arm(0.0, true);
                while deadline.lock().at.is_some() {
                    std::thread::yield_now();
                }
                assert!(cancel.load(Ordering::Relaxed));
                interrupted.store(before || during, Ordering::Relaxed);
                assert_eq!(deadline.disarm(), !before);
                assert_eq!(cancel.load(Ordering::Relaxed), before || during);
            });
        }
    }
}
