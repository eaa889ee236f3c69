//! Permissions of a storage run, and the folder where runs are stored.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_kernels::storage::OpenTargets;
use assay_model::path_text;

/// Permissions and folders of a run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Devices and foreign files that may be overwritten.
    pub destroy_data: Vec<PathBuf>,
    /// Whether targets may be on the root file system in place of an unmounted volume.
    pub target_on_root: bool,
    /// Whether created files are kept.
    pub keep: bool,
    /// Whether a file whose first phase writes it in order is created by that phase, as in IOR;
    /// otherwise every file is laid out before the first phase.
    pub writers_make_files: bool,
    /// Whether an interruption keeps partial results; otherwise it is a failure.
    pub keeps_partial: bool,
    /// Flag that ends a phase as if its work were done; set by the listener, checked at every
    /// interval.
    pub end_phase: Option<Arc<AtomicBool>>,
    /// Targets that stay open from the check to the end of the run; those who share it share the
    /// run.
    pub held: Arc<OpenTargets>,
    /// Folder of the store, which also lists created files; `None` for the user's own.
    pub store: Option<PathBuf>,
}

impl RunOptions {
    /// Returns the options of a tool that keeps its files from phase to phase, with the paths that
    /// may be overwritten as its command line has them.
    pub(super) fn with_kept_files(
        destroy_data: &[String],
        target_on_root: bool,
        store: Option<&Path>,
    ) -> Self {
        Self {
            destroy_data: destroy_data.iter().map(|it| path_text::decode_path(it)).collect(),
            target_on_root,
            keep: true,
            store: store.map(Into::into),
            ..Self::default()
        }
    }
}
