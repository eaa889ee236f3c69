//! Cache of the run list: one line of JSON per run. It is derived from the events and is therefore
//! never repaired or migrated: unreadable lines are skipped, and the next listing rewrites them.
//!
//! Processes do not lock the index. It is replaced atomically; a finished run appends its line in
//! one write. A row lost to a race is read from the events again.

use std::collections::HashMap;
use std::io::{self, Write as _};

use serde::{Deserialize, Serialize};

use crate::layout::{StoreLayout, new_temporary_file};
use crate::list_entry::ListEntry;
use crate::parallel;
use crate::regular_file::{self, MAX_BYTES};

/// Version of the rows; must change when the same events would give another row.
const VERSION: u32 = 8;

/// List entry of a run, and the state of the events that it was derived from.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IndexRow {
    /// State of the file of events; `None` if it could not be determined. Such a row is never
    /// valid.
    pub(crate) stamp: Option<EventsStamp>,
    pub(crate) run: ListEntry,
}

/// State of a run's events; a row with another stamp is outdated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventsStamp {
    version: u32,
    headlines: u32,
    bytes: u64,
    modified_ns: u64,
}

impl EventsStamp {
    /// Returns the stamp of events with this size and modification time, in nanoseconds since 1970;
    /// `headlines` is the version of the function that condenses them.
    pub(crate) const fn new(headlines: u32, bytes: u64, modified_ns: u64) -> Self {
        Self { version: VERSION, headlines, bytes, modified_ns }
    }
}

/// Reads the valid rows by run identifier; the last of several duplicates wins.
pub(crate) fn load(layout: &StoreLayout) -> HashMap<String, IndexRow> {
    let bytes = regular_file::read(&layout.index(), MAX_BYTES).unwrap_or_default();
    if regular_file::has_too_many_lines(&bytes) {
        return HashMap::new();
    }
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let rows = parallel::parallel_map(&lines, 500, |line| {
        serde_json::from_slice::<IndexRow>(line).ok()
    });
    rows.into_iter().flatten().map(|row| (row.run.id.clone(), row)).collect()
}

/// Rewrites the whole index.
pub(crate) fn rewrite(layout: &StoreLayout, rows: &[IndexRow]) -> io::Result<()> {
    let mut text = Vec::new();
    for row in rows {
        write_line(&mut text, row)?;
    }
    let file = new_temporary_file(layout.folder())?;
    file.as_file().write_all(&text)?;
    file.persist(layout.index())?;
    Ok(())
}

/// Appends the row of a run that has just ended.
pub(crate) fn append(layout: &StoreLayout, row: &IndexRow) -> io::Result<()> {
    let mut line = Vec::new();
    write_line(&mut line, row)?;
    regular_file::open_to_append(&layout.index())?.write_all(&line)
}

fn write_line(text: &mut Vec<u8>, row: &IndexRow) -> io::Result<()> {
    serde_json::to_writer(&mut *text, row)?;
    text.push(b'\n');
    Ok(())
}
