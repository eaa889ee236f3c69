//! Adapter of `ping`: the round trip of every echo, and the loss.

use assay_model::event::EventCount;
use assay_model::workload::{NetworkLatency, NetworkTest, NetworkWorkload, Workload};

use super::{ToolDetection, VersionSource, client_invocation, server_address, unsupported};
use crate::invocation::{Invocation, ToolRequest};
use crate::outputs::{Outputs, ParsedOutput, ToolError, parse_non_negative, parse_whole};

const NAME: &str = "ping";
/// Echoes per process and seconds between two; iputils permits 2 ms and above to every user.
const ECHOES: &str = "100";
const INTERVAL_S: &str = "0.01";

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["ping"],
    path_variable: "ASSAY_PING",
    version: VersionSource::FromOption { arguments: &["-V"], read: parse_version },
    hint: "Debian and Ubuntu: apt install iputils-ping",
    ..ToolDetection::DEFAULT
};

/// Parses the version: `ping from iputils 20221126` → `iputils 20221126`.
fn parse_version(printed: &str) -> Option<String> {
    printed.lines().next()?.strip_prefix("ping from ").map(|rest| rest.trim().to_owned())
}

pub(super) fn supports(workload: &Workload) -> bool {
    requested_latency(workload).is_some()
}

fn requested_latency(workload: &Workload) -> Option<(&NetworkWorkload, &NetworkLatency)> {
    let work = workload.as_icmp()?;
    match &work.test {
        NetworkTest::Latency(it) => Some((work, it)),
        NetworkTest::Throughput(_) | NetworkTest::Connections(_) => None,
    }
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let refused = || unsupported(NAME, request.workload);
    let (work, latency) = requested_latency(request.workload).ok_or_else(refused)?;
    let bytes = latency.bytes.to_string();
    // Waits a second for the last reply.
    let words = [
        "-n",
        "-c",
        ECHOES,
        "-i",
        INTERVAL_S,
        "-W",
        "1",
        "-s",
        &bytes,
        "--",
        server_address(work),
    ];
    Ok(vec![client_invocation(request, NAME, words.map(str::to_owned).into())])
}

pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    if requested_latency(&invocation.workload).is_none() {
        return Err(unsupported(NAME, &invocation.workload));
    }
    outputs.check_exit()?;
    let mut times_s = Vec::new();
    for line in outputs.stdout.lines().filter(|line| !line.contains("DUP!")) {
        let Some((_, rest)) = line.split_once(" time=") else { continue };
        let number = rest.strip_suffix(" ms").unwrap_or(rest);
        times_s.push(parse_non_negative("the time of an echo", number)? / 1e3);
    }
    let (sent, received) = parse_counts(&outputs.stdout)?;
    if times_s.len() as u64 != received {
        let what = format!("{received} replies were counted and {} are listed", times_s.len());
        return Err(ToolError::Contradiction { what });
    }
    if received == 0 || received > sent {
        let what = format!("{received} replies to {sent} echoes");
        return Err(ToolError::Contradiction { what });
    }
    // Below its resolution of a microsecond ping prints 0, which is not a measurement.
    times_s.retain(|time| *time > 0.0);
    if times_s.is_empty() {
        let what = "time above its resolution".to_owned();
        return Err(ToolError::Missing { what, place: "standard output" });
    }
    let mut parsed = ParsedOutput::default();
    parsed.add_samples("round_trip", times_s);
    parsed.add_ratio("loss", EventCount { part: sent - received, whole: sent });
    Ok(parsed)
}

/// Parses sent and received: `100 packets transmitted, 98 received, …`.
fn parse_counts(text: &str) -> Result<(u64, u64), ToolError> {
    let find = || ToolError::Truncated {
        missing: "the line of packets transmitted is missing".to_owned(),
    };
    let line = text.lines().find(|line| line.contains(" packets transmitted"));
    let mut parts = line.ok_or_else(find)?.split(',');
    let mut next = |what: &str| {
        let word = parts.next().and_then(|part| part.split_whitespace().next());
        parse_whole(what, word.ok_or_else(find)?)
    };
    Ok((next("packets transmitted")?, next("packets received")?))
}
