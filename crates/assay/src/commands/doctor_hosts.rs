//! `assay doctor --hosts`: runs the checks on many hosts at once and reports their differences.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_fleet::fleet_file::{self, FleetHost};
use assay_fleet::hosts;
use assay_fleet::remote::connection_options::ConnectionOptions;
use assay_fleet::remote::examination::{self, HostReport};
use assay_fleet::remote::{HostFailure, Program, Via};
use assay_fleet::slurm::{Allocation, SlurmError};
use assay_model::facts::difference::{ComparedHost, HostDifference, find_differences};
use assay_model::finding::DoctorFinding;
use assay_model::host_names;
use assay_model::path_text;
use assay_report::build::{self, ExaminedHost, UnreachableHost};
use assay_report::words;
use serde::Serialize;
use serde_json::{Value, json};

use super::doctor_topics::{is_strict_violation, keep_topics};
use crate::arguments::DoctorArguments;
use crate::arguments::hosts::HostsArguments;
use crate::failure::exit_code;
use crate::terminal::Terminal;
use crate::{job_file, page, signals};
use assay_run::failure::{CommandFailure, FailureKind};

/// Machine-readable result.
#[derive(Debug, Serialize)]
struct HostsDocument<'a> {
    hosts: Vec<Value>,
    differences: Vec<HostDifference<'a>>,
}

/// Hosts, and the transport to them.
pub(super) struct HostAccess {
    pub(super) names: Vec<String>,
    /// Attributes of these hosts, in the same order.
    pub(super) hosts: Vec<FleetHost>,
    pub(super) via: Via,
    pub(super) program: Program,
    /// Slurm allocation, released when the value is dropped.
    _nodes: Option<Allocation>,
}

pub(super) fn reach_hosts(
    typed: &HostsArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<HostAccess, CommandFailure> {
    let mut via = typed.via.clone();
    let (list, nodes) = match (&typed.hosts, &typed.slurm) {
        (None, Some(request)) => {
            terminal.note(words::message("slurm-waiting"));
            let nodes = Allocation::request(request, cancel).map_err(|error| {
                let failure = match error {
                    SlurmError::InvalidOption { .. } => {
                        CommandFailure::usage("cannot use --slurm")
                    }
                    _ => CommandFailure::measurement("cannot allocate Slurm nodes"),
                };
                failure.with_cause(&error).advise(error.advice())
            })?;
            let arguments = [("nodes", nodes.nodes.as_str()), ("job", nodes.number.as_str())];
            terminal.note(&words::sentence("slurm-gave", &arguments));
            via = via.replace("{job}", &nodes.number);
            (nodes.nodes.clone(), Some(nodes))
        }
        (list, _) => (list.clone().unwrap_or_default(), None),
    };
    let hosts = if list.ends_with(".toml") {
        read_fleet_file(&list)?
    } else {
        let names = hosts::parse(&list).map_err(|error| {
            CommandFailure::usage("cannot use --hosts")
                .with_cause(&error)
                .advise(error.advice())
        })?;
        names.iter().map(|name| FleetHost::from_name(name)).collect()
    };
    let mut via = Via::parse(&via).map_err(|error| {
        CommandFailure::usage(format!("cannot use --via {:?}", typed.via)).with_cause(&error)
    })?;
    for host in &hosts {
        if let Some(host_via) = &host.via {
            // Already checked when the file was read.
            let host_via = Via::parse(host_via)
                .map_err(|error| CommandFailure::usage(host_via).with_cause(&error))?;
            via.set_host_command(&host.name, &host_via);
        }
    }
    let names = hosts.iter().map(|host| host.name.clone()).collect();
    let mut program = Program::running().map_err(|error| {
        CommandFailure::new(FailureKind::Internal, "cannot read this executable")
            .with_cause(&error)
    })?;
    for file in &typed.binary {
        program.add_build(file).map_err(|error| {
            CommandFailure::usage(format!("cannot use --binary {}", file.display()))
                .with_cause(&error)
                .advise("name an executable of assay for the other architecture")
        })?;
    }
    Ok(HostAccess { names, hosts, via, program, _nodes: nodes })
}

/// Reads the hosts of a fleet file.
fn read_fleet_file(file: &str) -> Result<Vec<FleetHost>, CommandFailure> {
    let path = &path_text::decode_path(file);
    let text =
        job_file::read_text(path).map_err(|error| job_file::unreadable_error(path, &error))?;
    fleet_file::parse(&text).map_err(|error| {
        let file = path.display().to_string();
        CommandFailure::usage(format!("fleet file {file}: {error}"))
            .at_span(&file, &text, error.span.clone())
            .advise(error.help)
    })
}

pub(super) fn doctor(
    typed: &DoctorArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let cancel = signals::cancel_on_signals_with_notice()?;
    let access = reach_hosts(&typed.hosts, &cancel, terminal)?;
    let HostAccess { names, via, program, .. } = &access;
    let deadline = Duration::from_secs_f64(typed.hosts.host_deadline);
    let options = ConnectionOptions { via, program, relays: &[], deadline, cancel: &cancel };
    let mut finished = 0;
    let mut answers = examination::examine_hosts(names, &options, &mut |name, answer| {
        finished += 1;
        let message = if answer.is_ok() { "host-examined" } else { "host-no-answer" };
        if !typed.quiet {
            let [finished, total] =
                [finished, names.len()].map(|count: usize| count.to_string());
            let message = words::sentence(
                message,
                &[("done", &finished), ("all", &total), ("host", name)],
            );
            terminal.note(&message);
        }
    });
    let findings = answers.iter_mut().flatten().map(|it| &mut it.examined.findings);
    keep_topics(&mut findings.collect::<Vec<_>>(), &typed.topics)?;
    let (reports, unreachable) = split_answers(names, &answers);
    let is_bad = typed.strict
        && reports.iter().any(|it| it.compared.findings.iter().any(is_strict_violation));
    let document = build::hosts(&reports, &unreachable, &host_names::format_host_list);
    page::publish(|| document, || hosts_document(names, &answers), &typed.page, terminal)?;
    let is_whole = answers.iter().all(Result::is_ok);
    Ok(if is_whole && !is_bad { 0 } else { exit_code(FailureKind::Measurement) })
}

type HostAnswers = [Result<HostReport, HostFailure>];

fn split_answers<'a>(
    names: &'a [String],
    answers: &'a HostAnswers,
) -> (Vec<ExaminedHost<'a>>, Vec<UnreachableHost<'a>>) {
    let (mut examined, mut unreachable) = (Vec::new(), Vec::new());
    for (name, answer) in names.iter().zip(answers) {
        match answer {
            Ok(answer) => examined.push(ExaminedHost {
                compared: ComparedHost {
                    name,
                    facts: &answer.examined.host,
                    findings: &answer.examined.findings,
                },
                clock_offset_s: answer.clock_offset_s,
            }),
            Err(failure) => unreachable.push(self::unreachable_host(name, failure)),
        }
    }
    (examined, unreachable)
}

pub(super) fn unreachable_host<'a>(
    name: &'a str,
    failure: &HostFailure,
) -> UnreachableHost<'a> {
    let (reason, advice) = (host_failure(failure).reason(), failure.advice().to_owned());
    UnreachableHost { name, reason, advice }
}

fn host_failure(failure: &HostFailure) -> CommandFailure {
    let what = failure.to_string();
    match std::error::Error::source(failure) {
        Some(source) => CommandFailure::measurement(what).with_cause(source),
        None => CommandFailure::measurement(what),
    }
}

/// Returns the findings for machine-readable output, without the localised observed value.
pub(super) fn without_localised_values(findings: &[DoctorFinding]) -> Vec<DoctorFinding> {
    findings.iter().map(|it| DoctorFinding { seen: None, ..it.clone() }).collect()
}

fn hosts_document<'a>(names: &'a [String], answers: &'a HostAnswers) -> HostsDocument<'a> {
    let hosts = names.iter().zip(answers).map(|(name, answer)| match answer {
        Ok(HostReport { examined, clock_offset_s: (offset, bound) }) => json!({
            "name": name, "host": examined.host, "findings": without_localised_values(&examined.findings),
            "network": examined.network, "clock_offset_s": offset, "clock_offset_bound_s": bound,
        }),
        Err(failure) => json!({ "name": name, "failure": {
            "id": failure.id(), "reason": host_failure(failure).reason(), "advice": failure.advice(),
        }}),
    });
    let (examined, _) = split_answers(names, answers);
    let compared: Vec<ComparedHost<'_>> = examined.iter().map(|host| host.compared).collect();
    HostsDocument { hosts: hosts.collect(), differences: find_differences(&compared) }
}
