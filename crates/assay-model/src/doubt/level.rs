//! Levels of trust in a value.

use serde::{Deserialize, Serialize};

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
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Noisy => "noisy",
            Self::Suspect => "suspect",
        }
    }
}
