//! A spinning barrier: the start line of a timed pass, and the step between two phases of a kernel.
//!
//! It spins because waking a sleeping thread takes microseconds and differs from thread to thread,
//! which would blur a common start. After a while it also yields, so that it works with more threads
//! than CPUs. It never sleeps and never waits for a thread that has panicked.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Pauses before the first yield. A pause lasts 40 (AMD Zen) to 140 (Intel since Skylake) cycles, so
/// this is some 50 to 200 µs: longer than a phase that is well balanced, shorter than a time slice.
const SPINS_BEFORE_YIELD: u32 = 4096;

/// A value alone on its cache lines, so that what others write nearby does not slow its readers down.
/// 128 bytes, because Intel's spatial prefetcher fetches lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct OwnLines<T>(pub T);

/// A barrier for a fixed number of threads, to be used any number of times.
#[derive(Debug)]
pub struct Barrier {
    parties: usize,
    arrived: OwnLines<AtomicUsize>,
    phase: OwnLines<AtomicUsize>,
    /// Set by the team when one of its members panics, and read by those who wait for that member.
    abandoned: Arc<AtomicBool>,
    /// A thread has left without its party being complete: the count is wrong from then on.
    broken: AtomicBool,
}

impl Barrier {
    /// A barrier for `parties` threads; fewer than one is taken as one. When `abandoned` becomes true,
    /// everyone who waits panics instead of waiting for ever: see [`crate::team::Team::barrier`].
    pub fn new(parties: usize, abandoned: Arc<AtomicBool>) -> Self {
        Self {
            parties: parties.max(1),
            arrived: OwnLines::default(),
            phase: OwnLines::default(),
            abandoned,
            broken: AtomicBool::new(false),
        }
    }

    /// Waits until all parties have called this. What any of them wrote before is seen by all after.
    /// True for exactly one of them: the last to arrive.
    ///
    /// # Panics
    /// When another party has panicked, now or in an earlier phase that never became complete.
    pub fn wait(&self) -> bool {
        let phase = self.phase.0.load(Ordering::Acquire);
        if self.arrived.0.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            self.arrived.0.store(0, Ordering::Relaxed);
            self.phase.0.store(phase.wrapping_add(1), Ordering::Release);
            return true;
        }
        let mut spins = 0;
        while self.phase.0.load(Ordering::Acquire) == phase {
            self.leave_if_abandoned();
            if spins < SPINS_BEFORE_YIELD {
                spins += 1;
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        false
    }

    fn leave_if_abandoned(&self) {
        if self.abandoned.load(Ordering::Relaxed) {
            self.broken.store(true, Ordering::Relaxed);
        }
        assert!(
            !self.broken.load(Ordering::Relaxed),
            "another thread at this barrier panicked"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of `parties` threads adds to a counter once per phase and must then see everyone's step.
    fn check(parties: usize, phases: usize) {
        let barrier = Barrier::new(parties, Arc::default());
        let (counter, last) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..parties {
                scope.spawn(|| {
                    for phase in 1..=phases {
                        counter.fetch_add(1, Ordering::Relaxed);
                        last.fetch_add(usize::from(barrier.wait()), Ordering::Relaxed);
                        assert_eq!(counter.load(Ordering::Relaxed), phase * parties);
                        barrier.wait();
                    }
                });
            }
        });
        assert_eq!(last.load(Ordering::Relaxed), phases, "one last arrival per phase");
    }

    #[test]
    fn nobody_passes_early() {
        for (parties, phases) in [(1, 100), (2, 1000), (3, 200), (16, 20)] {
            check(parties, phases);
        }
    }

    #[test]
    fn waiting_for_the_lost_ends_in_a_panic_and_the_barrier_stays_broken() {
        let abandoned = Arc::new(AtomicBool::new(true));
        let barrier = Barrier::new(2, Arc::clone(&abandoned));
        let wait = || thread::scope(|scope| scope.spawn(|| barrier.wait()).join());
        assert!(wait().is_err());
        abandoned.store(false, Ordering::Relaxed);
        let again = Barrier::new(2, Arc::clone(&abandoned));
        thread::scope(|scope| {
            let one = scope.spawn(|| again.wait());
            assert_ne!(again.wait(), one.join().unwrap());
        });
        let third = Barrier { arrived: OwnLines::default(), ..barrier };
        assert!(thread::scope(|scope| scope.spawn(|| third.wait()).join()).is_err());
    }
}
