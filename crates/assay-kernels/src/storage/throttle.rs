//! Throttling of a closed loop: a maximum rate in bytes, or pauses between I/O.
//!
//! Never reads a clock: the time is passed in.

use assay_model::workload::storage::ThinkTime;

/// Maximum backlog that a capped worker catches up on, so that a pause of its target does not cause
/// a burst.
pub(super) const MAX_CATCH_UP_NS: f64 = 100e6;

/// Limit of a closed loop.
#[derive(Debug)]
pub(super) enum LoopThrottle {
    /// Maximum rate: each byte costs time.
    Cap { ns_per_byte: f64, next_ns: f64 },
    /// Pause after a number of I/O or a time, once all I/O has completed.
    Pauses {
        pauses: ThinkTime,
        slots: usize,
        left: u32,
        until_ns: Option<u64>,
        /// Time at which the next pause is due, whatever the number of I/O.
        due_ns: Option<u64>,
    },
}

impl LoopThrottle {
    /// Limits the rate to `bytes_per_s` from `start_ns` on.
    pub(super) fn cap(bytes_per_s: f64, start_ns: u64) -> Self {
        Self::Cap { ns_per_byte: 1e9 / bytes_per_s, next_ns: start_ns as f64 }
    }

    /// Creates the pauses of a worker with `slots` slots.
    pub(super) fn pauses(pauses: ThinkTime, slots: u32) -> Self {
        let left = pauses.after_ios.max(1);
        Self::Pauses { pauses, slots: slots as usize, left, until_ns: None, due_ns: None }
    }

    /// Returns whether an I/O may start now, with `ready` slots ready; counts it as started.
    pub(super) fn may_start(&mut self, now_ns: u64, ready: usize) -> bool {
        match self {
            Self::Cap { next_ns, .. } => {
                let may = *next_ns <= now_ns as f64;
                if may {
                    *next_ns = next_ns.max(now_ns as f64 - MAX_CATCH_UP_NS);
                }
                may
            }
            Self::Pauses { pauses, slots, left, until_ns, due_ns } => {
                if pauses.after_ns > 0 {
                    // As in fio, the first time is longer by a pause.
                    let first_ns = now_ns + pauses.after_ns + pauses.length_ns;
                    if now_ns >= *due_ns.get_or_insert(first_ns) {
                        *left = 0;
                    }
                }
                if *left == 0 {
                    if *slots == 0 || ready < *slots {
                        return false;
                    }
                    let pause_ends_ns = now_ns.saturating_add(pauses.length_ns);
                    if now_ns < *until_ns.get_or_insert(pause_ends_ns) {
                        return false;
                    }
                    (*left, *until_ns) = (pauses.after_ios.max(1), None);
                    *due_ns = Some(now_ns + pauses.after_ns);
                }
                let may = ready > 0;
                *left -= u32::from(may);
                may
            }
        }
    }

    /// Records the size of the I/O that was started.
    pub(super) fn note_issued(&mut self, bytes: u64) {
        if let Self::Cap { ns_per_byte, next_ns } = self {
            *next_ns += bytes as f64 * *ns_per_byte;
        }
    }

    /// Records that the I/O counted as started got no offset.
    pub(super) fn undo_start(&mut self) {
        if let Self::Pauses { left, .. } = self {
            *left += 1;
        }
    }

    /// Records that a slot never comes back.
    pub(super) fn retire(&mut self) {
        if let Self::Pauses { slots, .. } = self {
            *slots -= 1;
        }
    }

    /// Returns the time at which a slot may start next; `None` if that depends on I/O in flight.
    pub(super) fn next_start_ns(&self, ready: usize) -> Option<u64> {
        match self {
            Self::Cap { next_ns, .. } => (ready > 0).then_some(*next_ns as u64),
            // The worker sleeps until then, and spins for the rest of the pause.
            Self::Pauses { pauses, until_ns, .. } => {
                until_ns.map(|ns| ns.saturating_sub(pauses.spin_ns))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_begins_after_all_completions() {
        let pauses = ThinkTime { after_ios: 3, length_ns: 100, spin_ns: 0, after_ns: 0 };
        let mut pace = LoopThrottle::pauses(pauses, 2);
        assert!(pace.may_start(0, 2) && pace.may_start(0, 1));
        assert!(!pace.may_start(0, 0), "no slot is ready");
        assert!(pace.may_start(5, 1));
        assert!(!pace.may_start(6, 1), "two are in flight");
        assert_eq!(pace.next_start_ns(1), None);
        assert!(!pace.may_start(10, 2));
        assert_eq!(pace.next_start_ns(2), Some(110));
        assert!(!pace.may_start(109, 2) && pace.may_start(110, 2));
        pace.undo_start();
        pace.retire();
        let started = (0..5).filter(|_| pace.may_start(111, 1)).count();
        assert_eq!(started, 3, "what found no place counts once");
        assert!(!pace.may_start(112, 1));
        assert_eq!(
            pace.next_start_ns(1),
            Some(212 - 1),
            "the pause began when it was found to be due"
        );
    }

    #[test]
    fn pause_is_due_after_a_time() {
        let pauses = ThinkTime { after_ios: 3, length_ns: 100, spin_ns: 0, after_ns: 50 };
        let mut pace = LoopThrottle::pauses(pauses, 1);
        assert!(pace.may_start(0, 1) && pace.may_start(149, 1), "a pause longer at first");
        assert!(!pace.may_start(150, 1) && !pace.may_start(249, 1));
        assert!(pace.may_start(250, 1) && pace.may_start(260, 1) && pace.may_start(270, 1));
        assert!(!pace.may_start(271, 1), "three I/O");
        assert!(pace.may_start(371, 1) && pace.may_start(420, 1));
        assert!(!pace.may_start(421, 1), "the time since the last pause");
    }

    #[test]
    fn end_of_a_pause_may_be_spent_spinning() {
        let pauses = ThinkTime { after_ios: 1, length_ns: 100, spin_ns: 30, after_ns: 0 };
        let mut pace = LoopThrottle::pauses(pauses, 1);
        assert!(pace.may_start(0, 1) && !pace.may_start(10, 1));
        assert_eq!(pace.next_start_ns(1), Some(80));
        assert!(!pace.may_start(80, 1) && pace.may_start(110, 1));
    }
}
