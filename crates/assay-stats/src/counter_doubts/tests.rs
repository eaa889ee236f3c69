//! Tests of the doubts that kernel counters show.

use assay_model::kernel_counters::{OmissionReason, OmittedCounter, PayloadBytes};
use assay_model::plan::{Case, StoppingRule};
use assay_model::workload::storage::{
    AccessPattern, StorageStream, StorageTarget, StorageTest, StorageTiming, StorageWorkload,
};
use assay_model::workload::{NetworkTest, NetworkThroughput, NetworkWorkload};

use super::*;

const MIB: f64 = 1048576.0;

fn counted(counter: Counter, of: &str, total: f64) -> CountedSeries {
    CountedSeries { counter, of: of.to_owned(), total, points: Vec::new() }
}

fn record(payload: (u64, u64), counted: Vec<CountedSeries>) -> CounterRecord {
    CounterRecord {
        case: "x".to_owned(),
        seconds: 10.0,
        payload: Some(PayloadBytes { read: payload.0, written: payload.1 }),
        counted,
        ..CounterRecord::default()
    }
}

fn case_record(workload: Workload) -> CaseRecord {
    let stopping =
        StoppingRule { target: 0.01, repetitions: 1, preparations: 1, budget_s: 1.0 };
    let (id, by) = ("x".to_owned(), "assay".to_owned());
    CaseRecord::new(Case { id, by, workload, stopping, pair: None })
}

fn storage(is_direct: bool) -> Workload {
    let target =
        StorageTarget { direct: is_direct, ..StorageTarget::new("t", "/v/file", None) };
    let timing = StorageTiming { interval_s: 0.1, ..StorageTiming::new(Some(1.0)) };
    let workload = StorageWorkload {
        timing,
        ..StorageWorkload::new(
            vec![target],
            vec![StorageStream::new(AccessPattern::Random, 8192, 1.0)],
            None,
        )
    };
    Workload::Storage(Box::new(StorageTest::new("RndRead", workload)))
}

fn transfer() -> Workload {
    let test = NetworkTest::Throughput(NetworkThroughput::sending(10));
    Workload::NetworkTcp(NetworkWorkload { to: None, port: None, test })
}

fn ids(workload: Workload, counters: CounterRecord) -> Vec<String> {
    let mut case = case_record(workload);
    case.counters.push(counters);
    let doubts = counter_doubts(&case, "h");
    doubts.iter().map(|it| format!("{} {:.2}", it.id(), it.severity())).collect()
}

const PAYLOAD: u64 = 1 << 30;

#[test]
fn bytes_below_the_payload_were_cached() {
    use Counter::{
        DeviceReadBytes as Read, DeviceWrittenBytes as Written, NfsReadBytes as Nfs,
    };
    let all = 1024.0 * MIB;
    for (payload, series, expected) in [
        // Direct I/O moves the payload, and others move more.
        ((PAYLOAD, 0), vec![counted(Read, "sda", all)], &[][..]),
        ((PAYLOAD, 0), vec![counted(Read, "sda", 3.0 * all)], &[]),
        ((PAYLOAD, 0), vec![counted(Read, "sda", 0.96 * all)], &[]),
        ((PAYLOAD, 0), vec![counted(Read, "sda", 0.59 * all)], &["cached-reads 0.41"]),
        ((PAYLOAD, 0), vec![counted(Nfs, "/mnt/v", 0.0)], &["cached-reads 1.00"]),
        (
            (PAYLOAD, 0),
            vec![counted(Read, "sda", 0.5 * all), counted(Nfs, "/v", 0.5 * all)],
            &[],
        ),
        ((0, PAYLOAD), vec![counted(Written, "sda", 0.7 * all)], &["cached-writes 0.30"]),
        ((0, PAYLOAD), vec![], &[]),
        ((1 << 20, 0), vec![counted(Read, "sda", 0.0)], &[]),
    ] {
        assert_eq!(ids(storage(false), record(payload, series)), expected);
    }
}

#[test]
fn missing_counters_conclude_nothing() {
    let mut counters =
        record((PAYLOAD, 0), vec![counted(Counter::DeviceReadBytes, "sda", 0.0)]);
    counters.omitted =
        vec![OmittedCounter { name: "/b".into(), reason: OmissionReason::NoSingleDevice }];
    assert_eq!(ids(storage(false), counters.clone()), [""; 0]);
    // Other counters do not matter.
    let cpu =
        OmittedCounter { name: "cpu3 cpu-all".into(), reason: OmissionReason::NoSingleDevice };
    let newer =
        |name: &str| OmittedCounter { name: name.into(), reason: OmissionReason::NewerVersion };
    counters.omitted = vec![newer("/b")];
    assert_eq!(ids(storage(false), counters.clone()), [""; 0]);
    for omitted in [vec![], vec![cpu], vec![newer("warp-core")]] {
        counters.omitted = omitted;
        assert_eq!(ids(storage(false), counters.clone()), ["cached-reads 1.00"]);
    }
    counters.payload = None;
    assert_eq!(ids(storage(false), counters.clone()), [""; 0]);
    counters.payload = Some(PayloadBytes { read: PAYLOAD, written: 0 });
    counters.host = Some("other".into());
    assert_eq!(ids(storage(false), counters), [""; 0]);
}

#[test]
fn direct_reads_from_a_cache_are_suspect() {
    use assay_model::doubt::TrustLevel;
    for (is_direct, level) in [(true, TrustLevel::Suspect), (false, TrustLevel::Sound)] {
        let mut case = case_record(storage(is_direct));
        let counters =
            record((PAYLOAD, 0), vec![counted(Counter::DeviceReadBytes, "sda", 0.0)]);
        case.counters.push(counters);
        let doubts = counter_doubts(&case, "h");
        assert_eq!(doubts[0].row().level, level);
    }
}

#[test]
fn card_moves_the_payload_and_headers() {
    use Counter::{ReceivedBytes, SentBytes};
    for (bytes, expected) in [
        (1.0, &[][..]),
        (1.046, &[]),
        (1.10, &[]),
        (1.31, &["card-traffic 0.31"]),
        (0.6, &["card-traffic 0.40"]),
    ] {
        let sent = counted(SentBytes, "eth0", bytes * 1024.0 * MIB);
        let acks = counted(ReceivedBytes, "eth0", 9.0 * MIB);
        assert_eq!(
            ids(transfer(), record((0, PAYLOAD), vec![sent, acks])),
            expected,
            "{bytes}"
        );
    }
    assert_eq!(ids(transfer(), record((0, PAYLOAD), vec![])), [""; 0], "loopback");
}

/// Datagrams are lost in the buffer of the receiver, behind the device, and in the sender's queue.
#[test]
fn lost_datagrams_are_no_other_traffic() {
    use Counter::{ReceivedBytes, SentBytes};
    let tcp = transfer();
    let work = tcp.as_tcp().unwrap();
    for (payload, counter, factor, expected) in [
        ((PAYLOAD, 0), ReceivedBytes, 1.31, &[][..]),
        ((PAYLOAD, 0), ReceivedBytes, 0.6, &["card-traffic 0.40"]),
        ((0, PAYLOAD), SentBytes, 0.6, &[]),
        ((0, PAYLOAD), SentBytes, 1.31, &["card-traffic 0.31"]),
    ] {
        let moved = counted(counter, "eth0", factor * 1024.0 * MIB);
        let found = ids(Workload::NetworkUdp(work.clone()), record(payload, vec![moved]));
        assert_eq!(found, expected, "{factor}");
    }
}

/// Four CPUs for ten seconds; seconds in interrupts of the busiest and of all.
#[test]
fn one_cpu_in_interrupts_all_the_time_limits() {
    use Counter::{CpuAll, CpuInterrupts};
    for (busiest_s, all_s, expected) in [
        (9.9, 12.0, &["interrupt-bound 0.99"][..]),
        (9.9, 24.0, &["interrupt-bound 0.99"]),
        (9.0, 12.0, &[]),
        // Spread over all CPUs.
        (9.9, 39.0, &[]),
        (2.5, 10.0, &[]),
    ] {
        let series = || {
            vec![
                counted(CpuInterrupts, "", all_s),
                counted(CpuAll, "", 40.0),
                counted(CpuInterrupts, "cpu3", busiest_s),
                counted(CpuAll, "cpu3", 10.0),
            ]
        };
        let found = |counters| ids(transfer(), counters);
        let whole = record((0, PAYLOAD), series());
        assert_eq!(found(whole.clone()), expected, "{busiest_s} of {all_s}");
        // No transfer, a stretch of a few ticks, a missing counter, or another case.
        assert_eq!(found(CounterRecord { payload: None, ..whole.clone() }), [""; 0]);
        assert_eq!(found(CounterRecord { seconds: 0.2, ..whole.clone() }), [""; 0]);
        for missing in 0..4 {
            let mut counters = whole.clone();
            counters.counted.remove(missing);
            assert_eq!(found(counters), [""; 0], "{missing}");
        }
        assert_eq!(ids(storage(false), whole), [""; 0]);
    }
}

/// The only CPU of a machine has no other to share its work with.
#[test]
fn single_cpu_is_not_named() {
    use Counter::{CpuAll, CpuInterrupts};
    let of_both = |counter, total| ["", "cpu0"].map(|of| counted(counter, of, total));
    let series = [of_both(CpuInterrupts, 9.9), of_both(CpuAll, 10.0)].concat();
    assert_eq!(ids(transfer(), record((0, PAYLOAD), series)), [""; 0]);
}

/// 50 reads per second from the second to the ninth second, of which the first and the last point
/// have a part; a burst of a single second is no limit that holds.
#[test]
fn limit_is_compared_with_the_busy_part() {
    let busy = [0.0, 7.0, 50.0, 50.0, 50.0, 50.0, 50.0, 50.0, 9.0, 0.0];
    let burst = [0.0, 0.0, 50.0, 50.0, 50.0, 0.0, 0.0, 0.0, 9.0, 0.0];
    let short = [0.0, 0.0, 0.0, 20.0, 50.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for (points, per_s, expected) in [
        (busy, 50.0, &["io-limit-reached 0.00"][..]),
        (busy, 60.0, &[]),
        (burst, 50.0, &[]),
        (short, 50.0, &[]),
    ] {
        let reads = Counter::DeviceReads;
        let series = counted(reads, "sda", points.iter().sum());
        let mut counters =
            record((0, 0), vec![CountedSeries { points: points.to_vec(), ..series }]);
        counters.points_s = (0..10).map(|at| [f64::from(at), f64::from(at + 1)]).collect();
        counters.limits = vec![CounterLimit { counter: reads, of: "sda".into(), per_s }];
        assert_eq!(ids(storage(true), counters), expected, "{points:?} {per_s}");
    }
}

#[test]
fn reached_limit_and_repeated_calls_are_named() {
    let series = || {
        vec![
            counted(Counter::DeviceReadBytes, "sda", 1024.0 * MIB),
            counted(Counter::NfsCalls, "/v", 100.0),
            counted(Counter::NfsRetransmits, "/v", 2.0),
        ]
    };
    for (limit_mib, expected) in [
        (103.0, &["rpc-retransmits 2.00", "io-limit-reached 0.00"][..]),
        (200.0, &["rpc-retransmits 2.00"]),
    ] {
        let mut counters = record((PAYLOAD, 0), series());
        counters.limits = vec![CounterLimit {
            counter: Counter::DeviceReadBytes,
            of: "sda".into(),
            per_s: limit_mib * MIB,
        }];
        assert_eq!(ids(storage(true), counters), expected, "{limit_mib}");
    }
}
