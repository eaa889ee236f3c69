//! Groups of threads that work on one task: the whole team, or its first few members.

use crate::sync::{AtomicBool, Ordering};
use std::ops::Range;
use std::sync::Arc;
use std::thread;

use crate::barrier::Barrier;

/// Group of members that work together, from the view of one of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Workers<'a> {
    /// Index of this member, from 0.
    pub(super) member: usize,
    /// Number of members.
    pub(super) size: usize,
    barrier: &'a Barrier,
}

impl Workers<'_> {
    /// Waits for all workers of the group; writes before the call are visible to all after it.
    pub(super) fn wait(&self) {
        if self.size > 1 {
            self.barrier.wait();
        }
    }

    /// Returns this member's range of `count` items: contiguous, with sizes that differ by at most
    /// one.
    pub(super) fn share(&self, count: usize) -> Range<usize> {
        count * self.member / self.size..count * (self.member + 1) / self.size
    }

    /// Whether this member does the tasks that only one may do.
    pub(super) fn is_leader(&self) -> bool {
        self.member == 0
    }
}

/// Barriers for all group sizes of a team.
#[derive(Debug)]
pub(super) struct WorkerBarriers {
    /// Barrier for a group of `i + 1` workers at index `i`.
    barriers: Vec<Barrier>,
    abandoned: Arc<AtomicBool>,
}

impl WorkerBarriers {
    /// Creates the barriers for a team of `members`.
    pub(super) fn new(members: usize) -> Self {
        let abandoned = Arc::<AtomicBool>::default();
        let barriers =
            (1..=members).map(|size| Barrier::new(size, Arc::clone(&abandoned))).collect();
        Self { barriers, abandoned }
    }

    /// Returns the group of the first `size` members; `member` must be less than `size`.
    pub(super) fn first_workers(&self, size: usize, member: usize) -> Workers<'_> {
        Workers { member, size, barrier: &self.barriers[size - 1] }
    }

    /// Returns the group of all members.
    pub(super) fn whole_team(&self, member: usize) -> Workers<'_> {
        self.first_workers(self.barriers.len(), member)
    }

    /// Returns a guard that every member holds while it works: when the member panics, the threads
    /// that wait for it panic too instead of waiting for ever.
    pub(super) fn panic_guard(&self) -> PanicGuard<'_> {
        PanicGuard(&self.abandoned)
    }
}

/// Guard of [`WorkerBarriers::panic_guard`].
#[derive(Debug)]
pub(super) struct PanicGuard<'a>(&'a AtomicBool);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_everything_once() {
        for (count, size) in [(0, 3), (2, 3), (10, 3), (7, 1), (100, 7)] {
            let crews = WorkerBarriers::new(size);
            let all: Vec<usize> =
                (0..size).flat_map(|member| crews.whole_team(member).share(count)).collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn panic_releases_waiting_workers() {
        let crews = WorkerBarriers::new(2);
        let waited = thread::scope(|scope| {
            let waiting = scope.spawn(|| crews.whole_team(0).wait());
            let lost = scope.spawn(|| {
                let _alarm = crews.panic_guard();
                panic!("lost on purpose");
            });
            (waiting.join().is_err(), lost.join().is_err())
        });
        assert_eq!(waited, (true, true));
    }
}
