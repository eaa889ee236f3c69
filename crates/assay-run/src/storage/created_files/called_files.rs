//! Files that the calls of a phase created or deleted themselves: their records after the phase.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use assay_kernels::storage::OpenTargets;
use assay_model::workload::storage::{FileCall, StorageStream, StorageWorkload};
use fs_err as fs;
use rustix::fs::OFlags;

use super::{CreatedFiles, CreatedRecord};
use crate::failure::CommandFailure;
use crate::storage::target_path::resolve_path;
use crate::storage::{record_lock, safe_open};

impl CreatedFiles {
    /// Records which files the calls of a phase created and deleted. `held` knows the created ones.
    ///
    /// # Errors
    /// If a record cannot be written.
    pub fn settle_calls(
        &self,
        workload: &StorageWorkload,
        held: &OpenTargets,
    ) -> Result<(), CommandFailure> {
        let changes = |stream: &&StorageStream| {
            matches!(stream.conduct.file_call, Some(FileCall::Create | FileCall::Delete))
        };
        let streams = workload.streams.iter().filter(changes);
        let mut targets: BTreeMap<PathBuf, Vec<&Path>> = BTreeMap::new();
        for target in streams.flat_map(|it| &it.targets) {
            let path = workload.targets[*target].path.as_path();
            targets.entry(resolve_path(path)?).or_default().push(path);
        }
        if targets.is_empty() {
            return Ok(());
        }
        self.settle(&targets, held).map_err(|error| {
            CommandFailure::measurement("cannot write the list of files that assay created")
                .with_cause(&error)
        })
    }

    /// Completes the records of announced files that calls have created, and removes those of deleted
    /// files and of files that someone else has created. The targets have their resolved path and all
    /// that lead to it.
    fn settle(
        &self,
        targets: &BTreeMap<PathBuf, Vec<&Path>>,
        held: &OpenTargets,
    ) -> io::Result<()> {
        let is_used = |record: &CreatedRecord| record_lock::own_use(&record.record).is_some();
        let mut records = self.list();
        records.retain(|record| targets.contains_key(&record.path) && is_used(record));
        for mut record in records {
            match fs::symlink_metadata(&record.path) {
                // An announced file may still be created by a later phase.
                Err(_) if record.announced_ns.is_some() => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => record.forget()?,
                Err(error) => return Err(error),
                Ok(found)
                    if targets[&record.path].iter().any(|it| held.is_created(it, &found)) =>
                {
                    record.complete_call(&found)?;
                }
                Ok(_) if record.announced_ns.is_some() || record.is_adopted => {
                    record.forget()?;
                }
                Ok(_) => {}
            }
        }
        Ok(())
    }
}

impl CreatedRecord {
    /// Describes the announced file that a call has created. One with contents has been written by
    /// someone else.
    fn complete_call(&mut self, found: &std::fs::Metadata) -> io::Result<()> {
        let is_complete = self.mark.is_some() || self.left.is_some() || self.most_bytes > 0;
        if is_complete || !found.is_file() || found.len() > 0 {
            return Ok(());
        }
        let file = safe_open::open(&self.path, OFlags::RDWR)?;
        self.set_mark(&file)?;
        self.keep_open(&file)?;
        self.save()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that no call has created is someone else's, however new and empty it is.
    #[test]
    fn new_file_of_another_is_not_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let created = CreatedFiles::open(Some(folder.path())).unwrap();
        let [empty, full, later] = ["empty", "full", "later"].map(|it| folder.path().join(it));
        for path in [&empty, &full, &later] {
            created.announce_call(path).unwrap();
        }
        std::fs::write(&empty, "").unwrap();
        std::fs::write(&full, "precious").unwrap();
        let targets = [&empty, &full, &later].map(|it| (it.clone(), vec![it.as_path()]));
        created.settle(&BTreeMap::from(targets), &OpenTargets::default()).unwrap();
        let left: Vec<PathBuf> = created.list().into_iter().map(|it| it.path).collect();
        assert_eq!(left, [later], "a later phase may create it");
        assert!(empty.exists() && full.exists());
    }
}
