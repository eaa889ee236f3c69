//! Check of a plan's phases before their files are written, so that errors are found early.
//!
//! Checks only what the workload and the file system determine. Whether a target can be opened is
//! left to its phase, so that the other phases take place. Creates no permanent files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::workload::storage::{EngineChoice, Load, StorageTarget, StorageWorkload};

use super::accept;
use super::error::StorageError;
use super::polling;
use super::target::{self, Opened};

/// Granules of the files checked before, so that a plan of many phases opens each file once.
#[derive(Debug, Default)]
pub struct Foresight {
    granules: BTreeMap<PathBuf, Option<u64>>,
}

impl Foresight {
    /// Checks one phase, whose files may be empty or missing.
    ///
    /// # Errors
    /// [`StorageError::Workload`], [`StorageError::Direct`] or [`StorageError::Polling`], which
    /// [`run`](super::run) would return.
    pub fn check(&mut self, workload: &StorageWorkload) -> Result<(), StorageError> {
        if workload.engine == EngineChoice::Null {
            return Ok(());
        }
        // A share's rate is known only after the phase that it refers to.
        if !matches!(workload.load, Load::ShareOf { .. }) {
            accept::workload(workload)?;
        }
        polling::check(workload)?;
        let found: Result<Option<Vec<Opened>>, _> =
            workload.targets.iter().map(|target| self.opened(target)).collect();
        found?.map_or(Ok(()), |opened| accept::targets(workload, &opened))
    }

    /// Returns the target as it will be; `None` if that is not known yet.
    fn opened(&mut self, target: &StorageTarget) -> Result<Option<Opened>, StorageError> {
        if target.size_bytes.is_none() {
            return Ok(None);
        }
        let granule = if target.direct { self.granule(target)? } else { Some(1) };
        granule.map(|granule| Opened::foreseen(target, granule)).transpose()
    }

    fn granule(&mut self, target: &StorageTarget) -> Result<Option<u64>, StorageError> {
        if let Some(known) = self.granules.get(&target.path) {
            return Ok(*known);
        }
        let granule = target::granule_at(target)?;
        self.granules.insert(target.path.clone(), granule);
        Ok(granule)
    }
}
