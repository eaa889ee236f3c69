//! Check of a plan's phases before their files are written, so that errors are found early.
//!
//! Checks only what the workload and the file system determine. Whether a target can be opened is
//! left to its phase, so that the other phases take place. Creates no permanent files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::workload::storage::{
    EngineChoice, StorageLoad, StorageTarget, StorageWorkload,
};

use super::error::StorageError;
use super::polling;
use super::target::{self, OpenedTarget};
use super::validate;

/// Granules of the files checked before, so that a plan of many phases opens each file once.
#[derive(Debug, Default)]
pub struct PhasePrecheck {
    granules: BTreeMap<PathBuf, Option<u64>>,
}

impl PhasePrecheck {
    /// Checks one phase, whose files may be empty or missing.
    ///
    /// # Errors
    /// [`StorageError::Workload`], [`StorageError::Direct`] or [`StorageError::Polling`], which
    /// [`run`](super::run) would return.
    pub fn check(&mut self, workload: &StorageWorkload) -> Result<(), StorageError> {
        if workload.engine == EngineChoice::Null {
            return Ok(());
        }
        Self::check_parameters(workload)?;
        polling::check(workload)?;
        let found: Result<Option<Vec<OpenedTarget>>, _> =
            workload.targets.iter().map(|target| self.expected_target(target)).collect();
        found?.map_or(Ok(()), |opened| validate::check_targets(workload, &opened))
    }

    /// Checks the parameters of one phase, which are the same on every host.
    ///
    /// # Errors
    /// [`StorageError::Workload`].
    pub fn check_parameters(workload: &StorageWorkload) -> Result<(), StorageError> {
        // A share's rate is known only after the phase that it refers to.
        match workload.load {
            StorageLoad::ShareOf { .. } => Ok(()),
            StorageLoad::Closed
            | StorageLoad::Balanced
            | StorageLoad::Capped { .. }
            | StorageLoad::Open { .. } => validate::check_workload(workload),
        }
    }

    /// Returns the target as it will be; `None` if that is not known yet.
    fn expected_target(
        &mut self,
        target: &StorageTarget,
    ) -> Result<Option<OpenedTarget>, StorageError> {
        if target.size_bytes.is_none() {
            return Ok(None);
        }
        let granule = if target.direct { self.granule(target)? } else { Some(1) };
        granule.map(|granule| OpenedTarget::for_future_file(target, granule)).transpose()
    }

    fn granule(&mut self, target: &StorageTarget) -> Result<Option<u64>, StorageError> {
        if let Some(known) = self.granules.get(&target.path) {
            return Ok(*known);
        }
        let granule = target::find_granule(target)?;
        self.granules.insert(target.path.clone(), granule);
        Ok(granule)
    }
}
