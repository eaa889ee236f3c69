//! Time and bytes that each host takes for each case, against their limits.
//!
//! Pure accounting. A host that repeats a step, or sends without end, does not begin anew: its
//! starts and messages count towards the same case.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_fleet::remote::HostFailure;

use super::nanoseconds;

/// Maximum size of all messages of a host about one case: 16 of the largest messages. The largest
/// case of the tests, with 128 streams, takes 12 MB.
pub(super) const MAX_CASE_BYTES: u64 = 256 << 20;

/// Usage of all hosts, by their numbers.
#[derive(Debug)]
pub(super) struct CaseUsage(Vec<HostUsage>);

#[derive(Debug, Default)]
struct HostUsage {
    /// Position of the running or last case; `None` before the first one.
    place: Option<usize>,
    running: Option<Running>,
    cases: BTreeMap<Option<usize>, Spent>,
}

/// Start of a step.
#[derive(Debug, Clone, Copy)]
struct Running {
    /// Time of the first clock request for the start.
    asked_ns: u64,
    /// Scheduled time of the start.
    start_ns: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    ns: u64,
    bytes: u64,
}

impl Running {
    /// Duration of the step until now. A host that is done before its start has used the time
    /// since the first clock request.
    const fn elapsed_ns(self, now_ns: u64) -> u64 {
        let since_ns = if now_ns >= self.start_ns { self.start_ns } else { self.asked_ns };
        now_ns.saturating_sub(since_ns)
    }
}

impl CaseUsage {
    /// Begins with hosts that prepare for their first case.
    pub(super) fn new(hosts: usize, now_ns: u64) -> Self {
        let running = Some(Running { asked_ns: now_ns, start_ns: now_ns });
        Self((0..hosts).map(|_| HostUsage { running, ..HostUsage::default() }).collect())
    }

    /// Starts a step of the case at a position.
    pub(super) fn start(&mut self, host: usize, place: usize, asked_ns: u64, start_ns: u64) {
        let it = &mut self.0[host];
        it.place = Some(place);
        it.running = Some(Running { asked_ns, start_ns });
    }

    /// Ends the step of a host that waits, or is done.
    pub(super) fn stop(&mut self, host: usize, now_ns: u64) {
        let it = &mut self.0[host];
        let elapsed_ns = it.running.take().map_or(0, |running| running.elapsed_ns(now_ns));
        let spent = it.cases.entry(it.place).or_default();
        spent.ns = spent.ns.saturating_add(elapsed_ns);
    }

    /// Counts a message towards the running or last case.
    ///
    /// # Errors
    /// [`HostFailure::TooLarge`] above [`MAX_CASE_BYTES`].
    pub(super) fn add_bytes(&mut self, host: usize, bytes: usize) -> Result<(), HostFailure> {
        let it = &mut self.0[host];
        let spent = it.cases.entry(it.place).or_default();
        spent.bytes = spent.bytes.saturating_add(bytes as u64);
        match spent.bytes > MAX_CASE_BYTES {
            true => Err(HostFailure::TooLarge { mebibytes: MAX_CASE_BYTES >> 20 }),
            false => Ok(()),
        }
    }

    /// Whether the steps of the running case together exceed the deadline of a case; `lag` is the
    /// deadline of the time before the first case, if that is longer.
    pub(super) fn is_overdue(
        &self,
        host: usize,
        now_ns: u64,
        deadline: Duration,
        lag: Duration,
    ) -> bool {
        let it = &self.0[host];
        let Some(running) = it.running else { return false };
        let before_ns = it.cases.get(&it.place).map_or(0, |spent| spent.ns);
        let allowed = if it.place.is_some() { deadline } else { deadline.max(lag) };
        before_ns.saturating_add(running.elapsed_ns(now_ns)) > nanoseconds(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;
    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn steps_of_a_case_share_its_deadline() {
        let mut usage = CaseUsage::new(2, 0);
        let is_overdue = |usage: &CaseUsage, now_s: u64| {
            usage.is_overdue(0, now_s * SECOND_NS, Duration::from_secs(10), MINUTE)
        };
        assert!(!is_overdue(&usage, 60) && is_overdue(&usage, 61), "before the first case");
        usage.stop(0, 61 * SECOND_NS);
        for step in 0..3_u64 {
            let at_ns = (100 + step * 100) * SECOND_NS;
            usage.start(0, 5, at_ns, at_ns);
            assert!(!is_overdue(&usage, 100 + step * 100 + 2), "{step}");
            usage.stop(0, at_ns + 4 * SECOND_NS);
        }
        usage.start(0, 5, 500 * SECOND_NS, 500 * SECOND_NS);
        assert!(is_overdue(&usage, 500), "three steps took twelve seconds");
        usage.start(0, 6, 500 * SECOND_NS, 500 * SECOND_NS);
        assert!(!is_overdue(&usage, 509), "another case");
    }

    #[test]
    fn steps_that_end_before_their_start_take_time() {
        let mut usage = CaseUsage::new(1, 0);
        for step in 0..200 {
            let now_ns = step * SECOND_NS;
            usage.start(0, 0, now_ns, now_ns + SECOND_NS / 10);
            usage.stop(0, now_ns + SECOND_NS / 20);
        }
        usage.start(0, 0, 0, 0);
        assert!(usage.is_overdue(0, 0, Duration::from_secs(9), MINUTE));
    }

    #[test]
    fn bytes_of_a_case_are_bounded() {
        let mut usage = CaseUsage::new(2, 0);
        let most = usize::try_from(MAX_CASE_BYTES).unwrap();
        usage.add_bytes(0, most).unwrap();
        let failure = usage.add_bytes(0, 1).unwrap_err();
        assert!(failure.to_string().contains("256 MiB"), "{failure}");
        usage.add_bytes(1, most).unwrap();
        usage.start(0, 1, 0, 0);
        usage.add_bytes(0, most).unwrap();
    }
}
