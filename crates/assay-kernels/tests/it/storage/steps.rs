//! Test that the steps of one case draw independent offsets.

use std::collections::BTreeSet;

use assay_model::workload::storage::{AccessPattern, EngineChoice, StorageWorkload};

use super::{run, stream, target, workload};

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 10_000;
const PER_STEP: u64 = 2000;

/// Returns the blocks that a step accesses.
fn accessed_blocks(workload: &StorageWorkload) -> Vec<u64> {
    let outcome = run(workload).unwrap();
    let journal = outcome.streams.into_iter().flat_map(|record| record.journal);
    journal.map(|entry| entry.offset / BLOCK).collect()
}

#[test]
fn steps_draw_independent_blocks_and_seeds_repeat_them() {
    let mut random = stream(AccessPattern::Random, BLOCK, 0.0);
    random.stop_after_bytes = Some(PER_STEP * BLOCK);
    random.conduct.keeps_journal = true;
    let targets = vec![target("null".as_ref(), BLOCKS * BLOCK)];
    let workload =
        StorageWorkload { engine: EngineChoice::Null, ..workload(targets, random, None) };
    let steps = 5;
    let mut all: Vec<u64> = Vec::new();
    for step in 0..steps {
        let here = accessed_blocks(&workload.with_step_seed(step));
        assert_eq!(
            here,
            accessed_blocks(&workload.with_step_seed(step)),
            "the seed repeats step {step}"
        );
        all.extend(here);
    }
    // k draws from n blocks hit n (1 − (1 − 1/n)^k) distinct ones on average; their standard
    // deviation is below √(n e^−k/n), here 61.
    let (n, k) = (BLOCKS as f64, (steps * PER_STEP) as f64);
    let expected = n * (1.0 - (1.0 - 1.0 / n).powf(k));
    let distinct = all.iter().collect::<BTreeSet<_>>().len() as f64;
    let deviation = (n * (-k / n).exp()).sqrt();
    assert!((distinct - expected).abs() < 5.0 * deviation, "{distinct} of {expected}");
}
