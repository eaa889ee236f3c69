//! `assay list`: lists the stored runs.

use assay_model::doubt::TrustLevel;
use assay_model::event::RunStatus;
use assay_model::failure::os_error;
use assay_model::quantity::Quantity;
use assay_report::build::{self, HiddenRuns, ListedRun};
use assay_report::words;
use assay_store::{ListEntry, RunListing};
use serde::Serialize;

use super::removal::is_without_result;
use super::result_list::ResultList;
use crate::arguments::PageFormat;
use crate::arguments::list::ListArguments;
use crate::expectations::NamedExpectations;
use crate::failure::exit_code;
use crate::terminal::Terminal;
use crate::{page, store_access};
use assay_run::failure::{CommandFailure, FailureKind};

/// Machine-readable list.
#[derive(Serialize)]
struct ListDocument<'l> {
    runs: Vec<ListedEntry<'l>>,
    unreadable: Vec<UnreadableRun<'l>>,
}

#[derive(Serialize)]
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

#[derive(Serialize)]
struct ListedValue<'l> {
    label: &'l str,
    #[serde(flatten)]
    quantity: Quantity,
}

#[derive(Serialize)]
struct UnreadableRun<'l> {
    id: &'l str,
    reason: &'l str,
}

pub(crate) fn list(
    typed: &ListArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let mut listing = store_access::list_runs(&typed.store)?;
    let stored = listing.runs.len();
    listing.runs.retain(|run| typed.filter.matches(run));
    let matching = listing.runs.len();
    listing.runs.retain(|run| typed.all || !is_without_result(run));
    let hidden = HiddenRuns {
        without_result: matching - listing.runs.len(),
        not_matching: stored - matching,
    };
    let is_whole = listing.unreadable.is_empty() && listing.runs.iter().all(|run| run.is_whole);
    if typed.page.format() != PageFormat::Json {
        let messages = listing
            .doubts
            .iter()
            .map(|doubt| os_error::simplify_message(&words::doubt(doubt).text));
        messages.for_each(|text| terminal.note(&text));
    }
    if typed.results || typed.page.format() == PageFormat::Csv {
        return list_results(typed, &listing, terminal);
    }
    page::publish(
        || list_page(&listing, hidden),
        || list_document(&listing),
        &typed.page,
        terminal,
    )?;
    Ok(if is_whole { 0 } else { exit_code(FailureKind::Measurement) })
}

/// Lists the results of all runs, newest first.
fn list_results(
    typed: &ListArguments,
    listing: &RunListing,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let expectations = NamedExpectations::default();
    let metric = typed.filter.metric.as_deref();
    let mut results = ResultList::new(metric, &expectations, &typed.page);
    let mut code = 0;
    for run in &listing.unreadable {
        terminal.note(&format!("warning: cannot read run {}: {}", run.id, run.reason));
        code = exit_code(FailureKind::Measurement);
    }
    for run in &listing.runs {
        let read = store_access::read(&typed.store, &run.id)?;
        store_access::print_problems(&read, terminal);
        code = code.max(store_access::stored_run_exit_code(&read));
        let is_whole = read.is_whole();
        results.add(read.run, is_whole);
    }
    results.publish(&typed.page, terminal)?;
    Ok(code)
}

fn list_document(listing: &RunListing) -> ListDocument<'_> {
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

fn list_page(listing: &RunListing, hidden: HiddenRuns) -> assay_report::document::Document {
    let runs: Vec<ListedRun<'_>> = listing.runs.iter().map(list_row).collect();
    let unreadable = listing.unreadable.iter();
    let unreadable = unreadable.map(|it| (it.id.clone(), it.reason.clone()));
    build::listing(&runs, &unreadable.collect::<Vec<_>>(), hidden)
}

pub(super) fn list_row(run: &ListEntry) -> ListedRun<'_> {
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
