//! What a stream of I/O does besides what every stream does: pauses, skew, sizes of its own for writes,
//! its own time, CPUs. The default is none of it.
//!
//! Never says what an I/O is for; the job languages do.

use serde::{Deserialize, Serialize};

use super::SizeShare;

/// What a stream does besides.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Conduct {
    /// Sizes of writes where they differ from those of reads; empty = the same.
    pub write_sizes: Vec<SizeShare>,
    /// What would be written is given back to the device or file system instead.
    pub trims: bool,
    /// Random places that are not equally likely.
    pub skew: Option<Skew>,
    /// Pauses of each thread, in a closed loop.
    pub pauses: Option<Pauses>,
    /// Whether the targets take turns within one depth: `in_flight_per_target` is then that of all
    /// targets together.
    pub turns: Option<Turns>,
    /// CPUs that its threads may run on; empty = all.
    pub cpus: Vec<usize>,
    /// Seconds from the start of the phase to its first I/O.
    pub start_after_s: f64,
    /// Seconds for which it lasts, warm-up included; `None` = until the phase ends.
    pub duration_s: Option<f64>,
    /// Whether the phase ends when it ends.
    pub ends_phase: bool,
    /// An I/O that takes longer, in nanoseconds, is an error that ends the stream.
    pub most_latency_ns: Option<u64>,
    /// Whether every I/O that counts is kept, to be reported one by one.
    pub keeps_journal: bool,
    /// Whether the call that submits is timed by itself, where the engine has one.
    pub times_submission: bool,
    /// Whether buffers are ordinary pages; otherwise large ones are huge pages.
    #[serde(default)]
    pub plain_pages: bool,
    /// Whether `sync_every` is `fdatasync`: only the metadata that reading needs goes with the data.
    #[serde(default)]
    pub syncs_data_only: bool,
}

impl Conduct {
    /// Whether it does nothing besides.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A law of places over the used range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Skew {
    /// The k-th of all places has a probability proportional to k^−θ.
    Zipf {
        /// θ, above 0.
        theta: f64,
    },
    /// The share `area` of all places gets 1 − `area` of the I/O, and so on within it.
    SelfSimilar {
        /// 0 … 1 without both.
        area: f64,
    },
    /// A bell around the middle: the mean of twelve equally likely places, moved by up to half of
    /// `spread_share` of the range to each side.
    Bell {
        /// 0 … 1.
        spread_share: f64,
    },
    /// The nearer to the start the likelier: exponential, and beyond the end on from the start.
    Exponential {
        /// Mean distance from the start, as a share of the range.
        mean_share: f64,
    },
    /// Zones with a share of the I/O each.
    Zones {
        /// For reads.
        reads: Vec<Zone>,
        /// For writes.
        writes: Vec<Zone>,
    },
}

/// A part of the range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    /// Share of the I/O, 0 … 1.
    pub io_share: f64,
    /// Where it begins, as a share of the range.
    pub from_share: f64,
    /// Where it ends.
    pub to_share: f64,
}

/// Pauses between I/O: what is in flight is waited for, then the time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// I/O between two pauses, at least 1.
    pub after_ios: u32,
    /// Length in nanoseconds.
    pub length_ns: u64,
}

/// How targets of one depth take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// One I/O each, round and round.
    Round,
    /// Equally likely.
    Random,
    /// As likely as they are large: every byte of all of them is as likely as any other.
    BySize,
    /// One is finished before the next begins.
    InOrder,
}

impl Turns {
    /// With more targets than this what each of them did is not distinguished: their totals take memory.
    pub const MOST_TOLD_APART: usize = 256;
}
