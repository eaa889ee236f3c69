//! What the user permits to be written, and where runs are stored.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_kernels::storage::Held;

/// What the user allows, and where things are kept.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Devices and foreign files that may be overwritten.
    pub destroy_data: Vec<PathBuf>,
    /// Whether targets may be on the root's file system where a volume should be mounted.
    pub target_on_root: bool,
    /// Whether the files that were made stay.
    pub keep: bool,
    /// Whether a file whose first phase writes it in order is made by that phase, as IOR does;
    /// otherwise every file is laid out before the first phase.
    pub writers_make_files: bool,
    /// Whether an interruption leaves what was measured so far; otherwise it is a failure.
    pub keeps_partial: bool,
    /// Set by the listener to end a phase as if its work were done. The series is what looks at it.
    pub enough: Option<Arc<AtomicBool>>,
    /// What is held from the check to the end of the run; those who share it share the run.
    pub held: Arc<Held>,
    /// Folder of the store, which also lists the files that were made; `None` = the user's own.
    pub store: Option<PathBuf>,
}
