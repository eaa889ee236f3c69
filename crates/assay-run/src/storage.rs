//! Carrying out storage plans: which files may be written, which are made and removed, and the
//! phases one after another. The I/O itself is done by the kernels.

mod advice;
pub mod aim;
pub mod created;
pub mod file_trees;
mod holding;
pub mod ior;
mod made_tree;
pub mod opening;
pub mod options;
pub mod precondition;
pub mod runner;
mod safety;
pub mod series;
pub mod vdbench;
pub mod volume;
