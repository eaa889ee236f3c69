//! Reports on `--expect`: gates and claims as pages or lines, and their exit status.

use std::io::Write as _;

use assay_claims::expectation::JudgedResults;
use assay_claims::gate::{self, GateOutcome, GateResult};
use assay_judgement::expectations::NamedExpectations;
use assay_judgement::gates::{self, JudgedHosts};
use assay_judgement::published_figures::trust_of_run;
use assay_model::doubt::TrustLevel;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_report::document::Document;
use assay_run::failure::CommandFailure;

use crate::arguments::claims::{ExpectArguments, OutcomeReportArguments};
use crate::failure::ExitStatus;
use crate::output_file;
use crate::terminal::Terminal;

/// Environment variable with the path of a GitHub job's summary.
const SUMMARY_VARIABLE: &str = "GITHUB_STEP_SUMMARY";

impl ExpectArguments {
    /// Whether anything is expected.
    pub(crate) const fn is_given(&self) -> bool {
        !self.expect.is_empty()
    }

    /// Reads the expectations; none without the option.
    ///
    /// # Errors
    /// An unknown system, or a file that cannot be read or is invalid.
    pub(crate) fn read(
        &self,
        judged: JudgedResults,
    ) -> Result<NamedExpectations, CommandFailure> {
        NamedExpectations::read(&self.expect, judged)
    }
}

pub(crate) const fn outcome_status(outcome: GateOutcome) -> ExitStatus {
    match outcome {
        GateOutcome::Passed => ExitStatus::Success,
        GateOutcome::Failed => ExitStatus::Regression,
        GateOutcome::CannotTell => ExitStatus::Undecided,
    }
}

/// Prints a page on a screen with a report, and the line otherwise.
fn print_either(
    page: Option<Document>,
    line: Option<&str>,
    is_text: bool,
    terminal: &mut Terminal,
) {
    match (page, is_text) {
        (Some(page), true) => terminal.print(&terminal.render_document(&page)),
        _ => line.filter(|it| !it.is_empty()).into_iter().for_each(|it| terminal.note(it)),
    }
}

/// Prints the gates that hosts do not meet.
pub(crate) fn report_hosts(judged: &JudgedHosts<'_>, is_text: bool, terminal: &mut Terminal) {
    let line = if is_text { None } else { judged.exceptions_line() };
    print_either(judged.exceptions_page(), line.as_deref(), is_text, terminal);
}

/// Reports the outcomes of gates, also to the files of the user.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn report_outcomes(
    typed: &OutcomeReportArguments,
    judged: &[GateResult],
    is_text: bool,
    terminal: &mut Terminal,
) -> Result<ExitStatus, CommandFailure> {
    let line = gates::exceptions_line(judged);
    print_either(Some(gates::outcomes_page(judged)), line.as_deref(), is_text, terminal);
    if let Some(path) = &typed.junit {
        output_file::write(path, gate::junit(judged))?;
    }
    if typed.github {
        append_github_summary(&gate::markdown(judged))?;
    }
    Ok(outcome_status(gate::overall_outcome(judged)))
}

/// Reports how results, each with its trust, meet the claims, and which claims and limits of the user have no result.
pub(crate) fn report_claims(
    expected: &NamedExpectations,
    results: &[MetricEstimate],
    trust: &dyn Fn(&MetricEstimate) -> TrustLevel,
    is_text: bool,
    terminal: &mut Terminal,
) -> ExitStatus {
    let judged = expected.check_claims(results, trust);
    let of_claims = judged.map_or(ExitStatus::Success, |judged| {
        print_either(judged.page, Some(&judged.line), is_text, terminal);
        outcome_status(judged.outcome)
    });
    let unmeasured = expected.judge_unmeasured(results);
    if unmeasured.is_empty() {
        return of_claims;
    }
    let line = gates::exceptions_line(&unmeasured);
    print_either(Some(gates::outcomes_page(&unmeasured)), line.as_deref(), is_text, terminal);
    of_claims.max(ExitStatus::Undecided)
}

/// Reports how a run meets the claims.
pub(crate) fn report_run_claims(
    expected: &NamedExpectations,
    summary: &RunSummary,
    is_text: bool,
    terminal: &mut Terminal,
) -> ExitStatus {
    let trust = trust_of_run(summary);
    report_claims(expected, &summary.results, &trust, is_text, terminal)
}

/// Reports how a stored run meets the gates and claims.
pub(crate) fn report_run(
    expected: &NamedExpectations,
    summary: &RunSummary,
    is_text: bool,
    terminal: &mut Terminal,
) -> ExitStatus {
    let judged = expected.judge_hosts(summary);
    judged.iter().for_each(|it| report_hosts(it, is_text, terminal));
    let of_gates = judged.map_or(ExitStatus::Success, |it| outcome_status(it.outcome()));
    of_gates.max(report_run_claims(expected, summary, is_text, terminal))
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
