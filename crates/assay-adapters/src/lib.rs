//! External tools: detection, command lines, and parsers of their output.
//!
//! [`tool::TOOLS`] is the table of tools. A row turns a [`ToolRequest`](invocation::ToolRequest)
//! into [`Invocation`](invocation::Invocation)s, which the caller executes, and the
//! [`Outputs`](outputs::Outputs) of each into [`ParsedOutput`](outputs::ParsedOutput): samples in
//! base units.
//!
//! **Units** come from the tool's source or from arithmetic on its own output, not from its label. A result that a tool
//! itself calls invalid is an [`outputs::ToolError`], a file that is no sound measurement an [`import::ImportError`].
//!
//! This crate never starts a process, opens a file or a socket, or reads a clock: every function
//! maps values to values.

mod fio_json;
pub mod hpcc_text;
pub mod hpl_text;
pub mod import;
pub mod invocation;
mod ior_text;
mod iperf3_document;
mod json_selection;
pub mod launcher;
pub mod likwid_text;
mod limits;
mod linpack_rate;
pub mod mpi_launch;
mod mpi_text;
pub mod outputs;
pub mod perftest_text;
mod sockperf_text;
pub mod stream_text;
pub mod tool;
mod vdbench_flat;
