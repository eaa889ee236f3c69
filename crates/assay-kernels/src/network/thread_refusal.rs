//! Error of a thread that the system refuses, distinguishable from errors of sockets.

use std::io;

/// Refusal of a thread, for example by `pids.max` of the control group or by `ulimit -u`.
#[derive(Debug, thiserror::Error)]
#[error("cannot start a thread")]
pub struct ThreadRefusal(#[source] io::Error);

impl ThreadRefusal {
    /// Wraps the error of a thread that did not start.
    pub fn wrap(error: io::Error) -> io::Error {
        io::Error::other(Self(error))
    }

    /// Whether an error is such a refusal.
    pub fn is_cause(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|it| it.is::<Self>())
    }
}
