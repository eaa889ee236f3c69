//! Requested placements: `node`, `numa`, `l3:2`, `core`, `scaling`, `all`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Request for one or several domains of the machine. `l3` means the last-level cache, whatever its
/// level is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// All cores.
    Node,
    /// A NUMA node, or each of them separately.
    Numa(Option<u32>),
    /// A last-level-cache domain, or each separately and then all together.
    LastLevel(Option<u32>),
    /// A core; by default the first.
    Core(Option<u32>),
    /// 1, 2, … all cores, filling one last-level-cache domain after the other.
    Scaling,
    /// All of the above.
    All,
}

impl Placement {
    /// Placements that [`Placement::All`] expands to.
    pub const EVERY: [Self; 5] =
        [Self::Node, Self::Numa(None), Self::LastLevel(None), Self::Core(None), Self::Scaling];
}

/// Unknown placement.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "unknown placement `{0}`; expected one of node, numa, l3, core, scaling and all, and numa:0, l3:0 or core:0 for a single one"
)]
pub struct PlacementError(pub String);

impl FromStr for Placement {
    type Err = PlacementError;

    fn from_str(text: &str) -> Result<Self, PlacementError> {
        let unknown = || PlacementError(text.to_owned());
        let (name, number) = match text.split_once(':') {
            Some((name, number)) => (name, Some(number.parse().map_err(|_| unknown())?)),
            None => (text, None),
        };
        match (name, number) {
            ("node", None) => Ok(Self::Node),
            ("scaling", None) => Ok(Self::Scaling),
            ("all", None) => Ok(Self::All),
            ("numa", number) => Ok(Self::Numa(number)),
            ("l3", number) => Ok(Self::LastLevel(number)),
            ("core", number) => Ok(Self::Core(number)),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, number) = match self {
            Self::Node => ("node", None),
            Self::Scaling => ("scaling", None),
            Self::All => ("all", None),
            Self::Numa(number) => ("numa", *number),
            Self::LastLevel(number) => ("l3", *number),
            Self::Core(number) => ("core", *number),
        };
        match number {
            Some(number) => write!(f, "{name}:{number}"),
            None => f.write_str(name),
        }
    }
}
