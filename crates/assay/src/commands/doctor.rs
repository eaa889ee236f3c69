//! `assay doctor`: checks whether this machine is configured for measuring.

use std::collections::BTreeSet;

use assay_fleet::remote::DoctorResults;
use assay_fleet::root::Root;
use assay_fleet::{doctor as checks, facts, state};
use assay_model::finding::{CheckOutcome, DoctorFinding, FindingSeverity};
use assay_model::suite::suggest;
use assay_report::build;

use super::doctor_hosts;
use crate::arguments::DoctorArguments;
use crate::failure::exit_code;
use crate::page;
use crate::terminal::Terminal;
use assay_emulation::iperf3::network_failure;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::network::setup::{self, PathRequest};

pub(crate) fn doctor(
    typed: &DoctorArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.hosts.has_hosts() {
        return doctor_hosts::doctor(typed, terminal);
    }
    if typed.to.is_none() && typed.round_trip.is_some() != typed.rate.is_some() {
        let option = if typed.rate.is_some() { "--rate" } else { "--round-trip" };
        return Err(CommandFailure::usage(format!("{option} alone does not describe a path"))
            .advise("name the far end with --to, or give both --rate and --round-trip"));
    }
    let mut results = examine(&PathRequest {
        host: typed.to.clone(),
        round_trip_s: typed.round_trip,
        link_bit_per_s: typed.rate.map(|rate| rate as f64),
    })?;
    keep_topics(&mut [&mut results.findings], &typed.topics)?;
    let all_command = format!(
        "assay doctor {}--all",
        typed.topics.iter().map(|topic| format!("{topic} ")).collect::<String>()
    );
    let is_short =
        !typed.all && !typed.topics.iter().any(|it| is_unobservable(it, &results.findings));
    let document = build::findings(
        &results.host.name,
        &results.findings,
        is_short.then_some(all_command.as_str()),
    );
    results.findings = doctor_hosts::without_localised_values(&results.findings);
    page::publish(|| document, || &results, &typed.page, terminal)?;
    let is_bad = typed.strict && results.findings.iter().any(is_strict_violation);
    Ok(if is_bad { exit_code(FailureKind::Measurement) } else { 0 })
}

/// Returns the topic of a check: `network` for `network.send-buffer`.
fn topic(finding: &DoctorFinding) -> &str {
    finding.id.split('.').next().unwrap_or_default()
}

/// Whether no check of a requested topic can observe anything on this machine. The report is then
/// printed in full, to show that.
fn is_unobservable(requested_topic: &str, findings: &[DoctorFinding]) -> bool {
    let mut of_topic = findings.iter().filter(|it| topic(it) == requested_topic);
    of_topic.all(|it| matches!(it.outcome, CheckOutcome::NotVisible | CheckOutcome::Unreadable))
}

/// Whether `--strict` rejects the finding.
pub(super) fn is_strict_violation(finding: &DoctorFinding) -> bool {
    finding.outcome == CheckOutcome::Deviates && finding.severity > FindingSeverity::Note
}

/// Removes the findings of other topics than the requested ones. A topic may exist on only some of
/// the machines.
pub(super) fn keep_topics(
    machines: &mut [&mut Vec<DoctorFinding>],
    topics: &[String],
) -> Result<(), CommandFailure> {
    /// The limit of locked memory also determines whether RDMA works.
    const OF_RDMA: &str = "limits.locked-memory";
    let available: BTreeSet<&str> =
        machines.iter().flat_map(|it| it.iter()).map(topic).collect();
    if let Some(unknown) =
        topics.iter().find(|requested| !available.contains(requested.as_str()))
        && !machines.is_empty()
    {
        let available: Vec<&str> = available.into_iter().collect();
        return Err(CommandFailure::usage(format!("there is no topic `{unknown}`"))
            .advise(suggest(unknown, &available)));
    }
    let is_requested = |it: &DoctorFinding| {
        topics
            .iter()
            .any(|requested| requested == topic(it) || requested == "rdma" && it.id == OF_RDMA)
    };
    machines.iter_mut().for_each(|it| it.retain(|it| topics.is_empty() || is_requested(it)));
    Ok(())
}

/// Runs every check on this machine, including those of a path if one is named.
pub(super) fn examine(path: &PathRequest) -> Result<DoctorResults, CommandFailure> {
    let root = Root::machine();
    let host = facts::read(&root);
    let network = setup::read(path).map_err(|error| network_failure(&error))?;
    let findings = checks::examine(&root, &host, &state::read(&root), &network);
    Ok(DoctorResults { host, findings, network })
}
