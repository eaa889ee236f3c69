//! Removal of runs, and of the raw outputs that no other run refers to.
//!
//! The events of a run are removed first, atomically: a crash in between leaves raw outputs without
//! a run, and never a run without its raw outputs.

use std::collections::BTreeSet;
use std::io;

use fs_err as fs;

use crate::error::StoreError;
use crate::layout::{Layout, sync_folder};
use crate::{raw, reader, verify};

/// Removes these runs.
///
/// # Errors
/// If one of them is being written, or removing fails. Earlier runs of the list are already
/// removed.
pub(crate) fn remove(layout: &Layout, ids: &[String]) -> Result<(), StoreError> {
    let mut orphans = BTreeSet::new();
    for id in ids {
        if reader::is_being_written(layout, id) {
            return Err(StoreError::Running { run: id.clone() });
        }
        // The raw outputs of an unreadable run are not removed.
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

/// Renames the folder first, to a name that no run can have, so that no process sees a partial run.
fn take_away(layout: &Layout, id: &str) -> io::Result<()> {
    let gone = layout.runs().join(format!(".{id}.gone"));
    fs::rename(layout.run(id), &gone)?;
    sync_folder(&layout.runs());
    fs::remove_dir_all(gone)
}

/// Removes raw outputs, except those that another run refers to. Removes none while a run is being
/// written or cannot be read: its events may refer to any of them.
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
