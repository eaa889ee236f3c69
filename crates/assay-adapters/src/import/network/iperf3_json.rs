//! Import of iperf3's JSON: documents of clients and servers, one after another, and the events of
//! `--json-stream`.

use assay_model::attribute::Attribute;
use assay_model::workload::TransferDirection;
use serde_json::{Map, Value};

use super::super::json_documents::{JsonDocument, split_documents};
use super::super::{FileContents, FileTime, LineSpan};
use super::transfer::{DatagramCounts, ImportedTransfer, MeanRate, Protocol};
use crate::iperf3_document::{self, CPU_TICKS_S, REVERSE_SUFFIX, known_count};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError};

pub(super) fn is_iperf3_json(text: &str) -> bool {
    let has = |name: &str| text.contains(name);
    if !text.trim_start().starts_with('{') && !text.contains("\n{") {
        return false;
    }
    (has("\"test_start\"") && has("\"num_streams\""))
        || (has("\"version\"") && has("\"iperf 3"))
        || (has("\"connected\"") && has("\"intervals\"") && has("\"error\""))
}

/// One test: its document, or the document that its events make.
#[derive(Default)]
struct TestDocument {
    root: Map<String, Value>,
    lines: Option<LineSpan>,
    /// Whether it was put together from events.
    is_stream: bool,
}

/// Reads every document of a file; each is one test.
pub(super) fn read_iperf3_json(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut tests: Vec<TestDocument> = Vec::new();
    for document in split_documents(text) {
        check_limit(tests.len(), ("tests", MAX_MEASUREMENTS))?;
        match read_members(&document) {
            Ok(root) => add_document(root, document.lines(), &mut tests),
            Err(error) => contents.add_part(Some(document.lines()), "document", Err(error)),
        }
    }
    let mut seen: Vec<(String, bool)> = Vec::new();
    for test in tests {
        let key = test_key(&test.root);
        if let Some(key) = key {
            if seen.contains(&key) {
                let what = "iperf3 test";
                contents.leave_out(test.lines, what, "the same test, once more: equal cookie");
                continue;
            }
            seen.push(key);
        }
        add_test(test, &mut contents);
    }
    Ok(contents)
}

fn read_members(document: &JsonDocument<'_>) -> Result<Map<String, Value>, ToolError> {
    if document.is_cut {
        let missing = "the end of iperf3's JSON is missing".to_owned();
        return Err(ToolError::Truncated { missing });
    }
    let value = iperf3_document::read(document.text, |error| ToolError::Missing {
        what: format!("valid JSON ({error})"),
        place: "the file",
    })?;
    match value {
        Value::Object(root) => Ok(root),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_) => Ok(Map::new()),
    }
}

/// Adds a whole document, or an event to the document of its test.
fn add_document(mut root: Map<String, Value>, lines: LineSpan, tests: &mut Vec<TestDocument>) {
    let Some(event) = root.get("event").and_then(Value::as_str).map(str::to_owned) else {
        tests.push(TestDocument { root, lines: Some(lines), is_stream: false });
        return;
    };
    let data = root.remove("data").unwrap_or(Value::Null);
    let begins = match tests.last() {
        Some(test) if test.is_stream => {
            event == "start" || (test.root.contains_key("end") && event == "interval")
        }
        Some(_) | None => true,
    };
    if begins {
        tests.push(TestDocument { is_stream: true, ..TestDocument::default() });
    }
    let Some(test) = tests.last_mut() else { return };
    let first = test.lines.as_ref().map_or(*lines.start(), |it| *it.start());
    test.lines = Some(first..=*lines.end());
    if ["start", "end", "error"].contains(&&*event) {
        test.root.insert(event, data);
    }
}

/// Identifies a test and the end that wrote the document.
fn test_key(root: &Map<String, Value>) -> Option<(String, bool)> {
    let start = root.get("start")?;
    let cookie = start.get("cookie")?.as_str()?.to_owned();
    Some((cookie, start.get("accepted_connection").is_some()))
}

fn add_test(test: TestDocument, contents: &mut FileContents) {
    let lines = test.lines.clone();
    let root = Value::Object(test.root);
    let error = root.get("error").and_then(Value::as_str).unwrap_or_default();
    if error.starts_with("interrupt") && root.pointer("/start/test_start").is_none() {
        let why = format!("no test: iperf3 reported {error:?}");
        contents.leave_out(lines, "iperf3 server", why);
        return;
    }
    let is_server = root.pointer("/start/accepted_connection").is_some();
    if is_server && !error.is_empty() && root.pointer("/end/streams").is_some() {
        let why = format!(
            "iperf3 reported {error:?}; its totals count bytes beyond the time that they name"
        );
        contents.leave_out(lines, "interrupted iperf3 test", why);
        return;
    }
    let read = read_test(&root, error);
    let is_whole = read.is_ok();
    contents.add_part(lines.clone(), "iperf3 test", read);
    if let (Some(lines), true) = (lines, is_whole) {
        contents.recognise(lines, "intervals and streams", "parts of the totals of their test");
    }
}

fn read_test(root: &Value, error: &str) -> Result<super::ImportedMeasurement, ToolError> {
    let has_totals = sum(root, "sum_sent", "").or_else(|| sum(root, "sum", "")).is_some();
    if !error.is_empty() && !has_totals {
        let how = "iperf3 reported".to_owned();
        return Err(ToolError::ProcessFailed { how, last_words: error.to_owned() });
    }
    if root.get("end").is_none() || !has_totals {
        let missing = "the totals at its end are missing".to_owned();
        return Err(ToolError::Truncated { missing });
    }
    let mut transfer = read_conditions(root);
    transfer.broke_off = !error.is_empty();
    add_totals(root, &mut transfer);
    let mut found = transfer.into_measurement()?;
    add_stream_doubt(root, &mut found.parsed);
    Ok(found)
}

/// Reads the conditions of a test. The direction is that of the end that wrote the document.
fn read_conditions(root: &Value) -> ImportedTransfer {
    let start = |key: &str| root.pointer(&format!("/start/test_start/{key}"));
    let number = |key: &str| start(key).and_then(Value::as_u64);
    let is_server = root.pointer("/start/accepted_connection").is_some();
    let is_reverse = number("reverse") == Some(1);
    let is_both = number("bidir") == Some(1) || reverse_suffix(root).is_some();
    let direction = match (is_both, is_reverse == is_server) {
        (true, _) => TransferDirection::Both,
        (false, true) => TransferDirection::Send,
        (false, false) => TransferDirection::Receive,
    };
    let text = |path: &str| root.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let to = text("/start/connecting_to/host").or(text("/start/accepted_connection/host"));
    let sender = text("/end/sender_tcp_congestion").or(text("/end/receiver_tcp_congestion"));
    let began = root.pointer("/start/timestamp/timesecs").and_then(Value::as_u64);
    let rate = number("target_bitrate")
        .or(root.pointer("/start/target_bitrate").and_then(Value::as_u64));
    ImportedTransfer {
        tool: "iperf3",
        protocol: start("protocol").and_then(Value::as_str).map(Protocol::parse),
        direction: Some(direction),
        streams: count_streams(root, is_both).or(number("num_streams")),
        to,
        requested_s: number("duration").map(|seconds| seconds as f64),
        rate_bit_per_s: rate.filter(|rate| *rate > 0),
        congestion: sender.filter(|name| !name.is_empty()),
        version: text("/start/version")
            .and_then(|it| it.split_whitespace().nth(1).map(str::to_owned)),
        block_bytes: number("blksize").filter(|bytes| *bytes > 0),
        began: began.map(FileTime::from_unix),
        skips_copy: number("skip_rx_copy") == Some(1),
        segmentation: number("gso") == Some(1) || number("gro") == Some(1),
        ..ImportedTransfer::default()
    }
}

/// Counts the streams of one direction.
fn count_streams(root: &Value, is_both: bool) -> Option<u64> {
    let streams = root.pointer("/end/streams")?.as_array()?.len() as u64;
    let streams = if is_both { streams / 2 } else { streams };
    Some(streams).filter(|streams| *streams > 0)
}

/// Records that a document has another number of streams than its options.
fn add_stream_doubt(root: &Value, parsed: &mut ParsedOutput) {
    let asked = root.pointer("/start/test_start/num_streams").and_then(Value::as_u64);
    let had = count_streams(root, reverse_suffix(root).is_some());
    if let (Some(asked), Some(had)) = (asked, had)
        && asked != had
    {
        parsed.doubts.push(assay_model::doubt::Doubt::OptionContradicted {
            condition: Attribute::Streams.name().to_owned(),
            option: asked.to_string(),
            figures: had.to_string(),
        });
    }
}

/// Returns the suffix of the second direction's sums, if there are any.
fn reverse_suffix(root: &Value) -> Option<&'static str> {
    let has = |name: &str, suffix: &str| sum(root, name, suffix).is_some();
    let names = ["sum_received", "sum_sent", "sum"];
    names.iter().any(|name| has(name, REVERSE_SUFFIX)).then_some(REVERSE_SUFFIX)
}

fn sum<'v>(root: &'v Value, name: &str, suffix: &str) -> Option<&'v Value> {
    root.pointer(&format!("/end/{name}{suffix}"))
}

fn add_totals(root: &Value, transfer: &mut ImportedTransfer) {
    let suffixes: Vec<&str> = [Some(""), reverse_suffix(root)].into_iter().flatten().collect();
    let is_udp = transfer.protocol == Some(Protocol::Udp);
    let sent: Vec<Option<MeanRate>> = suffixes.iter().map(|it| read_sent(root, it)).collect();
    let received: Vec<Option<MeanRate>> =
        suffixes.iter().map(|it| read_received(root, it, is_udp)).collect();
    transfer.set_directions(&sent, &received);
    let again = suffixes.iter().map(|it| read_retransmits(root, it));
    transfer.retransmits = again.sum::<Option<f64>>();
    if is_udp {
        transfer.datagrams = read_datagrams(root, &suffixes);
    }
    for (end, key) in [("local", "host_total"), ("remote", "remote_total")] {
        let path = format!("/end/cpu_utilization_percent/{key}");
        let percent = root.pointer(&path).and_then(Value::as_f64).unwrap_or(0.0);
        add_cpu(transfer, end, percent);
    }
}

/// Adds the CPU time of an end, unless its threads cannot have used so much.
pub(super) fn add_cpu(transfer: &mut ImportedTransfer, end: &'static str, percent: f64) {
    let both = if transfer.direction == Some(TransferDirection::Both) { 2.0 } else { 1.0 };
    // A thread for each stream, and one for the control connection.
    let threads = transfer.streams.unwrap_or(1) as f64 * both + 1.0;
    let seconds = transfer.received.or(transfer.sent).map_or(0.0, |rate| rate.seconds);
    let most = 100.0 * threads * (1.1 + CPU_TICKS_S / seconds.max(CPU_TICKS_S));
    if percent > most {
        let what = format!("{percent} % CPU at the {end} end, and at most {most:.0} % can be");
        transfer.problems.push(what);
    } else if percent > 0.0 {
        transfer.cpu.push((end, percent / 100.0));
    }
}

fn number(value: &Value, key: &str) -> Option<f64> {
    value.get(key).and_then(Value::as_f64)
}

fn mean_rate(sum: &Value) -> Option<MeanRate> {
    MeanRate::from_bytes(number(sum, "bytes")?, number(sum, "seconds")?)
}

fn read_sent(root: &Value, suffix: &str) -> Option<MeanRate> {
    // Before 3.2, UDP has one sum, which is the sender's.
    mean_rate(sum(root, "sum_sent", suffix).or_else(|| sum(root, "sum", suffix))?)
}

/// Reads the received rate. Where only the sender's bytes are written, the share of lost datagrams is
/// subtracted.
fn read_received(root: &Value, suffix: &str, is_udp: bool) -> Option<MeanRate> {
    if let Some(received) = sum(root, "sum_received", suffix) {
        return mean_rate(received);
    }
    let all = sum(root, "sum", suffix).filter(|_| is_udp)?;
    let (lost, packets) = (number(all, "lost_packets")?, number(all, "packets")?);
    let arrived = (packets - lost.max(0.0)) / packets;
    let bytes = number(all, "bytes")? * arrived;
    MeanRate::from_bytes(bytes, number(all, "seconds")?).filter(|it| it.bit_per_s.is_finite())
}

fn read_retransmits(root: &Value, suffix: &str) -> Option<f64> {
    known_count(sum(root, "sum_sent", suffix)?.get("retransmits")?)
}

/// Reads the datagrams of all directions together; the jitter is the largest.
fn read_datagrams(root: &Value, suffixes: &[&str]) -> Option<DatagramCounts> {
    let counts = suffixes.iter().map(|suffix| {
        let all = sum(root, "sum", suffix).or_else(|| sum(root, "sum_received", suffix))?;
        Some(DatagramCounts {
            lost: number(all, "lost_packets")?.max(0.0) as u64,
            all: number(all, "packets")? as u64,
            reordered: None,
            jitter_s: number(all, "jitter_ms").map(|jitter| jitter / 1e3),
        })
    });
    let counts: Option<Vec<DatagramCounts>> = counts.collect();
    counts?.into_iter().reduce(DatagramCounts::with)
}
