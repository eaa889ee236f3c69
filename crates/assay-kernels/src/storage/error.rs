//! What can keep a phase of storage I/O from taking place. A single I/O that fails is not among it.

use std::io;
use std::path::PathBuf;

/// A phase could not take place.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The workload contradicts itself or the target.
    #[error("{what}")]
    Workload {
        /// What is wrong, with the values.
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
    /// The target's file system does not go past the page cache.
    #[error("{} cannot be opened with O_DIRECT; ask for buffered I/O", path.display())]
    Direct {
        /// The target.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The device beneath the target does not answer to polling.
    #[error(
        "{}: its device has no queues that can be polled ({queues}); load its driver with some (nvme: poll_queues=2), \
         or ask for the engine io_uring",
        path.display()
    )]
    Polling {
        /// The target.
        path: PathBuf,
        /// What says so: `/sys/dev/block/254:0/queue/io_poll is 0`.
        queues: String,
    },
    /// A link lies where a tree has a directory or a file.
    #[error("{} is a link, and a tree of files has none; remove it", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A file that would be written has several names.
    #[error(
        "cannot write {}: it has {links} hard links, and the file under its other names would be overwritten",
        path.display()
    )]
    HardLinks {
        /// The file.
        path: PathBuf,
        /// How many names it has.
        links: u64,
    },
    /// Nothing says how large the target is.
    #[error("{} is empty and no size is given", path.display())]
    NoSize {
        /// The target.
        path: PathBuf,
    },
    /// The engine could not be had, or broke.
    #[error("the engine {engine} {failed}")]
    Engine {
        /// Its name.
        engine: &'static str,
        /// What it did not do: `cannot be set up`.
        failed: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// Memory for buffers, or a thread.
    #[error("cannot have {what}")]
    Resource {
        /// What.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A file could not be written in full beforehand.
    #[error("cannot lay out {} at byte {offset}: {reason}", path.display())]
    LayOut {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// Why.
        reason: String,
    },
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}
