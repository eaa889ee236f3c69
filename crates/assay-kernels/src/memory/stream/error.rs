//! Errors of the STREAM benchmark, with the values that explain them.

use std::io;

use super::operation::StreamOperation;
use crate::mapping::MapError;
use crate::numa::MemoryPlacementError;

/// Error of preparing a STREAM measurement, or of its result.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The pinned threads could not be started.
    #[error("cannot start the threads")]
    StartTeam(#[source] io::Error),
    /// The memory of an array could not be mapped.
    #[error("cannot map the memory of an array")]
    MapArray(#[source] MapError),
    /// The memory of the array `a` is not on the requested node.
    #[error("cannot place the source array")]
    PlaceSource(#[source] MemoryPlacementError),
    /// The caller cancelled the preparation or the kernel selection.
    #[error("the measurement was cancelled")]
    Cancelled,
    /// There is less than one cache line of each array per thread.
    #[error(
        "cannot divide an array of {bytes_per_array} B between {threads} threads: each needs 64 B"
    )]
    DivideArray {
        /// Requested size.
        bytes_per_array: usize,
        /// Number of threads that share it.
        threads: usize,
    },
    /// No kernel of this name supports this operation on this CPU.
    #[error("no kernel `{name}` for {} runs on this CPU", operation.name())]
    FindKernel {
        /// Requested name.
        name: String,
        /// Requested operation.
        operation: StreamOperation,
    },
    /// An element differs from its expected value.
    #[error("wrong contents: {array}[{index}] is {found:e}, expected {expected:e}")]
    WrongContents {
        /// `a`, `b` or `c`.
        array: char,
        /// Element of the array, from 0.
        index: usize,
        /// Expected value.
        expected: f64,
        /// Actual value.
        found: f64,
    },
    /// A thread's read pass returned a wrong sum.
    #[error("wrong sum: thread {thread} read {found:e}, expected {expected:e}")]
    WrongSum {
        /// Member of the team.
        thread: usize,
        /// Expected sum.
        expected: f64,
        /// Sum that the kernel returned.
        found: f64,
    },
}
