//! Report of `assay doctor`: deviations first, then passed checks, then checks that could not be
//! observed.

use assay_model::finding::{CheckOutcome, DoctorFinding, FindingSeverity};

use crate::document::{Block, Document, FactTable, ReportTable, Tone, left};
use crate::locale::{translate, word};
use crate::words::phrase;

/// Builds the report of the checks of one host. With `others`, the command that shows the rest, it
/// contains deviations only.
pub fn findings(host: &str, findings: &[DoctorFinding], others: Option<&str>) -> Document {
    let mut document = Document::new(message!("doctor-title", host = host));
    document.paragraph(Tone::Plain, counts(findings));
    let mut deviations = with_outcome(findings, CheckOutcome::Deviates);
    deviations.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    if deviations.is_empty() {
        document.paragraph(Tone::Plain, word("doctor-no-deviation"));
    } else {
        document.heading(word("doctor-deviations"));
        let block = |it: &DoctorFinding| deviation_block(it, &observed_text(it), &it.source);
        document.blocks.extend(deviations.into_iter().map(block));
        document.paragraph(Tone::Quiet, word("doctor-no-change"));
    }
    // If nothing could be observed, the checks are listed all the same.
    let is_all_unseen = findings
        .iter()
        .all(|it| matches!(it.outcome, CheckOutcome::NotVisible | CheckOutcome::Unreadable));
    if let (Some(command), false) = (others, is_all_unseen) {
        if has_more_than_deviations(findings) {
            document.paragraph(Tone::Quiet, message!("doctor-others", command = command));
        }
        return document;
    }
    for (heading, observed, outcome) in [
        ("doctor-as-expected", "column-observed", CheckOutcome::Ok),
        ("doctor-hidden", "column-reason", CheckOutcome::NotVisible),
        ("doctor-unreadable", "column-reason", CheckOutcome::Unreadable),
    ] {
        add_table(&mut document, (heading, observed), with_outcome(findings, outcome));
    }
    document
}

fn has_more_than_deviations(findings: &[DoctorFinding]) -> bool {
    findings.iter().any(|finding| finding.outcome != CheckOutcome::Deviates)
}

fn with_outcome(findings: &[DoctorFinding], outcome: CheckOutcome) -> Vec<&DoctorFinding> {
    findings.iter().filter(|finding| finding.outcome == outcome).collect()
}

fn counts(findings: &[DoctorFinding]) -> String {
    let count = |outcome| with_outcome(findings, outcome).len().to_string();
    message!(
        "doctor-counts",
        all = findings.len(),
        bad = count(CheckOutcome::Deviates),
        good = count(CheckOutcome::Ok),
        hidden = count(CheckOutcome::NotVisible),
        unread = count(CheckOutcome::Unreadable),
    )
}

fn severity(severity: FindingSeverity) -> (Tone, &'static str) {
    match severity {
        FindingSeverity::Blocks => (Tone::Bad, word("severity-blocks")),
        FindingSeverity::Skews => (Tone::Doubt, word("severity-skews")),
        FindingSeverity::Note => (Tone::Plain, word("severity-note")),
    }
}

/// Returns the expectation of a check.
fn expected_text(finding: &DoctorFinding) -> &str {
    translated_check(finding, "expected", &finding.expected)
}

/// Translates a text of a check. Findings carry English texts, and those of a host with another
/// version of assay may have no translation; these stay in English.
fn translated_check<'f>(finding: &DoctorFinding, part: &str, english: &'f str) -> &'f str {
    let id = format!("check-{}.{part}", finding.id.replace('.', "-"));
    translate(&id).unwrap_or(english)
}

/// Returns the observation of a check.
pub(super) fn observed_text(finding: &DoctorFinding) -> String {
    finding.seen.as_ref().map_or_else(|| finding.observed.clone(), phrase)
}

/// Returns the facts about a deviating check, which observed this text.
pub(super) fn deviation_block(finding: &DoctorFinding, observed: &str, source: &str) -> Block {
    let (tone, severity) = severity(finding.severity);
    let facts = [
        (word("column-observed"), observed),
        (word("column-expected"), expected_text(finding)),
        (word("column-why"), translated_check(finding, "why", &finding.why)),
        (word("column-change"), translated_check(finding, "change", &finding.change)),
        (word("column-source"), source),
    ];
    let reported = facts.into_iter().filter(|(_, value)| !value.is_empty());
    Block::Facts(FactTable {
        title: Some(format!("{}: {severity}", finding.id)),
        tone,
        facts: reported.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
    })
}

fn add_table(
    document: &mut Document,
    (heading, observed): (&str, &str),
    findings: Vec<&DoctorFinding>,
) {
    if findings.is_empty() {
        return;
    }
    let mut table = ReportTable::with_caption("");
    for finding in findings {
        table.push([
            left(word("column-check"), &*finding.id),
            left(word(observed), observed_text(finding)),
            left(word("column-expected"), expected_text(finding)),
        ]);
    }
    document.heading(word(heading));
    document.blocks.push(Block::Table(table));
}
