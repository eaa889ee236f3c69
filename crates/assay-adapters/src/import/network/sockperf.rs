//! Import of sockperf's text: every run of a file.
//!
//! Its latency is half a round trip unless started with `--full-rtt`. `BandWidth` is in 2²⁰ B/s
//! under each of its labels (client.cpp divides by 1024 twice, and by 1000 for `--giga-size`).

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;
use assay_model::event::EventCount;
use assay_model::workload::TransferDirection;

use super::super::{
    FileContents, ImportedMeasurement, LineSpan, missing, mixed_lines, word_after,
};
use super::transfer::{ImportedTransfer, MeanRate, Protocol};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{
    ParsedOutput, ToolError, parse_non_negative, parse_positive, parse_whole,
};
use crate::sockperf_text::{find_statistic, latency_figures};

pub(super) fn is_sockperf(text: &str) -> bool {
    text.contains("sockperf:")
        && ["Summary:", "== version #", "sockperf: ERROR:", "[Valid Duration]"]
            .iter()
            .any(|it| text.contains(it))
}

/// Bytes of a message that sockperf can send.
const MESSAGE_BYTES: std::ops::RangeInclusive<f64> = 12.0..=65_507.0;
const MIB: f64 = 1_048_576.0;

/// Run that is being read.
#[derive(Default)]
struct SockperfRun<'t> {
    lines: Option<LineSpan>,
    version: Option<&'t str>,
    is_tcp: Option<bool>,
    is_server: bool,
    to: Option<&'t str>,
    message_bytes: Option<u64>,
    error: Option<&'t str>,
    /// `RunTime=… SentMessages=… ReceivedMessages=…` of the valid part.
    valid: Option<&'t str>,
    /// Counts of dropped, duplicated and reordered messages.
    counts: Option<&'t str>,
    deviation: Option<&'t str>,
    /// Time in which all messages of a throughput test were sent.
    sent_in_s: Option<f64>,
    message_rate: Option<f64>,
    latency: Option<(&'static str, f64)>,
    bandwidth: Option<&'t str>,
    statistics: Vec<(&'t str, &'t str)>,
    /// Rows of single messages in a full log; `None` before their heading.
    single_rows: Option<usize>,
    /// Whether a client announced itself, and whether its summary was read.
    is_client: bool,
    has_summary: bool,
    damage: Option<ToolError>,
}

/// Maximum number of statistics of a run: minimum, maximum and nine percentiles.
const MAX_STATISTICS: usize = 100;

/// Reads every run of a file; one with several servers has several results.
pub(super) fn read_sockperf(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut run = SockperfRun::default();
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        let line = line.trim();
        let begins = line.contains("== version #") || line.contains("sockperf[CLIENT]");
        let is_next_server = line.contains("Printing statistics for Server No:");
        if (begins && run.has_end()) || (is_next_server && run.has_figures()) {
            let next = run.next(is_next_server);
            finish_run(&std::mem::replace(&mut run, next), &mut contents);
            check_limit(contents.measurements.len() + 1, ("runs", MAX_MEASUREMENTS))?;
        }
        if !line.is_empty() {
            let first = run.lines.as_ref().map_or(number, |it| *it.start());
            run.lines = Some(first..=number);
        }
        if let Err(error) = read_line(line, &mut run) {
            contents.add_part(Some(number..=number), "sockperf run", Err(error));
        }
        check_limit(run.statistics.len(), ("percentiles of a run", MAX_STATISTICS))?;
    }
    finish_run(&run, &mut contents);
    Ok(contents)
}

impl SockperfRun<'_> {
    fn has_figures(&self) -> bool {
        self.latency.is_some() || self.bandwidth.is_some()
    }

    /// Whether the run has ended: another may begin.
    fn has_end(&self) -> bool {
        self.has_figures() || self.error.is_some() || self.is_server
    }

    /// Records a line that begins a run. A second one before any result is another process's.
    fn note_beginning(&mut self, line: &str) {
        let is_client = line.contains("sockperf[CLIENT]");
        let is_begun = (is_client && self.is_client)
            || (line.contains("== version #") && self.version.is_some());
        if is_begun {
            self.damage.get_or_insert(mixed_lines("two runs begin before the first result"));
        }
        self.is_client |= is_client;
    }

    /// Returns the beginning of the next result; further servers of a run share its conditions.
    fn next(&self, is_same_run: bool) -> Self {
        if !is_same_run {
            return Self::default();
        }
        Self {
            version: self.version,
            is_tcp: self.is_tcp,
            message_bytes: self.message_bytes,
            ..Self::default()
        }
    }
}

fn read_line<'t>(line: &'t str, run: &mut SockperfRun<'t>) -> Result<(), ToolError> {
    run.note_beginning(line);
    if let Some(version) = word_after(line, "== version #") {
        run.version = Some(version.trim_end_matches('='));
    }
    if let Some((_, protocol)) = line.split_once(" # ")
        && line.starts_with('[')
        && line.contains("PORT =")
    {
        run.is_tcp = Some(protocol.starts_with("TCP"));
        run.to = word_after(line, "IP =");
    }
    if let Some(rows) = &mut run.single_rows {
        *rows += usize::from(line.contains(", "));
    } else if line.starts_with("packet, txTime") || line.starts_with("txTime, rxTime") {
        run.single_rows = Some(0);
    }
    if line.contains("[SERVER]") {
        run.is_server = true;
    }
    for mark in ["msg-size", "msg_size ="] {
        let size = word_after(line, mark).map(|text| text.trim_end_matches(['.', ';', ',']));
        // A note names the advised size behind the actual one.
        if let (Some(size), None) = (size.and_then(|it| it.parse().ok()), run.message_bytes) {
            run.message_bytes = Some(size);
        }
    }
    if let Some((_, error)) = line.split_once("ERROR:") {
        run.error.get_or_insert(error.trim());
    } else if let Some((_, error)) = line.split_once("sockperf: No messages were received") {
        let at = line.len() - error.len() - "No messages were received".len();
        run.error.get_or_insert(&line[at..]);
    }
    if line.contains("[Valid Duration]") {
        run.valid = Some(line);
    } else if line.contains("# dropped messages") {
        run.counts = Some(line);
    } else if line.contains("(std-dev=") {
        run.deviation = word_after(line, "std-dev").map(|it| it.trim_end_matches(')'));
        read_mean(line, run)?;
    } else if line.contains(" messages sent in ") {
        let seconds = word_after(line, " messages sent in ").unwrap_or_default();
        run.sent_in_s = Some(parse_non_negative("the time of sending", seconds)?);
    } else if let Some((name, value)) = find_statistic(line) {
        if run.statistics.iter().any(|(known, _)| *known == name) {
            run.damage.get_or_insert(mixed_lines("a percentile occurs twice"));
        }
        run.statistics.push((name, value));
    } else if let Some((_, summary)) = line.split_once("Summary:") {
        read_summary(summary, run)?;
    }
    Ok(())
}

/// Reads the mean, which a log without a summary has, too: `====> avg-latency=5.078 (std-dev=8.8)`.
fn read_mean(line: &str, run: &mut SockperfRun<'_>) -> Result<(), ToolError> {
    let means = [
        ("avg-latency=", "half_round_trip"),
        ("avg-lat=", "half_round_trip"),
        ("avg-rtt=", "round_trip"),
    ];
    for (mark, metric) in means {
        if let Some(value) = word_after(line, mark) {
            if run.has_summary {
                run.damage.get_or_insert(mixed_lines("a mean follows the summary"));
            }
            run.latency = Some((metric, parse_positive("the latency", value)? * 1e-6));
        }
    }
    Ok(())
}

fn read_summary<'t>(summary: &'t str, run: &mut SockperfRun<'t>) -> Result<(), ToolError> {
    let is_latency = summary.contains("Latency is") || summary.contains("Round trip is");
    if is_latency && run.has_summary {
        run.damage.get_or_insert(mixed_lines("two summaries follow one heading"));
    }
    run.has_summary |= is_latency;
    for (mark, metric) in [("Latency is", "half_round_trip"), ("Round trip is", "round_trip")] {
        if let Some(value) = word_after(summary, mark) {
            run.latency = Some((metric, parse_positive("the latency", value)? * 1e-6));
        }
    }
    if let Some(value) = word_after(summary, "Message Rate is") {
        run.message_rate = Some(parse_positive("the message rate", value)?);
    }
    if let Some((_, rest)) = summary.split_once("BandWidth is") {
        run.bandwidth = Some(rest.trim());
    }
    Ok(())
}

/// Adds the measurement of a run, or the reason why it is none.
fn finish_run(run: &SockperfRun<'_>, contents: &mut FileContents) {
    let Some(lines) = run.lines.clone() else { return };
    if !run.has_figures() {
        if let Some(error) = run.error {
            let how = "sockperf reported".to_owned();
            let error = ToolError::ProcessFailed { how, last_words: error.to_owned() };
            contents.add_part(Some(lines), "sockperf run", Err(error));
        } else if run.is_server {
            contents.leave_out(Some(lines), "sockperf server", "a server prints no result");
        } else if run.version.is_some() {
            let missing = "the summary is missing".to_owned();
            let error = ToolError::Truncated { missing };
            contents.add_part(Some(lines), "sockperf run", Err(error));
        }
        return;
    }
    if let Some(deviation) = run.deviation {
        let what = format!("std-dev={deviation}");
        let why = "assay has no figure for a deviation of round trips";
        contents.leave_out(Some(lines.clone()), what, why);
    }
    if let Some(rows) = run.single_rows {
        let what = format!("{rows} rows of single messages");
        let why = "the percentiles of all of them are imported";
        contents.leave_out(Some(lines.clone()), what, why);
    }
    let measured = match (&run.damage, run.latency) {
        (Some(damage), _) => Err(damage.clone()),
        (None, Some((metric, mean_s))) => measure_latency(run, metric, mean_s),
        (None, None) => measure_transfer(run),
    };
    contents.add_part(Some(lines), "sockperf run", measured);
}

fn measure_latency(
    run: &SockperfRun<'_>,
    metric: &'static str,
    mean_s: f64,
) -> Result<ImportedMeasurement, ToolError> {
    let counts = MessageCounts::parse(run)?;
    let figures = latency_figures(mean_s, &run.statistics, counts.received)?;
    let median = figures.percentiles.get("p50").copied();
    let mut parsed =
        ParsedOutput { version: run.version.map(str::to_owned), ..ParsedOutput::default() };
    parsed.add_samples(metric, vec![median.unwrap_or(mean_s)]);
    let statistic = if median.is_some() { "median" } else { "mean" };
    parsed.set_metric_attribute(metric, Attribute::Statistic, statistic);
    parsed.set_figures(metric, figures);
    // The minimum is the last line of every run.
    if !run.statistics.iter().any(|(name, _)| *name == "<MIN> observation") {
        parsed.doubts.push(Doubt::BrokeOff);
    }
    let mut dimensions = match counts.is_under_load() {
        true => Attributes::from([(Attribute::Operation, UNDER_LOAD.into())]),
        false => Attributes::from([(Attribute::LoadStreams, 0_u64.into())]),
    };
    add_counts(run, &counts, metric, &mut parsed);
    dimensions.extend(run.to.map(|to| (Attribute::To, to.into())));
    dimensions.extend(run.message_bytes.map(|bytes| (Attribute::Bytes, bytes.into())));
    Ok(ImportedMeasurement::new("sockperf", benchmark(run), dimensions, parsed))
}

fn benchmark(run: &SockperfRun<'_>) -> Benchmark {
    match run.is_tcp {
        Some(true) => Benchmark::NetworkTcp,
        Some(false) | None => Benchmark::NetworkUdp,
    }
}

/// Condition of `sockperf under-load`, which sends without waiting and asks for few replies.
const UNDER_LOAD: &str = "under-load";

/// Counts of messages in the valid part of a run; `None` = not printed.
struct MessageCounts {
    sent: Option<u64>,
    received: Option<u64>,
    dropped: Option<u64>,
    duplicated: Option<u64>,
    reordered: Option<u64>,
}

impl MessageCounts {
    fn parse(run: &SockperfRun<'_>) -> Result<Self, ToolError> {
        let parse = |line: Option<&str>, name: &str| {
            let word = line.and_then(|line| word_after(line, name));
            word.map(|word| parse_whole(name, word.trim_end_matches(';'))).transpose()
        };
        Ok(Self {
            sent: parse(run.valid, "SentMessages")?,
            received: parse(run.valid, "ReceivedMessages")?,
            dropped: parse(run.counts, "dropped messages")?,
            duplicated: parse(run.counts, "duplicated messages")?,
            reordered: parse(run.counts, "out-of-order messages")?,
        })
    }

    /// Returns the number of messages that asked for a reply.
    fn asked(&self) -> u64 {
        self.received.unwrap_or(0).saturating_add(self.dropped.unwrap_or(0))
    }

    /// Whether most messages asked for no reply. A ping-pong test waits for each.
    fn is_under_load(&self) -> bool {
        let half = self.sent.unwrap_or(0) / 2;
        // With --reply-every 2, every other message asks, from the first one on.
        self.received.is_some() && self.dropped.is_some() && self.asked() <= half + 1
    }
}

/// Adds loss and reordering of datagrams, and the number of replies.
fn add_counts(
    run: &SockperfRun<'_>,
    counts: &MessageCounts,
    metric: &'static str,
    parsed: &mut ParsedOutput,
) {
    let MessageCounts { sent, received, dropped, duplicated, reordered } = *counts;
    if let Some(received) = received {
        parsed.set_metric_attribute(metric, Attribute::Messages, received);
    }
    if let Some(number) = duplicated.filter(|number| *number > 0) {
        parsed.problems.push(format!("{number} duplicated messages: assay has no such figure"));
    }
    let whole = if counts.is_under_load() { counts.asked() } else { sent.unwrap_or(0) };
    if run.is_tcp == Some(true) || whole == 0 {
        let lost = dropped.unwrap_or(0).saturating_add(reordered.unwrap_or(0));
        if lost > 0 {
            let what = format!("{lost} dropped or out-of-order messages of TCP");
            parsed.problems.push(what);
        }
        return;
    }
    for (name, part) in [("loss", dropped), ("reordered", reordered)] {
        if let Some(part) = part {
            parsed.add_ratio(name, EventCount { part: part.min(whole), whole });
        }
    }
}

/// Makes the measurement of a throughput test, which counts the messages that were sent.
fn measure_transfer(run: &SockperfRun<'_>) -> Result<ImportedMeasurement, ToolError> {
    let byte_per_s = send_rate(run)?;
    let seconds = run.sent_in_s.unwrap_or(0.0);
    let transfer = ImportedTransfer {
        tool: "sockperf",
        protocol: Some(if run.is_tcp == Some(true) { Protocol::Tcp } else { Protocol::Udp }),
        direction: Some(TransferDirection::Send),
        streams: Some(1),
        to: run.to.map(str::to_owned),
        version: run.version.map(str::to_owned),
        block_bytes: run.message_bytes,
        sent: Some(MeanRate { bit_per_s: byte_per_s * 8.0, seconds }),
        ..ImportedTransfer::default()
    };
    transfer.into_measurement()
}

/// Returns the bytes sent per second: messages times their size, else the bandwidth in the unit
/// that makes whole messages of a possible size.
fn send_rate(run: &SockperfRun<'_>) -> Result<f64, ToolError> {
    if let (Some(rate), Some(bytes)) = (run.message_rate, run.message_bytes) {
        return Ok(rate * bytes as f64);
    }
    let mut words = run.bandwidth.unwrap_or_default().split_whitespace();
    let (value, unit) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let number = parse_positive("BandWidth", value)?;
    // With `--increase_output_precision` the label is GBps and the unit stays 2²⁰ B/s.
    let is_precise = value.split_once('.').is_some_and(|(_, digits)| digits.len() > 3);
    let units: &[f64] = match unit {
        "MBps" => &[MIB],
        "GBps" if is_precise => &[MIB, 1000.0 * MIB],
        "GBps" => &[1000.0 * MIB, MIB],
        _ => return Err(missing("unit of BandWidth, MBps or GBps")),
    };
    let is_possible = |unit: &&f64| {
        run.message_rate.is_none_or(|rate| MESSAGE_BYTES.contains(&(number * **unit / rate)))
    };
    let found = units.iter().find(is_possible);
    let factor = found.ok_or_else(|| ToolError::Contradiction {
        what: format!("{value} {unit} do not fit the message rate"),
    })?;
    Ok(number * factor)
}
