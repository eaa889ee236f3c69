//! In which order the contenders of a turn run, so that drift of the machine favours none of them.

/// The order of `count` contenders in the given turn: drawn from the seed in every even turn, and the
/// reverse of the turn before in every odd one (ABBA).
pub(crate) fn order(seed: u64, turn: usize, count: usize) -> Vec<usize> {
    let pair = (turn / 2) as u64;
    let mut state = seed.wrapping_mul(0x2545_F491_4F6C_DD1D).wrapping_add(pair << 20);
    let mut order: Vec<usize> = (0..count).collect();
    // Fisher and Yates. The remainder is biased by less than count / 2^64.
    for last in (1..count).rev() {
        let chosen = next(&mut state) % (last as u64 + 1);
        order.swap(last, chosen as usize);
    }
    if turn % 2 == 1 {
        order.reverse();
    }
    order
}

/// One step of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_turn_holds_everyone_once_and_odd_ones_are_reversed() {
        for turn in 0..20 {
            let mut sorted = order(7, turn, 5);
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4]);
        }
        for turn in (0..20).step_by(2) {
            let reversed: Vec<_> = order(7, turn, 5).into_iter().rev().collect();
            assert_eq!(order(7, turn + 1, 5), reversed);
        }
    }

    #[test]
    fn turns_and_seeds_differ() {
        let turns: BTreeSet<_> = (0..40).map(|turn| order(1, turn, 6)).collect();
        assert!(turns.len() > 20, "{}", turns.len());
        assert_ne!(order(1, 0, 12), order(2, 0, 12));
        assert_eq!(order(1, 4, 12), order(1, 4, 12));
    }
}
