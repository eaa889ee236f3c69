//! The list of all runs: from the index where it is up to date, from the events where it is not.

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use assay_model::doubt::Doubt;
use assay_model::event::Status;
use assay_model::run::CaseEnd;
use fs_err as fs;

use crate::error::StoreError;
use crate::index::{self, IndexError, Stamp};
use crate::layout::Layout;
use crate::listed::{Headlines, Listed, Listing, Unreadable};
use crate::reader;

pub(crate) fn list(layout: &Layout, headlines: Headlines) -> Result<Listing, StoreError> {
    let ids = layout.run_ids()?;
    let cached = index::load(layout).unwrap_or_else(|error| {
        if error.is_damage() {
            // If this fails too, so will the saving below, which tells.
            drop(index::discard(layout));
        }
        BTreeMap::new()
    });
    let gone: Vec<String> =
        cached.keys().filter(|id| ids.binary_search(id).is_err()).cloned().collect();
    let mut listing = Listing { runs: vec![], unreadable: vec![], doubts: vec![] };
    let mut changed = Vec::new();
    for id in ids {
        let stamp = stamp(layout, headlines, &id);
        let known = cached.get(&id).filter(|(known, _)| Some(*known) == stamp);
        let run = match known {
            Some((_, run)) => Ok(run.clone()),
            None => condense(layout, headlines, &id),
        };
        match run {
            Ok(run) => {
                let fresh = stamp.filter(|_| known.is_none());
                changed.extend(fresh.map(|stamp| (stamp, run.clone())));
                listing.runs.push(run);
            }
            Err(error) => {
                listing.unreadable.push(Unreadable { id, reason: error.to_string() });
            }
        }
    }
    if !changed.is_empty() || !gone.is_empty() {
        listing.doubts.extend(save(layout, &changed, &gone));
    }
    for run in listing.runs.iter_mut().filter(|run| run.status == Status::Unfinished) {
        run.running = reader::is_being_written(layout, &run.id);
    }
    listing.runs.sort_by(|a, b| (&b.started, &b.id).cmp(&(&a.started, &a.id)));
    Ok(listing)
}

/// Brings one run in the index up to date.
pub(crate) fn note(layout: &Layout, headlines: Headlines, id: &str) -> Option<Doubt> {
    let stamp = stamp(layout, headlines, id)?;
    let run = condense(layout, headlines, id).ok()?;
    save(layout, &[(stamp, run)], &[])
}

fn save(layout: &Layout, changed: &[(Stamp, Listed)], gone: &[String]) -> Option<Doubt> {
    let anew = |error: IndexError| {
        if error.is_damage() {
            index::discard(layout)?;
            return index::save(layout, changed, gone);
        }
        Err(error)
    };
    let error = index::save(layout, changed, gone).or_else(anew).err()?;
    Some(Doubt::StoreIndex { path: layout.index(), cause: error.to_string() })
}

/// Taken before the events are read: if they grow in between, the next listing reads them again.
fn stamp(layout: &Layout, headlines: Headlines, id: &str) -> Option<Stamp> {
    let file = fs::metadata(layout.events(id)).ok()?;
    let modified = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Stamp {
        bytes: i64::try_from(file.len()).ok()?,
        modified_ns: i64::try_from(modified.as_nanos()).ok()?,
        headlines: headlines.version,
    })
}

/// What the list shows of a run, from its events.
fn condense(layout: &Layout, headlines: Headlines, id: &str) -> Result<Listed, StoreError> {
    let read = reader::read(layout, id)?;
    let (is_whole, losses) = (read.is_whole(), read.losses());
    let run = read.run;
    let count = |failed: bool| {
        let ended = run.cases.iter().filter_map(|record| record.end.as_ref());
        ended.filter(|end| matches!(end, CaseEnd::Failed { .. }) == failed).count()
    };
    let (cases_finished, cases_failed) = (count(false), count(true));
    let mut headlines = (headlines.of)(&run);
    headlines.retain(|headline| headline.quantity.value.is_finite());
    let host = run.hosts.into_iter().next();
    let (host, fingerprint) =
        host.map(|joined| (joined.host, joined.facts.fingerprint)).unwrap_or_default();
    Ok(Listed {
        id: id.to_owned(),
        label: run.started.label,
        suite: run.started.plan.suite,
        started: run.started.started,
        finished: run.finished,
        status: run.status,
        running: false,
        cases_planned: run.started.plan.cases.len(),
        cases_finished,
        cases_failed,
        host,
        fingerprint,
        is_whole,
        losses,
        headlines,
    })
}
