//! Files that the calls of a phase created or deleted themselves: their records after the phase.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use assay_model::workload::storage::{FileCall, StorageStream, StorageWorkload};
use fs_err as fs;
use rustix::fs::OFlags;

use super::recognition::{TICK_NS, born_ns};
use super::{CreatedFiles, CreatedRecord};
use crate::failure::CommandFailure;
use crate::storage::target_path::resolve_path;
use crate::storage::{record_lock, safe_open};

impl CreatedFiles {
    /// Records which files the calls of a phase created and deleted.
    ///
    /// # Errors
    /// If a record cannot be written.
    pub fn settle_calls(&self, workload: &StorageWorkload) -> Result<(), CommandFailure> {
        let changes = |stream: &&StorageStream| {
            matches!(stream.conduct.file_call, Some(FileCall::Create | FileCall::Delete))
        };
        let streams = workload.streams.iter().filter(changes);
        let targets: BTreeSet<usize> =
            streams.flat_map(|it| it.targets.iter().copied()).collect();
        if targets.is_empty() {
            return Ok(());
        }
        let path = |target: usize| resolve_path(&workload.targets[target].path);
        let paths = targets.into_iter().map(path).collect::<Result<_, _>>()?;
        self.settle(&paths).map_err(|error| {
            CommandFailure::measurement("cannot write the list of files that assay created")
                .with_cause(&error)
        })
    }

    /// Completes the records of announced files that exist now, and removes those of deleted files.
    fn settle(&self, paths: &BTreeSet<PathBuf>) -> io::Result<()> {
        let is_used = |record: &CreatedRecord| record_lock::own_use(&record.record).is_some();
        let mut records = self.list();
        records.retain(|record| paths.contains(&record.path) && is_used(record));
        for mut record in records {
            match fs::symlink_metadata(&record.path) {
                // An announced file may still be created by a later phase.
                Err(_) if record.announced_ns.is_some() => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => record.forget()?,
                Err(error) => return Err(error),
                Ok(found) => record.complete_call(&found)?,
            }
        }
        Ok(())
    }
}

impl CreatedRecord {
    /// Describes the announced file that a call has created. One that was born before the announcement,
    /// or has contents, is not assay's.
    fn complete_call(&mut self, found: &std::fs::Metadata) -> io::Result<()> {
        let is_complete = self.mark.is_some() || self.left.is_some() || self.most_bytes > 0;
        let born_before = self.announced_ns.zip(born_ns(found));
        let is_older = born_before
            .is_some_and(|(announced, born)| born < announced.saturating_sub(TICK_NS));
        if is_complete || is_older || !found.is_file() || found.len() > 0 {
            return Ok(());
        }
        let file = safe_open::open(&self.path, OFlags::RDWR)?;
        self.set_mark(&file)?;
        self.keep_open(&file)?;
        self.save()
    }
}
