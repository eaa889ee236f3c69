//! Import of qperf's text.

use assay_model::workload::{
    NetworkLatency, NetworkTest, NetworkThroughput, NetworkWorkload, TransferDirection,
    Workload,
};

use super::super::{ImportedMeasurement, word_after};
use super::read_workload;
use crate::outputs::ToolError;

const QPERF_HEADINGS: [&str; 3] = ["tcp_lat:", "udp_lat:", "tcp_bw:"];

pub(super) fn is_qperf(text: &str) -> bool {
    text.lines().any(|line| QPERF_HEADINGS.contains(&line.trim_end()))
}

/// Reads every test that assay also has and ignores the others.
pub(super) fn read_qperf(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let mut found = Vec::new();
    for head in QPERF_HEADINGS {
        if !text.lines().any(|line| line.trim_end() == head) {
            continue;
        }
        let section = text.split_once(head).map_or("", |(_, rest)| rest);
        let section: String =
            section.lines().skip(1).take_while(|line| line.starts_with(' ')).collect();
        let question = if head == "tcp_bw:" {
            NetworkTest::Throughput(NetworkThroughput {
                streams: 1,
                direction: TransferDirection::Send,
                // qperf's default time (its man page).
                seconds: 2,
                copy: true,
                rate_bit_per_s: None,
                congestion: None,
            })
        } else {
            let bytes = word_after(&section, "msg_size").and_then(|text| text.parse().ok());
            NetworkTest::Latency(NetworkLatency {
                bytes: bytes.unwrap_or(1),
                seconds: 2,
                spin: false,
                rate_per_s: None,
                load_streams: 0,
                busy_poll_us: None,
            })
        };
        let work = NetworkWorkload { to: None, port: None, question };
        let workload = match head {
            "udp_lat:" => Workload::NetworkUdp(work),
            _ => Workload::NetworkTcp(work),
        };
        found.push(read_workload("qperf", workload, text)?);
    }
    Ok(found)
}
