//! Removal of runs, and of the raw outputs that no other run refers to.
//!
//! Removes only names that assay writes: other files in the folder of a run stay, and so does the
//! folder. The events of a run are removed first, atomically: a crash in between leaves raw outputs
//! without a run, and never a run without its raw outputs.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rustix::fs::OFlags;

use crate::error::StoreError;
use crate::layout::{EVENTS, Layout, sync_folder};
use crate::{mount, raw, reader, verify};

/// Effect of removing one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// Identifier of the run.
    pub run: String,
    /// Whether the run has events, which are removed.
    pub has_events: bool,
    /// Entries of its folder that assay did not write; they are kept.
    pub stays: Vec<PathBuf>,
}

/// Removes these runs.
///
/// # Errors
/// If one of them is being written, or removing fails. Earlier runs of the list are already
/// removed. Removes nothing if a folder of these runs contains a mount point.
pub(crate) fn remove(layout: &Layout, ids: &[String]) -> Result<Vec<Removed>, StoreError> {
    let all = survey(layout, ids)?;
    let mut orphans = BTreeSet::new();
    for Removed { run, has_events, stays } in &all {
        if reader::is_being_written(layout, run) {
            return Err(StoreError::Running { run: run.clone() });
        }
        // The raw outputs of an unreadable run are not removed.
        if let Ok(read) = reader::read(layout, run) {
            orphans.extend(verify::outputs(&read.run).into_values());
        }
        take_away(layout, run, *has_events, stays.is_empty())
            .map_err(|source| StoreError::Remove { run: run.clone(), source })?;
    }
    if !orphans.is_empty() {
        remove_orphans(layout, orphans)?;
    }
    Ok(all)
}

/// Returns the effect of removing these runs.
///
/// # Errors
/// If a folder of these runs contains a mount point or cannot be read.
pub(crate) fn survey(layout: &Layout, ids: &[String]) -> Result<Vec<Removed>, StoreError> {
    let runs = folder(&layout.runs())
        .and_then(|it| mount::id_of(it.file()))
        .map_err(|source| StoreError::Read { path: layout.runs(), source })?;
    ids.iter().map(|id| survey_one(layout, id, runs)).collect()
}

fn survey_one(layout: &Layout, id: &str, mount_of_runs: u64) -> Result<Removed, StoreError> {
    let path = layout.run(id);
    let mut removed = Removed { run: id.to_owned(), has_events: false, stays: Vec::new() };
    let failed = |source| StoreError::Read { path: path.clone(), source };
    let mounted = |path| Err(StoreError::Mounted { run: id.to_owned(), path });
    if path.is_symlink() {
        // Only the link is removed; its target stays.
        return Ok(Removed { has_events: layout.events(id).exists(), ..removed });
    }
    let opened = folder(&path).map_err(failed)?;
    let mount = mount::id_of(opened.file()).map_err(failed)?;
    if mount != mount_of_runs {
        return mounted(path);
    }
    for entry in fs::read_dir(&path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if mount::id_at(opened.file(), entry.file_name()).map_err(failed)? != mount {
            return mounted(entry.path());
        }
        let is_file = entry.file_type().map_err(failed)?.is_file();
        match entry.file_name() == EVENTS && is_file {
            true => removed.has_events = true,
            false => removed.stays.push(entry.path()),
        }
    }
    removed.stays.sort_unstable();
    Ok(removed)
}

/// Opens a folder without following links.
fn folder(path: &Path) -> io::Result<fs::File> {
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed();
    let opened = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    Ok(fs::File::from_parts(opened, path))
}

/// Removes the events, and the folder if it holds nothing else. The folder is renamed first, to a
/// name that no run can have, so that no process sees a partial run.
fn take_away(layout: &Layout, id: &str, has_events: bool, is_alone: bool) -> io::Result<()> {
    let path = layout.run(id);
    if path.is_symlink() {
        return fs::remove_file(path);
    }
    if !is_alone {
        return if has_events { fs::remove_file(layout.events(id)) } else { Ok(()) };
    }
    let gone = layout.runs().join(format!(".{id}.gone"));
    fs::rename(&path, &gone)?;
    sync_folder(&layout.runs());
    if has_events {
        fs::remove_file(gone.join(EVENTS))?;
    }
    // Restores the folder if files were added to it since the survey.
    fs::remove_dir(&gone).inspect_err(|_| drop(fs::rename(&gone, &path)))
}

/// Removes raw outputs, except those that another run refers to. Removes none while a run is being
/// written or cannot be read: its events may refer to any of them.
fn remove_orphans(layout: &Layout, mut orphans: BTreeSet<String>) -> Result<(), StoreError> {
    for id in layout.run_ids()? {
        if layout.events(&id).symlink_metadata().is_err_and(|error| is_missing(&error)) {
            // The run was removed, but its folder has other files.
            continue;
        }
        match reader::read(layout, &id) {
            Ok(read) if read.is_whole() && !reader::is_being_written(layout, &id) => {
                for hash in verify::outputs(&read.run).values() {
                    orphans.remove(hash);
                }
            }
            _ => return Ok(()),
        }
    }
    // A run written by other software may name any path.
    for hash in orphans.iter().filter(|hash| blake3::Hash::from_hex(hash).is_ok()) {
        match fs::remove_file(raw::path(layout, hash)) {
            Err(source) if !is_missing(&source) => {
                return Err(StoreError::RemoveRaw { source });
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}
