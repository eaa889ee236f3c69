//! List of runs: its rows on the terminal and in a site, and its document for programs.

use std::collections::BTreeSet;

use assay_model::doubt::TrustLevel;
use assay_model::event::RunStatus;
use assay_model::quantity::Quantity;
use assay_model::spelling::nearest_word;
use assay_report::build::ListedRun;
use assay_run::failure::CommandFailure;
use assay_store::{ListEntry, RunFilter, RunListing};
use serde::Serialize;

/// Machine-readable list.
#[derive(Debug, Serialize)]
pub struct ListDocument<'l> {
    runs: Vec<ListedEntry<'l>>,
    unreadable: Vec<UnreadableRun<'l>>,
}

#[derive(Debug, Serialize)]
struct ListedEntry<'l> {
    id: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'l str>,
    suite: &'l str,
    started: &'l str,
    finished: Option<&'l str>,
    status: RunStatus,
    running: bool,
    cases_planned: usize,
    cases_finished: usize,
    cases_failed: usize,
    host: &'l str,
    other_hosts: usize,
    fingerprint: &'l str,
    /// Whether all stored events can be read; `losses` is the number of those that cannot.
    is_whole: bool,
    losses: u64,
    headlines: Vec<ListedValue<'l>>,
    /// Whether the values are trusted; `trust` in the run's document has the reasons.
    trusted: bool,
    trust: TrustLevel,
}

#[derive(Debug, Serialize)]
struct ListedValue<'l> {
    label: &'l str,
    #[serde(flatten)]
    quantity: Quantity,
}

#[derive(Debug, Serialize)]
struct UnreadableRun<'l> {
    id: &'l str,
    reason: &'l str,
}

/// Returns the row of a run.
pub fn list_row(run: &ListEntry) -> ListedRun<'_> {
    ListedRun {
        id: &run.id,
        label: run.label.as_deref().unwrap_or_default(),
        note: run.note.as_deref().unwrap_or_default(),
        started: &run.started,
        suite: &run.suite,
        status: run.status,
        is_running: run.running,
        cases: [run.cases_finished, run.cases_failed, run.cases_planned],
        host: &run.host,
        other_hosts: run.other_hosts,
        is_readable: run.is_whole,
        headlines: run.headlines.iter().map(|it| (it.label.as_str(), it.quantity)).collect(),
        trust: run.trust,
    }
}

/// Returns the list for programs.
pub fn list_document(listing: &RunListing) -> ListDocument<'_> {
    let unreadable =
        listing.unreadable.iter().map(|it| UnreadableRun { id: &it.id, reason: &it.reason });
    ListDocument {
        runs: listing.runs.iter().map(list_entry).collect(),
        unreadable: unreadable.collect(),
    }
}

fn list_entry(run: &ListEntry) -> ListedEntry<'_> {
    let values = run.headlines.iter();
    let values = values.map(|it| ListedValue { label: &it.label, quantity: it.quantity });
    ListedEntry {
        id: &run.id,
        label: run.label.as_deref(),
        note: run.note.as_deref(),
        suite: &run.suite,
        started: &run.started,
        finished: run.finished.as_deref(),
        status: run.status,
        running: run.running,
        cases_planned: run.cases_planned,
        cases_finished: run.cases_finished,
        cases_failed: run.cases_failed,
        host: &run.host,
        other_hosts: run.other_hosts,
        fingerprint: &run.fingerprint,
        is_whole: run.is_whole,
        losses: run.losses,
        headlines: values.collect(),
        trusted: run.trust == TrustLevel::Sound,
        trust: run.trust,
    }
}

/// Property of runs by which a filter selects.
struct SelectedProperty<'f> {
    /// Its name, `label`, and that of several.
    names: [&'static str; 2],
    wanted: Option<&'f String>,
    find: fn(&ListEntry) -> Option<&str>,
}

/// Returns the failure of a filter that selects no run: names the label, suite or host that none has,
/// and those of the stored runs.
pub fn no_match_failure(filter: &RunFilter, runs: &[ListEntry]) -> CommandFailure {
    /// Maximum number of labels, suites or hosts in the message.
    const MAX_NAMED: usize = 10;
    let property = |names, wanted, find| SelectedProperty { names, wanted, find };
    let properties = [
        property(["label", "labels"], filter.label.as_ref(), |run| run.label.as_deref()),
        property(["suite", "suites"], filter.suite.as_ref(), |run| Some(&run.suite)),
        property(["host", "hosts"], filter.host.as_ref(), |run| {
            Some(run.host.as_str()).filter(|host| !host.is_empty())
        }),
    ];
    let newest = runs.iter().map(|run| run.started.as_str()).max();
    let missing =
        properties.into_iter().find_map(|SelectedProperty { names, wanted, find }| {
            let known: BTreeSet<&str> = runs.iter().filter_map(find).collect();
            let wanted = wanted.filter(|wanted| !known.contains(wanted.as_str()))?;
            Some((names, wanted, known))
        });
    let near = missing
        .as_ref()
        .and_then(|(_, wanted, known)| nearest_word(wanted, known.iter().copied()))
        .map(str::to_owned);
    let what = match &missing {
        Some(([one, _], wanted, _)) => format!("no run has the {one} `{wanted}`"),
        None => "no run matches these options".to_owned(),
    };
    let reason = match (newest, missing) {
        (None, _) => "the store has no runs".to_owned(),
        (_, Some(([one, _], _, known))) if known.is_empty() => {
            format!("no stored run has a {one}")
        }
        (_, Some(([_, many], _, known))) => {
            let more = if known.len() > MAX_NAMED { ", …" } else { "" };
            let named: Vec<&str> = known.into_iter().take(MAX_NAMED).collect();
            format!("the {many} of the stored runs are {}{more}", named.join(", "))
        }
        (Some(newest), None) => format!("the newest run began {newest}"),
    };
    let near = near.map(|near| format!("did you mean {near}?"));
    near.into_iter()
        .fold(CommandFailure::usage(what), CommandFailure::advise)
        .with_reason(reason)
        .advise("`assay list` shows the stored runs with their labels and hosts")
}
