//! IO500 measure of a suite.

use std::path::PathBuf;

use crate::quantity::Bytes;

/// The phases of IO500 with their limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Io500Request {
    /// Folder in which the run creates its own; `None` = as on the command line.
    pub folder: Option<PathBuf>,
    /// Number of tasks; `None` = one per core.
    pub tasks: Option<u32>,
    /// Seconds after which a write phase ends.
    pub stonewall_s: u32,
    /// Maximum size that a task writes in ior-easy.
    pub ior_easy_size: Bytes,
    /// Maximum transfers of a task in ior-hard.
    pub ior_hard_segments: u32,
    /// Maximum files of a task in mdtest-easy and mdtest-hard.
    pub mdtest_files: (u32, u32),
}
