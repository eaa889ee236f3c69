//! Demands on every host of a run: limits, evenness, and the list of hosts to drain.

use std::collections::BTreeSet;
use std::path::Path;

use assay_claims::gate::{self, GateOutcome, GateResult, MetricGate};
use assay_model::doubt::Doubt;
use assay_model::host_names;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::trust::DistrustReason;
use assay_report::document::{Block, ColumnAlignment, Document, ReportTable};
use assay_report::words::message;
use assay_run::failure::{CommandFailure, FailureKind};
use serde::Serialize;
use serde_json::{Value, json};

use crate::arguments::hosts::FleetArguments;
use crate::failure::{REGRESSION, UNDECIDED};
use crate::terminal::Terminal;
use crate::{gates, output_file};

/// Demands on every host, and the file for those that miss them.
#[derive(Default)]
pub(super) struct HostDemands<'a> {
    limits: Option<Vec<MetricGate>>,
    drain_list: Option<&'a Path>,
}

impl<'a> HostDemands<'a> {
    /// Reads the limits and checks the file, before the measurement.
    pub(super) fn from_options(typed: &'a FleetArguments) -> Result<Self, CommandFailure> {
        let drain_list = typed.drain_list.as_deref();
        drain_list.map(output_file::check_writable).transpose()?;
        let limits = typed.limits.as_deref().map(read_limits).transpose()?;
        Ok(Self { limits, drain_list })
    }

    /// Judges the hosts by the limits; `None` without limits.
    pub(super) fn judge<'s>(&self, summary: &'s RunSummary) -> Option<JudgedHosts<'s>> {
        let hosts: Vec<&str> = summary.hosts.iter().map(|host| host.name.as_str()).collect();
        let doubt = |estimate: &MetricEstimate| {
            let reason = DistrustReason::from_run(estimate, summary)?;
            // A wide interval decides by itself whether it contains the limit.
            let is_wide = matches!(reason, DistrustReason::WideInterval { .. });
            (!is_wide).then(|| reason.id())
        };
        // Gates that need a change are rejected when the file is read.
        let judge = |limits: &Vec<MetricGate>| {
            gate::judge_hosts(limits, &hosts, &summary.results, &doubt).unwrap_or_default()
        };
        self.limits.as_ref().map(judge).map(JudgedHosts)
    }

    /// Writes the hosts to drain to the file of the user: lost ones, those that are worse than
    /// their peers, and those beyond a limit.
    pub(super) fn write_drain_list(
        &self,
        judged: Option<&JudgedHosts<'_>>,
        summary: &RunSummary,
    ) -> Result<(), CommandFailure> {
        let Some(file) = self.drain_list else { return Ok(()) };
        let results = judged.map(|it| it.0.as_slice()).unwrap_or_default();
        let beyond = results.iter().filter(|(_, it)| it.outcome == GateOutcome::Failed);
        let beyond = beyond.map(|(host, _)| *host);
        write_drain_list(file, summary, worse_than_peers(summary).chain(beyond))
    }
}

/// Hosts with the outcome of each limit.
pub(super) struct JudgedHosts<'s>(Vec<(&'s str, GateResult)>);

/// Outcome of a limit for a host in the JSON document.
#[derive(Serialize)]
struct JudgedLimit<'s> {
    host: &'s str,
    #[serde(flatten)]
    result: &'s GateResult,
}

impl JudgedHosts<'_> {
    /// Returns the outcomes for the JSON document.
    pub(super) fn to_json(&self) -> Value {
        let limit = |(host, result): &(&str, GateResult)| json!(JudgedLimit { host, result });
        self.0.iter().map(limit).collect()
    }

    /// Prints the hosts that do not meet every limit: as a table, or as a line for the error
    /// output.
    pub(super) fn print(&self, is_text: bool, terminal: &mut Terminal) {
        match is_text {
            true => print_failed(&self.0, terminal),
            false => self.exceptions_line().iter().for_each(|line| terminal.note(line)),
        }
    }

    /// Returns a line with the first host that does not meet a limit, and the number of others.
    fn exceptions_line(&self) -> Option<String> {
        let of_outcome = |outcome| {
            let mut all = self.0.iter().filter(|(_, it)| it.outcome == outcome);
            let (host, first) = all.next()?;
            let others = match all.count() {
                0 => String::new(),
                n => format!(" (and {n} more)"),
            };
            let word = gates::outcome_word(outcome);
            Some(format!("--limits: {word}: {host}: {}: {}{others}", first.name, first.reason))
        };
        of_outcome(GateOutcome::Failed).or_else(|| of_outcome(GateOutcome::CannotTell))
    }

    /// Returns the exit code: a host beyond a limit takes precedence over an undecided one.
    pub(super) fn exit_code(&self) -> u8 {
        let all: Vec<GateResult> = self.0.iter().map(|(_, it)| it.clone()).collect();
        match gate::overall_outcome(&all) {
            GateOutcome::Passed => 0,
            GateOutcome::Failed => REGRESSION,
            GateOutcome::CannotTell => UNDECIDED,
        }
    }
}

/// Reads and checks the thresholds of a file, before the measurement.
fn read_limits(path: &Path) -> Result<Vec<MetricGate>, CommandFailure> {
    let limits = gates::read_gate_file(path)?;
    let checked = gate::judge_hosts(&limits, &[], &[], &|_| None);
    checked.map(drop).map_err(|error| {
        CommandFailure::new(
            FailureKind::Suite,
            format!("{} is not a valid file of host limits", path.display()),
        )
        .with_cause(&error)
    })?;
    Ok(limits)
}

/// Prints the hosts that do not meet every limit, as a table.
fn print_failed(results: &[(&str, GateResult)], terminal: &mut Terminal) {
    let columns = ["column-host", "column-limit", "column-outcome", "column-why"]
        .map(|title| (message(title), ColumnAlignment::Left));
    let mut table = ReportTable::new("", &columns);
    for (host, it) in results.iter().filter(|(_, it)| it.outcome != GateOutcome::Passed) {
        let cells =
            [*host, it.name.as_str(), gates::outcome_word(it.outcome), it.reason.as_str()];
        table.rows.push(cells.map(Into::into).to_vec());
    }
    if table.rows.is_empty() {
        return;
    }
    let mut document = Document::new(message("limits-title"));
    document.blocks.push(Block::Table(table));
    let text = terminal.render_document(&document);
    terminal.print(&text);
}

/// Writes the names of lost hosts and `others` to a file, each once, as a host list in one line.
fn write_drain_list<'s>(
    file: &Path,
    summary: &'s RunSummary,
    others: impl Iterator<Item = &'s str>,
) -> Result<(), CommandFailure> {
    let lost = summary.warnings.iter().filter_map(lost_host);
    let mut hosts: Vec<&str> = lost.chain(others).collect();
    let mut seen = BTreeSet::new();
    hosts.retain(|host| seen.insert(*host));
    let line = if hosts.is_empty() {
        String::new()
    } else {
        host_names::format_host_list(&hosts) + "\n"
    };
    output_file::write(file, &line)
}

fn lost_host(doubt: &Doubt) -> Option<&str> {
    if let Doubt::HostLost { host, .. } = doubt { Some(host) } else { None }
}

/// Returns the hosts that a result marks as worse than their peers.
fn worse_than_peers(summary: &RunSummary) -> impl Iterator<Item = &str> {
    summary.results.iter().flat_map(|estimate| &estimate.warnings).filter_map(|doubt| {
        if let Doubt::WorseThanPeers { host, .. } = doubt { Some(host.as_str()) } else { None }
    })
}

/// Whether a host is worse than its peers, or worse in its pairs than others.
pub(super) fn is_uneven(summary: &RunSummary) -> bool {
    let mut doubts = summary.results.iter().flat_map(|estimate| &estimate.warnings);
    doubts.any(|doubt| {
        matches!(doubt, Doubt::WorseThanPeers { .. } | Doubt::WorseThanPairs { .. })
    })
}
