//! Division of solved strips by rows, so that the members of a last-level cache read L once.
//!
//! The rows below a panel form blocks. A member takes the blocks of its strip round robin, from the
//! block that a member of its cache took last, whose part of L is still in that cache. No member
//! waits for another: one that falls behind finds L in the cache and catches up. When no columns are
//! left, members take blocks of the strips of others. Never touches the matrix.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::barrier::CachePadded;

/// Value of [`PublishedStrip::taken`] that exceeds every number of blocks, and may be increased.
const ALL_TAKEN: usize = usize::MAX / 2;

/// Strips of all members, and the position in L of each last-level cache.
#[derive(Debug)]
pub(super) struct RowBlocks {
    /// Index of each member's last-level cache.
    caches: Vec<usize>,
    /// Block that a member of each cache took last.
    positions: Vec<CachePadded<AtomicUsize>>,
    /// Last solved strip of each member.
    strips: Vec<CachePadded<PublishedStrip>>,
}

/// Solved strip whose blocks any member may take.
#[derive(Debug)]
struct PublishedStrip {
    first_column: AtomicUsize,
    end_column: AtomicUsize,
    first_block: AtomicUsize,
    /// Number of blocks taken, or more.
    taken: AtomicUsize,
}

impl RowBlocks {
    /// Creates the blocks for members with these caches, named by any numbers.
    pub(super) fn new(cache_numbers: &[usize]) -> Self {
        let first_with = |cache: &usize| cache_numbers.iter().position(|it| it == cache);
        let empty_strip = || PublishedStrip {
            first_column: AtomicUsize::new(0),
            end_column: AtomicUsize::new(0),
            first_block: AtomicUsize::new(0),
            taken: AtomicUsize::new(ALL_TAKEN),
        };
        Self {
            caches: cache_numbers.iter().filter_map(first_with).collect(),
            positions: cache_numbers.iter().map(|_| CachePadded::default()).collect(),
            strips: cache_numbers.iter().map(|_| CachePadded(empty_strip())).collect(),
        }
    }

    /// Publishes a member's solved strip of `blocks` blocks. All blocks of its previous strip must
    /// be taken, and no other member may hold one.
    pub(super) fn publish(&self, member: usize, columns: &Range<usize>, blocks: usize) {
        let strip = &self.strips[member].0;
        let position = self.positions[self.caches[member]].0.load(Ordering::Relaxed);
        strip.first_column.store(columns.start, Ordering::Relaxed);
        strip.end_column.store(columns.end, Ordering::Relaxed);
        strip.first_block.store(position % blocks.max(1), Ordering::Relaxed);
        strip.taken.store(0, Ordering::Release);
    }

    /// Takes a block of the owner's strip: its columns and the number of the block. Writes of the
    /// owner before it published the strip are visible. An owner that finds no more blocks sees what
    /// each taker of one had seen before: an empty queue of columns stays empty for it.
    pub(super) fn take(
        &self,
        owner: usize,
        member: usize,
        blocks: usize,
    ) -> Option<(Range<usize>, usize)> {
        let strip = &self.strips[owner].0;
        // A look that finds nothing writes nothing.
        if strip.taken.load(Ordering::Relaxed) >= blocks && owner != member {
            return None;
        }
        let taken = strip.taken.fetch_add(1, Ordering::AcqRel);
        if taken >= blocks {
            return None;
        }
        let block = (strip.first_block.load(Ordering::Relaxed) + taken) % blocks;
        self.positions[self.caches[member]].0.store(block, Ordering::Relaxed);
        let first_column = strip.first_column.load(Ordering::Relaxed);
        Some((first_column..strip.end_column.load(Ordering::Relaxed), block))
    }

    /// Returns the members whose strips a member helps with: those of its own cache first.
    pub(super) fn helped_members(&self, member: usize) -> impl Iterator<Item = usize> {
        let (members, own_cache) = (self.caches.len(), self.caches[member]);
        // Each member begins with its successor, so that not all help the same one.
        let others = move || (1..members).map(move |step| (member + step) % members);
        let shares_cache = move |other: &usize| self.caches[*other] == own_cache;
        others().filter(shares_cache).chain(others().filter(move |it| !shares_cache(it)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks_of(rows: &RowBlocks, owner: usize, member: usize, blocks: usize) -> Vec<usize> {
        std::iter::from_fn(|| rows.take(owner, member, blocks)).map(|it| it.1).collect()
    }

    #[test]
    fn strip_has_every_block_once() {
        let rows = RowBlocks::new(&[7, 7]);
        assert_eq!(rows.take(0, 1, 3), None, "no strip is published yet");
        for blocks in [5, 4, 1] {
            rows.publish(0, &(24..72), blocks);
            let mut taken = vec![rows.take(0, 1, blocks).unwrap().1];
            taken.extend(blocks_of(&rows, 0, 0, blocks));
            taken.sort_unstable();
            assert_eq!(taken, (0..blocks).collect::<Vec<_>>());
        }
        rows.publish(0, &(24..72), 0);
        assert_eq!(rows.take(0, 0, 0), None);
    }

    #[test]
    fn strip_begins_where_its_cache_is() {
        let rows = RowBlocks::new(&[3, 9, 3]);
        for (member, columns) in [(0, 0..24), (1, 24..48), (2, 48..96)] {
            rows.publish(member, &columns, 6);
            // The first member takes two blocks, and so do the others after it.
            let first = rows.take(member, member, 6).unwrap();
            let second = rows.take(member, member, 6).unwrap();
            let expected = [0, 0, 1][member];
            assert_eq!(first, (columns.clone(), expected), "member {member}");
            assert_eq!(second, (columns, expected + 1));
        }
        assert_eq!(blocks_of(&rows, 2, 2, 6), [3, 4, 5, 0]);
        // A later step has fewer blocks.
        rows.publish(0, &(0..24), 2);
        assert_eq!(blocks_of(&rows, 0, 0, 2).len(), 2);
    }

    #[test]
    fn members_of_the_own_cache_are_helped_first() {
        for (caches, member, expected) in [
            (&[5][..], 0, &[][..]),
            (&[5, 5], 1, &[0]),
            (&[1, 2, 1, 2], 2, &[0, 3, 1]),
            (&[1, 1, 2, 2, 1], 1, &[4, 0, 2, 3]),
        ] {
            let rows = RowBlocks::new(caches);
            assert_eq!(rows.helped_members(member).collect::<Vec<_>>(), expected);
        }
    }
}
