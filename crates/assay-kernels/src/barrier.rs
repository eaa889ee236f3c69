//! Spinning barrier: the start line of a timed pass, and the step between two phases of a kernel.
//!
//! It spins because waking a sleeping thread takes microseconds and differs from thread to thread,
//! which would blur a common start. After a while it also yields. Where threads share CPUs, a
//! spinning thread takes CPU time from the thread that it waits for. Yielding does not help in a
//! guest whose virtual CPUs share physical ones: the guest's kernel has no other thread to run. The
//! barrier therefore sleeps while it detects shared CPUs. It never waits for a thread that has
//! panicked.

use std::sync::Arc;

use crate::sync::{
    self, AtomicBool, AtomicI32, AtomicUsize, FutexWord, Ordering, SPINS_BEFORE_YIELD,
    SPINS_PER_CLOCK_READ, thread,
};

/// Gap between two clock readings that shows that another thread ran on the CPU: interrupts are
/// shorter, and time slices of Linux's scheduler are longer (750 µs at least,
/// `kernel/sched/fair.c`).
const PREEMPTED_NS: u64 = 500_000;
/// Number of phases in which waiters sleep after one of them was preempted. It starts at the time
/// that one preemption costs and doubles with each preemption that follows soon, up to where
/// detecting it again costs nothing.
const MIN_SLEEP_PHASES: i32 = 16;
const MAX_SLEEP_PHASES: i32 = 4096;

/// Increment of the phase number. Its lowest bit is set while a thread sleeps.
const NEXT_PHASE: u32 = 2;
const HAS_SLEEPERS: u32 = 1;

/// Value alone on its cache lines, so that writes to its neighbours do not slow its readers down.
/// 128 bytes, because Intel's spatial prefetcher fetches lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CachePadded<T>(pub T);

/// Reusable barrier for a fixed number of threads.
#[derive(Debug)]
pub struct Barrier {
    parties: usize,
    arrived: CachePadded<AtomicUsize>,
    phase: CachePadded<FutexWord>,
    /// Set by the team when one of its members panics; read by the threads that wait for that
    /// member.
    abandoned: Arc<AtomicBool>,
    /// Set when a thread has left an incomplete phase: the count is wrong from then on.
    broken: AtomicBool,
    shared_cpus: SharedCpuDetector,
}

impl Barrier {
    /// Creates a barrier for `parties` threads, at least one. When `abandoned` becomes true, every
    /// waiter panics instead of waiting for ever: see [`crate::team::Team::barrier`].
    pub fn new(parties: usize, abandoned: Arc<AtomicBool>) -> Self {
        Self {
            parties: parties.max(1),
            arrived: CachePadded::default(),
            phase: CachePadded::default(),
            abandoned,
            broken: AtomicBool::new(false),
            shared_cpus: SharedCpuDetector::default(),
        }
    }

    /// Waits until all parties have called this. Writes by any party before the call are visible to
    /// all after it. Returns true for exactly one of them: the last to arrive.
    ///
    /// # Panics
    /// When another party has panicked, now or in an earlier phase that never became complete.
    pub fn wait(&self) -> bool {
        let phase = self.load_phase();
        if self.arrived.0.fetch_add(1, Ordering::AcqRel) + 1 < self.parties {
            self.wait_for_others(phase);
            return false;
        }
        self.arrived.0.store(0, Ordering::Relaxed);
        self.shared_cpus.end_phase();
        let word = &self.phase.0;
        let before = word.number().swap(phase.wrapping_add(NEXT_PHASE), Ordering::AcqRel);
        if before & HAS_SLEEPERS != 0 {
            word.wake_all();
        }
        true
    }

    fn wait_for_others(&self, phase: u32) {
        let (mut spins, mut looks) = (0, PreemptionDetector::default());
        loop {
            for _ in 0..SPINS_PER_CLOCK_READ {
                if self.has_passed(phase) {
                    return;
                }
                sync::spin_loop();
            }
            self.panic_if_abandoned();
            if self.shared_cpus.is_active() {
                return self.sleep_through(phase);
            }
            if spins < SPINS_BEFORE_YIELD {
                spins += SPINS_PER_CLOCK_READ;
            } else {
                thread::yield_now();
            }
            if looks.was_preempted(sync::now_ns()) {
                self.shared_cpus.report();
            }
        }
    }

    fn sleep_through(&self, phase: u32) {
        let marked = phase | HAS_SLEEPERS;
        while !self.has_passed(phase) {
            self.panic_if_abandoned();
            let relaxed = Ordering::Relaxed;
            let word = &self.phase.0;
            match word.number().compare_exchange(phase, marked, relaxed, relaxed) {
                Ok(_) => word.sleep_while(marked),
                Err(seen) if seen == marked => word.sleep_while(marked),
                Err(_) => {}
            }
        }
    }

    fn has_passed(&self, phase: u32) -> bool {
        self.load_phase() != phase
    }

    /// Returns the number of the phase without the bit for sleepers.
    fn load_phase(&self) -> u32 {
        self.phase.0.number().load(Ordering::Acquire) & !HAS_SLEEPERS
    }

    fn panic_if_abandoned(&self) {
        if self.abandoned.load(Ordering::Relaxed) {
            self.broken.store(true, Ordering::Relaxed);
        }
        assert!(
            !self.broken.load(Ordering::Relaxed),
            "another thread at this barrier panicked"
        );
    }
}

/// Estimate of whether the threads share CPUs, made by the spinning threads.
#[derive(Debug, Default)]
struct SharedCpuDetector {
    /// Phases for which CPUs still count as shared; below zero, the number of phases since then.
    phases_left: AtomicI32,
    /// Length of the last such period, in phases.
    last_term: AtomicI32,
}

impl SharedCpuDetector {
    #[inline]
    fn is_active(&self) -> bool {
        self.phases_left.load(Ordering::Relaxed) > 0
    }

    #[inline]
    fn end_phase(&self) {
        if self.phases_left.load(Ordering::Relaxed) > -self.last_term.load(Ordering::Relaxed) {
            self.phases_left.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Starts a period of sleeping. Concurrent reports count once.
    #[cold]
    fn report(&self) {
        let relaxed = Ordering::Relaxed;
        let (left, term) = (self.phases_left.load(relaxed), self.last_term.load(relaxed));
        let again = left > -term;
        let next = if again { (2 * term).min(MAX_SLEEP_PHASES) } else { MIN_SLEEP_PHASES };
        if left <= 0 && self.phases_left.compare_exchange(left, next, relaxed, relaxed).is_ok()
        {
            self.last_term.store(next, relaxed);
        }
    }
}

/// Detects preemption from the clock readings of a thread that only spins and yields.
#[derive(Debug, Default)]
struct PreemptionDetector {
    last_ns: Option<u64>,
}

impl PreemptionDetector {
    /// Returns whether the thread was preempted since its last reading.
    fn was_preempted(&mut self, now_ns: u64) -> bool {
        let last_ns = self.last_ns.replace(now_ns);
        last_ns.is_some_and(|last_ns| now_ns.saturating_sub(last_ns) > PREEMPTED_NS)
    }
}

#[cfg(test)]
#[cfg(loom)]
mod model;

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    /// Checks that every thread sees all increments of a phase: each of `parties` threads adds one
    /// per phase.
    fn check(parties: usize, phases: usize, crowded: i32) {
        let barrier = Barrier::new(parties, Arc::default());
        barrier.shared_cpus.phases_left.store(crowded, Ordering::Relaxed);
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
    fn no_party_passes_early() {
        for (parties, phases) in [(1, 100), (2, 1000), (3, 200), (16, 20)] {
            for crowded in [0, phases as i32, i32::MAX] {
                check(parties, phases, crowded);
            }
        }
    }

    #[test]
    fn wakes_sleeping_waiters() {
        let barrier = Barrier::new(2, Arc::default());
        barrier.shared_cpus.phases_left.store(i32::MAX, Ordering::Relaxed);
        for _ in 0..3 {
            let phase = barrier.phase.0.number().load(Ordering::Relaxed);
            thread::scope(|scope| {
                let first = scope.spawn(|| barrier.wait());
                while barrier.phase.0.number().load(Ordering::Relaxed) != phase | HAS_SLEEPERS {
                    thread::yield_now();
                }
                assert!(barrier.wait());
                assert!(!first.join().unwrap());
            });
            assert_eq!(barrier.phase.0.number().load(Ordering::Relaxed), phase + NEXT_PHASE);
        }
    }

    #[test]
    fn sleep_term_doubles_on_repeated_preemption() {
        let crowd = SharedCpuDetector::default();
        let phases = || {
            let count =
                (0..).take_while(|_| crowd.is_active().then(|| crowd.end_phase()).is_some());
            count.count()
        };
        assert_eq!(phases(), 0);
        let mut terms = Vec::new();
        for _ in 0..10 {
            crowd.report();
            crowd.report();
            terms.push(phases());
            crowd.end_phase();
        }
        assert_eq!(terms, [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 4096]);
        // The same number of phases without preemption.
        (0..4096).for_each(|_| crowd.end_phase());
        crowd.report();
        assert_eq!(phases(), 16);
    }

    #[test]
    fn detects_preemption_between_clock_readings() {
        for (looks_us, expected) in [
            (&[7][..], false),
            (&[7, 8, 100, 500], false),
            (&[7, 507], false),
            (&[7, 508], true),
            // A clock that goes back is not preemption.
            (&[900, 7], false),
        ] {
            let mut looks = PreemptionDetector::default();
            let mut away = looks_us.iter().map(|us| looks.was_preempted(us * 1000));
            assert_eq!(away.any(|it| it), expected, "{looks_us:?}");
        }
    }

    #[test]
    fn panicked_party_breaks_the_barrier() {
        let abandoned = Arc::new(AtomicBool::new(false));
        let asleep = Barrier::new(2, Arc::clone(&abandoned));
        asleep.shared_cpus.phases_left.store(i32::MAX, Ordering::Relaxed);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| asleep.wait());
            while asleep.phase.0.number().load(Ordering::Relaxed) != HAS_SLEEPERS {
                thread::yield_now();
            }
            abandoned.store(true, Ordering::Relaxed);
            assert!(waiting.join().is_err());
        });
        let barrier = Barrier::new(2, Arc::clone(&abandoned));
        let wait = || thread::scope(|scope| scope.spawn(|| barrier.wait()).join());
        assert!(wait().is_err());
        abandoned.store(false, Ordering::Relaxed);
        let again = Barrier::new(2, Arc::clone(&abandoned));
        thread::scope(|scope| {
            let one = scope.spawn(|| again.wait());
            assert_ne!(again.wait(), one.join().unwrap());
        });
        let third = Barrier { arrived: CachePadded::default(), ..barrier };
        assert!(thread::scope(|scope| scope.spawn(|| third.wait()).join()).is_err());
    }
}
