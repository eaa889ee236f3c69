//! Import of results of iperf3's JSON, qperf and sockperf.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::ToolFigures;
use assay_model::workload::{
    NetworkLatency, NetworkTest, NetworkThroughput, NetworkWorkload, TransferDirection,
    Workload,
};
use serde_json::Value;

use super::{ImportedMeasurement, missing, read_with_tool, word_after};
use crate::limits::check_limit;
use crate::outputs::{ParsedOutput, ToolError, parse_positive};
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
    found.began_s = document.pointer("/start/timestamp/timesecs").and_then(Value::as_u64);
    Ok(vec![found])
}

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
    Ok(ImportedMeasurement { name, benchmark, dimensions, system: None, began_s: None, parsed })
}

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

/// Maximum number of summaries in one file of sockperf, which prints one.
const MAX_SUMMARIES: usize = 10;

pub(super) fn is_sockperf(text: &str) -> bool {
    text.contains("sockperf:") && text.contains("Summary:")
}

/// Reads sockperf's summary. Its latency is half a round trip unless started with `--full-rtt`, and
/// its `BandWidth` is in 2²⁰ B/s despite its label (sockperf's client.cpp divides by 1024 twice).
pub(super) fn read_sockperf(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let text: String = text.lines().map(strip_colours).collect::<Vec<_>>().join("\n");
    let benchmark =
        if text.contains("# TCP") { Benchmark::NetworkTcp } else { Benchmark::NetworkUdp };
    let version =
        word_after(&text, "== version #").map(|text| text.trim_end_matches('=').to_owned());
    let mut parsed = ParsedOutput { version, ..ParsedOutput::default() };
    let summary = text.lines().filter_map(|line| line.split_once("Summary:")).map(|it| it.1);
    let mut dimensions = Attributes::new();
    for line in summary {
        // Each summary reads its percentiles from the whole text.
        check_limit(parsed.values.len() + 1, ("summaries", MAX_SUMMARIES))?;
        if let Some(value) = word_after(line, "Latency is") {
            add_latency("half_round_trip", value, &text, &mut parsed)?;
            dimensions.insert(Attribute::LoadStreams, 0_u64.into());
        } else if let Some(value) = word_after(line, "Round trip is") {
            add_latency("round_trip", value, &text, &mut parsed)?;
            dimensions.insert(Attribute::LoadStreams, 0_u64.into());
        } else if let Some(value) = word_after(line, "BandWidth is") {
            let mib_per_s = parse_positive("BandWidth", value)?;
            parsed.add_samples("goodput", vec![mib_per_s * 1024.0 * 1024.0 * 8.0]);
            dimensions.insert(Attribute::Streams, 1_u64.into());
        }
    }
    let bytes = word_after(&text, "--msg-size").or_else(|| word_after(&text, "; msg-size"));
    let bytes = bytes.and_then(|text| text.trim_end_matches(';').parse::<u64>().ok());
    dimensions.extend(bytes.map(|bytes| (Attribute::Bytes, bytes.into())));
    if parsed.values.is_empty() {
        return Err(missing("summary of latency or bandwidth"));
    }
    let name = "sockperf".to_owned();
    Ok(vec![ImportedMeasurement {
        name,
        benchmark,
        dimensions,
        system: None,
        began_s: None,
        parsed,
    }])
}

fn add_latency(
    metric: &'static str,
    value: &str,
    text: &str,
    parsed: &mut ParsedOutput,
) -> Result<(), ToolError> {
    let mean_s = parse_positive("the latency", value)? * 1e-6;
    let percentile = |name: &str| {
        let line = text.lines().find(|line| line.contains(name))?;
        Some(parse_positive(name, line.rsplit('=').next()?).ok()? * 1e-6)
    };
    parsed.add_samples(metric, vec![percentile("percentile 50.000").unwrap_or(mean_s)]);
    let statistic = if percentile("percentile 50.000").is_some() { "median" } else { "mean" };
    parsed.set_metric_attribute(metric, Attribute::Statistic, statistic);
    let p99 = percentile("percentile 99.000").map(|value| ("p99".to_owned(), value));
    let figures = ToolFigures {
        min: percentile("<MIN> observation"),
        mean: Some(mean_s),
        max: percentile("<MAX> observation"),
        percentiles: p99.into_iter().collect(),
    };
    parsed.set_figures(metric, figures);
    Ok(())
}

/// Removes the colours of a terminal from a line; sockperf also writes them into files.
fn strip_colours(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = behind.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}
