//! Order of the offsets of a stream.

use serde::{Deserialize, Serialize};

/// Access pattern: order of the offsets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AccessPattern {
    /// Random offsets, uniformly distributed.
    Random,
    /// Every block once in random order, then again.
    Permutation,
    /// Sequential.
    Sequential {
        /// Scope of the position.
        cursor: Cursor,
        /// Behaviour at the end of the range.
        at_end: AtEnd,
        /// Bytes skipped after each I/O; 0 = none.
        gap_bytes: u64,
    },
    /// Ascending with random gaps, uniformly distributed; wraps around.
    Strides {
        /// Smallest gap in bytes.
        least_bytes: u64,
        /// Largest gap in bytes; gaps differ by multiples of the I/O size.
        most_bytes: u64,
    },
    /// Sequential, with a share of the I/O jumping to a random offset.
    Mixed {
        /// Share of I/O that jumps, 0 … 1.
        random_share: f64,
    },
    /// Equally spaced blocks; all I/O of a block precedes the next block, each offset once.
    Blocks {
        /// Bytes of a block.
        block_bytes: u64,
        /// Distance between the starts of blocks; only blocks that fit the range are used.
        stride_bytes: u64,
        /// Whether all I/O of all blocks is in random order instead.
        shuffled: bool,
        /// Whether the random order is one within each block, the same in all, and the last block
        /// need not fit the range.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        within_blocks: bool,
        /// Number of the first I/O in this order.
        #[serde(default, skip_serializing_if = "super::is_zero")]
        first_io: u64,
    },
}

/// Scope of a sequential position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cursor {
    /// A single position for all I/O of the stream on a target: adjacent I/O is in flight together.
    Shared,
    /// A position per thread, each over the whole range.
    PerThread,
    /// A position per thread, each over an equal part of the range.
    Divided,
}

/// Behaviour at the end of the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtEnd {
    /// Continues from the start.
    Wrap,
    /// The stream is done on this target.
    Stop,
}
