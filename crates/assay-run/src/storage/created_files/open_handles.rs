//! Open handles of created files that nothing else identifies: neither a time of birth nor an
//! attribute. While a file is open, its inode belongs to no other file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use assay_model::poisoned_lock::PoisonedLock as _;

use super::CreatedRecord;

/// Handles by the path of their record.
static HANDLES: Mutex<BTreeMap<PathBuf, File>> = Mutex::new(BTreeMap::new());

impl CreatedRecord {
    /// Keeps the new file open until it is removed or the process ends, if nothing else identifies
    /// it.
    pub(super) fn keep_open(&self, file: &File) -> io::Result<()> {
        if self.born_ns.is_none() && self.mark.is_none() {
            handles().insert(self.record.clone(), file.try_clone()?);
        }
        Ok(())
    }

    /// Whether this process has the file open, and it is the recorded one.
    pub(super) fn is_open_here(&self) -> bool {
        let handles = handles();
        let open = handles.get(&self.record).and_then(|file| file.metadata().ok());
        open.is_some_and(|found| (found.dev(), found.ino()) == (self.device, self.inode))
    }

    /// Closes the handle: NFS renames an open file instead of removing it.
    pub(super) fn close(&self) {
        handles().remove(&self.record);
    }
}

fn handles() -> MutexGuard<'static, BTreeMap<PathBuf, File>> {
    HANDLES.lock().even_if_poisoned()
}
