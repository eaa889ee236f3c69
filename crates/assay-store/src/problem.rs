//! Problems with the file of a run's events, by line.

use thiserror::Error;

/// Event that is missing from a run, or was skipped. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EventProblem {
    /// The run was written by a newer assay.
    #[error(
        "line 1: the run has format {found}, but this assay supports formats up to {known}: unknown events are skipped"
    )]
    Newer {
        /// Format number of the run.
        found: u32,
        /// Newest supported format.
        known: u32,
    },
    /// The last line is incomplete.
    #[error("line {line} was cut off while it was written; it is skipped")]
    CutOff {
        /// Line number.
        line: usize,
    },
    /// The checksum of a line is wrong.
    #[error("line {line} is damaged; it is skipped")]
    Damaged {
        /// Line number.
        line: usize,
    },
    /// The checksum of the first line is wrong, but the line is readable.
    #[error("line 1 was changed after it was written; its details of the run may be wrong")]
    FirstLineChanged,
    /// Events are missing.
    #[error("before line {line}, {count} {} missing", if *count == 1 { "event is" } else { "events are" })]
    Missing {
        /// Line after the gap.
        line: usize,
        /// Number of missing events.
        count: u64,
    },
    /// An event has the number of an earlier one.
    #[error("line {line} has event {number} again or out of order; it is skipped")]
    OutOfOrder {
        /// Line number.
        line: usize,
        /// Number of the event.
        number: u64,
    },
    #[error("line {line} has the unknown event `{event}`; it is skipped")]
    UnknownEvent {
        /// Line number.
        line: usize,
        /// Name of the event.
        event: String,
    },
    /// An event with malformed content, such as a histogram that cannot be decoded.
    #[error("line {line} has a malformed event `{event}`: {reason}; it is skipped")]
    Malformed {
        /// Line number.
        line: usize,
        /// Name of the event.
        event: String,
        /// Reason.
        reason: String,
    },
    /// An event belongs to a series that was never opened.
    #[error("line {line} belongs to series {series}, which was never opened; it is skipped")]
    SeriesNeverOpened {
        /// Line number.
        line: usize,
        /// Number of the series.
        series: u32,
    },
    /// An event opens a series that is open already.
    #[error("line {line} opens series {series} again; it is skipped")]
    SeriesOpenedTwice {
        /// Line number.
        line: usize,
        /// Number of the series.
        series: u32,
    },
}

impl EventProblem {
    /// Returns the line number, from 1.
    pub const fn line(&self) -> usize {
        match self {
            Self::Newer { .. } | Self::FirstLineChanged => 1,
            Self::CutOff { line }
            | Self::Damaged { line }
            | Self::Missing { line, .. }
            | Self::OutOfOrder { line, .. }
            | Self::UnknownEvent { line, .. }
            | Self::Malformed { line, .. }
            | Self::SeriesNeverOpened { line, .. }
            | Self::SeriesOpenedTwice { line, .. } => *line,
        }
    }

    /// Returns the number of events that are lost.
    pub const fn lost_events(&self) -> u64 {
        match self {
            Self::Newer { .. } | Self::FirstLineChanged => 0,
            Self::Missing { count, .. } => *count,
            Self::CutOff { .. }
            | Self::Damaged { .. }
            | Self::OutOfOrder { .. }
            | Self::UnknownEvent { .. }
            | Self::Malformed { .. }
            | Self::SeriesNeverOpened { .. }
            | Self::SeriesOpenedTwice { .. } => 1,
        }
    }
}
