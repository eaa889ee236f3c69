//! Adapter of `sockperf` as client: half round trips of its ping-pong.
//!
//! Its messages have at least 14 bytes, and the first 400 ms and the last 50 ms do not count.

use assay_model::workload::{NetworkLatency, NetworkTest, NetworkWorkload, Workload};

use super::{ToolDetection, VersionSource, client_invocation, server_address, unsupported};
use crate::import::read_sockperf_run;
use crate::invocation::{Invocation, ToolRequest};
use crate::outputs::{Outputs, ParsedOutput, ToolError};

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
    match &work.question {
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
    let run = read_sockperf_run(&outputs.stdout)?;
    if run.benchmark != workload.benchmark() {
        let what = format!(
            "{} was requested, and {} measured",
            workload.benchmark().id(),
            run.benchmark.id()
        );
        return Err(ToolError::Contradiction { what });
    }
    let mut parsed = run.parsed;
    if !parsed.values.iter().any(|it| it.metric == "half_round_trip") {
        let what = "latency".to_owned();
        return Err(ToolError::Missing { what, place: "standard output" });
    }
    if !parsed.doubts.is_empty() {
        return Err(ToolError::Truncated {
            missing: "the last percentiles are missing".to_owned(),
        });
    }
    // The detection of the tool has it.
    parsed.version = None;
    Ok(parsed)
}
