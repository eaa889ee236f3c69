//! Verification of jobs' writes: after each pass, as in fio.
//!
//! Each pass of such jobs is a phase, and so is reading it back.

use assay_model::workload::storage::{
    JobOrder, OffsetLaw, StorageLoad, StoragePhase, StorageTiming, StorageWorkload, Verify,
};

use super::super::job_error::FioJobError;
use super::super::section_options::{FioOptions, VerifyMode};
use super::{FioCompileEnv, LocatedOptions, conflict, job_order, streams};

/// Maximum number of passes that are verified one by one.
const MAX_PASSES: u64 = 256;

/// Splits a phase into passes, each with the phase that reads its writes back.
pub(super) fn split_passes(
    members: &[LocatedOptions],
    phase: StoragePhase,
    places: &FioCompileEnv<'_>,
) -> Result<Vec<StoragePhase>, FioJobError> {
    let verifies = phase.workload.data.verify != Verify::Off
        && members.iter().any(|(job, _)| is_read_back_apart(job));
    if !verifies {
        return Ok(vec![phase]);
    }
    let passes = pass_count(&phase.workload, places);
    if passes > MAX_PASSES {
        let why = format!("each of more than {MAX_PASSES} passes would be verified by itself");
        return Err(conflict(&members[0], why, "lower loops= or raise size="));
    }
    let mut phases = vec![];
    for pass in 0..passes {
        let mut own = phase.clone();
        if passes > 1 {
            set_pass(&mut own.workload, pass, passes);
        }
        if pass > 0 {
            own.pause_before_s = 0.0;
            own.workload.targets.iter_mut().for_each(|it| it.opening.pre_reads = false);
        }
        let read_back = verify_phase(&own);
        phases.extend([own, read_back]);
    }
    Ok(phases)
}

/// Whether a job's writes are read back after each pass, in a phase of its own.
fn is_read_back_apart(job: &FioOptions) -> bool {
    verifies_writes(job) && job.verify_backlog.is_none() && !job.is_endless()
}

/// Whether a job that verifies its writes never comes to that.
pub(super) fn is_never_read_back(job: &FioOptions) -> bool {
    verifies_writes(job)
        && job.verify_backlog.is_none()
        && job.is_endless()
        && !job_order::queues(job)
}

fn verifies_writes(job: &FioOptions) -> bool {
    job.verify == VerifyMode::On && job.rw.writes && job.read_back
}

/// Returns the number of passes of the job with the most.
fn pass_count(workload: &StorageWorkload, places: &FioCompileEnv<'_>) -> u64 {
    let passes = workload.streams.iter().filter_map(|stream| {
        let order = stream.conduct.order.as_deref()?;
        Some(match has_full_passes(order) {
            true => order.loops,
            false => (places.count_passes)(stream, MAX_PASSES),
        })
    });
    passes.max().unwrap_or(1)
}

/// Whether each pass reaches the bytes of the job, so that none follows the loops. Others end where
/// an offset is past the end of the file, or do more than one pass by `io_size`.
fn has_full_passes(order: &JobOrder) -> bool {
    let has_zones = |law: &OffsetLaw| matches!(law, OffsetLaw::Zones { .. });
    let jumps_only = order.run_length == 1
        && order.random_percent.iter().all(|percent| *percent >= 100.0)
        && !order.is_register
        && !order.skew.as_ref().is_some_and(|skew| has_zones(&skew.law));
    !order.has_own_total
        && order.zones.is_none()
        && order.gap_bytes == 0
        && (jumps_only || !order.is_random)
}

/// Makes the streams one pass of `passes`; the end of a job is that of its last one.
fn set_pass(workload: &mut StorageWorkload, pass: u64, passes: u64) {
    for stream in &mut workload.streams {
        stream.conduct.ends_phase &= pass + 1 == passes;
        if let Some(order) = &mut stream.conduct.order {
            order.pass = Some(pass);
        }
    }
}

/// Returns the phase that reads the writes of a phase back.
fn verify_phase(written: &StoragePhase) -> StoragePhase {
    let mut workload = written.workload.clone();
    workload.load = StorageLoad::Closed;
    workload.timing = StorageTiming { warmup_s: 0.0, ..workload.timing };
    for target in &mut workload.targets {
        // fio syncs and drops the cache first, regardless of `invalidate` (`do_verify` in
        // backend.c).
        target.opening.drops_cache = true;
        // Otherwise the cache is filled again.
        target.opening.pre_reads = false;
    }
    for stream in &mut workload.streams {
        streams::make_read_back(stream, &workload.targets);
    }
    StoragePhase::new(format!("{} (verify)", written.name), workload)
}
