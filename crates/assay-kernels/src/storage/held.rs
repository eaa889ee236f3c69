//! What a caller keeps over phases: files and devices that are open, so that a path means the same in all of them,
//! and the engines that were chosen for them.
//!
//! What somebody puts at the path later, a link or another file, is never opened.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::choice::Chosen;

/// Descriptors by the paths that they were opened by.
#[derive(Debug, Default)]
pub struct Held {
    files: Mutex<BTreeMap<PathBuf, Arc<File>>>,
    /// The engine that a contest has chosen, by the targets that it was about.
    contests: Mutex<BTreeMap<Vec<PathBuf>, Chosen>>,
}

impl Held {
    /// Holds a file under a path; what was held under it is let go.
    pub fn hold(&self, path: &Path, file: Arc<File>) {
        self.files().insert(path.to_path_buf(), file);
    }

    /// The descriptor that is held under a path.
    #[must_use]
    pub fn file(&self, path: &Path) -> Option<Arc<File>> {
        self.files().get(path).cloned()
    }

    /// What is held, as it is now.
    ///
    /// # Errors
    /// The system's error; `None` where nothing is held under the path.
    pub fn metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        self.file(path).map(|file| file.metadata()).transpose()
    }

    /// Lets go of everything that `keeps` does not want to hold on to.
    pub fn retain(&self, mut keeps: impl FnMut(&Path, &File) -> bool) {
        self.files().retain(|path, file| keeps(path, file));
    }

    /// Every path that is held.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        self.files().keys().cloned().collect()
    }

    /// The path by which the target is opened: through the descriptor where there is one. It is that of the
    /// calling thread, as threads may have tables of their own.
    pub(super) fn place(&self, path: &Path) -> PathBuf {
        let files = self.files();
        let held = files.get(path);
        held.map_or_else(
            || path.to_path_buf(),
            |file| PathBuf::from(format!("/proc/thread-self/fd/{}", file.as_raw_fd())),
        )
    }

    /// The engine that was chosen for these targets before.
    pub(super) fn chosen(&self, targets: &[PathBuf]) -> Option<Chosen> {
        self.contests().get(targets).cloned()
    }

    /// Notes what a contest has chosen for them.
    pub(super) fn note_chosen(&self, targets: Vec<PathBuf>, chosen: Chosen) {
        self.contests().insert(targets, chosen);
    }

    fn contests(&self) -> MutexGuard<'_, BTreeMap<Vec<PathBuf>, Chosen>> {
        self.contests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing that is locked here can be left half changed.
    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<File>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
