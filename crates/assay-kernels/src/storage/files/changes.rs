//! What a workload does to the files of a tree that are there already, and which of them it must leave alone.

use std::fs::Metadata;
use std::sync::atomic::AtomicBool;

use assay_model::workload::file_set::{
    FileAccess, FileOperation, FileStream, FileTree, FileWorkload,
};

use crate::storage::error::{StorageError, end_if_stopped};
use crate::storage::hard_links;

/// What happens to files of one tree that are there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// Whole files are written, or their attributes are set.
    pub rewrites: bool,
    /// Files that lack bytes are emptied and filled.
    pub fills: bool,
    /// Files are removed, so that what is written later is new.
    pub deletes: bool,
}

impl Changes {
    /// Returns what the streams of a workload do to the files of one of its trees.
    pub fn from_workload(workload: &FileWorkload, tree: usize) -> Self {
        let mut changes = Self::default();
        for stream in workload.streams.iter().filter(|stream| stream.tree == tree) {
            changes.rewrites |= rewrites(stream);
            changes.fills |= stream.operation == FileOperation::Create;
            changes.deletes |= stream.operation == FileOperation::Delete;
        }
        changes
    }

    /// Refuses the first file of the tree that would be changed under other names, too. `stop` ends
    /// the search.
    ///
    /// # Errors
    /// [`StorageError::HardLinks`]; [`StorageError::Interrupted`] once `stop` is set.
    pub fn refuse_hard_links(
        self,
        tree: &FileTree,
        stop: &AtomicBool,
    ) -> Result<(), StorageError> {
        if !(self.rewrites || self.fills) {
            return Ok(());
        }
        for number in 0..tree.file_count().unwrap_or(0) {
            end_if_stopped(stop)?;
            if let Ok(found) = tree.file(number).symlink_metadata() {
                self.refuse_hard_link(tree, number, &found)?;
            }
        }
        Ok(())
    }

    /// Refuses this file. One that is removed first cannot be changed; whoever opens it looks again.
    pub(super) fn refuse_hard_link(
        self,
        tree: &FileTree,
        number: u64,
        found: &Metadata,
    ) -> Result<(), StorageError> {
        let lacks_bytes = found.len() != tree.file_bytes(number);
        let is_changed = self.rewrites || self.fills && lacks_bytes;
        match hard_links::several(found).filter(|_| is_changed && !self.deletes) {
            Some(links) => Err(StorageError::HardLinks { path: tree.file(number), links }),
            None => Ok(()),
        }
    }
}

fn rewrites(stream: &FileStream) -> bool {
    match (stream.operation, stream.read_share) {
        (FileOperation::Setattr, _) => true,
        (FileOperation::Read | FileOperation::Write, Some(share)) => share < 1.0,
        // Files that are written anew are removed first.
        (FileOperation::Write, None) => stream.access != FileAccess::SequentialAnew,
        _ => false,
    }
}
