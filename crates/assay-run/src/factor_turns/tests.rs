//! Tests of the order of turns.

use assay_model::suite::parse_factorial_suite;

use super::*;

#[test]
fn blocks_are_complete_random_and_reversed() {
    let text = "name = \"x\"\nbudget = \"60s\"\n[[factor]]\nname = \"t\"\nlevels = [1, 2, 3]\n\
                [[measure]]\nbenchmark = \"memory.stream\"\nthreads = \"{t}\"\n";
    let suite = parse_factorial_suite(text, &[]).unwrap().unwrap();
    let turns = |seed| FactorTurns {
        suite: &suite,
        file: "x",
        blocks: 4,
        seed,
        settle: Duration::ZERO,
    };
    let mut first = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let order = turns(seed).planned();
        assert_eq!(order, turns(seed).planned());
        assert!(order.iter().zip(0..).all(|(turn, number)| turn.block == number / 3));
        let order: Vec<Vec<usize>> = order
            .chunks(3)
            .map(|block| block.iter().map(|turn| turn.condition).collect())
            .collect();
        for block in &order {
            let mut sorted = block.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
        }
        let reversed: Vec<usize> = order[0].iter().rev().copied().collect();
        assert_eq!(order[1], reversed);
        first.insert(order[0].clone());
    }
    assert_eq!(first.len(), 6, "all orders of three levels");
    assert_eq!((turns(0).count(), turns(0).turn_budget_s(None)), (12, 5.0));
}
