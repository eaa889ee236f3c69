//! Topologies of neighbourhood collectives, `-N` in OSU: which ranks exchange messages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Topology that defines the neighbours of each rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeighborTopology {
    /// Periodic grid; neighbours are all ranks within a distance in every dimension.
    Cartesian {
        /// Number of dimensions.
        dimensions: u32,
        /// Largest distance of a neighbour in a dimension.
        radius: u32,
    },
    /// Directed graph.
    Graph {
        /// Sender and receiver of each edge.
        edges: Vec<(u32, u32)>,
    },
}

/// Neighbours of one rank, in the order of their parts in its buffers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Neighbors {
    /// Ranks that it receives from.
    pub sources: Vec<u32>,
    /// Ranks that it sends to.
    pub destinations: Vec<u32>,
}

/// OSU's default.
impl Default for NeighborTopology {
    fn default() -> Self {
        Self::Cartesian { dimensions: 1, radius: 1 }
    }
}

impl NeighborTopology {
    /// Returns the number of ranks that the topology needs. A grid has no rank twice in a
    /// neighbourhood: (2 × radius + 1)^dimensions.
    pub fn min_ranks(&self) -> u64 {
        match self {
            Self::Cartesian { dimensions, radius } => {
                (2 * u64::from(*radius) + 1).saturating_pow(*dimensions)
            }
            Self::Graph { edges } => {
                edges.iter().map(|(from, to)| u64::from(*from.max(to)) + 1).max().unwrap_or(0)
            }
        }
    }

    /// Returns the number of dimensions of a grid; 0 of a graph.
    pub const fn dimensions(&self) -> u32 {
        match self {
            Self::Cartesian { dimensions, .. } => *dimensions,
            Self::Graph { .. } => 0,
        }
    }

    /// Whether each dimension of a grid with these lengths is long enough.
    pub fn fits(&self, lengths: &[u32]) -> bool {
        match self {
            Self::Cartesian { radius, .. } => {
                lengths.iter().all(|length| u64::from(*length) > 2 * u64::from(*radius))
            }
            Self::Graph { .. } => true,
        }
    }

    /// Returns the neighbours of a rank; `lengths` are those of the dimensions of a grid.
    pub fn neighbors(&self, rank: u32, lengths: &[u32]) -> Neighbors {
        match self {
            Self::Cartesian { radius, .. } => {
                let ranks = grid_neighbors(rank, lengths, *radius);
                Neighbors { sources: ranks.clone(), destinations: ranks }
            }
            Self::Graph { edges } => {
                let sources = edges.iter().filter(|(_, to)| *to == rank).map(|edge| edge.0);
                let destinations = edges.iter().filter(|(from, _)| *from == rank);
                Neighbors {
                    sources: sources.collect(),
                    destinations: destinations.map(|edge| edge.1).collect(),
                }
            }
        }
    }

    /// Returns the largest number of neighbours that any rank sends to or receives from.
    pub fn max_degree(&self, lengths: &[u32]) -> usize {
        let Self::Graph { edges } = self else {
            return self.neighbors(0, lengths).sources.len();
        };
        let mut degrees: BTreeMap<(u32, bool), usize> = BTreeMap::new();
        for (from, to) in edges {
            *degrees.entry((*from, true)).or_default() += 1;
            *degrees.entry((*to, false)).or_default() += 1;
        }
        degrees.into_values().max().unwrap_or(0)
    }

    /// Returns the settings that differ from OSU's default. OSU's programs print the lengths of the
    /// dimensions, and neither a radius nor a graph.
    pub fn unusual_settings(&self, lengths: &[u32]) -> Vec<String> {
        match self {
            Self::Cartesian { radius, .. } => {
                let radius = (*radius != 1).then(|| format!("Radius: {radius}"));
                Self::unusual_lengths(lengths).into_iter().chain(radius).collect()
            }
            Self::Graph { edges } => vec![format!("{}, {} edges", Self::GRAPH, edges.len())],
        }
    }

    /// Setting of a graph.
    pub const GRAPH: &'static str = "Topology: graph";

    /// Returns the setting of a grid with several dimensions.
    pub fn unusual_lengths(lengths: &[u32]) -> Option<String> {
        let lengths: Vec<String> = lengths.iter().map(u32::to_string).collect();
        (lengths.len() > 1).then(|| format!("Dimensions size: {}", lengths.join(" ")))
    }
}

/// Returns the other ranks within `radius` in each dimension of a periodic grid; the last dimension
/// varies fastest, in the ranks as in the order of the neighbours.
fn grid_neighbors(rank: u32, lengths: &[u32], radius: u32) -> Vec<u32> {
    let mut bases = vec![0_u64];
    let mut stride: u64 = lengths.iter().map(|length| u64::from(*length)).product();
    for length in lengths.iter().map(|length| u64::from(*length)) {
        stride /= length.max(1);
        let own = u64::from(rank) / stride.max(1) % length.max(1);
        // One period is added, so that the difference is not negative.
        let first = own + length * u64::from(radius) - u64::from(radius);
        let places = (0..=2 * u64::from(radius)).map(|step| (first + step) % length.max(1));
        let places: Vec<u64> = places.collect();
        bases = bases
            .into_iter()
            .flat_map(|base| places.iter().map(move |place| base + place * stride))
            .collect();
    }
    bases.into_iter().map(|it| it as u32).filter(|it| *it != rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cartesian(dimensions: u32, radius: u32) -> NeighborTopology {
        NeighborTopology::Cartesian { dimensions, radius }
    }

    /// In the order of OSU's programs: from −radius to radius, the last dimension fastest.
    #[test]
    fn grid_has_periodic_neighbors() {
        for (topology, lengths, rank, expected) in [
            (cartesian(1, 1), &[3][..], 0, vec![2, 1]),
            (cartesian(1, 1), &[5][..], 4, vec![3, 0]),
            (cartesian(1, 2), &[5][..], 1, vec![4, 0, 2, 3]),
            (cartesian(2, 1), &[3, 3][..], 4, vec![0, 1, 2, 3, 5, 6, 7, 8]),
            (cartesian(2, 1), &[4, 3][..], 0, vec![11, 9, 10, 2, 1, 5, 3, 4]),
        ] {
            let neighbors = topology.neighbors(rank, lengths);
            assert_eq!(neighbors.sources, expected, "{topology:?} of {lengths:?}");
            assert_eq!(neighbors.destinations, expected, "{topology:?} of {lengths:?}");
            assert!(topology.fits(lengths));
            assert_eq!(topology.max_degree(lengths), expected.len());
        }
        assert!(!cartesian(2, 1).fits(&[5, 2]));
        assert_eq!(cartesian(2, 1).min_ranks(), 9);
        assert_eq!(cartesian(30, 1 << 20).min_ranks(), u64::MAX);
    }

    #[test]
    fn graph_has_directed_neighbors() {
        let graph = NeighborTopology::Graph { edges: vec![(2, 0), (0, 1), (0, 3), (1, 3)] };
        assert_eq!(graph.min_ranks(), 4);
        let neighbors = graph.neighbors(0, &[]);
        assert_eq!((neighbors.sources, neighbors.destinations), (vec![2], vec![1, 3]));
        assert!(graph.neighbors(2, &[]).sources.is_empty());
        assert_eq!(graph.max_degree(&[]), 2);
    }

    #[test]
    fn unusual_topologies_are_settings() {
        let graph = NeighborTopology::Graph { edges: vec![(2, 0), (0, 1)] };
        for (topology, lengths, expected) in [
            (cartesian(1, 1), &[3][..], vec![]),
            (cartesian(2, 1), &[3, 3][..], vec!["Dimensions size: 3 3"]),
            (cartesian(1, 2), &[5][..], vec!["Radius: 2"]),
            (graph, &[][..], vec!["Topology: graph, 2 edges"]),
        ] {
            assert_eq!(topology.unusual_settings(lengths), expected);
        }
    }
}
