//! Waits that an interruption ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Interval of checks for an interruption.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Sleeps for a time, or until the flag is set.
pub(crate) fn wait(time: Duration, cancel: &AtomicBool) {
    let began = Instant::now();
    while !cancel.load(Ordering::Relaxed) {
        let left = time.saturating_sub(began.elapsed());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(CHECK_INTERVAL));
    }
}

/// Sleeps for the pause of a plan. Seconds that no clock can count are no pause.
pub(crate) fn wait_seconds(seconds: f64, cancel: &AtomicBool) {
    wait(Duration::try_from_secs_f64(seconds).unwrap_or_default(), cancel);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_end_with_the_flag_or_have_no_length() {
        wait(Duration::MAX, &AtomicBool::new(true));
        for seconds in [-1.0, f64::NAN, f64::INFINITY] {
            wait_seconds(seconds, &AtomicBool::new(false));
        }
    }
}
