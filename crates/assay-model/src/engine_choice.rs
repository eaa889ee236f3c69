//! Why storage I/O was issued by one engine and not by another.

use serde::{Deserialize, Serialize};

/// The reason for an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "id", content = "arguments", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EngineReason {
    /// The user asked for it.
    AskedFor,
    /// It is the first choice and the kernel grants it.
    Best,
    /// It is the first choice, and where it may take a detour the second is refused.
    BestOfRefused,
    /// The kernel refuses `io_uring`, and libaio where that is given; what it said.
    Refused {
        /// What the kernel said to `io_uring`.
        io_uring: String,
        /// What it said to libaio; `None` = libaio was taken.
        libaio: Option<String>,
    },
    /// The kernel refuses `io_uring`, and libaio would block in the page cache.
    RefusedAndBuffered {
        /// What the kernel said to `io_uring`.
        io_uring: String,
    },
    /// Both were tried for a moment, and this one was faster.
    Contest {
        /// I/O per second of both, the winner's first.
        rates_per_s: [f64; 2],
    },
    /// Only a contest could tell, and there was none because of verification.
    UntriedContest,
    /// In the words of a run that format 1 stored.
    #[serde(rename = "told")]
    Reported {
        /// The words.
        text: String,
    },
}
