//! Other people's tools: how to find them, what to tell them, how to read what they print.
//!
//! [`tool::TOOLS`] is the table, one row per tool. A row turns a [`Request`](invocation::Request) into
//! [`Invocation`](invocation::Invocation)s, which the caller carries out, and the
//! [`Outputs`](outputs::Outputs) of each into [`Parsed`](outputs::Parsed) samples in base units.
//!
//! This crate never starts a process, opens a file or a socket, or reads a clock: everything here
//! is a function from values to values.

mod hpcc_text;
pub mod hpl_text;
pub mod invocation;
pub mod launcher;
mod likwid_text;
pub mod outputs;
pub mod stream_text;
pub mod tool;
