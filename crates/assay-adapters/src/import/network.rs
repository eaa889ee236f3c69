//! Import of results of network tools.

use super::{ImportFormat, ImportedMeasurement, format};

mod iperf3_json;
mod iperf3_text;
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
];
