//! List of all runs: from the index where it is up to date, otherwise from the events.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::UNIX_EPOCH;

use assay_model::doubt::Doubt;
use assay_model::event::{RunStarted, RunStatus, StopReason};
use assay_model::run::{CaseOutcome, Run};
use fs_err as fs;

use crate::error::StoreError;
use crate::index::{self, EventsStamp, IndexRow};
use crate::layout::StoreLayout;
use crate::list_entry::{HeadlineSource, ListEntry, RunDigest, RunListing, UnreadableEntry};
use crate::parallel;
use crate::problem::EventProblem;
use crate::reader;

/// Minimum number of runs per thread that only calls `stat`, and per thread that reads events.
const MIN_STATS_PER_THREAD: usize = 500;
const MIN_READS_PER_THREAD: usize = 2;

pub(crate) fn list(
    layout: &StoreLayout,
    headlines: HeadlineSource,
) -> Result<RunListing, StoreError> {
    let mut cached = index::load(layout);
    let mut listing = RunListing { runs: vec![], unreadable: vec![], doubts: vec![] };
    let mut rows = Vec::new();
    let mut changed = Vec::new();
    let ids = layout.run_ids()?;
    let stamps =
        parallel::parallel_map(&ids, MIN_STATS_PER_THREAD, |id| stamp(layout, headlines, id));
    for (id, stamp) in ids.into_iter().zip(stamps) {
        let up_to_date = |row: &IndexRow| row.stamp.is_some() && row.stamp == stamp;
        match cached.remove(&id).filter(up_to_date) {
            Some(row) => rows.push(row),
            None => changed.push((id, stamp)),
        }
    }
    let read = parallel::parallel_map(&changed, MIN_READS_PER_THREAD, |(id, _)| {
        read_entry(layout, headlines, id)
    });
    // Rows still in the cache belong to removed runs.
    let is_renewed = !cached.is_empty() || read.iter().any(Result::is_ok);
    for ((id, stamp), read) in changed.into_iter().zip(read) {
        match read {
            Ok(run) => rows.push(IndexRow { stamp, run }),
            Err(error) => {
                listing.unreadable.push(UnreadableEntry { id, reason: error.to_string() });
            }
        }
    }
    if is_renewed {
        listing.doubts.extend(index_doubt(layout, index::rewrite(layout, &rows)));
    }
    listing.runs = rows.into_iter().map(|row| row.run).collect();
    for run in listing.runs.iter_mut().filter(|run| run.status == RunStatus::Unfinished) {
        run.running = reader::is_being_written(layout, &run.id);
    }
    listing.runs = newest_first(std::mem::take(&mut listing.runs));
    Ok(listing)
}

/// Returns the start time in a form that sorts as text: `Z` would sort a whole second behind its
/// fractions.
fn time_key(run: &ListEntry) -> &str {
    run.started.trim_end_matches('Z')
}

/// Sorts by start time, newest first, but puts each run right after the one that it follows.
fn newest_first(mut runs: Vec<ListEntry>) -> Vec<ListEntry> {
    runs.sort_by(|a, b| (time_key(b), &b.id).cmp(&(time_key(a), &a.id)));
    let ids: HashSet<String> = runs.iter().map(|run| run.id.clone()).collect();
    let mut following: HashMap<String, Vec<ListEntry>> = HashMap::new();
    let mut waiting = Vec::new();
    for run in runs.into_iter().rev() {
        match run.after.clone().filter(|id| ids.contains(id)) {
            Some(after) => following.entry(after).or_default().push(run),
            None => waiting.push(run),
        }
    }
    let mut ordered = Vec::with_capacity(ids.len());
    while let Some(run) = waiting.pop() {
        match following.remove(&run.id) {
            Some(later) => {
                waiting.push(run);
                waiting.extend(later);
            }
            None => ordered.push(run),
        }
    }
    // Cycles of runs cannot occur, but their runs are listed nevertheless.
    ordered.extend(following.into_values().flatten());
    ordered
}

/// Returns the latest run if a stored identifier is later than `id`.
pub(crate) fn latest_if_later_than(
    layout: &StoreLayout,
    headlines: HeadlineSource,
    id: &str,
) -> Result<Option<String>, StoreError> {
    // Identifiers sort by time, and are available without reading any run.
    match layout.run_ids()?.last() {
        Some(last) if last.as_str() > id => {
            Ok(list(layout, headlines)?.runs.into_iter().next().map(|run| run.id))
        }
        _ => Ok(None),
    }
}

/// Updates the row of one run in the index; reads its events unless they are given.
pub(crate) fn update_index(
    layout: &StoreLayout,
    headlines: HeadlineSource,
    id: &str,
    events: Option<&Run>,
) -> Option<Doubt> {
    let stamp = stamp(layout, headlines, id);
    let run = match events {
        Some(run) => to_entry(headlines, id, run, &[]),
        None => read_entry(layout, headlines, id).ok()?,
    };
    index_doubt(layout, index::append(layout, &IndexRow { stamp, run }))
}

/// Whether the row of the index is missing or outdated, or agrees with the events of the run.
pub(crate) fn index_agrees(
    layout: &StoreLayout,
    headlines: HeadlineSource,
    id: &str,
    row: Option<&IndexRow>,
) -> bool {
    let stamp = stamp(layout, headlines, id);
    let Some(row) = row.filter(|row| row.stamp.is_some() && row.stamp == stamp) else {
        return true;
    };
    read_entry(layout, headlines, id).is_ok_and(|run| run == row.run)
}

fn index_doubt(layout: &StoreLayout, outcome: io::Result<()>) -> Option<Doubt> {
    let error = outcome.err()?;
    Some(Doubt::StoreIndex { path: layout.index(), cause: error.to_string() })
}

/// Returns the state of the events, determined before they are read: if they grow meanwhile, the
/// next listing reads them again.
fn stamp(layout: &StoreLayout, headlines: HeadlineSource, id: &str) -> Option<EventsStamp> {
    let file = fs::metadata(layout.events(id)).ok()?;
    let modified = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let modified_ns = u64::try_from(modified.as_nanos()).ok()?;
    Some(EventsStamp::new(headlines.version, file.len(), modified_ns))
}

/// Reads the list entry of a run from its events.
fn read_entry(
    layout: &StoreLayout,
    headlines: HeadlineSource,
    id: &str,
) -> Result<ListEntry, StoreError> {
    let read = reader::read(layout, id)?;
    Ok(to_entry(headlines, id, &read.run, &read.problems))
}

fn to_entry(
    headlines: HeadlineSource,
    id: &str,
    run: &Run,
    problems: &[EventProblem],
) -> ListEntry {
    let count = |failed: bool| {
        let ended = run.cases.iter().filter_map(|record| record.outcome.as_ref());
        let is_of_kind = |end: &&CaseOutcome| match end {
            CaseOutcome::Failed { .. } => failed,
            CaseOutcome::Finished(StopReason::Cut) => false,
            CaseOutcome::Finished(_) => !failed,
        };
        ended.filter(is_of_kind).count()
    };
    let (cases_finished, cases_failed) = (count(false), count(true));
    let RunDigest { mut headlines, trust, metrics } = (headlines.condense)(run);
    headlines.retain(|headline| headline.quantity.value.is_finite());
    let other_hosts = run.hosts.len().saturating_sub(1);
    let host = run.first_host();
    let (host, fingerprint) = host
        .map(|joined| (joined.host.clone(), joined.facts.fingerprint.clone()))
        .unwrap_or_default();
    let RunStarted { label, note, plan, started, after, .. } = &run.started;
    ListEntry {
        id: id.to_owned(),
        label: label.clone(),
        note: note.clone(),
        suite: plan.suite.clone(),
        started: started.clone(),
        finished: run.finished.clone(),
        after: after.clone(),
        status: run.status,
        running: false,
        cases_planned: plan.cases.len(),
        cases_finished,
        cases_failed,
        host,
        other_hosts,
        fingerprint,
        is_whole: problems.is_empty(),
        losses: problems.iter().map(EventProblem::lost_events).sum(),
        headlines,
        trust,
        metrics,
    }
}
