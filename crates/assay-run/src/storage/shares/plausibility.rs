//! Plausibility limits for the counts and times that hosts report; a far end is not trusted, and
//! its reports are summed.
//!
//! Each host has an account for all its counts in a job. Reports that would overdraw it are
//! rejected, so that no sum over hosts and intervals overflows 64 bits, and no time exceeds the
//! range of clocks.

use assay_model::file_outcome::{FileInterval, FileOutcome, FileTally};
use assay_model::storage_outcome::{IntervalTally, IoTally, StorageOutcome, StreamDetails};

/// Maximum sum over all hosts; the rest of 64 bits is left for sums of sums. With a thousand hosts
/// it allows 4 PB each.
const MAX_COUNT: u64 = u64::MAX / 4;
/// Maximum time in seconds: thirty years.
const MAX_TIME_S: f64 = 1e9;
/// Minimum time in seconds: differences of clocks may be slightly negative.
const MIN_TIME_S: f64 = -1e-3;

/// Sum of the counts that a host has reported.
#[derive(Debug, Default)]
pub(super) struct HostAccount(u64);

impl HostAccount {
    /// Adds an interval; returns whether it is plausible together with earlier reports.
    pub(super) fn accept_interval(&mut self, it: &IntervalTally, hosts: usize) -> bool {
        let streams = it
            .streams
            .iter()
            .flat_map(|it| [it.reads, it.read_bytes, it.writes, it.write_bytes].into_iter());
        let counts = [&it.reads, &it.writes].into_iter().flat_map(tally_counts).chain(streams);
        let is_possible = [&it.reads, &it.writes].into_iter().all(is_plausible)
            && it
                .streams
                .iter()
                .all(|it| it.read_service_ns.max(it.write_service_ns) <= MAX_COUNT)
            && [it.start_s, it.length_s, it.cpu_user, it.cpu_system]
                .into_iter()
                .all(is_plausible_time)
            && (MIN_TIME_S..=MAX_COUNT as f64).contains(&it.in_flight);
        is_possible && self.accept_counts(counts, hosts)
    }

    /// Adds an outcome; returns whether it is plausible.
    pub(super) fn accept_outcome(&mut self, it: &StorageOutcome, hosts: usize) -> bool {
        let of_stream = |it: &StreamDetails| {
            let apart = it.submissions.iter().chain(&it.completions).flatten();
            it.syncs.iter().chain(apart).cloned().collect::<Vec<_>>()
        };
        let others: Vec<IoTally> = it.streams.iter().flat_map(of_stream).collect();
        let tallies = it.tallies.iter().map(|it| &it.tally).chain(&others);
        let times = [it.elapsed_s, it.open_s, it.close_s, it.cpu_user_s, it.cpu_system_s];
        let active = it.streams.iter().map(|it| it.active_s);
        let is_possible = tallies.clone().all(is_plausible)
            && times.into_iter().chain(active).all(is_plausible_time);
        let counts = tallies.flat_map(tally_counts).chain([it.error_count, it.not_started]);
        is_possible
            && self.accept_counts(counts, hosts)
            && it.intervals.iter().all(|it| self.accept_interval(it, hosts))
    }

    /// Adds an interval on file trees; returns whether it is plausible.
    pub(super) fn accept_trees_interval(&mut self, it: &FileInterval, hosts: usize) -> bool {
        let times = [it.start_s, it.length_s, it.cpu_user, it.cpu_system];
        times.into_iter().all(is_plausible_time) && self.accept_files(&it.tally, &[], hosts)
    }

    /// Adds an outcome on file trees; returns whether it is plausible.
    pub(super) fn accept_trees_outcome(&mut self, it: &FileOutcome, hosts: usize) -> bool {
        is_plausible_time(it.elapsed_s)
            && self.accept_files(&it.total, &[it.error_count], hosts)
    }

    fn accept_files(&mut self, it: &FileTally, more: &[u64], hosts: usize) -> bool {
        let operations = || it.operations.iter().chain([&it.requested]);
        let values = [&it.service_ns, &it.from_intended_ns].into_iter().flatten();
        let counts = operations().map(|it| it.count).chain(values.map(|it| it.len()));
        let bytes = [it.read_bytes, it.written_bytes];
        operations().all(|it| it.sum_ns <= MAX_COUNT)
            && self.accept_counts(counts.chain(bytes).chain(more.iter().copied()), hosts)
    }

    fn accept_counts(&mut self, counts: impl Iterator<Item = u64>, hosts: usize) -> bool {
        let all = counts.fold(self.0, u64::saturating_add);
        let is_covered = all <= MAX_COUNT / hosts.max(1) as u64;
        if is_covered {
            self.0 = all;
        }
        is_covered
    }
}

fn tally_counts(tally: &IoTally) -> [u64; 4] {
    [tally.count, tally.bytes, tally.service_ns.len(), tally.from_intended_ns.len()]
}

/// Sums of times are checked but not added: a thousand I/O in flight take a thousand seconds in
/// one.
fn is_plausible(tally: &IoTally) -> bool {
    tally.service_sum_ns <= MAX_COUNT
        && (0.0..=f64::MAX.sqrt()).contains(&tally.service_square_sum)
}

fn is_plausible_time(seconds: f64) -> bool {
    (MIN_TIME_S..=MAX_TIME_S).contains(&seconds)
}

#[cfg(test)]
mod tests {
    use assay_model::storage_outcome::StreamCount;

    use super::*;

    fn interval() -> IntervalTally {
        let mut reads = IoTally::empty();
        (reads.count, reads.bytes) = (1, 4096);
        reads.service_ns.record(77).expect("it grows");
        IntervalTally {
            start_s: 0.0,
            length_s: 1.0,
            warmup: false,
            reads,
            writes: IoTally::empty(),
            streams: vec![StreamCount { reads: 1, ..StreamCount::default() }],
            in_flight: 1.0,
            cpu_user: 0.5,
            cpu_system: 0.25,
        }
    }

    #[test]
    fn rejects_implausible_interval() {
        let check = |change: &dyn Fn(&mut IntervalTally), expected: bool| {
            let mut it = interval();
            change(&mut it);
            assert_eq!(HostAccount::default().accept_interval(&it, 1000), expected, "{it:?}");
        };
        check(&|_| {}, true);
        check(&|it| it.reads.bytes = 4_000_000_000_000_000, true);
        check(&|it| it.reads.count = u64::MAX, false);
        check(&|it| it.writes.bytes = u64::MAX / 1000, false);
        check(&|it| it.streams[0].write_bytes = u64::MAX, false);
        check(&|it| it.streams[0].read_service_ns = u64::MAX, false);
        check(&|it| it.reads.service_ns.record_n(5, u64::MAX - 9).expect("it grows"), false);
        check(&|it| it.reads.service_sum_ns = u64::MAX, false);
        check(&|it| it.reads.service_square_sum = f64::MAX, false);
        check(&|it| it.length_s = 1e308, false);
        check(&|it| it.start_s = -1.0, false);
        check(&|it| it.cpu_user = f64::NAN, false);
        check(&|it| it.in_flight = -1.0, false);
    }

    #[test]
    fn rejects_implausible_tree_interval() {
        let check = |change: &dyn Fn(&mut FileInterval), expected: bool| {
            let mut it = FileInterval {
                start_s: 0.0,
                length_s: 1.0,
                warmup: false,
                tally: FileTally::default(),
                cpu_user: 0.5,
                cpu_system: 0.25,
            };
            change(&mut it);
            assert_eq!(
                HostAccount::default().accept_trees_interval(&it, 1000),
                expected,
                "{it:?}"
            );
        };
        check(&|_| {}, true);
        check(&|it| it.tally.read_bytes = 4_000_000_000_000_000, true);
        check(&|it| it.tally.written_bytes = u64::MAX, false);
        check(&|it| it.tally.requested.count = u64::MAX / 1000, false);
        check(&|it| it.tally.operations[3].sum_ns = u64::MAX, false);
        check(&|it| it.length_s = f64::NAN, false);
        check(&|it| it.cpu_system = -1.0, false);
    }

    #[test]
    fn limits_sum_of_small_reports() {
        let mut account = HostAccount::default();
        let mut it = interval();
        it.reads.bytes = MAX_COUNT / 10 / 8;
        let taken = (0..10).filter(|_| account.accept_interval(&it, 10)).count();
        assert_eq!(taken, 7, "what was taken before counts, and what was refused does not");
    }
}
