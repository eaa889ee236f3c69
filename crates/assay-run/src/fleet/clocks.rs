//! Clock synchronisation: offset of each host's clock from the coordinator's, measured anew before
//! every start.

use std::collections::VecDeque;
use std::time::Duration;

use assay_fleet::remote::host_events::{HostConnections, HostEvent};
use assay_fleet::remote::{AgentRequest, Clocks, HostFailure};
use assay_model::doubt::Doubt;
use assay_model::event::ClockOffset;

use crate::failure::CommandFailure;
use crate::pauses;

/// Clock requests to each host before a start; the one with the shortest round trip counts.
const CLOCK_QUERIES: u32 = 5;
/// Timeout of a clock request; a host that exceeds it keeps its offset, or is lost if it has none.
const CLOCK_TIMEOUT_NS: u64 = 2_000_000_000;
/// Allowance for delivery and wake-up at both ends, beyond the round trip: ten times the scheduling
/// latency of a loaded Linux machine (6 ms, `sched_latency_ns` of CFS; 3 ms slices of EEVDF).
const SLACK_NS: u64 = 60_000_000;

/// Largest rate at which time servers slew the wall clock without setting it (`adjtimex(2)`).
const MAX_SLEW: f64 = 500e-6;

/// Clock of a remote host.
#[derive(Debug, Clone, Default)]
pub(crate) struct RemoteClock {
    /// Offset of the measurement clock, remote minus local, and its bound: half the round trip.
    offset_ns: i64,
    bound_ns: u64,
    /// Offset of the wall clock.
    wall_offset_s: f64,
    /// Last reading.
    last_reading: Option<Clocks>,
    /// Steps of the wall clock since they were last taken.
    step_s: f64,
    /// Shortest round trip of the last requests; 0 before the first reply.
    pub(crate) round_trip_ns: u64,
    /// Requests without a reply, oldest first.
    pending: VecDeque<(u64, f64)>,
    /// Scheduled start by the remote clock.
    pub(crate) start_ns: u64,
    /// Start of the run by the remote clock.
    pub(crate) run_started_ns: u64,
}

impl RemoteClock {
    /// Whether requests have no reply yet.
    pub(crate) fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    fn add_request(&mut self, now_ns: u64) {
        self.pending.push_back((now_ns, wall_clock_s()));
    }

    /// Adopts a reading if its bound is tighter. The offset is within half a round trip of the
    /// round trip's middle (Cristian: Probabilistic clock synchronization, Distributed Computing 3,
    /// 1989).
    pub(crate) fn update(&mut self, theirs: Clocks, at_ns: u64) {
        let Some((asked_ns, asked_day_s)) = self.pending.pop_front() else { return };
        if let Some(before) = self.last_reading.replace(theirs) {
            self.step_s += clock_step_s(before, theirs);
        }
        let round_trip_ns = at_ns.saturating_sub(asked_ns).max(1);
        if self.round_trip_ns != 0 && round_trip_ns >= self.round_trip_ns {
            return;
        }
        let half_ns = round_trip_ns.div_ceil(2);
        self.round_trip_ns = round_trip_ns;
        self.bound_ns = half_ns;
        self.offset_ns = theirs.measuring_ns.wrapping_sub(asked_ns + half_ns) as i64;
        self.wall_offset_s =
            theirs.day_ns as f64 * 1e-9 - (asked_day_s + half_ns as f64 * 1e-9);
    }

    /// Converts a local time to the remote clock.
    pub(crate) const fn to_remote_ns(&self, ours_ns: u64) -> u64 {
        ours_ns.wrapping_add_signed(self.offset_ns)
    }

    /// Delay of the actual start behind the scheduled one.
    pub(crate) fn late_s(&self, theirs_ns: u64) -> f64 {
        theirs_ns.wrapping_sub(self.start_ns) as i64 as f64 * 1e-9
    }

    pub(crate) fn bound_s(&self) -> f64 {
        self.bound_ns as f64 * 1e-9
    }

    /// Start of the remote run relative to the local run, which began at `ours_ns`.
    pub(crate) const fn began_after_ns(&self, ours_ns: u64) -> i64 {
        self.run_started_ns.wrapping_sub(self.to_remote_ns(ours_ns)) as i64
    }

    /// Returns a doubt if the wall clock was set since the last call.
    pub(crate) fn take_step(&mut self) -> Option<Doubt> {
        pauses::clock_step_doubt(std::mem::take(&mut self.step_s))
    }

    /// Offset of the wall clock, for the record.
    pub(crate) fn wall_clock_offset(&self) -> ClockOffset {
        ClockOffset { seconds: self.wall_offset_s, bound_s: self.bound_s() }
    }
}

/// Step of the wall clock between two readings of both clocks of one host.
fn clock_step_s(before: Clocks, now: Clocks) -> f64 {
    let seconds = |from: u64, to: u64| to.wrapping_sub(from) as i64 as f64 * 1e-9;
    let elapsed_s = seconds(before.measuring_ns, now.measuring_ns);
    let set_s = seconds(before.day_ns, now.day_ns) - elapsed_s;
    if set_s.abs() >= pauses::STEP_S + MAX_SLEW * elapsed_s { set_s } else { 0.0 }
}

fn wall_clock_s() -> f64 {
    Clocks::read(0).day_ns as f64 * 1e-9
}

/// Time between the decision for a start and the start.
const fn lead_ns(farthest_ns: u64) -> u64 {
    SLACK_NS + 2 * farthest_ns
}

/// Access to hosts that measure together, and to their clocks.
pub(crate) trait SynchronisedHosts {
    fn hosts(&mut self) -> &mut dyn HostConnections;
    fn clock(&mut self, host: usize) -> &mut RemoteClock;
    /// Whether the host still takes part.
    fn is_active(&self, host: usize) -> bool;
    fn handle(&mut self, host: usize, heard: HostEvent) -> Result<(), CommandFailure>;
    fn lose(&mut self, host: usize, failure: HostFailure) -> Result<(), CommandFailure>;
}

/// Synchronises with waiting hosts by several rounds of clock requests.
pub(crate) fn synchronise(
    talk: &mut impl SynchronisedHosts,
    hosts: &[usize],
) -> Result<(), CommandFailure> {
    hosts.iter().for_each(|host| talk.clock(*host).round_trip_ns = 0);
    for _ in 0..CLOCK_QUERIES {
        query_clocks(talk, hosts)?;
    }
    // A host without an offset cannot be given a start time.
    let seconds = CLOCK_TIMEOUT_NS / 1_000_000_000;
    for host in hosts.iter().copied() {
        if talk.clock(host).bound_ns == 0 {
            talk.lose(host, HostFailure::Overdue { seconds })?;
        }
    }
    Ok(())
}

/// Sends one clock request to all of these hosts and waits for the replies.
pub(crate) fn query_clocks(
    talk: &mut impl SynchronisedHosts,
    hosts: &[usize],
) -> Result<(), CommandFailure> {
    for host in hosts.iter().copied() {
        if talk.is_active(host) {
            let now_ns = talk.hosts().now_ns();
            talk.clock(host).add_request(now_ns);
            talk.hosts().send_request(host, &AgentRequest::Clock);
        }
    }
    let end_ns = talk.hosts().now_ns() + CLOCK_TIMEOUT_NS;
    let mut silent = hosts;
    loop {
        // A prefix of hosts with replies is skipped; scanning all for every reply would cost the
        // square of their number.
        while let [first, rest @ ..] = silent
            && (talk.clock(*first).pending.is_empty() || !talk.is_active(*first))
        {
            silent = rest;
        }
        if silent.is_empty() || talk.hosts().now_ns() >= end_ns {
            return Ok(());
        }
        if let Some((host, heard)) = talk.hosts().next_event(Duration::from_millis(20)) {
            talk.handle(host, heard)?;
        }
    }
}

/// Returns a start time late enough for the message to reach all of these hosts before it.
pub(crate) fn next_start_ns(talk: &mut impl SynchronisedHosts, hosts: &[usize]) -> u64 {
    let farthest_ns = hosts.iter().map(|host| talk.clock(*host).round_trip_ns).max();
    talk.hosts().now_ns() + lead_ns(farthest_ns.unwrap_or(0))
}

/// Schedules the start of a host at a local time.
pub(crate) fn schedule_start(talk: &mut impl SynchronisedHosts, host: usize, at_ns: u64) {
    let theirs_ns = talk.clock(host).to_remote_ns(at_ns);
    talk.clock(host).start_ns = theirs_ns;
    talk.hosts().send_request(host, &AgentRequest::Start(theirs_ns));
}

/// Skew of a common start: seconds from the first start to the last, and the bound of that, from
/// the lateness of each host and its bound.
pub(crate) fn skew_s(late_s: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let first_s = late_s.clone().map(|it| it.0).fold(f64::INFINITY, f64::min);
    let last_s = late_s.clone().map(|it| it.0).fold(f64::NEG_INFINITY, f64::max);
    (last_s - first_s, 2.0 * late_s.map(|it| it.1).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_clock_step_moves_no_start() {
        const AHEAD_NS: u64 = 5_000_000_000;
        const HOUR_NS: u64 = 3_600_000_000_000;
        let now_ns = Clocks::read(0).day_ns;
        let mut clock = RemoteClock::default();
        let mut ask = |at_ns: u64, day_ns: u64| {
            clock.round_trip_ns = 0;
            clock.add_request(at_ns);
            let theirs = Clocks { day_ns, measuring_ns: at_ns + 500 + AHEAD_NS };
            clock.update(theirs, at_ns + 1000);
            (
                clock.to_remote_ns(7_000_000_000),
                clock.wall_clock_offset().seconds,
                clock.take_step(),
            )
        };
        let (before, day_s, none) = ask(1_000_000_000, now_ns);
        // After two seconds, the remote wall clock is a millisecond ahead: within the slew of time
        // servers.
        let (after, day_back_s, set) = ask(3_000_000_000, now_ns + 2_001_000_000 - HOUR_NS);
        let (_, _, slewed) = ask(1_003_000_000_000, now_ns + 1_002_501_000_000 - HOUR_NS);
        let Some(Doubt::ClockStepped { seconds }) = set else { panic!("{set:?}") };
        assert!((seconds + 3600.0).abs() < 0.01 && (none, slewed) == (None, None));
        assert_eq!((before, after), (12_000_000_000, 12_000_000_000));
        // The record contains the step; no start depends on it.
        assert!(day_s.abs() < 600.0 && (day_back_s + 3600.0).abs() < 600.0);
    }
}
