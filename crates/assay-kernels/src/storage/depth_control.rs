//! Depth of a stream that keeps a latency: the search of fio 3.33 (`lat_target_*` in `io_u.c`). It
//! doubles the depth until a window fails, and then halves the distance between the depths that
//! succeeded and failed. At the depth that remains, one window is measured.

use assay_model::workload::storage::{LatencyTarget, StreamBehavior};

/// Search for a depth.
#[derive(Debug)]
pub(super) struct DepthControl {
    goal: LatencyTarget,
    /// Depth of the stream.
    most: u32,
    depth: u32,
    /// Depths of the last window that succeeded, and of the one that failed.
    low: u32,
    high: u32,
    /// Windows that succeeded without a new depth.
    stable: u32,
    /// I/O of this window, and those that were too slow.
    ios: u64,
    slow_ios: u64,
    window_from_ns: Option<u64>,
    is_last_window: bool,
    /// Step that an I/O of this window caused.
    pending: Option<DepthStep>,
}

/// Step of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DepthStep {
    /// The depth was lowered: all I/O in flight is completed first.
    Lowered,
    /// The depth was raised, or stays.
    Raised,
    /// The search is over: what was measured until now does not count.
    Found,
    /// The window at the depth that was found is over.
    Done,
    /// An I/O is too slow even at depth 1.
    Missed,
}

impl DepthControl {
    const fn new(goal: LatencyTarget, most: u32) -> Self {
        Self {
            goal,
            most,
            depth: 1,
            low: 1,
            high: most,
            stable: 0,
            ios: 0,
            slow_ios: 0,
            window_from_ns: None,
            is_last_window: false,
            pending: None,
        }
    }

    /// Returns the search of a stream of this depth, if it keeps a latency.
    pub(super) fn of_stream(conduct: &StreamBehavior, most: u32) -> Option<Self> {
        conduct.latency_goal.as_deref().map(|goal| Self::new(*goal, most))
    }

    /// Returns the maximum number of I/O in flight now.
    pub(super) const fn depth(&self) -> u32 {
        self.depth
    }

    /// Counts a completed I/O.
    pub(super) fn note_io(&mut self, service_ns: u64) {
        self.ios += 1;
        if service_ns <= self.goal.most_ns || self.pending.is_some() {
            return;
        }
        if self.goal.percent < 100.0 {
            self.slow_ios += 1;
        } else {
            self.pending = Some(self.lower());
        }
    }

    /// Returns the step that is due, if any.
    pub(super) fn next_step(&mut self, now_ns: u64) -> Option<DepthStep> {
        if let Some(step) = self.pending.take() {
            return Some(step);
        }
        let from_ns = *self.window_from_ns.get_or_insert(now_ns);
        if now_ns.saturating_sub(from_ns) < self.goal.window_ns || self.ios == 0 {
            return None;
        }
        let good_ios = self.ios.saturating_sub(self.slow_ios) as f64;
        if 100.0 * good_ios / self.ios as f64 >= self.goal.percent {
            return Some(self.raise());
        }
        // At depth 1, fio waits for a better window.
        Some(self.lower()).filter(|step| *step != DepthStep::Missed)
    }

    /// Begins another window.
    pub(super) const fn begin_window(&mut self, now_ns: u64) {
        self.window_from_ns = Some(now_ns);
        (self.ios, self.slow_ios) = (0, 0);
    }

    fn lower(&mut self) -> DepthStep {
        if self.depth == 1 {
            return DepthStep::Missed;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = u32::midpoint(self.depth, self.low).max(1);
        self.stable = 0;
        DepthStep::Lowered
    }

    fn raise(&mut self) -> DepthStep {
        let before = self.depth;
        self.low = self.depth;
        if self.depth + 1 == self.high {
            self.stable += 1;
            if self.stable >= 3 {
                self.high += 1;
                self.stable = 0;
            }
        }
        let next = match self.high == self.most {
            true => self.depth.saturating_mul(2),
            false => u32::midpoint(self.depth, self.high),
        };
        self.depth = next.min(self.most);
        if self.goal.keeps_adjusting || self.depth != before {
            return DepthStep::Raised;
        }
        match std::mem::replace(&mut self.is_last_window, true) {
            true => DepthStep::Done,
            false => DepthStep::Found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs windows of 100 I/O whose latency is 10 µs per I/O in flight; returns the depths.
    fn search(most_ns: u64, percent: f64, keeps_adjusting: bool) -> (Vec<u32>, DepthStep) {
        let goal = LatencyTarget { most_ns, window_ns: 1000, percent, keeps_adjusting };
        let mut control = DepthControl::new(goal, 64);
        let mut depths = vec![];
        for window in 0..40 {
            control.begin_window(window * 10_000);
            depths.push(control.depth());
            for _ in 0..100 {
                control.note_io(u64::from(control.depth()) * 10_000);
            }
            match control.next_step(window * 10_000 + 1000) {
                Some(step @ (DepthStep::Done | DepthStep::Missed)) => return (depths, step),
                Some(_) => {}
                None => panic!("a window is over: {depths:?}"),
            }
        }
        (depths, DepthStep::Raised)
    }

    #[test]
    fn largest_depth_within_the_latency_is_found() {
        for percent in [100.0, 99.0] {
            let (depths, step) = search(200_000, percent, false);
            assert_eq!(step, DepthStep::Done);
            assert_eq!(depths[..6], [1, 2, 4, 8, 16, 32], "{percent}");
            // Depth 20 takes 200 µs; the last two windows are at the depth that was found.
            assert!(depths.ends_with(&[20, 20]), "{depths:?}");
        }
        let (depths, step) = search(10_000_000, 100.0, false);
        assert_eq!((depths, step), (vec![1, 2, 4, 8, 16, 32, 64, 64], DepthStep::Done));
        let (depths, step) = search(5_000, 100.0, false);
        assert_eq!((depths, step), (vec![1], DepthStep::Missed));
        let (depths, step) = search(200_000, 100.0, true);
        assert_eq!((depths.len(), step), (40, DepthStep::Raised));
    }

    #[test]
    fn window_has_its_length() {
        let goal = LatencyTarget {
            most_ns: 10,
            window_ns: 100,
            percent: 50.0,
            keeps_adjusting: false,
        };
        let mut control = DepthControl::new(goal, 8);
        assert_eq!(control.next_step(1000), None);
        control.note_io(5);
        control.note_io(50);
        assert_eq!(control.next_step(1099), None);
        assert_eq!(control.next_step(1100), Some(DepthStep::Raised));
    }
}
