//! `--expect FILE|SYSTEM`: claims, limits of data sheets and gates with which results are compared.

use std::path::Path;

use assay_claims::expectation::{Expectations, JudgedResults};
use assay_claims::reference;
use assay_model::path_text;
use assay_model::run::Run;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_report::words::sentence;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_stats::summarize::{apply_data_sheet, summarize};

use crate::arguments::claims::ExpectArguments;
use crate::failure::{REGRESSION, UNDECIDED};
use crate::gates::JudgedHosts;
use crate::terminal::Terminal;
use crate::{job_file, published_figures};

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
        let mut all = NamedExpectations::default();
        for name in &self.expect {
            let named = find_expectations(name, judged);
            all.append(named.unwrap_or_else(|| read_system(name))?);
        }
        Ok(all)
    }
}

/// Expectations of systems and files.
#[derive(Default)]
pub(crate) struct NamedExpectations {
    /// Claims, limits and gates of all of them.
    pub(crate) values: Expectations,
    /// Systems and files with claims, as typed.
    pub(crate) claims_name: String,
}

/// Returns the expectations of a system, named like `vendor/model`, or of a TOML file. Returns
/// `None` if `name` has neither form.
pub(crate) fn find_expectations(
    name: &str,
    judged: JudgedResults,
) -> Option<Result<NamedExpectations, CommandFailure>> {
    let path = path_text::decode_path(name);
    if path.extension().is_some_and(|it| it.eq_ignore_ascii_case("toml")) {
        let read = read_file(&path, judged);
        return Some(read.map(|values| NamedExpectations::new(values, name)));
    }
    name.contains('/').then(|| read_system(name))
}

/// Returns the claims about a built-in system.
pub(crate) fn read_system(name: &str) -> Result<NamedExpectations, CommandFailure> {
    let claims = reference::claims_for_system(name).map_err(|error| {
        CommandFailure::usage(error.to_string())
            .advise("`assay references` lists the systems; the name of a file ends with .toml")
    })?;
    Ok(NamedExpectations::new(Expectations { claims, ..Expectations::default() }, name))
}

fn read_file(file: &Path, judged: JudgedResults) -> Result<Expectations, CommandFailure> {
    let text =
        job_file::read_text(file).map_err(|error| job_file::unreadable_error(file, &error))?;
    Expectations::parse(&text, judged).map_err(|error| {
        let name = file.display().to_string();
        let what = format!("{name} is not a valid file of expectations");
        let failure = CommandFailure::new(FailureKind::Suite, what)
            .with_cause(&error)
            .advise(error.advice());
        match error.place() {
            Some(place) => failure.at_span(&name, &text, place.span.clone()),
            None => failure,
        }
    })
}

impl NamedExpectations {
    fn new(values: Expectations, name: &str) -> Self {
        let claims_name = if values.claims.is_empty() { "" } else { name };
        Self { values, claims_name: claims_name.to_owned() }
    }

    /// Adds those of another system or file.
    pub(crate) fn append(&mut self, other: Self) {
        let names = [self.claims_name.as_str(), &other.claims_name];
        let names: Vec<&str> = names.into_iter().filter(|it| !it.is_empty()).collect();
        self.claims_name = names.join(", ");
        self.values.append(other.values);
    }

    /// Summarizes a run with the limits.
    pub(crate) fn summarize(&self, run: &Run) -> RunSummary {
        let mut summary = summarize(run);
        self.apply_limits(&mut summary.results);
        summary
    }

    /// Sets the limit of each result, and adds a doubt to a result above it.
    pub(crate) fn apply_limits(&self, results: &mut [MetricEstimate]) {
        for estimate in results {
            if let Some(limit) = reference::data_sheet_limit(estimate, &self.values.limits) {
                apply_data_sheet(estimate, limit);
            }
        }
    }

    /// Judges the hosts of a run by the gates; `None` without gates.
    pub(crate) fn judge_hosts<'s>(&self, summary: &'s RunSummary) -> Option<JudgedHosts<'s>> {
        let has_gates = !self.values.gates.is_empty();
        has_gates.then(|| JudgedHosts::judge(&self.values.gates, summary))
    }

    /// Compares results with the claims: as a page, or as a line on the error output. Returns the
    /// exit code.
    pub(crate) fn check_claims(
        &self,
        results: &[MetricEstimate],
        is_text: bool,
        terminal: &mut Terminal,
    ) -> u8 {
        let (claims, name) = (self.values.claims.as_slice(), self.claims_name.as_str());
        if claims.is_empty() {
            return 0;
        }
        let Some((document, outcome, code)) =
            published_figures::compare_with_claims(results, claims, name)
        else {
            terminal.note(&sentence("references-nothing", &[("name", name)]));
            return UNDECIDED;
        };
        if is_text {
            terminal.print(&terminal.render_document(&document));
        } else if !outcome.is_empty() {
            terminal.note(&outcome);
        }
        code
    }

    /// Reports how a stored run meets the gates and claims. Returns the exit code.
    pub(crate) fn check_run(
        &self,
        summary: &RunSummary,
        is_text: bool,
        terminal: &mut Terminal,
    ) -> u8 {
        let judged = self.judge_hosts(summary);
        judged.iter().for_each(|it| it.print(is_text, terminal));
        let of_gates = judged.as_ref().map_or(0, JudgedHosts::exit_code);
        combine_codes(of_gates, self.check_claims(&summary.results, is_text, terminal))
    }
}

/// Combines two exit codes of expectations: a missed one takes precedence over an undecided one.
pub(crate) fn combine_codes(a: u8, b: u8) -> u8 {
    match [a, b] {
        codes if codes.contains(&REGRESSION) => REGRESSION,
        [0, b] => b,
        [a, _] => a,
    }
}
