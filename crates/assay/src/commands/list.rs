//! `assay list`: lists the stored runs.

use assay_archive::run_list::{list_document, list_row};
use assay_model::failure::os_error;
use assay_report::build::{self, HiddenRuns, ListedRun};
use assay_report::words;
use assay_stats::summarize::summarize;
use assay_store::RunListing;

use super::removal::is_without_result;
use super::result_list;
use crate::arguments::PageFormat;
use crate::arguments::list::ListArguments;
use crate::failure::{ExitStatus, exit_code};
use crate::terminal::Terminal;
use crate::{page, store_access};
use assay_run::failure::{CommandFailure, FailureKind};

pub(crate) fn list(
    typed: &ListArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let mut listing = store_access::list_runs(&typed.store)?;
    let stored = listing.runs.len();
    let filter = typed.filter.selection();
    listing.runs.retain(|run| filter.matches(run));
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
    let mut results = result_list::begin(typed.filter.metric.as_deref(), &typed.page);
    let mut status = ExitStatus::Success;
    for run in &listing.unreadable {
        terminal.note(&format!("warning: cannot read run {}: {}", run.id, run.reason));
        status = ExitStatus::Failed;
    }
    for run in &listing.runs {
        let read = store_access::read(&typed.store, &run.id)?;
        store_access::print_problems(&read, terminal);
        status = status.max(store_access::stored_run_status(&read));
        let (summary, is_whole) = (summarize(&read.run), read.is_whole());
        results.add(read.run, summary, is_whole);
    }
    result_list::publish(results, &typed.page, terminal)?;
    Ok(status.code())
}

fn list_page(listing: &RunListing, hidden: HiddenRuns) -> assay_report::document::Document {
    let runs: Vec<ListedRun<'_>> = listing.runs.iter().map(list_row).collect();
    let unreadable = listing.unreadable.iter();
    let unreadable = unreadable.map(|it| (it.id.clone(), it.reason.clone()));
    build::listing(&runs, &unreadable.collect::<Vec<_>>(), hidden)
}
