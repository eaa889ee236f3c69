//! Adapter of `ping`: the round trip of every echo, and the loss.

use assay_model::event::EventCount;
use assay_model::workload::{NetworkLatency, NetworkTest, NetworkWorkload, Workload};

use super::{Detect, Version, across, host, not_taken};
use crate::invocation::{Invocation, Request};
use crate::outputs::{Outputs, Parsed, ToolError, not_negative, whole};

const NAME: &str = "ping";
/// Echoes per process and seconds between two; iputils permits 2 ms and above to every user.
const ECHOES: &str = "100";
const INTERVAL_S: &str = "0.01";

pub(super) const fn detect() -> Detect {
    Detect {
        programs: &["ping"],
        variable: "ASSAY_PING",
        mark: None,
        version: Version::Asked { arguments: &["-V"], read: version },
        launcher: false,
        hint: "Debian and Ubuntu: apt install iputils-ping",
    }
}

/// Parses the version: `ping from iputils 20221126` → `iputils 20221126`.
fn version(printed: &str) -> Option<String> {
    printed.lines().next()?.strip_prefix("ping from ").map(|rest| rest.trim().to_owned())
}

pub(super) fn takes(workload: &Workload) -> bool {
    asked(workload).is_some()
}

fn asked(workload: &Workload) -> Option<(&NetworkWorkload, &NetworkLatency)> {
    let Workload::NetworkIcmp(work) = workload else { return None };
    match &work.question {
        NetworkTest::Latency(it) => Some((work, it)),
        NetworkTest::Throughput(_) => None,
    }
}

pub(super) fn command(request: &Request<'_>) -> Result<Vec<Invocation>, ToolError> {
    let refused = || not_taken(NAME, request.workload);
    let (work, latency) = asked(request.workload).ok_or_else(refused)?;
    let bytes = latency.bytes.to_string();
    // Waits a second for the last reply.
    let words =
        ["-n", "-c", ECHOES, "-i", INTERVAL_S, "-W", "1", "-s", &bytes, "--", host(work)];
    Ok(vec![across(request, NAME, words.map(str::to_owned).into())])
}

pub(super) fn parse(invocation: &Invocation, outputs: &Outputs) -> Result<Parsed, ToolError> {
    if asked(&invocation.workload).is_none() {
        return Err(not_taken(NAME, &invocation.workload));
    }
    outputs.ended_well()?;
    let mut times_s = Vec::new();
    for line in outputs.stdout.lines().filter(|line| !line.contains("DUP!")) {
        let Some((_, rest)) = line.split_once(" time=") else { continue };
        let number = rest.strip_suffix(" ms").unwrap_or(rest);
        times_s.push(not_negative("the time of an echo", number)? / 1e3);
    }
    let (sent, received) = counts(&outputs.stdout)?;
    if times_s.len() as u64 != received {
        let what = format!("{received} answers were counted and {} are listed", times_s.len());
        return Err(ToolError::Reconcile { what });
    }
    if received == 0 || received > sent {
        let what = format!("{received} answers to {sent} echoes");
        return Err(ToolError::Reconcile { what });
    }
    // Below its resolution of a microsecond ping prints 0, which is not a measurement.
    times_s.retain(|time| *time > 0.0);
    if times_s.is_empty() {
        let what = "time above its resolution".to_owned();
        return Err(ToolError::Find { what, place: "standard output" });
    }
    let mut parsed = Parsed::default();
    parsed.measure("round_trip", times_s);
    parsed.measure_share("loss", EventCount { part: sent - received, whole: sent });
    Ok(parsed)
}

/// Parses sent and received: `100 packets transmitted, 98 received, …`.
fn counts(text: &str) -> Result<(u64, u64), ToolError> {
    let find = || ToolError::ReachEnd { missing: "the line of packets transmitted".to_owned() };
    let line = text.lines().find(|line| line.contains(" packets transmitted"));
    let mut parts = line.ok_or_else(find)?.split(',');
    let mut next = |what: &str| {
        let word = parts.next().and_then(|part| part.split_whitespace().next());
        whole(what, word.ok_or_else(find)?)
    };
    Ok((next("packets transmitted")?, next("packets received")?))
}
