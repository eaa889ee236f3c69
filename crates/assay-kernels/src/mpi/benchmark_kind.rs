//! MPI benchmarks that can be measured, and the memory that they take.

/// OSU benchmark.
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
    /// Rank 0 writes into rank 1's memory and waits until the data is there.
    Put,
    /// Rank 0 reads rank 1's memory.
    Get,
    /// Blocking collective operation.
    Collective(Collective),
    /// Non-blocking collective operation, alone and overlapped with computation.
    Overlap(Collective),
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
    /// The parts of all go to all.
    AllGather,
    /// Each rank sends a different part to every rank.
    AllToAll,
    /// The parts of all go to the root.
    Gather,
    /// The root sends a different part to every rank.
    Scatter,
}

/// Element type of a reduction; four bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReductionElement {
    /// 32-bit integers, as OSU 7.5 sums.
    Integer,
    /// Single precision, as OSU 5 sums.
    Float,
}

/// Buffers of the messages of a window; the variants are named as in OSU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WindowBuffers {
    /// Single buffer for all, the default in every version of OSU.
    #[default]
    Single,
    /// Buffer per message, an option of OSU 7: the working set exceeds the caches.
    Multiple,
}

/// Bytes of an element of a reduction.
pub const ELEMENT_BYTES: usize = 4;

/// Maximum memory in which messages of the same window get slots of their own while contents are
/// compared; the timed loops use one buffer for all, as OSU does.
const MAX_SLOTS_BYTES: usize = 64 << 20;

impl MpiBenchmarkKind {
    /// Returns whether messages go between pairs of ranks.
    #[must_use]
    pub const fn is_pairwise(self) -> bool {
        matches!(
            self,
            Self::Latency
                | Self::Bandwidth
                | Self::Bidirectional
                | Self::PairsLatency
                | Self::PairsBandwidth
        )
    }

    /// Returns whether many messages are in flight at once.
    #[must_use]
    pub const fn is_windowed(self) -> bool {
        matches!(self, Self::Bandwidth | Self::Bidirectional | Self::PairsBandwidth)
    }

    /// Returns the collective operation, if it is one.
    #[must_use]
    pub const fn collective(self) -> Option<Collective> {
        match self {
            Self::Collective(it) | Self::Overlap(it) => Some(it),
            _ => None,
        }
    }

    /// Returns the number of messages with a slot of their own, at least while contents are
    /// compared.
    pub(super) fn slots(self, bytes: usize, window: u32, buffers: WindowBuffers) -> usize {
        let all = window.max(1) as usize;
        match (self.is_windowed(), buffers) {
            (false, _) => 1,
            (true, WindowBuffers::Multiple) => all,
            (true, WindowBuffers::Single) => (MAX_SLOTS_BYTES / bytes.max(1)).clamp(1, all),
        }
    }

    /// Returns the bytes of each rank's send and receive buffer; `None` beyond the address space.
    pub(super) fn buffers(
        self,
        bytes: usize,
        ranks: usize,
        window: u32,
        buffers: WindowBuffers,
    ) -> Option<(usize, usize)> {
        let all = bytes.checked_mul(ranks)?;
        Some(match self.collective() {
            None => {
                let slots = bytes.checked_mul(self.slots(bytes, window, buffers))?;
                (slots, slots)
            }
            Some(Collective::Barrier) => (0, 0),
            Some(Collective::Broadcast) => (0, bytes),
            Some(Collective::Reduce | Collective::AllReduce) => (bytes, bytes),
            Some(Collective::AllGather | Collective::Gather) => (bytes, all),
            Some(Collective::AllToAll) => (all, all),
            Some(Collective::Scatter) => (all, bytes),
        })
    }

    /// Returns the bytes of memory that each rank needs for messages of `bytes`; `None` beyond the
    /// address space.
    #[must_use]
    pub fn memory_bytes(
        self,
        bytes: usize,
        ranks: usize,
        window: u32,
        buffers: WindowBuffers,
    ) -> Option<usize> {
        let (send, receive) = self.buffers(bytes, ranks, window, buffers)?;
        let shared = if matches!(self, Self::Put | Self::Get) { bytes } else { 0 };
        send.checked_add(receive)?.checked_add(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_grows_with_ranks() {
        let four =
            |kind: MpiBenchmarkKind| kind.memory_bytes(1 << 20, 4, 64, WindowBuffers::Single);
        for (kind, mib) in [
            (MpiBenchmarkKind::Latency, 2),
            (MpiBenchmarkKind::Bandwidth, 128),
            (MpiBenchmarkKind::Put, 3),
            (MpiBenchmarkKind::Collective(Collective::Barrier), 0),
            (MpiBenchmarkKind::Collective(Collective::Broadcast), 1),
            (MpiBenchmarkKind::Collective(Collective::AllReduce), 2),
            (MpiBenchmarkKind::Collective(Collective::Gather), 5),
            (MpiBenchmarkKind::Overlap(Collective::AllToAll), 8),
            (MpiBenchmarkKind::Collective(Collective::Scatter), 5),
        ] {
            assert_eq!(four(kind), Some(mib << 20), "{kind:?}");
        }
        let gather = MpiBenchmarkKind::Collective(Collective::Gather);
        assert_eq!(gather.memory_bytes(usize::MAX / 2, 4, 1, WindowBuffers::Single), None);
        let many =
            |kind: MpiBenchmarkKind| kind.memory_bytes(4 << 20, 2, 64, WindowBuffers::Multiple);
        assert_eq!(many(MpiBenchmarkKind::Bandwidth), Some(512 << 20));
        assert_eq!(many(MpiBenchmarkKind::Latency), Some(8 << 20));
    }
}
