//! Contents of collective operations in the validation pass: each part identifies its sender and its
//! receiver.

use std::ffi::c_int;

use assay_model::benchmark::{Collective, MpiBenchmarkKind};

use super::abi::Handle;
use super::calls::MpiResult;
use super::collective_call::ROOT;
use super::contents::{fill_bytes, has_contents, message_seed, number_bytes, sum_bytes};
use super::message_memory::ELEMENT_BYTES;
use super::prepared_benchmark::PreparedBenchmark;

impl<H: Handle> PreparedBenchmark<'_, H> {
    /// Runs one operation with contents that identify their origin. Returns whether each part
    /// received on this rank is correct.
    pub(super) fn validate_collective(
        &mut self,
        operation: Collective,
        turn: u64,
    ) -> MpiResult<Vec<bool>> {
        self.fill_collective(operation, turn);
        self.comm.barrier()?;
        let call = self.collective_call(operation);
        match self.kind {
            MpiBenchmarkKind::Overlap(_) => {
                let mut request = H::default();
                // SAFETY: completed right here.
                unsafe { call.start(&mut request)? };
                self.comm.wait(&mut request)?;
            }
            MpiBenchmarkKind::PersistentCollective(_) => {
                if let Some(mut request) = self.init_collective(operation)? {
                    self.comm.start_request(&mut request)?;
                    self.comm.wait(&mut request)?;
                    self.comm.free_requests(&mut [request])?;
                }
            }
            _ => call.run_blocking()?,
        }
        Ok(self.check_collective(operation, turn))
    }

    fn fill_collective(&mut self, operation: Collective, turn: u64) {
        let (rank, bytes) = (self.comm.rank, self.message_bytes as usize);
        self.receive.as_mut_slice::<u8>().fill(0xff);
        match operation {
            Collective::Barrier => {}
            Collective::Broadcast if rank == ROOT => {
                fill_bytes(
                    &mut self.receive.as_mut_slice::<u8>()[..bytes],
                    message_seed(turn, ROOT, 0),
                );
            }
            Collective::Broadcast => {}
            Collective::Reduce
            | Collective::AllReduce
            | Collective::ReduceScatter
            | Collective::ReduceScatterBlock => {
                let numbers = number_bytes(self.element, bytes / ELEMENT_BYTES, turn, rank, 0);
                self.send.as_mut_slice::<u8>()[..numbers.len()].copy_from_slice(&numbers);
            }
            Collective::AllGather
            | Collective::AllGatherV
            | Collective::Gather
            | Collective::GatherV
            | Collective::AllToAll
            | Collective::AllToAllV
            | Collective::AllToAllW
            | Collective::Scatter
            | Collective::ScatterV
            | Collective::NeighborAllGather
            | Collective::NeighborAllGatherV => {
                // The seed of a part identifies its sender and its receiver.
                let parts = self.send.as_mut_slice::<u8>().chunks_exact_mut(bytes.max(1));
                for (to, part) in parts.enumerate() {
                    fill_bytes(part, message_seed(turn, rank, to));
                }
            }
            Collective::NeighborAllToAll
            | Collective::NeighborAllToAllV
            | Collective::NeighborAllToAllW => {
                let parts = self.send.as_mut_slice::<u8>().chunks_exact_mut(bytes.max(1));
                for (to, part) in self.comm.neighbors.destinations.iter().zip(parts) {
                    fill_bytes(part, message_seed(turn, rank, *to as usize));
                }
            }
        }
    }

    fn check_collective(&self, operation: Collective, turn: u64) -> Vec<bool> {
        let (rank, ranks, bytes) =
            (self.comm.rank, self.comm.size, self.message_bytes as usize);
        let received = self.receive.as_slice::<u8>();
        let part = |from: c_int| &received[from as usize * bytes..(from as usize + 1) * bytes];
        match operation {
            Collective::Barrier => Vec::new(),
            Collective::Broadcast => vec![has_contents(part(0), message_seed(turn, ROOT, 0))],
            Collective::Reduce if rank != ROOT => Vec::new(),
            Collective::Reduce | Collective::AllReduce => {
                vec![self.has_sums_at(0, bytes / ELEMENT_BYTES, turn)]
            }
            Collective::ReduceScatter | Collective::ReduceScatterBlock => {
                let own = rank as usize;
                let elements = self.parts.counts[own] as usize;
                let first = self.parts.displacements[own] as usize;
                // A message with fewer elements than ranks leaves some ranks without any.
                let is_correct = || self.has_sums_at(first, elements, turn);
                (elements > 0).then(is_correct).into_iter().collect()
            }
            Collective::Gather | Collective::GatherV if rank != ROOT => Vec::new(),
            // Each rank sends the same part to all, so it is the first of its parts.
            Collective::AllGather
            | Collective::AllGatherV
            | Collective::Gather
            | Collective::GatherV => (0..ranks)
                .map(|from| has_contents(part(from), message_seed(turn, from, 0)))
                .collect(),
            Collective::AllToAll | Collective::AllToAllV | Collective::AllToAllW => (0..ranks)
                .map(|from| has_contents(part(from), message_seed(turn, from, rank as usize)))
                .collect(),
            Collective::NeighborAllGather | Collective::NeighborAllGatherV => {
                self.check_neighbors(|from| message_seed(turn, from, 0))
            }
            Collective::NeighborAllToAll
            | Collective::NeighborAllToAllV
            | Collective::NeighborAllToAllW => {
                self.check_neighbors(|from| message_seed(turn, from, rank as usize))
            }
            Collective::Scatter | Collective::ScatterV => {
                vec![has_contents(part(0), message_seed(turn, ROOT, rank as usize))]
            }
        }
    }

    /// Returns whether the part from each neighbour has the contents of the seed of its sender.
    fn check_neighbors(&self, seed: impl Fn(c_int) -> u64) -> Vec<bool> {
        let parts =
            self.receive.as_slice::<u8>().chunks_exact((self.message_bytes as usize).max(1));
        let sources = self.comm.neighbors.sources.iter().zip(parts);
        sources.map(|(from, part)| has_contents(part, seed(from.cast_signed()))).collect()
    }

    /// Returns whether the first `elements` numbers received are the sums of the numbers from
    /// `first` on.
    fn has_sums_at(&self, first: usize, elements: usize, turn: u64) -> bool {
        let sums = sum_bytes(self.element, first, elements, turn, self.comm.size);
        self.receive.as_slice::<u8>()[..sums.len()] == sums
    }
}
