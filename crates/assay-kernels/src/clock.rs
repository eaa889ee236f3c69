//! Clock of all measurements: one monotonic reading in nanoseconds, and the cost of that reading.
//!
//! `CLOCK_MONOTONIC_RAW` is used because NTP never slews it: a second has the same length at the
//! start and at the end of a run. Not for the time of day.

/// Name of the clock as stored with a run.
pub const NAME: &str = "CLOCK_MONOTONIC_RAW";

/// Readings taken to find the smallest step; a few milliseconds of work on any machine.
const STEP_READINGS: usize = 100_000;
/// Batches whose median gives the cost; odd, so that the median is one of them.
const COST_BATCHES: usize = 101;
/// Readings per batch, so that the two outer readings are a thousandth of the batch.
const READINGS_PER_BATCH: u32 = 1000;

/// Measured properties of the clock on this machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockProperties {
    /// Smallest positive difference between two consecutive readings, in nanoseconds.
    pub resolution_ns: u64,
    /// Median time of one reading, in nanoseconds.
    pub cost_ns: f64,
    /// Name of the clock, see [`NAME`].
    pub name: &'static str,
}

/// Returns the clock's reading in nanoseconds since an arbitrary, fixed moment.
#[inline]
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable `timespec`, and the call keeps no pointer to it. Its
    // result is ignored: it can fail only for an unknown clock, and Linux has this one since
    // 2.6.28.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut time) };
    // Both fields are non-negative for a monotonic clock.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the seconds between two readings; zero when `end_ns` is before `start_ns`.
#[inline]
pub fn seconds_between(start_ns: u64, end_ns: u64) -> f64 {
    end_ns.saturating_sub(start_ns) as f64 * 1e-9
}

/// Measures the clock's resolution and cost. Takes a few milliseconds.
pub fn measure_properties() -> ClockProperties {
    ClockProperties {
        resolution_ns: smallest_step_ns(),
        cost_ns: median_reading_cost_ns(),
        name: NAME,
    }
}

/// Returns the smallest positive difference of consecutive readings. A coarse clock (a tick of
/// milliseconds) may not advance during the fixed number of readings, so it reads until the clock
/// has advanced once.
fn smallest_step_ns() -> u64 {
    let mut smallest = u64::MAX;
    let mut before = now_ns();
    let mut readings = 0;
    while readings < STEP_READINGS || smallest == u64::MAX {
        let now = now_ns();
        if now > before {
            smallest = smallest.min(now - before);
        }
        before = now;
        readings += 1;
    }
    smallest
}

fn median_reading_cost_ns() -> f64 {
    let mut batches: Vec<u64> = (0..COST_BATCHES).map(|_| batch_ns()).collect();
    batches.sort_unstable();
    batches[COST_BATCHES / 2] as f64 / f64::from(READINGS_PER_BATCH)
}

fn batch_ns() -> u64 {
    let start = now_ns();
    for _ in 1..READINGS_PER_BATCH {
        std::hint::black_box(now_ns());
    }
    now_ns() - start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_never_go_back() {
        let readings: Vec<u64> = (0..10_000).map(|_| now_ns()).collect();
        assert!(readings.is_sorted());
    }

    #[test]
    fn measures_resolution_and_cost() {
        let character = measure_properties();
        assert!(character.resolution_ns > 0, "{character:?}");
        assert!(character.cost_ns > 0.0, "{character:?}");
    }

    #[test]
    fn differences_are_in_seconds_and_never_negative() {
        for (start_ns, end_ns, seconds) in
            [(0, 1_500_000_000, 1.5), (7, 7, 0.0), (10, 9, 0.0), (1_000, 2_000, 1e-6)]
        {
            assert!((seconds_between(start_ns, end_ns) - seconds).abs() < 1e-15);
        }
    }
}
