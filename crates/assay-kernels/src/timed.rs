//! Timed pass: the only code that starts and stops the clock around a team.
//!
//! Every member waits at the start line, reads the clock, does its part and reads the clock again.
//! The time of the pass is the last member's end minus the first member's start, so it includes
//! neither waking nor collecting the members. The caller decides how often to repeat.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::barrier::{Barrier, CachePadded};
use crate::clock;
use crate::team::Team;

/// Team with a start line and every member's two clock readings.
#[derive(Debug)]
pub struct TimedTeam {
    team: Team,
    start_line: Barrier,
    readings: Vec<CachePadded<MemberReadings>>,
}

/// Clock readings of one member in the last pass, in nanoseconds.
#[derive(Debug, Default)]
struct MemberReadings {
    start_ns: AtomicU64,
    end_ns: AtomicU64,
}

impl TimedTeam {
    /// Starts a team on these CPUs; see [`Team::new`].
    ///
    /// # Errors
    /// The errors of [`Team::new`].
    pub fn new(cpus: &[usize]) -> io::Result<Self> {
        let team = Team::new(cpus)?;
        let start_line = team.barrier();
        let spans = cpus.iter().map(|_| CachePadded::default()).collect();
        Ok(Self { team, start_line, readings: spans })
    }

    /// Returns the team, for work that is not timed.
    pub fn team(&mut self) -> &mut Team {
        &mut self.team
    }

    /// Returns the number of members, at least 1.
    pub fn members(&self) -> usize {
        self.team.len()
    }

    /// Runs `part(member)` on all members from a common start. Returns the seconds from the first
    /// start to the last end.
    ///
    /// # Panics
    /// When a part panics; the timed team cannot be used any more then.
    pub fn pass<F: Fn(usize) + Sync>(&mut self, part: F) -> f64 {
        let (start_line, spans) = (&self.start_line, &self.readings);
        self.team.run(|member| {
            start_line.wait();
            let start_ns = clock::now_ns();
            part(member);
            let end_ns = clock::now_ns();
            spans[member].0.start_ns.store(start_ns, Ordering::Relaxed);
            spans[member].0.end_ns.store(end_ns, Ordering::Relaxed);
        });
        self.members_s(0..self.members())
    }

    /// Returns the duration of the last pass for these members alone: seconds from their first
    /// start to their last end.
    ///
    /// # Panics
    /// When there are no such members.
    pub fn members_s(&self, members: Range<usize>) -> f64 {
        let spans = &self.readings[members];
        let readings = |read: fn(&MemberReadings) -> &AtomicU64| {
            spans.iter().map(move |span| read(&span.0).load(Ordering::Relaxed))
        };
        let first_start_ns = readings(|span| &span.start_ns).min().unwrap_or(0);
        let last_end_ns = readings(|span| &span.end_ns).max().unwrap_or(0);
        clock::seconds_between(first_start_ns, last_end_ns)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::pin;

    #[test]
    fn pass_covers_every_part() {
        let cpus: Vec<usize> =
            pin::allowed_cpus().unwrap().into_iter().cycle().take(3).collect();
        let mut team = TimedTeam::new(&cpus).unwrap();
        for _ in 0..20 {
            let parts = Mutex::new(Vec::new());
            let outer_start_ns = clock::now_ns();
            let seconds = team.pass(|_| {
                let start_ns = clock::now_ns();
                parts.lock().unwrap().push((start_ns, clock::now_ns()));
            });
            let outer_s = clock::seconds_between(outer_start_ns, clock::now_ns());
            let parts = parts.into_inner().unwrap();
            let first = parts.iter().map(|part| part.0).min().unwrap();
            let last = parts.iter().map(|part| part.1).max().unwrap();
            assert_eq!(parts.len(), 3);
            assert!(clock::seconds_between(first, last) <= seconds);
            assert!((0..3).all(|member| team.members_s(member..member + 1) <= seconds));
            assert!(seconds <= outer_s);
        }
    }
}
