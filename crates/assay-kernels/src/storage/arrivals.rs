//! When the next I/O of an open loop is due: moments fixed by rate, law and seed alone.
//!
//! Never looks at a clock and never at what became of earlier I/O.

use std::sync::{Arc, Mutex, PoisonError};

use assay_model::workload::storage::Arrivals;

use super::random::Draws;

/// Arrivals of one lane, in nanoseconds from the start.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    law: Arrivals,
    mean_gap_ns: f64,
    /// The moment before the next arrival. Whole nanoseconds stay exact for 104 days (2⁵³ ns).
    at_ns: f64,
    draws: Draws,
}

impl Schedule {
    /// `rate_per_s` arrivals per second. Equal gaps begin at `first` of a gap, 0 … 1, so that several
    /// schedules interlock.
    pub(super) fn new(law: Arrivals, rate_per_s: f64, first: f64, draws: Draws) -> Self {
        let mean_gap_ns = 1e9 / rate_per_s;
        let at_ns = match law {
            Arrivals::Constant => (first - 1.0) * mean_gap_ns,
            Arrivals::Exponential | Arrivals::Uniform => 0.0,
        };
        Self { law, mean_gap_ns, at_ns, draws }
    }

    /// The next arrival.
    pub(super) fn next_ns(&mut self) -> u64 {
        self.at_ns += match self.law {
            // The inverse of the distribution: −ln(1 − u) has mean 1.
            Arrivals::Exponential => -(-self.draws.unit()).ln_1p() * self.mean_gap_ns,
            Arrivals::Uniform => 2.0 * self.draws.unit() * self.mean_gap_ns,
            Arrivals::Constant => self.mean_gap_ns,
        };
        self.at_ns as u64
    }
}

/// Who takes arrivals from a schedule: one worker, or several that each carry one I/O at a time.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// One worker, which never waits for anyone.
    Own(Schedule),
    /// Blocking threads, of which each takes the next arrival when it is free.
    Shared(Arc<Mutex<Schedule>>),
}

impl Source {
    /// The next arrival that nobody has taken.
    #[inline]
    pub(super) fn next_ns(&mut self) -> u64 {
        match self {
            Self::Own(schedule) => schedule.next_ns(),
            // A schedule cannot be left half changed, so a panic elsewhere does not spoil it.
            Self::Shared(it) => it.lock().unwrap_or_else(PoisonError::into_inner).next_ns(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u32 = 100_000;

    /// Gaps in units of their mean.
    fn gaps(law: Arrivals) -> Vec<f64> {
        let mut schedule = Schedule::new(law, 1000.0, 0.0, Draws::new(3, 1));
        let mut before = 0;
        (0..COUNT)
            .map(|_| {
                let at = schedule.next_ns();
                let gap = (at - before) as f64 / 1e6;
                before = at;
                gap
            })
            .collect()
    }

    #[test]
    fn each_law_has_its_mean_and_its_spread() {
        // The coefficient of variation is 1, 1/√3 and 0.
        for (law, spread) in [
            (Arrivals::Exponential, 1.0),
            (Arrivals::Uniform, 1.0 / 3.0_f64.sqrt()),
            (Arrivals::Constant, 0.0),
        ] {
            let gaps = gaps(law);
            let mean = gaps.iter().sum::<f64>() / f64::from(COUNT);
            let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
            let found = (square / f64::from(COUNT)).sqrt();
            assert!((mean - 1.0).abs() < 0.015, "{law:?}: mean {mean}");
            assert!((found - spread).abs() < 0.015, "{law:?}: spread {found}");
        }
    }

    #[test]
    fn equal_gaps_of_two_lanes_interlock() {
        let mut lanes = [0.0, 0.5]
            .map(|first| Schedule::new(Arrivals::Constant, 1000.0, first, Draws::new(0, 0)));
        let mut moments: Vec<u64> =
            lanes.iter_mut().flat_map(|lane| [lane.next_ns(), lane.next_ns()]).collect();
        moments.sort_unstable();
        assert_eq!(moments, [0, 500_000, 1_000_000, 1_500_000]);
    }
}
