//! Verification of stored runs: events by their numbers and checksums, raw outputs by their hashes,
//! rows of the index by the events they are derived from. Nothing is repaired.

use std::collections::BTreeMap;

use assay_model::run::Run;

use crate::error::StoreError;
use crate::index::IndexRow;
use crate::layout::StoreLayout;
use crate::list_entry::HeadlineSource;
use crate::reader::ReadRun;
use crate::{listing, raw, reader};

/// Result of the verification of one run.
#[derive(Debug)]
pub struct RunVerification {
    /// Identifier of the run.
    pub id: String,
    /// Run as far as it can be read, with problems of its events.
    pub read: Result<ReadRun, StoreError>,
    /// Number of intact raw outputs.
    pub outputs: usize,
    /// Damaged or missing raw outputs: name and error.
    pub damaged_outputs: Vec<(String, StoreError)>,
    /// Whether the row of the index agrees with the events; a run that is being written has no row
    /// yet.
    pub index_agrees: bool,
    /// Whether a process is writing it now.
    pub is_running: bool,
}

impl RunVerification {
    /// Whether all data are as they were written.
    pub fn is_sound(&self) -> bool {
        self.read.as_ref().is_ok_and(ReadRun::is_whole)
            && self.damaged_outputs.is_empty()
            && self.index_agrees
    }
}

pub(crate) fn verify_run(
    layout: &StoreLayout,
    headlines: HeadlineSource,
    id: &str,
    row: Option<&IndexRow>,
) -> RunVerification {
    // Checked first: otherwise a run that ends meanwhile could appear as cut off and not running.
    let is_running = reader::is_being_written(layout, id);
    let read = reader::read(layout, id);
    let named = read.as_ref().map(|read| raw_output_hashes(&read.run)).unwrap_or_default();
    let count = named.len();
    let damaged = named.into_iter().filter_map(|(name, hash)| {
        let error = raw::read(layout, &hash).err()?;
        Some((name, error))
    });
    let damaged_outputs: Vec<(String, StoreError)> = damaged.collect();
    RunVerification {
        id: id.to_owned(),
        read,
        outputs: count - damaged_outputs.len(),
        damaged_outputs,
        index_agrees: listing::index_agrees(layout, headlines, id, row),
        is_running,
    }
}

/// Collects the hashes of every raw output of a run, with the case before the name.
pub(crate) fn raw_output_hashes(run: &Run) -> BTreeMap<String, String> {
    let of_cases = run.cases.iter().flat_map(|case| {
        case.raw.iter().map(|(name, hash)| (format!("{}: {name}", case.case.id), hash.clone()))
    });
    run.raw.iter().map(|(name, hash)| (name.clone(), hash.clone())).chain(of_cases).collect()
}
