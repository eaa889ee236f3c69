//! Import of iperf3's JSON.

use assay_model::workload::{
    NetworkTest, NetworkThroughput, NetworkWorkload, TransferDirection, Workload,
};
use serde_json::Value;

use super::super::{FileTime, ImportedMeasurement};
use super::read_workload;
use crate::outputs::ToolError;
use crate::tool::read_iperf3_document;

pub(super) fn is_iperf3_json(text: &str) -> bool {
    text.contains("\"test_start\"") && text.contains("\"num_streams\"")
}

/// Reads one document, which is one test.
pub(super) fn read_iperf3_json(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let document = read_iperf3_document(text)?;
    let start = |key: &str| document.pointer(&format!("/start/test_start/{key}"));
    let whole = |key: &str| start(key).and_then(Value::as_u64).unwrap_or(0);
    let direction = if document.pointer("/end/sum_received_bidir_reverse").is_some() {
        TransferDirection::Both
    } else if whole("reverse") == 1 {
        TransferDirection::Receive
    } else {
        TransferDirection::Send
    };
    let to = document.pointer("/start/connecting_to/host").and_then(Value::as_str);
    let work = NetworkWorkload {
        to: to.map(str::to_owned),
        port: None,
        question: NetworkTest::Throughput(NetworkThroughput {
            streams: u32::try_from(whole("num_streams")).unwrap_or(u32::MAX),
            direction,
            seconds: u32::try_from(whole("duration")).unwrap_or(u32::MAX),
            copy: true,
            rate_bit_per_s: Some(whole("target_bitrate")).filter(|rate| *rate > 0),
            congestion: None,
        }),
    };
    let is_udp = start("protocol").and_then(Value::as_str) == Some("UDP");
    let workload = if is_udp { Workload::NetworkUdp(work) } else { Workload::NetworkTcp(work) };
    let mut found = read_workload("iperf3", workload, text)?;
    let began = document.pointer("/start/timestamp/timesecs").and_then(Value::as_u64);
    found.began = began.map(FileTime::from_unix);
    Ok(vec![found])
}
