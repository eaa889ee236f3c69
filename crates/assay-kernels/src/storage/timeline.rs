//! Times of a phase: start, end of the warm-up, and the intervals of the series.
//!
//! Pure arithmetic on nanoseconds of the clock. No interval crosses the end of the warm-up.

use assay_model::workload::storage::{StorageTiming, StreamBehavior};

/// Times of a phase, the same for all workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timeline {
    /// Earliest start of I/O.
    pub(super) start_ns: u64,
    /// End of the warm-up, after which I/O counts.
    pub(super) warm_end_ns: u64,
    /// Latest end.
    pub(super) deadline_ns: u64,
    interval_ns: u64,
}

/// Interval of the series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IntervalSpan {
    /// Start.
    pub(super) start_ns: u64,
    /// End, exclusive.
    pub(super) end_ns: u64,
    /// Whether it belongs to the warm-up.
    pub(super) warmup: bool,
}

impl Timeline {
    /// Creates the times of a phase that starts at `start_ns`.
    pub(super) fn new(start_ns: u64, timing: StorageTiming) -> Self {
        let warm_end_ns = start_ns.saturating_add(ns(timing.warmup_s));
        let deadline_ns =
            timing.duration_s.map_or(u64::MAX, |s| warm_end_ns.saturating_add(ns(s)));
        // In intervals shorter than a millisecond, the recording itself would dominate.
        let interval_ns = ns(timing.interval_s).max(1_000_000);
        Self { start_ns, warm_end_ns, deadline_ns, interval_ns }
    }

    /// Returns the start of a stream and its latest end, which a warm-up by bytes defers.
    pub(super) fn stream_times(self, conduct: &StreamBehavior) -> (u64, u64) {
        let start_ns = self.start_ns.saturating_add(ns(conduct.start_after_s));
        let duration_s = conduct.duration_s.filter(|_| conduct.warm_up.is_none());
        (start_ns, duration_s.map_or(u64::MAX, |s| start_ns.saturating_add(ns(s))))
    }

    /// Returns the interval with this index.
    pub(super) fn interval(&self, index: usize) -> IntervalSpan {
        let warmup_ns = self.warm_end_ns - self.start_ns;
        let entries = warmup_ns.div_ceil(self.interval_ns);
        let index = index as u64;
        let after =
            |base: u64, count: u64| base.saturating_add(count.saturating_mul(self.interval_ns));
        if index < entries {
            let end_ns = after(self.start_ns, index + 1).min(self.warm_end_ns);
            IntervalSpan { start_ns: after(self.start_ns, index), end_ns, warmup: true }
        } else {
            let start_ns = after(self.warm_end_ns, index - entries);
            let end_ns = after(start_ns, 1);
            IntervalSpan { start_ns, end_ns, warmup: false }
        }
    }
}

/// Converts seconds to nanoseconds; times out of range become the maximum.
pub(super) fn ns(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_interval_crosses_the_end_of_the_warm_up() {
        let timing = |warmup_s| StorageTiming {
            warmup_s,
            duration_s: Some(2.0),
            interval_s: 1.0,
            stop_after_bytes: None,
        };
        for (warmup_s, expected) in [
            (0.0, [(0, 1000, false), (1000, 2000, false), (2000, 3000, false)]),
            (1.5, [(0, 1000, true), (1000, 1500, true), (1500, 2500, false)]),
            (1.0, [(0, 1000, true), (1000, 2000, false), (2000, 3000, false)]),
        ] {
            let timeline = Timeline::new(5_000_000_000, timing(warmup_s));
            let found = [0, 1, 2].map(|index| {
                let span = timeline.interval(index);
                let ms = |ns: u64| (ns - 5_000_000_000) / 1_000_000;
                (ms(span.start_ns), ms(span.end_ns), span.warmup)
            });
            assert_eq!(found, expected, "{warmup_s}");
        }
    }
}
