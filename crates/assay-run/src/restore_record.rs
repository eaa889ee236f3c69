//! Record of the factors to restore, in the store: if assay is killed, the next run reports them.
//!
//! The process that owns a record holds a lock on it, which the system releases with the process.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use assay_model::phrase;
use assay_store::Store;
use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::failure::CommandFailure;
use crate::listener::Listener;

/// Identifier of the phrase about a level that is still applied.
pub const UNRESTORED: &str = "unrestored";
/// Folder of the records in the store.
const FOLDER: &str = "applied-factors";
/// Maximum size of a record that is read.
const MAX_BYTES: u64 = 1 << 20;

/// Factor of which a level may still be applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UnrestoredFactor {
    /// Its name.
    pub(crate) factor: String,
    /// Command that restores the earlier state.
    pub(crate) command: String,
}

/// Record of a measurement in progress.
#[derive(Debug)]
pub(crate) struct RestoreRecord {
    path: PathBuf,
    file: File,
}

impl RestoreRecord {
    /// Writes a record, and holds it until it is removed or dropped, or this process ends.
    pub(crate) fn write(
        store: &Store,
        name: &str,
        all: &[UnrestoredFactor],
    ) -> Result<Self, CommandFailure> {
        let folder = store.folder().join(FOLDER);
        let path = folder.join(format!("{name}.json"));
        let write = || -> io::Result<File> {
            fs::create_dir_all(&folder)?;
            let mut file = fs::File::create_new(&path)?.into_parts().0;
            file.lock()?;
            write_all(&mut file, all)?;
            Ok(file)
        };
        let file = write().map_err(|error| failure(&path, &error))?;
        Ok(Self { path, file })
    }

    /// Returns a record that cannot be written.
    #[cfg(test)]
    pub(crate) fn on_full_disk() -> Self {
        let file = File::options().write(true).open("/dev/full").unwrap();
        Self { path: PathBuf::from("none.json"), file }
    }

    /// Leaves in the record what could not be restored.
    pub(crate) fn update(&mut self, left: &[UnrestoredFactor]) -> Result<(), CommandFailure> {
        write_all(&mut self.file, left).map_err(|error| failure(&self.path, &error))
    }

    /// Removes the record after everything was restored.
    pub(crate) fn remove(self) -> Result<(), CommandFailure> {
        fs::remove_file(&self.path).map_err(|error| failure(&self.path, &error))
    }
}

fn write_all(file: &mut File, all: &[UnrestoredFactor]) -> io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(&serde_json::to_vec_pretty(all)?)?;
    file.sync_all()
}

fn failure(path: &Path, error: &io::Error) -> CommandFailure {
    CommandFailure::measurement(format!(
        "cannot record what has to be restored in {}",
        path.display()
    ))
    .with_cause(error)
    .with_known_advice()
}

/// Reports the levels that killed measurements left applied.
pub fn report_unrestored(store: &Store, listener: &mut dyn Listener) {
    for (left, record) in find_unrestored(store) {
        listener.warn(&phrase!(
            "unrestored",
            "a measurement that was killed left a level of {factor} applied; restore by {command}, then delete {file}",
            factor = left.factor,
            command = format!("`{}`", left.command),
            file = record.display().to_string(),
        ));
    }
}

/// Returns the factors that earlier measurements in this store left applied, each with the file of
/// its record. Records of measurements in progress are left out, and so are unreadable ones.
fn find_unrestored(store: &Store) -> Vec<(UnrestoredFactor, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(store.folder().join(FOLDER)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    let all = paths.into_iter().filter_map(|path| {
        let left = read_abandoned(&path)?;
        Some(left.into_iter().map(move |it| (it, path.clone())))
    });
    all.flatten().collect()
}

/// Reads a record that no process holds.
fn read_abandoned(path: &Path) -> Option<Vec<UnrestoredFactor>> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return None,
    }
    let mut text = Vec::new();
    (&file).take(MAX_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_reported_after_their_process() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let factor = |name: &str| UnrestoredFactor {
            factor: name.to_owned(),
            command: format!("reset {name}"),
        };
        let both = [factor("a"), factor("b")];
        let mut record = RestoreRecord::write(&store, "x", &both).unwrap();
        assert_eq!(find_unrestored(&store), [], "in progress");
        record.update(&both[1..]).unwrap();
        drop(record);
        let found = find_unrestored(&store);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, factor("b"));
        assert!(found[0].1.is_file());
        let restored = RestoreRecord::write(&store, "y", &both).unwrap();
        restored.remove().unwrap();
        // A killed process releases its lock.
        drop(RestoreRecord::write(&store, "z", &both[..1]).unwrap());
        let names: Vec<_> = find_unrestored(&store).into_iter().map(|it| it.0.factor).collect();
        assert_eq!(names, ["b", "a"]);
    }
}
