//! The clocks of the hosts: how far each is ahead of the coordinator's, asked anew before every start.

use std::collections::VecDeque;
use std::time::Duration;

use assay_fleet::remote::agents::{Heard, Hosts};
use assay_fleet::remote::{Clocks, HostFailure, Request};
use assay_model::doubt::Doubt;
use assay_model::event::ClockOffset;

use crate::failure::Failure;
use crate::pauses;

/// Questions to each host before a start; the quickest answer counts.
const TRIES: u32 = 5;
/// Whoever does not tell the time within this keeps the offset it had, or is heard to be lost.
const TELLING_NS: u64 = 2_000_000_000;
/// What a message and the waking of who reads it take at both ends, beside the round trip: ten times the
/// scheduling latency of a loaded Linux machine (6 ms, `sched_latency_ns` of CFS; 3 ms slices of EEVDF).
const SLACK_NS: u64 = 60_000_000;

/// Time servers move the clock of the day by this much at most without setting it (`adjtimex(2)`).
const SLEW: f64 = 500e-6;

/// The clock of a host.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    /// Of measurements: theirs minus ours, and half the round trip that it was asked by.
    offset_ns: i64,
    bound_ns: u64,
    /// Of the day, likewise.
    day_offset_s: f64,
    /// What it showed last.
    shown: Option<Clocks>,
    /// How far that of the day was set since somebody asked.
    set_s: f64,
    /// The quickest round trip of the last questions; 0 = it was never asked.
    pub(crate) round_trip_ns: u64,
    /// Questions without an answer yet, the oldest first.
    asked: VecDeque<(u64, f64)>,
    /// The start it was given, by its own clock.
    pub(crate) start_ns: u64,
    /// When its run began, by its own clock.
    pub(crate) run_started_ns: u64,
}

impl Clock {
    fn asks(&mut self, now_ns: u64) {
        self.asked.push_back((now_ns, day_s()));
    }

    /// Takes over what is known better than before (Cristian: Probabilistic clock synchronization, Distributed
    /// Computing 3, 1989): the offset is within half a round trip of the middle of it.
    pub(crate) fn answered(&mut self, theirs: Clocks, at_ns: u64) {
        let Some((asked_ns, asked_day_s)) = self.asked.pop_front() else { return };
        if let Some(before) = self.shown.replace(theirs) {
            self.set_s += set_s(before, theirs);
        }
        let round_trip_ns = at_ns.saturating_sub(asked_ns).max(1);
        if self.round_trip_ns != 0 && round_trip_ns >= self.round_trip_ns {
            return;
        }
        let half_ns = round_trip_ns.div_ceil(2);
        self.round_trip_ns = round_trip_ns;
        self.bound_ns = half_ns;
        self.offset_ns = theirs.measuring_ns.wrapping_sub(asked_ns + half_ns) as i64;
        self.day_offset_s = theirs.day_ns as f64 * 1e-9 - (asked_day_s + half_ns as f64 * 1e-9);
    }

    /// A moment of ours by its clock.
    pub(crate) const fn theirs(&self, ours_ns: u64) -> u64 {
        ours_ns.wrapping_add_signed(self.offset_ns)
    }

    /// How much later than at its start it went on.
    pub(crate) fn late_s(&self, theirs_ns: u64) -> f64 {
        theirs_ns.wrapping_sub(self.start_ns) as i64 as f64 * 1e-9
    }

    pub(crate) fn bound_s(&self) -> f64 {
        self.bound_ns as f64 * 1e-9
    }

    /// How much later its run began than ours, which began at `ours_ns`.
    pub(crate) const fn began_after_ns(&self, ours_ns: u64) -> i64 {
        self.run_started_ns.wrapping_sub(self.theirs(ours_ns)) as i64
    }

    /// That the clock of the day was set since this was last asked.
    pub(crate) fn stepped(&mut self) -> Option<Doubt> {
        pauses::stepped(std::mem::take(&mut self.set_s))
    }

    /// The clock of the day, for the record.
    pub(crate) fn of_day(&self) -> ClockOffset {
        ClockOffset { seconds: self.day_offset_s, bound_s: self.bound_s() }
    }
}

/// How far the clock of the day was set between two looks at both clocks of one host.
fn set_s(before: Clocks, now: Clocks) -> f64 {
    let seconds = |from: u64, to: u64| to.wrapping_sub(from) as i64 as f64 * 1e-9;
    let elapsed_s = seconds(before.measuring_ns, now.measuring_ns);
    let set_s = seconds(before.day_ns, now.day_ns) - elapsed_s;
    if set_s.abs() >= pauses::STEP_S + SLEW * elapsed_s { set_s } else { 0.0 }
}

fn day_s() -> f64 {
    Clocks::with(0).day_ns as f64 * 1e-9
}

/// Time between the decision for a start and the start.
const fn lead_ns(farthest_ns: u64) -> u64 {
    SLACK_NS + 2 * farthest_ns
}

/// Who talks to hosts that measure together.
pub(crate) trait Conversation {
    fn hosts(&mut self) -> &mut dyn Hosts;
    fn clock(&mut self, host: usize) -> &mut Clock;
    /// Whether it still takes part.
    fn is_there(&self, host: usize) -> bool;
    fn hear(&mut self, host: usize, heard: Heard) -> Result<(), Failure>;
    fn lose(&mut self, host: usize, failure: HostFailure) -> Result<(), Failure>;
}

/// Asks hosts that wait for the time, all at once and several times.
pub(crate) fn synchronise(
    talk: &mut impl Conversation,
    hosts: &[usize],
) -> Result<(), Failure> {
    hosts.iter().for_each(|host| talk.clock(*host).round_trip_ns = 0);
    for _ in 0..TRIES {
        look(talk, hosts)?;
    }
    // Nobody knows what a start would be by its clock.
    let seconds = TELLING_NS / 1_000_000_000;
    for host in hosts.iter().copied() {
        if talk.clock(host).bound_ns == 0 {
            talk.lose(host, HostFailure::Overdue { seconds })?;
        }
    }
    Ok(())
}

/// Asks all of these hosts for the time, once.
pub(crate) fn look(talk: &mut impl Conversation, hosts: &[usize]) -> Result<(), Failure> {
    for host in hosts.iter().copied() {
        if talk.is_there(host) {
            let now_ns = talk.hosts().now_ns();
            talk.clock(host).asks(now_ns);
            talk.hosts().report(host, &Request::Clock);
        }
    }
    let end_ns = talk.hosts().now_ns() + TELLING_NS;
    let mut silent = hosts;
    loop {
        // Who has answered stays so: looking at all of them for every answer would cost as the square of their number.
        while let [first, rest @ ..] = silent
            && (talk.clock(*first).asked.is_empty() || !talk.is_there(*first))
        {
            silent = rest;
        }
        if silent.is_empty() || talk.hosts().now_ns() >= end_ns {
            return Ok(());
        }
        if let Some((host, heard)) = talk.hosts().hear(Duration::from_millis(20)) {
            talk.hear(host, heard)?;
        }
    }
}

/// A moment that all of these hosts still hear of in time.
pub(crate) fn next_start_ns(talk: &mut impl Conversation, hosts: &[usize]) -> u64 {
    let farthest_ns = hosts.iter().map(|host| talk.clock(*host).round_trip_ns).max();
    talk.hosts().now_ns() + lead_ns(farthest_ns.unwrap_or(0))
}

/// Has a host start at a moment of ours.
pub(crate) fn start(talk: &mut impl Conversation, host: usize, at_ns: u64) {
    let theirs_ns = talk.clock(host).theirs(at_ns);
    talk.clock(host).start_ns = theirs_ns;
    talk.hosts().report(host, &Request::Start(theirs_ns));
}

/// From the first start of several hosts to the last and how well that is known, in seconds, where each was late by
/// so much within its bound.
pub(crate) fn skew_s(late_s: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let first_s = late_s.clone().map(|it| it.0).fold(f64::INFINITY, f64::min);
    let last_s = late_s.clone().map(|it| it.0).fold(f64::NEG_INFINITY, f64::max);
    (last_s - first_s, 2.0 * late_s.map(|it| it.1).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_of_the_day_that_is_set_back_moves_no_start() {
        const AHEAD_NS: u64 = 5_000_000_000;
        const HOUR_NS: u64 = 3_600_000_000_000;
        let now_ns = Clocks::with(0).day_ns;
        let mut clock = Clock::default();
        let mut ask = |at_ns: u64, day_ns: u64| {
            clock.round_trip_ns = 0;
            clock.asks(at_ns);
            let theirs = Clocks { day_ns, measuring_ns: at_ns + 500 + AHEAD_NS };
            clock.answered(theirs, at_ns + 1000);
            (clock.theirs(7_000_000_000), clock.of_day().seconds, clock.stepped())
        };
        let (before, day_s, none) = ask(1_000_000_000, now_ns);
        // Two seconds, by which time servers are a millisecond ahead.
        let (after, day_back_s, set) = ask(3_000_000_000, now_ns + 2_001_000_000 - HOUR_NS);
        let (_, _, slewed) = ask(1_003_000_000_000, now_ns + 1_002_501_000_000 - HOUR_NS);
        let Some(Doubt::ClockStepped { seconds }) = set else { panic!("{set:?}") };
        assert!((seconds + 3600.0).abs() < 0.01 && (none, slewed) == (None, None));
        assert_eq!((before, after), (12_000_000_000, 12_000_000_000));
        // Said in the record, and no moment is counted from it.
        assert!(day_s.abs() < 600.0 && (day_back_s + 3600.0).abs() < 600.0);
    }
}
