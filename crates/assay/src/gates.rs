//! Outcomes of gates: their tables, the exit code, and reports for CI systems.

use std::io::Write as _;

use assay_claims::gate::{self, GateOutcome, GateResult, MetricGate};
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::trust::DistrustReason;
use assay_report::document::{Block, ColumnAlignment, Document, ReportTable};
use assay_report::words::message;
use assay_run::failure::CommandFailure;
use serde::Serialize;
use serde_json::{Value, json};

use crate::arguments::claims::OutcomeReportArguments;
use crate::failure::{REGRESSION, UNDECIDED};
use crate::output_file;
use crate::terminal::Terminal;

/// Environment variable with the path of a GitHub job's summary.
const SUMMARY_VARIABLE: &str = "GITHUB_STEP_SUMMARY";

/// Reports the outcomes: as a table if `is_text`, or as a line for the error output, and to the
/// files of the user. Returns the exit code.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn report_outcomes(
    typed: &OutcomeReportArguments,
    judged: &[GateResult],
    is_text: bool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    match is_text {
        true => print_outcomes(judged, terminal),
        false => {
            let named: Vec<_> = judged.iter().map(|it| ("", it)).collect();
            let exception = exceptions_line(&named);
            exception.iter().for_each(|line| terminal.note(line));
        }
    }
    if let Some(path) = &typed.junit {
        output_file::write(path, gate::junit(judged))?;
    }
    if typed.github {
        append_github_summary(&gate::markdown(judged))?;
    }
    Ok(outcome_code(judged))
}

fn print_outcomes(judged: &[GateResult], terminal: &mut Terminal) {
    let columns = ["column-gate", "column-outcome", "column-why"]
        .map(|title| (message(title), ColumnAlignment::Left));
    let mut table = ReportTable::new("", &columns);
    for it in judged {
        let cells = [it.name.as_str(), outcome_word(it.outcome), it.reason.as_str()];
        table.rows.push(cells.map(Into::into).to_vec());
    }
    print_table(table, terminal);
}

fn print_table(table: ReportTable, terminal: &mut Terminal) {
    let mut document = Document::new(message("gates-title"));
    document.blocks.push(Block::Table(table));
    terminal.print(&terminal.render_document(&document));
}

fn outcome_code(judged: &[GateResult]) -> u8 {
    match gate::overall_outcome(judged) {
        GateOutcome::Passed => 0,
        GateOutcome::Failed => REGRESSION,
        GateOutcome::CannotTell => UNDECIDED,
    }
}

/// Hosts with the outcome of each gate.
pub(crate) struct JudgedHosts<'s>(Vec<(&'s str, GateResult)>);

/// Outcome of a gate for a host in the JSON document.
#[derive(Serialize)]
struct JudgedGate<'s> {
    host: &'s str,
    #[serde(flatten)]
    result: &'s GateResult,
}

impl<'s> JudgedHosts<'s> {
    /// Judges all hosts of a run. A suspect value decides nothing.
    pub(crate) fn judge(gates: &[MetricGate], summary: &'s RunSummary) -> Self {
        let hosts: Vec<&str> = summary.hosts.iter().map(|host| host.name.as_str()).collect();
        let doubt = |estimate: &MetricEstimate| {
            let reason = DistrustReason::from_run(estimate, summary)?;
            // A wide interval decides by itself whether it contains the threshold.
            let is_wide = matches!(reason, DistrustReason::WideInterval { .. });
            (!is_wide).then(|| reason.id())
        };
        Self(gate::judge_hosts(gates, &hosts, &summary.results, &doubt))
    }

    /// Returns the hosts that fail a gate.
    pub(crate) fn failed_hosts(&self) -> impl Iterator<Item = &'s str> {
        let failed = self.0.iter().filter(|(_, it)| it.outcome == GateOutcome::Failed);
        failed.map(|(host, _)| *host)
    }

    /// Returns all outcomes, without their hosts.
    pub(crate) fn results(&self) -> Vec<GateResult> {
        self.0.iter().map(|(_, it)| it.clone()).collect()
    }

    /// Returns the outcomes for the JSON document.
    pub(crate) fn to_json(&self) -> Value {
        let judged = |(host, result): &(&str, GateResult)| json!(JudgedGate { host, result });
        self.0.iter().map(judged).collect()
    }

    /// Prints the hosts that do not meet every gate: as a table, or as a line for the error
    /// output.
    pub(crate) fn print(&self, is_text: bool, terminal: &mut Terminal) {
        match is_text {
            true => print_failed(&self.0, terminal),
            false => {
                let named: Vec<_> = self.0.iter().map(|(host, it)| (*host, it)).collect();
                let exception = exceptions_line(&named);
                exception.iter().for_each(|line| terminal.note(line));
            }
        }
    }

    /// Returns the exit code: a host beyond a gate takes precedence over an undecided one.
    pub(crate) fn exit_code(&self) -> u8 {
        outcome_code(&self.results())
    }
}

/// Returns a line with the first gate that is not met, after its host if it has one, and the number
/// of others.
fn exceptions_line(judged: &[(&str, &GateResult)]) -> Option<String> {
    let of_outcome = |outcome| {
        let mut all = judged.iter().filter(|(_, it)| it.outcome == outcome);
        let (host, first) = all.next()?;
        let others = match all.count() {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        let host = if host.is_empty() { String::new() } else { format!("{host}: ") };
        let word = outcome_word(outcome);
        Some(format!("--expect: {word}: {host}{}: {}{others}", first.name, first.reason))
    };
    of_outcome(GateOutcome::Failed).or_else(|| of_outcome(GateOutcome::CannotTell))
}

/// Prints the hosts that do not meet every gate, as a table.
fn print_failed(results: &[(&str, GateResult)], terminal: &mut Terminal) {
    let columns = ["column-host", "column-gate", "column-outcome", "column-why"]
        .map(|title| (message(title), ColumnAlignment::Left));
    let mut table = ReportTable::new("", &columns);
    for (host, it) in results.iter().filter(|(_, it)| it.outcome != GateOutcome::Passed) {
        let cells = [*host, it.name.as_str(), outcome_word(it.outcome), it.reason.as_str()];
        table.rows.push(cells.map(Into::into).to_vec());
    }
    if !table.rows.is_empty() {
        print_table(table, terminal);
    }
}

fn outcome_word(outcome: GateOutcome) -> &'static str {
    message(match outcome {
        GateOutcome::Passed => "gate-passed",
        GateOutcome::Failed => "gate-failed",
        GateOutcome::CannotTell => "verdict-cannot-tell",
    })
}

/// Appends to the job's summary, after the output of other steps.
fn append_github_summary(text: &str) -> Result<(), CommandFailure> {
    let path = std::env::var_os(SUMMARY_VARIABLE).ok_or_else(|| {
        CommandFailure::usage(format!("{SUMMARY_VARIABLE} is not set"))
            .advise("use --github in GitHub jobs, --junit elsewhere")
    })?;
    let file = fs_err::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        CommandFailure::measurement("cannot write the job summary").with_cause(&error)
    })
}
