//! Import of qperf's text: every test of a file, with the rows that its `-v` letters add.
//!
//! Units are decimal: `GB/sec` are 10⁹ B/s, `Gb/sec` 10⁹ bit/s; sizes in `KiB` and `MiB` are binary.

use std::collections::BTreeSet;

use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::ToolFigures;
use assay_model::workload::TransferDirection;

use super::super::{FileContents, ImportedMeasurement, LineSpan, missing, mixed_lines};
use super::transfer::{DatagramCounts, ImportedTransfer, MeanRate, Protocol};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_positive_scaled};

/// Beginnings of the names of qperf's tests.
const FAMILIES: [&str; 9] =
    ["tcp_", "udp_", "sctp_", "sdp_", "rds_", "rc_", "uc_", "ud_", "xrc_"];
/// Name of the section that describes both hosts.
const CONFIGURATION: &str = "conf";
/// Endings of the rows that repeat others or are conditions.
const CONDITIONS: [&str; 5] = ["msg_rate", "msg_size", "time", "timeout", "port"];

/// Whether a text has the heading of a test, with its rows or a message below it.
pub(super) fn is_qperf(text: &str) -> bool {
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_row = |next: &&str| next.starts_with(' ') && next.contains(" = ");
        if is_test_heading(line) && (has_figure_name(line) || lines.peek().is_none_or(is_row)) {
            return true;
        }
    }
    false
}

/// Whether a line is `tcp_lat:`, at its beginning.
fn is_test_heading(line: &str) -> bool {
    let name = line.trim_end().strip_suffix(':').unwrap_or_default();
    is_test(name)
}

/// Whether a heading names a figure, as those of most tests do: a message may follow it.
fn has_figure_name(line: &str) -> bool {
    let name = line.trim_end().trim_end_matches(':');
    ["_bw", "_lat", "_mr"].iter().any(|figure| name.ends_with(figure))
}

fn is_test(name: &str) -> bool {
    let is_name =
        name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_');
    let is_verified = name.strip_prefix("ver_").unwrap_or(name);
    is_name && FAMILIES.iter().any(|family| is_verified.starts_with(family))
}

/// Section of one test.
struct QperfSection<'t> {
    name: &'t str,
    lines: LineSpan,
    /// Names and values of its rows.
    rows: Vec<(&'t str, &'t str)>,
}

/// Maximum number of rows of a test; with all details qperf prints about 40.
const MAX_ROWS: usize = 200;

/// Reads every test of a file.
pub(super) fn read_qperf(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut section: Option<QperfSection<'_>> = None;
    let mut message = "";
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with([' ', '\t']) {
            let Some(open) = &mut section else { continue };
            check_limit(open.rows.len() + 1, ("rows of a test", MAX_ROWS))?;
            if let Some((name, value)) = line.split_once('=') {
                open.rows.push((name.trim(), value.trim()));
                open.lines = *open.lines.start()..=number;
            }
            continue;
        }
        let name = line.trim_end().strip_suffix(':').filter(|name| is_name(name));
        match name {
            Some(name) => {
                finish_section(section.take(), message, &mut contents);
                check_limit(contents.measurements.len() + 1, ("tests", MAX_MEASUREMENTS))?;
                section = Some(QperfSection { name, lines: number..=number, rows: Vec::new() });
            }
            None => message = line.trim(),
        }
    }
    finish_section(section, message, &mut contents);
    Ok(contents)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

fn finish_section(
    section: Option<QperfSection<'_>>,
    message: &str,
    contents: &mut FileContents,
) {
    let Some(section) = section else { return };
    let lines = section.lines.clone();
    if section.name == CONFIGURATION {
        contents.recognise(lines, "conf", "description of both hosts");
        return;
    }
    let what = format!("test {:?}", section.name);
    if !is_test(section.name) {
        contents.leave_out(Some(lines), what, "assay does not know this test of qperf");
        return;
    }
    if section.rows.is_empty() && !message.is_empty() {
        let error = ToolError::ProcessFailed {
            how: "qperf reported".to_owned(),
            last_words: message.to_owned(),
        };
        contents.add_part(Some(lines), what, Err(error));
        return;
    }
    let rest = list_unused_rows(&section);
    if !rest.is_empty() {
        let why = "shares of a CPU and counts, for which assay has no figure";
        contents.leave_out(Some(lines.clone()), format!("{} of {what}", rest.join(", ")), why);
    }
    contents.add_part(Some(lines), what, measure(&section));
}

/// Lists the rows that no figure and no condition comes from.
fn list_unused_rows<'t>(section: &QperfSection<'t>) -> Vec<&'t str> {
    let is_used = |name: &str| {
        FIGURES.contains(&name)
            || CONDITIONS.contains(&name)
            || name.ends_with("_cost")
            || name.ends_with("_bytes")
            || name.ends_with("_msgs")
    };
    section.rows.iter().map(|(name, _)| *name).filter(|name| !is_used(name)).collect()
}

const FIGURES: [&str; 5] = ["latency", ROUND_TRIP, "bw", "send_bw", "recv_bw"];
/// Row of `assay qperf` with the distribution of all round trips.
const ROUND_TRIP: &str = "round_trip";

impl QperfSection<'_> {
    fn row(&self, name: &str) -> Option<&str> {
        self.rows.iter().find(|(row, _)| *row == name).map(|(_, value)| *value)
    }

    /// Parses a row as a quantity in the base unit of `units`.
    fn quantity(&self, name: &str, units: &[(&str, i32)]) -> Result<Option<f64>, ToolError> {
        let Some(value) = self.row(name) else { return Ok(None) };
        let (number, unit) = value.rsplit_once(' ').unwrap_or((value, ""));
        let power = units.iter().find(|(known, _)| *known == unit).map(|(_, power)| *power);
        let what = format!("the {name} of {}", self.name);
        match power {
            // Thousands may be separated by commas.
            Some(power) => {
                parse_positive_scaled(&what, &number.replace(',', ""), power).map(Some)
            }
            None => Err(ToolError::InvalidNumber { what, text: value.to_owned() }),
        }
    }

    fn seconds(&self, name: &str) -> Result<Option<f64>, ToolError> {
        self.quantity(name, &[("ns", -9), ("us", -6), ("ms", -3), ("sec", 0)])
    }

    /// Parses a rate in bits per second.
    fn bit_per_s(&self, name: &str) -> Result<Option<f64>, ToolError> {
        const BYTES: [(&str, i32); 5] =
            [("bytes/sec", 0), ("KB/sec", 3), ("MB/sec", 6), ("GB/sec", 9), ("TB/sec", 12)];
        const BITS: [(&str, i32); 5] =
            [("bits/sec", 0), ("Kb/sec", 3), ("Mb/sec", 6), ("Gb/sec", 9), ("Tb/sec", 12)];
        let unit =
            self.row(name).and_then(|value| value.rsplit(' ').next()).unwrap_or_default();
        if BITS.iter().any(|(bits, _)| *bits == unit) {
            return self.quantity(name, &BITS);
        }
        Ok(self.quantity(name, &BYTES)?.map(|bytes| bytes * 8.0))
    }

    /// Parses a count: `43,085`.
    fn count(&self, name: &str) -> Option<u64> {
        self.row(name)?.replace(',', "").trim().parse().ok()
    }

    /// Returns the size of a message: from its row, or from counted bytes and messages.
    fn message_bytes(&self) -> Option<u64> {
        if let Some(size) = self.row("msg_size") {
            return parse_size(size);
        }
        ["send", "loc_send", "loc_recv"].iter().find_map(|end| {
            let bytes = parse_amount(self.row(&format!("{end}_bytes"))?)?;
            let messages = self.count(&format!("{end}_msgs"))? as f64;
            let size = (bytes / messages).round();
            // Bytes have three digits, so only small sizes are exact.
            let is_exact = messages > 0.0 && (1.0..MAX_DERIVED_BYTES).contains(&size);
            is_exact.then_some(size as u64)
        })
    }
}

/// Sizes from here on cannot be derived from amounts of three digits.
const MAX_DERIVED_BYTES: f64 = 100.0;

/// Parses `1 bytes`, `4 KiB (4,096)`, `1,000` and `64 KiB`.
fn parse_size(text: &str) -> Option<u64> {
    let digits = |text: &str| text.replace(',', "").trim().parse::<u64>().ok();
    if let Some((_, exact)) = text.split_once('(') {
        return digits(exact.trim_end_matches(')'));
    }
    let (number, unit) = text.trim().split_once(' ').unwrap_or((text.trim(), "bytes"));
    let factor = match unit {
        "bytes" | "byte" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "KB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    digits(number)?.checked_mul(factor)
}

/// Parses an amount of three digits: `79.8 KB`.
fn parse_amount(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let units = ["bytes", "KB", "MB", "GB", "TB"];
    let power = units.iter().position(|it| *it == unit.trim())?;
    let number: f64 = number.replace(',', "").parse().ok()?;
    Some(number * 1000_f64.powi(i32::try_from(power).ok()?)).filter(|it| it.is_finite())
}

fn measure(section: &QperfSection<'_>) -> Result<ImportedMeasurement, ToolError> {
    let mut names = BTreeSet::new();
    if let Some((name, _)) = section.rows.iter().find(|(name, _)| !names.insert(*name)) {
        return Err(mixed_lines(&format!("{name} occurs twice in {}", section.name)));
    }
    if let Some(latency_s) = section.seconds("latency")? {
        let mut found = measure_latency(section, latency_s);
        if let Some(row) = section.row(ROUND_TRIP) {
            add_round_trips(row, &mut found.parsed)?;
        }
        return Ok(found);
    }
    let both = section.bit_per_s("bw")?;
    let received = section.bit_per_s("recv_bw")?.or(both);
    let sent = section.bit_per_s("send_bw")?;
    if received.or(sent).is_none() {
        return Err(missing(&format!("latency or bandwidth of {}", section.name)));
    }
    if matches!(section.name, "tcp_bw" | "udp_bw") {
        return measure_transfer(section, sent, received);
    }
    let mut parsed = ParsedOutput::default();
    let ways = if sent.is_some() {
        [("send", sent), ("receive", received)]
    } else {
        [("", None), ("", received)]
    };
    for (direction, rate) in ways {
        if let Some(rate) = rate {
            let apart = [(Attribute::Direction, AttributeValue::from(direction))];
            let apart = apart.into_iter().filter(|_| !direction.is_empty()).collect();
            parsed.add_series("bandwidth", apart, vec![rate / 8.0]);
        }
    }
    parsed.set_metric_attribute("bandwidth", Attribute::Statistic, "mean");
    Ok(foreign(section, parsed))
}

/// Adds the distribution of the round trips: `min 11.2 us, p50 12.8 us, … max 5236.2 us (n = 41123)`.
fn add_round_trips(row: &str, parsed: &mut ParsedOutput) -> Result<(), ToolError> {
    let mut figures = ToolFigures::default();
    let listed = row.split_once(" (").map_or(row, |(listed, _)| listed);
    for part in listed.split(", ") {
        let (name, value) = part.split_once(' ').unwrap_or((part, ""));
        let time_us = value.strip_suffix(" us").unwrap_or(value);
        let time_s = parse_positive_scaled("a round trip", time_us, -6)?;
        match name {
            "min" => figures.min = Some(time_s),
            "max" => figures.max = Some(time_s),
            percentile => drop(figures.percentiles.insert(percentile.to_owned(), time_s)),
        }
    }
    if let Some(median) = figures.percentiles.get("p50").copied() {
        parsed.add_samples(ROUND_TRIP, vec![median]);
        parsed.set_metric_attribute(ROUND_TRIP, Attribute::Statistic, "median");
        parsed.set_figures(ROUND_TRIP, figures);
    }
    Ok(())
}

/// Makes a measurement of a test that assay does not have.
fn foreign(section: &QperfSection<'_>, parsed: ParsedOutput) -> ImportedMeasurement {
    let mut dimensions = Attributes::from([(Attribute::Test, section.name.into())]);
    dimensions.extend(section.message_bytes().map(|bytes| (Attribute::Bytes, bytes.into())));
    ImportedMeasurement::new(section.name, Benchmark::Foreign, dimensions, parsed)
}

/// Makes a measurement of a latency: the mean of half a round trip.
fn measure_latency(section: &QperfSection<'_>, latency_s: f64) -> ImportedMeasurement {
    let mut parsed = ParsedOutput::default();
    let benchmark = match section.name {
        "tcp_lat" => Some(Benchmark::NetworkTcp),
        "udp_lat" => Some(Benchmark::NetworkUdp),
        _ => None,
    };
    let metric = if benchmark.is_some() { "half_round_trip" } else { "time" };
    parsed.add_samples(metric, vec![latency_s]);
    parsed.set_metric_attribute(metric, Attribute::Statistic, "mean");
    let Some(benchmark) = benchmark else { return foreign(section, parsed) };
    let mut dimensions = Attributes::from([(Attribute::LoadStreams, 0_u64.into())]);
    let bytes = section.message_bytes();
    dimensions.extend(bytes.map(|bytes| (Attribute::Bytes, bytes.into())));
    let name = match bytes {
        Some(bytes) => format!("latency/bytes={bytes}"),
        None => "latency".to_owned(),
    };
    ImportedMeasurement::new(name, benchmark, dimensions, parsed)
}

fn measure_transfer(
    section: &QperfSection<'_>,
    sent: Option<f64>,
    received: Option<f64>,
) -> Result<ImportedMeasurement, ToolError> {
    let seconds = section.seconds("time")?.unwrap_or(0.0);
    let rate =
        |bit_per_s: Option<f64>| bit_per_s.map(|bit_per_s| MeanRate { bit_per_s, seconds });
    let counts = section.count("send_msgs").zip(section.count("recv_msgs"));
    let datagrams = counts.map(|(all, arrived)| DatagramCounts {
        lost: all.saturating_sub(arrived),
        all,
        ..DatagramCounts::default()
    });
    let transfer = ImportedTransfer {
        tool: "qperf",
        protocol: Some(if section.name == "tcp_bw" { Protocol::Tcp } else { Protocol::Udp }),
        direction: Some(TransferDirection::Send),
        streams: Some(1),
        block_bytes: section.message_bytes(),
        sent: rate(sent),
        received: rate(received),
        datagrams,
        ..ImportedTransfer::default()
    };
    let mut found = transfer.into_measurement()?;
    found.parsed.set_metric_attribute("goodput", Attribute::Statistic, "mean");
    // The longer names are those of `assay qperf`.
    const COSTS: [(&str, i32); 7] = [
        ("ns/GB", -18),
        ("us/GB", -15),
        ("ms/GB", -12),
        ("sec/GB", -9),
        ("nsec/GB", -18),
        ("usec/GB", -15),
        ("msec/GB", -12),
    ];
    for (row, end) in [("send_cost", "local"), ("recv_cost", "remote")] {
        if let Some(cost) = section.quantity(row, &COSTS)? {
            let apart = Attributes::from([(Attribute::End, end.into())]);
            found.parsed.add_series("cpu_per_byte", apart, vec![cost]);
        }
    }
    Ok(found)
}
