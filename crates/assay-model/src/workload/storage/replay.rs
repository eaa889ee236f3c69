//! Recorded I/O that a stream repeats in its order and with its pauses.

use serde::{Deserialize, Serialize};

use crate::storage_outcome::IoOperation;

/// Recorded I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredIo", into = "StoredIo")]
pub struct ReplayedIo {
    /// Earliest time.
    pub due: ReplayTime,
    /// File that is synced before, by its index among the stream's targets.
    pub sync_before: Option<usize>,
    /// File, by its index among the stream's targets.
    pub file: usize,
    /// Read or write.
    pub operation: IoOperation,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// Earliest time of a recorded I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayTime {
    /// Nanoseconds after the start of the one before.
    AfterPrevious(u64),
    /// Nanoseconds after the start of the stream.
    AfterStart(u64),
}

/// Recorded I/O as stored: traces are long, and names would take most of the space.
type StoredIo = (ReplayTime, Option<usize>, usize, IoOperation, u64, u64);

impl From<StoredIo> for ReplayedIo {
    fn from((due, sync_before, file, operation, offset, bytes): StoredIo) -> Self {
        Self { due, sync_before, file, operation, offset, bytes }
    }
}

impl From<ReplayedIo> for StoredIo {
    fn from(io: ReplayedIo) -> Self {
        let ReplayedIo { due, sync_before, file, operation, offset, bytes } = io;
        (due, sync_before, file, operation, offset, bytes)
    }
}
