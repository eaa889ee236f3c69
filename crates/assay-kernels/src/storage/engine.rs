//! How I/O is handed to the kernel: the one trait of the storage part, and the engines that have it.
//!
//! An engine knows descriptors, memory and offsets. It never reads the clock, never decides what comes
//! next, and never looks at what a result means.

use std::io;
use std::os::fd::RawFd;

mod libaio;
mod null;
mod threads;
mod trim;
mod uring;

pub(super) use libaio::Libaio;
pub(super) use null::Null;
pub(super) use threads::Threads;
pub(super) use uring::{Uring, UringPolled};

/// What is asked of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Fill the memory from the target.
    Read,
    /// Write the memory to the target.
    Write,
    /// Wait until what was written is on stable storage.
    Sync,
    /// The same without metadata that nobody needs to read the data.
    SyncData,
    /// Give the bytes back to the device or the file system. Only engines that block can.
    Trim,
}

/// One I/O.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// Comes back with the completion. Below the slots of the setup, and in flight once at most.
    pub(super) slot: u32,
    /// What.
    pub(super) action: Action,
    /// Index into the setup's files.
    pub(super) file: u32,
    /// Bytes.
    pub(super) bytes: u32,
    /// Where in the file.
    pub(super) offset: u64,
    /// Memory within the setup's slab, left alone by everyone else until the completion.
    pub(super) memory: *mut u8,
}

/// An I/O that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Completion {
    /// The request's.
    pub(super) slot: u32,
    /// Bytes moved, or the negative number of an error.
    pub(super) result: i32,
}

/// How long an exchange may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Only hand over, and take what is there.
    No,
    /// Until something has completed; something is in flight. The kernel sets no timer for it.
    Done,
    /// Until something has completed, but no longer than this.
    AtMost {
        /// Nanoseconds.
        ns: u64,
    },
}

/// Descriptors of one target; apart where the file system serves read-only ones better.
#[derive(Debug, Clone, Copy)]
pub(super) struct Files {
    /// For reads and `fsync`.
    pub(super) read: RawFd,
    /// For writes.
    pub(super) write: RawFd,
}

/// What an engine is set up for. Descriptors and memory must outlive it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup<'a> {
    /// The targets.
    pub(super) files: &'a [Files],
    /// Start and length of all memory that requests name.
    pub(super) slab: (*mut u8, usize),
    /// I/O in flight at most.
    pub(super) slots: u32,
    /// Whether some target waits for another host.
    pub(super) is_far: bool,
}

/// Hands I/O to the kernel and takes it back, on the thread that made it.
pub(super) trait StorageEngine: Sized {
    /// Its name in results.
    const NAME: &'static str;

    /// # Errors
    /// The system's refusal.
    fn set_up(setup: Setup<'_>) -> io::Result<Self>;

    /// What was granted: `single issuer, fixed files`.
    fn granted(&self) -> String;

    /// Puts one I/O behind those that are to be handed over.
    fn queue(&mut self, request: Request);

    /// Hands over at most so many of what is queued, the oldest first, and waits for nothing, so that
    /// handing over can be timed by itself. How many are still queued; `None` where this engine has no
    /// such call.
    ///
    /// # Errors
    /// The engine is broken.
    fn submit(
        &mut self,
        _most: usize,
        _done: &mut Vec<Completion>,
    ) -> io::Result<Option<usize>> {
        Ok(None)
    }

    /// Hands over at most so many of what is queued, the oldest first, waits as told, and appends what
    /// has completed. How many are still queued; an engine that has done its work when it has handed it
    /// over leaves none.
    ///
    /// # Errors
    /// The engine is broken; a single I/O's error is in its completion.
    fn exchange(
        &mut self,
        most: usize,
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> io::Result<usize>;
}

/// Whether a call may simply be made again: interrupted, out of resources for the moment, or over time.
fn passes(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY | libc::ETIME))
}

#[cfg(test)]
mod tests;
