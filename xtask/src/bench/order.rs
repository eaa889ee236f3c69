//! Order of the contenders in a turn, so that drift of the machine favours none of them.

use assay_model::seed;
use assay_stats::random::Random;

/// Returns the order of `count` contenders in the given turn: drawn from the seed in every even
/// turn, and the reverse of the turn before in every odd one (ABBA).
pub(crate) fn turn_order(seed: u64, turn: usize, count: usize) -> Vec<usize> {
    let pair = (turn / 2) as u64;
    let mut order: Vec<usize> = (0..count).collect();
    Random::new(seed::derive_seed(seed, pair)).shuffle(&mut order);
    if turn % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_turn_is_a_permutation_and_odd_turns_are_reversed() {
        for turn in 0..20 {
            let mut sorted = turn_order(7, turn, 5);
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4]);
        }
        for turn in (0..20).step_by(2) {
            let reversed: Vec<_> = turn_order(7, turn, 5).into_iter().rev().collect();
            assert_eq!(turn_order(7, turn + 1, 5), reversed);
        }
    }

    #[test]
    fn turns_and_seeds_differ() {
        let turns: BTreeSet<_> = (0..40).map(|turn| turn_order(1, turn, 6)).collect();
        assert!(turns.len() > 20, "{}", turns.len());
        assert_ne!(turn_order(1, 0, 12), turn_order(2, 0, 12));
        assert_eq!(turn_order(1, 4, 12), turn_order(1, 4, 12));
    }
}
