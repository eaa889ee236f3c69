//! Communicator of a topology, in which each rank exchanges messages with its neighbours.

use std::ffi::c_int;

use assay_model::benchmark::{Collective, MpiBenchmarkKind, Neighbors};

use super::abi::Handle;
use super::calls::{MpiResult, check_call};
use super::communicator::Communicator;

impl<H: Handle> Communicator<H> {
    /// Divides the ranks among the dimensions of a grid as evenly as the library does.
    pub(super) fn divide_ranks(&self, dimensions: u32) -> MpiResult<Vec<u32>> {
        let mut lengths: Vec<c_int> = vec![0; dimensions as usize];
        // SAFETY: as many integers as dimensions, all of them 0: the library chooses.
        check_call("MPI_Dims_create", unsafe {
            (self.calls.dims_create)(self.size, lengths.len() as c_int, lengths.as_mut_ptr())
        })?;
        Ok(lengths.into_iter().map(c_int::cast_unsigned).collect())
    }

    /// Creates the communicator of the neighbours; all ranks together. Returns the mean over the
    /// ranks of the seconds that it took; valid only on rank 0.
    pub(super) fn join_neighborhood(&mut self, neighbors: Neighbors) -> MpiResult<f64> {
        let ranks = |of: &[u32]| of.iter().map(|it| it.cast_signed()).collect::<Vec<c_int>>();
        let (sources, destinations) =
            (ranks(&neighbors.sources), ranks(&neighbors.destinations));
        // One weight more than neighbours, so that no address is that of a constant.
        let weights = vec![1; sources.len().max(destinations.len()) + 1];
        let names = &self.constants;
        let mut created = H::default();
        let start_s = self.wtime();
        // SAFETY: as many ranks and weights as their counts, and a handle to be written.
        check_call("MPI_Dist_graph_create_adjacent", unsafe {
            (self.calls.dist_graph_create_adjacent)(
                names.world,
                sources.len() as c_int,
                sources.as_ptr(),
                weights.as_ptr(),
                destinations.len() as c_int,
                destinations.as_ptr(),
                weights.as_ptr(),
                names.null_info,
                0,
                &raw mut created,
            )
        })?;
        let elapsed_s = self.wtime() - start_s;
        // SAFETY: the communicator was created above.
        check_call("MPI_Comm_set_errhandler", unsafe {
            (self.calls.set_errhandler)(created, names.errors_return)
        })?;
        self.set_neighborhood(created, neighbors);
        Ok(self.sum(&[elapsed_s])?[0] / f64::from(self.size))
    }

    /// Returns the number of parts of a collective on this rank: one for each rank, or for each
    /// neighbour that it sends to or receives from.
    pub(super) fn part_count(&self, kind: MpiBenchmarkKind) -> usize {
        if kind.collective().is_some_and(Collective::is_neighborhood) {
            self.neighbors.sources.len().max(self.neighbors.destinations.len())
        } else {
            self.size as usize
        }
    }
}
