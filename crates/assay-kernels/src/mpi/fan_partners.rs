//! Partners of a rank if one host exchanges messages with all others.

/// Partners of a rank, on other hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FanPartners {
    /// Whether this rank is on the host that exchanges messages with all others.
    pub is_center: bool,
    /// Ranks of the other hosts for a rank of that host, and one rank of it for all other ranks.
    pub partners: Vec<u32>,
}
