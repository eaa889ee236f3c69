//! All orders of a caller and two members: no wake-up is lost, and no work is read while written.

use assay_model::poisoned_lock::PoisonedLock as _;

use loom::model::Builder;

use super::*;

/// Bounds the switches of an execution from a thread that could go on: almost all defects of
/// synchronisation need two or fewer.
const MAX_PREEMPTIONS: usize = 3;

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(MAX_PREEMPTIONS);
    builder.check(model);
}

/// Checks that each of some members works once in each run.
fn check_runs(members: usize, runs: usize) {
    check(move || {
        let cpu = pin::allowed_cpus().unwrap()[0];
        let mut team = Team::new(&vec![cpu; members]).unwrap();
        for _ in 0..runs {
            let count = AtomicUsize::new(0);
            team.run(|_| {
                count.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(count.load(Ordering::Relaxed), members);
        }
    });
}

#[test]
fn every_member_works_once_per_run() {
    check_runs(1, 2);
    check_runs(2, 1);
}

/// Checks the order of generation and work by itself: a wake-up would order them, too.
#[test]
fn spinning_member_sees_the_work_of_its_generation() {
    check(|| {
        let state = Arc::new(TeamState::default());
        let member = {
            let state = Arc::clone(&state);
            let wait_and_work = move || {
                while state.generation.0.load(Ordering::Acquire) == 0 {
                    thread::yield_now();
                }
                state.run_work(0);
            };
            thread::Builder::new().spawn(wait_and_work).unwrap()
        };
        state.publish_work(&|member| assert_eq!(member, 0), 1);
        state.wait_until_finished(&[]);
        member.join().unwrap();
        assert!(state.first_panic.lock().even_if_poisoned().is_none());
    });
}
