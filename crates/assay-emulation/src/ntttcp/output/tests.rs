//! Tests of the lines against those of ntttcp 1.4.3 on loopback.

use assay_run::network::ntttcp::{NtttcpEnd, NtttcpUsage, RetransmitCounts};

use super::*;

pub(in crate::ntttcp) fn sender_style() -> NtttcpStyle {
    NtttcpStyle {
        is_sender: true,
        is_udp: false,
        is_ipv6: false,
        is_synchronised: true,
        is_verbose: false,
        is_quiet: false,
        is_held: false,
        awaits_several: false,
        is_last: false,
        uses_epoll: false,
        no_delay: false,
        ports: 2,
        threads_per_port: 2,
        connections_per_thread: 1,
        cpu: None,
        address: "127.0.0.1".to_owned(),
        source_address: None,
        port: 5001,
        source_port: None,
        send_bytes: 131_072,
        receive_bytes: 65_536,
        rate_bit_per_s: None,
        fq_rate_bit_per_s: None,
        warm_up_s: 1,
        duration_s: 2,
        cool_down_s: 0,
        shows_retransmits: false,
        interface: None,
        interrupts: None,
        files: [None, None, None],
    }
}

pub(in crate::ntttcp) fn outcome() -> NtttcpOutcome {
    NtttcpOutcome {
        thread_bytes: vec![2_000_000_000, 2_000_000_000, 2_349_417_472, 2_000_000_000],
        seconds: 1.996_205,
        intervals: vec![],
        connections: Some(4),
        usage: NtttcpUsage {
            cpus: 2,
            clock_mhz: 2596.122,
            user: 0.3684,
            system: 0.4361,
            softirq: 0.1955,
            process: 0.5415,
            retransmits: RetransmitCounts { segments: 25, lost: 1, ..Default::default() },
            sent_packets: 1000,
            received_packets: 500,
            interrupts: 300,
            ..NtttcpUsage::default()
        },
        round_trip_us: Some(74),
        end: NtttcpEnd::Time,
    }
}

/// Result of ntttcp 1.4.3.
const RESULT: &str = "\
02:07:03 INFO: 4 connections tested
02:07:03 INFO: #####  Totals:  #####
02:07:03 INFO: test duration\t:2.00 seconds
02:07:03 INFO: total bytes\t:8349417472
02:07:03 INFO: \t throughput\t:33.46Gbps
02:07:03 INFO: \t retrans segs\t:25
02:07:03 INFO: cpu cores\t:2
02:07:03 INFO: \t cpu speed\t:2596.122MHz
02:07:03 INFO: \t user\t\t:36.84%
02:07:03 INFO: \t system\t\t:43.61%
02:07:03 INFO: \t idle\t\t:0.00%
02:07:03 INFO: \t iowait\t\t:0.00%
02:07:03 INFO: \t softirq\t:19.55%
02:07:03 INFO: \t cycles/byte\t:1.24
02:07:03 INFO: cpu busy (all)\t:54.15%
---------------------------------------------------------
";

#[test]
fn result_has_the_lines_of_ntttcp() {
    assert_eq!(sender_style().format_result("02:07:03", &outcome()), RESULT);
}

#[test]
fn verbose_result_has_threads_counters_and_round_trip() {
    let style = NtttcpStyle {
        is_verbose: true,
        shows_retransmits: true,
        interface: Some("lo".to_owned()),
        interrupts: Some("LOC".to_owned()),
        ..sender_style()
    };
    let text = style.format_result("t", &outcome());
    for expected in [
        "t INFO: \tThread\tTime(s)\tThroughput\nt INFO: \t======\t=======\t==========\n\
         t INFO: \t0\t 2.00\t 8.02Gbps\nt INFO: \t1\t 2.00\t 8.02Gbps\nt INFO: \t2\t 2.00\t 9.42Gbps\n",
        "t INFO: tcp retransmit:\nt INFO: \t retrans_segments/sec\t:12.52\n\
         t INFO: \t lost_retrans/sec\t:0.50\n",
        "t INFO: \t slowStart_retrans/sec\t:0.00\n",
        "t INFO: total packets:\nt INFO: \t tx_packets\t:1000\nt INFO: \t rx_packets\t:500\n\
         t INFO: interrupts:\nt INFO: \t total\t\t:300\nt INFO: \t interrupts/sec\t:150.285\n\
         t INFO: \t pkts/interrupt\t:5.00\n",
        "t INFO: tcpi rtt\t\t:74 us\n---",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn rates_are_decimal() {
    for (bytes, seconds, expected) in [
        (0, 1.0, "0.00bps"),
        (125, 1.0, "1000.00bps"),
        (126, 1.0, "1.01Kbps"),
        (125_000_001, 1.0, "1.00Gbps"),
        (125_000_000_000_000, 1.0, "1000000.00Gbps"),
    ] {
        assert_eq!(format_rate(bytes, seconds), expected);
    }
}

#[test]
fn head_of_a_verbose_sender() {
    let style = NtttcpStyle {
        is_verbose: true,
        source_port: Some(25_001),
        rate_bit_per_s: Some(1_000_000_000),
        ..sender_style()
    };
    let expected = "\
NTTTCP for Linux 1.4.3-assay
---------------------------------------------------------
*** sender role
connections:\t\t\t 2 X 2 X 1
cpu affinity:\t\t\t *
server address:\t\t\t 127.0.0.1
client address:\t\t\t 0.0.0.0
domain:\t\t\t\t IPv4
protocol:\t\t\t TCP
server port starting at:\t 5001
client source port starting at:\t 25001
sender socket buffer (bytes):\t 131072
bandwidth limit (bits/sec):\t 1000000000
tcp nodelay:\t no
test warm-up (sec):\t\t 1
test duration (sec):\t\t 2
test cool-down (sec):\t\t no
show system tcp retransmit:\t no
quiet mode:\t\t\t disabled
verbose mode:\t\t\t enabled
---------------------------------------------------------
";
    assert_eq!(style.format_head(), expected);
}

#[test]
fn events_are_lines() {
    let style = sender_style();
    let format = |event| NtttcpLine { clock: "02:07:00".to_owned(), event }.format(&style);
    assert_eq!(
        format(NtttcpEvent::Connections { count: 4, microseconds: 1340 }),
        "02:07:00 INFO: 4 connections created in 1340 microseconds\n"
    );
    let interval = NtttcpEvent::Interval { bytes: 1_250_000_000, seconds: 0.5 };
    assert_eq!(format(interval), "Real-time throughput: 20.00Gbps\n");
    let quiet = NtttcpStyle { is_quiet: true, ..sender_style() };
    let line = NtttcpLine { clock: String::new(), event: interval };
    assert_eq!(line.format(&quiet), "");
    assert!(format(NtttcpEvent::ReceiverExited(false)).contains(" ERR : receiver is not able"));
}
