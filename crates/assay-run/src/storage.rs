//! Execution of storage plans: safety checks of targets, creation and removal of files, and the
//! phases in order. The kernels do the I/O itself.

pub mod clean;
pub mod created_files;
mod created_tree;
pub mod file_trees;
mod held_targets;
pub(crate) mod host_check;
pub mod io500;
pub mod ior;
pub mod job_tasks;
mod layers;
pub mod mdtest;
pub mod options;
mod phase_failures;
pub mod plan_check;
pub mod precondition;
mod record_lock;
pub mod runner;
pub mod safe_open;
mod safety;
pub mod series;
pub mod shares;
pub(crate) mod target_overlap;
pub mod target_overrides;
mod target_path;
pub mod vdbench;
pub mod volume;
