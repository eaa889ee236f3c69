//! Import of netperf: the classic tables and the omni outputs `-k` and `-o`.
//!
//! `10^6bits/sec` are decimal; its `KBytes`, `MBytes` and `GBytes` are binary (netlib.c).

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::ToolFigures;
use assay_model::workload::TransferDirection;

use super::super::{FileContents, ImportedMeasurement, missing};
use super::transfer::{ImportedTransfer, MeanRate, Protocol};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative};

mod omni;
mod table;

pub(super) fn is_netperf(text: &str) -> bool {
    text.lines().any(|line| is_heading(line) || line.starts_with("establish control: "))
        || (text.contains("THROUGHPUT=") && text.contains("THROUGHPUT_UNITS="))
}

/// Whether a line is `MIGRATED TCP STREAM TEST from … to HOST (…) port 0 AF_INET`.
fn is_heading(line: &str) -> bool {
    let families = ["MIGRATED ", "TCP ", "UDP ", "SCTP ", "OMNI ", "DLPI", "STREAM "];
    families.iter().any(|family| line.starts_with(family))
        && (line.contains(" TEST to ")
            || (line.contains(" TEST from ")
                && line.contains(" to ")
                && line.contains(" AF_INET")))
}

/// Test as its lines contain it.
#[derive(Default)]
struct NetperfTest<'t> {
    /// Name of the kind: `TCP_STREAM`.
    kind: String,
    to: Option<&'t str>,
    first_line: usize,
    lines: Vec<&'t str>,
}

/// Maximum number of lines of one test; all omni values are about 190.
const MAX_TEST_LINES: usize = 20_000;

/// Reads every test of a file.
pub(super) fn read_netperf(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut test = NetperfTest { first_line: 1, ..NetperfTest::default() };
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        // Without a banner, another set of values begins where a name repeats.
        let is_repeated = line.starts_with("THROUGHPUT=")
            && test.lines.iter().any(|it| it.starts_with("THROUGHPUT="));
        if is_heading(line) || is_repeated {
            finish_test(&std::mem::take(&mut test), &mut contents);
            check_limit(contents.measurements.len() + 1, ("tests", MAX_MEASUREMENTS))?;
            test.first_line = number;
            if !is_repeated {
                (test.kind, test.to) = parse_heading(line);
                continue;
            }
        }
        check_limit(test.lines.len() + 1, ("lines of a test", MAX_TEST_LINES))?;
        test.lines.push(line.trim_end());
    }
    finish_test(&test, &mut contents);
    Ok(contents)
}

/// Parses the kind and the far end of a heading.
fn parse_heading(line: &str) -> (String, Option<&str>) {
    let (kind, rest) = line.split_once(" TEST").unwrap_or((line, ""));
    let kind = kind.trim().trim_start_matches("MIGRATED ").trim();
    let kind = match kind.to_ascii_uppercase().as_str() {
        "TCP REQUEST/RESPONSE" => "TCP_RR".to_owned(),
        "UDP REQUEST/RESPONSE" => "UDP_RR".to_owned(),
        "SCTP REQUEST/RESPONSE" => "SCTP_RR".to_owned(),
        "TCP CONNECT/REQUEST/RESPONSE" => "TCP_CRR".to_owned(),
        other => other.replace(' ', "_"),
    };
    let to = rest.split_once(" to ").or_else(|| rest.split_once("to ")).map(|it| it.1);
    (kind, to.and_then(|rest| rest.split_whitespace().next()))
}

fn finish_test(test: &NetperfTest<'_>, contents: &mut FileContents) {
    let last_line = test.first_line + test.lines.len();
    let lines = Some(test.first_line..=last_line);
    let has_heading = !test.kind.is_empty();
    let what = format!("test {:?}", test.kind);
    let is_omni = test.lines.iter().any(|line| line.starts_with("THROUGHPUT="));
    let is_csv =
        test.lines.iter().any(|line| line.contains(',') && line.contains("Throughput"));
    if is_omni || is_csv {
        omni::read_test(test, is_csv, contents);
        return;
    }
    if let Some(result) = table::read_test(test) {
        contents.add_part(lines, what, result);
        return;
    }
    let message = test.lines.iter().find(|line| is_message(line));
    match message {
        Some(message) => {
            let how = "netperf reported".to_owned();
            let error = ToolError::ProcessFailed { how, last_words: message.trim().to_owned() };
            contents.add_part(lines, what, Err(error));
        }
        None if has_heading => {
            let has_figures = test.lines.iter().any(|line| count_numbers(line) > 1);
            if has_figures {
                let why = "a table whose columns assay cannot identify; use -k or -o instead";
                contents.leave_out(lines, what, why);
            } else {
                let missing = "its table is missing".to_owned();
                contents.add_part(lines, what, Err(ToolError::Truncated { missing }));
            }
        }
        None => {}
    }
}

fn is_message(line: &str) -> bool {
    [
        "establish",
        "netperf: ",
        "alloc_",
        "send_omni",
        "recv_",
        "shutdown_",
        "remote error",
        "enable_",
    ]
    .iter()
    .any(|mark| line.starts_with(mark))
}

fn count_numbers(line: &str) -> usize {
    line.split_whitespace().filter(|word| word.parse::<f64>().is_ok_and(f64::is_finite)).count()
}

/// Whether a line consists of numbers.
fn is_numeric(line: &str) -> bool {
    let mut words = line.split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| word.parse::<f64>().is_ok_and(f64::is_finite))
}

/// Figures of a test, from a table or from omni values.
#[derive(Debug, Clone, Default)]
struct NetperfFigures {
    seconds: Option<f64>,
    /// Throughput and its unit.
    throughput: Option<(f64, String)>,
    received: Option<f64>,
    request_bytes: Option<u64>,
    response_bytes: Option<u64>,
    message_bytes: Option<u64>,
    /// CPU time per byte by end.
    cpu_per_byte: Vec<(&'static str, f64)>,
    /// Mean, minimum, maximum and percentiles of a transaction, in seconds.
    latency: ToolFigures,
    warnings: Vec<String>,
}

/// Returns the factor of a unit to bits per second; `None` for transactions.
fn bits_per_unit(unit: &str) -> Option<f64> {
    let unit = unit.trim_end_matches("/sec").trim_end_matches("/s");
    match unit {
        "10^0bits" | "bits" => Some(1.0),
        "10^3bits" => Some(1e3),
        "10^6bits" => Some(1e6),
        "10^9bits" => Some(1e9),
        "Bytes" | "bytes" => Some(8.0),
        "KBytes" => Some(8.0 * 1024.0),
        "MBytes" => Some(8.0 * 1024.0 * 1024.0),
        "GBytes" => Some(8.0 * 1024.0 * 1024.0 * 1024.0),
        _ => None,
    }
}

/// Makes the measurement of a test: a transfer, or a rate of transactions.
fn measure(
    kind: &str,
    to: Option<&str>,
    figures: NetperfFigures,
) -> Result<ImportedMeasurement, ToolError> {
    let (value, unit) = figures.throughput.clone().ok_or_else(|| missing("throughput"))?;
    if value <= 0.0 {
        return Err(missing("throughput above zero"));
    }
    match bits_per_unit(&unit) {
        Some(factor) if !kind.ends_with("RR") => {
            measure_transfer(kind, to, value * factor, factor, figures)
        }
        Some(_) | None => Ok(measure_transactions(kind, to, value, &unit, figures)),
    }
}

fn measure_transfer(
    kind: &str,
    to: Option<&str>,
    bit_per_s: f64,
    factor: f64,
    figures: NetperfFigures,
) -> Result<ImportedMeasurement, ToolError> {
    let seconds = figures.seconds.unwrap_or(0.0);
    let is_udp = kind.starts_with("UDP");
    let rate = |bit_per_s: f64| Some(MeanRate { bit_per_s, seconds });
    let is_receiving = kind.contains("MAERTS") || kind.contains("RECEIVE");
    let family = kind.split('_').next().unwrap_or_default();
    let protocol = if family == "OMNI" { "TCP" } else { family };
    // netperf waits for the far end to read all of a connection's data before it stops its clock.
    let (sent, received) = match is_udp {
        true => (rate(bit_per_s), figures.received.and_then(|value| rate(value * factor))),
        false => (None, rate(bit_per_s)),
    };
    let mut found = ImportedTransfer {
        tool: "netperf",
        protocol: Some(Protocol::parse(protocol)),
        direction: Some(match is_receiving {
            true => TransferDirection::Receive,
            false => TransferDirection::Send,
        }),
        streams: Some(1),
        to: to.map(str::to_owned),
        block_bytes: figures.message_bytes,
        sent,
        received,
        problems: figures.warnings,
        ..ImportedTransfer::default()
    }
    .into_measurement()?;
    for (end, cost) in figures.cpu_per_byte {
        if cost > 0.0 && found.benchmark != Benchmark::Foreign {
            let apart = Attributes::from([(Attribute::End, end.into())]);
            found.parsed.add_series("cpu_per_byte", apart, vec![cost]);
        }
    }
    Ok(found)
}

fn measure_transactions(
    kind: &str,
    to: Option<&str>,
    value: f64,
    unit: &str,
    figures: NetperfFigures,
) -> ImportedMeasurement {
    let mut parsed = ParsedOutput::default();
    let factor = bits_per_unit(unit);
    let metric = if factor.is_some() { "bit_rate" } else { "event_rate" };
    parsed.add_samples(metric, vec![value * factor.unwrap_or(1.0)]);
    parsed.set_weights(figures.seconds.filter(|it| *it > 0.0).into_iter().collect());
    let latency = figures.latency;
    let median = latency.percentiles.get("p50").copied();
    if let Some(time) = median.or(latency.mean) {
        parsed.add_samples("time", vec![time]);
        let statistic = if median.is_some() { "median" } else { "mean" };
        parsed.set_metric_attribute("time", Attribute::Statistic, statistic);
        parsed.set_figures("time", latency);
    }
    parsed.problems = figures.warnings;
    let mut dimensions =
        Attributes::from([(Attribute::Test, format!("netperf {kind}").into())]);
    dimensions.extend(to.map(|to| (Attribute::To, to.into())));
    let request = figures.request_bytes;
    let sizes = match (request, figures.response_bytes) {
        (Some(request), Some(response)) if request != response => {
            Some(format!("request={request} response={response}"))
        }
        (Some(_) | None, Some(_) | None) => None,
    };
    match sizes {
        Some(sizes) => dimensions.insert(Attribute::Loops, sizes.into()),
        None => request.and_then(|bytes| dimensions.insert(Attribute::Bytes, bytes.into())),
    };
    ImportedMeasurement::new(kind, Benchmark::Foreign, dimensions, parsed)
}

/// Parses a number that netperf printed; −1 means unknown.
fn parse_known(what: &str, text: &str) -> Result<Option<f64>, ToolError> {
    if text.starts_with('-') {
        return Ok(None);
    }
    parse_non_negative(what, text).map(Some)
}
