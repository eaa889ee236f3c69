//! The engine of assay as a library: from a suite to a stored run.
//!
//! Takes options and a [`listener::Listener`]; never prints, never reads arguments, never handles signals.
//! Example: the measurement of `assay stream`, from Rust:
//!
//! ```no_run
#![doc = include_str!("../examples/triad.rs")]
//! ```

pub mod agent;
mod background_thread;
mod bind;
mod block_order;
mod cancellable_wait;
mod condition_command;
pub mod coordinator;
mod counter_watch;
mod deadline;
mod execution;
pub mod factor_turns;
pub mod failure;
pub mod fleet;
mod forecast;
pub mod importing;
pub mod interrupt;
pub mod job_file;
pub mod listener;
mod load_watch;
mod log;
mod measurement_loop;
pub mod mpi;
pub mod mpi_installations;
pub mod network;
mod pauses;
mod presence;
pub mod program;
pub mod rdma;
mod recorder;
pub mod recording;
mod refine;
pub mod restore_record;
pub mod round_trips;
pub mod run_request;
mod session;
pub mod storage;
pub mod stored_outcome;
pub mod suites;
pub mod switching;
pub mod tools;
mod turns;
