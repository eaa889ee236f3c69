//! Omni outputs of netperf: lines `NAME=value` of `-k`, and the comma-separated table of `-o`.

use assay_model::event::ToolFigures;

use super::{NetperfFigures, NetperfTest, ToolError, measure, missing, parse_known};
use crate::import::FileContents;

/// Values that are read: the name of `-k`, and the heading of `-o`.
const NAMES: [(&str, &str); 19] = [
    ("THROUGHPUT", "Throughput"),
    ("THROUGHPUT_UNITS", "Throughput Units"),
    ("ELAPSED_TIME", "Elapsed Time (sec)"),
    ("PROTOCOL", "Protocol"),
    ("DIRECTION", "Direction"),
    ("REQUEST_SIZE", "Request Size Bytes"),
    ("RESPONSE_SIZE", "Response Size Bytes"),
    ("LOCAL_SEND_SIZE", "Local Send Size"),
    ("REMOTE_RECV_THROUGHPUT", "Remote Recv Throughput"),
    ("MIN_LATENCY", "Minimum Latency Microseconds"),
    ("MAX_LATENCY", "Maximum Latency Microseconds"),
    ("MEAN_LATENCY", "Mean Latency Microseconds"),
    ("P50_LATENCY", "50th Percentile Latency Microseconds"),
    ("P90_LATENCY", "90th Percentile Latency Microseconds"),
    ("P95_LATENCY", "95th Percentile Latency Microseconds"),
    ("P99_LATENCY", "99th Percentile Latency Microseconds"),
    ("SOCKET_TYPE", "Socket Type"),
    ("COMMAND_LINE", "Command Line"),
    ("UUID", "Test UUID"),
];
/// Maximum number of names that one message lists.
const MAX_LISTED: usize = 20;

/// Reads the sets of values of one test; a table has one per row.
pub(super) fn read_test(test: &NetperfTest<'_>, is_csv: bool, contents: &mut FileContents) {
    if !is_csv {
        let pairs = test.lines.iter().filter_map(|line| line.split_once('='));
        let pairs: Vec<(&str, &str)> = pairs.collect();
        add_set(test, &pairs, test.first_line..=test.first_line + test.lines.len(), contents);
        return;
    }
    let mut names: Vec<&str> = Vec::new();
    for (at, line) in test.lines.iter().enumerate() {
        let number = test.first_line + at + 1;
        if line.contains("Throughput") {
            names = line.split(',').map(key_of).collect();
        } else if !names.is_empty() && line.contains(',') {
            let pairs: Vec<(&str, &str)> = names.iter().copied().zip(line.split(',')).collect();
            if line.split(',').count() != names.len() {
                let missing = "a row has fewer values than the heading".to_owned();
                let error = Err(ToolError::Truncated { missing });
                contents.add_part(Some(number..=number), "row of omni values", error);
                continue;
            }
            add_set(test, &pairs, number..=number, contents);
        }
    }
}

/// Returns the name of `-k` for a heading of `-o`.
fn key_of(heading: &str) -> &str {
    let heading = heading.trim();
    NAMES.iter().find(|(_, known)| *known == heading).map_or(heading, |(key, _)| *key)
}

fn add_set(
    test: &NetperfTest<'_>,
    pairs: &[(&str, &str)],
    lines: crate::import::LineSpan,
    contents: &mut FileContents,
) {
    let unknown = |key: &str| !NAMES.iter().any(|(known, _)| *known == key);
    let rest: Vec<&str> =
        pairs.iter().map(|(key, _)| *key).filter(|key| unknown(key)).collect();
    if !rest.is_empty() {
        let listed = rest.iter().take(MAX_LISTED).copied().collect::<Vec<_>>().join(", ");
        let more = rest.len().saturating_sub(MAX_LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let why = "assay has no figure for them";
        contents.leave_out(Some(lines.clone()), format!("{listed}{more}"), why);
    }
    contents.add_part(Some(lines), format!("test {:?}", test.kind), read_set(test, pairs));
}

fn read_set(
    test: &NetperfTest<'_>,
    pairs: &[(&str, &str)],
) -> Result<crate::import::ImportedMeasurement, ToolError> {
    let text = |key: &str| pairs.iter().find(|(name, _)| *name == key).map(|(_, it)| it.trim());
    let number = |key: &str| match text(key) {
        Some(value) if !value.contains("nan") => parse_known(key, value),
        Some(_) | None => Ok(None),
    };
    let value = number("THROUGHPUT")?.ok_or_else(|| missing("THROUGHPUT"))?;
    let unit = text("THROUGHPUT_UNITS").ok_or_else(|| missing("THROUGHPUT_UNITS"))?;
    let us = |key: &str| Ok(number(key)?.filter(|it| *it > 0.0).map(|it| it * 1e-6));
    let mut latency = ToolFigures {
        min: us("MIN_LATENCY")?,
        mean: us("MEAN_LATENCY")?,
        max: us("MAX_LATENCY")?,
        ..ToolFigures::default()
    };
    for name in ["p50", "p90", "p95", "p99"] {
        if let Some(value) = us(&format!("{}_LATENCY", name.to_uppercase()))? {
            latency.percentiles.insert(name.to_owned(), value);
        }
    }
    let size = |key: &str| Ok::<_, ToolError>(number(key)?.map(|bytes| bytes as u64));
    let figures = NetperfFigures {
        seconds: number("ELAPSED_TIME")?,
        throughput: Some((value, unit.to_owned())),
        received: number("REMOTE_RECV_THROUGHPUT")?,
        request_bytes: size("REQUEST_SIZE")?,
        response_bytes: size("RESPONSE_SIZE")?,
        message_bytes: size("LOCAL_SEND_SIZE")?,
        latency,
        ..NetperfFigures::default()
    };
    measure(&kind_of(test, text("PROTOCOL"), text("DIRECTION")), test.to, figures)
}

/// Returns the kind of a test: that of its banner, else that of protocol and direction.
fn kind_of(test: &NetperfTest<'_>, protocol: Option<&str>, direction: Option<&str>) -> String {
    if !test.kind.is_empty() && !test.kind.starts_with("OMNI") {
        return test.kind.clone();
    }
    let protocol = protocol.unwrap_or("TCP");
    let suffix = match direction {
        Some("Send|Recv") => "RR",
        Some("Recv" | "Receive") => "MAERTS",
        Some(_) | None => "STREAM",
    };
    format!("{protocol}_{suffix}")
}
