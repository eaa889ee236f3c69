//! List of stored runs.

use std::collections::BTreeSet;

use assay_model::doubt::TrustLevel;
use assay_model::event::RunStatus;
use assay_model::quantity::Quantity;

use crate::document::{Block, Document, Note, ReportTable, TableCell, Tone, left, right};
use crate::locale::{comma, local_minute, word};
use crate::{precision, units};

/// Stored run as the list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRun<'r> {
    /// Identifier; starts with the time.
    pub id: &'r str,
    /// Label of the condition; empty if there is none.
    pub label: &'r str,
    /// Note of the user; empty if there is none.
    pub note: &'r str,
    /// Start in UTC (RFC 3339).
    pub started: &'r str,
    /// Name of the suite.
    pub suite: &'r str,
    /// Status at its end.
    pub status: RunStatus,
    /// Whether a process is still writing it.
    pub is_running: bool,
    /// Cases with valid samples, failed cases, planned cases.
    pub cases: [usize; 3],
    /// Name of the host.
    pub host: &'r str,
    /// Number of further hosts.
    pub other_hosts: usize,
    /// Whether all stored events can be read.
    pub is_readable: bool,
    /// Headline values.
    pub headlines: Vec<(&'r str, Quantity)>,
    /// Level of trust in the headline values.
    pub trust: TrustLevel,
}

/// Numbers of stored runs that are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HiddenRuns {
    /// Runs that ended without a result.
    pub without_result: usize,
    /// Runs that do not match the request.
    pub not_matching: usize,
}

/// Builds the list of runs in the given order, with the number of hidden runs. Folders without a
/// readable run follow with the reason.
pub fn listing(
    runs: &[ListedRun<'_>],
    unreadable: &[(String, String)],
    HiddenRuns { without_result, not_matching: unasked }: HiddenRuns,
) -> Document {
    let mut document = Document::new(word("list-title"));
    if runs.is_empty() && without_result > 0 {
        document.paragraph(Tone::Plain, word("list-no-result"));
    } else if runs.is_empty() && unasked > 0 {
        document.paragraph(Tone::Plain, message!("list-no-match", n = unasked));
    } else if runs.is_empty() {
        document.paragraph(Tone::Plain, word("list-empty"));
    } else {
        document.blocks.push(Block::Table(table(runs)));
    }
    if without_result > 0 {
        document.paragraph(Tone::Quiet, message!("list-without-result", n = without_result));
    }
    if !unreadable.is_empty() {
        document.heading(word("list-unreadable"));
        let note = |(id, reason): &(String, String)| Note {
            mark: None,
            name: Some(id.clone()),
            tone: Tone::Doubt,
            lines: vec![reason.clone()],
            advice: message!("list-unreadable-advice", id = id),
        };
        document.blocks.push(Block::Notes(unreadable.iter().map(note).collect()));
    }
    document
}

fn table(runs: &[ListedRun<'_>]) -> ReportTable {
    let hosts: BTreeSet<(&str, usize)> =
        runs.iter().map(|run| (run.host, run.other_hosts)).collect();
    let mut table = ReportTable::with_caption("");
    for run in runs {
        let (tone, state) = state_label(run);
        let [finished, _, planned] = run.cases;
        let (all, first) = format_values(&run.headlines);
        let started = local_minute(run.started).unwrap_or_default();
        let started = units::with_no_break_spaces(&started);
        let host = if hosts.len() > 1 { host_label(run) } else { String::new() };
        // `assay show` starts with the note.
        let note = TableCell::with_short(run.note, Some(String::new()));
        // The identifier contains the time in UTC.
        let started = TableCell::with_short(started, Some(String::new()));
        table.push([
            left(word("column-run"), run.id),
            left(word("column-started"), started),
            left(word("column-label"), run.label),
            left(word("column-suite"), run.suite),
            left(word("column-state"), TableCell::with_tone(state, tone)),
            right(word("column-cases"), format!("{finished}/{planned}")),
            left(word("column-host"), host),
            left(word("column-values"), TableCell::with_short(all, Some(first))),
            left(word("column-note"), note),
        ]);
    }
    table.without_empty_columns()
}

pub(crate) fn host_label(run: &ListedRun<'_>) -> String {
    match run.other_hosts {
        0 => run.host.to_owned(),
        others => format!("{} {}", run.host, message!("and-more", n = others.to_string())),
    }
}

/// Returns the state of a run. Lost events take precedence over its end; `show` lists the lines.
pub(crate) fn state_label(run: &ListedRun<'_>) -> (Tone, &'static str) {
    if !run.is_readable {
        return (Tone::Bad, word("state-damaged"));
    }
    match run.status {
        RunStatus::Complete => match run.trust {
            TrustLevel::Sound => (Tone::Plain, word("state-complete")),
            TrustLevel::Noisy => (Tone::Doubt, word("state-noisy")),
            TrustLevel::Suspect => (Tone::Bad, word("state-suspect")),
        },
        RunStatus::Failed => (Tone::Bad, word("state-failed")),
        RunStatus::Partial => (Tone::Doubt, word("state-partial")),
        RunStatus::Interrupted => (Tone::Doubt, word("state-interrupted")),
        RunStatus::Unfinished if run.is_running => (Tone::Plain, word("state-running")),
        RunStatus::Unfinished => (Tone::Doubt, word("state-killed")),
    }
}

/// Returns all values, and the first one with its label for narrow tables.
///
/// Each value is formatted only once, because a list may have thousands of runs.
pub(crate) fn format_values(headlines: &[(&str, Quantity)]) -> (String, String) {
    let quantity = |(_, it): &(&str, Quantity)| precision::format_value(it.value, it.unit, 3);
    let formatted: Vec<String> = headlines.iter().map(quantity).collect();
    let labels: Vec<String> =
        headlines.iter().map(|(label, _)| crate::words::headline(label)).collect();
    let (Some(label), Some(first)) = (labels.first(), formatted.first()) else {
        return Default::default();
    };
    let more = if headlines.len() > 1 { " …" } else { "" };
    let first = format!("{label} {}{more}", units::with_no_break_spaces(first));
    let value = |(index, label): (usize, &String)| {
        // Rate and bandwidth of one test share a label.
        let is_repeated = index > 0 && labels[index - 1] == *label;
        units::with_no_break_spaces(&if is_repeated {
            formatted[index].clone()
        } else {
            format!("{label} {}", formatted[index])
        })
    };
    (labels.iter().enumerate().map(value).collect::<Vec<_>>().join(comma()), first)
}
