//! Order of cases and conditions that take turns, block by block: each block has one turn of each.

use assay_model::plan::Case;
use assay_stats::random::Random;

/// Order of the blocks. Kernels alternate first to last and last to first; programs and conditions,
/// which are compared with each other, have a random order, reversed in every second block.
pub(crate) struct BlockOrder {
    random: Option<Random>,
    block: u64,
}

impl BlockOrder {
    /// Returns the random order of conditions by a seed.
    pub(crate) const fn from_seed(seed: u64) -> Self {
        Self { random: Some(Random::new(seed)), block: 0 }
    }

    /// Returns the order for these cases by the seed of the plan.
    pub(crate) fn new(cases: &[Case], seed: Option<u64>) -> Self {
        let are_programs = cases.iter().all(|case| case.workload.as_command().is_some());
        let random = seed.filter(|_| are_programs).map(Random::new);
        Self { random, block: 0 }
    }

    /// Arranges the open cases, in the order of the last block, for the next one.
    pub(crate) fn arrange<T>(&mut self, open: &mut [T]) {
        match &mut self.random {
            Some(random) if self.block.is_multiple_of(2) => random.shuffle(open),
            None if self.block == 0 => {}
            Some(_) | None => open.reverse(),
        }
        self.block += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn kernels_alternate_and_programs_are_shuffled() {
        let mut kernels = BlockOrder { random: None, block: 0 };
        let mut open = [1, 2, 3];
        let mut orders = Vec::new();
        for _ in 0..3 {
            kernels.arrange(&mut open);
            orders.push(open);
        }
        assert_eq!(orders, [[1, 2, 3], [3, 2, 1], [1, 2, 3]]);
        let mut seen = BTreeSet::new();
        for seed in 0..50 {
            let mut programs = BlockOrder { random: Some(Random::new(seed)), block: 0 };
            programs.arrange(&mut open);
            let first = open;
            seen.insert(first);
            programs.arrange(&mut open);
            assert_eq!(open, [first[2], first[1], first[0]]);
        }
        assert_eq!(seen.len(), 6, "all orders of three programs");
    }
}
