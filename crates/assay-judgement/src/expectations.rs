//! `--expect FILE|SYSTEM`: claims, limits of data sheets and gates with which results are compared.

use std::collections::BTreeSet;
use std::path::Path;

use assay_claims::expectation::{Expectations, JudgedResults};
use assay_claims::gate::{self, GateResult};
use assay_claims::reference;
use assay_model::benchmark::Benchmark;
use assay_model::doubt::TrustLevel;
use assay_model::path_text;
use assay_model::plan::Plan;
use assay_model::run::Run;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::job_file;
use assay_stats::summarize::{apply_data_sheet, summarize};

use crate::gates::JudgedHosts;
use crate::published_figures::ClaimsOutcome;

/// Expectations of systems and files.
#[derive(Debug, Default)]
pub struct NamedExpectations {
    /// Claims, limits and gates of all of them.
    pub values: Expectations,
    /// Systems and files with claims, as typed.
    pub claims_name: String,
}

/// Returns the expectations of a system, named like `vendor/model`, or of a TOML file. Returns
/// `None` if `name` has neither form.
pub fn find_expectations(
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
///
/// # Errors
/// An unknown system.
pub fn read_system(name: &str) -> Result<NamedExpectations, CommandFailure> {
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
    /// Reads the expectations of all systems and files.
    ///
    /// # Errors
    /// An unknown system, or a file that cannot be read or is invalid.
    pub fn read(names: &[String], judged: JudgedResults) -> Result<Self, CommandFailure> {
        let mut all = Self::default();
        for name in names {
            let named = find_expectations(name, judged);
            all.append(named.unwrap_or_else(|| read_system(name))?);
        }
        Ok(all)
    }

    fn new(values: Expectations, name: &str) -> Self {
        let claims_name = if values.claims.is_empty() { "" } else { name };
        Self { values, claims_name: claims_name.to_owned() }
    }

    /// Adds those of another system or file.
    pub fn append(&mut self, other: Self) {
        let names = [self.claims_name.as_str(), &other.claims_name];
        let names: Vec<&str> = names.into_iter().filter(|it| !it.is_empty()).collect();
        self.claims_name = names.join(", ");
        self.values.append(other.values);
    }

    /// Summarizes a run with the limits.
    pub fn summarize(&self, run: &Run) -> RunSummary {
        let mut summary = summarize(run);
        self.apply_limits(&mut summary.results);
        summary
    }

    /// Summarises several runs with the limits of their results.
    pub fn summarize_all(&self, runs: &[Run]) -> Vec<RunSummary> {
        runs.iter().map(|run| self.summarize(run)).collect()
    }

    /// Sets the limit of each result, and adds a doubt to a result above it.
    pub fn apply_limits(&self, results: &mut [MetricEstimate]) {
        for estimate in results {
            if let Some(limit) = reference::data_sheet_limit(estimate, &self.values.limits) {
                apply_data_sheet(estimate, limit);
            }
        }
    }

    /// Judges the hosts of a run by the gates; `None` without gates.
    pub fn judge_hosts<'s>(&self, summary: &'s RunSummary) -> Option<JudgedHosts<'s>> {
        let has_gates = !self.values.gates.is_empty();
        has_gates.then(|| JudgedHosts::judge(&self.values.gates, summary))
    }

    /// Compares results, each with its trust, with the claims; `None` without claims, or if all are of the user and none
    /// has a result, which [`NamedExpectations::judge_unmeasured`] reports.
    pub fn check_claims(
        &self,
        results: &[MetricEstimate],
        trust: impl Fn(&MetricEstimate) -> TrustLevel,
    ) -> Option<ClaimsOutcome> {
        let claims = self.values.claims.as_slice();
        let is_judged = claims.len() > gate::judge_unmeasured((claims, &[]), results).len();
        is_judged.then(|| ClaimsOutcome::judge(results, trust, (claims, &self.claims_name)))
    }

    /// Names the metrics of a plan for which there are claims; `None` without claims.
    pub fn describe_claims(&self, plan: &Plan) -> Option<String> {
        let benchmarks: Vec<Benchmark> =
            plan.cases.iter().map(|it| it.workload.benchmark()).collect();
        let targets = self.values.claims.iter().filter_map(|it| it.of.as_ref());
        let compared: BTreeSet<String> = targets
            .filter(|it| benchmarks.contains(&it.benchmark))
            .map(|it| format!("{}/{}", it.benchmark.id(), it.metric.name))
            .collect();
        let compared = match compared.is_empty() {
            true => "no metric of this plan has a figure".to_owned(),
            false => compared.into_iter().collect::<Vec<_>>().join(", "),
        };
        let name = &self.claims_name;
        (!self.values.claims.is_empty()).then(|| format!("compared with {name}: {compared}"))
    }

    /// Returns the user's claims and limits that no result fits.
    pub fn judge_unmeasured(&self, results: &[MetricEstimate]) -> Vec<GateResult> {
        let Expectations { claims, limits, .. } = &self.values;
        gate::judge_unmeasured((claims, limits), results)
    }

    /// Returns the outcomes of the gates on each host, of the limits, and of all entries that no
    /// result fits.
    pub fn judge_entries(&self, summary: &RunSummary) -> Vec<GateResult> {
        let of_gates = self.judge_hosts(summary).map(|it| it.results()).unwrap_or_default();
        let of_limits = gate::judge_limits(&self.values.limits, &summary.results);
        let unmeasured = self.judge_unmeasured(&summary.results);
        [of_gates, of_limits, unmeasured].concat()
    }
}
