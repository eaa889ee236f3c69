//! Comparison of two engines on the workload's targets: the workload with small blocks runs briefly
//! on each. The result holds for all phases on these targets.
//!
//! The runs do not count, and write only where the workload would.

use std::path::PathBuf;

use assay_model::engine_reason::EngineReason;
use assay_model::seed;
use assay_model::workload::storage::{
    AccessPattern, SizeShare, StorageLoad, StorageStream, StorageTiming, StorageWorkload,
    Verify,
};

use super::engine_selection::{ChosenEngine, EngineKind};
use super::error::StorageError;
use super::target::OpenedTarget;
use super::{PhaseControl, phase_runner};

/// Long enough for a few hundred I/O of a slow server.
const COMPARISON_TIMING: StorageTiming = StorageTiming {
    warmup_s: 0.1,
    duration_s: Some(0.4),
    interval_s: 1.0,
    stop_after_bytes: None,
};
/// Offset of the seeds of comparisons, beyond the numbers of all steps of a case.
const COMPARISON_SEED_OFFSET: u64 = 1 << 32;
/// Minimum ratio at which the second engine is selected: smaller differences are noise.
const MIN_SPEEDUP: f64 = 1.05;
/// Block size at which the engine dominates the time of an I/O, not the transfer of its bytes;
/// larger if a target needs it.
const SMALL_BYTES: u64 = 4096;

/// Returns the engine selected before for these targets, or compares both now.
pub(super) fn choose_faster(
    workload: &StorageWorkload,
    opened: &[OpenedTarget],
    engines: [EngineKind; 2],
    watched: &PhaseControl<'_>,
) -> Result<ChosenEngine, StorageError> {
    let targets: Vec<PathBuf> = workload.targets.iter().map(|it| it.path.clone()).collect();
    if let Some(chosen) = watched.held.chosen_engine(&targets) {
        return Ok(chosen);
    }
    // Stamps of a comparison would be mistaken for older writes.
    if workload.data.verify != Verify::Off {
        return Ok(ChosenEngine { engine: engines[0], reason: EngineReason::UntriedContest });
    }
    let chosen = compare(workload, opened, engines, watched)?;
    watched.held.store_engine(targets, chosen.clone());
    Ok(chosen)
}

/// Measures both in a closed loop, in which engines differ.
fn compare(
    workload: &StorageWorkload,
    opened: &[OpenedTarget],
    engines: [EngineKind; 2],
    watched: &PhaseControl<'_>,
) -> Result<ChosenEngine, StorageError> {
    let small_bytes = opened.iter().map(|it| it.granule).max().unwrap_or(0).max(SMALL_BYTES);
    let mut short = StorageWorkload {
        timing: COMPARISON_TIMING,
        load: StorageLoad::Closed,
        ..workload.clone()
    };
    for stream in &mut short.streams {
        stream.own_rate_per_s = None;
        stream.stop_after_bytes = None;
        shrink_blocks(stream, small_bytes);
    }
    for target in &mut short.targets {
        target.sync_at_end = false;
    }
    let mut rates = [0.0; 2];
    for (nth, (rate, engine)) in rates.iter_mut().zip(engines).enumerate() {
        // Different offsets for each run, so that no cache is warm for the other engine or the
        // measurement.
        short.seed = seed::derive_seed(workload.seed, COMPARISON_SEED_OFFSET + nth as u64);
        let mut control = PhaseControl {
            stop: watched.stop,
            held: watched.held,
            on_ready: None,
            on_interval: &mut |_| {},
        };
        let chosen = ChosenEngine { engine, reason: EngineReason::AskedFor };
        let outcome = phase_runner::run_phase(&short, opened, chosen, &mut control)?;
        let count: u64 = outcome.tallies.iter().map(|it| it.tally.count).sum();
        *rate = count as f64 / outcome.elapsed_s.max(f64::MIN_POSITIVE);
    }
    let [first, second] = rates;
    let engine = engines[usize::from(second > first * MIN_SPEEDUP)];
    if engine != engines[0] {
        rates.reverse();
    }
    let reason = EngineReason::Contest { rates_per_s: rates };
    Ok(ChosenEngine { engine, reason })
}

/// Reduces the block sizes to `bytes` if all are multiples of it and the offsets do not depend on
/// them.
fn shrink_blocks(stream: &mut StorageStream, bytes: u64) {
    let is_free = matches!(
        stream.pattern,
        AccessPattern::Random | AccessPattern::Sequential { gap_bytes: 0, .. }
    );
    let is_whole = |size: &SizeShare| {
        size.min_bytes == size.max_bytes && size.min_bytes.is_multiple_of(bytes)
    };
    if is_free && stream.all_sizes().all(is_whole) {
        stream.sizes = vec![SizeShare::single(bytes)];
        stream.conduct.write_sizes.clear();
    }
}
