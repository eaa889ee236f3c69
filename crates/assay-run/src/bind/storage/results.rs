//! The results of one storage case: samples, distributions, and checks of their plausibility.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use assay_kernels::storage::{self as kernel, OpenTargets, PhaseControl};
use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::entry::MeasurementEntry;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::{EngineChoice, StorageLoad, StorageWorkload};

use crate::recorder::{CaseError, Recorder};
use crate::storage::{series, volume};

/// Seconds that the generator runs without I/O.
const GENERATOR_RUN_S: f64 = 0.25;
/// A generator that cannot reach this multiple of the measured rate may be the bottleneck.
const SUFFICIENT_HEADROOM: f64 = 2.0;
/// A file with less than this share of its size allocated has holes.
const ALLOCATED_SHARE: f64 = 0.95;
/// Address range for a device that is not opened; any large value serves.
const ADDRESSES_BYTES: u64 = 1 << 40;

/// Records all of the outcome: its I/O, its stretches as samples, and doubts.
pub(super) fn record(
    outcome: &StorageOutcome,
    workload: &StorageWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    if series::io_count(outcome) == 0 {
        return Err(FailureReason::NoIo.into());
    }
    recorder.record_all(outcome.to_entries());
    recorder.record_all(series::stretch_samples(outcome));
    recorder.record_all(volume::workload_facts(workload));
    for (name, bytes) in outcome.journals() {
        recorder.store_raw(&name, &bytes)?;
    }
    if let Some(in_flight) = series::mean_in_flight(outcome) {
        recorder.add_fact(Attribute::InFlight, in_flight);
    }
    let asked_per_s = workload.load.rate_per_s();
    recorder
        .record_all(asked_per_s.map(|it| MeasurementEntry::fact(Attribute::RequestedRate, it)));
    let missed =
        series::rate_missed_doubt(asked_per_s, series::io_count(outcome), outcome.elapsed_s);
    recorder.record_all(missed.map(MeasurementEntry::Doubt));
    Ok(())
}

/// Adds doubts about targets in memory, which never reach a storage device, and about existing
/// files with holes.
pub(super) fn check_targets(workload: &StorageWorkload, recorder: &mut Recorder<'_, '_>) {
    if workload.engine == EngineChoice::Null {
        return;
    }
    recorder
        .record_all(volume::memory_doubt(workload.targets.iter().map(|it| it.path.as_path())));
    for target in &workload.targets {
        let Ok(found) = std::fs::metadata(&target.path) else { continue };
        // `blocks` counts units of 512 bytes, independent of the file system.
        let stored_bytes = found.blocks() * 512;
        if found.is_file() && (stored_bytes as f64) < ALLOCATED_SHARE * found.len() as f64 {
            let (path, bytes) = (target.path.clone(), found.len());
            recorder.add_doubt(Doubt::FileWithHoles { path, bytes, stored_bytes });
        }
    }
}

/// Runs the same workload without I/O and records the rate of the generator.
pub(super) fn record_headroom(
    outcome: &StorageOutcome,
    workload: &StorageWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    if workload.engine == EngineChoice::Null {
        return Ok(());
    }
    let mut alone = workload.clone();
    alone.engine = EngineChoice::Null;
    alone.load = StorageLoad::Closed;
    alone.timing.warmup_s = 0.0;
    alone.timing.duration_s = Some(GENERATOR_RUN_S);
    alone.timing.interval_s = GENERATOR_RUN_S;
    for target in &mut alone.targets {
        target.size_bytes = target.size_bytes.or(Some(ADDRESSES_BYTES));
        target.path = PathBuf::from("null");
    }
    let held = OpenTargets::default();
    let mut control = PhaseControl {
        stop: recorder.cancel(),
        held: &held,
        on_ready: None,
        on_interval: &mut |_| {},
    };
    let alone = kernel::run(&alone, &mut control)
        .map_err(|error| CaseError::from_error(ErrorArea::Generator, &error))?;
    let (most, reached) = (series::rate_per_s(&alone), series::rate_per_s(outcome));
    if !most.is_finite() || most <= 0.0 {
        return Ok(());
    }
    let factor = most / reached;
    recorder.add_fact(Attribute::GeneratorRate, most);
    recorder.add_fact(Attribute::GeneratorHeadroom, factor);
    if most < SUFFICIENT_HEADROOM * reached {
        recorder.add_doubt(Doubt::GeneratorNear { alone_per_s: most, factor });
    }
    Ok(())
}
