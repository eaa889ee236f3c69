//! The members who work on something together: all of the team, or the first few of it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::barrier::Barrier;

/// One member's view of those it works with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crew<'a> {
    /// This member, counted from 0.
    pub(super) member: usize,
    /// Number of members.
    pub(super) size: usize,
    barrier: &'a Barrier,
}

impl Crew<'_> {
    /// Waits for all members; what any of them wrote before is seen by all after.
    pub(super) fn meet(&self) {
        if self.size > 1 {
            self.barrier.wait();
        }
    }

    /// This member's part of `count` things, contiguous and within one of equal.
    pub(super) fn share(&self, count: usize) -> Range<usize> {
        count * self.member / self.size..count * (self.member + 1) / self.size
    }

    /// Whether this member is the one who does what only one may do.
    pub(super) fn leads(&self) -> bool {
        self.member == 0
    }
}

/// The barriers of all crews a team can form, by their size.
#[derive(Debug)]
pub(super) struct Crews {
    /// Entry `i` is for a crew of `i + 1`.
    barriers: Vec<Barrier>,
    abandoned: Arc<AtomicBool>,
}

impl Crews {
    /// For a team of `members`.
    pub(super) fn new(members: usize) -> Self {
        let abandoned = Arc::<AtomicBool>::default();
        let barriers =
            (1..=members).map(|size| Barrier::new(size, Arc::clone(&abandoned))).collect();
        Self { barriers, abandoned }
    }

    /// The crew of the first `size` members, as `member` (less than `size`) sees it.
    pub(super) fn first(&self, size: usize, member: usize) -> Crew<'_> {
        Crew { member, size, barrier: &self.barriers[size - 1] }
    }

    /// All members.
    pub(super) fn everyone(&self, member: usize) -> Crew<'_> {
        self.first(self.barriers.len(), member)
    }

    /// To be held by every member while it works: when it panics, those who wait for it panic too
    /// instead of waiting for ever.
    pub(super) fn alarm(&self) -> Alarm<'_> {
        Alarm(&self.abandoned)
    }
}

/// See [`Crews::alarm`].
#[derive(Debug)]
pub(super) struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
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
            let crews = Crews::new(size);
            let all: Vec<usize> =
                (0..size).flat_map(|member| crews.everyone(member).share(count)).collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_panic_frees_those_who_wait() {
        let crews = Crews::new(2);
        let waited = thread::scope(|scope| {
            let waiting = scope.spawn(|| crews.everyone(0).meet());
            let lost = scope.spawn(|| {
                let _alarm = crews.alarm();
                panic!("lost on purpose");
            });
            (waiting.join().is_err(), lost.join().is_err())
        });
        assert_eq!(waited, (true, true));
    }
}
