//! Arrival schedules of open loops: due times determined by rate, distribution and seed alone.
//!
//! Independent of clocks and of the completion of earlier I/O.

use std::sync::{Arc, Mutex};

use assay_model::poisoned_lock::PoisonedLock as _;
use assay_model::workload::storage::ArrivalProcess;

use super::random::RandomStream;

/// Maximum length of a backlog whose arrivals are counted one by one.
const MAX_SINGLE_ARRIVALS: f64 = 1e6;

/// Arrivals of one lane, in nanoseconds from the start.
#[derive(Debug, Clone)]
pub(super) struct ArrivalSchedule {
    distribution: ArrivalProcess,
    mean_gap_ns: f64,
    /// Time of the last arrival. Whole nanoseconds stay exact for 104 days (2⁵³ ns).
    at_ns: f64,
    draws: RandomStream,
}

impl ArrivalSchedule {
    /// Creates a schedule of `rate_per_s` arrivals per second. Constant gaps begin at the fraction
    /// `first` of a gap, 0 … 1, so that several schedules interleave.
    pub(super) fn new(
        distribution: ArrivalProcess,
        rate_per_s: f64,
        first: f64,
        draws: RandomStream,
    ) -> Self {
        let mean_gap_ns = 1e9 / rate_per_s;
        let at_ns = match distribution {
            ArrivalProcess::Constant => (first - 1.0) * mean_gap_ns,
            ArrivalProcess::Exponential | ArrivalProcess::Uniform => 0.0,
        };
        Self { distribution, mean_gap_ns, at_ns, draws }
    }

    /// Returns the time of the next arrival.
    pub(super) fn next_ns(&mut self) -> u64 {
        self.at_ns += match self.distribution {
            // The inverse of the distribution: −ln(1 − u) has mean 1.
            ArrivalProcess::Exponential => {
                -(-self.draws.uniform_unit()).ln_1p() * self.mean_gap_ns
            }
            ArrivalProcess::Uniform => 2.0 * self.draws.uniform_unit() * self.mean_gap_ns,
            ArrivalProcess::Constant => self.mean_gap_ns,
        };
        self.at_ns as u64
    }

    /// Takes all remaining arrivals before `end_ns`; calls `each` with their time and number.
    ///
    /// A backlog of more than a million is counted in evenly spaced groups, so that this takes
    /// milliseconds for a backlog of any length.
    pub(super) fn take_until(&mut self, end_ns: u64, each: &mut impl FnMut(u64, u64)) {
        loop {
            let left = (end_ns as f64 - self.at_ns) / self.mean_gap_ns;
            let group = (left / MAX_SINGLE_ARRIVALS).floor();
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
pub(super) enum ArrivalSource {
    /// Schedule of one worker, which never waits for others.
    Own(ArrivalSchedule),
    /// Schedule of blocking threads; each takes the next arrival when it is free.
    Shared(Arc<Mutex<ArrivalSchedule>>),
}

impl ArrivalSource {
    /// Takes the next arrival.
    #[inline]
    pub(super) fn next_ns(&mut self) -> u64 {
        match self {
            Self::Own(schedule) => schedule.next_ns(),
            // A panic cannot leave a schedule half changed, so a poisoned lock is safe to use.
            Self::Shared(it) => it.lock().even_if_poisoned().next_ns(),
        }
    }

    /// Takes all remaining arrivals before `end_ns`; see [`ArrivalSchedule::take_until`].
    pub(super) fn take_until(&mut self, end_ns: u64, each: &mut impl FnMut(u64, u64)) {
        match self {
            Self::Own(schedule) => schedule.take_until(end_ns, each),
            Self::Shared(it) => {
                it.lock().even_if_poisoned().take_until(end_ns, each);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u32 = 100_000;

    /// Returns the gaps in units of their mean.
    fn gaps(law: ArrivalProcess) -> Vec<f64> {
        let mut schedule = ArrivalSchedule::new(law, 1000.0, 0.0, RandomStream::new(3, 1));
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
    fn distributions_have_their_mean_and_spread() {
        // The coefficient of variation is 1, 1/√3 and 0.
        for (law, spread) in [
            (ArrivalProcess::Exponential, 1.0),
            (ArrivalProcess::Uniform, 1.0 / 3.0_f64.sqrt()),
            (ArrivalProcess::Constant, 0.0),
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
    fn left(law: ArrivalProcess, rate_per_s: f64, end_ns: u64) -> (u64, f64) {
        let mut schedule = ArrivalSchedule::new(law, rate_per_s, 0.0, RandomStream::new(3, 1));
        let (mut count, mut sum) = (0, 0.0);
        schedule.take_until(end_ns, &mut |due_ns, together| {
            assert!(due_ns < end_ns);
            count += together;
            sum += due_ns as f64 * together as f64;
        });
        assert!(schedule.next_ns() >= end_ns, "nothing is left twice");
        (count, sum / count as f64 / end_ns as f64)
    }

    #[test]
    fn counts_a_backlog_to_its_end() {
        const SECOND_NS: u64 = 1_000_000_000;
        assert_eq!(left(ArrivalProcess::Constant, 2000.0, SECOND_NS).0, 2000);
        // Backlog of a target that hangs for an hour, at a rate above all that devices reach.
        for law in [ArrivalProcess::Constant, ArrivalProcess::Exponential] {
            let (count, middle) = left(law, 1e8, 3600 * SECOND_NS);
            assert!((count as f64 / 3.6e11 - 1.0).abs() < 1e-6, "{law:?}: {count}");
            assert!((middle - 0.5).abs() < 1e-6, "{law:?}: {middle}");
        }
    }

    #[test]
    fn constant_gaps_of_two_lanes_interleave() {
        let mut lanes = [0.0, 0.5].map(|first| {
            ArrivalSchedule::new(
                ArrivalProcess::Constant,
                1000.0,
                first,
                RandomStream::new(0, 0),
            )
        });
        let mut moments: Vec<u64> =
            lanes.iter_mut().flat_map(|lane| [lane.next_ns(), lane.next_ns()]).collect();
        moments.sort_unstable();
        assert_eq!(moments, [0, 500_000, 1_000_000, 1_500_000]);
    }
}
