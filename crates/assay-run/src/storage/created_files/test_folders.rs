//! Folders of mdtest: recorded like files, and removed with the directories and files in them that
//! have mdtest's names.

use std::io;
use std::path::Path;

use rustix::fs::OFlags;

use super::{CreatedFiles, CreatedKind, CreatedRecord};
use crate::failure::CommandFailure;
use crate::storage::safe_open;

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
        let opened = safe_open::open(path, OFlags::RDONLY | OFlags::DIRECTORY);
        let kept = opened
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

    /// Removes the folder, which is empty, and its record. A folder that contains files of others
    /// stays, and so does its record; returns whether it was removed.
    ///
    /// # Errors
    /// The system's error.
    pub fn remove_emptied_folder(&self) -> io::Result<bool> {
        match std::fs::remove_dir(&self.path) {
            Ok(()) => self.forget().map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
            Err(error) => Err(error),
        }
    }
}
