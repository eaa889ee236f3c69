//! Removes runs that nobody wants any more, and the raw outputs that no other run names.
//!
//! The events of a run go first, in one step: a crash in between leaves raw outputs without a run, and never a run
//! without its raw outputs.

use std::collections::BTreeSet;
use std::io;

use fs_err as fs;

use crate::error::StoreError;
use crate::layout::{Layout, sync_folder};
use crate::{raw, reader, verify};

/// Removes these runs.
///
/// # Errors
/// When one of them is being written, or the disk refuses. Runs before that one are gone then.
pub(crate) fn remove(layout: &Layout, ids: &[String]) -> Result<(), StoreError> {
    let mut orphans = BTreeSet::new();
    for id in ids {
        if reader::is_being_written(layout, id) {
            return Err(StoreError::Running { run: id.clone() });
        }
        // One that cannot be read leaves its raw outputs behind.
        if let Ok(read) = reader::read(layout, id) {
            orphans.extend(verify::outputs(&read.run).into_values());
        }
        take_away(layout, id)
            .map_err(|source| StoreError::Remove { run: id.clone(), source })?;
    }
    if !orphans.is_empty() {
        remove_orphans(layout, orphans)?;
    }
    Ok(())
}

/// Renamed first, to a name that no run can have, so that no process sees half of it.
fn take_away(layout: &Layout, id: &str) -> io::Result<()> {
    let gone = layout.runs().join(format!(".{id}.gone"));
    fs::rename(layout.run(id), &gone)?;
    sync_folder(&layout.runs());
    fs::remove_dir_all(gone)
}

/// Keeps what any other run names, and everything while a run is being written or cannot be read: its
/// events may name a raw output that is there already.
fn remove_orphans(layout: &Layout, mut orphans: BTreeSet<String>) -> Result<(), StoreError> {
    for id in layout.run_ids()? {
        match reader::read(layout, &id) {
            Ok(read) if read.is_whole() && !reader::is_being_written(layout, &id) => {
                for hash in verify::outputs(&read.run).values() {
                    orphans.remove(hash);
                }
            }
            _ => return Ok(()),
        }
    }
    for hash in orphans {
        match fs::remove_file(raw::path(layout, &hash)) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::RemoveRaw { source });
            }
            _ => {}
        }
    }
    Ok(())
}
