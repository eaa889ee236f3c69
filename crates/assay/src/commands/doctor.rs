//! `assay doctor`: checks whether this machine is configured for measuring.

use assay_fleet::doctor::topics::{is_strict_violation, is_unobservable, keep_topics};
use assay_fleet::remote::DoctorResults;
use assay_fleet::root::Root;
use assay_fleet::{doctor as checks, facts, state};
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
    if typed.to.is_none() && typed.round_trip.is_some() != typed.speed.is_some() {
        let option = if typed.speed.is_some() { "--speed" } else { "--round-trip" };
        return Err(CommandFailure::usage(format!("{option} alone does not describe a path"))
            .advise("name the far end with --to, or give both --speed and --round-trip"));
    }
    let mut results = examine(&PathRequest {
        host: typed.to.clone(),
        round_trip_s: typed.round_trip,
        link_bit_per_s: typed.speed.map(|it| it.bit_per_s),
    })?;
    keep_topics(&mut [&mut results.findings], &typed.topics)
        .map_err(|error| doctor_hosts::unknown_topic(&error))?;
    let all_command = format!(
        "assay doctor {}--all",
        typed.topics.iter().map(|topic| format!("{topic} ")).collect::<String>()
    );
    let is_short =
        !typed.all && !typed.topics.iter().any(|it| is_unobservable(it, &results.findings));
    let plain = doctor_hosts::without_localised_values(&results.findings);
    let findings = std::mem::replace(&mut results.findings, plain);
    let all_command = is_short.then_some(all_command.as_str());
    let document = || build::findings(&results.host.name, &findings, all_command);
    page::publish(document, || &results, &typed.page, terminal)?;
    let is_bad = typed.strict && results.findings.iter().any(is_strict_violation);
    Ok(if is_bad { exit_code(FailureKind::Measurement) } else { 0 })
}

/// Runs every check on this machine, including those of a path if one is named.
pub(super) fn examine(path: &PathRequest) -> Result<DoctorResults, CommandFailure> {
    let root = Root::machine();
    let host = facts::read(&root);
    let network = setup::read(path).map_err(|error| network_failure(&error))?;
    let findings = checks::examine(&root, &host, &state::read(&root), &network);
    Ok(DoctorResults { host, findings, network })
}
