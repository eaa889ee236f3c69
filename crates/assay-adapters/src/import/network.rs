//! Import of results of network tools.

use assay_model::attribute::Attribute;
use assay_model::workload::{NetworkWorkload, Workload};

use super::{FileContents, ImportFormat, ImportedMeasurement, format, read_with_tool};
use crate::outputs::ToolError;

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
        "sockperf ping-pong, under-load and throughput",
        sockperf::is_sockperf,
        |text| sockperf::read_sockperf(text).map(FileContents::from),
    ),
    format(
        "iperf3-text",
        "iperf3",
        "iperf3's text output, of clients and servers",
        iperf3_text::is_iperf3_text,
        iperf3_text::read,
    ),
    format("qperf", "qperf", "qperf tcp_lat, udp_lat and tcp_bw", qperf::is_qperf, |text| {
        qperf::read_qperf(text).map(FileContents::from)
    }),
];

/// Parses a text with the reader of a tool, for a workload reconstructed from the text.
fn read_workload(
    tool: &str,
    workload: Workload,
    text: &str,
) -> Result<ImportedMeasurement, ToolError> {
    let mut dimensions = workload.dimensions(tool);
    // A file without the name of the other end was not necessarily measured over loopback.
    if workload.as_network().is_some_and(|work| work.to.is_none()) {
        dimensions.remove(&Attribute::To);
    }
    let name = workload.as_network().map_or_else(String::new, NetworkWorkload::name);
    let benchmark = workload.benchmark();
    let parsed = read_with_tool(tool, workload, text)?;
    Ok(ImportedMeasurement {
        name,
        benchmark,
        dimensions,
        system: None,
        began: None,
        lines: None,
        parsed,
    })
}
