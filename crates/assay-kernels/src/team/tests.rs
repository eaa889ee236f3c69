//! Tests that each member works once on its CPU, and that no thread hangs.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn some_cpus(count: usize) -> Vec<usize> {
    pin::allowed_cpus().unwrap().into_iter().cycle().take(count).collect()
}

// Miri does not report the CPU of a thread.
#[cfg(not(miri))]
#[test]
fn every_member_works_once_per_run_on_its_cpu() {
    for members in [1, 2, 3, 9] {
        let cpus = some_cpus(members);
        let mut team = Team::new(&cpus).unwrap();
        let runs: Vec<AtomicUsize> = (0..members).map(|_| AtomicUsize::new(0)).collect();
        for run in 1..=50 {
            team.run(|member| {
                assert_eq!(pin::current_cpu(), Some(cpus[member]));
                runs[member].fetch_add(1, Ordering::Relaxed);
            });
            assert!(runs.iter().all(|count| count.load(Ordering::Relaxed) == run));
        }
    }
}

#[test]
fn members_wake_after_they_have_gone_to_sleep() {
    let mut team = Team::new(&some_cpus(2)).unwrap();
    let count = AtomicUsize::new(0);
    for _ in 0..5 {
        thread::sleep(std::time::Duration::from_nanos(4 * TEAM_SPIN_NS));
        team.run(|_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
    }
    assert_eq!(count.into_inner(), 10);
}

#[test]
fn panic_reaches_the_caller_and_frees_waiting_members() {
    let mut team = Team::new(&some_cpus(3)).unwrap();
    for panicking in 0..3 {
        let barrier = team.barrier();
        let caught = panic::catch_unwind(AssertUnwindSafe(|| {
            team.run(|member| {
                assert_ne!(member, panicking, "member {panicking} fails");
                barrier.wait();
            });
        }));
        let payload = caught.unwrap_err();
        let message = payload.downcast_ref::<String>().unwrap();
        assert!(message.contains(&format!("member {panicking} fails")), "{message}");
        team.run(|_| ());
    }
}

#[test]
fn rejects_impossible_teams() {
    let usable = pin::allowed_cpus().unwrap()[0];
    for (cpus, expected) in
        [(vec![], "needs a CPU"), (vec![8191], "CPU 8191"), (vec![usable, 8190], "CPU 8190")]
    {
        let message = Team::new(&cpus).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
