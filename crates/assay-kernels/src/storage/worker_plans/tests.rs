//! Tests that the parts of a divided workload add up.

use assay_model::workload::storage::AtEnd;

use super::*;

fn stream(
    targets: usize,
    threads: u32,
    in_flight: u32,
    pattern: AccessPattern,
) -> StorageStream {
    StorageStream {
        name: "s".to_owned(),
        targets: (0..targets).collect(),
        threads,
        in_flight_per_target: in_flight,
        ..StorageStream::new(pattern, 4096, 1.0)
    }
}

fn workload(streams: Vec<StorageStream>, load: StorageLoad) -> StorageWorkload {
    StorageWorkload { load, ..StorageWorkload::new(Vec::new(), streams, Some(1.0)) }
}

const AREA: ByteRange = ByteRange { start: 0, end: 1 << 20 };

/// Checks the slots of each worker, by lane.
fn check(targets: usize, threads: u32, in_flight: u32, singly: bool, expected: &[&[u32]]) {
    let stream = stream(targets, threads, in_flight, AccessPattern::Random);
    let workload = workload(vec![stream], StorageLoad::Closed);
    let workers = plan_workers(&workload, &vec![AREA; targets], singly);
    let found: Vec<Vec<u32>> = workers
        .iter()
        .map(|worker| worker.lanes.iter().map(|lane| lane.slots).collect())
        .collect();
    assert_eq!(found, expected, "{targets} targets, {threads} threads, {in_flight} in flight");
    let mut ids: Vec<u64> =
        workers.iter().flat_map(|worker| &worker.lanes).map(|lane| lane.id).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "random words are a lane's own");
}

#[test]
fn slots_add_up_to_the_depth() {
    check(1, 1, 32, false, &[&[32]]);
    check(1, 3, 8, false, &[&[3], &[3], &[2]]);
    check(3, 2, 1, false, &[&[1, 1], &[1]]);
    check(1, 8, 2, false, &[&[1], &[1]]);
    check(2, 1, 2, true, &[&[1], &[1], &[1], &[1]]);
}

#[test]
fn threads_divide_a_range_without_a_gap() {
    let pattern = AccessPattern::Sequential {
        cursor: Cursor::Divided,
        at_end: AtEnd::Stop,
        gap_bytes: 0,
    };
    let workload = workload(vec![stream(1, 4, 4, pattern)], StorageLoad::Closed);
    let workers = plan_workers(&workload, &[AREA], false);
    let areas: Vec<ByteRange> = workers.iter().map(|worker| worker.lanes[0].area).collect();
    let expected: Vec<ByteRange> =
        (0..4).map(|n| ByteRange { start: n << 18, end: (n + 1) << 18 }).collect();
    assert_eq!(areas, expected);
}

/// Counts the arrivals of all lanes in a second.
fn arrivals(workload: &StorageWorkload, stream: usize, singly: bool) -> usize {
    let workers = plan_workers(workload, &[AREA, AREA], singly);
    let mut sources: Vec<ArrivalSource> = workers
        .into_iter()
        .filter(|worker| worker.stream == stream)
        .flat_map(|worker| worker.lanes)
        .filter_map(|lane| lane.arrivals)
        .collect();
    sources
        .iter_mut()
        .map(|source| (0..).take_while(|_| source.next_ns() < 1_000_000_000).count())
        .sum()
}

#[test]
fn own_rates_are_subtracted_before_sharing() {
    let (mut a, mut b, mut c) = (
        stream(2, 2, 8, AccessPattern::Random),
        stream(1, 1, 8, AccessPattern::Random),
        stream(1, 1, 1, AccessPattern::Random),
    );
    (a.rate_share, b.rate_share, c.rate_share) = (0.6, 0.2, 0.2);
    c.own_rate_per_s = Some(1000.0);
    let load = StorageLoad::Open { rate_per_s: 9000.0, arrivals: ArrivalProcess::Constant };
    let workload = workload(vec![a, b, c], load);
    for (stream, expected) in [(0, 6000_usize), (1, 2000), (2, 1000)] {
        assert!(arrivals(&workload, stream, false).abs_diff(expected) <= 4, "{stream}");
    }
}

#[test]
fn cap_is_divided_by_slots() {
    let workload = workload(
        vec![stream(1, 2, 3, AccessPattern::Random)],
        StorageLoad::Capped { bytes_per_s: 300.0 },
    );
    let caps = |singly| -> Vec<f64> {
        let workers = plan_workers(&workload, &[AREA], singly);
        workers.iter().filter_map(|worker| worker.cap_bytes_per_s).collect()
    };
    assert_eq!(caps(false), [200.0, 100.0]);
    assert_eq!(caps(true), [100.0, 100.0, 100.0]);
}
