//! Execution of storage plans: safety checks of targets, creation and removal of files, and the
//! phases in order. The kernels do the I/O itself.

pub mod aim;
pub mod created;
pub(crate) mod distinct;
pub mod file_trees;
pub mod foreseen;
mod holding;
pub mod ior;
mod layers;
mod made_tree;
pub mod opening;
pub mod options;
pub mod precondition;
pub mod runner;
mod safety;
pub mod series;
pub mod shares;
pub mod vdbench;
pub mod volume;
