//! Removal of created files and trees. A file that is not recognised stays, with its record.

use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rustix::fs::{AtFlags, OFlags};

use super::{CreatedFiles, CreatedKind, CreatedRecord, UnrecognisedFile, process_key};
use crate::storage::created_tree::{self, TreeNames};
use crate::storage::record_lock::{self, RecordClaim};
use crate::storage::safe_open;

/// Result of removing a created file.
#[derive(Debug)]
pub enum CreatedRemoval {
    /// The file was removed.
    Removed,
    /// The files of the tree were removed; these directories stay with others' files.
    RemovedAllBut(Vec<PathBuf>),
    /// Another process uses it; file and record stay.
    InUse,
    /// A crash came before the file was created; its record was removed.
    NeverCreated,
    /// A crash came after the file was removed; its record was removed now.
    AlreadyRemoved,
    /// The file, if there is one, and its record stay.
    Unrecognised(UnrecognisedFile),
}

/// Files and directories that stay at the end of a process.
#[derive(Debug, Default)]
pub struct LeftFiles {
    /// Files that could not be removed or are not recognised, with the reason; their records stay.
    pub failed: Vec<(PathBuf, io::Error)>,
    /// Directories of removed trees, which contain others' files.
    pub directories: Vec<PathBuf>,
}

impl LeftFiles {
    fn add(&mut self, path: PathBuf, removal: io::Result<Vec<PathBuf>>) {
        match removal {
            Ok(directories) => self.directories.extend(directories),
            Err(error) => self.failed.push((path, error)),
        }
    }
}

impl CreatedFiles {
    /// Removes every file that this process created, and its record; returns what stays.
    pub fn remove_created(&self) -> LeftFiles {
        let mut left = LeftFiles::default();
        for record in self.list().into_iter().filter(|it| it.started == process_key()) {
            let removal = record.remove_own();
            left.add(record.path, removal);
        }
        left
    }

    /// Records the state of every file that this process was the last to use: any later change is
    /// not assay's. Removes those that their creators left to it, unless it `keeps` files. Returns
    /// what stays without being recognised, and the directories of trees that were removed.
    ///
    /// # Errors
    /// If a record cannot be written.
    pub fn end_all_uses(&self, keeps: bool) -> io::Result<LeftFiles> {
        let mut left = LeftFiles::default();
        for record in self.list() {
            end_use(record, keeps, &mut left)?;
        }
        record_lock::release_all(&self.folder);
        Ok(left)
    }

    /// Ends the use of one file by this process, like [`Self::end_all_uses`]. The file stays.
    ///
    /// # Errors
    /// If its record cannot be written.
    pub fn end_use_of(&self, record: &CreatedRecord) -> io::Result<LeftFiles> {
        let mut left = LeftFiles::default();
        // Another process may have changed the record.
        if let Some(current) = Self::read_record(&record.record, self.key().ok()) {
            end_use(current, true, &mut left)?;
        }
        record.close();
        record_lock::release(&record.record);
        Ok(left)
    }
}

/// Ends the use of a file by this process, if it is the last one.
fn end_use(mut record: CreatedRecord, keeps: bool, left: &mut LeftFiles) -> io::Result<()> {
    let Some(is_written) = record_lock::own_use(&record.record) else { return Ok(()) };
    if !is_written && !record.is_abandoned {
        return Ok(());
    }
    // Another process that uses the file will be the last one.
    let Some(claim) = record_lock::claim(&record.record)? else { return Ok(()) };
    let ended = match record.recognise() {
        Ok(()) if record.is_abandoned && !keeps => record.remove_last(&claim),
        Ok(()) => record.end_use().map(|()| Vec::new()),
        // It was announced and never created.
        Err(_) if record.announced_ns.is_some() && is_missing(&record.path) => {
            record.forget().map(|()| Vec::new())
        }
        Err(why) => Err(why.into()),
    };
    left.add(record.path, ended);
    Ok(())
}

impl CreatedRecord {
    /// Removes the file if it is still the one that was created and no other process uses it. The
    /// record stays as long as it can serve to remove the file later.
    ///
    /// # Errors
    /// The system's error; the record stays.
    pub fn remove(&self) -> io::Result<CreatedRemoval> {
        if self.is_in_use() {
            return Ok(CreatedRemoval::InUse);
        }
        let Some(claim) = record_lock::claim(&self.record)? else {
            return Ok(CreatedRemoval::InUse);
        };
        self.remove_claimed(&claim)
    }

    /// Returns the result that a removal would have, and changes nothing.
    pub fn foresee_removal(&self) -> CreatedRemoval {
        if self.is_in_use() { CreatedRemoval::InUse } else { self.judge() }
    }

    /// Returns the result that a removal of a file without users would have.
    fn judge(&self) -> CreatedRemoval {
        match self.recognise() {
            Ok(()) => CreatedRemoval::Removed,
            Err(UnrecognisedFile::Missing) if self.announced_ns.is_some() => {
                CreatedRemoval::NeverCreated
            }
            Err(UnrecognisedFile::Missing) if self.was_removed() => {
                CreatedRemoval::AlreadyRemoved
            }
            Err(why) => CreatedRemoval::Unrecognised(why),
        }
    }

    fn remove_claimed(&self, claim: &RecordClaim) -> io::Result<CreatedRemoval> {
        let foreseen = self.judge();
        match &foreseen {
            CreatedRemoval::Removed => return self.remove_recognised(claim),
            CreatedRemoval::AlreadyRemoved => {
                let folder = self.path.parent();
                if let Some(folder) = folder.filter(|_| self.made == CreatedKind::TreeAndFolder)
                {
                    remove_tree_folder(folder, &mut Vec::new());
                }
                self.forget()?;
            }
            CreatedRemoval::NeverCreated => self.forget()?,
            CreatedRemoval::RemovedAllBut(_)
            | CreatedRemoval::InUse
            | CreatedRemoval::Unrecognised(_) => {}
        }
        Ok(foreseen)
    }

    fn remove_recognised(&self, claim: &RecordClaim) -> io::Result<CreatedRemoval> {
        let mut staying = Vec::new();
        if let (Some(folder), Some(name)) = (self.path.parent(), self.path.file_name()) {
            let opened = safe_open::open(folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
            if self.is_tree() {
                staying = created_tree::remove_tree(folder, TreeNames::Vdbench)?;
            } else if self.is_test_folder() {
                staying = created_tree::remove_tree(&self.path, TreeNames::Mdtest)?;
            }
            let found = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if (found.st_dev, found.st_ino) != (self.device, self.inode) {
                return Ok(CreatedRemoval::Unrecognised(UnrecognisedFile::Replaced));
            }
            self.close();
            self.note_removal(claim);
            if self.is_test_folder() {
                remove_tree_folder(&self.path, &mut staying);
            } else {
                rustix::fs::unlinkat(&opened, name, AtFlags::empty())
                    .inspect_err(|_| claim.write_note(&[]))?;
            }
            if self.made == CreatedKind::TreeAndFolder {
                remove_tree_folder(folder, &mut staying);
            }
        }
        self.forget()?;
        Ok(match staying.is_empty() {
            true => CreatedRemoval::Removed,
            false => CreatedRemoval::RemovedAllBut(staying),
        })
    }

    /// Removes the file at the end of the process that created it; returns the directories that
    /// stay. A file that is not recognised is an error, and its record stays: the file may be
    /// elsewhere, or become readable.
    pub(super) fn remove_own(&self) -> io::Result<Vec<PathBuf>> {
        match self.recognise() {
            // The file was announced and never created.
            Err(_) if self.announced_ns.is_some() => {
                return self.forget().map(|()| Vec::new());
            }
            other => other?,
        }
        match self.remove()? {
            CreatedRemoval::Removed
            | CreatedRemoval::NeverCreated
            | CreatedRemoval::AlreadyRemoved => Ok(Vec::new()),
            CreatedRemoval::RemovedAllBut(staying) => Ok(staying),
            CreatedRemoval::InUse => self.abandon(),
            CreatedRemoval::Unrecognised(why) => Err(why.into()),
        }
    }

    /// Leaves the removal to the last process that uses the file.
    fn abandon(&self) -> io::Result<Vec<PathBuf>> {
        // With this lock, no other process is the last one yet.
        self.hold()?;
        let is_it = |it: &Self| it.record == self.record;
        let Some(mut record) = self.store().list().into_iter().find(is_it) else {
            return Ok(Vec::new());
        };
        record.is_abandoned = true;
        record.save()?;
        match record_lock::claim(&self.record)? {
            Some(claim) => record.remove_last(&claim),
            None => Ok(Vec::new()),
        }
    }

    /// Removes the file as its last user; returns the directories that stay.
    fn remove_last(&self, claim: &RecordClaim) -> io::Result<Vec<PathBuf>> {
        match self.remove_claimed(claim)? {
            CreatedRemoval::RemovedAllBut(staying) => Ok(staying),
            CreatedRemoval::Removed
            | CreatedRemoval::InUse
            | CreatedRemoval::NeverCreated
            | CreatedRemoval::AlreadyRemoved => Ok(Vec::new()),
            CreatedRemoval::Unrecognised(why) => Err(why.into()),
        }
    }

    /// Removes the record of a file that is not recognised; the file stays. Returns whether it did:
    /// not if another process uses the file, or if it is recognised again.
    ///
    /// # Errors
    /// The system's error; the record stays.
    pub fn forget_unrecognised(&self) -> io::Result<bool> {
        let Some(_claim) = record_lock::claim(&self.record)? else { return Ok(false) };
        if self.is_unchanged() {
            return Ok(false);
        }
        self.forget().map(|()| true)
    }

    /// Removes the record and its lock.
    pub(super) fn forget(&self) -> io::Result<()> {
        self.close();
        fs::remove_file(&self.record)?;
        drop(fs::remove_file(record_lock::path(&self.record)));
        record_lock::release(&self.record);
        Ok(())
    }
}

/// Removes the folder of a tree. It stays if it contains others' files, and is added to `staying`
/// unless a directory below already shows that.
fn remove_tree_folder(folder: &Path, staying: &mut Vec<PathBuf>) {
    let removed = std::fs::remove_dir(folder);
    let is_full = removed.is_err_and(|error| error.kind() == io::ErrorKind::DirectoryNotEmpty);
    if is_full && staying.is_empty() {
        staying.push(folder.to_path_buf());
    }
}

fn is_missing(path: &Path) -> bool {
    let found = fs::symlink_metadata(path);
    found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
