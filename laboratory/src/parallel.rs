//! Runs scenarios at the same time where they do not disturb each other.

use std::sync::Mutex;
use std::thread;

use crate::scenario::{CpuUse, RunExtent, Scenario};

/// Runs scenarios: a busy one in parallel with a waiting one, then the exclusive ones one after
/// another. When no busy one is left, two waiting ones run in parallel.
pub(crate) fn run_parallel<'s, T: Send>(
    selected: &[&'s Scenario],
    extent: RunExtent,
    carry_out: impl Fn(&'s Scenario) -> T + Sync,
) -> Vec<(&'static str, T)> {
    let [busy, waiting, exclusive] =
        [CpuUse::Busy, CpuUse::Waiting, CpuUse::Exclusive].map(|cpu_use| {
            Queue::new(
                selected.iter().filter(|scenario| scenario.cpu_use_for(extent) == cpu_use),
            )
        });
    let run_queue = |queues: &[&Queue<'s>]| {
        let next = || queues.iter().find_map(|queue| queue.pop_longest());
        std::iter::from_fn(next)
            .map(|scenario| (scenario.name, carry_out(scenario)))
            .collect::<Vec<_>>()
    };
    let mut results = thread::scope(|scope| {
        let second_lane = scope.spawn(|| run_queue(&[&waiting]));
        let mut results = run_queue(&[&busy, &waiting]);
        results.extend(second_lane.join().expect("errors are passed on"));
        results
    });
    results.extend(run_queue(&[&exclusive]));
    results
}

/// Pending scenarios of one kind of CPU use.
struct Queue<'s>(Mutex<Vec<&'s Scenario>>);

impl<'s> Queue<'s> {
    fn new<'c>(selected: impl Iterator<Item = &'c &'s Scenario>) -> Self
    where
        's: 'c,
    {
        let mut scenarios: Vec<_> = selected.copied().collect();
        scenarios.sort_by_key(|scenario| scenario.deadline);
        Self(Mutex::new(scenarios))
    }

    /// Takes the scenario with the longest timeout, so that the last one is short.
    fn pop_longest(&self) -> Option<&'s Scenario> {
        self.0.lock().expect("no thread panics while holding the lock").pop()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::SCENARIOS;

    #[test]
    fn runs_each_scenario_once_and_exclusive_ones_alone() {
        for extent in [RunExtent::Full, RunExtent::Brief] {
            let under_way = Mutex::new(Vec::new());
            let all: Vec<&Scenario> = SCENARIOS.iter().collect();
            let results = run_parallel(&all, extent, |scenario| {
                let cpu_use = scenario.cpu_use_for(extent);
                let mut others = under_way.lock().unwrap();
                let concurrent = others.clone();
                others.push(cpu_use);
                drop(others);
                thread::yield_now();
                let mut under_way = under_way.lock().unwrap();
                let own = under_way.iter().position(|it| *it == cpu_use).unwrap();
                under_way.remove(own);
                (cpu_use, concurrent)
            });
            for (name, (cpu_use, concurrent)) in &results {
                let allowed: &[CpuUse] = match cpu_use {
                    CpuUse::Exclusive | CpuUse::ExclusiveIfFull => &[],
                    CpuUse::Busy => &[CpuUse::Waiting],
                    CpuUse::Waiting => &[CpuUse::Busy, CpuUse::Waiting],
                };
                assert!(concurrent.len() < 2, "{name} with {concurrent:?}");
                assert!(
                    concurrent.iter().all(|it| allowed.contains(it)),
                    "{name} with {concurrent:?}"
                );
            }
            let mut names: Vec<&str> = results.iter().map(|(name, _)| *name).collect();
            let mut expected: Vec<&str> = all.iter().map(|it| it.name).collect();
            names.sort_unstable();
            expected.sort_unstable();
            assert_eq!(names, expected);
        }
    }

    #[test]
    fn waiting_scenarios_run_in_parallel_without_busy_ones() {
        let waiting: Vec<&Scenario> =
            SCENARIOS.iter().filter(|it| it.cpu_use == CpuUse::Waiting).collect();
        let barrier = std::sync::Barrier::new(2);
        // Both lanes must wait at the barrier in the first two scenarios, or this test does not
        // end.
        let started = Mutex::new(0);
        let results = run_parallel(&waiting, RunExtent::Full, |_| {
            let turn = {
                let mut started = started.lock().unwrap();
                *started += 1;
                *started
            };
            if turn <= 2 {
                barrier.wait();
            }
        });
        assert_eq!(results.len(), waiting.len());
    }

    #[test]
    fn longest_scenario_starts_first() {
        let all: Vec<&Scenario> = SCENARIOS.iter().collect();
        let queue = Queue::new(all.iter().filter(|it| it.cpu_use == CpuUse::Waiting));
        let order: Vec<Duration> =
            std::iter::from_fn(|| queue.pop_longest()).map(|it| it.deadline).collect();
        assert!(order.len() > 1 && order.is_sorted_by(|a, b| a >= b), "{order:?}");
    }
}
