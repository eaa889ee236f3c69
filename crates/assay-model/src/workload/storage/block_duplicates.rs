//! Blocks of a target that storage with deduplication stores once.

use serde::{Deserialize, Serialize};

/// Blocks with equal contents, by their positions: of `blocks` blocks on all targets of a group, `unique`
/// have contents of their own, and the others have `sets` different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDuplicates {
    /// Size of a block, a multiple of 512.
    pub unit_bytes: u64,
    /// Number of the group of targets that are divided together; contents of different groups differ.
    #[serde(default)]
    pub group: u64,
    /// Number of the target's first block.
    pub first_block: u64,
    /// Blocks of all targets of the group, at least 1.
    pub blocks: u64,
    /// Blocks with contents of their own.
    pub unique: u64,
    /// Different contents of all other blocks, at least 1.
    pub sets: u64,
}

impl BlockDuplicates {
    /// Returns the number of the contents of a block; `None` if no other block has them. Unique blocks are
    /// spread evenly, and the others take the contents in turn.
    pub fn contents(&self, block: u64) -> Option<u64> {
        let unique_before = |block: u64| {
            let before = u128::from(block) * u128::from(self.unique) / u128::from(self.blocks);
            u64::try_from(before).unwrap_or(u64::MAX)
        };
        let before = unique_before(block);
        (unique_before(block.saturating_add(1)) == before)
            .then(|| block.saturating_sub(before) % self.sets)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_of_contents_are_exact() {
        for (blocks, unique, sets) in [(128, 58, 6), (1000, 450, 50), (7, 0, 7), (64, 60, 1)] {
            let all = BlockDuplicates {
                unit_bytes: 4096,
                group: 0,
                first_block: 0,
                blocks,
                unique,
                sets,
            };
            let contents: Vec<_> = (0..blocks).map(|block| all.contents(block)).collect();
            let found = contents.iter().filter(|contents| contents.is_none()).count();
            assert_eq!(found as u64, unique, "{blocks} blocks");
            let repeated: HashSet<u64> = contents.into_iter().flatten().collect();
            assert_eq!(repeated.len() as u64, sets, "{blocks} blocks");
        }
    }
}
