//! Adapter of `iperf3` as client: one JSON document per test.
//!
//! Its JSON has duplicate keys (the last one counts), and 3.12 prints −1 as 2⁶⁴ − 1. Its CPU
//! figures are those of the process, without the softirqs that receive.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::doubt::Doubt;
use assay_model::event::EventCount;
use assay_model::workload::{
    NetworkTest, NetworkThroughput, NetworkWorkload, TransferDirection, Workload,
};
use serde_json::Value;

use super::{Detect, Version, across, host, not_taken};
use crate::invocation::{Invocation, Request};
use crate::outputs::{Outputs, Parsed, ToolError};

const NAME: &str = "iperf3";
const PLACE: &str = "the JSON document";

pub(super) const fn detect() -> Detect {
    Detect {
        programs: &["iperf3"],
        variable: "ASSAY_IPERF3",
        mark: None,
        version: Version::Asked { arguments: &["-v"], read: version },
        launcher: false,
        hint: "Debian and Ubuntu: apt install iperf3",
    }
}

/// Parses the version: `iperf 3.12 (cJSON 1.7.15)` → `3.12`.
fn version(printed: &str) -> Option<String> {
    printed.split_whitespace().skip_while(|word| *word != "iperf").nth(1).map(str::to_owned)
}

/// Whether iperf3 supports the workload: all but the no-copy mode, which iperf3 before 3.19 lacks
/// for the receiver.
pub(super) fn takes(workload: &Workload) -> bool {
    asked(workload).is_some_and(|(_, asked)| asked.copy)
}

/// Returns the requested throughput test of a TCP or UDP workload.
fn asked(workload: &Workload) -> Option<(&NetworkWorkload, &NetworkThroughput)> {
    let (Workload::NetworkTcp(work) | Workload::NetworkUdp(work)) = workload else {
        return None;
    };
    match &work.question {
        NetworkTest::Throughput(asked) => Some((work, asked)),
        NetworkTest::Latency(_) => None,
    }
}

const fn is_udp(workload: &Workload) -> bool {
    matches!(workload, Workload::NetworkUdp(_))
}

pub(super) fn command(request: &Request<'_>) -> Result<Vec<Invocation>, ToolError> {
    let refused = || not_taken(NAME, request.workload);
    let (work, asked) =
        asked(request.workload).filter(|(_, asked)| asked.copy).ok_or_else(refused)?;
    let to = host(work);
    let mut words: Vec<String> = ["-c", to, "-J", "-i", "0"].map(str::to_owned).into();
    let mut add = |option: &str, value: Option<String>| {
        words.push(option.to_owned());
        words.extend(value);
    };
    if let Some(port) = work.port {
        add("-p", Some(port.to_string()));
    }
    add("-t", Some(asked.seconds.to_string()));
    add("-P", Some(asked.streams.to_string()));
    if is_udp(request.workload) {
        add("-u", None);
    }
    match asked.direction {
        TransferDirection::Send => {}
        TransferDirection::Receive => add("-R", None),
        TransferDirection::Both => add("--bidir", None),
    }
    if let Some(rate) = asked.rate_bit_per_s {
        add("-b", Some(rate.to_string()));
    }
    if let Some(name) = &asked.congestion {
        add("-C", Some(name.clone()));
    }
    Ok(vec![across(request, NAME, words)])
}

pub(super) fn parse(invocation: &Invocation, outputs: &Outputs) -> Result<Parsed, ToolError> {
    let workload = &invocation.workload;
    let (_, asked) = asked(workload).ok_or_else(|| not_taken(NAME, workload))?;
    outputs.ended_well()?;
    let document: Value = serde_json::from_str(&outputs.stdout)
        .map_err(|error| ToolError::ReachEnd { missing: error.to_string() })?;
    if let Some(message) = document.get("error").and_then(Value::as_str) {
        // With -J, 3.12 exits with code 0 even after an error.
        let how = "the tool ended with an error".to_owned();
        return Err(ToolError::Run { how, last_words: message.to_owned() });
    }
    reconcile(&document, workload, asked)?;
    let end = Ends::read(&document, asked.direction)?;
    let mut parsed = Parsed { version: reported_version(&document), ..Parsed::default() };
    parsed.measure("goodput", vec![end.received_bit_per_s()]);
    parsed.over(vec![end.seconds]);
    parsed.measure("send_rate", vec![end.sent_bit_per_s()]);
    parsed.over(vec![end.sent_seconds]);
    if is_udp(workload) {
        datagrams(&document, asked.direction, &mut parsed)?;
    } else if let Some(count) = end.retransmits {
        parsed.measure("retransmits", vec![count]);
    }
    for (end_name, key) in [("local", "host_total"), ("remote", "remote_total")] {
        let path = format!("/end/cpu_utilization_percent/{key}");
        let share = number(&document, &path)? / 100.0;
        if share > 0.0 {
            let cpu_s = share * end.seconds;
            let sample = cpu_s / end.received_bytes;
            let apart = Attributes::from([(Attribute::End, end_name.into())]);
            parsed.measure_apart("cpu_per_byte", apart, vec![sample]);
            parsed.over(vec![end.received_bytes]);
        }
    }
    if let Some(name) = document.pointer("/end/sender_tcp_congestion").and_then(Value::as_str) {
        parsed.learn(Attribute::Congestion, name);
    }
    if let Some(bytes) = document.pointer("/start/test_start/blksize").and_then(Value::as_u64) {
        parsed.learn(Attribute::BlockBytes, bytes);
    }
    parsed.doubts.push(Doubt::ProcessCpuOnly { is_tool: true });
    Ok(parsed)
}

/// Totals of both directions together.
struct Ends {
    sent_bytes: f64,
    sent_seconds: f64,
    received_bytes: f64,
    seconds: f64,
    /// Number of retransmits; `None` if the sender's kernel does not report it.
    retransmits: Option<f64>,
}

impl Ends {
    fn read(document: &Value, direction: TransferDirection) -> Result<Self, ToolError> {
        let mut all = Self {
            sent_bytes: 0.0,
            sent_seconds: 0.0,
            received_bytes: 0.0,
            seconds: 0.0,
            retransmits: Some(0.0),
        };
        for ending in endings(direction) {
            let of =
                |sum: &str, key: &str| positive(document, &format!("/end/{sum}{ending}/{key}"));
            all.sent_bytes += of("sum_sent", "bytes")?;
            all.sent_seconds = all.sent_seconds.max(of("sum_sent", "seconds")?);
            all.received_bytes += of("sum_received", "bytes")?;
            all.seconds = all.seconds.max(of("sum_received", "seconds")?);
            let again = document.pointer(&format!("/end/sum_sent{ending}/retransmits"));
            let again = again.and_then(count);
            all.retransmits = all.retransmits.zip(again).map(|(a, b)| a + b);
        }
        Ok(all)
    }

    fn received_bit_per_s(&self) -> f64 {
        self.received_bytes * 8.0 / self.seconds
    }

    fn sent_bit_per_s(&self) -> f64 {
        self.sent_bytes * 8.0 / self.sent_seconds
    }
}

/// Parses a count; −1, also printed as 2⁶⁴ − 1, means unknown.
fn count(value: &Value) -> Option<f64> {
    /// 2⁶³.
    const WRAPPED: f64 = 9_223_372_036_854_775_808.0;
    value.as_f64().filter(|count| (0.0..WRAPPED).contains(count))
}

/// Rejects a document of another test than the requested one.
fn reconcile(
    document: &Value,
    workload: &Workload,
    asked: &NetworkThroughput,
) -> Result<(), ToolError> {
    let start = |key: &str| document.pointer(&format!("/start/test_start/{key}"));
    let refused = |what: String| Err(ToolError::Reconcile { what });
    let protocol = start("protocol").and_then(Value::as_str).unwrap_or_default();
    let wanted = if is_udp(workload) { "UDP" } else { "TCP" };
    if protocol != wanted {
        return refused(format!("the test was over {protocol:?}, not over {wanted}"));
    }
    let streams = start("num_streams").and_then(Value::as_u64);
    if streams != Some(u64::from(asked.streams)) {
        let had = streams.map_or_else(|| "no".to_owned(), |streams| streams.to_string());
        return refused(format!("the test had {had} streams, not {}", asked.streams));
    }
    let is_reverse = start("reverse").and_then(Value::as_u64) == Some(1);
    let is_both = document.pointer("/end/sum_received_bidir_reverse").is_some();
    let direction = match (is_reverse, is_both) {
        (_, true) => TransferDirection::Both,
        (true, false) => TransferDirection::Receive,
        (false, false) => TransferDirection::Send,
    };
    if direction != asked.direction {
        let (was, wanted) = (direction.name(), asked.direction.name());
        return refused(format!("the direction was {was}, not {wanted}"));
    }
    Ok(())
}

/// Adds loss and jitter of both directions together; the jitter is the larger one.
fn datagrams(
    document: &Value,
    direction: TransferDirection,
    parsed: &mut Parsed,
) -> Result<(), ToolError> {
    let (mut packets, mut lost, mut jitter_ms) = (0.0, 0.0, 0.0_f64);
    for ending in endings(direction) {
        packets += positive(document, &format!("/end/sum{ending}/packets"))?;
        lost += number(document, &format!("/end/sum{ending}/lost_packets"))?;
        jitter_ms = jitter_ms.max(number(document, &format!("/end/sum{ending}/jitter_ms"))?);
    }
    // Duplicated datagrams can make the loss negative.
    parsed.measure_share(
        "loss",
        EventCount { part: lost.max(0.0) as u64, whole: packets as u64 },
    );
    parsed.measure("jitter", vec![jitter_ms / 1e3]);
    Ok(())
}

/// Returns the suffixes of the sums' names.
const fn endings(direction: TransferDirection) -> &'static [&'static str] {
    match direction {
        TransferDirection::Both => &["", "_bidir_reverse"],
        TransferDirection::Send | TransferDirection::Receive => &[""],
    }
}

fn reported_version(document: &Value) -> Option<String> {
    version(document.pointer("/start/version")?.as_str()?)
}

fn number(document: &Value, path: &str) -> Result<f64, ToolError> {
    let value = document.pointer(path);
    let find = || ToolError::Find { what: path.to_owned(), place: PLACE };
    let value = value.ok_or_else(find)?;
    let number = value.as_f64().filter(|number| number.is_finite());
    number
        .ok_or_else(|| ToolError::ReadNumber { what: path.to_owned(), text: value.to_string() })
}

/// Parses a number above zero: a test that transferred data has a duration and bytes.
fn positive(document: &Value, path: &str) -> Result<f64, ToolError> {
    let value = number(document, path)?;
    if value > 0.0 {
        return Ok(value);
    }
    Err(ToolError::ReadNumber { what: path.to_owned(), text: value.to_string() })
}
