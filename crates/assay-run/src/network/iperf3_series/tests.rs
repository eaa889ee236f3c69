//! Tests: every interval of the reports is recorded, as a part of the test.

use assay_dialects::iperf3::{
    DataConnection, Iperf3Interval, StreamTotals, TcpNumbers, UdpNumbers,
};
use assay_kernels::clock;
use assay_model::event::RequestedCommand;
use assay_model::run::SeriesRecord;
use assay_model::workload::{NetworkTest, NetworkThroughput, NetworkWorkload, Workload};

use super::*;
use crate::listener::SilentListener;
use crate::recording::{Recording, RecordingRequest, phase_plan};

/// Seconds of a number of nanoseconds, as the meter computes them.
fn s(ns: u64) -> f64 {
    clock::seconds_between(0, ns)
}

fn tcp(it: u64) -> TcpNumbers {
    TcpNumbers {
        retransmits: it,
        congestion_window_bytes: 3_145_728 + it,
        send_window_bytes: 6_291_456,
        rtt_us: 69 + it as u32,
        rtt_deviation_us: 31,
        path_mtu_bytes: 65535,
        reordered: 2,
        delivery_bit_per_s: Some(39_999_999_992),
    }
}

fn stretch(number: u32, sends: bool, (from_ns, to_ns): (u64, u64)) -> StreamInterval {
    StreamInterval {
        socket: Some(5 + 2 * number),
        sends,
        start_s: s(from_ns),
        end_s: s(to_ns),
        // An odd, large number reveals rounding.
        bytes: 1_000_003 * (u64::from(number) + 1) + (to_ns - from_ns) * 11,
        tcp: sends.then(|| tcp(number.into())),
        ..StreamInterval::default()
    }
}

fn start(sends: &[bool]) -> Iperf3Start {
    let connected = |(number, sends): (u32, &bool)| DataConnection {
        socket: 5 + 2 * number,
        local: "127.0.0.1:43210".parse().unwrap(),
        remote: "[2001:db8::1]:5201".parse().unwrap(),
        sends: *sends,
    };
    Iperf3Start {
        connected: (0..).zip(sends).map(connected).collect(),
        cookie: "abcdefghijklmnopqrstuvwxyz234567abcd".to_owned(),
        time_s: 1_795_339_200,
        version: "iperf 3.12 (assay 0.1.0)".to_owned(),
        system: "Linux node 6.18".to_owned(),
        block_bytes: 131_072,
        segment_bytes: 32_768,
        buffers_bytes: (2_626_560, 131_072),
        ..asked()
    }
}

fn asked() -> Iperf3Start {
    Iperf3Start {
        is_client: true,
        peer: "node2".to_owned(),
        port: 5201,
        ..Iperf3Start::default()
    }
}

/// Reports of streams in these directions, with an omitted second and intervals that do not end at
/// round times.
fn reported(sends: &[bool]) -> Iperf3Report {
    let spans = [(0, 1_000_170_003), (0, 500_123_457), (500_123_457, 1_000_000_001)];
    let interval = |(at, span): (usize, (u64, u64))| {
        let one = |(number, sends): (u32, &bool)| StreamInterval {
            omitted: at == 0,
            ..stretch(number, *sends, span)
        };
        Iperf3Interval { streams: (0..).zip(sends).map(one).collect() }
    };
    let whole = |(number, sends): (u32, &bool)| {
        let own = stretch(number, *sends, (0, 1_000_000_317));
        let retransmits = TcpNumbers { retransmits: 7, ..TcpNumbers::default() };
        // The peer's time is arbitrary.
        let theirs = StreamInterval {
            end_s: 1.000_003_9,
            bytes: own.bytes - 131_072,
            tcp: (!*sends).then_some(retransmits),
            ..own
        };
        let (sent, received) = if *sends { (own, theirs) } else { (theirs, own) };
        StreamTotals {
            socket: 5 + 2 * number,
            sends: *sends,
            sent: Some(sent),
            received: Some(received),
            rtt_us: sends.then_some((41, 69, 1234)),
            windows_bytes: if *sends { (3_145_729, 6_291_456) } else { (0, 0) },
        }
    };
    Iperf3Report {
        start: Some(start(sends)),
        intervals: spans.into_iter().enumerate().map(interval).collect(),
        end: Some(Iperf3End {
            streams: (0..).zip(sends).map(whole).collect(),
            cpu_here: (23.456_789_012, 0.1, 23.356_789_012),
            cpu_there: (70.4, 1.2, 69.2),
            congestion: (Some("cubic".to_owned()), Some("bbr".to_owned())),
            server_output_text: Some("Accepted\n".to_owned()),
            server_output_json: Some(serde_json::json!({ "end": { "seconds": 1.000_003_9 } })),
            file: None,
            concurrent: None,
        }),
        error: None,
    }
}

/// Reports of UDP streams, with a late datagram of an earlier interval.
fn datagrams(reported: Iperf3Report) -> Iperf3Report {
    let lost = |it: StreamInterval, lost: i64| StreamInterval {
        tcp: None,
        udp: Some(UdpNumbers { packets: 77, lost, out_of_order: Some(1), jitter_s: s(54_321) }),
        ..it
    };
    let mut reported = reported;
    for interval in &mut reported.intervals {
        interval.streams.iter_mut().for_each(|it| *it = lost(*it, -1));
    }
    for stream in reported.end.iter_mut().flat_map(|end| &mut end.streams) {
        (stream.sent, stream.received) =
            (stream.sent.map(|it| lost(it, 0)), stream.received.map(|it| lost(it, 3)));
        (stream.rtt_us, stream.windows_bytes) = (None, (0, 0));
    }
    reported
}

#[track_caller]
fn check(before: &Iperf3Report) {
    let test = NetworkTest::Throughput(NetworkThroughput::sending(1));
    let work = NetworkWorkload { to: None, port: None, test };
    let udp = before.intervals.iter().flat_map(|it| &it.streams).any(|it| it.udp.is_some());
    let work = if udp { Workload::NetworkUdp(work) } else { Workload::NetworkTcp(work) };
    let opening = RecordingRequest {
        plan: phase_plan("iperf3", vec![("tcp".to_owned(), work)]),
        asked: RequestedCommand { language: "iperf3".to_owned(), words: Vec::new() },
        label: None,
        files: Vec::new(),
        store: None,
    };
    let mut silent = SilentListener;
    let mut recording = Recording::begin(opening, &mut silent).unwrap();
    recording.record_case(0, report_entries(before), &[], None).unwrap();
    let run = recording.finish(false).unwrap();
    for rate in RATES {
        let intervals = before.intervals.iter().flat_map(|it| &it.streams);
        let bytes = intervals.filter(|it| it.sends == (rate == RATES[0])).map(|it| it.bytes);
        let is_interval = |it: &&SeriesRecord| {
            let name = it.dimensions.get(&Attribute::Stretch).and_then(AttributeValue::as_text);
            it.metric == rate && name.is_some_and(|name| name != WHOLE)
        };
        let samples = run.cases[0].series.iter().filter(is_interval).flat_map(|it| &it.samples);
        let recorded = samples.map(|it| (it.value * it.weight / 8.0).round() as u64);
        assert_eq!(recorded.sum::<u64>(), bytes.sum::<u64>(), "{rate}");
    }
    assert!(assay_stats::summarize::summarize(&run).results.is_empty(), "parts are no results");
}

#[test]
fn records_complete_reports() {
    for sends in [&[true][..], &[false, false], &[true, true, false, false]] {
        check(&reported(sends));
        check(&datagrams(reported(sends)));
    }
}

#[test]
fn records_partial_reports() {
    let error = Some("no data arrived".to_owned());
    check(&Iperf3Report { end: None, error: error.clone(), ..reported(&[true, true]) });
    check(&Iperf3Report {
        start: Some(start(&[true])),
        error: error.clone(),
        ..Iperf3Report::default()
    });
    check(&Iperf3Report { error, ..Iperf3Report::default() });
}
