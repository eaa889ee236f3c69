//! Errors that prevent a phase of storage I/O. A single failed I/O is not among them.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reason for which a phase could not take place.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The workload contradicts itself or the target.
    #[error("{what}")]
    Workload {
        /// Contradiction, with the values.
        what: String,
    },
    /// A target could not be opened.
    #[error("cannot open {}", path.display())]
    Open {
        /// The target.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The target's file system does not support direct I/O.
    #[error("{} cannot be opened with O_DIRECT; use buffered I/O", path.display())]
    Direct {
        /// The target.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The device of the target does not support polling.
    #[error(
        "{}: its device has no queues that can be polled ({queues}); load its driver with some (nvme: poll_queues=2), \
         or use the engine io_uring",
        path.display()
    )]
    Polling {
        /// The target.
        path: PathBuf,
        /// Evidence: `/sys/dev/block/254:0/queue/io_poll is 0`.
        queues: String,
    },
    /// A link is in place of a directory or file of a tree.
    #[error("{} is a link, which file trees do not contain; remove it", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A file to be written has several hard links.
    #[error(
        "cannot write {}: it has {links} hard links, and the file under its other names would be overwritten",
        path.display()
    )]
    HardLinks {
        /// The file.
        path: PathBuf,
        /// Number of its hard links.
        links: u64,
    },
    /// The size of the target is unknown.
    #[error("{} is empty and has no configured size", path.display())]
    NoSize {
        /// The target.
        path: PathBuf,
    },
    /// The engine could not be set up, or broke.
    #[error("the engine {engine} {failed}")]
    Engine {
        /// Its name.
        engine: &'static str,
        /// Failed step: `cannot be set up`.
        failed: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// Memory for buffers, or a thread, is not available.
    #[error("cannot obtain {what}")]
    Resource {
        /// Missing resource.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A file could not be laid out.
    #[error("cannot lay out {} at byte {offset}: {reason}", path.display())]
    LayOut {
        /// The file.
        path: PathBuf,
        /// Offset of the failed write.
        offset: u64,
        /// Reason of the failure.
        reason: String,
    },
    /// A target was cut off by another program.
    #[error("{} shrank from {from_bytes} B to {to_bytes} B", path.display())]
    Shrunk {
        /// The target.
        path: PathBuf,
        /// Largest size before.
        from_bytes: u64,
        /// Size that was found later.
        to_bytes: u64,
    },
    /// The user interrupted the phase.
    #[error("interrupted")]
    Interrupted,
}

/// Ends preparations once the user has interrupted them.
pub(super) fn end_if_stopped(stop: &AtomicBool) -> Result<(), StorageError> {
    if stop.load(Ordering::Relaxed) { Err(StorageError::Interrupted) } else { Ok(()) }
}
