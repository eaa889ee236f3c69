//! Counts, displacements and types of the parts of ranks or neighbours, which collectives with vectors
//! take.

use std::ffi::c_int;

use assay_model::benchmark::{Collective, MpiBenchmarkKind};

use super::abi::Handle;
use super::message_memory::ELEMENT_BYTES;

/// Parts of all ranks, in the order of ranks, or of all neighbours.
#[derive(Debug)]
pub(super) struct RankParts<H: Handle> {
    /// Number of elements of each part.
    pub(super) counts: Vec<c_int>,
    /// Number of elements before each part.
    pub(super) displacements: Vec<c_int>,
    /// Number of bytes before each part, for parts of characters.
    pub(super) offsets: Vec<isize>,
    /// Type of the elements of each part.
    pub(super) types: Vec<H>,
}

impl<H: Handle> RankParts<H> {
    /// Returns the parts of a message as OSU's programs choose them: equal parts of `bytes`
    /// characters, or a division of the elements of a reduction. `None` if a displacement exceeds
    /// an `int`.
    pub(super) fn new(
        kind: MpiBenchmarkKind,
        bytes: usize,
        ranks: usize,
        char: H,
    ) -> Option<Self> {
        let elements = bytes / ELEMENT_BYTES;
        let (share, rest) = (elements / ranks, elements % ranks);
        let count = |rank: usize| match kind.collective() {
            Some(Collective::ReduceScatter) => share + usize::from(rank < rest),
            Some(Collective::ReduceScatterBlock) => share,
            _ => bytes,
        };
        let ranks = if kind.collective().is_some_and(Collective::has_rank_parts) {
            0..ranks
        } else {
            0..0
        };
        let (mut counts, mut displacements, mut sum) = (Vec::new(), Vec::new(), 0_usize);
        for rank in ranks.clone() {
            counts.push(c_int::try_from(count(rank)).ok()?);
            displacements.push(c_int::try_from(sum).ok()?);
            sum = sum.checked_add(count(rank))?;
        }
        let offsets = displacements.iter().map(|before| *before as isize).collect();
        Some(Self { counts, displacements, offsets, types: vec![char; ranks.len()] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_message_as_in_osu() {
        for (collective, bytes, counts, displacements) in [
            (Collective::AllToAllV, 8, vec![8, 8, 8], vec![0, 8, 16]),
            (Collective::ReduceScatter, 32, vec![3, 3, 2], vec![0, 3, 6]),
            (Collective::ReduceScatter, 4, vec![1, 0, 0], vec![0, 1, 1]),
            (Collective::ReduceScatterBlock, 32, vec![2, 2, 2], vec![0, 2, 4]),
            (Collective::ReduceScatterBlock, 8, vec![0, 0, 0], vec![0, 0, 0]),
        ] {
            let kind = MpiBenchmarkKind::Collective(collective);
            let parts = RankParts::<c_int>::new(kind, bytes, 3, 7).unwrap();
            assert_eq!(parts.counts, counts, "{collective:?} of {bytes} B");
            assert_eq!(parts.displacements, displacements, "{collective:?} of {bytes} B");
            assert_eq!(parts.types, [7; 3]);
        }
        let kind = MpiBenchmarkKind::Collective(Collective::GatherV);
        assert!(RankParts::<c_int>::new(kind, 1 << 30, 2, 7).is_some());
        assert!(RankParts::<c_int>::new(kind, 1 << 30, 4, 7).is_none());
    }
}
