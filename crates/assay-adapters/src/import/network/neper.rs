//! Import of neper's `key=value` output: request-response and stream tests.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::ToolFigures;
use assay_model::workload::TransferDirection;
use std::collections::BTreeMap;

use super::super::{FileContents, ImportedMeasurement, LineSpan, missing};
use super::transfer::{ImportedTransfer, MeanRate, Protocol};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative, parse_positive};

pub(super) fn is_neper(text: &str) -> bool {
    ["control_port=", "num_flows=", "num_threads=", "test_length="]
        .iter()
        .all(|key| text.lines().any(|line| line.starts_with(key)))
}

type Values<'t> = BTreeMap<&'t str, &'t str>;

/// Maximum number of keys of one test, which has about 90.
const MAX_KEYS: usize = 1000;

/// Reads every test of a file; each begins with its version, or where a key repeats.
pub(super) fn read_neper(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let (mut values, mut message, mut first) = (Values::new(), "", 1);
    let mut last = 0;
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        let pair = line.trim().split_once('=').filter(|(key, _)| is_key(key));
        let Some((key, value)) = pair else {
            if !line.trim().is_empty() {
                message = line.trim();
            }
            continue;
        };
        if values.contains_key(key) {
            finish_test(&values, message, first..=last, &mut contents);
            check_limit(contents.measurements.len() + 1, ("tests", MAX_MEASUREMENTS))?;
            (values, message, first) = (Values::new(), "", number);
        }
        check_limit(values.len() + 1, ("keys of a test", MAX_KEYS))?;
        values.insert(key, value);
        last = number;
    }
    if !values.is_empty() {
        finish_test(&values, message, first..=last, &mut contents);
    }
    Ok(contents)
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

fn finish_test(
    values: &Values<'_>,
    message: &str,
    lines: LineSpan,
    contents: &mut FileContents,
) {
    let has_end = values.contains_key("nivcsw_end");
    if !has_end {
        let error = match message.is_empty() {
            true => ToolError::Truncated { missing: "the figures are missing".to_owned() },
            false => ToolError::ProcessFailed {
                how: "neper reported".to_owned(),
                last_words: message.to_owned(),
            },
        };
        contents.add_part(Some(lines), "neper test", Err(error));
        return;
    }
    let is_stream = values.contains_key("throughput_opt");
    if let Some(deviation) = values.get("latency_stddev") {
        let what = format!("latency_stddev={deviation}");
        contents.leave_out(Some(lines.clone()), what, "assay has no figure for a deviation");
    }
    let what = "values of options, rusage and counters";
    contents.recognise(lines.clone(), what, "conditions and resources of the process");
    let measured =
        if is_stream { measure_stream(values) } else { measure_transactions(values) };
    contents.add_part(Some(lines), "neper test", measured);
}

/// Returns the protocol: only tests of TCP have an option for its delayed sends.
fn protocol(values: &Values<'_>) -> Protocol {
    if values.contains_key("no_delay") { Protocol::Tcp } else { Protocol::Udp }
}

fn is_on(values: &Values<'_>, key: &str) -> bool {
    values.get(key) == Some(&"1")
}

fn whole(values: &Values<'_>, key: &str) -> Option<u64> {
    values.get(key)?.parse().ok()
}

/// Returns the length of the test between its first and its last sample, or as requested.
fn seconds(values: &Values<'_>) -> f64 {
    let time = |key: &str| values.get(key).and_then(|it| it.parse::<f64>().ok());
    let measured = time("time_end").zip(time("time_start").filter(|it| *it > 0.0));
    let measured =
        measured.map(|(end, start)| end - start).filter(|it| *it > 0.0 && it.is_finite());
    measured.or(whole(values, "total_run_time").map(|it| it as f64)).unwrap_or(0.0)
}

fn measure_stream(values: &Values<'_>) -> Result<ImportedMeasurement, ToolError> {
    let rate = |key: &str| match values.get(key) {
        Some(text) => parse_non_negative(key, text),
        None => Ok(0.0),
    };
    let (local, remote) = (rate("local_throughput")?, rate("remote_throughput")?);
    let printed = match (values.get("throughput"), values.get("throughput_units")) {
        (Some(value), Some(unit)) => {
            parse_positive("throughput", value)? * bits_per_unit(unit)?
        }
        (Some(_), None) => {
            let missing = "throughput_units is missing".to_owned();
            return Err(ToolError::Truncated { missing });
        }
        (None, _) => 0.0,
    };
    // The reading end counts; each end also prints the other's rate in bits per second.
    let is_client = is_on(values, "client");
    let is_local = local > 0.0 || printed > 0.0;
    let received = [local, printed, remote].into_iter().find(|rate| *rate > 0.0);
    let bit_per_s = received.ok_or_else(|| missing("throughput above zero at either end"))?;
    let is_both = is_on(values, "split_bidir");
    let seconds = seconds(values);
    let mut transfer = ImportedTransfer {
        tool: "neper",
        protocol: Some(protocol(values)),
        direction: Some(match (is_both, is_local) {
            (true, _) => TransferDirection::Both,
            (false, true) => TransferDirection::Receive,
            (false, false) => TransferDirection::Send,
        }),
        streams: whole(values, "num_flows"),
        to: values.get("host").filter(|_| is_client).map(|host| (*host).to_owned()),
        congestion: values.get("congestion_control").map(|it| (*it).to_owned()),
        version: values.get("VERSION").map(|it| (*it).to_owned()),
        block_bytes: whole(values, "buffer_size"),
        received: Some(MeanRate { bit_per_s, seconds }),
        skips_copy: is_on(values, "skip_rx_copy"),
        ..ImportedTransfer::default()
    };
    if is_both {
        transfer.received = Some(MeanRate { bit_per_s: local + remote, seconds });
    }
    if !is_client {
        // A server prints its own options, not those of the client that it serves.
        (transfer.streams, transfer.block_bytes) = (None, None);
    }
    transfer.congestion = transfer.congestion.filter(|it| !it.is_empty());
    transfer.into_measurement()
}

/// Returns the bits of a unit: `Mbit/s`, `Mibit/s`, `MB/s`, `MiB/s`.
fn bits_per_unit(unit: &str) -> Result<f64, ToolError> {
    let refused = || ToolError::InvalidNumber {
        what: "throughput_units".to_owned(),
        text: unit.to_owned(),
    };
    let (prefix, bits) = match (unit.strip_suffix("bit/s"), unit.strip_suffix("B/s")) {
        (Some(prefix), _) => (prefix, 1.0),
        (None, Some(prefix)) => (prefix, 8.0),
        (None, None) => return Err(refused()),
    };
    let (prefix, base) = match prefix.strip_suffix('i') {
        Some(prefix) => (prefix, 1024_f64),
        None => (prefix, 1000.0),
    };
    let names = ["", "K", "M", "G", "T"];
    let prefix = if prefix == "k" { "K" } else { prefix };
    let power = names.iter().position(|it| *it == prefix).ok_or_else(refused)?;
    Ok(bits * base.powi(i32::try_from(power).unwrap_or(0)))
}

fn measure_transactions(values: &Values<'_>) -> Result<ImportedMeasurement, ToolError> {
    let is_client = is_on(values, "client");
    let text = values.get("throughput").or_else(|| {
        let other = if is_client { "local_throughput" } else { "remote_throughput" };
        values.get(other)
    });
    let rate = parse_positive("throughput", text.ok_or_else(|| missing("throughput"))?)?;
    let mut parsed = ParsedOutput {
        version: values.get("VERSION").map(|it| (*it).to_owned()),
        ..ParsedOutput::default()
    };
    parsed.add_samples("event_rate", vec![rate]);
    parsed.set_weights(vec![seconds(values)].into_iter().filter(|it| *it > 0.0).collect());
    add_latency(values, &mut parsed)?;
    let name = match (protocol(values), values.contains_key("noburst")) {
        (Protocol::Udp, _) => "udp_rr",
        (Protocol::Tcp | Protocol::Other(_), true) => "tcp_rr",
        (Protocol::Tcp | Protocol::Other(_), false) => "tcp_crr",
    };
    let mut dimensions = Attributes::from([(Attribute::Test, format!("neper {name}").into())]);
    if is_client {
        let to = values.get("host").filter(|host| !host.is_empty());
        dimensions.extend(to.map(|to| (Attribute::To, (*to).into())));
        let flows = whole(values, "num_flows");
        dimensions.extend(flows.map(|flows| (Attribute::Streams, flows.into())));
        let threads = whole(values, "num_threads");
        dimensions.extend(threads.map(|threads| (Attribute::Threads, threads.into())));
        add_sizes(values, &mut dimensions);
    }
    Ok(ImportedMeasurement::new(name, Benchmark::Foreign, dimensions, parsed))
}

fn add_sizes(values: &Values<'_>, dimensions: &mut Attributes) {
    match (whole(values, "request_size"), whole(values, "response_size")) {
        (Some(request), Some(response)) if request == response => {
            dimensions.insert(Attribute::Bytes, request.into());
        }
        (Some(request), Some(response)) => {
            let sizes = format!("request={request} response={response}");
            dimensions.insert(Attribute::Loops, sizes.into());
        }
        (Some(_), None) | (None, Some(_) | None) => {}
    }
}

/// Adds the distribution of the transactions' times.
fn add_latency(values: &Values<'_>, parsed: &mut ParsedOutput) -> Result<(), ToolError> {
    let time = |key: &str| values.get(key).map(|it| parse_positive(key, it)).transpose();
    let mut figures = ToolFigures {
        min: time("latency_min")?,
        mean: time("latency_mean")?,
        max: time("latency_max")?,
        ..ToolFigures::default()
    };
    for (key, value) in values {
        if let Some(percentile) = key.strip_prefix("latency_p") {
            let value = parse_positive(key, value)?;
            figures.percentiles.insert(format!("p{percentile}"), value);
        }
    }
    let median = figures.percentiles.get("p50").copied();
    if let Some(value) = median.or(figures.mean) {
        parsed.add_samples("time", vec![value]);
        let statistic = if median.is_some() { "median" } else { "mean" };
        parsed.set_metric_attribute("time", Attribute::Statistic, statistic);
        parsed.set_figures("time", figures);
    }
    Ok(())
}
