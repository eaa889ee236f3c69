//! One rank of an MPI job: finds the library of its launcher, checks that all ranks share one
//! world, and measures size after size.
//!
//! Every rank runs the same code. Rank 0 decides whatever depends on the clock, and the ranks agree
//! on it. This module never starts a job; the launcher does.

pub mod job;
pub mod ladder;
pub mod launched;
pub mod libraries;
mod locate;
pub mod method;
pub mod options;
pub mod ranks;
pub mod table;
