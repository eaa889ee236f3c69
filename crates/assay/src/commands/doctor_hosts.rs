//! `assay doctor --hosts`: runs the checks on many hosts at once and reports their differences.

use assay_console::host_access::{HostAccess, describe_unreachable, failure_reason};
use assay_fleet::doctor::topics::{UnknownTopic, is_strict_violation, keep_topics};
use assay_fleet::remote::HostFailure;
use assay_fleet::remote::examination::{self, HostReport};
use assay_model::facts::difference::{ComparedHost, HostDifference, find_differences};
use assay_model::finding::DoctorFinding;
use assay_model::host_names;
use assay_model::suite::suggest;
use assay_report::build::{self, ExaminedHost, UnreachableHost};
use assay_report::words;
use serde::Serialize;
use serde_json::{Value, json};

use crate::arguments::DoctorArguments;
use crate::failure::exit_code;
use crate::terminal::Terminal;
use crate::{page, signals};
use assay_run::failure::{CommandFailure, FailureKind};

/// Machine-readable result.
#[derive(Debug, Serialize)]
struct HostsDocument<'a> {
    hosts: Vec<Value>,
    differences: Vec<HostDifference<'a>>,
}

pub(super) fn doctor(
    typed: &DoctorArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let cancel = signals::cancel_on_signals_with_notice()?;
    let access = HostAccess::resolve(&typed.hosts, &cancel, terminal)?;
    let (names, options) = (&access.names(), access.connection_options(&[], &cancel));
    let mut finished = 0;
    let mut answers = examination::examine_hosts(names, &options, &mut |name, answer| {
        finished += 1;
        let message = if answer.is_ok() { "host-examined" } else { "host-no-answer" };
        if !typed.page.screen.quiet {
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
    keep_topics(&mut findings.collect::<Vec<_>>(), &typed.topics)
        .map_err(|error| unknown_topic(&error))?;
    let (reports, unreachable) = split_answers(names, &answers);
    let is_bad = typed.strict
        && reports.iter().any(|it| it.compared.findings.iter().any(is_strict_violation));
    let document = || build::hosts(&reports, &unreachable, &host_names::format_host_list);
    page::publish(document, || hosts_document(names, &answers), &typed.page, terminal)?;
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
            Err(failure) => unreachable.push(describe_unreachable(name, failure)),
        }
    }
    (examined, unreachable)
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
            "id": failure.id(), "reason": failure_reason(failure), "advice": failure.advice(),
        }}),
    });
    let (examined, _) = split_answers(names, answers);
    let compared: Vec<ComparedHost<'_>> = examined.iter().map(|host| host.compared).collect();
    HostsDocument { hosts: hosts.collect(), differences: find_differences(&compared) }
}

/// Returns the failure for a topic without a check.
pub(super) fn unknown_topic(error: &UnknownTopic) -> CommandFailure {
    let known: Vec<&str> = error.known.iter().map(String::as_str).collect();
    CommandFailure::usage(error.to_string()).advise(suggest(&error.name, &known))
}
