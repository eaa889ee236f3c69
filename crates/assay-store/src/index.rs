//! The cache of the listing: one line of JSON per run. Everything in it is derived from the events, so
//! it is never repaired or migrated: what cannot be read is left out, and the next listing writes it again.
//!
//! No process waits for another. A file that is replaced is replaced whole, a finished run appends its
//! line in one write; whose row gets lost between the two is read from its events once more.

use std::collections::HashMap;
use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::listed::Listed;
use crate::side_by_side;

/// Changes whenever a row would say something else about the same events.
const VERSION: u32 = 7;

/// What the list shows of a run, and of which state of its events.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// `None` where the file could not be looked at: such a row never counts again.
    pub(crate) stamp: Option<Stamp>,
    pub(crate) run: Listed,
}

/// What shows whether a row still describes its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    version: u32,
    headlines: u32,
    bytes: u64,
    modified_ns: u64,
}

impl Stamp {
    /// Of events of this size and time of their last change, in nanoseconds since 1970; `headlines` is
    /// the version of the function that condenses them.
    pub(crate) const fn new(headlines: u32, bytes: u64, modified_ns: u64) -> Self {
        Self { version: VERSION, headlines, bytes, modified_ns }
    }
}

/// The rows that can be read, by the identifiers of their runs; the last of several counts.
pub(crate) fn load(layout: &Layout) -> HashMap<String, Row> {
    let bytes = fs::read(layout.index()).unwrap_or_default();
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let rows = side_by_side::each(&lines, 500, |line| serde_json::from_slice::<Row>(line).ok());
    rows.into_iter().flatten().map(|row| (row.run.id.clone(), row)).collect()
}

/// Writes the whole index again.
pub(crate) fn replace(layout: &Layout, rows: &[Row]) -> io::Result<()> {
    let mut text = Vec::new();
    for row in rows {
        write_line(&mut text, row)?;
    }
    // As readable for others as the umask lets any other file be.
    let file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(layout.folder())?;
    file.as_file().write_all(&text)?;
    file.persist(layout.index())?;
    Ok(())
}

/// Adds the row of a run that has just ended.
pub(crate) fn append(layout: &Layout, row: &Row) -> io::Result<()> {
    let mut line = Vec::new();
    write_line(&mut line, row)?;
    fs::OpenOptions::new().create(true).append(true).open(layout.index())?.write_all(&line)
}

fn write_line(text: &mut Vec<u8>, row: &Row) -> io::Result<()> {
    serde_json::to_writer(&mut *text, row)?;
    text.push(b'\n');
    Ok(())
}
