//! Locks on the records of created files: every process that uses a file holds a shared lock, the
//! one that removes it an exclusive one.
//!
//! The kernel releases them with the process. They hold between PID namespaces, and do not depend
//! on the name of the program. A lock is a file beside the record, which itself is replaced.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use assay_model::poisoned_lock::PoisonedLock as _;
use rustix::fs::OFlags;

use super::safe_open;

/// Maximum wait for a process that holds the exclusive lock, which removes one file or lists the
/// records: both take milliseconds on a disk.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// Limit for the size of a note, which is a signature and four numbers.
const MAX_NOTE_BYTES: u64 = 1024;
/// Time between two attempts.
const RETRY: Duration = Duration::from_millis(10);

/// Use of a file by this process.
#[derive(Debug)]
struct HeldRecord {
    lock: File,
    /// Whether this process writes the file.
    is_written: bool,
}

/// Locks that this process holds for its uses, by record.
static HELD: Mutex<BTreeMap<PathBuf, HeldRecord>> = Mutex::new(BTreeMap::new());

/// Exclusive lock on a record, until dropped.
#[derive(Debug)]
pub(super) struct RecordClaim {
    lock: File,
}

impl RecordClaim {
    /// Replaces the note in the lock. On a full disk the note is lost.
    pub(super) fn write_note(&self, text: &[u8]) {
        let emptied = self.lock.set_len(0);
        drop(emptied.and_then(|()| self.lock.write_all_at(text, 0)));
    }
}

/// Returns the note in the lock of a record; `None` if there is no lock.
pub(super) fn read_note(record: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    open(record, false).ok()?.take(MAX_NOTE_BYTES).read_to_end(&mut text).ok()?;
    Some(text)
}

fn held() -> MutexGuard<'static, BTreeMap<PathBuf, HeldRecord>> {
    HELD.lock().even_if_poisoned()
}

/// Returns the path of the lock of a record.
pub(super) fn path(record: &Path) -> PathBuf {
    record.with_extension("lock")
}

/// Holds a shared lock until [`claim`] or [`release`], because this process uses the file of the
/// record.
pub(super) fn hold(record: &Path, is_written: bool) -> io::Result<()> {
    let mut held = held();
    if let Some(it) = held.get_mut(record) {
        it.is_written |= is_written;
        return Ok(());
    }
    let began = Instant::now();
    loop {
        let file = open(record, true)?;
        let is_held = match file.try_lock_shared() {
            Ok(()) => is_current(record, &file),
            Err(TryLockError::WouldBlock) => false,
            // The file system has no locks.
            Err(TryLockError::Error(_)) => true,
        };
        if is_held {
            held.insert(record.to_path_buf(), HeldRecord { lock: file, is_written });
            return Ok(());
        }
        if began.elapsed() > MAX_WAIT {
            return Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "another assay is removing it",
            ));
        }
        std::thread::sleep(RETRY);
    }
}

/// Whether this process writes the file; `None` if it does not use it.
pub(super) fn own_use(record: &Path) -> Option<bool> {
    held().get(record).map(|it| it.is_written)
}

/// Releases the shared lock of this process.
pub(super) fn release(record: &Path) {
    held().remove(record);
}

/// Releases all shared locks of this process on records in `folder`.
pub(super) fn release_all(folder: &Path) {
    held().retain(|record, _| record.parent() != Some(folder));
}

/// Takes the exclusive lock, in place of the shared one of this process; `None` if another process
/// uses the file.
pub(super) fn claim(record: &Path) -> io::Result<Option<RecordClaim>> {
    loop {
        let own = held().remove(record);
        let file = own.map_or_else(|| open(record, true), |own| Ok(own.lock))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Ok(()) if !is_current(record, &file) => {}
            // Without locks on the file system, the caller has asked for the process.
            Ok(()) | Err(TryLockError::Error(_)) => {
                return Ok(Some(RecordClaim { lock: file }));
            }
        }
    }
}

/// Holds the exclusive lock until [`claim`] or [`release`], in place of the shared one of this
/// process. Returns whether it does: not if another process uses the file.
pub(super) fn hold_exclusively(record: &Path) -> io::Result<bool> {
    let began = Instant::now();
    loop {
        if let Some(RecordClaim { lock }) = claim(record)? {
            held().insert(record.to_path_buf(), HeldRecord { lock, is_written: true });
            return Ok(true);
        }
        // A process that lists the records has the lock for a moment.
        if began.elapsed() > MAX_WAIT {
            return Ok(false);
        }
        std::thread::sleep(RETRY);
    }
}

/// Whether another process uses the file of the record; `None` if no lock can tell, as for records
/// of earlier versions. Creates nothing.
pub(super) fn is_held_elsewhere(record: &Path) -> Option<bool> {
    if held().contains_key(record) {
        return Some(false);
    }
    match open(record, false).ok()?.try_lock() {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}

fn open(record: &Path, creates: bool) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(creates).truncate(false).mode(0o600);
    options.custom_flags(flags.bits().cast_signed()).open(path(record))
}

/// Whether the lock is still the one beside the record, and not that of a removed one.
fn is_current(record: &Path, file: &File) -> bool {
    let found = path(record).symlink_metadata();
    found.and_then(|found| Ok(safe_open::is_same(&found, &file.metadata()?))).unwrap_or(false)
}
