//! Latency between two cores: two pinned threads hand one cache line back and forth by
//! compare-and-swap, and time over hand-overs is the latency of one.
//!
//! **Waiting.** A thread repeats its compare-and-swap until it succeeds, without a pause: a pause
//! instruction takes longer than a hand-over within one core.
//!
//! **Line.** Repetitions use the lines of a mapping in turn, because the part of the last-level cache
//! that keeps a line follows from its address. The first thread touches the mapping, so that its
//! pages are near that thread's CPU.
//!
//! **Time.** A repetition has as many hand-overs as take 100 µs. Threads whose virtual CPUs share one
//! physical CPU need a time slice for each hand-over, so the number begins at a few. A pair that was
//! measured before begins at its number, which a single pass checks.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::clock;
use crate::mapping::{MapError, Mapping, PageAdvice};
use crate::timed::TimedTeam;

/// Minimum length of a repetition: a thousand times the cost of two readings of the clock.
const REPETITION_S: f64 = 100e-6;
/// Round trips of the first pass.
const FIRST_ROUND_TRIPS: u64 = 16;
/// Passes that must all be long enough before the number of round trips is accepted.
const CALIBRATION_PASSES: usize = 2;
/// Minimum time of the calibration: a core that was idle takes about a millisecond to its clock.
const WARM_UP_S: f64 = 2e-3;
/// Distance of the lines, since Intel's spatial prefetcher fetches lines in pairs.
const LINE_BYTES: usize = 128;
/// Number of lines: one page of 4 KiB.
const LINES: usize = 32;

/// Two pinned threads and the lines that they hand over.
#[derive(Debug)]
pub struct CorePair {
    team: TimedTeam,
    lines: Mapping,
    /// Line of the next repetition.
    next_line: usize,
    round_trips: u64,
}

impl CorePair {
    /// Starts a thread on each CPU, touches the lines on the first one, and determines the number of
    /// hand-overs of a repetition. `accepted` is the number of round trips that this pair had before.
    ///
    /// # Errors
    /// [`CoreToCoreError`]: a CPU or memory is unavailable, a hand-over was lost, or it was cancelled.
    pub fn prepare(
        cpus: [usize; 2],
        accepted: Option<u64>,
        cancel: &AtomicBool,
    ) -> Result<Self, CoreToCoreError> {
        let mut team = TimedTeam::new(&cpus).map_err(CoreToCoreError::StartThreads)?;
        let lines = Mapping::new(LINES * LINE_BYTES, PageAdvice::Default)
            .map_err(CoreToCoreError::MapLines)?;
        team.team().run(|member| {
            if member == 0 {
                (0..LINES).for_each(|line| turn_word(&lines, line).store(0, Ordering::Relaxed));
            }
        });
        let round_trips = accepted.unwrap_or(FIRST_ROUND_TRIPS);
        let mut pair = Self { team, lines, next_line: 0, round_trips };
        let is_known = accepted.is_some() && pair.pass_s()? >= REPETITION_S;
        if !is_known {
            pair.calibrate(cancel)?;
        }
        Ok(pair)
    }

    /// Returns the number of round trips in one repetition, for the next preparation of this pair.
    pub fn round_trips(&self) -> u64 {
        self.round_trips
    }

    /// Returns the number of hand-overs in one repetition.
    pub fn hand_overs_per_repetition(&self) -> u64 {
        2 * self.round_trips
    }

    /// Hands the next line over. Returns seconds per hand-over.
    ///
    /// # Errors
    /// [`CoreToCoreError::WrongCount`] when the line was not handed over as often as counted.
    pub fn repetition(&mut self) -> Result<f64, CoreToCoreError> {
        Ok(self.pass_s()? / self.hand_overs_per_repetition() as f64)
    }

    fn calibrate(&mut self, cancel: &AtomicBool) -> Result<(), CoreToCoreError> {
        let (began_ns, mut long_passes) = (clock::now_ns(), 0);
        let is_warm = || clock::seconds_between(began_ns, clock::now_ns()) >= WARM_UP_S;
        while long_passes < CALIBRATION_PASSES || !is_warm() {
            if cancel.load(Ordering::Relaxed) {
                return Err(CoreToCoreError::Cancelled);
            }
            if self.pass_s()? >= REPETITION_S {
                long_passes += 1;
            } else {
                (self.round_trips, long_passes) = (2 * self.round_trips, 0);
            }
        }
        Ok(())
    }

    fn pass_s(&mut self) -> Result<f64, CoreToCoreError> {
        let turn = turn_word(&self.lines, self.next_line);
        turn.store(0, Ordering::Relaxed);
        let round_trips = self.round_trips;
        let seconds = self.team.pass(|member| take_turns(turn, member as u64, round_trips));
        let counted = turn.load(Ordering::Relaxed);
        let expected = self.hand_overs_per_repetition();
        if counted != expected {
            return Err(CoreToCoreError::WrongCount { counted, expected });
        }
        self.next_line = (self.next_line + 1) % LINES;
        Ok(seconds)
    }
}

/// Counter of the hand-overs of one line; the thread whose turn it is increments it.
fn turn_word(lines: &Mapping, line: usize) -> &AtomicU64 {
    debug_assert!(line < LINES);
    // SAFETY: the mapping holds `LINES` lines and is aligned to more than a word; while it is
    // borrowed, all accesses to it are these atomic ones.
    unsafe { AtomicU64::from_ptr(lines.as_ptr().add(line * LINE_BYTES).cast()) }
}

/// Takes every second turn, `turns` times, from turn `next` on.
#[inline(never)]
fn take_turns(turn: &AtomicU64, mut next: u64, turns: u64) {
    for _ in 0..turns {
        while turn
            .compare_exchange(next, next + 1, Ordering::AcqRel, Ordering::Relaxed)
            .is_err()
        {}
        next += 2;
    }
}

/// Error of preparing two cores, or of their hand-overs.
#[derive(Debug, thiserror::Error)]
pub enum CoreToCoreError {
    /// A pinned thread could not be started.
    #[error("cannot start the threads")]
    StartThreads(#[source] io::Error),
    /// The memory of the lines could not be mapped.
    #[error("cannot map the memory of the cache lines")]
    MapLines(#[source] MapError),
    /// The caller cancelled the preparation.
    #[error("the measurement was cancelled")]
    Cancelled,
    /// The line was not handed over as often as counted.
    #[error("wrong number of hand-overs: counted {counted}, expected {expected}")]
    WrongCount {
        /// Hand-overs according to the line.
        counted: u64,
        /// Hand-overs of both threads.
        expected: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pin;

    #[test]
    fn cancelled_preparation_ends() {
        let cpus = pin::allowed_cpus().unwrap();
        let last = cpus[cpus.len() - 1];
        let outcome = CorePair::prepare([cpus[0], last], None, &AtomicBool::new(true));
        assert!(matches!(outcome, Err(CoreToCoreError::Cancelled)), "{outcome:?}");
    }

    #[test]
    fn counts_every_hand_over() {
        let cpus = pin::allowed_cpus().unwrap();
        let [first, second, ..] = cpus[..] else {
            println!("SKIPPED counts_every_hand_over: one CPU");
            return;
        };
        for cpus in [[first, second], [second, first]] {
            let mut pair = CorePair::prepare(cpus, None, &AtomicBool::new(false)).unwrap();
            for _ in 0..=LINES {
                assert!(pair.repetition().unwrap() > 0.0);
            }
            assert!(pair.hand_overs_per_repetition() >= 2 * FIRST_ROUND_TRIPS);
        }
    }

    #[test]
    fn accepted_round_trips_are_the_start() {
        let cpus = pin::allowed_cpus().unwrap();
        let [first, second, ..] = cpus[..] else {
            println!("SKIPPED accepted_round_trips_are_the_start: one CPU");
            return;
        };
        let accepted = 4 * CorePair::prepare([first, second], None, &AtomicBool::new(false))
            .unwrap()
            .round_trips();
        let mut pair =
            CorePair::prepare([first, second], Some(accepted), &AtomicBool::new(false))
                .unwrap();
        assert!(pair.round_trips() >= accepted, "{} {accepted}", pair.round_trips());
        assert!(pair.repetition().unwrap() > 0.0);
    }

    #[test]
    fn threads_take_every_second_turn() {
        let turn = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| take_turns(&turn, 1, 50));
            take_turns(&turn, 0, 50);
        });
        assert_eq!(turn.into_inner(), 100);
    }

    #[test]
    fn rejects_missing_cpu() {
        let first = pin::allowed_cpus().unwrap()[0];
        let refused = CorePair::prepare([first, 8191], None, &AtomicBool::new(false));
        assert!(matches!(refused, Err(CoreToCoreError::StartThreads(_))), "{refused:?}");
    }
}
