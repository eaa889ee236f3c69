//! Lock of a store among processes that look for a file before they store it. It never excludes
//! readers, or the writers of measured runs.

use std::fs::TryLockError;
use std::thread;
use std::time::{Duration, Instant};

use fs_err::{File, OpenOptions};

use crate::layout::StoreLayout;

/// Maximum time to wait for another process, which may be stopped. After that this process goes on
/// without the lock: a file may be stored twice, which loses nothing.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Exclusive lock of a store's format file.
#[derive(Debug)]
pub struct StoreLock {
    /// The locked file, which the system unlocks when it is closed.
    _file: Option<File>,
}

impl StoreLock {
    pub(crate) fn acquire(layout: &StoreLayout) -> Self {
        // NFS locks only files that are open for writing.
        let file = OpenOptions::new().write(true).open(layout.format());
        Self { _file: file.ok().filter(|file| lock_within(file, PATIENCE)) }
    }
}

/// Locks the file; returns false on a file system without locks, or if another process holds the lock
/// for longer.
fn lock_within(file: &File, patience: Duration) -> bool {
    let start = Instant::now();
    loop {
        match file.file().try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) if start.elapsed() < patience => {
                thread::sleep(POLL_INTERVAL);
            }
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_excludes_another_one_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let layout = StoreLayout::create(folder.path().join("store")).unwrap();
        let other = File::open(layout.format()).unwrap();
        let lock = StoreLock::acquire(&layout);
        assert!(!lock_within(&other, Duration::from_millis(30)));
        drop(lock);
        assert!(lock_within(&other, Duration::ZERO));
    }
}
