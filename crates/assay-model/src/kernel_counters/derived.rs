//! Figures that follow from the counters of a case: clock, instructions per cycle, traffic and
//! energy of its work.
//!
//! A figure is absent if a counter that it needs is, or is known only in part.

use super::{Counter, CounterRecord};

/// Mean clock of the threads of a case while they ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObservedClock {
    pub hz: f64,
    /// Whether the true clock may be higher: cycles in the kernel were not counted, but its time
    /// was.
    pub is_minimum: bool,
}

impl CounterRecord {
    /// Returns cycles over the CPU time of the threads.
    pub fn observed_clock(&self) -> Option<ObservedClock> {
        let kernel = self.whole(Counter::KernelCycles);
        let cycles = self.whole(Counter::UserCycles)? + kernel.unwrap_or(0.0);
        let hz = positive(cycles / self.whole(Counter::ThreadTime)?)?;
        Some(ObservedClock { hz, is_minimum: kernel.is_none() })
    }

    /// Returns instructions over cycles, both in user mode.
    pub fn instructions_per_cycle(&self) -> Option<f64> {
        positive(self.whole(Counter::UserInstructions)? / self.whole(Counter::UserCycles)?)
    }

    /// Returns the bytes that the memory controllers moved.
    pub fn memory_traffic_bytes(&self) -> Option<f64> {
        positive(
            self.whole(Counter::MemoryReadBytes)? + self.whole(Counter::MemoryWrittenBytes)?,
        )
    }

    /// Returns that traffic over the bytes that the benchmark counts.
    pub fn traffic_of_work(&self) -> Option<f64> {
        positive(self.memory_traffic_bytes()? / self.work?.bytes)
    }

    /// Returns the energy of all packages in joules.
    pub fn energy_j(&self) -> Option<f64> {
        positive(self.whole(Counter::PackageEnergy)?)
    }

    /// Returns joules for each byte of the work or the payload.
    pub fn joules_per_byte(&self) -> Option<f64> {
        let payload = self.payload.map(|it| it.read as f64 + it.written as f64);
        positive(self.energy_j()? / self.work.map(|it| it.bytes).or(payload)?)
    }

    /// Returns floating-point operations for each joule.
    pub fn flop_per_joule(&self) -> Option<f64> {
        positive(self.work?.flop / self.energy_j()?)
    }

    /// Returns the total of a counter of which no part is omitted.
    fn whole(&self, counter: Counter) -> Option<f64> {
        let is_part = self.omitted.iter().any(|it| it.name.ends_with(counter.id()));
        self.total(counter).filter(|_| !is_part)
    }
}

fn positive(value: f64) -> Option<f64> {
    Some(value).filter(|it| it.is_finite() && *it > 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::{
        CountedSeries, CountedWork, OmissionReason, OmittedCounter, PayloadBytes,
    };
    use super::*;

    fn record(totals: &[(Counter, &str, f64)]) -> CounterRecord {
        let counted = |(counter, of, total): &(Counter, &str, f64)| CountedSeries {
            counter: *counter,
            of: (*of).to_owned(),
            total: *total,
            points: Vec::new(),
        };
        CounterRecord { counted: totals.iter().map(counted).collect(), ..Default::default() }
    }

    #[test]
    fn clock_and_instructions_follow_from_cycles() {
        let all = [
            (Counter::UserCycles, "", 6.0e9),
            (Counter::KernelCycles, "", 0.2e9),
            (Counter::ThreadTime, "", 2.0),
            (Counter::UserInstructions, "", 9.0e9),
        ];
        let clock = |hz, is_minimum| Some(ObservedClock { hz, is_minimum });
        assert_eq!(record(&all).observed_clock(), clock(3.1e9, false));
        assert_eq!(record(&all).instructions_per_cycle(), Some(1.5));
        let user = record(&[all[0], all[2]]);
        assert_eq!(user.observed_clock(), clock(3.0e9, true));
        assert_eq!(user.instructions_per_cycle(), None);
        assert_eq!(record(&all[1..]).observed_clock(), None);
        assert_eq!(record(&[all[0], (Counter::ThreadTime, "", 0.0)]).observed_clock(), None);
    }

    #[test]
    fn energy_and_traffic_concern_whole_work() {
        let mut record = record(&[
            (Counter::PackageEnergy, "package-0", 60.0),
            (Counter::PackageEnergy, "package-1", 40.0),
            (Counter::MemoryReadBytes, "", 9e9),
            (Counter::MemoryWrittenBytes, "", 4e9),
        ]);
        assert_eq!((record.energy_j(), record.joules_per_byte()), (Some(100.0), None));
        record.payload = Some(PayloadBytes { read: 30, written: 20 });
        assert_eq!(record.joules_per_byte(), Some(2.0));
        record.work = Some(CountedWork { bytes: 10e9, flop: 5e11 });
        assert_eq!(record.joules_per_byte(), Some(1e-8));
        assert_eq!(record.flop_per_joule(), Some(5e9));
        assert_eq!(record.traffic_of_work(), Some(1.3));
        let name = "package-1 package-energy".to_owned();
        record.omitted = vec![OmittedCounter { name, reason: OmissionReason::MayHaveWrapped }];
        assert_eq!((record.energy_j(), record.flop_per_joule()), (None, None));
    }
}
