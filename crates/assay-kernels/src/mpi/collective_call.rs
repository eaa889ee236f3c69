//! Collective operations with their arguments: the blocking call, and the start of the non-blocking
//! one.

use std::ffi::{c_int, c_void};

use assay_model::benchmark::Collective;

use super::abi::Handle;
use super::calls::{MpiResult, PersistentCollectiveCalls, check_call};
use super::communicator::Communicator;
use super::message_memory::ELEMENT_BYTES;
use super::prepared_benchmark::PreparedBenchmark;

/// Rank that is the root where there is one.
pub(super) const ROOT: c_int = 0;

/// Arguments of one collective operation's calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct CollectiveCall<'j, H: Handle> {
    comm: &'j Communicator<H>,
    operation: Collective,
    send: *const c_void,
    receive: *mut c_void,
    /// Number of characters of one part.
    count: c_int,
    char: H,
    /// Number of elements of a reduction, and their type.
    elements: c_int,
    element: H,
    sum: H,
    /// Number of elements of an equally long part of a reduction.
    share: c_int,
    counts: *const c_int,
    displacements: *const c_int,
    /// Displacements in bytes.
    offsets: *const isize,
    types: *const H,
    /// All ranks, or the neighbourhood.
    communicator: H,
    info: H,
}

/// Declares the calls of each operation from one row: the fields of the function table, the names
/// of the functions, and the arguments, which all of them share. Neighbourhood collectives have no
/// persistent requests here, as OSU's programs.
macro_rules! collective_calls {
    ($call:ident;
        { $($operation:ident:
            $blocking:ident $name:literal, $start:ident $start_name:literal, $init_name:literal
            ($($argument:expr),*);)* }
        { $($neighbor:ident:
            $neighbor_blocking:ident $neighbor_name:literal,
            $neighbor_start:ident $neighbor_start_name:literal
            ($($neighbor_argument:expr),*);)* }
    ) => {
        impl<H: Handle> CollectiveCall<'_, H> {
            /// Makes the blocking call. The branch is the same in every turn, so the processor
            /// predicts it.
            #[inline(always)]
            pub(super) fn run_blocking(&self) -> MpiResult {
                let $call = self;
                match self.operation {
                    $(Collective::$operation => {
                        // SAFETY: `buffer_bytes` gave both addresses as many bytes as the
                        // operation reads and writes on this rank, `RankParts` as many numbers as
                        // parts, and the library keeps no pointer after the call.
                        let code = unsafe { (self.comm.calls.$blocking)($($argument),*) };
                        check_call($name, code)
                    })*
                    $(Collective::$neighbor => {
                        let function = self.comm.calls.$neighbor_blocking;
                        // SAFETY: as above.
                        let code = unsafe { function($($neighbor_argument),*) };
                        check_call($neighbor_name, code)
                    })*
                }
            }

            /// Starts the non-blocking call.
            ///
            /// # Safety
            /// The memory must stay until the request is complete.
            #[inline(always)]
            pub(super) unsafe fn start(&self, request: &mut H) -> MpiResult {
                let $call = self;
                match self.operation {
                    $(Collective::$operation => {
                        let function = self.comm.calls.$start;
                        // SAFETY: as for the blocking call, and the caller keeps the memory.
                        let code = unsafe { function($($argument,)* request) };
                        check_call($start_name, code)
                    })*
                    $(Collective::$neighbor => {
                        let function = self.comm.calls.$neighbor_start;
                        // SAFETY: as above.
                        let code = unsafe { function($($neighbor_argument,)* request) };
                        check_call($neighbor_start_name, code)
                    })*
                }
            }

            /// Creates the persistent request; `None` if the operation has none.
            ///
            /// # Safety
            /// The memory must stay until the request is freed.
            unsafe fn init(
                &self,
                calls: &PersistentCollectiveCalls<H>,
            ) -> MpiResult<Option<H>> {
                let ($call, mut request) = (self, H::default());
                match self.operation {
                    $(Collective::$operation => {
                        // SAFETY: as for the blocking call, and the caller keeps the memory.
                        let code = unsafe {
                            (calls.$blocking)($($argument,)* self.info, &raw mut request)
                        };
                        check_call($init_name, code)?;
                    })*
                    $(Collective::$neighbor)|* => return Ok(None),
                }
                Ok(Some(request))
            }
        }
    };
}

collective_calls! { c;
    {
        Barrier: barrier "MPI_Barrier", ibarrier "MPI_Ibarrier", "MPI_Barrier_init"
            (c.communicator);
        Broadcast: broadcast "MPI_Bcast", ibroadcast "MPI_Ibcast", "MPI_Bcast_init"
            (c.receive, c.count, c.char, ROOT, c.communicator);
        Reduce: reduce "MPI_Reduce", ireduce "MPI_Ireduce", "MPI_Reduce_init"
            (c.send, c.receive, c.elements, c.element, c.sum, ROOT, c.communicator);
        AllReduce: all_reduce "MPI_Allreduce", iall_reduce "MPI_Iallreduce", "MPI_Allreduce_init"
            (c.send, c.receive, c.elements, c.element, c.sum, c.communicator);
        ReduceScatter: reduce_scatter "MPI_Reduce_scatter", ireduce_scatter "MPI_Ireduce_scatter", "MPI_Reduce_scatter_init"
            (c.send, c.receive, c.counts, c.element, c.sum, c.communicator);
        ReduceScatterBlock: reduce_scatter_block "MPI_Reduce_scatter_block",
            ireduce_scatter_block "MPI_Ireduce_scatter_block", "MPI_Reduce_scatter_block_init"
            (c.send, c.receive, c.share, c.element, c.sum, c.communicator);
        AllGather: all_gather "MPI_Allgather", iall_gather "MPI_Iallgather", "MPI_Allgather_init"
            (c.send, c.count, c.char, c.receive, c.count, c.char, c.communicator);
        AllGatherV: all_gather_v "MPI_Allgatherv", iall_gather_v "MPI_Iallgatherv", "MPI_Allgatherv_init"
            (c.send, c.count, c.char, c.receive, c.counts, c.displacements, c.char, c.communicator);
        AllToAll: all_to_all "MPI_Alltoall", iall_to_all "MPI_Ialltoall", "MPI_Alltoall_init"
            (c.send, c.count, c.char, c.receive, c.count, c.char, c.communicator);
        AllToAllV: all_to_all_v "MPI_Alltoallv", iall_to_all_v "MPI_Ialltoallv", "MPI_Alltoallv_init"
            (c.send, c.counts, c.displacements, c.char, c.receive, c.counts, c.displacements, c.char,
                c.communicator);
        AllToAllW: all_to_all_w "MPI_Alltoallw", iall_to_all_w "MPI_Ialltoallw", "MPI_Alltoallw_init"
            (c.send, c.counts, c.displacements, c.types, c.receive, c.counts, c.displacements,
                c.types, c.communicator);
        Gather: gather "MPI_Gather", igather "MPI_Igather", "MPI_Gather_init"
            (c.send, c.count, c.char, c.receive, c.count, c.char, ROOT, c.communicator);
        GatherV: gather_v "MPI_Gatherv", igather_v "MPI_Igatherv", "MPI_Gatherv_init"
            (c.send, c.count, c.char, c.receive, c.counts, c.displacements, c.char, ROOT, c.communicator);
        Scatter: scatter "MPI_Scatter", iscatter "MPI_Iscatter", "MPI_Scatter_init"
            (c.send, c.count, c.char, c.receive, c.count, c.char, ROOT, c.communicator);
        ScatterV: scatter_v "MPI_Scatterv", iscatter_v "MPI_Iscatterv", "MPI_Scatterv_init"
            (c.send, c.counts, c.displacements, c.char, c.receive, c.count, c.char, ROOT, c.communicator);
    }
    {
        NeighborAllGather: neighbor_all_gather "MPI_Neighbor_allgather",
            ineighbor_all_gather "MPI_Ineighbor_allgather"
            (c.send, c.count, c.char, c.receive, c.count, c.char, c.communicator);
        NeighborAllGatherV: neighbor_all_gather_v "MPI_Neighbor_allgatherv",
            ineighbor_all_gather_v "MPI_Ineighbor_allgatherv"
            (c.send, c.count, c.char, c.receive, c.counts, c.displacements, c.char,
                c.communicator);
        NeighborAllToAll: neighbor_all_to_all "MPI_Neighbor_alltoall",
            ineighbor_all_to_all "MPI_Ineighbor_alltoall"
            (c.send, c.count, c.char, c.receive, c.count, c.char, c.communicator);
        NeighborAllToAllV: neighbor_all_to_all_v "MPI_Neighbor_alltoallv",
            ineighbor_all_to_all_v "MPI_Ineighbor_alltoallv"
            (c.send, c.counts, c.displacements, c.char, c.receive, c.counts, c.displacements,
                c.char, c.communicator);
        NeighborAllToAllW: neighbor_all_to_all_w "MPI_Neighbor_alltoallw",
            ineighbor_all_to_all_w "MPI_Ineighbor_alltoallw"
            (c.send, c.counts, c.offsets, c.types, c.receive, c.counts, c.offsets, c.types,
                c.communicator);
    }
}

impl<H: Handle> PreparedBenchmark<'_, H> {
    /// Creates the persistent request of an operation. Returns none if the library lacks the
    /// function, which [`super::LoadedMpi::check_support`] rejects before.
    pub(super) fn init_collective(&self, operation: Collective) -> MpiResult<Option<H>> {
        let Ok(calls) = &self.comm.persistent else { return Ok(None) };
        // SAFETY: this benchmark keeps the memory and frees the request before.
        unsafe { self.collective_call(operation).init(calls) }
    }

    pub(super) fn collective_call(&self, operation: Collective) -> CollectiveCall<'_, H> {
        let names = &self.comm.constants;
        let elements = self.message_bytes / ELEMENT_BYTES as c_int;
        CollectiveCall {
            comm: self.comm,
            operation,
            send: self.send.as_ptr().cast_const().cast(),
            receive: self.receive.as_ptr().cast(),
            count: self.message_bytes,
            char: names.char,
            elements,
            element: self.element_type().0,
            sum: names.sum,
            share: elements / self.comm.size,
            counts: self.parts.counts.as_ptr(),
            displacements: self.parts.displacements.as_ptr(),
            offsets: self.parts.offsets.as_ptr(),
            types: self.parts.types.as_ptr(),
            communicator: self.comm.communicator_of(operation),
            info: names.null_info,
        }
    }
}
