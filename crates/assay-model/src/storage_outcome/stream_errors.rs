//! Errors of one stream whose first error ends it, unless it is tolerated.

use serde::{Deserialize, Serialize};

use super::IoOperation;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StreamErrors {
    /// Number of I/O with a tolerated error.
    pub tolerated: u64,
    /// Number of the first tolerated error; 0 = none.
    pub first_tolerated: i32,
    /// Error that ended the stream.
    pub fatal: Option<FatalError>,
}

/// Error that ended a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FatalError {
    /// Error number, as in `errno`.
    pub number: i32,
    /// Read or write.
    pub operation: IoOperation,
    /// Reason.
    pub cause: ErrorCause,
}

/// Reason of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCause {
    /// The call failed or was short.
    Transfer,
    /// The data read was wrong.
    Contents,
    /// The I/O took too long.
    Latency,
    /// The rate was too low.
    Rate,
}

impl StreamErrors {
    /// Returns whether there was none.
    pub const fn is_empty(&self) -> bool {
        self.tolerated == 0 && self.fatal.is_none()
    }

    /// Counts a tolerated error.
    pub const fn note_tolerated(&mut self, number: i32) {
        self.tolerated += 1;
        if self.first_tolerated == 0 {
            self.first_tolerated = number;
        }
    }

    /// Keeps the first error that ends the stream.
    pub fn note_fatal(&mut self, error: FatalError) {
        self.fatal.get_or_insert(error);
    }

    /// Adds the errors of another part of the stream.
    pub fn merge(&mut self, other: &Self) {
        self.tolerated = self.tolerated.saturating_add(other.tolerated);
        if self.first_tolerated == 0 {
            self.first_tolerated = other.first_tolerated;
        }
        self.fatal = self.fatal.or(other.fatal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_stream_keep_the_first_errors() {
        let error = |number| FatalError {
            number,
            operation: IoOperation::Read,
            cause: ErrorCause::Transfer,
        };
        let (mut first, mut second) = (StreamErrors::default(), StreamErrors::default());
        assert!(first.is_empty());
        second.note_tolerated(84);
        second.note_tolerated(5);
        second.note_fatal(error(28));
        second.note_fatal(error(5));
        first.merge(&second);
        first.note_tolerated(5);
        assert_eq!((first.tolerated, first.first_tolerated), (3, 84));
        assert_eq!(first.fatal, Some(error(28)));
    }
}
