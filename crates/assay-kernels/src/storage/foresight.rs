//! What a phase will be refused for, told while its files are still empty.
//!
//! Only what the workload and the file system say between them: whether a target can be opened at all is
//! told by the phase that wants it, so that the others take place. Writes nothing that stays.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::workload::storage::{EngineChoice, Load, StorageTarget, StorageWorkload};

use super::accept;
use super::error::StorageError;
use super::polling;
use super::target::{self, Opened};

/// What was asked of each file before, so that a plan of many phases opens it once.
#[derive(Debug, Default)]
pub struct Foresight {
    granules: BTreeMap<PathBuf, Option<u64>>,
}

impl Foresight {
    /// Looks at one phase, whose files may be empty or not there.
    ///
    /// # Errors
    /// [`StorageError::Workload`], [`StorageError::Direct`] or [`StorageError::Polling`], which [`run`](super::run) would give.
    pub fn check(&mut self, workload: &StorageWorkload) -> Result<(), StorageError> {
        if workload.engine == EngineChoice::Null {
            return Ok(());
        }
        // Its rate is known after the phase that it is a share of.
        if !matches!(workload.load, Load::ShareOf { .. }) {
            accept::workload(workload)?;
        }
        polling::check(workload)?;
        let found: Result<Option<Vec<Opened>>, _> =
            workload.targets.iter().map(|target| self.opened(target)).collect();
        found?.map_or(Ok(()), |opened| accept::targets(workload, &opened))
    }

    /// The target as it will be; `None` where that cannot be told yet.
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
