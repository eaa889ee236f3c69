//! `--gate` and `--limits`: thresholds that determine the exit code, with reports for CI systems.

use std::io::Write as _;
use std::path::Path;

use assay_claims::gate::{self, GateOutcome, MetricGate};
use assay_model::comparison::Comparison;
use assay_report::document::{Block, ColumnAlignment, Document, ReportTable};
use assay_report::words::message;
use assay_run::failure::{CommandFailure, FailureKind};

use crate::arguments::claims::GateArguments;
use crate::failure::{REGRESSION, UNDECIDED};
use crate::terminal::Terminal;
use crate::{job_file, output_file};

/// Environment variable with the path of a GitHub job's summary.
const SUMMARY_VARIABLE: &str = "GITHUB_STEP_SUMMARY";

/// Reads the gates of the user's file; `None` without one.
pub(crate) fn read_gates(
    typed: &GateArguments,
) -> Result<Option<Vec<MetricGate>>, CommandFailure> {
    typed.gate.as_deref().map(read_gate_file).transpose()
}

/// Reads the gates of a file.
pub(crate) fn read_gate_file(path: &Path) -> Result<Vec<MetricGate>, CommandFailure> {
    let text =
        job_file::read_text(path).map_err(|error| job_file::unreadable_error(path, &error))?;
    gate::parse_gates(&text).map_err(|error| {
        let name = path.display().to_string();
        let failure = CommandFailure::new(
            FailureKind::Suite,
            format!("{name} is not a valid file of gates"),
        )
        .with_cause(&error)
        .advise("see docs/references.md for an example");
        match error.place() {
            Some(place) => failure.at_span(&name, &text, place.span.clone()),
            None => failure,
        }
    })
}

/// Applies the gates and reports their outcome. The table is printed only if the comparison is
/// printed as text.
pub(crate) fn decide(
    typed: &GateArguments,
    gates: &[MetricGate],
    comparison: &Comparison,
    is_quiet: bool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let judged = gate::judge(gates, comparison);
    if !is_quiet {
        let columns = [
            (message("column-gate"), ColumnAlignment::Left),
            (message("column-outcome"), ColumnAlignment::Left),
            (message("column-why"), ColumnAlignment::Left),
        ];
        let mut table = ReportTable::new("", &columns);
        for it in &judged {
            let outcome = outcome_word(it.outcome);
            table.rows.push(vec![
                it.name.as_str().into(),
                outcome.into(),
                it.reason.as_str().into(),
            ]);
        }
        let mut document = Document::new(message("gates-title"));
        document.blocks.push(Block::Table(table));
        let text = terminal.render_document(&document);
        terminal.print(&text);
    }
    if let Some(path) = &typed.junit {
        output_file::write(path, gate::junit(&judged))?;
    }
    if typed.github {
        append_github_summary(&gate::markdown(&judged))?;
    }
    Ok(match gate::overall_outcome(&judged) {
        GateOutcome::Passed => 0,
        GateOutcome::Failed => REGRESSION,
        GateOutcome::CannotTell => UNDECIDED,
    })
}

pub(crate) fn outcome_word(outcome: GateOutcome) -> &'static str {
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
