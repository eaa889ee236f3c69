//! Demands on every host of a run: limits, evenness, and the list of hosts to drain.

use std::collections::BTreeSet;
use std::path::Path;

use assay_claims::gate::{self, GateOutcome, GateResult, MetricGate};
use assay_model::doubt::Doubt;
use assay_model::host_names;
use assay_model::summary::RunSummary;
use assay_report::document::{Block, ColumnAlignment, Document, ReportTable};
use assay_report::words::message;
use assay_run::failure::{CommandFailure, FailureKind};

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

    /// Prints the hosts that miss a limit, and lists those to drain. Returns the exit code of the
    /// limits: a host beyond one takes precedence over an undecided one.
    pub(super) fn judge(
        &self,
        summary: &RunSummary,
        is_text: bool,
        terminal: &mut Terminal,
    ) -> Result<u8, CommandFailure> {
        let hosts: Vec<&str> = summary.hosts.iter().map(|host| host.name.as_str()).collect();
        // Gates that need a change are rejected when the file is read.
        let judge = |limits: &Vec<MetricGate>| {
            gate::judge_hosts(limits, &hosts, &summary.results).unwrap_or_default()
        };
        let judged = self.limits.as_ref().map(judge);
        let results = judged.as_deref().unwrap_or_default();
        if is_text {
            print_failed(results, terminal);
        }
        if let Some(file) = self.drain_list {
            let beyond = results.iter().filter(|(_, it)| it.outcome == GateOutcome::Failed);
            let beyond = beyond.map(|(host, _)| *host);
            write_drain_list(file, summary, worse_than_peers(summary).chain(beyond))?;
        }
        Ok(if judged.is_some() { exit_code(results) } else { 0 })
    }
}

/// Reads and checks the thresholds of a file, before the measurement.
fn read_limits(path: &Path) -> Result<Vec<MetricGate>, CommandFailure> {
    let limits = gates::read_gate_file(path)?;
    let checked = gate::judge_hosts(&limits, &[], &[]);
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

fn exit_code(results: &[(&str, GateResult)]) -> u8 {
    let all: Vec<GateResult> = results.iter().map(|(_, it)| it.clone()).collect();
    match gate::overall_outcome(&all) {
        GateOutcome::Passed => 0,
        GateOutcome::Failed => REGRESSION,
        GateOutcome::CannotTell => UNDECIDED,
    }
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
