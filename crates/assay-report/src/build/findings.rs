//! Report of `assay doctor`: deviations first, then passed checks, then checks that could not be
//! observed.

use assay_model::finding::{CheckOutcome, DoctorFinding, FindingSeverity};

use crate::document::{Block, ColumnAlignment, Document, FactTable, ReportTable, Tone};
use crate::locale::{translate, word};
use crate::words::phrase;

/// Builds the report of the checks of one host. With `others`, the command that shows the rest, it
/// contains deviations only.
#[must_use]
pub fn findings(host: &str, findings: &[DoctorFinding], others: Option<&str>) -> Document {
    let mut document = Document::new(message!("doctor-title", host = host));
    document.paragraph(Tone::Plain, counts(findings));
    let mut deviations = with_outcome(findings, CheckOutcome::Deviates);
    deviations.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    if deviations.is_empty() {
        document.paragraph(Tone::Plain, word("doctor-no-deviation"));
    } else {
        document.heading(word("doctor-deviations"));
        document.blocks.extend(deviations.into_iter().map(deviation_block));
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
    add_table(
        &mut document,
        word("doctor-as-expected"),
        (word("column-observed"), word("column-expected")),
        with_outcome(findings, CheckOutcome::Ok),
    );
    let hidden = with_outcome(findings, CheckOutcome::NotVisible);
    add_table(
        &mut document,
        word("doctor-hidden"),
        (word("column-reason"), word("column-expected")),
        hidden,
    );
    let unreadable = with_outcome(findings, CheckOutcome::Unreadable);
    add_table(
        &mut document,
        word("doctor-unreadable"),
        (word("column-reason"), word("column-expected")),
        unreadable,
    );
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

pub(super) fn severity(severity: FindingSeverity) -> (Tone, &'static str) {
    match severity {
        FindingSeverity::Blocks => (Tone::Bad, word("severity-blocks")),
        FindingSeverity::Skews => (Tone::Doubt, word("severity-skews")),
        FindingSeverity::Note => (Tone::Plain, word("severity-note")),
    }
}

/// Returns the expectation of a check.
pub(super) fn expected_text(finding: &DoctorFinding) -> &str {
    translated_check(finding, "expected", &finding.expected)
}

/// Translates a text of a check. Findings carry English texts, and those of a host with another
/// version of assay may have no translation; these stay in English.
pub(super) fn translated_check<'f>(
    finding: &DoctorFinding,
    part: &str,
    english: &'f str,
) -> &'f str {
    let id = format!("check-{}.{part}", finding.id.replace('.', "-"));
    translate(&id).unwrap_or(english)
}

/// Returns the observation of a check.
pub(super) fn observed_text(finding: &DoctorFinding) -> String {
    finding.seen.as_ref().map_or_else(|| finding.observed.clone(), phrase)
}

fn deviation_block(finding: &DoctorFinding) -> Block {
    let (tone, severity) = severity(finding.severity);
    let observed = observed_text(finding);
    let facts = [
        (word("column-observed"), observed.as_str()),
        (word("column-expected"), expected_text(finding)),
        (word("column-why"), translated_check(finding, "why", &finding.why)),
        (word("column-change"), translated_check(finding, "change", &finding.change)),
        (word("column-source"), finding.source.as_str()),
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
    heading: &str,
    titles: (&str, &str),
    findings: Vec<&DoctorFinding>,
) {
    if findings.is_empty() {
        return;
    }
    let columns = [
        (word("column-check"), ColumnAlignment::Left),
        (titles.0, ColumnAlignment::Left),
        (titles.1, ColumnAlignment::Left),
    ];
    let mut table = ReportTable::new("", &columns);
    for finding in findings {
        table.rows.push(vec![
            finding.id.clone().into(),
            observed_text(finding).into(),
            expected_text(finding).into(),
        ]);
    }
    document.heading(heading);
    document.blocks.push(Block::Table(table));
}
