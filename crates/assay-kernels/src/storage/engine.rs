//! Interface between the load generator and the kernel: the trait of engines, and its
//! implementations.
//!
//! An engine handles descriptors, memory and offsets. It never reads the clock, never chooses the
//! next I/O, and never interprets a result.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use assay_model::workload::storage::StreamBehavior;

mod file_caller;
mod libaio;
mod mapped_file;
mod null;
mod threads;
mod trim;
mod uring;

pub(super) use file_caller::{FileCaller, FileIdentity};
pub(super) use libaio::Libaio;
pub(super) use mapped_file::MappedFile;
pub(super) use null::Null;
pub(super) use threads::Threads;
pub(super) use uring::{Uring, UringPolled};

/// Operation requested from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IoAction {
    /// Fill the memory from the target.
    Read,
    /// Write the memory to the target.
    Write,
    /// Wait until the data written is on stable storage.
    Sync,
    /// Like `Sync`, without metadata that is not needed to read the data.
    SyncData,
    /// Start or wait for the write-back of what was written since the last sync, as these flags of
    /// `sync_file_range(2)` say. Only blocking engines support it.
    SyncRange(u32),
    /// Discard the bytes. Only blocking engines support it.
    Trim,
    /// Make the call of the stream on the name of the file. Only blocking engines support it.
    CallFile,
    /// Nothing: the call on this file was made before.
    Skip,
}

impl IoAction {
    /// Returns the syncs of a stream.
    pub(super) fn of_syncs(conduct: &StreamBehavior) -> Self {
        match conduct.sync_range_flags {
            Some(flags) => Self::SyncRange(flags),
            None if conduct.syncs_data_only => Self::SyncData,
            None => Self::Sync,
        }
    }

    /// Returns the action of a stream that makes calls on files, at the first I/O of a file or later.
    pub(super) const fn of_file_call(is_first: bool) -> Self {
        if is_first { Self::CallFile } else { Self::Skip }
    }
}

/// Single I/O to submit.
#[derive(Debug, Clone, Copy)]
pub(super) struct IoRequest {
    /// Identifier, returned with the completion. Below the number of slots of the setup, and in
    /// flight at most once.
    pub(super) slot: u32,
    /// Operation.
    pub(super) action: IoAction,
    /// Index into the setup's files.
    pub(super) file: u32,
    /// Length in bytes.
    pub(super) bytes: u32,
    /// Offset in the file.
    pub(super) offset: u64,
    /// Priority of a transfer, where the engine supports it; 0 = that of the thread.
    pub(super) priority: u16,
    /// Memory within the setup's slab, which must not be accessed until the completion.
    pub(super) memory: *mut u8,
}

/// Completed I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IoCompletion {
    /// Slot of the request.
    pub(super) slot: u32,
    /// Bytes moved, or a negative error number.
    pub(super) result: i32,
}

/// Maximum wait of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// No wait: submit, and collect the completions available.
    No,
    /// Until a completion; something is in flight. The kernel sets no timer.
    UntilDone,
    /// Until a completion, at most for this time.
    AtMost {
        /// Nanoseconds.
        ns: u64,
    },
}

impl Wait {
    /// Limits the wait to this time; I/O in flight is completed in any case.
    pub(super) fn limit(self, left_ns: u64) -> Self {
        match self {
            Self::No | Self::UntilDone => self,
            Self::AtMost { ns } => Self::AtMost { ns: ns.min(left_ns) },
        }
    }
}

/// Descriptors of one target; separate where the file system serves read-only ones better.
#[derive(Debug, Clone, Copy)]
pub(super) struct TargetDescriptors {
    /// For reads and `fsync`.
    pub(super) read: RawFd,
    /// For writes.
    pub(super) write: RawFd,
}

/// Parameters of an engine. Descriptors and memory must outlive it.
#[derive(Debug, Clone, Copy)]
pub(super) struct EngineSetup<'a> {
    /// The targets.
    pub(super) files: &'a [TargetDescriptors],
    /// Start and length of the memory that contains all requests' buffers.
    pub(super) slab: (*mut u8, usize),
    /// Maximum number of I/O in flight.
    pub(super) slots: u32,
    /// Whether a target is on another host.
    pub(super) is_remote: bool,
    /// Mappings of the files, if blocking I/O copies to and from them; otherwise empty.
    pub(super) mappings: &'a [Option<Arc<MappedFile>>],
    /// Calls on the files, if the stream makes them instead of I/O; otherwise empty.
    pub(super) callers: &'a [Option<Arc<FileCaller>>],
}

/// Submits I/O to the kernel and collects completions, on the thread that created it.
pub(super) trait StorageEngine: Sized {
    /// Name in results.
    const NAME: &'static str;
    /// Whether a batch must be collected before the next one is submitted.
    const HOLDS_ONE_BATCH: bool = false;

    /// Sets the engine up.
    ///
    /// # Errors
    /// The system's refusal.
    fn set_up(setup: EngineSetup<'_>) -> io::Result<Self>;

    /// Returns the features that the kernel granted: `single issuer, fixed files`.
    fn granted_features(&self) -> String;

    /// Appends one I/O to the queue.
    fn queue(&mut self, request: IoRequest);

    /// Submits at most `most` queued I/O, the oldest first, without waiting, so that submission can
    /// be timed by itself. Returns the number still queued; `None` if this engine has no such call.
    ///
    /// # Errors
    /// The engine is broken.
    fn submit(
        &mut self,
        _most: usize,
        _done: &mut Vec<IoCompletion>,
    ) -> io::Result<Option<usize>> {
        Ok(None)
    }

    /// Submits at most `most` queued I/O, the oldest first, waits as `wait` specifies, and appends
    /// the completions. Returns the number still queued; a blocking engine leaves none.
    ///
    /// # Errors
    /// The engine is broken; a single I/O's error is in its completion.
    fn exchange(
        &mut self,
        most: usize,
        wait: Wait,
        done: &mut Vec<IoCompletion>,
    ) -> io::Result<usize>;

    /// Waits until `least` of the submitted I/O have completed, and appends at most `most`
    /// completions. Submits nothing, unless the engine has one call for both.
    ///
    /// # Errors
    /// The engine is broken.
    fn reap(
        &mut self,
        least: usize,
        _most: usize,
        done: &mut Vec<IoCompletion>,
    ) -> io::Result<()> {
        let wait = if least > 0 { Wait::UntilDone } else { Wait::No };
        self.exchange(usize::MAX, wait, done).map(drop)
    }
}

/// Returns whether a call can be repeated: interrupted, temporarily out of resources, or timed out.
fn is_transient(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY | libc::ETIME))
}

#[cfg(test)]
mod tests;
