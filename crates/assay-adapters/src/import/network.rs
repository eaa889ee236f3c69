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
    ),
    format(
        "sockperf",
        "sockperf",
        "sockperf ping-pong, under-load, playback and throughput",
        sockperf::is_sockperf,
        sockperf::read_sockperf,
    ),
    format(
        "iperf",
        "iperf",
        "iperf 2's text output, with and without -e",
        iperf2::is_iperf2,
        iperf2::read_iperf2,
    ),
    format(
        "iperf-csv",
        "iperf",
        "iperf 2 -y C",
        iperf2::csv::is_iperf2_csv,
        iperf2::csv::read_iperf2_csv,
    ),
    format(
        "iperf3-text",
        "iperf3",
        "iperf3's text output, of clients and servers",
        iperf3_text::is_iperf3_text,
        iperf3_text::read,
    ),
    format(
        "qperf",
        "qperf",
        "qperf, every test with all details",
        qperf::is_qperf,
        qperf::read_qperf,
    ),
    format(
        "netperf",
        "netperf",
        "netperf: classic tables, omni -k and -o",
        netperf::is_netperf,
        netperf::read_netperf,
    ),
    format(
        "neper",
        "neper",
        "neper: tcp_rr, tcp_crr, udp_rr, tcp_stream and udp_stream",
        neper::is_neper,
        neper::read_neper,
    ),
    format(
        "ntttcp-xml",
        "ntttcp",
        "ntttcp -x, XML of Windows and Linux",
        ntttcp::is_ntttcp_xml,
        ntttcp::read_ntttcp_xml,
    ),
    format(
        "ntttcp",
        "ntttcp",
        "ntttcp's console output, of Windows and Linux",
        ntttcp::is_ntttcp_console,
        ntttcp::read_ntttcp_console,
    ),
    format("ping", "ping", "ping of Linux, BSD and Windows", ping::is_ping, ping::read_ping),
];

#[cfg(test)]
mod tests;
