//! All orders of two and three threads at a barrier, awake and asleep.

use loom::cell::UnsafeCell;
use loom::model::Builder;

use super::*;

/// Bounds the switches of an execution from a thread that could go on: almost all defects of
/// synchronisation need two or fewer.
const MAX_PREEMPTIONS: usize = 3;

/// Count of one party.
struct PartyCount(UnsafeCell<u64>);

// SAFETY: the model reports every access that the barrier does not order.
unsafe impl Sync for PartyCount {}
// SAFETY: the count is a plain number.
unsafe impl Send for PartyCount {}

/// Checks that the writes of each party before a phase are visible to all after it, and that one
/// of them is the last.
fn check(parties: usize, phases: u64, sleeping_phases: i32) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(MAX_PREEMPTIONS);
    builder.check(move || {
        let barrier = Arc::new(Barrier::new(parties, Arc::new(AtomicBool::new(false))));
        barrier.shared_cpus.phases_left.store(sleeping_phases, Ordering::Relaxed);
        let counts: Arc<Vec<PartyCount>> =
            Arc::new((0..parties).map(|_| PartyCount(UnsafeCell::new(0))).collect());
        let others: Vec<_> = (1..parties)
            .map(|party| {
                let (barrier, counts) = (Arc::clone(&barrier), Arc::clone(&counts));
                let count = move || pass_phases(&barrier, &counts, party, phases);
                thread::Builder::new().spawn(count).unwrap()
            })
            .collect();
        let mut last = pass_phases(&barrier, &counts, 0, phases);
        for other in others {
            last += other.join().unwrap();
        }
        assert_eq!(last, phases, "one last arrival per phase");
    });
}

/// Counts as one party and returns how often it was the last to arrive. Reads and writes of the
/// counts are not atomic: the model reports them as races unless the barrier orders them.
fn pass_phases(barrier: &Barrier, counts: &[PartyCount], party: usize, phases: u64) -> u64 {
    let mut last = 0;
    for phase in 1..=phases {
        // SAFETY: only this party writes its count, and the others read it behind the barrier.
        counts[party].0.with_mut(|count| unsafe { *count = phase });
        last += u64::from(barrier.wait());
        for count in counts {
            // SAFETY: every party has counted and waits at the next barrier before it writes again.
            count.0.with(|count| assert_eq!(unsafe { *count }, phase));
        }
        // The second barrier of a phase ends the reading.
        if phase < phases {
            barrier.wait();
        }
    }
    last
}

#[test]
fn spinning_parties_pass_together() {
    check(2, 2, 0);
}

#[test]
fn sleeping_parties_are_all_woken() {
    check(2, 2, i32::MAX);
    check(3, 1, i32::MAX);
}

#[test]
fn parties_that_stop_sleeping_pass_together() {
    check(2, 2, 1);
}
