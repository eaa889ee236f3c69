//! Import of results of network tools.

use super::{ImportFormat, ImportedMeasurement, format};

mod iperf2;
mod iperf3_json;
mod iperf3_text;
mod neper;
mod netperf;
mod ntttcp;
mod ping;
mod printed_rate;
mod qperf;
mod sockperf;
mod transfer;

/// Formats of this family.
pub(super) const FORMATS: &[ImportFormat] = &[
    format(
        "iperf3-json",
        "iperf3",
        "iperf3 -J and --json-stream, of clients and servers",
        iperf3_json::is_iperf3_json,
        iperf3_json::read_iperf3_json,
    )
    .with_contents(
        "goodput, send rate, retransmits, loss, jitter, CPU, of each test and direction",
        "intervals and streams, which are parts of their totals; interrupted tests of a server",
    ),
    format(
        "sockperf",
        "sockperf",
        "sockperf ping-pong, under-load, playback and throughput",
        sockperf::is_sockperf,
        sockperf::read_sockperf,
    )
    .with_contents("latency with its percentiles, messages and bandwidth, losses", ""),
    format(
        "iperf",
        "iperf",
        "iperf 2's text output, with and without -e",
        iperf2::is_iperf2,
        iperf2::read_iperf2,
    )
    .with_contents("goodput, send rate, loss, jitter", "intervals"),
    format(
        "iperf-csv",
        "iperf",
        "iperf 2 -y C",
        iperf2::csv::is_iperf2_csv,
        iperf2::csv::read_iperf2_csv,
    )
    .with_contents("goodput, send rate, loss, jitter", "intervals"),
    format(
        "iperf3-text",
        "iperf3",
        "iperf3's text output, of clients and servers",
        iperf3_text::is_iperf3_text,
        iperf3_text::read,
    )
    .with_contents(
        "the same, as far as it is printed",
        "intervals and streams; interrupted tests of a server",
    ),
    format(
        "qperf",
        "qperf",
        "qperf, every test with all details",
        qperf::is_qperf,
        qperf::read_qperf,
    )
    .with_contents(
        "every test: bandwidth, latency, message rate, CPU",
        "rows of other details",
    ),
    format(
        "netperf",
        "netperf",
        "netperf: classic tables, omni -k and -o",
        netperf::is_netperf,
        netperf::read_netperf,
    )
    .with_contents(
        "throughput, transactions, latency, CPU",
        "the human-readable table of omni tests",
    ),
    format(
        "neper",
        "neper",
        "neper: tcp_rr, tcp_crr, udp_rr, tcp_stream and udp_stream",
        neper::is_neper,
        neper::read_neper,
    )
    .with_contents("transactions, throughput, latency", ""),
    format(
        "ntttcp-xml",
        "ntttcp",
        "ntttcp -x, XML of Windows and Linux",
        ntttcp::is_ntttcp_xml,
        ntttcp::read_ntttcp_xml,
    )
    .with_contents(
        "throughput, retransmits, CPU; an impossible rate is replaced by bytes over time",
        "",
    ),
    format(
        "ntttcp",
        "ntttcp",
        "ntttcp's console output, of Windows and Linux",
        ntttcp::is_ntttcp_console,
        ntttcp::read_ntttcp_console,
    )
    .with_contents("throughput, retransmits, CPU", ""),
    format("ping", "ping", "ping of Linux, BSD and Windows", ping::is_ping, ping::read_ping)
        .with_contents("round trips, losses", ""),
];

#[cfg(test)]
mod tests;
