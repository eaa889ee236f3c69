//! Rank of an MPI job: finds the library of its launcher, checks that all ranks share one world,
//! and measures size after size.
//!
//! Every rank runs the same code. Rank 0 takes all decisions that depend on the clock, and the
//! ranks agree on them. This module never starts a job; the launcher does.

pub mod job;
pub mod launcher_env;
pub mod library_names;
mod library_search;
pub mod method;
pub mod options;
pub mod ranks;
pub mod single_size;
pub mod table;
