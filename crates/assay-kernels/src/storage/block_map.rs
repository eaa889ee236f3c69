//! Map of used blocks with a search for the next free one.
//!
//! A bit per block; the bits of each further level are the full words of the one below.

/// Bits of a word.
const WORD_BITS: u64 = 64;

/// Map of used blocks.
#[derive(Debug, Clone)]
pub(super) struct BlockMap {
    blocks: u64,
    /// Levels, the blocks first; the last has one word.
    levels: Vec<Vec<u64>>,
}

impl BlockMap {
    /// Creates a map of free blocks.
    pub(super) fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut words = blocks.div_ceil(WORD_BITS).max(1);
        levels.push(vec![0; words as usize]);
        while words > 1 {
            words = words.div_ceil(WORD_BITS);
            levels.push(vec![0; words as usize]);
        }
        Self { blocks, levels }
    }

    /// Frees all blocks.
    pub(super) fn clear(&mut self) {
        self.levels.iter_mut().for_each(|level| level.fill(0));
    }

    /// Returns whether a block is free; blocks past the end are.
    pub(super) fn is_free(&self, block: u64) -> bool {
        let word = self.levels[0].get((block / WORD_BITS) as usize);
        word.is_none_or(|word| word & (1 << (block % WORD_BITS)) == 0)
    }

    /// Returns the first free block after `block`, and otherwise the first of all.
    pub(super) fn next_free(&self, block: u64) -> Option<u64> {
        if block >= self.blocks {
            return None;
        }
        let next = if block + 1 == self.blocks { 0 } else { block + 1 };
        self.find_from(next).or_else(|| self.find_from(0))
    }

    /// Marks up to `count` blocks from `first` on, to the first that is used. Returns their number.
    pub(super) fn mark(&mut self, first: u64, count: u64) -> u64 {
        let mut marked = 0;
        while marked < count && self.is_free(first + marked) {
            if !self.mark_one(first + marked) {
                break;
            }
            marked += 1;
        }
        marked
    }

    /// Marks a block; returns false if it is past the end of the map.
    fn mark_one(&mut self, block: u64) -> bool {
        let mut index = block;
        for level in &mut self.levels {
            let Some(word) = level.get_mut((index / WORD_BITS) as usize) else { return false };
            *word |= 1 << (index % WORD_BITS);
            if *word != u64::MAX {
                break;
            }
            index /= WORD_BITS;
        }
        true
    }

    /// Returns the first free block from `block` on.
    fn find_from(&self, block: u64) -> Option<u64> {
        let mut level = 0;
        let mut index = block;
        // Goes up until a word has a free bit, and down to the block.
        loop {
            let words = self.levels.get(level)?;
            let free = words
                .get((index / WORD_BITS) as usize)
                .map(|word| !word & (u64::MAX << (index % WORD_BITS)));
            match free {
                None => return None,
                Some(0) => {
                    index = index / WORD_BITS + 1;
                    level += 1;
                }
                Some(free) => {
                    index = index / WORD_BITS * WORD_BITS + u64::from(free.trailing_zeros());
                    if level == 0 {
                        return (index < self.blocks).then_some(index);
                    }
                    level -= 1;
                    index *= WORD_BITS;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_same_free_blocks_as_a_search_one_by_one() {
        for blocks in [1, 63, 64, 65, 4096, 5000] {
            let mut map = BlockMap::new(blocks);
            let mut used = vec![false; blocks as usize];
            let mut at = 7 % blocks;
            for step in 0..blocks {
                at = (at + step * 31) % blocks;
                let expected =
                    (at + 1..blocks).chain(0..=at).find(|block| !used[*block as usize]);
                let found = if map.is_free(at) { Some(at) } else { map.next_free(at) };
                let block = if used[at as usize] { expected.expect("one is free") } else { at };
                assert_eq!(found, Some(block), "{blocks} {at}");
                used[block as usize] = true;
                assert_eq!(map.mark(block, 1), 1);
            }
            assert_eq!(map.next_free(0), None);
            map.clear();
            assert_eq!(map.mark(0, blocks), blocks);
        }
    }

    #[test]
    fn marks_up_to_a_used_block() {
        let mut map = BlockMap::new(100);
        map.mark(70, 1);
        assert_eq!(map.mark(60, 20), 10);
        assert_eq!((map.is_free(59), map.next_free(60)), (true, Some(71)));
    }
}
