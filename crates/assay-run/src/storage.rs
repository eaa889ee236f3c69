//! Execution of storage plans: safety checks of targets, creation and removal of files, and the
//! phases in order. The kernels do the I/O itself.

pub mod target_overrides;
pub mod created_files;
pub(crate) mod target_overlap;
pub mod file_trees;
pub mod plan_check;
mod held_targets;
pub mod ior;
mod layers;
mod created_tree;
pub mod safe_open;
pub mod options;
pub mod precondition;
pub mod runner;
mod safety;
pub mod series;
pub mod shares;
pub mod vdbench;
pub mod volume;
