//! What the series of a phase says: stretches of it as samples, and all of its I/O together.

use std::fmt::Write as _;

use assay_model::storage_outcome::{IntervalTally, Operation, StorageOutcome, Tally};
use assay_stats::rate_search::Lateness;
use hdrhistogram::Histogram;

/// The percentiles that are told, and from how many values on: an upper bound of p99 at 95 %
/// confidence exists from 299 values on (0.99ⁿ ≤ 0.05), of p99.9 from 2995.
const PERCENTILES: [(&str, f64, u64); 5] = [
    ("p50", 0.50, 6),
    ("p90", 0.90, 29),
    ("p99", 0.99, 299),
    ("p99.9", 0.999, 2995),
    ("p99.99", 0.9999, 29_956),
];
/// Significant digits of every latency, as in the engine.
const DIGITS: u8 = 3;

/// One or more neighbouring intervals, so that there is I/O in it.
#[derive(Debug)]
pub struct Stretch {
    length_s: f64,
    count: u64,
    bytes: u64,
    service_sum_ns: u64,
    service: Distribution,
    from_intended: Distribution,
}

/// Latencies of many I/O.
#[derive(Debug)]
pub struct Distribution {
    histogram: Histogram<u64>,
    /// Exact where it is known; the histogram's is of buckets.
    mean_ns: Option<f64>,
}

/// Stretches that a phase is cut into, so that the median of their rates has an interval at 95 %.
const STRETCHES: f64 = 12.0;
/// No stretch needs to be longer: 100 slices of a throttle that lets I/O through every 100 ms.
const LONGEST_S: f64 = 10.0;

/// How long a stretch of a phase is that counts for so many seconds.
///
/// Throttles let I/O through in bursts: the median over intervals as short as the bursts would be the
/// rate of a burst, or of the pause between two.
pub fn stretch_s(counting_s: f64) -> f64 {
    (counting_s / STRETCHES).min(LONGEST_S)
}

/// The intervals that count, joined to stretches of at least `least_s` with some I/O in each; what is
/// left over at the end is joined to the last one.
pub fn stretches(intervals: &[IntervalTally], least_s: f64) -> Vec<Stretch> {
    // An interval ends a little late or early, and ten of them need not make another.
    let enough_s = 0.95 * least_s;
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut open: Option<Stretch> = None;
    for interval in intervals.iter().filter(|it| !it.warmup) {
        let stretch = open.get_or_insert_with(Stretch::new);
        stretch.add(interval);
        if stretch.count > 0 && stretch.length_s >= enough_s {
            stretches.extend(open.take());
        }
    }
    match (open, stretches.last_mut()) {
        (Some(rest), Some(last)) => last.join(&rest),
        (Some(rest), None) if rest.count > 0 => stretches.push(rest),
        _ => {}
    }
    stretches
}

/// I/O that counts.
pub fn count(outcome: &StorageOutcome) -> u64 {
    outcome.tallies.iter().map(|it| it.tally.count).sum()
}

/// I/O that counts over the time that counts, in IO/s; 0 where there is none.
pub fn rate_per_s(outcome: &StorageOutcome) -> f64 {
    if outcome.elapsed_s > 0.0 { count(outcome) as f64 / outcome.elapsed_s } else { 0.0 }
}

/// Several phases with the same streams and targets as if they were one: the time between them is left
/// out. `None` without any.
pub fn joined(outcomes: &[StorageOutcome]) -> Option<StorageOutcome> {
    let (first, others) = outcomes.split_first()?;
    let mut all = first.clone();
    for other in others {
        let ended_s = all.intervals.last().map_or(0.0, |last| last.start_s + last.length_s);
        let moved = other.intervals.iter().cloned().map(|mut interval| {
            interval.start_s += ended_s;
            interval
        });
        all.intervals.extend(moved);
        all.tallies.extend(other.tallies.iter().cloned());
        all.elapsed_s += other.elapsed_s;
        all.cpu_user_s += other.cpu_user_s;
        all.cpu_system_s += other.cpu_system_s;
        all.errors.extend(other.errors.iter().cloned());
        all.error_count += other.error_count;
    }
    Some(all)
}

/// Service times and times from the intended start of all I/O that counts.
pub fn totals(outcome: &StorageOutcome) -> [Distribution; 2] {
    let mut service = Distribution::new();
    let mut intended = Distribution::new();
    let (mut sum_ns, mut count) = (0.0, 0_u64);
    for tally in outcome.tallies.iter().map(|it| &it.tally) {
        service.add(&tally.service_ns);
        intended.add(&tally.from_intended_ns);
        sum_ns += tally.service_sum_ns as f64;
        count += tally.count;
    }
    service.mean_ns = (count > 0).then(|| sum_ns / count as f64);
    [service, intended]
}

/// Service times of all reads or all writes that count.
pub fn side(outcome: &StorageOutcome, side: Operation) -> Distribution {
    let mut service = Distribution::new();
    let tallies = outcome.tallies.iter().filter(|it| it.operation == side);
    tallies.for_each(|it| service.add(&it.tally.service_ns));
    service
}

/// One line per interval, in base units.
pub fn table(intervals: &[IntervalTally]) -> String {
    let mut text = String::from(
        "start_s,length_s,warmup,reads,read_bytes,writes,write_bytes,service_sum_s,in_flight,\
         cpu_user,cpu_system\n",
    );
    for it in intervals {
        let service_s = (it.reads.service_sum_ns + it.writes.service_sum_ns) as f64 * 1e-9;
        let _ = writeln!(
            text,
            "{:.6},{:.6},{},{},{},{},{},{service_s:.9},{:.4},{:.4},{:.4}",
            it.start_s,
            it.length_s,
            u8::from(it.warmup),
            it.reads.count,
            it.reads.bytes,
            it.writes.count,
            it.writes.bytes,
            it.in_flight,
            it.cpu_user,
            it.cpu_system
        );
    }
    text
}

impl Stretch {
    fn new() -> Self {
        Self {
            length_s: 0.0,
            count: 0,
            bytes: 0,
            service_sum_ns: 0,
            service: Distribution::new(),
            from_intended: Distribution::new(),
        }
    }

    fn add(&mut self, interval: &IntervalTally) {
        self.length_s += interval.length_s;
        for tally in [&interval.reads, &interval.writes] {
            self.add_tally(tally);
        }
    }

    fn add_tally(&mut self, tally: &Tally) {
        self.count += tally.count;
        self.bytes += tally.bytes;
        self.service_sum_ns += tally.service_sum_ns;
        self.service.add(&tally.service_ns);
        self.from_intended.add(&tally.from_intended_ns);
    }

    fn join(&mut self, other: &Self) {
        self.length_s += other.length_s;
        self.count += other.count;
        self.bytes += other.bytes;
        self.service_sum_ns += other.service_sum_ns;
        self.service.add(&other.service.histogram);
        self.from_intended.add(&other.from_intended.histogram);
    }

    /// In IO/s.
    pub fn rate_per_s(&self) -> f64 {
        self.count as f64 / self.length_s
    }

    /// In B/s.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 / self.length_s
    }

    /// Sum of the service times in seconds.
    pub fn service_sum_s(&self) -> f64 {
        self.service_sum_ns as f64 * 1e-9
    }

    /// I/O that took longer than this from the moment it was due, to 1 %, and all I/O.
    pub fn lateness(&self, most_s: f64) -> Lateness {
        let most_ns = (most_s * 1e9) as u64;
        let in_time = self.from_intended.histogram.count_between(0, most_ns);
        let all = self.from_intended.count();
        Lateness { late: all.saturating_sub(in_time), all }
    }

    pub fn service_median_s(&self) -> f64 {
        self.service.quantile_s(0.5)
    }

    /// `None` in a closed loop.
    pub fn median_from_intended_s(&self) -> Option<f64> {
        (self.from_intended.count() > 0).then(|| self.from_intended.quantile_s(0.5))
    }
}

impl Distribution {
    fn new() -> Self {
        let histogram = Histogram::new(DIGITS).expect("three digits are allowed");
        Self { histogram, mean_ns: None }
    }

    fn add(&mut self, other: &Histogram<u64>) {
        self.histogram.add(other).expect("a histogram without bounds grows to hold any other");
    }

    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub fn least_s(&self) -> f64 {
        self.histogram.min() as f64 * 1e-9
    }

    pub fn greatest_s(&self) -> f64 {
        self.histogram.max() as f64 * 1e-9
    }

    pub fn mean_s(&self) -> f64 {
        self.mean_ns.unwrap_or_else(|| self.histogram.mean()) * 1e-9
    }

    fn quantile_s(&self, q: f64) -> f64 {
        self.histogram.value_at_quantile(q).min(self.histogram.max()) as f64 * 1e-9
    }

    /// Those that so many values can carry, in seconds.
    pub fn percentiles_s(&self) -> Vec<(&'static str, f64)> {
        let carried = PERCENTILES.iter().filter(|(_, _, least)| self.count() >= *least);
        carried.map(|(name, q, _)| (*name, self.quantile_s(*q))).collect()
    }

    /// Every bucket with its count, one a line: the whole distribution as it is stored.
    pub fn table(&self) -> String {
        let mut text = String::from("up_to_ns,count\n");
        for bucket in self.histogram.iter_recorded() {
            let count = bucket.count_since_last_iteration();
            let _ = writeln!(text, "{},{count}", bucket.value_iterated_to());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(latencies_ns: &[u64]) -> Tally {
        let mut service_ns = Histogram::new(DIGITS).unwrap();
        latencies_ns.iter().for_each(|it| service_ns.record(*it).unwrap());
        Tally {
            count: latencies_ns.len() as u64,
            bytes: 4096 * latencies_ns.len() as u64,
            from_intended_ns: Histogram::new(DIGITS).unwrap(),
            service_square_sum: 0.0,
            service_sum_ns: latencies_ns.iter().sum(),
            service_ns,
        }
    }

    fn interval(warmup: bool, length_s: f64, latencies_ns: &[u64]) -> IntervalTally {
        IntervalTally {
            start_s: 0.0,
            length_s,
            warmup,
            reads: tally(latencies_ns),
            writes: tally(&[]),
            streams: vec![],
            in_flight: 1.0,
            cpu_user: 0.0,
            cpu_system: 0.0,
        }
    }

    /// Lengths of the intervals with their numbers of I/O, against rates of the stretches.
    fn check(intervals: &[(f64, usize)], expected: &[f64]) {
        let mut all = vec![interval(true, 1.0, &[7; 100])];
        all.extend(intervals.iter().map(|(s, count)| interval(false, *s, &vec![1000; *count])));
        let rates: Vec<f64> = stretches(&all, 1.0).iter().map(Stretch::rate_per_s).collect();
        assert_eq!(rates.len(), expected.len(), "{rates:?}");
        for (rate, expected) in rates.iter().zip(expected) {
            assert!((rate - expected).abs() < 1e-9, "{rates:?}");
        }
    }

    #[test]
    fn every_stretch_has_io_and_the_warm_up_is_none() {
        check(&[(1.0, 10), (1.0, 20)], &[10.0, 20.0]);
        // A stall belongs to the I/O that ended it.
        check(&[(1.0, 10), (1.0, 0), (1.0, 20)], &[10.0, 10.0]);
        check(&[(1.0, 10), (1.0, 0)], &[5.0]);
        check(&[(1.0, 10), (0.25, 5)], &[12.0]);
        check(&[(1.0, 0), (1.0, 0)], &[]);
        check(&[], &[]);
        // Bursts of a throttle and the pauses between them make one rate.
        check(&[(0.1, 10), (0.1, 0)].repeat(10), &[50.0, 50.0]);
    }

    fn outcome(latencies_ns: &[u64]) -> StorageOutcome {
        StorageOutcome {
            open_s: 0.0,
            close_s: 0.0,
            elapsed_s: 1.0,
            tallies: vec![assay_model::storage_outcome::StreamTally {
                stream: 0,
                target: 0,
                operation: Operation::Read,
                tally: tally(latencies_ns),
            }],
            intervals: vec![interval(true, 0.5, &[1]), interval(false, 1.0, latencies_ns)],
            cpu_user_s: 0.25,
            cpu_system_s: 0.5,
            engine: "null".into(),
            engine_reason: String::new(),
            errors: vec![],
            error_count: 0,
            streams: vec![],
            ended: assay_model::storage_outcome::Ended::Time,
        }
    }

    #[test]
    fn phases_add_up_to_one() {
        let all = joined(&[outcome(&[1000; 10]), outcome(&[3000; 30])]).unwrap();
        assert_eq!((count(&all), all.elapsed_s, all.cpu_user_s), (40, 2.0, 0.5));
        assert!((rate_per_s(&all) - 20.0).abs() < 1e-9);
        let rates: Vec<f64> =
            stretches(&all.intervals, 1.0).iter().map(Stretch::rate_per_s).collect();
        assert_eq!(rates, [10.0, 30.0]);
        let starts: Vec<f64> = all.intervals.iter().map(|it| it.start_s).collect();
        assert_eq!(starts, [0.0, 0.0, 1.0, 1.0]);
        assert!(joined(&[]).is_none());
    }

    #[test]
    fn percentiles_need_data() {
        for (n, expected) in [(5, 0), (6, 1), (28, 1), (29, 2), (299, 3), (2995, 4)] {
            let mut distribution = Distribution::new();
            distribution.add(&tally(&vec![1_000_000; n]).service_ns);
            let found = distribution.percentiles_s();
            assert_eq!(found.len(), expected, "{n}");
            assert!(found.iter().all(|(_, seconds)| *seconds <= distribution.greatest_s()));
        }
    }
}
