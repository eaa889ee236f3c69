//! Divides a storage workload into shares of several hosts, and merges their results.
//!
//! Counts and bytes add up; histograms merge exactly. This module does no I/O and does not contact
//! the hosts.

use assay_model::seed;
use assay_model::storage_outcome::{
    EndReason, IntervalTally, IoFailure, IoTally, StorageOutcome, StreamCount, StreamDetails,
    StreamTally,
};
use assay_model::workload::storage::{
    AccessPattern, StorageLoad, StorageStream, StorageWorkload,
};

pub mod far_end;
mod plausibility;
mod shared_work;
pub mod storage_hosts;
mod trees;

/// Share of one host in a workload.
#[derive(Debug, Clone)]
pub struct HostShare {
    /// Workload with the host's own targets and streams.
    pub workload: StorageWorkload,
    /// Indices in the whole workload, by own stream and own target.
    streams: Vec<usize>,
    targets: Vec<usize>,
}

impl HostShare {
    /// Returns the share of `host`; `places` holds the host of each target. `None` if the host has
    /// nothing to do.
    ///
    /// Each stream's rate is divided in proportion to its targets: ten hosts of one target each do
    /// a tenth each.
    pub fn for_host(whole: &StorageWorkload, places: &[usize], host: usize) -> Option<Self> {
        let targets: Vec<usize> = (0..whole.targets.len())
            .filter(|target| places.get(*target) == Some(&host))
            .collect();
        let mut streams = Vec::new();
        let mut own = Vec::new();
        for (index, stream) in whole.streams.iter().enumerate() {
            let mine: Vec<usize> =
                stream.targets.iter().filter_map(|it| targets.binary_search(it).ok()).collect();
            if mine.is_empty() {
                continue;
            }
            let part = mine.len() as f64 / stream.targets.len() as f64;
            streams.push(index);
            own.push(StorageStream {
                targets: mine,
                rate_share: stream.rate_share * part,
                own_rate_per_s: stream.own_rate_per_s.map(|rate| rate * part),
                ..stream.clone()
            });
        }
        if streams.is_empty() {
            return None;
        }
        let mut workload = StorageWorkload {
            targets: targets.iter().map(|target| whole.targets[*target].clone()).collect(),
            load: host_load(whole, &own),
            streams: own,
            seed: seed::derive_seed(whole.seed, host as u64 + 1),
            ..whole.clone()
        };
        // The coordinator counts the bytes of all hosts and ends the run.
        workload.timing.stop_after_bytes = None;
        Some(Self { workload, streams, targets })
    }

    /// Returns the share of a process that runs one stream of a closed loop.
    ///
    /// Streams that visit all of their blocks keep the seed, because others read the same blocks in
    /// the same order. Random offsets are those of the process.
    pub fn for_stream(whole: &StorageWorkload, index: usize) -> Self {
        let stream = &whole.streams[index];
        let seed = match stream.pattern {
            AccessPattern::Blocks { .. } => whole.seed,
            _ => seed::derive_seed(whole.seed, index as u64 + 1),
        };
        let targets = stream.targets.clone();
        let workload = StorageWorkload {
            targets: targets.iter().map(|target| whole.targets[*target].clone()).collect(),
            streams: vec![StorageStream {
                targets: (0..targets.len()).collect(),
                rate_share: 1.0,
                ..stream.clone()
            }],
            load: whole.load.clone(),
            timing: whole.timing,
            engine: whole.engine,
            data: whole.data,
            seed,
        };
        Self { workload, streams: vec![index], targets }
    }
}

/// Returns the load of a host with the streams `own`.
fn host_load(whole: &StorageWorkload, own: &[StorageStream]) -> StorageLoad {
    let sum = |streams: &[StorageStream]| -> (f64, f64) {
        let (alone, sharing): (Vec<_>, Vec<_>) =
            streams.iter().partition(|it| it.own_rate_per_s.is_some());
        let rates = alone.iter().filter_map(|it| it.own_rate_per_s).sum();
        (rates, sharing.iter().map(|it| it.rate_share).sum())
    };
    let ((all_rates, all_shares), (rates, shares)) = (sum(&whole.streams), sum(own));
    let part = if all_shares > 0.0 { shares / all_shares } else { 0.0 };
    match whole.load {
        StorageLoad::Open { rate_per_s, arrivals } => {
            let shared_per_s = (rate_per_s - all_rates).max(0.0);
            StorageLoad::Open { rate_per_s: rates + shared_per_s * part, arrivals }
        }
        StorageLoad::Capped { bytes_per_s } => {
            StorageLoad::Capped { bytes_per_s: bytes_per_s * part }
        }
        StorageLoad::Closed | StorageLoad::Balanced | StorageLoad::ShareOf { .. } => {
            whole.load.clone()
        }
    }
}

/// Returns an interval without activity.
pub fn idle_interval(like: &IntervalTally) -> IntervalTally {
    IntervalTally {
        reads: IoTally::empty(),
        writes: IoTally::empty(),
        streams: Vec::new(),
        in_flight: 0.0,
        cpu_user: 0.0,
        cpu_system: 0.0,
        ..like.clone()
    }
}

/// Minimum length of a full interval relative to the longest; hosts with a shorter one finished
/// within it.
const FULL_INTERVAL_SHARE: f64 = 0.9;

/// Returns the common length of an interval of several hosts, not shortened by hosts that finished
/// within it.
///
/// This is the mean of the full lengths, because intervals end slightly late or early on each host
/// independently. If the lengths of each host add up to the same time, their means do, too; their
/// maxima do not.
fn common_length_s(lengths: impl Iterator<Item = f64> + Clone) -> f64 {
    let longest_s = lengths.clone().fold(0.0, f64::max);
    let whole: Vec<f64> = lengths.filter(|it| *it >= FULL_INTERVAL_SHARE * longest_s).collect();
    whole.iter().sum::<f64>() / whole.len().max(1) as f64
}

/// Returns one end reason for all hosts.
fn combine_ends(ends: &[EndReason]) -> EndReason {
    [EndReason::Errors, EndReason::Interrupted, EndReason::Time, EndReason::Work]
        .into_iter()
        .find(|end| ends.contains(end))
        .unwrap_or(EndReason::Work)
}

/// Merges the same interval of several hosts.
pub fn merge_intervals(
    parts: &[(&HostShare, &IntervalTally)],
    start_s: f64,
    streams: usize,
) -> Option<IntervalTally> {
    let (_, first) = parts.first()?;
    let length_s = common_length_s(parts.iter().map(|(_, it)| it.length_s));
    let mut all = IntervalTally { start_s, length_s, ..idle_interval(first) };
    all.streams = vec![StreamCount::default(); streams];
    for (share, part) in parts {
        all.reads.merge(&part.reads);
        all.writes.merge(&part.writes);
        // I/O in flight is weighted by the host's own time, which may be shorter.
        if length_s > 0.0 {
            all.in_flight += part.in_flight * (part.length_s / length_s).min(1.0);
        }
        all.cpu_user += part.cpu_user / parts.len() as f64;
        all.cpu_system += part.cpu_system / parts.len() as f64;
        for (count, stream) in part.streams.iter().zip(&share.streams) {
            all.streams[*stream].merge(count);
        }
    }
    Some(all)
}

/// Merges the outcomes of all hosts with the intervals in them. `None` without any.
pub fn merge_whole_outcomes(
    parts: Vec<(&str, &HostShare, StorageOutcome)>,
    streams: usize,
) -> Option<StorageOutcome> {
    let (mut intervals, mut ended_s) = (Vec::new(), 0.0);
    loop {
        let nth = intervals.len();
        let same: Vec<(&HostShare, &IntervalTally)> = parts
            .iter()
            .filter_map(|(_, share, outcome)| Some((*share, outcome.intervals.get(nth)?)))
            .collect();
        let Some(all) = merge_intervals(&same, ended_s, streams) else { break };
        ended_s += all.length_s;
        intervals.push(all);
    }
    merge_outcomes(parts, intervals, streams)
}

/// Merges the outcomes of all hosts; `intervals` are those of [`merge_intervals`]. `None` without
/// any.
pub fn merge_outcomes(
    parts: Vec<(&str, &HostShare, StorageOutcome)>,
    intervals: Vec<IntervalTally>,
    streams: usize,
) -> Option<StorageOutcome> {
    let (_, _, first) = parts.first()?;
    let mut all = StorageOutcome {
        tallies: Vec::new(),
        intervals,
        cpu_user_s: 0.0,
        cpu_system_s: 0.0,
        errors: Vec::new(),
        error_count: 0,
        not_started: 0,
        streams: vec![StreamDetails::default(); streams],
        ..first.clone()
    };
    all.ended = combine_ends(&parts.iter().map(|(.., it)| it.ended).collect::<Vec<_>>());
    for (host, share, part) in parts {
        all.elapsed_s = all.elapsed_s.max(part.elapsed_s);
        all.open_s = all.open_s.max(part.open_s);
        all.close_s = all.close_s.max(part.close_s);
        all.cpu_user_s += part.cpu_user_s;
        all.cpu_system_s += part.cpu_system_s;
        all.error_count = all.error_count.saturating_add(part.error_count);
        all.not_started = all.not_started.saturating_add(part.not_started);
        if !all.engine.split("; ").any(|engine| engine == part.engine) {
            all.engine = format!("{}; {}", all.engine, part.engine);
        }
        let whole = |own: &[usize], index: usize| own.get(index).copied();
        all.tallies.extend(part.tallies.into_iter().filter_map(|it| {
            let (stream, target) =
                (whole(&share.streams, it.stream)?, whole(&share.targets, it.target)?);
            Some(StreamTally { stream, target, ..it })
        }));
        all.errors.extend(part.errors.into_iter().filter_map(|it| {
            let target = whole(&share.targets, it.target)?;
            let stream = whole(&share.streams, it.stream)?;
            Some(IoFailure { stream, target, reason: format!("{host}: {}", it.reason), ..it })
        }));
        for (record, stream) in part.streams.into_iter().zip(&share.streams) {
            merge_details(&mut all.streams[*stream], record);
        }
    }
    Some(all)
}

fn merge_details(to: &mut StreamDetails, more: StreamDetails) {
    to.active_s = to.active_s.max(more.active_s);
    merge_tally(&mut to.syncs, more.syncs);
    let mine = to.submissions.iter_mut().chain(&mut to.completions);
    for (to, more) in mine.zip(more.submissions.into_iter().chain(more.completions)) {
        merge_tally(to, more);
    }
    to.errors.merge(&more.errors);
    to.journal.extend(more.journal);
    if let Some(more) = more.batches {
        to.batches.get_or_insert_default().merge(&more);
    }
}

fn merge_tally(to: &mut Option<IoTally>, more: Option<IoTally>) {
    match (to, more) {
        (_, None) => {}
        (Some(to), Some(more)) => to.merge(&more),
        (to, more) => *to = more,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use assay_model::workload::storage::{
        AccessPattern, ArrivalProcess, StorageTarget, StorageTiming,
    };

    use super::*;

    fn workload(
        load: StorageLoad,
        streams: &[(&[usize], f64, Option<f64>)],
    ) -> StorageWorkload {
        let target = |number: usize| {
            StorageTarget::new(
                format!("sd{number}"),
                PathBuf::from(format!("/v{number}")),
                Some(1 << 20),
            )
        };
        let stream =
            |(targets, rate_share, own): &(&[usize], f64, Option<f64>)| StorageStream {
                targets: targets.to_vec(),
                rate_share: *rate_share,
                own_rate_per_s: *own,
                ..StorageStream::new(AccessPattern::Random, 4096, 1.0)
            };
        StorageWorkload {
            timing: StorageTiming {
                warmup_s: 0.0,
                duration_s: Some(1.0),
                interval_s: 1.0,
                stop_after_bytes: Some(7),
            },
            load,
            ..StorageWorkload::new(
                (0..4).map(target).collect(),
                streams.iter().map(stream).collect(),
                None,
            )
        }
    }

    /// Compares the loads of two hosts; the second has only the last target.
    fn check(
        load: StorageLoad,
        streams: &[(&[usize], f64, Option<f64>)],
        expected: [Option<(StorageLoad, usize)>; 2],
    ) {
        let whole = workload(load, streams);
        for (host, expected) in expected.into_iter().enumerate() {
            let share = HostShare::for_host(&whole, &[0, 0, 0, 1], host);
            let found = share.as_ref().map(|it| (it.workload.load.clone(), it.streams.len()));
            assert_eq!(found, expected, "{host} of {whole:?}");
            let timing = share.map(|it| it.workload.timing.stop_after_bytes);
            assert_eq!(timing.flatten(), None);
        }
    }

    #[test]
    fn divides_rates_by_targets() {
        let open = |rate_per_s| StorageLoad::Open {
            rate_per_s,
            arrivals: ArrivalProcess::Exponential,
        };
        let all: &[usize] = &[0, 1, 2, 3];
        check(
            open(400.0),
            &[(all, 1.0, None)],
            [Some((open(300.0), 1)), Some((open(100.0), 1))],
        );
        // Half of the rate goes to the first target alone.
        let two: &[_] = &[(&[0][..], 0.5, None), (all, 0.5, None)];
        check(open(400.0), two, [Some((open(350.0), 2)), Some((open(50.0), 1))]);
        // The first stream has its own 80 IO/s, which are taken from the total first.
        let own: &[_] = &[(all, 0.0, Some(80.0)), (&[3][..], 1.0, None)];
        check(open(400.0), own, [Some((open(60.0), 1)), Some((open(340.0), 2))]);
        let capped = |bytes_per_s| StorageLoad::Capped { bytes_per_s };
        check(
            capped(8.0),
            &[(all, 1.0, None)],
            [Some((capped(6.0), 1)), Some((capped(2.0), 1))],
        );
        check(
            StorageLoad::Closed,
            &[(&[3], 1.0, None)],
            [None, Some((StorageLoad::Closed, 1))],
        );
    }

    fn done(ns: &[u64]) -> IoTally {
        let mut tally = IoTally::empty();
        for ns in ns {
            tally.count += 1;
            tally.bytes += 4096;
            tally.service_sum_ns += ns;
            tally.service_ns.record(*ns).expect("it grows");
        }
        tally
    }

    fn of_host(length_s: f64, reads: &[u64]) -> IntervalTally {
        let nothing = IntervalTally {
            start_s: 0.0,
            length_s,
            warmup: false,
            reads: done(reads),
            writes: IoTally::empty(),
            streams: vec![],
            in_flight: 2.0,
            cpu_user: 0.5,
            cpu_system: 0.25,
        };
        let reads = StreamCount { reads: reads.len() as u64, ..StreamCount::default() };
        IntervalTally { streams: vec![reads], ..nothing }
    }

    #[test]
    fn merges_intervals_of_hosts() {
        let whole = workload(StorageLoad::Closed, &[(&[0, 1], 0.5, None), (&[3], 0.5, None)]);
        let shares =
            [0, 1].map(|host| HostShare::for_host(&whole, &[0, 0, 0, 1], host).unwrap());
        let parts = [of_host(1.02, &[10, 20]), of_host(0.98, &[30])];
        let both = [(&shares[0], &parts[0]), (&shares[1], &parts[1])];
        let all = merge_intervals(&both, 3.0, 2).unwrap();
        assert_eq!((all.start_s, all.reads.count, all.reads.bytes), (3.0, 3, 12_288));
        assert!((all.length_s - 1.0).abs() < 1e-12, "{}", all.length_s);
        assert_eq!(all.reads.service_ns, done(&[10, 20, 30]).service_ns);
        assert_eq!(all.streams.iter().map(|it| it.reads).collect::<Vec<_>>(), [2, 1]);
        assert!((all.cpu_user - 0.5).abs() < 1e-12);
        // The second host finished after a tenth of the interval.
        let parts = [of_host(1.0, &[10]), of_host(0.1, &[30])];
        let both = [(&shares[0], &parts[0]), (&shares[1], &parts[1])];
        let all = merge_intervals(&both, 0.0, 2).unwrap();
        assert!((all.length_s - 1.0).abs() < 1e-12 && (all.in_flight - 2.2).abs() < 1e-12);
        assert!(merge_intervals(&[], 0.0, 1).is_none());
    }
}
