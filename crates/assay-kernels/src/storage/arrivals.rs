//! Arrival schedules of open loops: due times determined by rate, distribution and seed alone.
//!
//! Independent of clocks and of the completion of earlier I/O.

use std::sync::{Arc, Mutex, PoisonError};

use assay_model::workload::storage::Arrivals;

use super::random::Draws;

/// Maximum length of a backlog whose arrivals are counted one by one.
const SINGLY: f64 = 1e6;

/// Arrivals of one lane, in nanoseconds from the start.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    law: Arrivals,
    mean_gap_ns: f64,
    /// Time of the last arrival. Whole nanoseconds stay exact for 104 days (2⁵³ ns).
    at_ns: f64,
    draws: Draws,
}

impl Schedule {
    /// Creates a schedule of `rate_per_s` arrivals per second. Constant gaps begin at the fraction
    /// `first` of a gap, 0 … 1, so that several schedules interleave.
    pub(super) fn new(law: Arrivals, rate_per_s: f64, first: f64, draws: Draws) -> Self {
        let mean_gap_ns = 1e9 / rate_per_s;
        let at_ns = match law {
            Arrivals::Constant => (first - 1.0) * mean_gap_ns,
            Arrivals::Exponential | Arrivals::Uniform => 0.0,
        };
        Self { law, mean_gap_ns, at_ns, draws }
    }

    /// Returns the time of the next arrival.
    pub(super) fn next_ns(&mut self) -> u64 {
        self.at_ns += match self.law {
            // The inverse of the distribution: −ln(1 − u) has mean 1.
            Arrivals::Exponential => -(-self.draws.unit()).ln_1p() * self.mean_gap_ns,
            Arrivals::Uniform => 2.0 * self.draws.unit() * self.mean_gap_ns,
            Arrivals::Constant => self.mean_gap_ns,
        };
        self.at_ns as u64
    }

    /// Takes all remaining arrivals before `end_ns`; calls `each` with their time and number.
    ///
    /// A backlog of more than a million is counted in evenly spaced groups, so that this takes
    /// milliseconds for a backlog of any length.
    pub(super) fn rest(&mut self, end_ns: u64, each: &mut impl FnMut(u64, u64)) {
        loop {
            let left = (end_ns as f64 - self.at_ns) / self.mean_gap_ns;
            let group = (left / SINGLY).floor();
            if group < 2.0 {
                break;
            }
            for _ in 0..(left / group).floor() as u64 {
                each((self.at_ns + 0.5 * group * self.mean_gap_ns) as u64, group as u64);
                self.at_ns += group * self.mean_gap_ns;
            }
        }
        loop {
            let due_ns = self.next_ns();
            if due_ns >= end_ns {
                return;
            }
            each(due_ns, 1);
        }
    }
}

/// Arrivals of one lane: its own schedule, or one shared by threads with one I/O each.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// Schedule of one worker, which never waits for others.
    Own(Schedule),
    /// Schedule of blocking threads; each takes the next arrival when it is free.
    Shared(Arc<Mutex<Schedule>>),
}

impl Source {
    /// Takes the next arrival.
    #[inline]
    pub(super) fn next_ns(&mut self) -> u64 {
        match self {
            Self::Own(schedule) => schedule.next_ns(),
            // A panic cannot leave a schedule half changed, so a poisoned lock is safe to use.
            Self::Shared(it) => it.lock().unwrap_or_else(PoisonError::into_inner).next_ns(),
        }
    }

    /// Takes all remaining arrivals before `end_ns`; see [`ArrivalSchedule::take_until`].
    pub(super) fn rest(&mut self, end_ns: u64, each: &mut impl FnMut(u64, u64)) {
        match self {
            Self::Own(schedule) => schedule.rest(end_ns, each),
            Self::Shared(it) => {
                it.lock().unwrap_or_else(PoisonError::into_inner).rest(end_ns, each);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u32 = 100_000;

    /// Returns the gaps in units of their mean.
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

    /// Returns the number of remaining arrivals, and the mean of their times as a share of the end.
    fn left(law: Arrivals, rate_per_s: f64, end_ns: u64) -> (u64, f64) {
        let mut schedule = Schedule::new(law, rate_per_s, 0.0, Draws::new(3, 1));
        let (mut count, mut sum) = (0, 0.0);
        schedule.rest(end_ns, &mut |due_ns, together| {
            assert!(due_ns < end_ns);
            count += together;
            sum += due_ns as f64 * together as f64;
        });
        assert!(schedule.next_ns() >= end_ns, "nothing is left twice");
        (count, sum / count as f64 / end_ns as f64)
    }

    #[test]
    fn a_backlog_is_counted_to_its_end() {
        const SECOND_NS: u64 = 1_000_000_000;
        assert_eq!(left(Arrivals::Constant, 2000.0, SECOND_NS).0, 2000);
        // Backlog of a target that hangs for an hour, at a rate above all that devices reach.
        for law in [Arrivals::Constant, Arrivals::Exponential] {
            let (count, middle) = left(law, 1e8, 3600 * SECOND_NS);
            assert!((count as f64 / 3.6e11 - 1.0).abs() < 1e-6, "{law:?}: {count}");
            assert!((middle - 0.5).abs() < 1e-6, "{law:?}: {middle}");
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
