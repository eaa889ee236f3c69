//! What `assay doctor` found: deviations first, then what is as expected, then what cannot be observed.

use assay_model::finding::{Finding, Outcome, Severity};

use crate::document::{Align, Block, Document, Facts, Table, Tone};

pub(super) const NO_CHANGE: &str =
    "Nothing was changed. Decide about each printed change yourself.";
const NO_DEVIATION: &str = "No deviations found.";

/// The report of the checks of one host; with `is_full` not of the deviations alone.
#[must_use]
pub fn findings(host: &str, findings: &[Finding], is_full: bool) -> Document {
    let mut document = Document::new(format!("Benchmark configuration of {host}"));
    document.paragraph(Tone::Plain, counts(findings));
    let mut deviations = having(findings, Outcome::Deviates);
    deviations.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    if deviations.is_empty() {
        document.paragraph(Tone::Plain, NO_DEVIATION);
    } else {
        document.heading("Deviations");
        document.blocks.extend(deviations.into_iter().map(deviation));
        document.paragraph(Tone::Quiet, NO_CHANGE);
    }
    if !is_full {
        if has_more_than_deviations(findings) {
            document.paragraph(Tone::Quiet, "The other checks: `assay doctor --all`.");
        }
        return document;
    }
    short(
        &mut document,
        "As expected",
        ("observed", "expected"),
        having(findings, Outcome::Ok),
    );
    let hidden = having(findings, Outcome::NotVisible);
    short(&mut document, "Not observable here", ("reason", "expected"), hidden);
    let unreadable = having(findings, Outcome::Unreadable);
    short(&mut document, "Could not be read", ("reason", "expected"), unreadable);
    document
}

fn has_more_than_deviations(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.outcome != Outcome::Deviates)
}

fn having(findings: &[Finding], outcome: Outcome) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.outcome == outcome).collect()
}

fn counts(findings: &[Finding]) -> String {
    let count = |outcome| having(findings, outcome).len();
    format!(
        "{} checks: {} deviate, {} as expected, {} not observable here, {} could not be read.",
        findings.len(),
        count(Outcome::Deviates),
        count(Outcome::Ok),
        count(Outcome::NotVisible),
        count(Outcome::Unreadable),
    )
}

pub(super) const fn severity(severity: Severity) -> (Tone, &'static str) {
    match severity {
        Severity::Blocks => (Tone::Bad, "invalidates measurements"),
        Severity::Skews => (Tone::Doubt, "skews measurements"),
        Severity::Note => (Tone::Plain, "note"),
    }
}

fn deviation(finding: &Finding) -> Block {
    let (tone, severity) = severity(finding.severity);
    let facts = [
        ("observed", &finding.observed),
        ("expected", &finding.expected),
        ("why", &finding.why),
        ("change", &finding.change),
        ("source", &finding.source),
    ];
    let told = facts.into_iter().filter(|(_, value)| !value.is_empty());
    Block::Facts(Facts {
        title: Some(format!("{}: {severity}", finding.id)),
        tone,
        facts: told.map(|(name, value)| (name.to_owned(), value.clone())).collect(),
    })
}

fn short(
    document: &mut Document,
    heading: &str,
    titles: (&str, &str),
    findings: Vec<&Finding>,
) {
    if findings.is_empty() {
        return;
    }
    let columns = [("check", Align::Left), (titles.0, Align::Left), (titles.1, Align::Left)];
    let mut table = Table::new("", &columns);
    for finding in findings {
        table.rows.push(vec![
            finding.id.clone().into(),
            finding.observed.clone().into(),
            finding.expected.clone().into(),
        ]);
    }
    document.heading(heading);
    document.blocks.push(Block::Table(table));
}
