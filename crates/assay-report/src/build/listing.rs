//! The list of stored runs.

use std::collections::BTreeSet;

use assay_model::event::Status;
use assay_model::quantity::Quantity;

use crate::document::{Align, Block, Cell, Document, Note, Table, Tone};
use crate::units;

/// One stored run, as the list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRun {
    /// Identifier; it begins with the time.
    pub id: String,
    /// What the user calls the condition it was measured under; empty without one.
    pub label: String,
    /// What the user says about it; empty without a word.
    pub note: String,
    /// Name of the suite.
    pub suite: String,
    /// How it ended.
    pub status: Status,
    /// A process is writing it.
    pub running: bool,
    /// Cases whose samples count, cases that failed, cases in the plan.
    pub cases: [usize; 3],
    /// Name of the host.
    pub host: String,
    /// Whether everything that was written of it can be read.
    pub is_whole: bool,
    /// The values to see first.
    pub headlines: Vec<(String, Quantity)>,
    /// Whether they can be relied on.
    pub is_trusted: bool,
}

const TITLE: &str = "Runs";
const EMPTY: &str = "There are no runs yet.";
const UNREADABLE: &str = "Unreadable";
const UNREADABLE_ADVICE: &str = "its folder may be deleted; nothing else depends on it";

/// The list of runs, in the order given, how many others failed without a result, and of folders that hold no readable run with the reason.
#[must_use]
pub fn listing(
    runs: &[ListedRun],
    unreadable: &[(String, String)],
    without_result: usize,
) -> Document {
    let mut document = Document::new(TITLE);
    if runs.is_empty() && without_result > 0 {
        document.paragraph(Tone::Plain, "No run has a result.");
    } else if runs.is_empty() {
        document.paragraph(Tone::Plain, EMPTY);
    } else {
        document.blocks.push(Block::Table(table(runs)));
    }
    let runs = match without_result {
        0 => String::new(),
        1 => "1 run failed without a result".to_owned(),
        more => format!("{more} runs failed without a result"),
    };
    if !runs.is_empty() {
        let ways = "`assay list --all` shows them, `assay prune --failed` removes them";
        document.paragraph(Tone::Quiet, format!("{runs}: {ways}."));
    }
    if !unreadable.is_empty() {
        document.heading(UNREADABLE);
        let note = |(id, reason): &(String, String)| Note {
            mark: None,
            name: id.clone(),
            tone: Tone::Doubt,
            lines: vec![reason.clone()],
            advice: UNREADABLE_ADVICE.to_owned(),
        };
        document.blocks.push(Block::Notes(unreadable.iter().map(note).collect()));
    }
    document
}

fn table(runs: &[ListedRun]) -> Table {
    let columns = [
        ("run", Align::Left),
        ("label", Align::Left),
        ("suite", Align::Left),
        ("state", Align::Left),
        ("cases", Align::Right),
        ("host", Align::Left),
        ("values", Align::Left),
        ("note", Align::Left),
    ];
    let hosts: BTreeSet<&str> = runs.iter().map(|run| run.host.as_str()).collect();
    let mut table = Table::new("", &columns);
    for run in runs {
        let (tone, state) = state(run);
        let [finished, _, planned] = run.cases;
        let host = if hosts.len() > 1 { run.host.as_str() } else { "" };
        table.rows.push(vec![
            run.id.clone().into(),
            run.label.clone().into(),
            run.suite.clone().into(),
            Cell { text: state.to_owned(), tone, ..Cell::default() },
            format!("{finished}/{planned}").into(),
            host.into(),
            values(&run.headlines).into(),
            run.note.clone().into(),
        ]);
    }
    table.without_empty_columns()
}

/// A run that lost events says so whatever its end was: `show` names the lines.
const fn state(run: &ListedRun) -> (Tone, &'static str) {
    if !run.is_whole {
        return (Tone::Bad, "damaged");
    }
    match run.status {
        Status::Complete if !run.is_trusted => (Tone::Doubt, "untrusted"),
        Status::Complete => (Tone::Plain, "complete"),
        Status::Failed => (Tone::Bad, "failed"),
        Status::Partial => (Tone::Doubt, "partial"),
        Status::Interrupted => (Tone::Doubt, "interrupted"),
        Status::Unfinished if run.running => (Tone::Plain, "running"),
        Status::Unfinished => (Tone::Doubt, "killed"),
    }
}

fn values(headlines: &[(String, Quantity)]) -> String {
    let value = |(label, quantity): &(String, Quantity)| {
        units::joined(&format!("{label} {quantity:.3}"))
    };
    headlines.iter().map(value).collect::<Vec<_>>().join(", ")
}
