//! Sums of intervals, and the figures that Vdbench prints.

use assay_model::storage_outcome::{IntervalTally, IoOperation, IoTally, StreamTally};
use serde::{Deserialize, Serialize};

/// Sums over one interval or several.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StorageTotals {
    seconds: f64,
    reads: OperationTotals,
    writes: OperationTotals,
    /// I/O in flight × seconds.
    in_flight_s: f64,
    /// CPU use × seconds, user and kernel, as a share of all CPUs.
    cpu_s: (f64, f64),
}

/// Tally of reads or of writes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct OperationTotals {
    tally: Option<IoTally>,
}

impl StorageTotals {
    /// Creates the sums of one interval.
    pub fn from_interval(interval: &IntervalTally) -> Self {
        let mut measured = Self::default();
        measured.add(interval);
        measured
    }

    /// Adds an interval.
    pub fn add(&mut self, interval: &IntervalTally) {
        self.seconds += interval.length_s;
        self.reads.add(&interval.reads);
        self.writes.add(&interval.writes);
        self.in_flight_s += interval.in_flight * interval.length_s;
        self.cpu_s.0 += interval.cpu_user * interval.length_s;
        self.cpu_s.1 += interval.cpu_system * interval.length_s;
    }

    /// Sums tallies over `seconds`, with the CPU use of `whole`.
    ///
    /// I/O in flight follows from the sum of the service times, because each I/O was in flight for
    /// its own.
    pub(super) fn from_tallies<'t>(
        tallies: impl Iterator<Item = &'t StreamTally>,
        seconds: f64,
        whole: &Self,
    ) -> Self {
        let mut measured = Self { seconds, ..Self::default() };
        for StreamTally { operation, tally, .. } in tallies {
            match operation {
                IoOperation::Read => measured.reads.add(tally),
                IoOperation::Write => measured.writes.add(tally),
            }
        }
        measured.in_flight_s = (measured.reads.sum_ms() + measured.writes.sum_ms()) / 1e3;
        let share = |busy_s: f64| ratio(busy_s, whole.seconds) * seconds;
        measured.cpu_s = (share(whole.cpu_s.0), share(whole.cpu_s.1));
        measured
    }

    /// I/O completed.
    pub fn count(&self) -> u64 {
        self.reads.count() + self.writes.count()
    }

    /// Bytes transferred.
    pub fn bytes(&self) -> u64 {
        self.reads.bytes() + self.writes.bytes()
    }

    /// Total length in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Rate in IO/s.
    pub fn rate_per_s(&self) -> f64 {
        ratio(self.count() as f64, self.seconds)
    }

    /// Throughput in MiB/s, for which Vdbench prints MB/sec.
    pub fn mebibytes_per_s(&self) -> f64 {
        ratio(self.bytes() as f64 / 1_048_576.0, self.seconds)
    }

    /// Mean size of an I/O in bytes.
    pub fn bytes_per_io(&self) -> f64 {
        ratio(self.bytes() as f64, self.count() as f64)
    }

    /// Share of reads in percent.
    pub fn read_percent(&self) -> f64 {
        100.0 * ratio(self.reads.count() as f64, self.count() as f64)
    }

    /// Mean service time in ms.
    pub fn response_ms(&self) -> f64 {
        ratio(self.reads.sum_ms() + self.writes.sum_ms(), self.count() as f64)
    }

    /// Mean service time of reads in ms.
    pub fn read_response_ms(&self) -> f64 {
        ratio(self.reads.sum_ms(), self.reads.count() as f64)
    }

    /// Mean service time of writes in ms.
    pub fn write_response_ms(&self) -> f64 {
        ratio(self.writes.sum_ms(), self.writes.count() as f64)
    }

    /// Largest service time in ms.
    pub fn max_response_ms(&self) -> f64 {
        self.reads.max_ms().max(self.writes.max_ms())
    }

    /// Standard deviation of the service times in ms: √((Σx² − (Σx)²/n) / (n − 1)).
    pub fn response_deviation_ms(&self) -> f64 {
        let n = self.count() as f64;
        let sum = self.reads.sum_ms() + self.writes.sum_ms();
        let squares = self.reads.square_sum_ms() + self.writes.square_sum_ms();
        if n < 2.0 {
            return 0.0;
        }
        ((squares - sum * sum / n).max(0.0) / (n - 1.0)).sqrt()
    }

    /// Mean number of I/O in flight.
    pub fn queue_depth(&self) -> f64 {
        ratio(self.in_flight_s, self.seconds)
    }

    /// CPU use in percent.
    pub fn cpu_percent(&self) -> f64 {
        self.cpu_user_percent() + self.cpu_system_percent()
    }

    /// CPU use in user mode, in percent.
    pub fn cpu_user_percent(&self) -> f64 {
        100.0 * ratio(self.cpu_s.0, self.seconds)
    }

    /// CPU use in the kernel, in percent.
    pub fn cpu_system_percent(&self) -> f64 {
        100.0 * ratio(self.cpu_s.1, self.seconds)
    }

    /// Mean and 99th percentile of the latency from the intended start, in ms; `None` in a closed
    /// loop.
    pub fn intended_latency_ms(&self) -> Option<(f64, f64)> {
        let mut tallies = [&self.reads.tally, &self.writes.tally].into_iter().flatten();
        let mut both = tallies.next()?.from_intended_ns.clone();
        for tally in tallies {
            both += &tally.from_intended_ns;
        }
        (!both.is_empty())
            .then(|| (both.mean() / 1e6, both.value_at_quantile(0.99) as f64 / 1e6))
    }

    /// Counts service times per range. Each range includes its end, given in ns; the last count is
    /// that of all longer times.
    pub fn counts_up_to(&self, ends_ns: &[u64], reads: bool, writes: bool) -> Vec<u64> {
        let mut counts = vec![0; ends_ns.len() + 1];
        let chosen = [(reads, &self.reads.tally), (writes, &self.writes.tally)];
        for tally in
            chosen.into_iter().filter(|(wanted, _)| *wanted).filter_map(|(_, t)| t.as_ref())
        {
            for entry in tally.service_ns.iter_recorded() {
                let value = entry.value_iterated_to();
                let place = ends_ns.partition_point(|end| *end < value);
                counts[place] += entry.count_at_value();
            }
        }
        counts
    }
}

impl OperationTotals {
    fn add(&mut self, tally: &IoTally) {
        match &mut self.tally {
            None => self.tally = Some(tally.clone()),
            Some(sum) => sum.merge(tally),
        }
    }

    fn count(&self) -> u64 {
        self.tally.as_ref().map_or(0, |tally| tally.count)
    }

    fn bytes(&self) -> u64 {
        self.tally.as_ref().map_or(0, |tally| tally.bytes)
    }

    fn sum_ms(&self) -> f64 {
        self.tally.as_ref().map_or(0.0, |tally| tally.service_sum_ns as f64 / 1e6)
    }

    fn square_sum_ms(&self) -> f64 {
        self.tally.as_ref().map_or(0.0, |tally| tally.service_square_sum / 1e12)
    }

    fn max_ms(&self) -> f64 {
        let max = |tally: &IoTally| tally.service_ns.max() as f64 / 1e6;
        self.tally.as_ref().filter(|tally| tally.count > 0).map_or(0.0, max)
    }
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}
