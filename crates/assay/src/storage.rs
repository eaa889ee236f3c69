//! Carrying out storage plans: which files may be written, which are made and removed, and the
//! phases one after another. The I/O itself is done by the kernels.

mod advice;
pub(crate) mod aim;
pub(crate) mod created;
pub(crate) mod explain;
pub(crate) mod file_trees;
mod made_tree;
pub(crate) mod precondition;
pub(crate) mod runner;
mod safety;
pub(crate) mod series;
