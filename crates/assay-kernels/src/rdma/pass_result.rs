//! Result of a pass at one end.

/// Number of messages completed at a time after the first was posted, or after the first had
/// arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgressMark {
    /// Number of messages.
    pub done: u64,
    /// Time in nanoseconds.
    pub at_ns: u64,
}

/// Result of a pass at one end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PassResult {
    /// Completions of its own requests over the time since the first was posted.
    pub sent: Vec<ProgressMark>,
    /// Datagrams received over the time since the first, which is not counted.
    pub received: Vec<ProgressMark>,
    /// Number of messages received.
    pub arrived: u64,
    /// Fastest window of the messages sent: their number and its length.
    pub peak: Option<ProgressMark>,
}
