//! What is wrong with the file of a run's events, line by line.

use thiserror::Error;

/// Something that is missing from a run, or was left out of it. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    /// The run was written by a newer assay.
    #[error(
        "line 1: the run has format {found}, and this assay knows formats up to {known}: what it does not know is left out"
    )]
    Newer {
        /// Its format.
        found: u32,
        /// The newest format known here.
        known: u32,
    },
    /// The last line has no end.
    #[error("line {line} was cut off while it was written; it is left out")]
    CutOff {
        /// Where.
        line: usize,
    },
    /// A line is not what was written.
    #[error("line {line} is damaged; it is left out")]
    Damaged {
        /// Where.
        line: usize,
    },
    /// The first line is not what was written, and can still be read.
    #[error("line 1 was changed after it was written; what it says of the run may be wrong")]
    BeginningChanged,
    /// Events are gone.
    #[error("before line {line}, {count} {} missing", if *count == 1 { "event is" } else { "events are" })]
    Missing {
        /// Before which line.
        line: usize,
        /// How many.
        count: u64,
    },
    /// An event has the number of an earlier one.
    #[error(
        "line {line} holds event {number}, which stands before it already or belongs there; it is left out"
    )]
    OutOfOrder {
        /// Where.
        line: usize,
        /// Its number.
        number: u64,
    },
    /// An event that this assay does not know.
    #[error(
        "line {line} holds the event `{event}`, which this assay does not know; it is left out"
    )]
    UnknownEvent {
        /// Where.
        line: usize,
        /// What it is called.
        event: String,
    },
    /// An event whose content cannot be understood, such as a histogram that does not decode.
    #[error(
        "line {line} holds an event `{event}` that cannot be understood: {reason}; it is left out"
    )]
    Unusable {
        /// Where.
        line: usize,
        /// What it is called.
        event: String,
        /// Why not.
        reason: String,
    },
    /// An event belongs to a series that was never opened.
    #[error("line {line} belongs to series {series}, which was never opened; it is left out")]
    NeverOpened {
        /// Where.
        line: usize,
        /// The number of the series.
        series: u32,
    },
    /// An event opens a series that is open already.
    #[error("line {line} opens series {series} again; it is left out")]
    OpenedTwice {
        /// Where.
        line: usize,
        /// The number of the series.
        series: u32,
    },
}

impl Problem {
    /// The line that it concerns, from 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        match self {
            Self::Newer { .. } | Self::BeginningChanged => 1,
            Self::CutOff { line }
            | Self::Damaged { line }
            | Self::Missing { line, .. }
            | Self::OutOfOrder { line, .. }
            | Self::UnknownEvent { line, .. }
            | Self::Unusable { line, .. }
            | Self::NeverOpened { line, .. }
            | Self::OpenedTwice { line, .. } => *line,
        }
    }

    /// How many events are lost by it.
    #[must_use]
    pub const fn losses(&self) -> u64 {
        match self {
            Self::Newer { .. } | Self::BeginningChanged => 0,
            Self::Missing { count, .. } => *count,
            Self::CutOff { .. }
            | Self::Damaged { .. }
            | Self::OutOfOrder { .. }
            | Self::UnknownEvent { .. }
            | Self::Unusable { .. }
            | Self::NeverOpened { .. }
            | Self::OpenedTwice { .. } => 1,
        }
    }
}
