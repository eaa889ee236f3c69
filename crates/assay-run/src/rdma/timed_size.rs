//! Measures a size for a fixed time (perftest's `-D`), in parts of about a second: both ends learn
//! the number of messages of each part, and compare contents between parts. Parts within the
//! margins do not count.

use std::sync::atomic::AtomicBool;

use assay_kernels::clock;
use assay_kernels::rdma::Endpoint;
use assay_model::workload::RdmaDuration;

use super::wire::MessageChannel;
use super::{RdmaLoad, RdmaTestError, RdmaValues};

/// Intended length of a part in seconds.
const PART_LENGTH_S: f64 = 1.0;
/// Messages of the first part, whose duration is unknown.
const FIRST_ITERATIONS: u64 = 5;
/// Maximum number of messages of a part: about a second of the fastest cards.
const MAX_ITERATIONS: u64 = 1 << 28;

/// Measures a size, and returns the counted messages on each queue pair and their values.
pub(super) fn measure_timed_size(
    end: &mut Endpoint,
    line: &mut MessageChannel,
    (load, bytes, duration): (&RdmaLoad, u64, RdmaDuration),
    cancel: &AtomicBool,
) -> Result<(u64, RdmaValues), RdmaTestError> {
    let borders = CountedSpan::from_duration(duration);
    let began_ns = clock::now_ns();
    let now_s = || clock::seconds_between(began_ns, clock::now_ns());
    let mut iterations = FIRST_ITERATIONS.max(load.depth);
    let mut whole: Option<(u64, RdmaValues)> = None;
    loop {
        let from_s = now_s();
        let values =
            super::measure_size(end, line, (load, &load.pass(bytes, iterations)), cancel)?;
        let to_s = now_s();
        if borders.is_counted(from_s) || whole.is_none() && to_s >= borders.end_s {
            whole = Some(match whole {
                None => (iterations, values),
                Some((before, all)) => (before + iterations, all.concat(values)),
            });
        }
        whole = match whole {
            Some(all) if to_s >= borders.end_s => return Ok(all),
            other => other,
        };
        iterations =
            borders.next_iterations(iterations, (from_s, to_s)).max(load.min_iterations());
    }
}

/// Counted span and end, in seconds after the beginning.
#[derive(Debug, Clone, Copy)]
struct CountedSpan {
    from_s: f64,
    to_s: f64,
    end_s: f64,
}

impl CountedSpan {
    fn from_duration(RdmaDuration { seconds, margin_s }: RdmaDuration) -> Self {
        let (end_s, from_s) = (seconds as f64, margin_s as f64);
        Self { from_s, to_s: end_s - from_s, end_s }
    }

    /// Whether a part that begins at `from_s` counts.
    fn is_counted(&self, from_s: f64) -> bool {
        (self.from_s..self.to_s).contains(&from_s)
    }

    /// Returns the number of messages until the next border, or for one part, at the rate of the
    /// last part.
    fn next_iterations(&self, iterations: u64, (from_s, now_s): (f64, f64)) -> u64 {
        let borders = [self.from_s, self.to_s, self.end_s];
        let next_s = borders.into_iter().find(|border| *border > now_s).unwrap_or(self.end_s);
        let per_s = iterations as f64 / (now_s - from_s).max(1e-9);
        ((next_s - now_s).min(PART_LENGTH_S) * per_s).ceil().clamp(1.0, MAX_ITERATIONS as f64)
            as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates messages of 1 ms each, with parts whose check takes 2 ms.
    #[test]
    fn timed_test_keeps_duration_and_excludes_margins() {
        for (seconds, margin_s, counted) in
            [(10, 2, 6.0), (10, 0, 10.0), (1, 0, 1.0), (5, 1, 3.0)]
        {
            let borders = CountedSpan::from_duration(RdmaDuration { seconds, margin_s });
            let (mut now_s, mut iterations, mut counted_s) = (0.0, FIRST_ITERATIONS, 0.0);
            while now_s < borders.end_s {
                let took_s = iterations as f64 * 1e-3 + 2e-3;
                if borders.is_counted(now_s) {
                    counted_s += took_s;
                }
                now_s += took_s;
                iterations = borders.next_iterations(iterations, (now_s - took_s, now_s));
            }
            assert!((now_s - seconds as f64).abs() < 0.05, "{now_s}");
            assert!((counted_s - counted).abs() < 0.05, "{seconds} {margin_s}: {counted_s}");
        }
    }
}
