//! Report of `assay doctor`: deviations first, then passed checks, then checks that could not be
//! observed.

use assay_model::finding::{Finding, Outcome, Severity};

use crate::document::{Align, Block, Document, Facts, Table, Tone};
use crate::locale::{translated, word};
use crate::words::phrase;

/// Builds the report of the checks of one host. With `others`, the command that shows the rest, it
/// contains deviations only.
#[must_use]
pub fn findings(host: &str, findings: &[Finding], others: Option<&str>) -> Document {
    let mut document = Document::new(say!("doctor-title", host = host));
    document.paragraph(Tone::Plain, counts(findings));
    let mut deviations = having(findings, Outcome::Deviates);
    deviations.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    if deviations.is_empty() {
        document.paragraph(Tone::Plain, word("doctor-no-deviation"));
    } else {
        document.heading(word("doctor-deviations"));
        document.blocks.extend(deviations.into_iter().map(deviation));
        document.paragraph(Tone::Quiet, word("doctor-no-change"));
    }
    // If nothing could be observed, the checks are listed all the same.
    let is_all_unseen = findings
        .iter()
        .all(|it| matches!(it.outcome, Outcome::NotVisible | Outcome::Unreadable));
    if let (Some(command), false) = (others, is_all_unseen) {
        if has_more_than_deviations(findings) {
            document.paragraph(Tone::Quiet, say!("doctor-others", command = command));
        }
        return document;
    }
    short(
        &mut document,
        word("doctor-as-expected"),
        (word("column-observed"), word("column-expected")),
        having(findings, Outcome::Ok),
    );
    let hidden = having(findings, Outcome::NotVisible);
    short(
        &mut document,
        word("doctor-hidden"),
        (word("column-reason"), word("column-expected")),
        hidden,
    );
    let unreadable = having(findings, Outcome::Unreadable);
    short(
        &mut document,
        word("doctor-unreadable"),
        (word("column-reason"), word("column-expected")),
        unreadable,
    );
    document
}

fn has_more_than_deviations(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.outcome != Outcome::Deviates)
}

fn having(findings: &[Finding], outcome: Outcome) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.outcome == outcome).collect()
}

fn counts(findings: &[Finding]) -> String {
    let count = |outcome| having(findings, outcome).len().to_string();
    say!(
        "doctor-counts",
        all = findings.len(),
        bad = count(Outcome::Deviates),
        good = count(Outcome::Ok),
        hidden = count(Outcome::NotVisible),
        unread = count(Outcome::Unreadable),
    )
}

pub(super) fn severity(severity: Severity) -> (Tone, &'static str) {
    match severity {
        Severity::Blocks => (Tone::Bad, word("severity-blocks")),
        Severity::Skews => (Tone::Doubt, word("severity-skews")),
        Severity::Note => (Tone::Plain, word("severity-note")),
    }
}

/// Returns the expectation of a check.
pub(super) fn expected(finding: &Finding) -> &str {
    of_check(finding, "expected", &finding.expected)
}

/// Translates a text of a check. Findings carry English texts, and those of a host with another
/// version of assay may have no translation; these stay in English.
pub(super) fn of_check<'f>(finding: &Finding, part: &str, english: &'f str) -> &'f str {
    let id = format!("check-{}.{part}", finding.id.replace('.', "-"));
    translated(&id).unwrap_or(english)
}

/// Returns the observation of a check.
pub(super) fn observed(finding: &Finding) -> String {
    finding.seen.as_ref().map_or_else(|| finding.observed.clone(), phrase)
}

fn deviation(finding: &Finding) -> Block {
    let (tone, severity) = severity(finding.severity);
    let observed = observed(finding);
    let facts = [
        (word("column-observed"), observed.as_str()),
        (word("column-expected"), expected(finding)),
        (word("column-why"), of_check(finding, "why", &finding.why)),
        (word("column-change"), of_check(finding, "change", &finding.change)),
        (word("column-source"), finding.source.as_str()),
    ];
    let reported = facts.into_iter().filter(|(_, value)| !value.is_empty());
    Block::Facts(Facts {
        title: Some(format!("{}: {severity}", finding.id)),
        tone,
        facts: reported.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
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
    let columns =
        [(word("column-check"), Align::Left), (titles.0, Align::Left), (titles.1, Align::Left)];
    let mut table = Table::new("", &columns);
    for finding in findings {
        table.rows.push(vec![
            finding.id.clone().into(),
            observed(finding).into(),
            expected(finding).into(),
        ]);
    }
    document.heading(heading);
    document.blocks.push(Block::Table(table));
}
