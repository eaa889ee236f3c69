//! Preconditioning: phases that write the targets before a measurement, to bring a device into the
//! state of long use.
//!
//! This module only builds the phases.

use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::workload::storage::{
    AccessPattern, AtEnd, Cursor, SizeShare, StorageLoad, StoragePhase, StorageStream,
    StorageTest, StorageTiming, StorageWorkload, StreamBehavior,
};

/// Block size of SNIA's workload-independent preconditioning.
const BLOCK_BYTES: u64 = 128 << 10;
/// Depth that keeps any device busy with blocks of that size.
const DEPTH: u32 = 32;

/// Returns the phases before the test: the requested passes over all targets in order. If the
/// test's own I/O is random, a pass in random order with its own size follows.
pub fn precondition_phases(test: &StorageTest) -> Vec<(Phrase, StoragePhase)> {
    let mut phases = Vec::new();
    let Some(stream) = test.workload.streams.first().filter(|_| test.precondition_passes > 0)
    else {
        return phases;
    };
    let own_bytes = stream.sizes.iter().map(|size| size.max_bytes).max().unwrap_or(1);
    let sizes = test.workload.targets.iter().filter_map(|target| target.size_bytes);
    let is_roomy = sizes.min().is_none_or(|minimum| minimum >= BLOCK_BYTES);
    let block_bytes = if is_roomy { BLOCK_BYTES } else { own_bytes };
    let in_order =
        AccessPattern::Sequential { cursor: Cursor::Shared, at_end: AtEnd::Stop, gap_bytes: 0 };
    let passes = test.precondition_passes;
    for pass in 1..=passes {
        let said = phrase!(
            "preconditioning",
            "{test}, preconditioning {pass} of {all}",
            test = test.name.as_str(),
            pass = pass,
            all = passes,
        );
        let phase = write_pass(test, stream, said.to_string(), (in_order, block_bytes));
        phases.push((said, phase));
    }
    if matches!(stream.pattern, AccessPattern::Random | AccessPattern::Permutation) {
        let shuffled = AccessPattern::Blocks {
            block_bytes: own_bytes,
            stride_bytes: own_bytes,
            shuffled: true,
            within_blocks: false,
            first_io: 0,
        };
        let said = phrase!(
            "preconditioning-shuffled",
            "{test}, preconditioning in random order",
            test = test.name.as_str(),
        );
        let phase = write_pass(test, stream, said.to_string(), (shuffled, own_bytes));
        phases.push((said, phase));
    }
    phases
}

fn write_pass(
    test: &StorageTest,
    stream: &StorageStream,
    name: String,
    (pattern, bytes): (AccessPattern, u64),
) -> StoragePhase {
    let stream = StorageStream {
        name: "preconditioning".to_owned(),
        threads: 1,
        in_flight_per_target: DEPTH,
        pattern,
        sizes: vec![SizeShare::single(bytes)],
        read_share: 0.0,
        conduct: StreamBehavior::default(),
        ..stream.clone()
    };
    let timing = StorageTiming::new(None);
    let mut workload = StorageWorkload {
        streams: vec![stream],
        load: StorageLoad::Closed,
        timing,
        ..test.workload.clone()
    };
    workload.targets.iter_mut().for_each(|target| target.sync_at_end = true);
    StoragePhase::new(name, workload)
}
