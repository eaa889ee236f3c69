//! Notes section: every warning once, with the results that it concerns, and every failure.

use std::collections::BTreeSet;

use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::host_names;
use assay_model::plan::Omitted;
use assay_model::summary::{CaseFailure, Estimate, Summary};

use super::context::{domains, metric_name, text};
use super::mpi::Labels;
use super::{network, words};
use crate::document::{Block, Document, Note, Tone};
use crate::locale::{comma, detailed, details, fact, semicolon, word};
use crate::words::{self as catalogue, Said};

/// Maximum number of results per text, and of texts per note.
const SHOWN: usize = 4;

/// All warnings, grouped by identifier and advice.
pub(super) struct Notes {
    groups: Vec<Group>,
}

struct Group {
    id: String,
    advice: String,
    texts: Vec<Text>,
}

/// Text of a warning, with its hosts or results.
struct Text {
    said: String,
    /// Hosts concerned, for a warning that concerns hosts and no result.
    hosts: Vec<String>,
    /// Results concerned; empty if the warning concerns the whole run.
    subjects: Vec<Subject>,
}

/// Metrics of one case.
struct Subject {
    metrics: Vec<String>,
    /// Label that distinguishes the case from the others; may be empty.
    case: String,
}

impl Notes {
    pub(super) fn collect(summary: &Summary) -> Self {
        let mut notes = Self { groups: Vec::new() };
        let labels = Labels::of(&summary.results);
        for warning in &summary.warnings {
            notes.put(warning, None);
        }
        for estimate in &summary.results {
            for warning in &estimate.warnings {
                notes.put(warning, Some(Subject::of(estimate, &labels)));
            }
        }
        notes
    }

    /// Returns the numbers of the notes about a result, in ascending order.
    pub(super) fn marks(&self, estimate: &Estimate) -> Vec<usize> {
        let belongs = |group: &Group| {
            let same =
                |it: &Doubt| it.id() == group.id && catalogue::doubt(it).advice == group.advice;
            estimate.warnings.iter().any(same)
        };
        (1..).zip(&self.groups).filter(|(_, group)| belongs(group)).map(|(i, _)| i).collect()
    }

    pub(super) fn add(&self, document: &mut Document) {
        if self.groups.is_empty() {
            return;
        }
        let note = |(mark, group): (usize, &Group)| Note {
            mark: Some(mark),
            name: group.id.clone(),
            tone: Tone::Doubt,
            lines: group.lines(),
            advice: group.advice.clone(),
        };
        document.heading(word("heading-warnings"));
        document.blocks.push(Block::Notes((1..).zip(&self.groups).map(note).collect()));
    }

    fn put(&mut self, doubt: &Doubt, subject: Option<Subject>) {
        let Said { text, advice } = catalogue::doubt(doubt);
        let of_host = catalogue::of_host(doubt).filter(|_| subject.is_none());
        let (host, said) = of_host.map_or((None, text), |(host, said)| (Some(host), said));
        let same = |group: &Group| group.id == doubt.id() && group.advice == advice;
        let index = self.groups.iter().position(same).unwrap_or_else(|| {
            let id = doubt.id().to_owned();
            self.groups.push(Group { id, advice, texts: vec![] });
            self.groups.len() - 1
        });
        let group = &mut self.groups[index];
        let is_it = |text: &Text| text.said == said && text.hosts.is_empty() == host.is_none();
        let index = group.texts.iter().position(is_it).unwrap_or_else(|| {
            group.texts.push(Text { said, hosts: vec![], subjects: vec![] });
            group.texts.len() - 1
        });
        let text = &mut group.texts[index];
        text.hosts.extend(host.map(str::to_owned));
        if let Some(subject) = subject {
            concern(&mut text.subjects, subject);
        }
    }
}

impl Group {
    fn lines(&self) -> Vec<String> {
        let (shown, left) = self.texts.split_at(self.texts.len().min(SHOWN));
        let mut lines: Vec<String> = shown.iter().map(Text::line).collect();
        let mut hosts: Vec<&str> =
            left.iter().flat_map(|text| &text.hosts).map(String::as_str).collect();
        host_names::sort(&mut hosts, |host| host);
        let is_of_hosts = |text: &Text| !text.hosts.is_empty();
        match lines.last_mut() {
            _ if left.is_empty() => {}
            Some(last) if self.texts[SHOWN - 1..].iter().all(is_of_hosts) => {
                *last = catalogue::on_more_hosts(last, &hosts);
            }
            _ => lines.push(words::and_more(left.len())),
        }
        lines
    }
}

impl Text {
    fn line(&self) -> String {
        // Hosts were added in order of completion.
        let mut hosts: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
        host_names::sort(&mut hosts, |host| host);
        match (hosts.as_slice(), self.subjects.as_slice()) {
            ([], []) => self.said.clone(),
            ([], subjects) => fact(&some(subjects), &self.said),
            (hosts, _) => fact(&catalogue::hosts(hosts), &self.said),
        }
    }
}

/// Adds the failed cases with reason and advice, grouped by equal failures. Each lists the cases
/// that were skipped because of it.
pub(in crate::build) fn add_failures(document: &mut Document, summary: &Summary) {
    if summary.failures.is_empty() {
        return;
    }
    document.heading(word("heading-failures"));
    let is_known = |case: &String| summary.failures.iter().any(|it| it.case == *case);
    let own = |it: &&CaseFailure| !it.because.as_ref().is_some_and(is_known);
    let mut groups: Vec<(Said, Vec<&CaseFailure>)> = Vec::new();
    for failure in summary.failures.iter().filter(own) {
        let words = catalogue::failure(&failure.failure);
        let same = groups
            .iter_mut()
            .find(|it| it.0.text == words.text && it.1[0].host == failure.host);
        match same {
            Some((_, failures)) => failures.push(failure),
            None => groups.push((words, vec![failure])),
        }
    }
    let mut known = BTreeSet::new();
    let note = |(mut words, failures): (Said, Vec<&CaseFailure>)| {
        // The same advice is printed once.
        if !known.insert(words.advice.clone()) {
            words.advice.clear();
        }
        let first = failures[0];
        let others: Vec<&str> = failures[1..].iter().map(|it| it.case.as_str()).collect();
        let likewise = (!others.is_empty())
            .then(|| words::failed_likewise(others.len(), &others.join(semicolon())));
        let skipped = failures.iter().filter_map(|it| skipped_because_of(&it.case, summary));
        Note {
            mark: None,
            name: match summary.hosts.len() {
                0 | 1 => first.case.clone(),
                _ => format!("{} ({})", first.case, first.host),
            },
            tone: Tone::Bad,
            lines: std::iter::once(words.text).chain(likewise).chain(skipped).collect(),
            advice: words.advice,
        }
    };
    document.blocks.push(Block::Notes(groups.into_iter().map(note).collect()));
}

/// Adds the optional benchmarks of the suite that this run omitted.
pub(super) fn add_omitted(document: &mut Document, summary: &Summary) {
    if summary.omitted.is_empty() {
        return;
    }
    document.heading(word("heading-omitted"));
    let note = |omitted: &Omitted| {
        let words = catalogue::omitted(omitted);
        let (mark, name) = (None, omitted.benchmark.clone());
        Note { mark, name, tone: Tone::Doubt, lines: vec![words.text], advice: words.advice }
    };
    document.blocks.push(Block::Notes(summary.omitted.iter().map(note).collect()));
}

fn skipped_because_of(case: &str, summary: &Summary) -> Option<String> {
    let is_one = |it: &&CaseFailure| it.because.as_deref() == Some(case);
    let skipped: Vec<&CaseFailure> = summary.failures.iter().filter(is_one).collect();
    let names = skipped.iter().map(|it| it.case.clone()).collect::<Vec<_>>();
    (!names.is_empty()).then(|| words::skipped(names.len(), &names.join(semicolon())))
}

/// Adds a subject, merging the metrics of one case.
fn concern(subjects: &mut Vec<Subject>, mut new: Subject) {
    match subjects.iter_mut().find(|subject| subject.case == new.case) {
        Some(subject) => {
            new.metrics.retain(|metric| !subject.metrics.contains(metric));
            subject.metrics.append(&mut new.metrics);
        }
        None => subjects.push(new),
    }
}

/// Returns a short label that distinguishes a case from the others: `node`, `RndRead at 10 %`.
fn case(estimate: &Estimate, labels: &Labels) -> String {
    if network::is_about(estimate) {
        return network::case_and_end(estimate);
    }
    let equations = text(estimate, Attribute::N).map(|n| format!("N\u{a0}=\u{a0}{n}"));
    let test = text(estimate, Attribute::Test).or_else(|| text(estimate, Attribute::Phase));
    let test = test.map(|test| match text(estimate, Attribute::PercentOfMax) {
        Some(percent) => say!("test-at", test = test, share = percent),
        None => test,
    });
    let bytes = text(estimate, Attribute::Bytes).filter(|_| test.is_none());
    let label = labels.label(estimate);
    // MPI ranks may run on several hosts; their label names them.
    let host = text(estimate, Attribute::Host).filter(|_| label.is_none());
    let parts = [host, label, domains(estimate), bytes, equations, test];
    details(&parts.into_iter().flatten().collect::<Vec<_>>())
}

impl Subject {
    fn of(estimate: &Estimate, labels: &Labels) -> Self {
        let metric = match network::is_about(estimate) {
            true => network::what(estimate),
            false => metric_name(estimate),
        };
        Self { metrics: vec![metric], case: case(estimate, labels) }
    }

    /// Returns `Triad, node`; only the case if three or more of its metrics are concerned.
    fn name(&self) -> String {
        let metrics = match self.metrics.as_slice() {
            [one] => one.clone(),
            [one, two] => say!("one-and-two", one = one, two = two),
            _ if self.case.is_empty() => self.metrics.join(comma()),
            _ => return self.case.clone(),
        };
        if self.case.is_empty() { metrics } else { detailed(&metrics, &self.case) }
    }
}

fn some(subjects: &[Subject]) -> String {
    let mut shown: Vec<String> = subjects.iter().take(SHOWN).map(Subject::name).collect();
    if subjects.len() > SHOWN {
        shown.push(words::and_more(subjects.len() - SHOWN));
    }
    shown.join(semicolon())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_as_what_it_is() {
        let of_host = |number: usize| Text {
            said: format!("load {number}"),
            hosts: vec![format!("h{number}")],
            subjects: vec![],
        };
        let group = |texts| Group { id: String::new(), advice: String::new(), texts };
        let last = |texts| group(texts).lines().pop().unwrap();
        let many: Vec<Text> = (1..=9).map(of_host).collect();
        assert_eq!(last(many), "h4: load 4 … and on 5 more hosts: h[5-9]");
        let whole = Text { said: "all".to_owned(), hosts: vec![], subjects: vec![] };
        let mixed: Vec<Text> = (1..=5).map(of_host).chain([whole]).collect();
        assert_eq!(last(mixed), words::and_more(2));
    }
}
