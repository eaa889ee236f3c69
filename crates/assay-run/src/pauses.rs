//! Detects time without measurement, when the process was stopped or the machine suspended, steps
//! of the clock, and the removal of CPUs from the process.
//!
//! A thread wakes four times a second and compares clocks and CPUs. It measures nothing and ends no
//! case.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use assay_kernels::pin;
use assay_model::doubt::Doubt;
use assay_model::poisoned_lock::PoisonedLock as _;
use rustix::time::{ClockId, clock_gettime};

use crate::background_thread::BackgroundThread;

/// Interval of the checks; four wake-ups a second take some ten microseconds of CPU.
const PERIOD_S: f64 = 0.25;
/// Shortest pause that counts: a busy machine delays a thread by tenths of a second. Longer gaps
/// have another cause, or are as harmful.
const PAUSE_S: f64 = 1.0;
/// Shortest gap that counts if gaps are this share of a case, as in a short case.
const SHORT_PAUSE_S: f64 = 0.25;
const SHARE_OF_CASE: f64 = 0.5;
/// Smallest step of the clock: time servers slew it, and a larger change between two checks means
/// that it was set.
pub(crate) const STEP_S: f64 = 0.5;

/// Readings of three clocks at one moment, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ClockReadings {
    /// Clock that stops while the machine is suspended.
    monotonic_s: f64,
    /// Clock that includes suspended time.
    boot_s: f64,
    /// Wall clock.
    real_s: f64,
}

/// Detected events since they were last taken.
#[derive(Debug, Clone, Default, PartialEq)]
struct PauseCounts {
    pauses: u64,
    paused_s: f64,
    short_pauses: u64,
    short_s: f64,
    suspended_s: f64,
    stepped_s: f64,
    cpus_removed: Vec<u32>,
}

/// Last readings and detected events.
#[derive(Debug)]
struct PauseState {
    /// Readings at the last call of [`PauseWatch::take_doubts`].
    taken: ClockReadings,
    before: ClockReadings,
    found: PauseCounts,
}

/// Watching thread; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct PauseWatch {
    state: Arc<Mutex<PauseState>>,
    _thread: Option<BackgroundThread>,
}

impl PauseWatch {
    /// Starts the watch; without a thread nothing is detected.
    pub(crate) fn start() -> Self {
        let now = ClockReadings::now();
        let state = PauseState { taken: now, before: now, found: PauseCounts::default() };
        let state = Arc::new(Mutex::new(state));
        let to = Arc::clone(&state);
        let work = move |stop: &AtomicBool| {
            // This thread is not pinned, so that its CPUs are those of the process.
            let mut cpus = pin::allowed_cpus().unwrap_or_default();
            while !stop.load(Ordering::Relaxed) {
                thread::park_timeout(Duration::from_secs_f64(PERIOD_S));
                let now = pin::allowed_cpus().unwrap_or_else(|_| cpus.clone());
                let mut state = to.lock().even_if_poisoned();
                state.update();
                state.found.cpus_removed.extend(removed_cpus(&cpus, &now));
                cpus = now;
            }
        };
        Self { state, _thread: BackgroundThread::start("pauses", work).ok() }
    }

    /// Returns doubts about the time since the last call.
    pub(crate) fn take_doubts(&self) -> Vec<Doubt> {
        let mut state = self.state.lock().even_if_poisoned();
        // After a pause the thread may not have run yet.
        state.update();
        let elapsed_s = state.before.boot_s - state.taken.boot_s;
        state.taken = state.before;
        std::mem::take(&mut state.found).doubts(elapsed_s)
    }
}

/// CPUs that are no longer available.
fn removed_cpus(before: &[usize], now: &[usize]) -> Vec<u32> {
    let gone = before.iter().filter(|cpu| !now.contains(cpu));
    gone.filter_map(|cpu| u32::try_from(*cpu).ok()).collect()
}

impl ClockReadings {
    fn now() -> Self {
        let read = |clock| {
            let reported = clock_gettime(clock);
            reported.tv_sec as f64 + reported.tv_nsec as f64 * 1e-9
        };
        // Uses the clock of all stored times.
        let real = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            monotonic_s: read(ClockId::Monotonic),
            boot_s: read(ClockId::Boottime),
            real_s: real
                .map_or_else(|before| -before.duration().as_secs_f64(), |it| it.as_secs_f64()),
        }
    }

    /// Step of the wall clock since this reading, if it was set.
    fn step_s(self, now: Self) -> f64 {
        let set_s = (now.real_s - self.real_s) - (now.boot_s - self.boot_s);
        if set_s.abs() >= STEP_S { set_s } else { 0.0 }
    }
}

/// Watch of the wall clock alone, without a thread, for callers that check it often.
#[derive(Debug)]
pub(crate) struct WallClockWatch {
    before: ClockReadings,
    step_s: f64,
}

impl WallClockWatch {
    pub(crate) fn start() -> Self {
        Self { before: ClockReadings::now(), step_s: 0.0 }
    }

    pub(crate) fn update(&mut self) {
        let now = ClockReadings::now();
        self.step_s += self.before.step_s(now);
        self.before = now;
    }

    /// Doubt about the clock, if it was set.
    pub(crate) fn doubt(&self) -> Option<Doubt> {
        clock_step_doubt(self.step_s)
    }
}

/// Returns a doubt about a step of the clock; steps that cancel out are none.
pub(crate) fn clock_step_doubt(seconds: f64) -> Option<Doubt> {
    (seconds.abs() >= STEP_S).then_some(Doubt::ClockStepped { seconds })
}

impl PauseState {
    fn update(&mut self) {
        let now = ClockReadings::now();
        self.found.add(self.before, now);
        self.before = now;
    }
}

impl PauseCounts {
    /// Adds the events between two wake-ups.
    fn add(&mut self, before: ClockReadings, now: ClockReadings) {
        let waited_s = now.monotonic_s - before.monotonic_s;
        let suspended_s = (now.boot_s - before.boot_s) - waited_s;
        let lost_s = (waited_s - PERIOD_S).max(0.0) + suspended_s;
        if lost_s >= PAUSE_S {
            self.pauses += 1;
            self.paused_s += lost_s;
            self.suspended_s += suspended_s.max(0.0);
        } else if lost_s >= SHORT_PAUSE_S {
            self.short_pauses += 1;
            self.short_s += lost_s;
        }
        self.stepped_s += before.step_s(now);
    }

    /// Doubts about a case or run of this duration.
    fn doubts(self, elapsed_s: f64) -> Vec<Doubt> {
        let Self { suspended_s, stepped_s, cpus_removed: cpus_taken, .. } = self;
        let (all, all_s) = (self.pauses + self.short_pauses, self.paused_s + self.short_s);
        let (times, seconds) = match all_s >= SHARE_OF_CASE * elapsed_s {
            true => (all, all_s),
            false => (self.pauses, self.paused_s),
        };
        let paused = (times > 0).then_some(Doubt::Paused { times, seconds, suspended_s });
        let taken = (!cpus_taken.is_empty()).then_some(Doubt::CpusTaken { cpus: cpus_taken });
        paused.into_iter().chain(clock_step_doubt(stepped_s)).chain(taken).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_removed_cpus_only() {
        for (before, now, expected) in [
            (&[0, 1, 2][..], &[0, 1, 2][..], &[][..]),
            (&[0, 1, 2], &[1], &[0, 2]),
            (&[0], &[0, 1], &[]),
        ] {
            assert_eq!(removed_cpus(before, now), expected);
        }
        let found = PauseCounts { cpus_removed: vec![3], ..PauseCounts::default() };
        assert_eq!(found.doubts(10.0), [Doubt::CpusTaken { cpus: vec![3] }]);
    }

    #[test]
    fn classifies_gaps() {
        let before = ClockReadings { monotonic_s: 10.0, boot_s: 12.0, real_s: 1000.0 };
        let after = |monotonic_s, boot_s, real_s| ClockReadings {
            monotonic_s: before.monotonic_s + monotonic_s,
            boot_s: before.boot_s + boot_s,
            real_s: before.real_s + real_s,
        };
        for (now, expected) in [
            (after(0.25, 0.25, 0.25), vec![]),
            // Delay on a busy machine.
            (after(0.75, 0.75, 0.75), vec![]),
            // Process stopped for two seconds.
            (
                after(2.25, 2.25, 2.25),
                vec![Doubt::Paused { times: 1, seconds: 2.0, suspended_s: 0.0 }],
            ),
            // Machine suspended for an hour.
            (
                after(0.25, 3600.25, 3600.25),
                vec![Doubt::Paused { times: 1, seconds: 3600.0, suspended_s: 3600.0 }],
            ),
            (after(0.25, 0.25, -59.75), vec![Doubt::ClockStepped { seconds: -60.0 }]),
        ] {
            let mut found = PauseCounts::default();
            found.add(before, now);
            assert_eq!(found.doubts(10.0), expected, "{now:?}");
        }
    }

    #[test]
    fn short_gap_counts_in_short_case() {
        let before = ClockReadings { monotonic_s: 10.0, boot_s: 12.0, real_s: 1000.0 };
        for (gap_s, case_s, expected) in [
            (0.75, 0.9, Some(0.5)),
            (0.75, 1.0, Some(0.5)),
            (0.75, 1.1, None),
            // Slightly late wake-up.
            (0.45, 0.3, None),
        ] {
            let mut found = PauseCounts::default();
            let now = ClockReadings {
                monotonic_s: before.monotonic_s + gap_s,
                boot_s: before.boot_s + gap_s,
                real_s: before.real_s + gap_s,
            };
            found.add(before, now);
            let paused = |seconds| Doubt::Paused { times: 1, seconds, suspended_s: 0.0 };
            let expected: Vec<Doubt> = expected.map(paused).into_iter().collect();
            assert_eq!(found.doubts(case_s), expected, "{gap_s} {case_s}");
        }
    }
}
