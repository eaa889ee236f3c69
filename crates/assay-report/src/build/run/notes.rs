//! Notes section: every warning once, with the results that it concerns, and every failure.

use std::collections::BTreeSet;

use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::host_names;
use assay_model::plan::OmittedMeasure;
use assay_model::summary::{CaseFailure, MetricEstimate, RunSummary};

use super::estimate_parts::{domain_label, metric_name, text};
use super::mpi_labels::MpiLabels;
use super::{network_labels, words};
use crate::document::{Block, Document, Note, Tone};
use crate::first_seen::group_by;
use crate::locale::{comma, format_fact, join_details, semicolon, with_detail, word};
use crate::words::{self as catalogue, Explanation};

/// Maximum number of results per text, and of texts per note.
const MAX_SHOWN: usize = 4;

/// All warnings, grouped by identifier and advice.
pub(super) struct Notes {
    groups: Vec<NoteGroup>,
}

struct NoteGroup {
    id: String,
    advice: String,
    texts: Vec<NoteText>,
}

/// Text of a warning, with its hosts or results.
struct NoteText {
    text: String,
    /// Hosts concerned, for a warning that concerns hosts and no result.
    hosts: Vec<String>,
    /// Results concerned; empty if the warning concerns the whole run.
    subjects: Vec<NoteSubject>,
}

/// Metrics of one case.
struct NoteSubject {
    metrics: Vec<String>,
    /// Label that distinguishes the case from the others; may be empty.
    case: String,
}

impl Notes {
    pub(super) fn collect(summary: &RunSummary) -> Self {
        let mut notes = Self { groups: Vec::new() };
        let labels = MpiLabels::from_results(&summary.results);
        for warning in &summary.warnings {
            notes.add_warning(warning, None);
        }
        for estimate in &summary.results {
            for warning in &estimate.warnings {
                notes.add_warning(warning, Some(NoteSubject::from_estimate(estimate, &labels)));
            }
        }
        notes
    }

    /// Returns the numbers of the notes about a result, in ascending order.
    pub(super) fn marks(&self, estimate: &MetricEstimate) -> Vec<usize> {
        let belongs = |group: &NoteGroup| {
            let is_in_group =
                |it: &Doubt| it.id() == group.id && catalogue::doubt(it).advice == group.advice;
            estimate.warnings.iter().any(is_in_group)
        };
        (1..).zip(&self.groups).filter(|(_, group)| belongs(group)).map(|(i, _)| i).collect()
    }

    pub(super) fn add(&self, document: &mut Document) {
        if self.groups.is_empty() {
            return;
        }
        let note = |(mark, group): (usize, &NoteGroup)| Note {
            mark: Some(mark),
            name: None,
            tone: Tone::Doubt,
            lines: group.lines(),
            advice: group.advice.clone(),
        };
        document.heading(word("heading-warnings"));
        document.blocks.push(Block::Notes((1..).zip(&self.groups).map(note).collect()));
    }

    fn add_warning(&mut self, doubt: &Doubt, subject: Option<NoteSubject>) {
        let Explanation { text, advice } = catalogue::doubt(doubt);
        let of_host = catalogue::host_and_text(doubt).filter(|_| subject.is_none());
        let (host, text) = of_host.map_or((None, text), |(host, text)| (Some(host), text));
        let is_same = |group: &NoteGroup| group.id == doubt.id() && group.advice == advice;
        let index = self.groups.iter().position(is_same).unwrap_or_else(|| {
            let id = doubt.id().to_owned();
            self.groups.push(NoteGroup { id, advice, texts: vec![] });
            self.groups.len() - 1
        });
        let group = &mut self.groups[index];
        let is_same_text =
            |it: &NoteText| it.text == text && it.hosts.is_empty() == host.is_none();
        let index = group.texts.iter().position(is_same_text).unwrap_or_else(|| {
            group.texts.push(NoteText { text, hosts: vec![], subjects: vec![] });
            group.texts.len() - 1
        });
        let note_text = &mut group.texts[index];
        note_text.hosts.extend(host.map(str::to_owned));
        if let Some(subject) = subject {
            add_subject(&mut note_text.subjects, subject);
        }
    }
}

impl NoteGroup {
    fn lines(&self) -> Vec<String> {
        let (shown, left) = self.texts.split_at(self.texts.len().min(MAX_SHOWN));
        let mut lines: Vec<String> = shown.iter().map(NoteText::line).collect();
        let mut hosts: Vec<&str> =
            left.iter().flat_map(|text| &text.hosts).map(String::as_str).collect();
        host_names::sort_naturally(&mut hosts, |host| host);
        let is_of_hosts = |text: &NoteText| !text.hosts.is_empty();
        match lines.last_mut() {
            _ if left.is_empty() => {}
            Some(last) if self.texts[MAX_SHOWN - 1..].iter().all(is_of_hosts) => {
                *last = catalogue::with_other_hosts(last, &hosts);
            }
            _ => lines.push(words::and_more(left.len())),
        }
        lines
    }
}

impl NoteText {
    fn line(&self) -> String {
        // Hosts were added in order of completion.
        let mut hosts: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
        host_names::sort_naturally(&mut hosts, |host| host);
        match (hosts.as_slice(), self.subjects.as_slice()) {
            ([], []) => self.text.clone(),
            ([], subjects) => format_fact(&subject_names(subjects), &self.text),
            (hosts, _) => format_fact(&catalogue::hosts(hosts), &self.text),
        }
    }
}

/// Adds the failed cases with reason and advice, grouped by equal failures. Each lists the cases
/// that were skipped because of it.
pub(in crate::build) fn add_failures(document: &mut Document, summary: &RunSummary) {
    if summary.failures.is_empty() {
        return;
    }
    document.heading(word("heading-failures"));
    let is_known = |case: &String| summary.failures.iter().any(|it| it.case == *case);
    let is_root_cause = |it: &&CaseFailure| !it.because.as_ref().is_some_and(is_known);
    let groups = group_by(summary.failures.iter().filter(is_root_cause), |it| {
        (catalogue::failure(&it.failure).text, it.host.clone())
    });
    let mut printed_advice = BTreeSet::new();
    let note = |failures: Vec<&CaseFailure>| {
        let mut words = catalogue::failure(&failures[0].failure);
        // The same advice is printed once.
        if !printed_advice.insert(words.advice.clone()) {
            words.advice.clear();
        }
        let first = failures[0];
        let others: Vec<&str> = failures[1..].iter().map(|it| it.case.as_str()).collect();
        let likewise = (!others.is_empty())
            .then(|| words::more_failures(others.len(), &others.join(semicolon())));
        let skipped = failures.iter().filter_map(|it| skipped_because_of(&it.case, summary));
        Note {
            mark: None,
            name: Some(match summary.hosts.len() {
                0 | 1 => first.case.clone(),
                _ => format!("{} ({})", first.case, first.host),
            }),
            tone: Tone::Bad,
            lines: std::iter::once(words.text).chain(likewise).chain(skipped).collect(),
            advice: words.advice,
        }
    };
    document.blocks.push(Block::Notes(groups.into_iter().map(note).collect()));
}

/// Adds the optional benchmarks of the suite that this run omitted.
pub(super) fn add_omitted(document: &mut Document, summary: &RunSummary) {
    if summary.omitted.is_empty() {
        return;
    }
    document.heading(word("heading-omitted"));
    let note = |omitted: &OmittedMeasure| {
        let words = catalogue::omitted(omitted);
        let (mark, name) = (None, Some(omitted.benchmark.clone()));
        Note { mark, name, tone: Tone::Doubt, lines: vec![words.text], advice: words.advice }
    };
    document.blocks.push(Block::Notes(summary.omitted.iter().map(note).collect()));
}

fn skipped_because_of(case: &str, summary: &RunSummary) -> Option<String> {
    let is_one = |it: &&CaseFailure| it.because.as_deref() == Some(case);
    let skipped: Vec<&CaseFailure> = summary.failures.iter().filter(is_one).collect();
    let names = skipped.iter().map(|it| it.case.clone()).collect::<Vec<_>>();
    (!names.is_empty()).then(|| words::skipped_cases(names.len(), &names.join(semicolon())))
}

/// Adds a subject, merging the metrics of one case.
fn add_subject(subjects: &mut Vec<NoteSubject>, mut new: NoteSubject) {
    match subjects.iter_mut().find(|subject| subject.case == new.case) {
        Some(subject) => {
            new.metrics.retain(|metric| !subject.metrics.contains(metric));
            subject.metrics.append(&mut new.metrics);
        }
        None => subjects.push(new),
    }
}

/// Returns a short label that distinguishes a case from the others: `node`, `RndRead at 10 %`.
fn case_label(estimate: &MetricEstimate, labels: &MpiLabels) -> String {
    if network_labels::is_network(estimate) {
        return network_labels::case_and_end(estimate);
    }
    let equations = text(estimate, Attribute::N).map(|n| format!("N\u{a0}=\u{a0}{n}"));
    let test = text(estimate, Attribute::Test).or_else(|| text(estimate, Attribute::Phase));
    let test = test.map(|test| match text(estimate, Attribute::PercentOfMax) {
        Some(percent) => message!("test-at", test = test, share = percent),
        None => test,
    });
    let bytes = text(estimate, Attribute::Bytes).filter(|_| test.is_none());
    let label = labels.label(estimate);
    // MPI ranks may run on several hosts; their label names them.
    let host = text(estimate, Attribute::Host).filter(|_| label.is_none());
    let program = text(estimate, Attribute::Program);
    let parts = [host, label, domain_label(estimate), bytes, equations, program, test];
    join_details(&parts.into_iter().flatten().collect::<Vec<_>>())
}

impl NoteSubject {
    fn from_estimate(estimate: &MetricEstimate, labels: &MpiLabels) -> Self {
        let metric = match network_labels::is_network(estimate) {
            true => network_labels::metric_label(estimate),
            false => metric_name(estimate),
        };
        Self { metrics: vec![metric], case: case_label(estimate, labels) }
    }

    /// Returns `Triad, node`; only the case if three or more of its metrics are concerned.
    fn name(&self) -> String {
        let metrics = match self.metrics.as_slice() {
            [one] => one.clone(),
            [one, two] => message!("one-and-two", one = one, two = two),
            _ if self.case.is_empty() => self.metrics.join(comma()),
            _ => return self.case.clone(),
        };
        if self.case.is_empty() { metrics } else { with_detail(&metrics, &self.case) }
    }
}

fn subject_names(subjects: &[NoteSubject]) -> String {
    let mut names: Vec<String> =
        subjects.iter().take(MAX_SHOWN).map(NoteSubject::name).collect();
    if subjects.len() > MAX_SHOWN {
        names.push(words::and_more(subjects.len() - MAX_SHOWN));
    }
    names.join(semicolon())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_omitted_hosts_and_texts() {
        let of_host = |number: usize| NoteText {
            text: format!("load {number}"),
            hosts: vec![format!("h{number}")],
            subjects: vec![],
        };
        let group = |texts| NoteGroup { id: String::new(), advice: String::new(), texts };
        let last = |texts| group(texts).lines().pop().unwrap();
        let many: Vec<NoteText> = (1..=9).map(of_host).collect();
        assert_eq!(last(many), "h4: load 4 … and on 5 more hosts: h[5-9]");
        let whole = NoteText { text: "all".to_owned(), hosts: vec![], subjects: vec![] };
        let mixed: Vec<NoteText> = (1..=5).map(of_host).chain([whole]).collect();
        assert_eq!(last(mixed), words::and_more(2));
    }
}
