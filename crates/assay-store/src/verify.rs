//! Checks what is stored against what was written: events by their numbers and checksums, raw outputs by
//! their hashes, rows of the index by the events they are made of. Nothing is repaired.

use std::collections::BTreeMap;

use assay_model::run::Run;

use crate::error::StoreError;
use crate::layout::Layout;
use crate::listed::Headlines;
use crate::reader::ReadRun;
use crate::{listing, raw, reader};

/// What one run was found to be.
#[derive(Debug)]
pub struct Verified {
    /// Its identifier.
    pub id: String,
    /// The run as far as it can be read, with what is wrong with its events.
    pub read: Result<ReadRun, StoreError>,
    /// Raw outputs that are what they were.
    pub outputs: usize,
    /// Raw outputs that are not: name and why.
    pub damaged_outputs: Vec<(String, StoreError)>,
    /// Whether the index says of it what its events say; a run that is being written has no row yet.
    pub index_agrees: bool,
    /// Whether a process is writing it at this moment.
    pub is_running: bool,
}

impl Verified {
    /// Whether everything is what was written.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.read.as_ref().is_ok_and(ReadRun::is_whole)
            && self.damaged_outputs.is_empty()
            && self.index_agrees
    }
}

pub(crate) fn run(layout: &Layout, headlines: Headlines, id: &str) -> Verified {
    // Asked first: what is complete afterwards may have been cut off while it was read.
    let is_running = reader::is_being_written(layout, id);
    let read = reader::read(layout, id);
    let named = read.as_ref().map(|read| outputs(&read.run)).unwrap_or_default();
    let count = named.len();
    let damaged = named.into_iter().filter_map(|(name, hash)| {
        let error = raw::read(layout, &hash).err()?;
        Some((name, error))
    });
    let damaged_outputs: Vec<(String, StoreError)> = damaged.collect();
    Verified {
        id: id.to_owned(),
        read,
        outputs: count - damaged_outputs.len(),
        damaged_outputs,
        index_agrees: listing::agrees(layout, headlines, id),
        is_running,
    }
}

/// Every raw output that a run names, with the case before the name.
pub(crate) fn outputs(run: &Run) -> BTreeMap<String, String> {
    let of_cases = run.cases.iter().flat_map(|case| {
        case.raw.iter().map(|(name, hash)| (format!("{}: {name}", case.case.id), hash.clone()))
    });
    run.raw.iter().map(|(name, hash)| (name.clone(), hash.clone())).chain(of_cases).collect()
}
