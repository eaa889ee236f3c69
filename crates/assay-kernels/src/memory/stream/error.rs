//! What can go wrong with STREAM, each with the values that explain it.

use std::io;

use super::operation::Operation;
use crate::mapping::MapError;

/// A STREAM measurement could not be prepared, or its result is wrong.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The pinned threads could not be started.
    #[error("cannot start the threads")]
    StartTeam(#[source] io::Error),
    /// The memory of an array could not be mapped.
    #[error("cannot get the memory of an array")]
    MapArray(#[source] MapError),
    /// The user wants to stop.
    #[error("the choice of a kernel was cancelled")]
    Cancelled,
    /// There is less than one cache line of each array per thread.
    #[error(
        "cannot divide an array of {bytes_per_array} B between {threads} threads: each needs 64 B"
    )]
    DivideArray {
        /// Size requested.
        bytes_per_array: usize,
        /// Threads that should share it.
        threads: usize,
    },
    /// No kernel of this name serves this operation on this CPU.
    #[error("no kernel `{name}` for {} runs on this CPU", operation.name())]
    FindKernel {
        /// Name requested.
        name: String,
        /// Operation it should do.
        operation: Operation,
    },
    /// An element does not hold what the operations must have left there.
    #[error("wrong contents: {array}[{index}] is {found:e}, expected {expected:e}")]
    WrongContents {
        /// `a`, `b` or `c`.
        array: char,
        /// Element of the array, from 0.
        index: usize,
        /// Value it must hold.
        expected: f64,
        /// Value it holds.
        found: f64,
    },
    /// A thread's read pass did not give the sum of what it must have read.
    #[error("wrong sum: thread {thread} read {found:e}, expected {expected:e}")]
    WrongSum {
        /// Member of the team.
        thread: usize,
        /// Sum of the values that must be there.
        expected: f64,
        /// Sum the kernel returned.
        found: f64,
    },
}
