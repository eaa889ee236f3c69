//! Kinds of MPI benchmarks: what the ranks exchange, and who takes part.

use super::remote::{RemoteOperation, RmaSynchronization, WindowCreation};

/// Kind of an MPI benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MpiBenchmarkKind {
    /// Ping-pong of one message between two ranks; half of the round trip is reported.
    Latency,
    /// Many messages in one direction between two ranks, then a short acknowledgement.
    Bandwidth,
    /// Many messages in both directions at once between two ranks.
    Bidirectional,
    /// [`MpiBenchmarkKind::Latency`] between all pairs at once: rank i with rank i + half.
    PairsLatency,
    /// [`MpiBenchmarkKind::Bandwidth`] between all pairs at once.
    PairsBandwidth,
    /// [`MpiBenchmarkKind::Latency`] with persistent requests.
    PersistentLatency,
    /// [`MpiBenchmarkKind::Bandwidth`] with persistent requests.
    PersistentBandwidth,
    /// [`MpiBenchmarkKind::Bidirectional`] with persistent requests.
    PersistentBidirectional,
    /// [`MpiBenchmarkKind::Latency`] between several threads of two ranks.
    ThreadsLatency,
    /// [`MpiBenchmarkKind::Latency`] between two ranks that forked processes, with a barrier before each
    /// round trip.
    ForkedLatency,
    /// [`MpiBenchmarkKind::Bandwidth`] from the ranks of all other hosts to those of one.
    FanIn,
    /// [`MpiBenchmarkKind::Bandwidth`] from the ranks of one host to those of all others.
    FanOut,
    /// Rank 0 accesses rank 1's memory and waits until the operation is complete.
    RemoteLatency(RemoteOperation),
    /// Rank 0 makes many operations on rank 1's memory, then waits for all.
    RemoteBandwidth(RemoteOperation),
    /// Both ranks write many times into each other's memory, then wait for all.
    RemoteBidirectional,
    /// Blocking collective operation.
    Collective(Collective),
    /// Non-blocking collective operation, alone and overlapped with computation.
    Overlap(Collective),
    /// Collective operation with a persistent request.
    PersistentCollective(Collective),
    /// Initialisation of the library, once.
    Startup,
}

/// Collective operations; rank 0 is the root where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collective {
    /// Every rank waits until all have arrived.
    Barrier,
    /// The root's message goes to all.
    Broadcast,
    /// The sum of all goes to the root.
    Reduce,
    /// The sum of all goes to all.
    AllReduce,
    /// Each rank gets one part of the sum of all; the first parts have one element more where the
    /// elements cannot be divided evenly.
    ReduceScatter,
    /// Each rank gets an equally long part of the sum of all.
    ReduceScatterBlock,
    /// The parts of all go to all.
    AllGather,
    /// [`Collective::AllGather`] with a count and a displacement for each rank.
    AllGatherV,
    /// Each rank sends a different part to every rank.
    AllToAll,
    /// [`Collective::AllToAll`] with a count and a displacement for each rank.
    AllToAllV,
    /// [`Collective::AllToAllV`] with a type for each rank.
    AllToAllW,
    /// The parts of all go to the root.
    Gather,
    /// [`Collective::Gather`] with a count and a displacement for each rank.
    GatherV,
    /// The root sends a different part to every rank.
    Scatter,
    /// [`Collective::Scatter`] with a count and a displacement for each rank.
    ScatterV,
    /// The part of each rank goes to its neighbours.
    NeighborAllGather,
    /// [`Collective::NeighborAllGather`] with a count and a displacement for each neighbour.
    NeighborAllGatherV,
    /// Each rank sends a different part to each neighbour.
    NeighborAllToAll,
    /// [`Collective::NeighborAllToAll`] with a count and a displacement for each neighbour.
    NeighborAllToAllV,
    /// [`Collective::NeighborAllToAllV`] with a type for each neighbour.
    NeighborAllToAllW,
}

/// Communication pattern of the ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MpiPattern {
    /// Two ranks.
    Pair,
    /// An even number of ranks; each rank of the first half has a partner in the second.
    Pairs,
    /// As many ranks on each of two or more hosts; those of one host have a partner on each other.
    Hosts,
    /// Two or more ranks.
    All,
}

impl Collective {
    /// Whether the ranks compute a sum.
    pub const fn is_reduction(self) -> bool {
        matches!(
            self,
            Self::Reduce | Self::AllReduce | Self::ReduceScatter | Self::ReduceScatterBlock
        )
    }

    /// Whether the call takes a count for each rank, or the sum is divided among the ranks.
    pub const fn has_rank_parts(self) -> bool {
        match self {
            Self::ReduceScatter
            | Self::ReduceScatterBlock
            | Self::AllGatherV
            | Self::AllToAllV
            | Self::AllToAllW
            | Self::GatherV
            | Self::ScatterV
            | Self::NeighborAllGatherV
            | Self::NeighborAllToAllV
            | Self::NeighborAllToAllW => true,
            Self::Barrier
            | Self::Broadcast
            | Self::Reduce
            | Self::AllReduce
            | Self::AllGather
            | Self::AllToAll
            | Self::Gather
            | Self::Scatter
            | Self::NeighborAllGather
            | Self::NeighborAllToAll => false,
        }
    }

    /// Whether each rank exchanges messages with its neighbours in a topology only.
    pub const fn is_neighborhood(self) -> bool {
        matches!(
            self,
            Self::NeighborAllGather
                | Self::NeighborAllGatherV
                | Self::NeighborAllToAll
                | Self::NeighborAllToAllV
                | Self::NeighborAllToAllW
        )
    }
}

impl MpiBenchmarkKind {
    /// Returns the communication pattern.
    pub const fn pattern(self) -> MpiPattern {
        match self {
            Self::Latency
            | Self::Bandwidth
            | Self::Bidirectional
            | Self::PersistentLatency
            | Self::PersistentBandwidth
            | Self::PersistentBidirectional
            | Self::ThreadsLatency
            | Self::ForkedLatency
            | Self::RemoteLatency(_)
            | Self::RemoteBandwidth(_)
            | Self::RemoteBidirectional => MpiPattern::Pair,
            Self::PairsLatency | Self::PairsBandwidth => MpiPattern::Pairs,
            Self::FanIn | Self::FanOut => MpiPattern::Hosts,
            Self::Collective(_)
            | Self::Overlap(_)
            | Self::PersistentCollective(_)
            | Self::Startup => MpiPattern::All,
        }
    }

    /// Whether one host exchanges messages with all others.
    pub const fn is_fan(self) -> bool {
        matches!(self, Self::FanIn | Self::FanOut)
    }

    /// Whether each rank has threads or forked processes of a given number.
    pub const fn has_workers(self) -> bool {
        matches!(self, Self::ThreadsLatency | Self::ForkedLatency)
    }

    /// Whether messages go between pairs of ranks.
    pub const fn is_pairwise(self) -> bool {
        matches!(
            self,
            Self::Latency
                | Self::Bandwidth
                | Self::Bidirectional
                | Self::PairsLatency
                | Self::PairsBandwidth
                | Self::PersistentLatency
                | Self::PersistentBandwidth
                | Self::PersistentBidirectional
                | Self::ThreadsLatency
                | Self::ForkedLatency
                | Self::FanIn
                | Self::FanOut
        )
    }

    /// Whether many messages are in flight at once.
    pub const fn is_windowed(self) -> bool {
        matches!(
            self,
            Self::Bandwidth
                | Self::Bidirectional
                | Self::PairsBandwidth
                | Self::PersistentBandwidth
                | Self::PersistentBidirectional
                | Self::FanIn
                | Self::FanOut
                | Self::RemoteBandwidth(_)
                | Self::RemoteBidirectional
        )
    }

    /// Returns the one-sided operation, if it is one.
    pub const fn remote_operation(self) -> Option<RemoteOperation> {
        match self {
            Self::RemoteLatency(it) | Self::RemoteBandwidth(it) => Some(it),
            Self::RemoteBidirectional => Some(RemoteOperation::Put),
            _ => None,
        }
    }

    /// Whether one rank accesses the memory of another.
    pub const fn is_one_sided(self) -> bool {
        self.remote_operation().is_some()
    }

    /// Returns OSU's default creation of the window.
    pub const fn default_window_creation(self) -> WindowCreation {
        match self {
            Self::RemoteLatency(RemoteOperation::GetAccumulate) => WindowCreation::Create,
            _ => WindowCreation::Allocate,
        }
    }

    /// Returns OSU's default synchronisation of the window.
    pub const fn default_synchronization(self) -> RmaSynchronization {
        match self {
            // OSU's program has no passive synchronisation.
            Self::RemoteBidirectional => RmaSynchronization::Pscw,
            Self::RemoteLatency(RemoteOperation::GetAccumulate) => RmaSynchronization::Lock,
            _ => RmaSynchronization::Flush,
        }
    }

    /// Returns the number of directions in which messages of a window go.
    pub const fn directions(self) -> u32 {
        match self {
            Self::Bidirectional | Self::PersistentBidirectional | Self::RemoteBidirectional => {
                2
            }
            _ => 1,
        }
    }

    /// Returns the collective operation, if it is one.
    pub const fn collective(self) -> Option<Collective> {
        match self {
            Self::Collective(it) | Self::Overlap(it) | Self::PersistentCollective(it) => {
                Some(it)
            }
            _ => None,
        }
    }

    /// Whether each rank exchanges messages with its neighbours in a topology only.
    pub const fn is_neighborhood(self) -> bool {
        match self.collective() {
            Some(it) => it.is_neighborhood(),
            None => false,
        }
    }

    /// Whether messages consist of numbers that the library computes with.
    pub const fn is_reduction(self) -> bool {
        match (self.collective(), self.remote_operation()) {
            (Some(it), _) => it.is_reduction(),
            (None, Some(it)) => it.has_elements(),
            (None, None) => false,
        }
    }

    /// Whether messages between two ranks have persistent requests.
    pub const fn is_persistent_pair(self) -> bool {
        matches!(
            self,
            Self::PersistentLatency | Self::PersistentBandwidth | Self::PersistentBidirectional
        )
    }

    /// Whether messages have sizes in a range, not that of one number.
    pub const fn has_size_range(self) -> bool {
        let is_single = match self.remote_operation() {
            Some(operation) => operation.is_single_element(),
            None => false,
        };
        self.has_sizes() && !is_single
    }

    /// Whether messages have a size.
    pub const fn has_sizes(self) -> bool {
        !matches!(self.collective(), Some(Collective::Barrier)) && !self.is_startup()
    }

    /// Whether the start of the library is timed, which happens once in each job.
    pub const fn is_startup(self) -> bool {
        matches!(self, Self::Startup)
    }
}
