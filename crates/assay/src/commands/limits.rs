//! `--limits`: thresholds for every host of a run, from a file of gates.

use std::path::Path;

use assay_claims::gate::{self, GateOutcome, GateResult, MetricGate};
use assay_model::summary::RunSummary;
use assay_report::document::{Block, ColumnAlignment, Document, ReportTable};
use assay_report::words::message;
use assay_run::failure::{CommandFailure, FailureKind};

use super::compare::gates;
use crate::failure::{REGRESSION, UNDECIDED};
use crate::terminal::Terminal;

/// Reads and checks the thresholds of a file, before the measurement.
pub(super) fn read_limits(path: &Path) -> Result<Vec<MetricGate>, CommandFailure> {
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

/// Outcome of the limits for each host of a run.
pub(super) struct LimitResults<'s>(Vec<(&'s str, GateResult)>);

/// Checks every host against the limits.
pub(super) fn check_limits<'s>(
    limits: &[MetricGate],
    summary: &'s RunSummary,
) -> LimitResults<'s> {
    let hosts: Vec<&str> = summary.hosts.iter().map(|host| host.name.as_str()).collect();
    // Gates that need a change are rejected when the file is read.
    LimitResults(gate::judge_hosts(limits, &hosts, &summary.results).unwrap_or_default())
}

impl<'s> LimitResults<'s> {
    /// Returns the hosts that are beyond a limit.
    pub(super) fn failed_hosts(&self) -> impl Iterator<Item = &'s str> {
        let beyond = self.0.iter().filter(|(_, it)| it.outcome == GateOutcome::Failed);
        beyond.map(|(host, _)| *host)
    }

    /// Prints the hosts that do not meet every limit, as a table.
    pub(super) fn print_failed(&self, terminal: &mut Terminal, is_text: bool) {
        let columns = ["column-host", "column-limit", "column-outcome", "column-why"]
            .map(|title| (message(title), ColumnAlignment::Left));
        let mut table = ReportTable::new("", &columns);
        for (host, it) in self.0.iter().filter(|(_, it)| it.outcome != GateOutcome::Passed) {
            let cells =
                [*host, it.name.as_str(), gates::outcome_word(it.outcome), it.reason.as_str()];
            table.rows.push(cells.map(Into::into).to_vec());
        }
        if table.rows.is_empty() || !is_text {
            return;
        }
        let mut document = Document::new(message("limits-title"));
        document.blocks.push(Block::Table(table));
        let text = terminal.render_document(&document);
        terminal.print(&text);
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
