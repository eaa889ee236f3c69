//! Compares the output with lines that iperf3 3.12 printed.

use super::text::Iperf3TextStyle;
use super::units::RateFormat;
use super::*;

fn tcp_stretch() -> StreamInterval {
    StreamInterval {
        socket: Some(5),
        sends: true,
        start_s: 0.0,
        end_s: 0.5,
        bytes: 894 << 20,
        tcp: Some(TcpNumbers {
            retransmits: 8,
            congestion_window_bytes: 1023 << 10,
            rtt_us: 69,
            ..TcpNumbers::default()
        }),
        ..StreamInterval::default()
    }
}

fn udp_stretch(sends: bool) -> StreamInterval {
    let udp = UdpNumbers { packets: 31, lost: 0, out_of_order: None, jitter_s: 0.000_054 };
    let bytes = 992 << 10;
    StreamInterval { sends, end_s: 1.0, bytes, tcp: None, udp: Some(udp), ..tcp_stretch() }
}

fn check_line(stretch: StreamInterval, bidirectional: bool, expected: &str) {
    let style =
        Iperf3TextStyle { is_client: true, bidirectional, ..Iperf3TextStyle::default() };
    let interval = Iperf3Interval { streams: vec![stretch] };
    assert_eq!(text::format_interval(&interval, style), format!("{expected}\n"));
}

#[test]
fn sum_lacks_out_of_order_if_any_stream_lacks_it() {
    for (late, expected) in [
        ([Some(2), Some(3)], Some(5)),
        ([Some(2), None], None),
        ([None, Some(3)], None),
        ([None, None], None),
    ] {
        let streams = late.map(|out_of_order| StreamInterval {
            udp: Some(UdpNumbers { out_of_order, ..UdpNumbers::default() }),
            ..StreamInterval::default()
        });
        let sum = StreamInterval::sum(streams.iter()).unwrap();
        assert_eq!(sum.udp.unwrap().out_of_order, expected, "{late:?}");
    }
}

#[test]
fn interval_lines_match_iperf3() {
    check_line(
        tcp_stretch(),
        false,
        "[  5]   0.00-0.50   sec   894 MBytes  15.0 Gbits/sec    8   1023 KBytes       ",
    );
    let receiver = StreamInterval { sends: false, tcp: None, ..tcp_stretch() };
    check_line(
        receiver,
        false,
        "[  5]   0.00-0.50   sec   894 MBytes  15.0 Gbits/sec                  ",
    );
    check_line(
        receiver,
        true,
        "[  5][RX-C]   0.00-0.50   sec   894 MBytes  15.0 Gbits/sec                  ",
    );
    check_line(
        udp_stretch(true),
        false,
        "[  5]   0.00-1.00   sec   992 KBytes  8.13 Mbits/sec  31  ",
    );
    check_line(
        StreamInterval { omitted: true, ..udp_stretch(false) },
        false,
        "[  5]   0.00-1.00   sec   992 KBytes  8.13 Mbits/sec  0.054 ms  0/31 (0%)  (omitted)",
    );
}

#[test]
fn several_streams_get_a_sum_line() {
    let style = Iperf3TextStyle { is_client: true, ..Iperf3TextStyle::default() };
    let both = Iperf3Interval { streams: vec![tcp_stretch(), tcp_stretch()] };
    let text = text::format_interval(&both, style);
    let last = text.lines().last();
    let sum = "[SUM]   0.00-0.50   sec  1.75 GBytes  30.0 Gbits/sec   16             ";
    assert_eq!(last, Some(sum));
}

/// Versions 3.12 and 3.21 print at both ends of a test: `sum` is the client's data, and the other
/// direction has the suffix, at the server too.
#[test]
fn bidirectional_sums_are_named_from_the_client() {
    for is_client in [true, false] {
        let up = StreamInterval { sends: is_client, bytes: 1000, tcp: None, ..tcp_stretch() };
        let down = StreamInterval { sends: !is_client, bytes: 7, tcp: None, ..tcp_stretch() };
        let both = json::interval_object(&Iperf3Interval { streams: vec![up, down] }, true);
        assert_eq!(both["sum"]["bytes"], 1000);
        assert_eq!(both["sum"]["sender"], is_client);
        assert_eq!(both["sum_bidir_reverse"]["bytes"], 7);
        let stream = |stretch: StreamInterval| StreamTotals {
            sends: stretch.sends,
            sent: Some(stretch).filter(|_| stretch.sends),
            received: Some(stretch).filter(|_| !stretch.sends),
            ..totals(false).streams[0]
        };
        let end = Iperf3End { streams: vec![stream(up), stream(down)], ..Iperf3End::default() };
        let end = json::end_object(&end, false, true);
        let (up, down) = if is_client {
            ("sum_sent", "sum_received_bidir_reverse")
        } else {
            ("sum_received", "sum_sent_bidir_reverse")
        };
        assert_eq!((&end[up]["bytes"], &end[down]["bytes"]), (&1000.into(), &7.into()));
    }
}

fn totals(udp: bool) -> Iperf3End {
    let (sent, received) = if udp {
        (udp_stretch(true), udp_stretch(false))
    } else {
        (tcp_stretch(), StreamInterval { tcp: None, ..tcp_stretch() })
    };
    let stream = StreamTotals {
        socket: 5,
        sends: true,
        sent: Some(sent),
        received: Some(received),
        rtt_us: Some((60, 65, 69)),
        windows_bytes: (10, 20),
    };
    Iperf3End { streams: vec![stream], cpu_here: (3.0, 1.0, 2.0), ..Iperf3End::default() }
}

#[test]
fn summary_matches_iperf3() {
    let style = Iperf3TextStyle { is_client: true, ..Iperf3TextStyle::default() };
    let expected = "\
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-0.50   sec   894 MBytes  15.0 Gbits/sec    8             sender
[  5]   0.00-0.50   sec   894 MBytes  15.0 Gbits/sec                  receiver

iperf Done.
";
    assert_eq!(text::format_end(&totals(false), style), expected);
    let verbose = Iperf3TextStyle { verbose: true, ..style };
    let congestion = (Some("bbr".to_owned()), Some("cubic".to_owned()));
    let cpu_there = (70.4, 1.2, 69.2);
    let costs =
        text::format_end(&Iperf3End { congestion, cpu_there, ..totals(false) }, verbose);
    let reported = "\
CPU Utilization: local/sender 3.0% (1.0%u/2.0%s), remote/receiver 70.4% (1.2%u/69.2%s)
snd_tcp_congestion bbr
rcv_tcp_congestion cubic

iperf Done.
";
    assert!(costs.ends_with(reported), "{costs}");
    let expected = "\
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec   992 KBytes  8.13 Mbits/sec  0.000 ms  0/31 (0%)  sender
[  5]   0.00-1.00   sec   992 KBytes  8.13 Mbits/sec  0.054 ms  0/31 (0%)  receiver

iperf Done.
";
    assert_eq!(
        text::format_end(&totals(true), Iperf3TextStyle { udp: true, ..style }),
        expected
    );
}

/// iperf3 prints 0 for the figures of the other end.
#[test]
fn server_prints_zeros_for_the_other_end() {
    let check = |udp: bool, sent: bool, pointers: &[(&str, serde_json::Value)]| {
        let mut end = totals(udp);
        let stream = &mut end.streams[0];
        stream.sends = sent;
        *(if sent { &mut stream.received } else { &mut stream.sent }) = None;
        let value = json::end_object(&end, udp, false);
        for (pointer, expected) in pointers {
            assert_eq!(value.pointer(pointer), Some(expected), "{pointer}: {value:#}");
        }
    };
    let bytes = serde_json::json!(894 << 20);
    check(
        false,
        false,
        &[
            ("/sum_sent/bytes", 0.into()),
            ("/sum_received/bytes", bytes.clone()),
            ("/streams/0/sender/bytes", 0.into()),
            ("/streams/0/sender/seconds", 0.5.into()),
        ],
    );
    check(false, true, &[("/sum_sent/bytes", bytes), ("/sum_received/bytes", 0.into())]);
    check(
        true,
        false,
        &[
            ("/sum_sent/packets", 0.into()),
            ("/sum_received/packets", 31.into()),
            ("/sum/packets", 31.into()),
        ],
    );
}

/// The data of a datagram stream is the sender's, its losses are the receiver's.
#[test]
fn datagram_totals_combine_both_ends() {
    let mut end = totals(true);
    let received = end.streams[0].received.as_mut().unwrap();
    received.bytes = 1000;
    received.udp = Some(UdpNumbers { packets: 30, lost: 4, ..received.udp.unwrap() });
    let value = json::end_object(&end, true, false);
    for name in ["/sum", "/streams/0/udp"] {
        let sum = value.pointer(name).unwrap();
        let found = ["bytes", "packets", "lost_packets"].map(|key| sum[key].as_u64().unwrap());
        assert_eq!(found, [992 << 10, 31, 4], "{name}: {value:#}");
    }
    assert_eq!(value["sum_received"]["bytes"], 1000);
}

#[test]
fn other_tests_and_files_are_reported() {
    let concurrent = |count, share, mean| ConcurrentTests { count, share, mean };
    let style = Iperf3TextStyle::default();
    for (found, expected) in [
        (concurrent(0, 0.0, 0.0), "Interference: no other test ran during this one\n"),
        (concurrent(1, 0.25, 0.25), "Interference: 1 other test ran during 25 % of this one\n"),
        (
            concurrent(2, 0.8, 1.2),
            "Interference: 2 other tests ran during 80 % of this one, 1.5 of them at a time\n",
        ),
    ] {
        let end = Iperf3End { concurrent: Some(found), ..totals(false) };
        let text = text::format_end(&end, style);
        assert!(text.ends_with(expected), "{text}");
        let value = json::end_object(&end, false, false);
        assert_eq!(value["concurrent_tests"]["count"], found.count);
    }
    let file = DiskFile { name: "data".to_owned(), bytes: 1788 << 20 };
    let end = Iperf3End { file: Some(file), ..totals(false) };
    let text = text::format_end(&end, Iperf3TextStyle { is_client: true, ..style });
    assert!(text.contains("\n        Sent  894 MByte / 1.75 GByte (50%) of data\n"), "{text}");
    let value = json::end_object(&end, false, false);
    assert_eq!(value["streams"][0]["diskfile"]["percent_received"], 50);
}

#[test]
fn percentages_match_printf_2g() {
    for (lost, packets, expected) in [
        (0, 31, "0%"),
        (50, 100, "50%"),
        (1, 3, "33%"),
        (1, 1000, "0.1%"),
        (123, 100_000, "0.12%"),
        (1, 1, "1e+02%"),
        (1, 10_000_000, "1e-05%"),
        (0, 0, "0%"),
    ] {
        let mut stretch = udp_stretch(false);
        stretch.udp = Some(UdpNumbers { lost, packets, ..UdpNumbers::default() });
        let style = Iperf3TextStyle::default();
        let text = text::format_interval(&Iperf3Interval { streams: vec![stretch] }, style);
        assert!(text.contains(&format!("({expected})")), "{text}");
    }
}

#[test]
fn number_scaling_matches_iperf3() {
    for (value, expected) in [
        (0.0, "0.00 Byte"),
        (1023.0, "1023 Byte"),
        (1024.0, "1.00 KByte"),
        (10_239.0, "10.0 KByte"),
        (131_072.0, " 128 KByte"),
        (1.61 * 1_073_741_824.0, "1.61 GByte"),
    ] {
        assert_eq!(units::format_bytes(value), expected);
    }
    assert_eq!(units::format_rate(8_390_000.0, RateFormat::Adaptive), "8.39 Mbit");
    assert_eq!(units::format_rate(8_390_000.0, RateFormat::Bits(1)), "8390 Kbit");
    assert_eq!(units::format_rate(8.0 * 1_048_576.0, RateFormat::Bytes(2)), "1.00 MByte");
    for (letter, expected) in [
        ("m", Some(RateFormat::Bits(2))),
        ("G", Some(RateFormat::Bytes(3))),
        ("a", Some(RateFormat::Adaptive)),
        ("x", None),
        ("", None),
        ("km", None),
    ] {
        assert_eq!(RateFormat::from_letter(letter), expected, "{letter}");
    }
}

#[test]
fn parses_sizes_by_1024_and_rates_by_1000() {
    for (text, size, rate) in [
        ("4k", Some(4096), Some(4000)),
        ("1.5M", Some(1_572_864), Some(1_500_000)),
        ("10G", Some(10 << 30), Some(10_000_000_000)),
        ("77", Some(77), Some(77)),
        ("", None, None),
        ("k", None, None),
        ("-1", None, None),
        ("1x", None, None),
        ("µ", None, None),
    ] {
        assert_eq!((units::parse_size(text), units::parse_rate(text)), (size, rate), "{text}");
    }
}

#[test]
fn json_has_iperf3_keys() {
    let local = "127.0.0.1:40000".parse().unwrap();
    let start = Iperf3Start {
        is_client: true,
        peer: "host".into(),
        port: 5201,
        connected: vec![DataConnection { socket: 5, local, remote: local, sends: true }],
        cookie: "c".into(),
        time_s: 1_795_261_122,
        version: "iperf 3.12".into(),
        system: "Linux".into(),
        time_ms: 45,
        streams: 1,
        block_bytes: 131_072,
        duration_s: 1,
        interval_s: 1.0,
        segment_bytes: 1448,
        buffers_bytes: (1, 2),
        ..Iperf3Start::default()
    };
    let intervals = [Iperf3Interval { streams: vec![tcp_stretch()] }];
    let value = json::build_document(Some(&start), &intervals, Some(&totals(false)), None);
    for (pointer, expected) in [
        ("/start/connected/0/remote_port", serde_json::json!(40000)),
        ("/start/timestamp/time", serde_json::json!("Sat, 21 Nov 2026 11:38:42 GMT")),
        ("/start/timestamp/timemillisecs", serde_json::json!(1_795_261_122_045_u64)),
        ("/start/test_start/protocol", serde_json::json!("TCP")),
        // Whole numbers have no fraction, as iperf3 prints them.
        ("/start/test_start/interval", serde_json::json!(1)),
        ("/intervals/0/sum/start", serde_json::json!(0)),
        ("/end/streams/0/sender/reorder", serde_json::json!(0)),
        ("/intervals/0/streams/0/retransmits", serde_json::json!(8)),
        ("/intervals/0/sum/bytes", serde_json::json!(894 << 20)),
        ("/end/sum_sent/retransmits", serde_json::json!(8)),
        ("/end/sum_received/bytes", serde_json::json!(894 << 20)),
        ("/end/streams/0/sender/mean_rtt", serde_json::json!(65)),
        ("/end/streams/0/receiver/socket", serde_json::json!(5)),
        ("/end/cpu_utilization_percent/host_total", serde_json::json!(3)),
    ] {
        assert_eq!(value.pointer(pointer), Some(&expected), "{pointer}");
    }
    let failed = json::build_document(None, &[], None, Some("why"));
    assert_eq!(failed["error"], "why");
}
