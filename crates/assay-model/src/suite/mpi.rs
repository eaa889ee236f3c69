//! MPI measures of a suite.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::benchmark::MpiTest;
use crate::quantity::Bytes;

/// MPI test with several placements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MpiRequest {
    /// The test.
    pub test: MpiTest,
    /// Placements of the ranks; hosts on the command line replace them.
    pub placements: Vec<MpiPlacement>,
    /// Number of ranks at `node` and over hosts; `None` = one per core, or two for a pair of hosts.
    pub ranks: Option<u32>,
    /// Smallest message; `None` = that of the OSU test.
    pub from: Option<Bytes>,
    /// Largest message; `None` = that of the OSU test.
    pub to: Option<Bytes>,
}

/// Requested placement of the ranks on one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MpiPlacement {
    /// Two threads of one core.
    SameCore,
    /// Two cores that share their last-level cache.
    SameCache,
    /// Two cores of one socket that share no cache.
    SameSocket,
    /// Two cores of different sockets.
    AcrossSockets,
    /// The whole node, with one rank per core.
    Node,
    /// Each of these pair distances that the machine has.
    Pairs,
}

impl MpiPlacement {
    /// Every placement with its name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("same-core", Self::SameCore),
        ("same-cache", Self::SameCache),
        ("same-socket", Self::SameSocket),
        ("across-sockets", Self::AcrossSockets),
        ("node", Self::Node),
        ("pairs", Self::Pairs),
    ];
    /// Placements that [`MpiPlacement::Pairs`] expands to, the nearest first.
    pub const EVERY_PAIR: [Self; 4] =
        [Self::SameCore, Self::SameCache, Self::SameSocket, Self::AcrossSockets];

    /// Returns the name in suites and results.
    pub fn name(self) -> &'static str {
        let row = Self::ALL.iter().find(|(_, placement)| *placement == self);
        row.map(|(name, _)| *name).expect("every placement has its row")
    }
}

/// Unknown placement of ranks.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "unknown placement of ranks `{0}`; expected one of same-core, same-cache, same-socket, across-sockets, node and pairs"
)]
pub struct MpiPlacementError(String);

impl FromStr for MpiPlacement {
    type Err = MpiPlacementError;

    fn from_str(text: &str) -> Result<Self, MpiPlacementError> {
        let row = Self::ALL.iter().find(|(name, _)| *name == text);
        row.map(|(_, placement)| *placement).ok_or_else(|| MpiPlacementError(text.to_owned()))
    }
}

impl fmt::Display for MpiPlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
