//! Folders of mdtest: recorded like files, and removed with the directories and files in them that
//! have mdtest's names.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;

use super::{CreatedFiles, CreatedKind, CreatedRecord, UnrecognisedFile};
use crate::failure::CommandFailure;
use crate::storage::{record_lock, safe_open};

impl CreatedFiles {
    /// Creates a folder, and its record.
    ///
    /// # Errors
    /// If the folder exists, or it or its record cannot be created.
    pub fn create_test_folder(&self, path: &Path) -> Result<CreatedRecord, CommandFailure> {
        let cannot = |error: &io::Error| {
            let what = format!("cannot create the folder {}", path.display());
            CommandFailure::measurement(what).with_cause(error).with_known_advice()
        };
        let announced = self.announce(path, 0, CreatedKind::TestFolder);
        let mut record = announced.map_err(|error| cannot(&error))?;
        std::fs::create_dir(path).map_err(|error| {
            // Our folder does not exist, so the record is not needed.
            drop(record.forget());
            cannot(&error)
        })?;
        let kept = open_folder(path)
            .and_then(|folder| {
                record.set_mark(&folder).and_then(|()| record.keep_open(&folder))
            })
            .and_then(|()| record.save());
        kept.map_err(|error| {
            // The folder is empty and was just created.
            drop(std::fs::remove_dir(path));
            drop(record.forget());
            cannot(&error)
        })?;
        Ok(record)
    }
}

impl CreatedRecord {
    /// Whether the record covers a folder of mdtest.
    pub fn is_test_folder(&self) -> bool {
        self.made == CreatedKind::TestFolder
    }

    /// Opens the folder, which must be the recorded one.
    ///
    /// # Errors
    /// The system's error, or that another folder is in its place.
    pub fn open_recorded_folder(&self) -> io::Result<File> {
        let folder = open_folder(&self.path)?;
        let found = folder.metadata()?;
        match (found.dev(), found.ino()) == (self.device, self.inode) {
            true => Ok(folder),
            false => Err(UnrecognisedFile::Replaced.into()),
        }
    }

    /// Records that this process renames or removes items in the folder, and that no other process
    /// uses it meanwhile.
    ///
    /// # Errors
    /// The system's error; that another process uses the folder, or has changed it.
    pub fn begin_exclusive_use(&mut self) -> io::Result<()> {
        if self.is_in_use() || !record_lock::hold_exclusively(&self.record)? {
            return Err(used_elsewhere());
        }
        self.recognise()?;
        self.begin_use(0)
    }

    /// Removes the folder, which is empty, and its record. A folder that contains files of others
    /// stays, and so does its record; returns whether it was removed.
    ///
    /// # Errors
    /// The system's error, or that another process uses the folder.
    pub fn remove_emptied_folder(&self) -> io::Result<bool> {
        let Some(_claim) = record_lock::claim(&self.record)? else {
            return Err(used_elsewhere());
        };
        if remove_same_folder(&self.path, (self.device, self.inode))? {
            self.forget().map(|()| true)
        } else {
            self.clone().end_use().map(|()| false)
        }
    }
}

/// Opens a folder; refuses links in its path.
pub fn open_folder(path: &Path) -> io::Result<File> {
    safe_open::open(path, OFlags::RDONLY | OFlags::DIRECTORY)
}

/// Removes an empty folder if it still has this device and inode. Returns whether it was removed:
/// not if it contains files, or if it is a mount point.
///
/// # Errors
/// The system's error, or that another folder is in its place.
pub fn remove_same_folder(path: &Path, identity: (u64, u64)) -> io::Result<bool> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(false);
    };
    let parent = open_folder(parent)?;
    let found = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if (found.st_dev, found.st_ino) != identity {
        return Err(UnrecognisedFile::Replaced.into());
    }
    match rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOTEMPTY | Errno::BUSY) => Ok(false),
        other => Ok(other.map(|()| true)?),
    }
}

fn used_elsewhere() -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, "another assay is using it")
}
