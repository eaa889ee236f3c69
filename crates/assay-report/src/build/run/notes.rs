//! Every warning once, with the results it concerns, and every failure.

use assay_model::summary::{Estimate, Summary};
use assay_model::warning::Warning;

use super::context::{metric_name, text};
use super::mpi::Labels;
use super::words;
use crate::document::{Block, Document, Note, Tone};

/// Results named with one text, and texts named under one note.
const SHOWN: usize = 4;

/// All warnings, grouped by what they are and what to do about them.
pub(super) struct Notes {
    groups: Vec<Group>,
}

struct Group {
    id: String,
    advice: String,
    /// Each distinct text with the results it is about; none when it is about the whole run.
    texts: Vec<(String, Vec<String>)>,
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
                notes.put(warning, Some(subject(estimate, &labels)));
            }
        }
        notes
    }

    /// The numbers of the notes about a result, ascending.
    pub(super) fn marks(&self, estimate: &Estimate) -> Vec<usize> {
        let belongs = |group: &Group| {
            let same = |w: &Warning| w.id == group.id && w.advice == group.advice;
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
        document.heading(words::DOUBTS);
        document.blocks.push(Block::Notes((1..).zip(&self.groups).map(note).collect()));
    }

    fn put(&mut self, warning: &Warning, subject: Option<String>) {
        let same = |group: &Group| group.id == warning.id && group.advice == warning.advice;
        let index = self.groups.iter().position(same).unwrap_or_else(|| {
            let (id, advice) = (warning.id.clone(), warning.advice.clone());
            self.groups.push(Group { id, advice, texts: vec![] });
            self.groups.len() - 1
        });
        let group = &mut self.groups[index];
        match group.texts.iter_mut().find(|(text, _)| *text == warning.text) {
            Some((_, subjects)) => subjects.extend(subject),
            None => group.texts.push((warning.text.clone(), subject.into_iter().collect())),
        }
    }
}

impl Group {
    fn lines(&self) -> Vec<String> {
        let line = |(text, subjects): &(String, Vec<String>)| {
            if subjects.is_empty() {
                text.clone()
            } else {
                format!("{}: {text}", some(subjects))
            }
        };
        let mut lines: Vec<String> = self.texts.iter().take(SHOWN).map(line).collect();
        let left = self.texts.len().saturating_sub(SHOWN);
        if left > 0 {
            lines.push(words::and_more(left));
        }
        lines
    }
}

/// The failed cases with reason and advice.
pub(super) fn add_failures(document: &mut Document, summary: &Summary) {
    if summary.failures.is_empty() {
        return;
    }
    document.heading(words::FAILURES);
    let notes = summary.failures.iter().map(|failure| Note {
        mark: None,
        name: failure.case.clone(),
        tone: Tone::Bad,
        lines: vec![failure.reason.clone()],
        advice: failure.advice.clone(),
    });
    document.blocks.push(Block::Notes(notes.collect()));
}

/// What tells a result from its neighbours, in few words: `Triad, node`.
fn subject(estimate: &Estimate, labels: &Labels) -> String {
    let equations = text(estimate, "n").map(|n| format!("N\u{a0}=\u{a0}{n}"));
    let test = text(estimate, "test").map(|test| match text(estimate, "percent_of_max") {
        Some(percent) => format!("{test} at {percent}"),
        None => test,
    });
    let bytes = text(estimate, "bytes").filter(|_| test.is_none());
    let parts = [labels.label(estimate), text(estimate, "placement"), bytes, equations, test];
    std::iter::once(metric_name(estimate))
        .chain(parts.into_iter().flatten())
        .collect::<Vec<_>>()
        .join(", ")
}

fn some(subjects: &[String]) -> String {
    let mut shown: Vec<String> = subjects.iter().take(SHOWN).cloned().collect();
    if subjects.len() > SHOWN {
        shown.push(words::and_more(subjects.len() - SHOWN));
    }
    shown.join("; ")
}
