//! Memory that the messages of an MPI benchmark take on each rank, and its allocation.

use assay_model::benchmark::{Collective, MpiBenchmarkKind, RemoteOperation};

use crate::mapping::{Mapping, PageAdvice};

use super::calls::MpiCallError;

/// Element type of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReductionElement {
    /// 32-bit integers, as OSU 7.5 sums.
    Integer,
    /// Single precision, as OSU 5 sums.
    Float,
    /// 64-bit unsigned integers, for operations on one number.
    Unsigned64,
}

impl ReductionElement {
    /// Returns the bytes of an element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Integer | Self::Float => ELEMENT_BYTES,
            Self::Unsigned64 => 8,
        }
    }
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

/// Bytes of an element of a collective reduction.
pub const ELEMENT_BYTES: usize = 4;

/// Maximum memory in which messages of the same window get slots of their own while contents are
/// compared; the timed loops use one buffer for all, as OSU does.
const MAX_SLOTS_BYTES: usize = 64 << 20;

/// Returns the number of messages with a slot of their own, at least while contents are compared.
pub(super) fn slots(
    kind: MpiBenchmarkKind,
    bytes: usize,
    window: u32,
    buffers: WindowBuffers,
) -> usize {
    let all = window.max(1) as usize;
    match (kind.is_windowed(), buffers) {
        (false, _) if kind == MpiBenchmarkKind::ThreadsLatency => all,
        (false, _) => 1,
        // Each operation of a window accesses a place of its own, as in OSU.
        (true, _) if kind.is_one_sided() => all,
        (true, WindowBuffers::Multiple) => all,
        (true, WindowBuffers::Single) => (MAX_SLOTS_BYTES / bytes.max(1)).clamp(1, all),
    }
}

/// Returns the bytes of each rank's send and receive buffer; `None` beyond the address space. A
/// collective has a part for each rank, or for each neighbour.
pub(super) fn buffer_bytes(
    kind: MpiBenchmarkKind,
    bytes: usize,
    parts: usize,
    window: u32,
    buffers: WindowBuffers,
) -> Option<(usize, usize)> {
    let all = bytes.checked_mul(parts)?;
    Some(match kind.collective() {
        None => {
            let slots = bytes.checked_mul(slots(kind, bytes, window, buffers))?;
            // Compare-and-swap sends the new value and the expected one.
            let swaps = kind.remote_operation() == Some(RemoteOperation::CompareAndSwap);
            (if swaps { slots.checked_mul(2)? } else { slots }, slots)
        }
        Some(Collective::Barrier) => (0, 0),
        Some(Collective::Broadcast) => (0, bytes),
        Some(
            Collective::Reduce
            | Collective::AllReduce
            | Collective::ReduceScatter
            | Collective::ReduceScatterBlock,
        ) => (bytes, bytes),
        Some(
            Collective::AllGather
            | Collective::AllGatherV
            | Collective::Gather
            | Collective::GatherV
            | Collective::NeighborAllGather
            | Collective::NeighborAllGatherV,
        ) => (bytes, all),
        Some(
            Collective::AllToAll
            | Collective::AllToAllV
            | Collective::AllToAllW
            | Collective::NeighborAllToAll
            | Collective::NeighborAllToAllV
            | Collective::NeighborAllToAllW,
        ) => (all, all),
        Some(Collective::Scatter | Collective::ScatterV) => (all, bytes),
    })
}

/// Returns the bytes of memory that each rank needs for messages of `bytes` and a collective of
/// `parts` parts; `None` beyond the address space.
pub fn memory_bytes(
    kind: MpiBenchmarkKind,
    bytes: usize,
    parts: usize,
    window: u32,
    buffers: WindowBuffers,
) -> Option<usize> {
    let (send, receive) = buffer_bytes(kind, bytes, parts, window, buffers)?;
    let shared = if kind.is_one_sided() { receive } else { 0 };
    send.checked_add(receive)?.checked_add(shared)
}

/// Failed allocation, or an MPI call that returned an error.
#[derive(Debug)]
pub(super) enum PrepareError {
    Memory(std::io::Error),
    Call(MpiCallError),
}

/// Maps memory and writes `value` to every byte, so that no page fault occurs during timing. The
/// mapping is never empty: a message of 0 bytes needs an address, too.
pub(super) fn map_filled(bytes: usize, value: u8) -> Result<Mapping, PrepareError> {
    let rounded = bytes.max(1).next_multiple_of(8);
    let mut mapping = Mapping::new(rounded, PageAdvice::Default)
        .map_err(|error| PrepareError::Memory(error.source))?;
    mapping.as_mut_slice::<u8>().fill(value);
    Ok(mapping)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_grows_with_ranks() {
        let four =
            |kind: MpiBenchmarkKind| memory_bytes(kind, 1 << 20, 4, 64, WindowBuffers::Single);
        for (kind, mib) in [
            (MpiBenchmarkKind::Latency, 2),
            (MpiBenchmarkKind::Bandwidth, 128),
            (MpiBenchmarkKind::ThreadsLatency, 128),
            (MpiBenchmarkKind::RemoteLatency(RemoteOperation::Put), 3),
            (MpiBenchmarkKind::RemoteLatency(RemoteOperation::CompareAndSwap), 4),
            (MpiBenchmarkKind::RemoteBandwidth(RemoteOperation::Get), 192),
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
        assert_eq!(memory_bytes(gather, usize::MAX / 2, 4, 1, WindowBuffers::Single), None);
        let many = |kind: MpiBenchmarkKind| {
            memory_bytes(kind, 4 << 20, 2, 64, WindowBuffers::Multiple)
        };
        assert_eq!(many(MpiBenchmarkKind::Bandwidth), Some(512 << 20));
        assert_eq!(many(MpiBenchmarkKind::Latency), Some(8 << 20));
    }
}
