//! Reasons why an engine was chosen for storage I/O.

use serde::{Deserialize, Serialize};

/// Reason for the choice of an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "id", content = "arguments", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EngineReason {
    /// The user requested it.
    AskedFor,
    /// It is the first choice and the kernel supports it.
    Best,
    /// It is the first choice. A contest with libaio would be held because I/O may fall back to a
    /// slower path, but libaio is refused.
    BestOfRefused,
    /// The kernel refuses `io_uring`, and possibly libaio.
    Refused {
        /// Error message for `io_uring`.
        io_uring: String,
        /// Error message for libaio; `None` = libaio was used.
        libaio: Option<String>,
    },
    /// The kernel refuses `io_uring`, and libaio would block in the page cache.
    RefusedAndBuffered {
        /// Error message for `io_uring`.
        io_uring: String,
    },
    /// Both were tried briefly, and this one was faster.
    Contest {
        /// I/O per second of both, the winner's first.
        rates_per_s: [f64; 2],
    },
    /// Only a contest could decide, and verification does not allow one.
    UntriedContest,
}

impl EngineReason {
    /// Returns the stored identifier.
    pub const fn id(&self) -> &'static str {
        match self {
            Self::AskedFor => "asked-for",
            Self::Best => "best",
            Self::BestOfRefused => "best-of-refused",
            Self::Refused { .. } => "refused",
            Self::RefusedAndBuffered { .. } => "refused-and-buffered",
            Self::Contest { .. } => "contest",
            Self::UntriedContest => "untried-contest",
        }
    }
}
