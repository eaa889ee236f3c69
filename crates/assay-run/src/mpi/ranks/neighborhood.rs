//! Topology of a neighbourhood collective, which all ranks create together.

use std::hash::{DefaultHasher, Hasher as _};

use assay_model::benchmark::NeighborTopology;
use assay_model::mpi_outcome::MpiTopology;

use super::{ConnectedRanks, mpi_failure};
use crate::failure::CommandFailure;

impl ConnectedRanks {
    /// Creates the topology of a neighbourhood collective; all ranks together.
    pub fn join_neighborhood(
        &mut self,
        topology: &NeighborTopology,
    ) -> Result<(), CommandFailure> {
        self.check_same_topology(topology)?;
        let lengths = match topology.dimensions() {
            0 => Vec::new(),
            count => self.world.divide_ranks(count).map_err(|error| mpi_failure(&error))?,
        };
        if !topology.fits(&lengths) {
            let lengths: Vec<String> = lengths.iter().map(u32::to_string).collect();
            return Err(CommandFailure::usage("the radius of the neighbourhood is too large")
                .with_reason(format!(
                    "the library arranges {} ranks as {}, and a rank would be its neighbour twice",
                    self.world.size(),
                    lengths.join(" × ")
                ))
                .advise("start another number of ranks, or set fewer dimensions: -N cart:1:1"));
        }
        let neighbors = topology.neighbors(self.world.rank(), &lengths);
        let joined = self.world.join_neighborhood(neighbors);
        let creation_s = joined.map_err(|error| mpi_failure(&error))?;
        self.outcome.settings.extend(topology.unusual_settings(&lengths));
        self.outcome.topology = Some(MpiTopology { lengths, creation_s });
        Ok(())
    }

    /// Returns an error if hosts have different files of a graph: the library would wait for ever.
    fn check_same_topology(&self, topology: &NeighborTopology) -> Result<(), CommandFailure> {
        let mut hasher = DefaultHasher::new();
        hasher.write(&serde_json::to_vec(topology).expect("a topology has only numbers"));
        let digests = self.world.all_gather(&hasher.finish().to_le_bytes());
        let digests = digests.map_err(|error| mpi_failure(&error))?;
        match digests.iter().position(|digest| *digest != digests[0]) {
            None => Ok(()),
            Some(rank) => Err(CommandFailure::usage("the ranks have different topologies")
                .with_reason(format!("the file of rank {rank} differs from that of rank 0"))
                .advise("put the same file on all hosts")),
        }
    }
}
