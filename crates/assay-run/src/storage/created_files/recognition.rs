//! Decision whether the file at a path is the one that a record describes. Changes nothing on disk.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::UNIX_EPOCH;

use fs_err as fs;
use rustix::io::Errno;

use super::{CreatedRecord, LeftState, MARK_ATTRIBUTE};

/// Maximum time between the announcement of a file and its birth. A file born later belongs to
/// someone else.
const MAX_CREATION_DELAY_NS: u64 = 5_000_000_000;

/// Longest tick of the kernel's clock for file times, at 100 Hz.
pub(super) const TICK_NS: u64 = 10_000_000;

/// Reason for which a file does not count as the one that assay created.
#[derive(Debug, thiserror::Error)]
pub enum UnrecognisedFile {
    /// There is no file at the path.
    #[error("it was moved or deleted")]
    Missing,
    /// The path leads to another file.
    #[error("another file is in its place")]
    Replaced,
    /// The extended attribute is missing or differs.
    #[error("it has lost its attribute {MARK_ATTRIBUTE}")]
    Unmarked,
    /// The file is longer than assay made it, or was changed after its last use.
    #[error("another program has changed it")]
    Changed,
    /// The system does not show it.
    #[error("{0}")]
    Unreadable(io::Error),
}

impl From<UnrecognisedFile> for io::Error {
    fn from(why: UnrecognisedFile) -> Self {
        match why {
            UnrecognisedFile::Unreadable(error) => error,
            other => Self::other(other.to_string()),
        }
    }
}

impl CreatedRecord {
    /// Whether the file at the path is the one that was created, and only assay has changed it.
    pub fn is_unchanged(&self) -> bool {
        self.recognise().is_ok()
    }

    /// Checks that the file at the path is the one that was created, and that only assay has
    /// changed it.
    ///
    /// # Errors
    /// The reason for which it does not count as that file.
    pub fn recognise(&self) -> Result<(), UnrecognisedFile> {
        let folder = self.path.parent();
        let is_straight =
            folder.is_some_and(|it| it.canonicalize().is_ok_and(|found| found == it));
        let found = match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(UnrecognisedFile::Missing);
            }
            other => other.map_err(UnrecognisedFile::Unreadable)?,
        };
        // An inode alone proves nothing: numbers are reused. A file that is open keeps its inode, and
        // one that replaces it later has another time of change, which is compared below.
        let is_born = match self.born_ns {
            None => self.mark.is_some() || self.left.is_some() || self.is_open_here(),
            born => born_ns(&found) == born,
        };
        let is_same =
            self.has_kind(&found) && (found.dev(), found.ino()) == (self.device, self.inode);
        // With a link in the path, it leads to another file than the recorded one.
        if !is_straight || !is_same || !is_born {
            return Err(UnrecognisedFile::Replaced);
        }
        self.check_mark()?;
        let is_untouched = match self.left {
            Some(left) => left == LeftState::from_metadata(&found),
            None => self.is_test_folder() || found.len() <= self.most_bytes,
        };
        if is_untouched { Ok(()) } else { Err(UnrecognisedFile::Changed) }
    }

    /// Whether it is a file, or the folder that the record covers.
    fn has_kind(&self, found: &std::fs::Metadata) -> bool {
        if self.is_test_folder() { found.is_dir() } else { found.is_file() }
    }

    /// Checks the extended attribute of the file.
    fn check_mark(&self) -> Result<(), UnrecognisedFile> {
        let Some(mark) = &self.mark else { return Ok(()) };
        let mut bytes = [0; 64];
        match rustix::fs::lgetxattr(&self.path, MARK_ATTRIBUTE, &mut bytes) {
            Ok(length) if bytes.get(..length) == Some(mark.as_bytes()) => Ok(()),
            Ok(_) | Err(Errno::NODATA | Errno::RANGE) => Err(UnrecognisedFile::Unmarked),
            Err(error) => Err(UnrecognisedFile::Unreadable(error.into())),
        }
    }

    /// Accepts the file of an announced record after a crash, if it is empty and was born at the
    /// time of the announcement.
    pub(super) fn adopt_if_empty(&mut self) {
        let Some(announced_ns) = self.announced_ns else { return };
        let Ok(found) = fs::symlink_metadata(&self.path) else { return };
        // File times advance in ticks of the kernel, so a birth may appear to precede the
        // announcement.
        let first_ns = announced_ns.saturating_sub(TICK_NS);
        let at_once = first_ns..announced_ns.saturating_add(MAX_CREATION_DELAY_NS);
        let is_born = born_ns(&found).is_some_and(|it| at_once.contains(&it));
        let is_empty = match self.is_test_folder() {
            true => fs::read_dir(&self.path).is_ok_and(|mut it| it.next().is_none()),
            false => found.len() == 0,
        };
        if self.has_kind(&found) && is_empty && is_born {
            self.set_identity(&found);
            self.is_adopted = true;
        }
    }
}

/// Returns the time of birth of a file, in nanoseconds since 1970, if its file system stores it.
pub(super) fn born_ns(found: &std::fs::Metadata) -> Option<u64> {
    let since = found.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}
