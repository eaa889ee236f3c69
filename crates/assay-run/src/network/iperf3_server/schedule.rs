//! Times of a server's tests, and the share of a test that others overlapped.
//!
//! Holds times only; it neither starts nor ends a test.

use assay_dialects::iperf3::ConcurrentTests;
use assay_kernels::clock;

/// Times of the tests that run, and of those that ended during them.
#[derive(Debug, Default)]
pub(super) struct TestSchedule {
    tests: Vec<ScheduledTest>,
}

#[derive(Debug)]
struct ScheduledTest {
    number: u64,
    start_ns: u64,
    /// `None` while it runs.
    end_ns: Option<u64>,
}

impl TestSchedule {
    pub(super) fn begin(&mut self, number: u64, start_ns: u64) {
        self.tests.push(ScheduledTest { number, start_ns, end_ns: None });
    }

    /// Ends a test, unless it has ended, and drops those that overlap no running test.
    pub(super) fn end(&mut self, number: u64, now_ns: u64) {
        for test in self.tests.iter_mut().filter(|it| it.number == number) {
            test.end_ns.get_or_insert(now_ns);
        }
        let running = self.tests.iter().filter(|it| it.end_ns.is_none());
        let first_ns = running.map(|it| it.start_ns).min().unwrap_or(u64::MAX);
        self.tests.retain(|it| it.end_ns.is_none_or(|end_ns| end_ns > first_ns));
    }

    /// Returns the other tests between two times. The omitted time of others counts, because they
    /// transfer in it.
    pub(super) fn concurrent(&self, number: u64, from_ns: u64, to_ns: u64) -> ConcurrentTests {
        let others = self.tests.iter().filter(|it| it.number != number);
        let mut overlaps: Vec<(u64, u64)> = others
            .map(|it| (it.start_ns.max(from_ns), it.end_ns.unwrap_or(to_ns).min(to_ns)))
            .filter(|(start_ns, end_ns)| start_ns < end_ns)
            .collect();
        overlaps.sort_unstable();
        let whole_s = clock::seconds_between(from_ns, to_ns);
        let sum_s: f64 = overlaps.iter().map(|it| clock::seconds_between(it.0, it.1)).sum();
        let (mut covered_s, mut covered_to_ns) = (0.0, from_ns);
        for (start_ns, end_ns) in &overlaps {
            let start_ns = (*start_ns).max(covered_to_ns);
            if start_ns < *end_ns {
                covered_s += clock::seconds_between(start_ns, *end_ns);
                covered_to_ns = *end_ns;
            }
        }
        let share_of = |seconds: f64| if whole_s > 0.0 { seconds / whole_s } else { 0.0 };
        ConcurrentTests {
            count: u32::try_from(overlaps.len()).unwrap_or(u32::MAX),
            share: share_of(covered_s).min(1.0),
            mean: share_of(sum_s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times in nanoseconds: test 1 runs from 100 to 200.
    #[test]
    fn counts_tests_and_share_of_time_beside_one() {
        for (others, expected) in [
            (&[][..], (0, 0.0, 0.0)),
            (&[(0, Some(100)), (200, None)], (0, 0.0, 0.0)),
            (&[(0, None)], (1, 1.0, 1.0)),
            (&[(120, Some(150))], (1, 0.3, 0.3)),
            (&[(120, Some(150)), (140, Some(180))], (2, 0.6, 0.7)),
            (&[(110, Some(190)), (120, Some(130))], (2, 0.8, 0.9)),
            (&[(50, Some(110)), (190, None)], (2, 0.2, 0.2)),
        ] {
            let mut schedule = TestSchedule::default();
            schedule.begin(1, 100);
            for (number, (start_ns, end_ns)) in (2..).zip(others) {
                schedule.begin(number, *start_ns);
                end_ns.iter().for_each(|end_ns| schedule.end(number, *end_ns));
            }
            let found = schedule.concurrent(1, 100, 200);
            assert_eq!(found.count, expected.0, "{others:?}");
            assert!((found.share - expected.1).abs() < 1e-9, "{others:?}: {found:?}");
            assert!((found.mean - expected.2).abs() < 1e-9, "{others:?}: {found:?}");
        }
    }

    #[test]
    fn drops_tests_that_overlap_no_running_test() {
        let mut schedule = TestSchedule::default();
        schedule.begin(1, 0);
        schedule.begin(2, 10);
        schedule.end(1, 20);
        assert_eq!(schedule.tests.len(), 2, "test 2 overlaps test 1");
        schedule.begin(3, 30);
        schedule.end(2, 40);
        let kept: Vec<u64> = schedule.tests.iter().map(|it| it.number).collect();
        assert_eq!(kept, [2, 3]);
        schedule.end(2, 90);
        schedule.end(3, 50);
        assert!(schedule.tests.is_empty(), "{schedule:?}");
    }
}
