//! Messages between rank 0 and the ranks that follow it.

use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::StorageWorkload;
use serde::{Deserialize, Serialize};

use super::item_pass::{RankItems, RankPass};
use super::target_identity::TargetIdentity;
use crate::failure::CommandFailure;

/// Message of rank 0.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum TaskRequest {
    /// Opens the targets of a phase.
    Phase(Box<TaskPhase>),
    /// Opens the test folders of a pass over items; `None` if the rank has nothing to do.
    Items(Option<Box<RankPass>>),
    /// Writes the cached data of all file systems to their devices.
    Sync,
    /// Runs the opened phase, if all ranks are ready; forgets it otherwise.
    Start(bool),
    /// The job is over.
    End,
}

/// Part of one rank in a phase.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TaskPhase {
    pub(super) name: String,
    /// Absolute paths, and one stream; `None` if the rank has nothing to do.
    pub(super) workload: Option<StorageWorkload>,
    /// Identities of the targets, as rank 0 has opened them.
    pub(super) targets: Vec<TargetIdentity>,
}

/// Answer of a rank.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum TaskReply {
    /// The targets are open.
    Ready,
    /// The phase has ended; `None` if the rank had nothing to do.
    Done(Option<Box<StorageOutcome>>),
    /// The pass has ended; `None` if the rank had nothing to do.
    ItemsDone(Option<Box<RankItems>>),
    /// The cached data is on the devices.
    Synced,
    /// A signal has ended the phase early.
    Interrupted,
    /// The phase cannot take place.
    Failed { reason: String, advice: String },
}

impl TaskReply {
    pub(super) fn from_failure(failure: &CommandFailure) -> Self {
        Self::Failed { reason: failure.reason(), advice: failure.advice() }
    }
}
