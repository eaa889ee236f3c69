//! Sizes of the batches in which a stream submits and collects its I/O, its minimum rate, and the
//! latency that it keeps.

use serde::{Deserialize, Serialize};

/// Batches of a stream: I/O begins one by one, is submitted in batches, and is collected when no more
/// may be in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoBatches {
    /// I/O submitted with one call, at least 1.
    pub submit: u32,
    /// Minimum number of completions to wait for; 0 = one, and without sleeping.
    pub collect_least: u32,
    /// Maximum number of completions of one call; 0 and a minimum of 0: after every submission.
    pub collect_most: u32,
    /// I/O in flight down to which completions are collected before more I/O begins.
    pub refill_below: u32,
}

/// Minimum rates of a stream, which ends with an error below one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinimumRates {
    /// B/s of reads and of writes.
    pub bytes_per_s: [Option<u64>; 2],
    /// IO/s of reads and of writes; has no effect on a direction with a minimum in B/s.
    pub ios_per_s: [Option<u64>; 2],
    /// Milliseconds that a rate is measured over.
    pub cycle_ms: u64,
}

/// I/O of a stream that does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUpBytes {
    /// Bytes after which the measurement begins.
    pub bytes: u64,
    /// Whether they are those of all streams of the phase with such a warm-up.
    pub is_common: bool,
}

/// Latency that a stream keeps: it searches the largest depth that allows it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyTarget {
    /// Maximum latency in nanoseconds.
    pub most_ns: u64,
    /// Nanoseconds over which it is judged.
    pub window_ns: u64,
    /// Percent of the I/O that are to keep it.
    pub percent: f64,
    /// Whether the search never ends; otherwise the stream ends after a window at the depth that was
    /// found.
    pub keeps_adjusting: bool,
}
