//! Tests of the lines against sockperf's own.

use super::*;

const STYLE: SockperfStyle = SockperfStyle {
    mode: SockperfMode::PingPong,
    is_tcp: false,
    full_rtt: false,
    giga_size: false,
    is_precise: false,
    warms_up: true,
    message_bytes: 14,
    size_range: 0,
    messages_per_s: None,
    burst: 1,
    reply_every: 1,
    seconds: 1,
    json: false,
};

fn result(figures: Option<SockperfFigures>) -> SockperfResult {
    SockperfResult {
        run_s: 1.0041,
        sent: 144_938,
        sent_bytes: 144_938 * 14,
        received: 144_937,
        is_rate_missed: false,
        end: SockperfEnd::Timer,
        figures,
        round_trips: None,
    }
}

fn figures() -> SockperfFigures {
    SockperfFigures {
        run_s: 0.549,
        sent: 77_681,
        replies: 77_681,
        dropped: 0,
        duplicated: 0,
        out_of_order: 0,
        mean_ns: 7026.0,
        deviation_ns: 94_400.0,
        max_ns: 5_260_768,
        percentiles_ns: [
            Some(5_077_874),
            Some(4_572_532),
            Some(115_852),
            Some(5896),
            Some(4426),
            Some(4300),
            Some(4136),
            Some(4078),
        ],
        min_ns: 3918,
    }
}

/// Output of sockperf 3.7 on loopback without its colours, and with assay's version.
const PING_PONG: &str = "\
sockperf: == version #3.7-assay == 
sockperf[CLIENT] send on:sockperf: using recvfrom() to block on socket(s)

[ 0] IP = 127.0.0.1       PORT = 12001 # UDP
sockperf: Warmup stage (sending a few dummy messages)...
sockperf: Starting test...
sockperf: Test end (interrupted by timer)
sockperf: Test ended
sockperf: [Total Run] RunTime=1.004 sec; Warm up time=400 msec; SentMessages=144938; ReceivedMessages=144937
sockperf: ========= Printing statistics for Server No: 0
sockperf: [Valid Duration] RunTime=0.549 sec; SentMessages=77681; ReceivedMessages=77681
sockperf: ====> avg-latency=3.513 (std-dev=47.200)
sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
sockperf: Summary: Latency is 3.513 usec
sockperf: Total 77681 observations; each percentile contains 776.81 observations
sockperf: ---> <MAX> observation = 2630.384
sockperf: ---> percentile 99.999 = 2538.937
sockperf: ---> percentile 99.990 = 2286.266
sockperf: ---> percentile 99.900 =   57.926
sockperf: ---> percentile 99.000 =    2.948
sockperf: ---> percentile 90.000 =    2.213
sockperf: ---> percentile 75.000 =    2.150
sockperf: ---> percentile 50.000 =    2.068
sockperf: ---> percentile 25.000 =    2.039
sockperf: ---> <MIN> observation =    1.959
";

fn whole(style: SockperfStyle, result: &SockperfResult) -> String {
    style.format_start("127.0.0.1:12001".parse().unwrap()) + &style.format_end(result)
}

#[test]
fn ping_pong_prints_sockperfs_lines() {
    assert_eq!(whole(STYLE, &result(Some(figures()))), PING_PONG);
}

#[test]
fn round_trips_are_twice_the_latencies() {
    let style = SockperfStyle { full_rtt: true, burst: 4, is_tcp: true, ..STYLE };
    let text = whole(style, &result(Some(figures())));
    for line in [
        "PORT = 12001 # TCP\n",
        "====> avg-rtt=7.026 (std-dev=94.400)\n",
        "Summary: Round trip of burst of 4 messages is 7.026 usec\n",
        "---> <MIN> observation =    3.918\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn missing_replies_are_said() {
    let none = SockperfResult { received: 0, ..result(None) };
    let text = STYLE.format_end(&none);
    assert!(text.ends_with("Is the server down?\n") && !text.contains("Total Run"), "{text}");
    let text = STYLE.format_end(&result(None));
    assert!(text.ends_with("Try tune parameters: --time/--mps/--reply-every\n"), "{text}");
    let missed =
        SockperfResult { is_rate_missed: true, end: SockperfEnd::User, ..result(None) };
    let text = STYLE.format_end(&missed);
    assert!(text.starts_with("sockperf: Test end (interrupted by user)\n"), "{text}");
    assert!(text.contains("Info: The requested message-per-second rate is too high"), "{text}");
}

#[test]
fn throughput_prints_sockperfs_lines() {
    let style = SockperfStyle { mode: SockperfMode::Throughput, message_bytes: 1400, ..STYLE };
    let outcome = SockperfResult { run_s: 1.00048, sent: 432_627, ..result(None) };
    let text = whole(style, &outcome);
    assert!(text.starts_with(
        "sockperf: == version #3.7-assay == \nsockperf[CLIENT] send on:\n[ 0] IP = 127.0.0.1 "
    ));
    let end = "\
sockperf: Total of 432627 messages sent in 1.000 sec

sockperf: NOTE: test was performed, using msg-size=1400. For getting maximum throughput consider using --msg-size=1472
sockperf: Summary: Message Rate is 432419 [msg/sec]
sockperf: Summary: BandWidth is 577.342 MBps (4618.733 Mbps)
";
    assert!(text.ends_with(end), "{text}");
    for (style, line) in [
        (SockperfStyle { giga_size: true, ..style }, "is 0.577 GBps (4.619 Gbps)"),
        (SockperfStyle { is_precise: true, ..style }, " GBps (4618.7"),
        (SockperfStyle { messages_per_s: Some(9), ..style }, "using msg-size=1400, mps=9. For"),
        (SockperfStyle { size_range: 5, ..style }, "using average msg-size=1400 (+/-5). For"),
        (
            SockperfStyle { message_bytes: 3000, ..style },
            "Packet Rate is about 1297257 [pkt/sec] (3 ip frags / msg)",
        ),
    ] {
        let text = style.format_end(&outcome);
        assert!(text.contains(line), "{line}: {text}");
    }
    // The lines have the nominal size, as sockperf's; the document has the bytes.
    let document = SockperfStyle { size_range: 5, ..style }.format_json(&SockperfResult {
        run_s: 2.0,
        sent_bytes: 3000,
        ..result(None)
    });
    assert!(document.contains("\"send_bytes_per_s\": 1500.0"), "{document}");
    let text = SockperfStyle { message_bytes: 1472, ..style }.format_end(&outcome);
    assert!(!text.contains("NOTE"), "{text}");
}

#[test]
fn full_log_lists_the_messages_that_count() {
    let observed = SockperfReplies {
        sends_ns: vec![2_425_501_552],
        round_trips_ns: vec![3_860_788],
        ..SockperfReplies::default()
    };
    let style = SockperfStyle {
        mode: SockperfMode::UnderLoad,
        messages_per_s: Some(10_000),
        reply_every: 100,
        ..STYLE
    };
    let text = style.format_full_log(&result(Some(figures())), Some(&observed));
    assert!(text.starts_with(
        "------------------------------\n\
         test was performed using the following parameters: --mps=10000 --burst=1 \
         --reply-every=100 --msg-size=14 --time=1\n\
         ------------------------------\nsockperf: [Total Run] "
    ));
    assert!(!text.contains("Summary"), "{text}");
    assert!(
        text.ends_with(
            "packet, txTime(sec), rxTime(sec), latency(usec)\n\
         0, 2.425501552, 2.429362340, 1930.394\n\
         ------------------------------\n"
        ),
        "{text}"
    );
}
