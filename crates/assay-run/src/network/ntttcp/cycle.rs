//! Times of a test at one end: warm-up, measured time with its intervals, and cool-down.

use assay_kernels::clock;

use super::usage::UsageReading;
use super::{EARLY_END_NS, NtttcpEnd, NtttcpEvent, NtttcpInterval, NtttcpOutcome, NtttcpTest};

/// Time between two reports.
const INTERVAL_NS: u64 = 500_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// Running test of one end.
pub(super) struct TestCycle<'a> {
    pub(super) test: &'a NtttcpTest,
    /// Clock reading before the other end could start.
    pub(super) started_ns: u64,
    /// Agreed seconds of the whole test; 0 = until an end stops it.
    pub(super) cycle_s: u32,
    /// Returns the bytes of each thread so far.
    pub(super) read_bytes: &'a dyn Fn() -> Vec<u64>,
    /// Waits until a clock reading, unless the test ends before.
    pub(super) wait: &'a mut dyn FnMut(u64) -> Option<NtttcpEnd>,
    pub(super) observe: &'a mut dyn FnMut(NtttcpEvent),
}

/// Bytes of all threads at one moment.
struct BytesReading {
    at_ns: u64,
    thread_bytes: Vec<u64>,
}

impl TestCycle<'_> {
    /// Runs the test. Without a measured time, because it ended in the warm-up, its result has no
    /// bytes.
    pub(super) fn run(mut self) -> NtttcpOutcome {
        let start = self.read();
        let seconds_ns = |seconds: u32| u64::from(seconds) * SECOND_NS;
        let end_ns = match self.cycle_s {
            0 => u64::MAX,
            seconds => self.started_ns.saturating_add(seconds_ns(seconds)),
        };
        let mut ended = None;
        if self.test.warm_up_s > 0 {
            let warm_ns = self.started_ns + seconds_ns(self.test.warm_up_s);
            ended = self.pass(start, warm_ns.min(end_ns)).2;
            if ended.is_none() {
                (self.observe)(NtttcpEvent::WarmedUp);
            }
        }
        let base = self.read();
        let usage = UsageReading::read(self.test);
        let limit_ns = match self.test.measured_s(self.cycle_s) {
            0 => u64::MAX,
            seconds => base.at_ns.saturating_add(seconds_ns(seconds)),
        };
        let (from_ns, from) = (base.at_ns, base.thread_bytes.clone());
        let (last, intervals) = match ended {
            None => {
                let (last, intervals, end) = self.pass(base, limit_ns.min(end_ns));
                ended = end;
                (last, intervals)
            }
            Some(_) => (base, Vec::new()),
        };
        let usage = usage.until(&UsageReading::read(self.test));
        (self.observe)(NtttcpEvent::Measured);
        if ended.is_none() && end_ns != u64::MAX && end_ns > clock::now_ns() {
            if self.cycle_s > self.test.warm_up_s.saturating_add(self.test.duration_s) {
                (self.observe)(NtttcpEvent::CoolsDown);
            }
            ended = (self.wait)(end_ns).filter(|it| *it == NtttcpEnd::User);
        }
        (self.observe)(NtttcpEvent::Finished);
        let between = |(to, from): (&u64, &u64)| to.saturating_sub(*from);
        NtttcpOutcome {
            thread_bytes: last.thread_bytes.iter().zip(&from).map(between).collect(),
            seconds: clock::seconds_between(from_ns, last.at_ns),
            intervals,
            connections: None,
            usage,
            round_trip_us: None,
            end: ended.unwrap_or(NtttcpEnd::Time),
        }
    }

    fn read(&self) -> BytesReading {
        let thread_bytes = (self.read_bytes)();
        BytesReading { at_ns: clock::now_ns(), thread_bytes }
    }

    /// Reports intervals until a clock reading; returns the last reading, the intervals, and the
    /// reason if the test ended before.
    fn pass(
        &mut self,
        start: BytesReading,
        until_ns: u64,
    ) -> (BytesReading, Vec<NtttcpInterval>, Option<NtttcpEnd>) {
        let mut intervals = Vec::new();
        let mut last = start;
        let mut due_ns = last.at_ns;
        loop {
            due_ns += INTERVAL_NS;
            // A rest shorter than a fifth of an interval belongs to the one before it.
            let is_end = due_ns.saturating_add(INTERVAL_NS / 5) >= until_ns;
            let ended = (self.wait)(if is_end { until_ns } else { due_ns });
            let now = self.read();
            let is_early = until_ns > now.at_ns.saturating_add(EARLY_END_NS);
            let ended = match ended {
                Some(NtttcpEnd::Sender) if !is_early => Some(NtttcpEnd::Closed),
                ended => ended,
            };
            let total = |it: &BytesReading| it.thread_bytes.iter().sum::<u64>();
            let interval = NtttcpInterval {
                bytes: total(&now).saturating_sub(total(&last)),
                seconds: clock::seconds_between(last.at_ns, now.at_ns),
            };
            if interval.seconds > 0.0 {
                let NtttcpInterval { bytes, seconds } = interval;
                (self.observe)(NtttcpEvent::Interval { bytes, seconds });
                intervals.push(interval);
            }
            last = now;
            match ended {
                Some(NtttcpEnd::User) => (self.observe)(NtttcpEvent::Interrupted),
                Some(NtttcpEnd::Sender) => (self.observe)(NtttcpEvent::EndedBySender),
                Some(NtttcpEnd::Closed | NtttcpEnd::Time) | None => {}
            }
            if ended.is_some() || is_end {
                return (last, intervals, ended);
            }
            due_ns = due_ns.max(last.at_ns.saturating_sub(INTERVAL_NS / 2));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use assay_kernels::network::socket::SocketOptions;

    use super::*;

    fn test(warm_up_s: u32, duration_s: u32, cool_down_s: u32) -> NtttcpTest {
        NtttcpTest {
            is_udp: false,
            ports: 1,
            base_port: 5001,
            is_synchronised: true,
            warm_up_s,
            duration_s,
            cool_down_s,
            block_bytes: 1,
            socket: SocketOptions::default(),
            interface: None,
            interrupts: None,
        }
    }

    /// Runs a test whose first thread has a byte at each reading, and that ends with a wait.
    fn run(
        test: &NtttcpTest,
        cycle_s: u32,
        ends_at: usize,
    ) -> (NtttcpOutcome, Vec<NtttcpEvent>) {
        let (reads, waits) = (Cell::new(0), Cell::new(0));
        let mut events = Vec::new();
        let outcome = TestCycle {
            test,
            started_ns: clock::now_ns(),
            cycle_s,
            read_bytes: &|| {
                reads.set(reads.get() + 1);
                vec![reads.get(), 5]
            },
            wait: &mut |until_ns| {
                waits.set(waits.get() + 1);
                if waits.get() == ends_at {
                    return Some(NtttcpEnd::User);
                }
                let left_ns = until_ns.saturating_sub(clock::now_ns());
                std::thread::sleep(Duration::from_nanos(left_ns));
                None
            },
            observe: &mut |event| events.push(event),
        }
        .run();
        (outcome, events)
    }

    #[test]
    fn intervals_make_up_the_measured_time() {
        let (outcome, events) = run(&test(1, 1, 0), 2, usize::MAX);
        let sum: u64 = outcome.intervals.iter().map(|it| it.bytes).sum();
        let seconds: f64 = outcome.intervals.iter().map(|it| it.seconds).sum();
        assert_eq!(outcome.thread_bytes, [sum, 0]);
        assert!((outcome.seconds - seconds).abs() < 1e-6, "{outcome:?}");
        assert_eq!(outcome.end, NtttcpEnd::Time);
        let names: Vec<&NtttcpEvent> = events
            .iter()
            .filter(|event| !matches!(event, NtttcpEvent::Interval { .. }))
            .collect();
        assert_eq!(
            names,
            [&NtttcpEvent::WarmedUp, &NtttcpEvent::Measured, &NtttcpEvent::Finished]
        );
    }

    #[test]
    fn longer_agreed_time_is_cool_down() {
        let (_, events) = run(&test(0, 1, 0), 2, usize::MAX);
        assert!(events.contains(&NtttcpEvent::CoolsDown), "{events:?}");
    }

    #[test]
    fn agreed_time_without_limit_replaces_own_time() {
        let (outcome, _) = run(&test(0, 1, 0), 0, 4);
        assert_eq!((outcome.end, outcome.intervals.len()), (NtttcpEnd::User, 4));
        for ((warm_up_s, duration_s), agreed_s, measured_s) in [
            ((5, 10), 20, 10),
            ((5, 10), 12, 7),
            ((5, 10), 0, 0),
            ((5, 0), 12, 7),
            ((5, 10), 3, 0),
        ] {
            assert_eq!(test(warm_up_s, duration_s, 0).measured_s(agreed_s), measured_s);
        }
    }

    #[test]
    fn interrupted_test_keeps_what_it_measured() {
        let (outcome, _) = run(&test(0, 0, 0), 0, 2);
        assert_eq!((outcome.end, outcome.intervals.len()), (NtttcpEnd::User, 2));
        let (outcome, events) = run(&test(5, 5, 0), 10, 1);
        assert_eq!((outcome.end, outcome.bytes()), (NtttcpEnd::User, 0));
        assert!(outcome.intervals.is_empty() && !events.contains(&NtttcpEvent::WarmedUp));
    }
}
