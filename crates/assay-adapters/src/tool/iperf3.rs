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

use super::{ToolDetection, VersionSource, client_invocation, server_address, unsupported};
use crate::invocation::{Invocation, ToolRequest};
use crate::iperf3_document::{self, CPU_TICKS_S, REVERSE_SUFFIX, known_count};
use crate::outputs::{Outputs, ParsedOutput, ToolError};

const NAME: &str = "iperf3";
const PLACE: &str = "the JSON document";

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["iperf3"],
    path_variable: "ASSAY_IPERF3",
    version: VersionSource::FromOption { arguments: &["-v"], read: parse_version },
    hint: "Debian and Ubuntu: apt install iperf3",
    ..ToolDetection::DEFAULT
};

/// Parses the version: `iperf 3.12 (cJSON 1.7.15)` → `3.12`.
fn parse_version(printed: &str) -> Option<String> {
    printed.split_whitespace().skip_while(|word| *word != "iperf").nth(1).map(str::to_owned)
}

/// Whether iperf3 supports the workload: all but the no-copy mode, which iperf3 before 3.19 lacks
/// for the receiver, and segmentation, which it lacks before 3.21.
pub(super) fn supports(workload: &Workload) -> bool {
    requested_throughput(workload).is_some_and(|(_, asked)| asked.copy && !asked.segmentation)
}

/// Returns the requested throughput test of a TCP or UDP workload.
fn requested_throughput(workload: &Workload) -> Option<(&NetworkWorkload, &NetworkThroughput)> {
    let work = workload.as_tcp().or_else(|| workload.as_udp())?;
    match &work.test {
        NetworkTest::Throughput(asked) => Some((work, asked)),
        NetworkTest::Latency(_) | NetworkTest::Connections(_) => None,
    }
}

const fn is_udp(workload: &Workload) -> bool {
    workload.as_udp().is_some()
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let refused = || unsupported(NAME, request.workload);
    let (work, asked) = requested_throughput(request.workload)
        .filter(|_| supports(request.workload))
        .ok_or_else(refused)?;
    let to = server_address(work);
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
    // Without a rate, iperf3 limits UDP to 1 Mbit/s.
    if asked.rate_bit_per_s.is_some() || is_udp(request.workload) {
        add("-b", Some(asked.rate_bit_per_s.unwrap_or(0).to_string()));
    }
    if let Some(name) = &asked.congestion {
        add("-C", Some(name.clone()));
    }
    Ok(vec![client_invocation(request, NAME, words)])
}

pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    let workload = &invocation.workload;
    let (_, asked) =
        requested_throughput(workload).ok_or_else(|| unsupported(NAME, workload))?;
    outputs.check_exit()?;
    let document = read_document(&outputs.stdout)?;
    if let Some(message) = document.get("error").and_then(Value::as_str) {
        // With -J, 3.12 exits with code 0 even after an error.
        let how = "the tool ended with an error".to_owned();
        return Err(ToolError::ProcessFailed { how, last_words: message.to_owned() });
    }
    check_request(&document, workload, asked)?;
    let end = TransferTotals::read(&document, asked.direction)?;
    check_totals(&document, workload, asked, &end)?;
    let mut parsed =
        ParsedOutput { version: reported_version(&document), ..ParsedOutput::default() };
    parsed.add_samples("goodput", vec![end.received_bit_per_s()]);
    parsed.set_weights(vec![end.seconds]);
    parsed.add_samples("send_rate", vec![end.sent_bit_per_s()]);
    parsed.set_weights(vec![end.sent_seconds]);
    if is_udp(workload) {
        add_datagrams(&document, asked.direction, &mut parsed)?;
    } else if let Some(count) = end.retransmits {
        parsed.add_samples("retransmits", vec![count]);
    }
    for (end_name, key) in [("local", "host_total"), ("remote", "remote_total")] {
        let path = format!("/end/cpu_utilization_percent/{key}");
        let share = find_number(&document, &path)? / 100.0;
        if share > 0.0 {
            let cpu_s = share * end.seconds;
            let sample = cpu_s / end.received_bytes;
            let apart = Attributes::from([(Attribute::End, end_name.into())]);
            parsed.add_series("cpu_per_byte", apart, vec![sample]);
            parsed.set_weights(vec![end.received_bytes]);
        }
    }
    if let Some(name) = document.pointer("/end/sender_tcp_congestion").and_then(Value::as_str) {
        parsed.set_attribute(Attribute::Congestion, name);
    }
    if let Some(bytes) = document.pointer("/start/test_start/blksize").and_then(Value::as_u64) {
        parsed.set_attribute(Attribute::BlockBytes, bytes);
    }
    parsed.doubts.push(Doubt::ProcessCpuOnly { is_tool: true });
    Ok(parsed)
}

/// Reads the members of a document that are used: not the intervals of each stream.
///
/// # Errors
/// If the text is not one whole document, or has more values than one test.
fn read_document(text: &str) -> Result<Value, ToolError> {
    iperf3_document::read(text, |error| ToolError::Truncated { missing: error.to_string() })
}

/// Totals of both directions together.
struct TransferTotals {
    sent_bytes: f64,
    sent_seconds: f64,
    received_bytes: f64,
    seconds: f64,
    /// Number of retransmits; `None` if the sender's kernel does not report it.
    retransmits: Option<f64>,
}

impl TransferTotals {
    fn read(document: &Value, direction: TransferDirection) -> Result<Self, ToolError> {
        let mut all = Self {
            sent_bytes: 0.0,
            sent_seconds: 0.0,
            received_bytes: 0.0,
            seconds: 0.0,
            retransmits: Some(0.0),
        };
        for ending in sum_suffixes(direction) {
            let of = |sum: &str, key: &str| {
                find_positive(document, &format!("/end/{sum}{ending}/{key}"))
            };
            all.sent_bytes += of("sum_sent", "bytes")?;
            all.sent_seconds = all.sent_seconds.max(of("sum_sent", "seconds")?);
            all.received_bytes += of("sum_received", "bytes")?;
            all.seconds = all.seconds.max(of("sum_received", "seconds")?);
            let again = document.pointer(&format!("/end/sum_sent{ending}/retransmits"));
            let again = again.and_then(known_count);
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

/// Rejects a document of another test than the requested one.
fn check_request(
    document: &Value,
    workload: &Workload,
    asked: &NetworkThroughput,
) -> Result<(), ToolError> {
    let start = |key: &str| document.pointer(&format!("/start/test_start/{key}"));
    let refused = |what: String| Err(ToolError::Contradiction { what });
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

/// Relative difference between the two ends' figures of one test.
const END_TOLERANCE: f64 = 0.1;
/// The same with an omitted part: 0.13 was measured between two ends on a loaded host.
const OMIT_TOLERANCE: f64 = 0.5;
/// Delay of the message that ends a test, in seconds.
const END_DELAY_S: f64 = 10.0;
/// Delay of a thread on a loaded host, in seconds.
const THREAD_DELAY_S: f64 = 0.1;

/// Rejects totals that cannot be true: the far end reports its part, which may be wrong.
fn check_totals(
    document: &Value,
    workload: &Workload,
    asked: &NetworkThroughput,
    end: &TransferTotals,
) -> Result<(), ToolError> {
    let refused = |what: String| Err(ToolError::Contradiction { what });
    let omitted = document.pointer("/start/test_start/omit").and_then(Value::as_f64);
    // Each end omits by its own clock.
    let tolerance = if omitted.unwrap_or(0.0) > 0.0 { OMIT_TOLERANCE } else { END_TOLERANCE };
    let most_bytes = end.sent_bytes * (1.0 + tolerance);
    if !is_udp(workload) && end.received_bytes > most_bytes {
        let (received, sent) = (end.received_bytes, end.sent_bytes);
        return refused(format!("{received} bytes were received, and {sent} were sent"));
    }
    let (sent_s, received_s) = (end.sent_seconds, end.seconds);
    let least_s = (sent_s * (1.0 - END_TOLERANCE) - THREAD_DELAY_S).max(sent_s * END_TOLERANCE);
    let most_s = sent_s * (1.0 + END_TOLERANCE) + END_DELAY_S;
    if !(least_s..=most_s).contains(&received_s) {
        return refused(format!("the receiver took {received_s} s, the sender {sent_s} s"));
    }
    // A thread for each stream, and one for the control connection.
    let ways = sum_suffixes(asked.direction).len() as f64;
    let threads = f64::from(asked.streams) * ways + 1.0;
    let most_percent =
        100.0 * threads * (1.0 + END_TOLERANCE + CPU_TICKS_S / sent_s.min(received_s));
    for key in ["host_total", "remote_total"] {
        let percent = find_number(document, &format!("/end/cpu_utilization_percent/{key}"))?;
        if percent > most_percent {
            return refused(format!("{percent} % CPU, and at most {most_percent:.0} % can be"));
        }
    }
    Ok(())
}

/// Adds loss and jitter of both directions together; the jitter is the larger one.
fn add_datagrams(
    document: &Value,
    direction: TransferDirection,
    parsed: &mut ParsedOutput,
) -> Result<(), ToolError> {
    let (mut packets, mut lost, mut jitter_ms) = (0.0, 0.0, 0.0_f64);
    for ending in sum_suffixes(direction) {
        packets += find_positive(document, &format!("/end/sum{ending}/packets"))?;
        lost += find_number(document, &format!("/end/sum{ending}/lost_packets"))?;
        jitter_ms =
            jitter_ms.max(find_number(document, &format!("/end/sum{ending}/jitter_ms"))?);
    }
    // Duplicated datagrams can make the loss negative.
    parsed.add_ratio("loss", EventCount { part: lost.max(0.0) as u64, whole: packets as u64 });
    parsed.add_samples("jitter", vec![jitter_ms / 1e3]);
    Ok(())
}

/// Returns the suffixes of the sums' names.
const fn sum_suffixes(direction: TransferDirection) -> &'static [&'static str] {
    match direction {
        TransferDirection::Both => &["", REVERSE_SUFFIX],
        TransferDirection::Send | TransferDirection::Receive => &[""],
    }
}

fn reported_version(document: &Value) -> Option<String> {
    parse_version(document.pointer("/start/version")?.as_str()?)
}

fn find_number(document: &Value, path: &str) -> Result<f64, ToolError> {
    let value = document.pointer(path);
    let find = || ToolError::Missing { what: path.to_owned(), place: PLACE };
    let value = value.ok_or_else(find)?;
    let number = value.as_f64().filter(|number| number.is_finite());
    number.ok_or_else(|| ToolError::InvalidNumber {
        what: path.to_owned(),
        text: value.to_string(),
    })
}

/// Parses a number above zero: a test that transferred data has a duration and bytes.
fn find_positive(document: &Value, path: &str) -> Result<f64, ToolError> {
    let value = find_number(document, path)?;
    if value > 0.0 {
        return Ok(value);
    }
    Err(ToolError::InvalidNumber { what: path.to_owned(), text: value.to_string() })
}
