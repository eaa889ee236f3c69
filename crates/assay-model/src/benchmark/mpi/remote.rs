//! One-sided communication: operations, creation of windows, synchronisation.

use serde::{Deserialize, Serialize};

/// One-sided operation on the memory of another rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteOperation {
    /// Writes.
    Put,
    /// Reads.
    Get,
    /// Adds to the numbers there.
    Accumulate,
    /// Adds, and reads the numbers before.
    GetAccumulate,
    /// Adds to one number, and reads it before.
    FetchAndOp,
    /// Replaces one number if it has an expected value, and reads it before.
    CompareAndSwap,
}

impl RemoteOperation {
    /// Whether the operation computes with numbers, not with bytes.
    pub const fn has_elements(self) -> bool {
        !matches!(self, Self::Put | Self::Get)
    }

    /// Whether the operation accesses one number only.
    pub const fn is_single_element(self) -> bool {
        matches!(self, Self::FetchAndOp | Self::CompareAndSwap)
    }
}

/// Creation of the window that ranks access; `-w` in OSU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowCreation {
    /// The library allocates the memory.
    #[default]
    Allocate,
    /// Over memory of the program.
    Create,
    /// Over memory of the program that is attached afterwards.
    Dynamic,
}

impl WindowCreation {
    /// Returns the function, as OSU prints it.
    pub const fn osu_name(self) -> &'static str {
        match self {
            Self::Allocate => "MPI_Win_allocate",
            Self::Create => "MPI_Win_create",
            Self::Dynamic => "MPI_Win_create_dynamic",
        }
    }
}

/// Synchronisation of one-sided operations; `-s` in OSU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RmaSynchronization {
    /// Flush after each turn, under one lock.
    #[default]
    Flush,
    /// Local flush after each turn, under one lock.
    FlushLocal,
    /// Lock and unlock in each turn.
    Lock,
    /// Lock and unlock of all ranks in each turn.
    LockAll,
    /// Post, start, complete and wait.
    Pscw,
    /// Fences.
    Fence,
}

impl RmaSynchronization {
    /// Whether the target takes part.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Pscw | Self::Fence)
    }

    /// Whether one lock lasts over all turns, each of which is flushed.
    pub const fn is_flush(self) -> bool {
        matches!(self, Self::Flush | Self::FlushLocal)
    }

    /// Returns the functions, as OSU prints them.
    pub const fn osu_name(self) -> &'static str {
        match self {
            Self::Flush => "MPI_Win_flush",
            Self::FlushLocal => "MPI_Win_flush_local",
            Self::Lock => "MPI_Win_lock/unlock",
            Self::LockAll => "MPI_Win_lock_all/unlock_all",
            Self::Pscw => "MPI_Win_post/start/complete/wait",
            Self::Fence => "MPI_Win_fence",
        }
    }
}
