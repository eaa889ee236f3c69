//! Note of a removal that has begun. After a kill between the removal of a file and that of its
//! record, it shows that the file is gone and not moved.
//!
//! The note is in the lock of the record. It counts only for the record as it was then, and only
//! while the folder is the same: an unmounted volume hides its files and has removed none.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::{CreatedKind, CreatedRecord};
use crate::storage::record_lock::{self, RecordClaim};

/// Device and inode of a folder.
type FolderIdentity = (u64, u64);

/// Place of the removed file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RemovalNote {
    /// Signature of the record: a later use of the file changes it.
    signature: String,
    folder: FolderIdentity,
    /// Folder that contains `folder`, which the removal of a tree may remove.
    above: Option<FolderIdentity>,
}

impl CreatedRecord {
    /// Notes that the removal of the file begins. Without the note, on a full disk, only an
    /// interrupted removal needs the user's attention later.
    pub(super) fn note_removal(&self, claim: &RecordClaim) {
        let note = self.removal_note().and_then(|note| serde_json::to_vec(&note).ok());
        if let Some(text) = note {
            claim.write_note(&text);
        }
    }

    fn removal_note(&self) -> Option<RemovalNote> {
        let folder = self.path.parent()?;
        let signature = self.with_signature(&self.store().key().ok()?).signature;
        let above = folder.parent().and_then(identify_folder);
        Some(RemovalNote { signature, folder: identify_folder(folder)?, above })
    }

    /// Whether an interrupted removal has removed the file, which is missing now.
    pub(super) fn was_removed(&self) -> bool {
        let text = record_lock::read_note(&self.record);
        let note = text.and_then(|text| serde_json::from_slice::<RemovalNote>(&text).ok());
        let (Some(note), Some(folder)) = (note, self.path.parent()) else { return false };
        let signed = self.store().key().map(|key| self.with_signature(&key).signature);
        if !signed.is_ok_and(|it| it == note.signature) {
            return false;
        }
        if let Some(found) = identify_folder(folder) {
            return found == note.folder;
        }
        let is_removed_too = self.made == CreatedKind::TreeAndFolder && !folder.exists();
        is_removed_too
            && note.above.is_some()
            && folder.parent().and_then(identify_folder) == note.above
    }
}

fn identify_folder(path: &Path) -> Option<FolderIdentity> {
    let found = fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_dir)?;
    Some((found.dev(), found.ino()))
}
