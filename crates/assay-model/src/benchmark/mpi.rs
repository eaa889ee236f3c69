//! Benchmark rows of MPI: one per test, named after its OSU micro-benchmark.

use serde::{Deserialize, Serialize};

use super::Definition;
use super::table::benchmark_table;

mod definitions;
mod kind;
mod remote;
mod topology;

use definitions::{
    ACCUMULATE_LATENCY, BANDWIDTH, BOTH_WAYS, COMPARE_AND_SWAP_LATENCY, FAN_IN_BANDWIDTH,
    FAN_OUT_BANDWIDTH, FETCH_AND_OP_LATENCY, FORKED_LATENCY, GET_ACCUMULATE_LATENCY,
    GET_BANDWIDTH, GET_LATENCY, LATENCY, MESSAGE_RATE, MULTI_LATENCY, PERSISTENT_BANDWIDTH,
    PERSISTENT_BOTH_WAYS, PERSISTENT_LATENCY, PUT_BANDWIDTH, PUT_BOTH_WAYS, PUT_LATENCY,
    STARTUP, THREADS_LATENCY, collective, neighborhood, non_blocking, persistent,
};
use kind::{Collective as C, MpiBenchmarkKind as K};
pub use kind::{Collective, MpiBenchmarkKind, MpiPattern};
use remote::RemoteOperation as R;
pub use remote::{RemoteOperation, RmaSynchronization, WindowCreation};
pub use topology::{NeighborTopology, Neighbors};

/// Declares the tests from one row each: identifier, definition, kind and the title that OSU's
/// program prints.
macro_rules! mpi_table {
    ($($(#[doc = $doc:literal])+ $test:ident, $id:literal, $row:expr, $kind:expr, $title:literal;)+) => {
        benchmark_table! {
            /// MPI test. The name after `mpi.` is that of the OSU micro-benchmark after `osu_`.
            MpiTest;
            $($(#[doc = $doc])+ $test, $id, $row;)+
        }

        impl MpiTest {
            /// Returns the kind of the benchmark.
            pub const fn kind(self) -> MpiBenchmarkKind {
                match self {
                    $(Self::$test => $kind,)+
                }
            }

            /// Returns the title that the OSU program of this test prints.
            pub const fn osu_title(self) -> &'static str {
                match self {
                    $(Self::$test => $title,)+
                }
            }
        }
    };
}

mpi_table! {
    /// Ping-pong of two ranks.
    Latency, "mpi.latency", LATENCY, K::Latency,
        "OSU MPI Latency Test";
    /// Windows of messages in one direction.
    Bandwidth, "mpi.bw", BANDWIDTH, K::Bandwidth,
        "OSU MPI Bandwidth Test";
    /// Windows of messages in both directions at once.
    BothWays, "mpi.bibw", BOTH_WAYS, K::Bidirectional,
        "OSU MPI Bi-Directional Bandwidth Test";
    /// Windows of messages of several pairs of ranks, in one direction.
    MessageRate, "mpi.mbw_mr", MESSAGE_RATE, K::PairsBandwidth,
        "OSU MPI Multiple Bandwidth / Message Rate Test";
    /// Ping-pong of two ranks with persistent requests.
    PersistentLatency, "mpi.latency_persistent", PERSISTENT_LATENCY, K::PersistentLatency,
        "OSU MPI Latency Persistent Test";
    /// Windows of messages in one direction with persistent requests.
    PersistentBandwidth, "mpi.bw_persistent", PERSISTENT_BANDWIDTH, K::PersistentBandwidth,
        "OSU MPI Bandwidth Persistent Test";
    /// Windows of messages in both directions with persistent requests.
    PersistentBothWays, "mpi.bibw_persistent", PERSISTENT_BOTH_WAYS, K::PersistentBidirectional,
        "OSU MPI Bi-Directional Bandwidth Persistent Test";
    /// Ping-pong of several pairs at once.
    MultiLatency, "mpi.multi_lat", MULTI_LATENCY, K::PairsLatency,
        "OSU MPI Multi Latency Test";
    /// Ping-pong between threads of two ranks.
    ThreadsLatency, "mpi.latency_mt", THREADS_LATENCY, K::ThreadsLatency,
        "OSU MPI Multi-threaded Latency Test";
    /// Ping-pong of two ranks that forked processes.
    ForkedLatency, "mpi.latency_mp", FORKED_LATENCY, K::ForkedLatency,
        "OSU MPI Multi-process Latency Test";
    /// Windows of messages from all other hosts to one; OSU's program prints the title of another.
    FanInBandwidth, "mpi.bw_fan_in", FAN_IN_BANDWIDTH, K::FanIn,
        "OSU MPI Bandwidth Test";
    /// Windows of messages from one host to all others; OSU's program prints the title of another.
    FanOutBandwidth, "mpi.bw_fan_out", FAN_OUT_BANDWIDTH, K::FanOut,
        "OSU MPI Bandwidth Test";
    /// Barrier.
    Barrier, "mpi.barrier", collective("barrier over all ranks"), K::Collective(C::Barrier),
        "OSU MPI Barrier Latency Test";
    /// Broadcast.
    Broadcast, "mpi.bcast", collective("broadcast from one rank to all"), K::Collective(C::Broadcast),
        "OSU MPI Broadcast Latency Test";
    /// Sum at one rank.
    Reduce, "mpi.reduce", collective("sum over all ranks to one rank"), K::Collective(C::Reduce),
        "OSU MPI Reduce Latency Test";
    /// Sum at all ranks.
    Allreduce, "mpi.allreduce", collective("sum over all ranks to all ranks"), K::Collective(C::AllReduce),
        "OSU MPI Allreduce Latency Test";
    /// Gather at one rank.
    Gather, "mpi.gather", collective("gather from all ranks to one rank"), K::Collective(C::Gather),
        "OSU MPI Gather Latency Test";
    /// Scatter from one rank.
    Scatter, "mpi.scatter", collective("scatter from one rank to all ranks"), K::Collective(C::Scatter),
        "OSU MPI Scatter Latency Test";
    /// Gather at all ranks.
    Allgather, "mpi.allgather", collective("gather from all ranks to all ranks"), K::Collective(C::AllGather),
        "OSU MPI Allgather Latency Test";
    /// All-to-all exchange.
    Alltoall, "mpi.alltoall", collective("all-to-all exchange"), K::Collective(C::AllToAll),
        "OSU MPI All-to-All Personalized Exchange Latency Test";
    /// Sum, a part at each rank.
    ReduceScatter, "mpi.reduce_scatter", collective("sum over all ranks, a part to each rank"), K::Collective(C::ReduceScatter),
        "OSU MPI Reduce_scatter Latency Test";
    /// Sum, an equal part at each rank.
    ReduceScatterBlock, "mpi.reduce_scatter_block", collective("sum over all ranks, an equal part to each rank"), K::Collective(C::ReduceScatterBlock),
        "OSU MPI Reduce_scatter_block Latency Test";
    /// Gather at one rank, with counts.
    Gatherv, "mpi.gatherv", collective("gather to one rank, with counts"), K::Collective(C::GatherV),
        "OSU MPI Gatherv Latency Test";
    /// Scatter from one rank, with counts.
    Scatterv, "mpi.scatterv", collective("scatter from one rank, with counts"), K::Collective(C::ScatterV),
        "OSU MPI Scatterv Latency Test";
    /// Gather at all ranks, with counts.
    Allgatherv, "mpi.allgatherv", collective("gather to all ranks, with counts"), K::Collective(C::AllGatherV),
        "OSU MPI Allgatherv Latency Test";
    /// All-to-all exchange with counts.
    Alltoallv, "mpi.alltoallv", collective("all-to-all exchange with counts"), K::Collective(C::AllToAllV),
        "OSU MPI All-to-Allv Personalized Exchange Latency Test";
    /// All-to-all exchange with counts and types.
    Alltoallw, "mpi.alltoallw", collective("all-to-all exchange with counts and types"), K::Collective(C::AllToAllW),
        "OSU MPI All-to-Allw Personalized Exchange Latency Test";
    /// Non-blocking barrier, overlapped with computation.
    Ibarrier, "mpi.ibarrier", non_blocking("non-blocking barrier"), K::Overlap(C::Barrier),
        "OSU MPI Non-blocking Barrier Latency Test";
    /// Non-blocking broadcast, overlapped with computation.
    Ibroadcast, "mpi.ibcast", non_blocking("non-blocking broadcast"), K::Overlap(C::Broadcast),
        "OSU MPI Non-Blocking Broadcast Latency Test";
    /// Non-blocking sum at one rank, overlapped with computation.
    Ireduce, "mpi.ireduce", non_blocking("non-blocking sum to one rank"), K::Overlap(C::Reduce),
        "OSU MPI Non-blocking Reduce Latency Test";
    /// Non-blocking sum at all ranks, overlapped with computation.
    Iallreduce, "mpi.iallreduce", non_blocking("non-blocking sum to all ranks"), K::Overlap(C::AllReduce),
        "OSU MPI Non-blocking Allreduce Latency Test";
    /// Non-blocking gather at one rank, overlapped with computation.
    Igather, "mpi.igather", non_blocking("non-blocking gather"), K::Overlap(C::Gather),
        "OSU MPI Non-blocking Gather Latency Test";
    /// Non-blocking scatter from one rank, overlapped with computation.
    Iscatter, "mpi.iscatter", non_blocking("non-blocking scatter"), K::Overlap(C::Scatter),
        "OSU MPI Non-blocking Scatter Latency Test";
    /// Non-blocking gather at all ranks, overlapped with computation.
    Iallgather, "mpi.iallgather", non_blocking("non-blocking gather to all ranks"), K::Overlap(C::AllGather),
        "OSU MPI Non-blocking Allgather Latency Test";
    /// Non-blocking all-to-all exchange, overlapped with computation.
    Ialltoall, "mpi.ialltoall", non_blocking("non-blocking all-to-all exchange"), K::Overlap(C::AllToAll),
        "OSU MPI Non-blocking All-to-All Latency Test";
    /// Non-blocking sum, a part at each rank, overlapped with computation.
    IreduceScatter, "mpi.ireduce_scatter", non_blocking("non-blocking sum, a part to each rank"), K::Overlap(C::ReduceScatter),
        "OSU MPI Non-blocking Reduce_scatter Latency Test";
    /// Non-blocking sum, an equal part at each rank, overlapped with computation.
    IreduceScatterBlock, "mpi.ireduce_scatter_block", non_blocking("non-blocking sum, an equal part to each rank"), K::Overlap(C::ReduceScatterBlock),
        "OSU MPI Non-blocking Reduce_scatter_block Latency Test";
    /// Non-blocking gather at one rank, with counts, overlapped with computation.
    Igatherv, "mpi.igatherv", non_blocking("non-blocking gather with counts"), K::Overlap(C::GatherV),
        "OSU MPI Non-blocking Gatherv Latency Test";
    /// Non-blocking scatter from one rank, with counts, overlapped with computation.
    Iscatterv, "mpi.iscatterv", non_blocking("non-blocking scatter with counts"), K::Overlap(C::ScatterV),
        "OSU MPI Non-blocking Scatterv Latency Test";
    /// Non-blocking gather at all ranks, with counts, overlapped with computation.
    Iallgatherv, "mpi.iallgatherv", non_blocking("non-blocking gather to all ranks, with counts"), K::Overlap(C::AllGatherV),
        "OSU MPI Non-blocking Allgatherv Latency Test";
    /// Non-blocking all-to-all exchange with counts, overlapped with computation.
    Ialltoallv, "mpi.ialltoallv", non_blocking("non-blocking all-to-all exchange with counts"), K::Overlap(C::AllToAllV),
        "OSU MPI Non-blocking All-to-Allv Personalized Exchange Latency Test";
    /// Non-blocking all-to-all exchange with counts and types, overlapped with computation.
    Ialltoallw, "mpi.ialltoallw", non_blocking("non-blocking all-to-all exchange with counts and types"), K::Overlap(C::AllToAllW),
        "OSU MPI Non-blocking All-to-Allw Personalized Exchange Latency Test";
    /// Gather at the neighbours.
    NeighborAllgather, "mpi.neighbor_allgather", neighborhood("gather from neighbours"), K::Collective(C::NeighborAllGather),
        "OSU MPI Neighborhood Allgather Latency Test";
    /// Gather at the neighbours, with counts.
    NeighborAllgatherv, "mpi.neighbor_allgatherv", neighborhood("gather from neighbours, with counts"), K::Collective(C::NeighborAllGatherV),
        "OSU MPI Neighborhood Allgatherv Latency Test";
    /// Exchange between neighbours.
    NeighborAlltoall, "mpi.neighbor_alltoall", neighborhood("exchange between neighbours"), K::Collective(C::NeighborAllToAll),
        "OSU MPI Neighborhood Alltoall Latency Test";
    /// Exchange between neighbours with counts.
    NeighborAlltoallv, "mpi.neighbor_alltoallv", neighborhood("exchange between neighbours with counts"), K::Collective(C::NeighborAllToAllV),
        "OSU MPI Neighborhood All-to-Allv Latency Test";
    /// Exchange between neighbours with counts and types; OSU's program prints the title of another.
    NeighborAlltoallw, "mpi.neighbor_alltoallw", neighborhood("exchange between neighbours with counts and types"), K::Collective(C::NeighborAllToAllW),
        "OSU MPI All-to-Allw Personalized Exchange Latency Test";
    /// Non-blocking gather at the neighbours, overlapped with computation.
    IneighborAllgather, "mpi.ineighbor_allgather", non_blocking("non-blocking gather from neighbours"), K::Overlap(C::NeighborAllGather),
        "OSU MPI Non-blocking Neighborhood Allgather Latency Test";
    /// Non-blocking gather at the neighbours, with counts, overlapped with computation.
    IneighborAllgatherv, "mpi.ineighbor_allgatherv", non_blocking("non-blocking gather from neighbours, with counts"), K::Overlap(C::NeighborAllGatherV),
        "OSU MPI Non-blocking Neighborhood Allgatherv Latency Test";
    /// Non-blocking exchange between neighbours, overlapped with computation.
    IneighborAlltoall, "mpi.ineighbor_alltoall", non_blocking("non-blocking exchange between neighbours"), K::Overlap(C::NeighborAllToAll),
        "OSU MPI Non-blocking Neighborhood Alltoall Latency Test";
    /// Non-blocking exchange between neighbours with counts, overlapped with computation.
    IneighborAlltoallv, "mpi.ineighbor_alltoallv", non_blocking("non-blocking exchange between neighbours with counts"), K::Overlap(C::NeighborAllToAllV),
        "OSU MPI Non-blocking Neighborhood Alltoallv Latency Test";
    /// Non-blocking exchange between neighbours with counts and types, overlapped with computation.
    IneighborAlltoallw, "mpi.ineighbor_alltoallw", non_blocking("non-blocking exchange between neighbours with counts and types"), K::Overlap(C::NeighborAllToAllW),
        "OSU MPI Non-blocking Neighborhood Alltoallw Latency Test";
    /// Barrier, with a persistent request.
    PersistentBarrier, "mpi.barrier_persistent", persistent("barrier over all ranks, persistent"), K::PersistentCollective(C::Barrier),
        "OSU MPI Barrier Persistent Latency Test";
    /// Broadcast, with a persistent request.
    PersistentBroadcast, "mpi.bcast_persistent", persistent("broadcast from one rank to all, persistent"), K::PersistentCollective(C::Broadcast),
        "OSU MPI Broadcast Persistent Latency Test";
    /// Sum at one rank, with a persistent request.
    PersistentReduce, "mpi.reduce_persistent", persistent("sum over all ranks to one rank, persistent"), K::PersistentCollective(C::Reduce),
        "OSU MPI Reduce Persistent Latency Test";
    /// Sum at all ranks, with a persistent request.
    PersistentAllreduce, "mpi.allreduce_persistent", persistent("sum over all ranks to all ranks, persistent"), K::PersistentCollective(C::AllReduce),
        "OSU MPI Allreduce Persistent Latency Test";
    /// Gather at one rank, with a persistent request.
    PersistentGather, "mpi.gather_persistent", persistent("gather from all ranks to one rank, persistent"), K::PersistentCollective(C::Gather),
        "OSU MPI Gather Persistent Latency Test";
    /// Scatter from one rank, with a persistent request.
    PersistentScatter, "mpi.scatter_persistent", persistent("scatter from one rank to all ranks, persistent"), K::PersistentCollective(C::Scatter),
        "OSU MPI Scatter Persistent Latency Test";
    /// Gather at all ranks, with a persistent request.
    PersistentAllgather, "mpi.allgather_persistent", persistent("gather from all ranks to all ranks, persistent"), K::PersistentCollective(C::AllGather),
        "OSU MPI Allgather Persistent Latency Test";
    /// All-to-all exchange, with a persistent request.
    PersistentAlltoall, "mpi.alltoall_persistent", persistent("all-to-all exchange, persistent"), K::PersistentCollective(C::AllToAll),
        "OSU MPI All-to-All Personalized Exchange Persistent Latency Test";
    /// Sum, a part at each rank, with a persistent request.
    PersistentReduceScatter, "mpi.reduce_scatter_persistent", persistent("sum over all ranks, a part to each rank, persistent"), K::PersistentCollective(C::ReduceScatter),
        "OSU MPI Reduce_scatter Persistent Latency Test";
    /// Gather at one rank, with counts, with a persistent request.
    PersistentGatherv, "mpi.gatherv_persistent", persistent("gather to one rank, with counts, persistent"), K::PersistentCollective(C::GatherV),
        "OSU MPI Gatherv Persistent Latency Test";
    /// Scatter from one rank, with counts, with a persistent request.
    PersistentScatterv, "mpi.scatterv_persistent", persistent("scatter from one rank, with counts, persistent"), K::PersistentCollective(C::ScatterV),
        "OSU MPI Scatterv Persistent Latency Test";
    /// Gather at all ranks, with counts, with a persistent request.
    PersistentAllgatherv, "mpi.allgatherv_persistent", persistent("gather to all ranks, with counts, persistent"), K::PersistentCollective(C::AllGatherV),
        "OSU MPI Allgatherv Persistent Latency Test";
    /// All-to-all exchange with counts, with a persistent request.
    PersistentAlltoallv, "mpi.alltoallv_persistent", persistent("all-to-all exchange with counts, persistent"), K::PersistentCollective(C::AllToAllV),
        "OSU MPI All-to-Allv Personalized Exchange Persistent Latency Test";
    /// All-to-all exchange with counts and types, with a persistent request.
    PersistentAlltoallw, "mpi.alltoallw_persistent", persistent("all-to-all exchange with counts and types, persistent"), K::PersistentCollective(C::AllToAllW),
        "OSU MPI All-to-Allw Personalized Exchange Persistent Latency Test";
    /// Start of the library.
    Init, "mpi.init", STARTUP, K::Startup,
        "OSU MPI Init Test";
    /// One-sided write.
    PutLatency, "mpi.put_latency", PUT_LATENCY, K::RemoteLatency(R::Put),
        "OSU MPI_Put Latency Test";
    /// One-sided read.
    GetLatency, "mpi.get_latency", GET_LATENCY, K::RemoteLatency(R::Get),
        "OSU MPI_Get latency Test";
    /// One-sided sum.
    AccumulateLatency, "mpi.acc_latency", ACCUMULATE_LATENCY, K::RemoteLatency(R::Accumulate),
        "OSU MPI_Accumulate latency Test";
    /// One-sided sum that reads the numbers before.
    GetAccumulateLatency, "mpi.get_acc_latency", GET_ACCUMULATE_LATENCY, K::RemoteLatency(R::GetAccumulate),
        "OSU MPI_Get_accumulate latency Test";
    /// One-sided sum of one number that reads it before.
    FetchAndOpLatency, "mpi.fop_latency", FETCH_AND_OP_LATENCY, K::RemoteLatency(R::FetchAndOp),
        "OSU MPI_Fetch_and_op latency Test";
    /// One-sided comparison and exchange of one number.
    CompareAndSwapLatency, "mpi.cas_latency", COMPARE_AND_SWAP_LATENCY, K::RemoteLatency(R::CompareAndSwap),
        "OSU MPI_Compare_and_swap latency Test";
    /// Windows of one-sided writes.
    PutBandwidth, "mpi.put_bw", PUT_BANDWIDTH, K::RemoteBandwidth(R::Put),
        "OSU MPI_Put Bandwidth Test";
    /// Windows of one-sided reads.
    GetBandwidth, "mpi.get_bw", GET_BANDWIDTH, K::RemoteBandwidth(R::Get),
        "OSU MPI_Get Bandwidth Test";
    /// Windows of one-sided writes in both directions at once.
    PutBothWays, "mpi.put_bibw", PUT_BOTH_WAYS, K::RemoteBidirectional,
        "OSU MPI_Put Bi-directional Bandwidth Test";
}

impl MpiTest {
    /// Returns the name after `mpi.`, as typed after `assay mpi`: `latency`, `bw` …
    pub fn name(self) -> &'static str {
        self.id().strip_prefix("mpi.").expect("every identifier here begins with it")
    }

    /// Returns the test with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|test| test.name() == name)
    }

    /// Returns the communication pattern.
    pub const fn pattern(self) -> MpiPattern {
        self.kind().pattern()
    }

    /// Whether messages have sizes in a range, not that of one number.
    pub const fn has_size_range(self) -> bool {
        self.kind().has_size_range()
    }

    /// Whether messages have a size.
    pub const fn has_sizes(self) -> bool {
        self.kind().has_sizes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for test in MpiTest::ALL {
            assert_eq!(MpiTest::from_name(test.name()), Some(test));
        }
        assert_eq!(MpiTest::from_name("osu_latency"), None);
    }
}
