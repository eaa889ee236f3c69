//! One rank of an MPI job: find the library of the launcher that started it, make sure that all ranks are
//! in one world, measure size after size.
//!
//! Every rank runs the same code; what depends on the clock is decided on rank 0 and agreed upon. Never
//! starts a job: that is the launcher's.

pub(crate) mod estimates;
pub(crate) mod ladder;
pub(crate) mod launched;
pub(crate) mod libraries;
pub(crate) mod locate;
pub(crate) mod method;
pub(crate) mod ranks;
