//! Comparison of results with claims: `compare RUN SYSTEM`, `--expect`.

use std::fmt::Write as _;

use assay_claims::gate::{GateOutcome, GateResult};
use assay_claims::reference::{self, Claim, ClaimCheck, ClaimVerdict, Qualifier};
use assay_model::comparison::{self, ComparedCondition};
use assay_model::doubt::TrustLevel;
use assay_model::quantity::Quantity;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::trust::DistrustReason;
use assay_report::document::{
    Block, Document, Note, ReportTable, TableCell, Tone, left, right,
};
use assay_report::units::{localise_printed, percent, quantity};
use assay_report::words::{message, sentence};
use assay_report::{precision, render};
use assay_run::failure::CommandFailure;
use serde::Serialize;
use serde_json::{Value, json};

use crate::gates;

/// Formats a claim, such as `about 260 GB/s`, in the language of the output, with the digits and
/// the prefix that were published.
pub fn format_claim(claim: &Claim) -> String {
    let Quantity { value, unit } = claim.quantity;
    let figure = match claim.as_printed() {
        Some((number, unit)) => localise_printed(number, unit),
        None => quantity(value, unit, 4),
    };
    let qualified = |id: &str| sentence(id, &[("value", &figure)]);
    match claim.qualifier {
        Qualifier::Exactly => figure,
        Qualifier::About => qualified("about"),
        Qualifier::AtLeast => qualified("at-least"),
        Qualifier::AtMost => qualified("at-most"),
        Qualifier::Best => qualified("best-of-many"),
        Qualifier::Mean => qualified("mean-of-many"),
        Qualifier::Derived => qualified("calculated"),
    }
}

/// Formats one line that compares the first result with the published figure for this type of
/// machine; `None` if there is no such figure.
pub fn machine_comparison(summary: &RunSummary) -> Option<String> {
    let product = summary.hosts.first()?.system.product.as_deref()?;
    let system = reference::find_system(product)?;
    let claims = reference::claims_for_system(&system).ok()?;
    let checks = reference::check_claims(&summary.results, &claims, trust_of_run(summary));
    let is_decided = |it: &&ClaimCheck<'_>| it.verdict != ClaimVerdict::Shown;
    let check = checks.iter().find(is_decided)?;
    let is_comparable = |it: &&&Claim| !it.is_suspect() && it.qualifier != Qualifier::AtMost;
    let claim = check.claims.iter().rev().find(is_comparable)?;
    let own = precision::value(check.estimate);
    Some(sentence(
        "known-machine",
        &[
            ("system", &system),
            ("what", &check.estimate.metric.replace('_', " ")),
            ("published", &format_claim(claim)),
            ("own", &own),
        ],
    ))
}

/// Returns the trust in each value of a run.
pub fn trust_of_run(summary: &RunSummary) -> impl Fn(&MetricEstimate) -> TrustLevel + '_ {
    |it| DistrustReason::level_of(DistrustReason::from_run(it, summary))
}

/// Outcome of results that are compared with claims.
#[derive(Debug)]
pub struct ClaimsOutcome {
    /// Whether the claims are reached. Undecided if sources conflict or no figure decides.
    pub outcome: GateOutcome,
    /// Page; `None` without comparable figures.
    pub page: Option<Document>,
    /// The page in one sentence; empty if all figures are reached.
    pub line: String,
}

impl ClaimsOutcome {
    /// Compares results, each with its trust, with claims of the systems or files `name`.
    pub fn judge(
        results: &[MetricEstimate],
        trust: impl Fn(&MetricEstimate) -> TrustLevel,
        (claims, name): (&[Claim], &str),
    ) -> Self {
        let checks = reference::check_claims(results, claims, trust);
        if checks.is_empty() {
            let line = sentence("references-nothing", &[("name", name)]);
            return Self { outcome: GateOutcome::CannotTell, page: None, line };
        }
        Self {
            outcome: claims_outcome(&checks),
            page: Some(comparison_document(&checks, name)),
            line: summarize_outcome(&checks, name),
        }
    }
}

/// Combines the verdicts: undecided if sources conflict, a miss is not shown, or no figure decides.
fn claims_outcome(checks: &[ClaimCheck<'_>]) -> GateOutcome {
    let has = |verdict| checks.iter().any(|it| it.verdict == verdict);
    if has(ClaimVerdict::Missed) {
        GateOutcome::Failed
    } else if has(ClaimVerdict::Reached)
        && !has(ClaimVerdict::Conflict)
        && !has(ClaimVerdict::CannotTell)
    {
        GateOutcome::Passed
    } else {
        GateOutcome::CannotTell
    }
}

fn comparison_document(checks: &[ClaimCheck<'_>], name: &str) -> Document {
    let mut document = Document::new(sentence("held-title", &[("name", name)]));
    document.paragraph(Tone::Bad, summarize_outcome(checks, name));
    let mut table = ReportTable::with_caption("");
    let mut notes: Vec<Note> = Vec::new();
    for check in checks {
        for (number, claim) in check.claims.iter().enumerate() {
            let first = number == 0;
            let in_first_row = |text: String| if first { text } else { String::new() };
            let published = TableCell {
                marks: note_marks(claim, &mut notes),
                ..keep_on_one_line(&format_claim(claim)).into()
            };
            let conditions = [claim.conditions.as_str(), &claim.date].map(str::trim);
            let conditions: Vec<&str> =
                conditions.into_iter().filter(|text| !text.is_empty()).collect();
            let own = in_first_row(keep_on_one_line(&precision::value(check.estimate)));
            let share = percent(100.0 * check.estimate.median / claim.quantity.value);
            table.push([
                left(message("column-what"), in_first_row(brief_name(check.estimate))),
                right(message("column-you"), own),
                right(message("column-published"), published),
                right(message("column-you-share"), share),
                left(message("column-verdict"), verdict_cell(check, claim)),
                left(message("column-conditions"), conditions.join("; ")),
            ]);
        }
    }
    let table = table.without_empty_columns().with_pinned(message("column-verdict"));
    document.blocks.push(Block::Table(table));
    document.blocks.extend((!notes.is_empty()).then_some(Block::Notes(notes)));
    let tolerance = percent(100.0 * reference::DEFAULT_TOLERANCE);
    document.paragraph(Tone::Quiet, sentence("held-explanation", &[("tolerance", &tolerance)]));
    document
}

/// Summarizes the comparison in a sentence: the results that miss their figures, else those with
/// conflicting figures, else those that show no miss. Empty if all figures are reached.
fn summarize_outcome(checks: &[ClaimCheck<'_>], name: &str) -> String {
    if checks.iter().all(|it| it.verdict == ClaimVerdict::Shown) {
        return sentence("held-count-none", &[("name", name)]);
    }
    let decided_count = checks.iter().filter(|it| it.verdict != ClaimVerdict::Shown).count();
    let describe_verdict = |id: &str, verdict: ClaimVerdict| {
        let results = checks.iter().filter(|it| it.verdict == verdict);
        let results: Vec<String> = results.map(|it| result_name(it.estimate)).collect();
        let (count, total) = (results.len().to_string(), decided_count.to_string());
        let format_sentence = || {
            let results = results.join("; ");
            sentence(id, &[("name", name), ("n", &count), ("all", &total), ("which", &results)])
        };
        (!results.is_empty()).then(format_sentence)
    };
    describe_verdict("held-count-missed", ClaimVerdict::Missed)
        .or_else(|| describe_verdict("held-count-conflict", ClaimVerdict::Conflict))
        .or_else(|| describe_verdict("held-count-undecided", ClaimVerdict::CannotTell))
        .unwrap_or_default()
}

/// Returns the verdict on one figure. With conflicting sources, a result reaches some figures and
/// misses others.
fn verdict_cell(check: &ClaimCheck<'_>, claim: &Claim) -> TableCell {
    match check.claim_verdict(claim) {
        ClaimVerdict::Reached => message("held-reached").into(),
        ClaimVerdict::Missed => TableCell { tone: Tone::Bad, ..message("held-missed").into() },
        ClaimVerdict::CannotTell => message("verdict-cannot-tell").into(),
        ClaimVerdict::Conflict | ClaimVerdict::Shown => TableCell::default(),
    }
}

/// Returns the number of the note on a figure. Figures with the same note share its number.
fn note_marks(claim: &Claim, notes: &mut Vec<Note>) -> Vec<usize> {
    if claim.note.is_empty() {
        return Vec::new();
    }
    let lines = vec![claim.note.clone()];
    let number = notes.iter().position(|it| it.lines == lines).unwrap_or_else(|| {
        let (mark, name) = (Some(notes.len() + 1), Some(format_claim(claim)));
        notes.push(Note { mark, name, tone: Tone::Quiet, lines, advice: String::new() });
        notes.len() - 1
    });
    vec![number + 1]
}

/// Replaces spaces by no-break spaces, to keep a figure and its unit on one line.
fn keep_on_one_line(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Describes a result without its benchmark, to leave room for the verdict.
fn brief_name(estimate: &MetricEstimate) -> String {
    let parameters = estimate.case.split_once('/').map_or("", |(_, rest)| rest);
    format!("{} {parameters}", estimate.metric.replace('_', " "))
}

fn result_name(estimate: &MetricEstimate) -> String {
    format!("{} {}", estimate.metric.replace('_', " "), estimate.case)
}

/// Results of a run that are judged by expectations, for the page of `compare RUN FILE|SYSTEM`.
#[derive(Debug)]
pub struct ClaimsComparison<'c> {
    summary: &'c RunSummary,
    checks: Vec<ClaimCheck<'c>>,
    /// Outcomes of gates and limits, and of entries that no result fits.
    outcomes: Vec<GateResult>,
    name: &'c str,
}

impl<'c> ClaimsComparison<'c> {
    /// Compares the results of a run with claims of the systems or files `name`, and
    /// adds the outcomes of everything else that is expected.
    ///
    /// # Errors
    /// If no result has a figure to compare with, and nothing else is expected.
    pub fn new(
        summary: &'c RunSummary,
        (claims, name): (&'c [Claim], &'c str),
        outcomes: Vec<GateResult>,
    ) -> Result<Self, CommandFailure> {
        let trust = trust_of_run(summary);
        let checks = reference::check_claims(&summary.results, claims, trust);
        if checks.is_empty() && outcomes.is_empty() {
            return Err(CommandFailure::usage(format!(
                "the run has no results with published figures of {name}"
            ))
            .advise(format!(
                "see `assay references {name}` for its figures; an imported run may lack \
                 dimensions: `assay import --set placement=node`"
            )));
        }
        Ok(Self { summary, checks, outcomes, name })
    }

    /// Returns the outcomes of gates and limits, and of entries that no result fits.
    pub fn outcomes(&self) -> &[GateResult] {
        &self.outcomes
    }

    /// Returns whether the claims are reached that have a result; `None` if none has.
    pub fn claims_outcome(&self) -> Option<GateOutcome> {
        (!self.checks.is_empty()).then(|| claims_outcome(&self.checks))
    }

    /// Returns the page of the claims; `None` if none has a result.
    pub fn claims_document(&self) -> Option<Document> {
        (!self.checks.is_empty()).then(|| comparison_document(&self.checks, self.name))
    }

    /// Returns the page of the claims and of all outcomes.
    pub fn document(&self) -> Document {
        let outcomes = gates::outcomes_page(&self.outcomes);
        match self.claims_document() {
            Some(mut document) if !self.outcomes.is_empty() => {
                document.heading(outcomes.title.clone());
                document.blocks.extend(outcomes.blocks);
                document
            }
            Some(document) => document,
            None => outcomes,
        }
    }

    /// Renders the comparison in the form of a comparison of runs: a pair for each figure.
    pub fn to_json(&self) -> String {
        comparison_json(self)
    }

    /// Renders a row for each figure.
    pub fn to_csv(&self) -> String {
        comparison_csv(&self.checks)
    }
}

/// Comparison of a run with published figures, with the members of a comparison of runs.
#[derive(Serialize)]
struct PublishedComparison<'c> {
    schema: u32,
    a: ComparedCondition,
    b: ComparedCondition,
    control: [String; 0],
    design: &'static str,
    margin: f64,
    pairs: Vec<Value>,
    unmatched: [String; 0],
    differences: [String; 0],
    #[serde(skip_serializing_if = "<[GateResult]>::is_empty")]
    gates: &'c [GateResult],
}

fn comparison_json(compared: &ClaimsComparison<'_>) -> String {
    let ClaimsComparison { summary, checks, outcomes, name } = compared;
    let pairs = checks.iter().flat_map(|check| check.claims.iter().map(|it| pair(check, it)));
    let runs = vec![summary.run.id.clone()];
    let document = PublishedComparison {
        schema: comparison::SCHEMA,
        a: ComparedCondition { name: summary.run.id.clone(), runs },
        b: ComparedCondition { name: (*name).to_owned(), runs: Vec::new() },
        control: [],
        design: "published",
        margin: reference::DEFAULT_TOLERANCE,
        pairs: pairs.collect(),
        unmatched: [],
        differences: [],
        gates: outcomes,
    };
    render::json::document(&document)
}

/// Returns a result with one of its published figures.
fn pair(check: &ClaimCheck<'_>, claim: &Claim) -> Value {
    let estimate = check.estimate;
    let figure = claim.quantity.value;
    let ratio_ci = estimate.ci.map(|[low, high]| [figure / high, figure / low]);
    json!({
        "a": render::json::result(estimate),
        "b": {
            "benchmark": estimate.benchmark,
            "case": estimate.case,
            "metric": estimate.metric,
            "unit": estimate.unit,
            "median": figure,
            "reference": claim,
        },
        "ratio": figure / estimate.median,
        "ratio_ci": ratio_ci,
        "verdict": check.verdict.name(),
    })
}

fn comparison_csv(checks: &[ClaimCheck<'_>]) -> String {
    let mut text =
        "case,metric,median,unit,published,qualifier,date,source,verdict\n".to_owned();
    let quote = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    for check in checks {
        for claim in &check.claims {
            let MetricEstimate { case, metric, median, unit, .. } = check.estimate;
            let _ = writeln!(
                text,
                "{},{metric},{median},{},{},{},{},{},{}",
                quote(case),
                unit.symbol(),
                claim.quantity.value,
                quote(claim.qualifier.word()),
                claim.date,
                quote(&claim.source),
                check.verdict.name()
            );
        }
    }
    text
}
