//! Tasks of a storage job: threads of this process, or the ranks of an MPI job, one task each.
//!
//! Phases, offsets and tables are the same for both: whoever runs a phase gets the outcome of all
//! tasks. Rank 0 checks, creates, records and removes the files; the other ranks follow it.

use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use assay_kernels::storage::{self as kernel, PhaseControl, PhaseStart};
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::entry::MeasurementEntry;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::{StoragePhase, StorageWorkload};

use super::mdtest::task_pass::{TaskPass, TaskShare};
use super::phase_failures::phase_failed;
use crate::failure::CommandFailure;

mod follower;
mod item_pass;
mod messages;
mod target_identity;
mod task_ranks;

pub use self::follower::follow;
pub use self::item_pass::PassOutcome;
pub use self::task_ranks::TaskRanks;

/// Tasks of a job.
#[derive(Debug, Clone, Default)]
pub enum JobTasks {
    /// Threads of this process, as many as the workload has streams.
    #[default]
    Threads,
    /// Ranks of an MPI job, seen from rank 0.
    Ranks(Rc<TaskRanks>),
}

impl JobTasks {
    /// Runs one phase on all tasks, and returns the outcome of all. `workload` is that of the phase,
    /// with its load resolved.
    pub(super) fn run_phase(
        &self,
        phase: &StoragePhase,
        workload: &StorageWorkload,
        control: &mut PhaseControl<'_>,
    ) -> Result<StorageOutcome, CommandFailure> {
        match self {
            Self::Threads => kernel::run(workload, control)
                .map_err(|error| phase_failed(&phase.name, &error)),
            Self::Ranks(ranks) => ranks.run_phase(&phase.name, workload, control),
        }
    }

    /// Runs one pass over the items of all tasks.
    pub(super) fn run_items(
        &self,
        pass: &TaskPass<'_, '_>,
        shares: &[TaskShare<'_>],
        stop: &AtomicBool,
    ) -> Result<PassOutcome, CommandFailure> {
        match self {
            Self::Threads => {
                let items = pass.run(shares, stop, &mut || PhaseStart::Now)?;
                Ok(PassOutcome { items, failed_on: None })
            }
            Self::Ranks(ranks) => ranks.run_items(pass, shares, stop),
        }
    }

    /// Writes the cached data of all file systems to their devices, on the hosts of all tasks.
    pub(super) fn sync(&self, stop: &AtomicBool) -> Result<(), CommandFailure> {
        match self {
            Self::Threads => rustix::fs::sync(),
            Self::Ranks(ranks) => ranks.sync(stop)?,
        }
        Ok(())
    }

    /// Whether all tasks run on this host, so that its kernel counts the I/O of all.
    pub(super) fn are_on_this_host(&self) -> bool {
        match self {
            Self::Threads => true,
            Self::Ranks(ranks) => {
                let mut hosts = ranks.hosts();
                let first = hosts.next();
                hosts.all(|host| Some(host) == first)
            }
        }
    }

    /// Returns library, launcher, hosts and number of the ranks as facts; none for threads.
    pub fn to_facts(&self) -> Vec<MeasurementEntry> {
        let Self::Ranks(ranks) = self else { return Vec::new() };
        let tasks = (Attribute::Tasks, AttributeValue::from(ranks.count()));
        let facts = ranks.facts().into_iter().chain([tasks]);
        facts.map(|(name, value)| MeasurementEntry::Fact(name, value)).collect()
    }
}
