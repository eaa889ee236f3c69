//! State that a caller keeps across phases: open files and devices, so that a path refers to the
//! same target in all of them, and the engines selected for them.
//!
//! A link or file that replaces the path later is never opened.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use assay_model::poisoned_lock::PoisonedLock as _;

use super::engine::FileIdentity;
use super::engine_selection::ChosenEngine;

/// Descriptors by the paths that they were opened with.
#[derive(Debug, Default)]
pub struct OpenTargets {
    files: Mutex<BTreeMap<PathBuf, Arc<File>>>,
    /// Engines selected by comparison, by targets.
    engines: Mutex<BTreeMap<Vec<PathBuf>, ChosenEngine>>,
    /// Files that calls have created, by the paths of their targets.
    created: Mutex<BTreeMap<PathBuf, FileIdentity>>,
}

impl OpenTargets {
    /// Keeps a file open under a path; replaces the previous one.
    pub fn insert(&self, path: &Path, file: Arc<File>) {
        self.lock_files().insert(path.to_path_buf(), file);
    }

    /// Returns the file that is kept open under a path.
    pub fn file(&self, path: &Path) -> Option<Arc<File>> {
        self.lock_files().get(path).cloned()
    }

    /// Returns the current metadata of the file under a path; `None` if there is none.
    ///
    /// # Errors
    /// The system's error.
    pub fn metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        self.file(path).map(|file| file.metadata()).transpose()
    }

    /// Closes every file for which `keeps` returns false.
    pub fn retain(&self, mut keeps: impl FnMut(&Path, &File) -> bool) {
        self.lock_files().retain(|path, file| keeps(path, file));
    }

    /// Closes files under all of their paths.
    pub(super) fn close(&self, files: &BTreeSet<FileIdentity>) {
        let is_other = |found: &Metadata| !files.contains(&FileIdentity::of(found));
        self.retain(|_, file| file.metadata().is_ok_and(|found| is_other(&found)));
    }

    /// Stores the identity of the file that a call has created under a path.
    pub(super) fn note_created(&self, path: &Path, identity: FileIdentity) {
        self.created.lock().even_if_poisoned().insert(path.to_path_buf(), identity);
    }

    /// Whether a call has created the file with this metadata under a path.
    pub fn is_created(&self, path: &Path, found: &Metadata) -> bool {
        let created = self.created.lock().even_if_poisoned();
        created.get(path) == Some(&FileIdentity::of(found))
    }

    /// Returns the paths of all open files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.lock_files().keys().cloned().collect()
    }

    /// Returns the path to open a target with: that of its descriptor if there is one. The
    /// descriptor is looked up in the calling thread's table, as threads may have tables of their
    /// own.
    pub(super) fn open_path(&self, path: &Path) -> PathBuf {
        let files = self.lock_files();
        let held = files.get(path);
        held.map_or_else(
            || path.to_path_buf(),
            |file| PathBuf::from(format!("/proc/thread-self/fd/{}", file.as_raw_fd())),
        )
    }

    /// Returns the engine selected for these targets before.
    pub(super) fn chosen_engine(&self, targets: &[PathBuf]) -> Option<ChosenEngine> {
        self.lock_engines().get(targets).cloned()
    }

    /// Stores the engine that a comparison selected for these targets.
    pub(super) fn store_engine(&self, targets: Vec<PathBuf>, chosen: ChosenEngine) {
        self.lock_engines().insert(targets, chosen);
    }

    fn lock_engines(&self) -> MutexGuard<'_, BTreeMap<Vec<PathBuf>, ChosenEngine>> {
        self.engines.lock().even_if_poisoned()
    }

    /// Locks the files; no data here can be left half changed.
    fn lock_files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<File>>> {
        self.files.lock().even_if_poisoned()
    }
}
