//! One I/O of a job, or a sync alone.

use assay_model::storage_outcome::IoOperation;

/// I/O of a job: file, direction, place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct JobIo {
    /// Target that is synced before; without bytes, no I/O follows.
    pub(in super::super) sync_target: Option<usize>,
    /// Index of the target.
    pub(in super::super) target: usize,
    /// Read or write.
    pub(in super::super) operation: IoOperation,
    /// Offset in bytes.
    pub(in super::super) offset: u64,
    /// Length in bytes.
    pub(in super::super) bytes: u64,
    /// Its own priority; 0 = that of the thread.
    pub(in super::super) priority: u16,
    /// Whether it is the first of its file since the file was opened.
    pub(in super::super) opens_file: bool,
}

impl JobIo {
    /// Creates an I/O with the priority of the thread.
    pub(super) const fn new(
        target: usize,
        operation: IoOperation,
        offset: u64,
        bytes: u64,
    ) -> Self {
        let (sync_target, priority, opens_file) = (None, 0, false);
        Self { sync_target, target, operation, offset, bytes, priority, opens_file }
    }

    /// Creates a sync that no I/O follows.
    pub(super) const fn only_sync(target: usize) -> Self {
        Self { sync_target: Some(target), ..Self::new(target, IoOperation::Read, 0, 0) }
    }
}
