//! Lock of a store among processes that look for a file before they store it. It never excludes
//! readers, or the writers of measured runs.

use std::io::ErrorKind;

use fs_err::File;

use crate::layout::StoreLayout;

/// Exclusive lock of a store's folder.
#[derive(Debug)]
pub struct StoreLock {
    /// The locked folder, which the system unlocks when it is closed.
    _folder: Option<File>,
}

impl StoreLock {
    pub(crate) fn acquire(layout: &StoreLayout) -> Self {
        let Ok(folder) = File::open(layout.folder()) else { return Self { _folder: None } };
        // A signal interrupts the wait.
        while folder.file().lock().is_err_and(|error| error.kind() == ErrorKind::Interrupted) {}
        Self { _folder: Some(folder) }
    }
}
