//! Early end of a factorisation that all workers agree on.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::workers::Workers;

/// Agreement on an early end of a factorisation: all members leave after the same step.
#[derive(Debug)]
pub(super) struct EarlyExit<'a> {
    pub(super) cancel: &'a AtomicBool,
    /// Whether any member has seen `cancel` set; never reset.
    pub(super) cancelled: AtomicBool,
    /// Step after which all members leave.
    pub(super) last_step: AtomicUsize,
    /// Whether the panel workers agreed to leave the panel ahead unfactored.
    pub(super) skip_panel: AtomicBool,
}

impl<'a> EarlyExit<'a> {
    pub(super) fn new(cancel: &'a AtomicBool) -> Self {
        let last_step = AtomicUsize::new(usize::MAX);
        Self {
            cancel,
            cancelled: AtomicBool::new(false),
            last_step,
            skip_panel: AtomicBool::new(false),
        }
    }

    /// Waits for all workers; returns whether all of them skip the rest of the panel. The leader
    /// decides before the barrier, so that all workers read the same decision; it cannot decide
    /// again before the next barrier. Finishing a cancelled panel could take seconds: it has
    /// barriers for each column, which are slow if other threads use the CPUs.
    pub(super) fn wait_and_check_skip(&self, workers: Workers<'_>) -> bool {
        if workers.is_leader() && self.is_cancelled() {
            self.skip_panel.store(true, Ordering::Relaxed);
        }
        workers.wait();
        self.skip_panel.load(Ordering::Relaxed)
    }

    pub(super) fn is_cancelled(&self) -> bool {
        if self.cancel.load(Ordering::Relaxed) {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        self.cancelled.load(Ordering::Relaxed)
    }
}
