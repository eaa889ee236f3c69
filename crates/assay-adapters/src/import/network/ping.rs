//! Import of ping's text: iputils, `BusyBox`, BSD and Windows.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::{EventCount, ToolFigures};

use super::super::{FileContents, ImportedMeasurement, missing, split_parts};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative};

pub(super) fn is_ping(text: &str) -> bool {
    text.lines().any(|line| is_heading(line) || parse_statistics_host(line).is_some())
        && ["packets transmitted", "Packets: Sent = ", "time=", "time<"]
            .iter()
            .any(|mark| text.contains(mark))
}

/// Whether a line is `PING host (address) 56(84) bytes of data.` or `Pinging host with 32 bytes …`.
fn is_heading(line: &str) -> bool {
    let line = line.trim();
    (line.starts_with("PING ") && line.contains(" bytes"))
        || (line.starts_with("Pinging ") && line.contains(" bytes of data"))
}

/// Parses the host of `--- host ping statistics ---`, where a pasted summary begins.
fn parse_statistics_host(line: &str) -> Option<&str> {
    line.trim().strip_prefix("--- ")?.strip_suffix(" ping statistics ---")
}

/// Reads every run of a file. Without a heading each summary is one.
pub(super) fn read_ping(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let begins: fn(&str) -> bool = match text.lines().any(is_heading) {
        true => is_heading,
        false => |line| parse_statistics_host(line).is_some(),
    };
    for part in split_parts(text, begins)? {
        let body = part.text.lines().skip_while(|line| !begins(line));
        contents.add_part(Some(part.lines), "ping", measure(body));
    }
    Ok(contents)
}

fn measure<'t>(lines: impl Iterator<Item = &'t str>) -> Result<ImportedMeasurement, ToolError> {
    let mut dimensions = Attributes::new();
    let (mut times_s, mut counts, mut figures) = (Vec::new(), None, None);
    let mut unresolved = 0_usize;
    let mut name = String::new();
    for line in lines.map(str::trim) {
        if is_heading(line) {
            dimensions = read_conditions(line);
            name = dimensions
                .get(&Attribute::To)
                .and_then(|it| it.as_text())
                .unwrap_or("ping")
                .to_owned();
        } else if let (Some(host), true) = (parse_statistics_host(line), name.is_empty()) {
            host.clone_into(&mut name);
            dimensions.insert(Attribute::To, host.into());
        } else if let Some(percentiles) = line.strip_prefix("rtt p") {
            add_percentiles(percentiles, figures.get_or_insert_default())?;
        } else if line.contains("packets transmitted") || line.starts_with("Packets: Sent = ") {
            counts = Some(parse_counts(line)?);
        } else if line.contains("min/avg/max") || line.starts_with("Minimum = ") {
            figures = Some(parse_figures(line)?);
        } else if !line.contains("DUP!") {
            unresolved += usize::from(line.contains("time<"));
            times_s.extend(parse_time(line)?);
        }
    }
    let counts: EventCount = counts.ok_or_else(|| ToolError::Truncated {
        missing: "the line of packets transmitted is missing".to_owned(),
    })?;
    // Below its resolution ping prints 0 or `<1ms`, which is no measurement.
    let all = times_s.len() + unresolved;
    times_s.retain(|time| *time > 0.0);
    let mut parsed = ParsedOutput::default();
    if times_s.len() < all {
        let below = all - times_s.len();
        parsed.problems.push(format!("{below} of {all} times are below ping's resolution"));
    }
    let mean = figures.as_ref().and_then(|it| it.mean).filter(|mean| *mean > 0.0);
    match (times_s.is_empty(), mean) {
        (false, _) => parsed.add_samples("round_trip", times_s),
        (true, Some(mean)) => {
            parsed.add_samples("round_trip", vec![mean]);
            parsed.set_metric_attribute("round_trip", Attribute::Statistic, "mean");
        }
        (true, None) => {}
    }
    if let (Some(figures), false) = (figures, parsed.values.is_empty()) {
        parsed.set_figures("round_trip", figures);
    }
    if counts.whole == 0 {
        return Err(missing("packet that was sent"));
    }
    parsed.add_ratio("loss", counts);
    Ok(ImportedMeasurement::new(name, Benchmark::NetworkIcmp, dimensions, parsed))
}

/// Adds the percentiles that `assay ping` prints: `50 0.007, p90 0.012 ms, full round trip`.
fn add_percentiles(text: &str, figures: &mut ToolFigures) -> Result<(), ToolError> {
    let listed = text.split_once(" ms").map_or(text, |(listed, _)| listed);
    for part in listed.split(", ") {
        let (name, value) = part.split_once(' ').unwrap_or((part, ""));
        let name = format!("p{}", name.trim_start_matches('p'));
        let time_s = parse_non_negative("a percentile of ping", value)? * 1e-3;
        figures.percentiles.insert(name, time_s);
    }
    Ok(())
}

/// Reads host and payload: `PING host (10.0.0.2) 56(84) bytes`, `PING host (10.0.0.2): 56 data
/// bytes`, `Pinging host [10.0.0.2] with 32 bytes`.
fn read_conditions(line: &str) -> Attributes {
    let mut words = line.split_whitespace().skip(1);
    let to = words.next().map(|host| host.trim_end_matches(':'));
    let before = line.split(" bytes").next().unwrap_or_default().trim_end_matches(" data");
    let size = before.rsplit(' ').next().unwrap_or_default();
    let bytes = size.split('(').next().and_then(|digits| digits.parse::<u64>().ok());
    let mut all = Attributes::new();
    all.extend(to.map(|to| (Attribute::To, to.into())));
    all.extend(bytes.map(|bytes| (Attribute::Bytes, bytes.into())));
    all
}

/// Parses the time of a reply, in seconds: `time=0.050 ms`, `time=12ms`, `time<1ms`.
fn parse_time(line: &str) -> Result<Option<f64>, ToolError> {
    let Some((_, rest)) = line.split_once("time=") else { return Ok(None) };
    let rest = rest.trim_start();
    let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len());
    let (number, unit) = rest.split_at(end);
    let factor = match unit.split_whitespace().next() {
        Some("us" | "usec") => 1e-6,
        Some("s" | "sec") => 1.0,
        Some(_) | None => 1e-3,
    };
    Ok(Some(parse_non_negative("the time of an echo", number)? * factor))
}

/// Parses `5 packets transmitted, 4 received, …` and `Packets: Sent = 4, Received = 4, …`.
fn parse_counts(line: &str) -> Result<EventCount, ToolError> {
    let numbers: Vec<f64> = line
        .split(',')
        .take(2)
        .filter_map(|part| part.split_whitespace().find_map(|word| word.parse().ok()))
        .collect();
    let [sent, received] = numbers[..] else {
        return Err(missing("packets sent and received"));
    };
    if received > sent {
        let what = format!("{received} replies to {sent} echoes");
        return Err(ToolError::Contradiction { what });
    }
    Ok(EventCount { part: (sent - received) as u64, whole: sent as u64 })
}

/// Parses `rtt min/avg/max/mdev = 0.042/0.044/0.050/0.003 ms` and `Minimum = 1ms, Maximum = 3ms,
/// Average = 2ms`.
fn parse_figures(line: &str) -> Result<ToolFigures, ToolError> {
    let seconds = |text: &str| parse_non_negative("a time of ping", text).map(|it| it * 1e-3);
    let mut figures = ToolFigures::default();
    if line.starts_with("Minimum = ") {
        for part in line.split(',') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let value = Some(seconds(value.trim().trim_end_matches("ms"))?);
            match name.trim() {
                "Minimum" => figures.min = value,
                "Maximum" => figures.max = value,
                "Average" => figures.mean = value,
                _ => {}
            }
        }
        return Ok(figures);
    }
    let values = line.split_once('=').map_or("", |(_, values)| values.trim());
    let mut values = values.split_whitespace().next().unwrap_or_default().split('/');
    let mut next = || values.next().map(seconds).transpose();
    figures.min = next()?;
    figures.mean = next()?;
    figures.max = next()?;
    Ok(figures)
}
