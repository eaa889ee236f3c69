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
use crate::layout::{EVENTS, StoreLayout};
use crate::{mount, raw, reader, verify};

/// Effect of removing one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRemoval {
    /// Identifier of the run.
    pub run: String,
    /// Whether the run has events, which are removed.
    pub has_events: bool,
    /// Entries of its folder that assay did not write; they are kept.
    pub kept_paths: Vec<PathBuf>,
}

/// Removes these runs.
///
/// # Errors
/// If one of them is being written, or removing fails. Earlier runs of the list are already
/// removed. Removes nothing if a folder of these runs contains a mount point.
pub(crate) fn remove(
    layout: &StoreLayout,
    ids: &[String],
) -> Result<Vec<RunRemoval>, StoreError> {
    let all = survey(layout, ids)?;
    let mut orphans = BTreeSet::new();
    for RunRemoval { run, has_events, kept_paths: stays } in &all {
        if reader::is_being_written(layout, run) {
            return Err(StoreError::Running { run: run.clone() });
        }
        // The raw outputs of an unreadable run are not removed.
        if let Ok(read) = reader::read(layout, run) {
            orphans.extend(verify::raw_output_hashes(&read.run).into_values());
        }
        remove_run(layout, run, *has_events, stays.is_empty())
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
pub(crate) fn survey(
    layout: &StoreLayout,
    ids: &[String],
) -> Result<Vec<RunRemoval>, StoreError> {
    let runs = open_folder(&layout.runs())
        .and_then(|it| mount::mount_id(it.file()))
        .map_err(|source| StoreError::Read { path: layout.runs(), source })?;
    ids.iter().map(|id| survey_run(layout, id, runs)).collect()
}

fn survey_run(
    layout: &StoreLayout,
    id: &str,
    mount_of_runs: u64,
) -> Result<RunRemoval, StoreError> {
    let path = layout.run(id);
    let mut removed =
        RunRemoval { run: id.to_owned(), has_events: false, kept_paths: Vec::new() };
    let failed = |source| StoreError::Read { path: path.clone(), source };
    let mounted = |path| Err(StoreError::Mounted { run: id.to_owned(), path });
    if path.is_symlink() {
        // Only the link is removed; its target stays.
        return Ok(RunRemoval { has_events: layout.events(id).exists(), ..removed });
    }
    let opened = open_folder(&path).map_err(failed)?;
    let mount = mount::mount_id(opened.file()).map_err(failed)?;
    if mount != mount_of_runs {
        return mounted(path);
    }
    for entry in fs::read_dir(&path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if mount::entry_mount_id(opened.file(), entry.file_name()).map_err(failed)? != mount {
            return mounted(entry.path());
        }
        let is_file = entry.file_type().map_err(failed)?.is_file();
        match entry.file_name() == EVENTS && is_file {
            true => removed.has_events = true,
            false => removed.kept_paths.push(entry.path()),
        }
    }
    removed.kept_paths.sort_unstable();
    Ok(removed)
}

/// Opens a folder without following links.
fn open_folder(path: &Path) -> io::Result<fs::File> {
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed();
    let opened = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    Ok(fs::File::from_parts(opened, path))
}

/// Removes the events, and the folder if it holds nothing else. The folder is renamed first, to a
/// name that no run can have, so that no process sees a partial run.
fn remove_run(
    layout: &StoreLayout,
    id: &str,
    has_events: bool,
    is_alone: bool,
) -> io::Result<()> {
    let path = layout.run(id);
    if path.is_symlink() {
        return fs::remove_file(path);
    }
    if !is_alone {
        return if has_events { fs::remove_file(layout.events(id)) } else { Ok(()) };
    }
    let gone = layout.runs().join(format!(".{id}.gone"));
    fs::rename(&path, &gone)?;
    layout.sync_folder(&layout.runs());
    if has_events {
        fs::remove_file(gone.join(EVENTS))?;
    }
    // Restores the folder if files were added to it since the survey.
    fs::remove_dir(&gone).inspect_err(|_| drop(fs::rename(&gone, &path)))
}

/// Removes raw outputs, except those that another run refers to. Removes none while a run is being
/// written or cannot be read: its events may refer to any of them.
fn remove_orphans(
    layout: &StoreLayout,
    mut orphans: BTreeSet<String>,
) -> Result<(), StoreError> {
    for id in layout.run_ids()? {
        if layout.events(&id).symlink_metadata().is_err_and(|error| is_missing(&error)) {
            // The run was removed, but its folder has other files.
            continue;
        }
        match reader::read(layout, &id) {
            Ok(read) if read.is_whole() && !reader::is_being_written(layout, &id) => {
                for hash in verify::raw_output_hashes(&read.run).values() {
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
