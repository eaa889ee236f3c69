//! External tools: how to find one, what to start, and how to parse its output.
//!
//! [`tool::TOOLS`] is the table of tools, one row each. A row turns a [`Request`](invocation::Request)
//! into [`Invocation`](invocation::Invocation)s, which the caller carries out, and the
//! [`Outputs`](outputs::Outputs) of each into [`Parsed`](outputs::Parsed) samples in base units.
//!
//! This crate never starts a process, opens a file or a socket, or reads a clock: everything here
//! is a function from values to values.

mod fio_json;
pub mod hpcc_text;
pub mod hpl_text;
pub mod import;
pub mod invocation;
mod ior_text;
pub mod launcher;
pub mod likwid_text;
pub mod mpi_launch;
mod mpi_text;
pub mod outputs;
pub mod perftest_text;
pub mod stream_text;
pub mod tool;
mod vdbench_flat;
