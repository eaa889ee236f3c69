//! Levels of trust in a value.

use serde::{Deserialize, Serialize};

use super::Doubt;

/// Level of trust in a value; the run has that of its worst headline value.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum TrustLevel {
    /// The interval is narrow, and nothing contradicts the value.
    #[default]
    Sound,
    /// The interval is true and wide, or there are too few samples for one.
    Noisy,
    /// Something contradicts the value: a violated law, other load, a step of the clock.
    Suspect,
}

impl TrustLevel {
    /// Returns the stable name for scripts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Noisy => "noisy",
            Self::Suspect => "suspect",
        }
    }
}

impl Doubt {
    /// Whether kernel counters show it: it explains a value.
    pub const fn is_from_counters(&self) -> bool {
        matches!(
            self,
            Self::CachedReads { .. }
                | Self::CachedWrites { .. }
                | Self::CardTraffic { .. }
                | Self::RpcRetransmits { .. }
                | Self::InterruptBound { .. }
                | Self::IoLimitReached { .. }
        )
    }
}
