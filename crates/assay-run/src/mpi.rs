//! One rank of an MPI job: find the library of the launcher that started it, make sure that all ranks are
//! in one world, measure size after size.
//!
//! Every rank runs the same code; what depends on the clock is decided on rank 0 and agreed upon. Never
//! starts a job: that is the launcher's.

pub mod job;
pub mod ladder;
pub mod launched;
pub mod libraries;
mod locate;
pub mod method;
pub mod options;
pub mod ranks;
pub mod table;
