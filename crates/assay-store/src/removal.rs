//! Removes runs that nobody wants any more, and the raw outputs that no other run names.
//!
//! Removes names that assay writes, and nothing else: what somebody put into the folder of a run stays, and so does the
//! folder. The events of a run go first, in one step: a crash in between leaves raw outputs without a run, and never a
//! run without its raw outputs.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rustix::fs::OFlags;

use crate::error::StoreError;
use crate::layout::{EVENTS, Layout, sync_folder};
use crate::{mount, raw, reader, verify};

/// What becomes of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// Its identifier.
    pub run: String,
    /// Whether it has events, which go.
    pub has_events: bool,
    /// What is in its folder that assay did not write, and stays.
    pub stays: Vec<PathBuf>,
}

/// Removes these runs.
///
/// # Errors
/// When one of them is being written, or the disk refuses: runs before that one are gone then. Where something is
/// mounted in the folder of any of them nothing is removed.
pub(crate) fn remove(layout: &Layout, ids: &[String]) -> Result<Vec<Removed>, StoreError> {
    let all = survey(layout, ids)?;
    let mut orphans = BTreeSet::new();
    for Removed { run, has_events, stays } in &all {
        if reader::is_being_written(layout, run) {
            return Err(StoreError::Running { run: run.clone() });
        }
        // One that cannot be read leaves its raw outputs behind.
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

/// Looks what would become of these runs.
///
/// # Errors
/// When something is mounted in the folder of one of them, or it cannot be read.
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
        // The link goes, and what it leads to stays.
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

/// Opens a folder that is no link.
fn folder(path: &Path) -> io::Result<fs::File> {
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed();
    let opened = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    Ok(fs::File::from_parts(opened, path))
}

/// Removes the events, and the folder where nothing else is in it. The folder is renamed first, to a name that no run can
/// have, so that no process sees half of it.
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
    // Whatever somebody has put there since the survey comes back with its folder.
    fs::remove_dir(&gone).inspect_err(|_| drop(fs::rename(&gone, &path)))
}

/// Keeps what any other run names, and everything while a run is being written or cannot be read: its
/// events may name a raw output that is there already.
fn remove_orphans(layout: &Layout, mut orphans: BTreeSet<String>) -> Result<(), StoreError> {
    for id in layout.run_ids()? {
        if layout.events(&id).symlink_metadata().is_err_and(|error| is_missing(&error)) {
            // What is left of a run whose folder stays.
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
    // A run that others wrote may name any path.
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
