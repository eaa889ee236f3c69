//! The timed code: what runs between two readings of the clock, and the few things it builds on.
//!
//! `clock`, `pin`, `mapping`, `barrier` and `team` are the ground; `timed` is the one place that starts
//! and stops the clock around a team; `null` measures what that costs; `memory`, `compute`, `network`,
//! `storage`, `mpi` and `rdma` are the kernels; `library` opens what the user brings. This crate never knows of
//! suites, hosts or output formats, and it is the only one with `unsafe`: one block per operation, each
//! with its reason. At its border stand plain numbers whose names end in their unit, and the questions
//! and answers of the model where they are many.

pub mod barrier;
pub mod clock;
pub mod compute;
pub mod heap;
mod library;
pub mod loop_device;
pub mod mapping;
pub mod memory;
pub mod mpi;
pub mod network;
pub mod null;
pub mod openssl;
pub mod pin;
pub mod process_use;
pub mod rdma;
pub mod standard_output;
pub mod storage;
pub mod team;
pub mod timed;
pub mod timers;
