//! Tests of the commands of network tools.

use assay_model::workload::{
    NetworkLatency, NetworkTest, NetworkThroughput, NetworkWorkload, TransferDirection,
    Workload,
};
use expect_test::expect;

use super::{TOOLS, check_own_command, find};
use crate::tool::VersionSource;

fn to_host(test: NetworkTest) -> NetworkWorkload {
    NetworkWorkload { to: Some("10.0.0.5".to_owned()), port: None, test }
}

fn throughput(streams: u32, direction: TransferDirection) -> NetworkThroughput {
    let (rate_bit_per_s, congestion) = (None, None);
    NetworkThroughput {
        streams,
        direction,
        rate_bit_per_s,
        congestion,
        ..NetworkThroughput::sending(1)
    }
}

fn tcp(asked: NetworkThroughput) -> Workload {
    Workload::NetworkTcp(to_host(NetworkTest::Throughput(asked)))
}

fn udp(asked: NetworkThroughput) -> Workload {
    Workload::NetworkUdp(to_host(NetworkTest::Throughput(asked)))
}

fn ping_pong(bytes: u64) -> NetworkTest {
    let (spin, rate_per_s, load_streams) = (false, None, 0);
    NetworkTest::Latency(NetworkLatency {
        bytes,
        seconds: 1,
        spin,
        rate_per_s,
        load_streams,
        busy_poll_us: None,
    })
}

/// Returns the workloads that have golden outputs.
pub(super) fn workloads() -> Vec<Workload> {
    let rate_bit_per_s = Some(100_000_000);
    vec![
        tcp(throughput(2, TransferDirection::Send)),
        tcp(throughput(1, TransferDirection::Send)),
        tcp(throughput(1, TransferDirection::Receive)),
        tcp(throughput(2, TransferDirection::Both)),
        udp(NetworkThroughput { rate_bit_per_s, ..throughput(1, TransferDirection::Send) }),
        udp(NetworkThroughput { rate_bit_per_s, ..throughput(1, TransferDirection::Both) }),
        udp(throughput(4, TransferDirection::Send)),
        Workload::NetworkTcp(to_host(ping_pong(1))),
        Workload::NetworkUdp(to_host(ping_pong(1))),
        Workload::NetworkTcp(to_host(ping_pong(64))),
        Workload::NetworkUdp(to_host(ping_pong(64))),
        Workload::NetworkIcmp(to_host(ping_pong(56))),
    ]
}

#[test]
fn each_tool_supports_expected_workloads() {
    let spinning = |spin, rate_per_s, load_streams| {
        let (bytes, seconds) = (1, 1);
        let it = NetworkLatency {
            bytes,
            seconds,
            spin,
            rate_per_s,
            load_streams,
            busy_poll_us: None,
        };
        Workload::NetworkTcp(to_host(NetworkTest::Latency(it)))
    };
    let one = || throughput(1, TransferDirection::Send);
    for (workload, expected) in [
        (tcp(one()), "iperf3 qperf"),
        (tcp(throughput(6, TransferDirection::Both)), "iperf3"),
        (tcp(NetworkThroughput { copy: false, ..one() }), ""),
        (tcp(NetworkThroughput { congestion: Some("reno".into()), ..one() }), "iperf3"),
        (udp(one()), "iperf3"),
        (spinning(false, None, 0), "qperf"),
        (spinning(true, None, 0), ""),
        (spinning(false, Some(5.0), 0), ""),
        (spinning(false, None, 6), ""),
        (Workload::NetworkUdp(to_host(ping_pong(1))), "qperf"),
        (Workload::NetworkUdp(to_host(ping_pong(14))), "qperf sockperf"),
        (Workload::NetworkTcp(to_host(ping_pong(65_508))), "qperf"),
        (Workload::NetworkIcmp(to_host(ping_pong(56))), "ping"),
    ] {
        let takers = TOOLS.iter().filter(|tool| (tool.supports)(&workload));
        let names: Vec<_> = takers.map(|tool| tool.name).collect();
        assert_eq!(names.join(" "), expected, "{workload:?}");
    }
}

#[test]
fn iperf3_command_requests_one_document() {
    let rate_bit_per_s = Some(50_000_000);
    let congestion = Some("cubic".to_owned());
    let udp =
        udp(NetworkThroughput { rate_bit_per_s, ..throughput(1, TransferDirection::Receive) });
    check_own_command(
        "iperf3",
        &udp,
        &expect![[r#"
        network.udp iperf3 ×5 on []
        LC_ALL=C
        /opt/iperf3 -c 10.0.0.5 -J -i 0 -t 1 -P 1 -u -R -b 50000000
    "#]],
    );
    let both = tcp(NetworkThroughput { congestion, ..throughput(6, TransferDirection::Both) });
    check_own_command(
        "iperf3",
        &both,
        &expect![[r#"
        network.tcp iperf3 ×5 on []
        LC_ALL=C
        /opt/iperf3 -c 10.0.0.5 -J -i 0 -t 1 -P 6 --bidir -C cubic
    "#]],
    );
}

#[test]
fn qperf_sockperf_and_ping_commands() {
    let test = ping_pong(64);
    let own = NetworkWorkload { to: None, port: Some(4000), test };
    check_own_command(
        "qperf",
        &Workload::NetworkTcp(own),
        &expect![[r#"
        network.tcp tcp_lat ×5 on []
        LC_ALL=C
        /opt/qperf 127.0.0.1 -lp 4000 -m 64 -t 1 -e 6 tcp_lat
    "#]],
    );
    let test = ping_pong(64);
    let own = NetworkWorkload { to: None, port: Some(4000), test };
    check_own_command(
        "sockperf",
        &Workload::NetworkTcp(own),
        &expect![[r#"
        network.tcp ping-pong ×5 on []
        LC_ALL=C
        /opt/sockperf ping-pong -i 127.0.0.1 -p 4000 -m 64 -t 1 --tcp
    "#]],
    );
    let one = tcp(throughput(1, TransferDirection::Send));
    check_own_command(
        "qperf",
        &one,
        &expect![[r#"
        network.tcp tcp_bw ×5 on []
        LC_ALL=C
        /opt/qperf 10.0.0.5 -t 1 -e 6 tcp_bw
    "#]],
    );
    let echoes = Workload::NetworkIcmp(to_host(ping_pong(56)));
    check_own_command(
        "ping",
        &echoes,
        &expect![[r#"
        network.icmp ping ×5 on []
        LC_ALL=C
        /opt/ping -n -c 100 -i 0.01 -W 1 -s 56 -- 10.0.0.5
    "#]],
    );
}

#[test]
fn parses_versions() {
    for (name, printed, expected) in [
        ("iperf3", "iperf 3.12 (cJSON 1.7.15)\nLinux vm\n", Some("3.12")),
        ("iperf3", "iperf3: command not found", None),
        ("qperf", "qperf 0.4.11\n", Some("0.4.11")),
        ("sockperf", "sockperf, version 3.7-no.git\n   compiled 2021\n", Some("3.7-no.git")),
        ("sockperf", "3.7\n", None),
        ("ping", "ping from iputils 20221126\nlibcap: yes\n", Some("iputils 20221126")),
        ("ping", "BusyBox v1.35", None),
    ] {
        let VersionSource::FromOption { read, .. } = find(name).unwrap().detect.version else {
            panic!("{name} prints its version");
        };
        assert_eq!(read(printed).as_deref(), expected, "{printed}");
    }
}
