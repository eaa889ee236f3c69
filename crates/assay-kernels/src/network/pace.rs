//! Pacing of a sender: due times of its blocks at a given rate, from a fixed start.
//!
//! The schedule is absolute. A late sender catches up, so that the average is kept; a sleep that
//! takes too long delays no later block.

use std::thread;
use std::time::Duration;

use crate::clock;

/// Rate to keep, on average since the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SendRate {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Blocks that are sent without a pause; at least one.
    pub burst: u32,
}

/// Schedule of one sender.
#[derive(Debug)]
pub(super) struct SendSchedule {
    pace: SendRate,
    start_ns: u64,
    blocks_left: u32,
}

/// Length of a wait that is spun at its end: a sleep ends some 50 µs of timer slack plus the
/// wake-up too late.
const SPIN_NS: u64 = 60_000;

impl SendSchedule {
    pub(super) fn new(pace: SendRate) -> Self {
        Self { pace, start_ns: clock::now_ns(), blocks_left: 0 }
    }

    /// Waits until the next block is due after `sent_bytes`. False if `is_over` returns true first.
    pub(super) fn wait(&mut self, sent_bytes: u64, is_over: impl Fn() -> bool) -> bool {
        if self.blocks_left > 0 {
            self.blocks_left -= 1;
            return !is_over();
        }
        self.blocks_left = self.pace.burst.max(1) - 1;
        let due_ns =
            self.start_ns.saturating_add(due_after_ns(self.pace.bytes_per_s, sent_bytes));
        loop {
            let now_ns = clock::now_ns();
            if is_over() {
                return false;
            }
            if now_ns >= due_ns {
                return true;
            }
            sleep_towards(due_ns - now_ns);
        }
    }
}

/// Returns the nanoseconds from the start at which `sent_bytes` should have been sent: sent / rate.
fn due_after_ns(bytes_per_s: f64, sent_bytes: u64) -> u64 {
    let due_s = sent_bytes as f64 / bytes_per_s;
    // A rate near zero gives times beyond any test; the cast saturates.
    (due_s * 1e9) as u64
}

fn sleep_towards(left_ns: u64) {
    /// Longest single sleep, so that a stopped sender ends soon.
    const LONGEST_NS: u64 = 50_000_000;
    if left_ns > SPIN_NS {
        thread::sleep(Duration::from_nanos((left_ns - SPIN_NS).min(LONGEST_NS)));
    } else {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_due_at_the_rate() {
        for (bytes_per_s, sent_bytes, due_ns) in [
            (1e6, 0, 0),
            (1e6, 1000, 1_000_000),
            (25e6, 25_000_000, 1_000_000_000),
            (1e-300, 1, u64::MAX),
        ] {
            assert_eq!(due_after_ns(bytes_per_s, sent_bytes), due_ns);
        }
    }

    #[test]
    fn waits_once_per_burst_and_stops_while_waiting() {
        let mut schedule = SendSchedule::new(SendRate { bytes_per_s: 1e3, burst: 3 });
        assert!((0..3).all(|_| schedule.wait(0, || false)));
        assert!(!schedule.wait(1 << 40, || true), "told to stop while waiting");
    }

    #[test]
    fn due_time_beyond_the_clock_is_never_reached() {
        let mut schedule = SendSchedule::new(SendRate { bytes_per_s: 1.0 / 320.0, burst: 1 });
        assert!(!schedule.wait(64 << 20, || true));
    }
}
