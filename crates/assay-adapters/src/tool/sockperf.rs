//! Adapter of `sockperf` as client: half round trips of its ping-pong.
//!
//! Its messages have at least 14 bytes, and the first 400 ms and the last 50 ms do not count.

use std::collections::BTreeSet;

use assay_model::attribute::Attribute;
use assay_model::event::EventCount;
use assay_model::workload::{NetworkLatency, NetworkTest, NetworkWorkload, Workload};

use super::{ToolDetection, VersionSource, client_invocation, server_address, unsupported};
use crate::invocation::{Invocation, ToolRequest};
use crate::outputs::{Outputs, ParsedOutput, ToolError, parse_positive, parse_whole};
use crate::sockperf_text::{find_statistic, latency_figures};

const NAME: &str = "sockperf";
/// Bytes of a message: its header to the largest datagram.
const MESSAGE_BYTES: std::ops::RangeInclusive<u64> = 14..=65_507;

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["sockperf"],
    path_variable: "ASSAY_SOCKPERF",
    version: VersionSource::FromOption { arguments: &["--version"], read: parse_version },
    hint: "Debian and Ubuntu: apt install sockperf",
    ..ToolDetection::DEFAULT
};

/// Parses the version: `sockperf, version 3.7-no.git` → `3.7-no.git`.
fn parse_version(printed: &str) -> Option<String> {
    printed.lines().find_map(|line| line.strip_prefix("sockperf, version ")).map(str::to_owned)
}

/// Returns the equivalent ping-pong: idle, with a sleeping thread, of a possible size.
fn requested_latency(workload: &Workload) -> Option<(&NetworkWorkload, &NetworkLatency)> {
    let work = workload.as_tcp().or_else(|| workload.as_udp())?;
    match &work.test {
        NetworkTest::Latency(it) => {
            let is_plain = !it.spin && it.rate_per_s.is_none() && it.busy_poll_us.is_none();
            let is_possible = it.load_streams == 0 && MESSAGE_BYTES.contains(&it.bytes);
            (is_plain && is_possible).then_some((work, it))
        }
        NetworkTest::Throughput(_) | NetworkTest::Connections(_) => None,
    }
}

pub(super) fn supports(workload: &Workload) -> bool {
    requested_latency(workload).is_some()
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let refused = || unsupported(NAME, request.workload);
    let (work, latency) = requested_latency(request.workload).ok_or_else(refused)?;
    let mut words = ["ping-pong", "-i", server_address(work)].map(str::to_owned).to_vec();
    if let Some(port) = work.port {
        words.extend(["-p".to_owned(), port.to_string()]);
    }
    words.extend(["-m".to_owned(), latency.bytes.to_string()]);
    words.extend(["-t".to_owned(), latency.seconds.to_string()]);
    if request.workload.as_tcp().is_some() {
        words.push("--tcp".to_owned());
    }
    Ok(vec![client_invocation(request, "ping-pong", words)])
}

pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    let workload = &invocation.workload;
    if !supports(workload) {
        return Err(unsupported(NAME, workload));
    }
    outputs.check_exit()?;
    let text = outputs.stdout.as_str();
    if let Some(error) = text.lines().find_map(find_error) {
        return Err(read_error(error));
    }
    let is_tcp = workload.as_tcp().is_some();
    let protocol = if is_tcp { "# TCP" } else { "# UDP" };
    if !text.lines().any(|line| line.trim_end().ends_with(protocol)) {
        return Err(find_missing(protocol));
    }
    let mean = number_after(text, "Summary: Latency is ")?;
    let mean_s = parse_positive("the latency", mean)? * 1e-6;
    let statistics: Vec<(&str, &str)> = text.lines().filter_map(find_statistic).collect();
    let names: BTreeSet<&str> = statistics.iter().map(|(name, _)| *name).collect();
    if names.len() < statistics.len() {
        let what = "a percentile occurs twice".to_owned();
        return Err(ToolError::Contradiction { what });
    }
    let count = number_before(text, " observations")?;
    let figures = latency_figures(mean_s, &statistics, Some(count))?;
    // The minimum is the last line.
    let (Some(median), Some(_)) = (figures.percentiles.get("p50").copied(), figures.min) else {
        let missing = "the last percentiles are missing".to_owned();
        return Err(ToolError::Truncated { missing });
    };
    let mut parsed = ParsedOutput::default();
    parsed.add_samples("half_round_trip", vec![median]);
    parsed.set_metric_attribute("half_round_trip", Attribute::Statistic, "median");
    parsed.set_figures("half_round_trip", figures);
    if !is_tcp {
        parsed.add_ratio("loss", read_loss(text)?);
    }
    Ok(parsed)
}

fn find_error(line: &str) -> Option<&str> {
    let error = line.split_once("ERROR:").map(|(_, error)| error.trim());
    error.or_else(|| line.find("No messages were received").map(|at| line[at..].trim()))
}

/// Returns the error for a message of the client.
fn read_error(message: &str) -> ToolError {
    let message = message.to_owned();
    let is_unanswered = ["No messages were received", "Connection refused"];
    if is_unanswered.iter().any(|it| message.contains(it)) {
        let advice = "start `assay sockperf server -i ADDRESS` or `sockperf server -i ADDRESS` at the other \
                      end, with the same port (-p) and protocol (--tcp)";
        return ToolError::NoServer { tool: NAME, message, advice };
    }
    ToolError::ProcessFailed { how: "sockperf reported".to_owned(), last_words: message }
}

fn find_missing(what: &str) -> ToolError {
    ToolError::Missing { what: what.to_owned(), place: "standard output" }
}

/// Returns the number before the first `after`.
fn number_before(text: &str, after: &str) -> Result<u64, ToolError> {
    let before = text.split_once(after).ok_or_else(|| find_missing(after.trim()))?.0;
    let from = before.rfind(|it: char| !it.is_ascii_digit()).map_or(0, |at| at + 1);
    parse_whole(after.trim(), before.get(from..).unwrap_or_default())
}

/// Returns the number after the only occurrence of a text.
fn number_after<'t>(text: &'t str, before: &str) -> Result<&'t str, ToolError> {
    let mut found = text.split(before).skip(1);
    match (found.next(), found.next()) {
        (Some(rest), None) => {
            let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.');
            Ok(&rest[..end.unwrap_or(rest.len())])
        }
        (None, _) => Err(find_missing(before.trim())),
        (Some(_), Some(_)) => {
            let what = format!("`{}` occurs twice", before.trim());
            Err(ToolError::Contradiction { what })
        }
    }
}

/// Reads the datagrams without a reply in the valid time.
fn read_loss(text: &str) -> Result<EventCount, ToolError> {
    let valid = text.split_once("[Valid Duration]").map_or("", |(_, rest)| rest);
    let valid = valid.lines().next().unwrap_or_default();
    let whole = parse_whole("SentMessages", number_after(valid, "SentMessages=")?)?;
    let part = parse_whole("dropped messages", number_after(text, "# dropped messages = ")?)?;
    if whole == 0 || part > whole {
        let what = format!("{part} of {whole} messages were dropped");
        return Err(ToolError::Contradiction { what });
    }
    Ok(EventCount { part, whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_server_is_named_with_its_command() {
        for line in [
            "sockperf: No messages were received from the server. Is the server down?",
            "sockperf: ERROR: Can`t connect socket (errno=111 Connection refused)",
        ] {
            let error = read_error(find_error(line).unwrap());
            assert!(error.advice().contains("assay sockperf server"), "{error:?}");
        }
        let other = read_error("Test ends while message is blocked");
        assert!(matches!(other, ToolError::ProcessFailed { .. }), "{other:?}");
    }
}
