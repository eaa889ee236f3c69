//! What can go wrong with STREAM, each with the values that explain it.

use std::fmt;
use std::io;

use super::pass::Operation;
use crate::mapping::MapError;

/// A STREAM measurement could not be prepared, or its result is wrong.
#[derive(Debug)]
pub enum StreamError {
    /// The pinned threads could not be started.
    StartTeam(io::Error),
    /// The memory of an array could not be mapped.
    MapArray(MapError),
    /// There is less than one cache line of each array per thread.
    DivideArray {
        /// Size asked for.
        bytes_per_array: usize,
        /// Threads that should share it.
        threads: usize,
    },
    /// No kernel of this name serves this operation on this CPU.
    FindKernel {
        /// Name asked for.
        name: String,
        /// Operation it should do.
        operation: Operation,
    },
    /// An element does not hold what the operations must have left there.
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
    WrongSum {
        /// Member of the team.
        thread: usize,
        /// Sum of the values that must be there.
        expected: f64,
        /// Sum the kernel returned.
        found: f64,
    },
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StartTeam(_) => write!(f, "cannot start the threads"),
            Self::MapArray(_) => write!(f, "cannot get the memory of an array"),
            Self::DivideArray { bytes_per_array, threads } => write!(
                f,
                "an array of {bytes_per_array} B cannot be divided between {threads} threads: \
                 each needs 64 B"
            ),
            Self::FindKernel { name, operation } => {
                write!(f, "no kernel `{name}` for {} runs on this CPU", operation.name())
            }
            Self::WrongContents { array, index, expected, found } => {
                write!(
                    f,
                    "wrong contents: {array}[{index}] is {found:e}, expected {expected:e}"
                )
            }
            Self::WrongSum { thread, expected, found } => {
                write!(f, "wrong sum: thread {thread} read {found:e}, expected {expected:e}")
            }
        }
    }
}

impl std::error::Error for StreamError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::StartTeam(source) => Some(source),
            Self::MapArray(source) => Some(source),
            Self::DivideArray { .. }
            | Self::FindKernel { .. }
            | Self::WrongContents { .. }
            | Self::WrongSum { .. } => None,
        }
    }
}
