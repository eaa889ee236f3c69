//! Refuses to write files with several hard links: a write would change the file under every name.
//!
//! Looks at what was opened, so that no path is resolved twice. Never asks where the other names are.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::error::StorageError;

/// Returns the number of hard links of a file that has several. Devices and folders never count.
pub fn several(found: &Metadata) -> Option<u64> {
    (found.is_file() && found.nlink() > 1).then(|| found.nlink())
}

/// Refuses an opened target with several hard links.
pub(super) fn refuse(file: &File, path: &Path) -> Result<(), StorageError> {
    let found = file
        .metadata()
        .map_err(|source| StorageError::Open { path: path.to_path_buf(), source })?;
    match several(&found) {
        Some(links) => Err(StorageError::HardLinks { path: path.to_path_buf(), links }),
        None => Ok(()),
    }
}

/// Refuses an opened file of a tree with several hard links; returns its metadata otherwise.
pub(super) fn refuse_in_tree(file: &File) -> io::Result<Metadata> {
    let found = file.metadata()?;
    match several(&found) {
        Some(links) => Err(io::Error::other(format!(
            "it has {links} hard links, and a write would change the file under its other names"
        ))),
        None => Ok(found),
    }
}
