//! Hosts of the ranks of an MPI job, as far as IOR's options and output depend on them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Placement of the ranks of a job on hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankPlacement {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of hosts.
    pub nodes: u32,
    /// Number of ranks on the host of rank 0.
    pub on_first_node: u32,
    /// Whether ranks fill one host after another, which IOR derives from the host of rank 1.
    pub is_blocked: bool,
}

impl RankPlacement {
    /// Returns the placement by the host of each rank; `None` without ranks.
    pub fn from_hosts<'h>(hosts: impl Iterator<Item = &'h str>) -> Option<Self> {
        let hosts: Vec<&str> = hosts.collect();
        let first = *hosts.first()?;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Some(Self {
            ranks: count(hosts.len()),
            nodes: count(hosts.iter().collect::<BTreeSet<_>>().len()),
            on_first_node: count(hosts.iter().filter(|host| **host == first).count()),
            is_blocked: hosts.get(1).is_none_or(|host| *host == first),
        })
    }

    /// Returns the distance in ranks from one host to the next; 1 on a single host.
    pub(super) const fn node_shift(self) -> u32 {
        if self.is_blocked && self.nodes > 1 { self.on_first_node } else { 1 }
    }

    /// Returns the least random task offset, which leads to another host where there is one.
    pub(super) fn least_offset(self, task_offset: u32) -> u32 {
        task_offset.min(self.nodes.saturating_sub(1)).saturating_mul(self.on_first_node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_distance_between_hosts() {
        for (hosts, nodes, on_first_node, shift) in [
            ("a", 1, 1, 1),
            ("a a a", 1, 3, 1),
            ("a a b b", 2, 2, 2),
            ("a b a b", 2, 2, 1),
            ("a b c", 3, 1, 1),
        ] {
            let placement = RankPlacement::from_hosts(hosts.split(' ')).unwrap();
            assert_eq!((placement.nodes, placement.on_first_node), (nodes, on_first_node));
            assert_eq!(placement.node_shift(), shift, "{hosts}");
        }
        assert_eq!(RankPlacement::from_hosts(std::iter::empty()), None);
    }
}
