//! Verification of jobs' writes: after each pass, as in fio.
//!
//! Each pass of such jobs is a phase, and so is reading it back.

use assay_model::workload::storage::{
    EngineChoice, JobOrder, NewFile, OffsetLaw, StorageLoad, StoragePhase, StorageTiming,
    StorageWorkload, Verify,
};

use super::super::job_error::FioJobError;
use super::super::section_options::{FioOptions, VerifyMode};
use super::super::verify_state;
use super::{FioCompileEnv, LocatedOptions, conflict, file_calls, job_order, streams};

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
    let is_dry = members.iter().any(|(job, _)| writes_nothing(job));
    if !verifies {
        return Ok(vec![if is_dry { dry_phase(&phase) } else { phase }]);
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
        let mut read_back = verify_phase(&own);
        if is_dry {
            expect_all(&mut read_back.workload);
            own = dry_phase(&own);
        }
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

/// Whether the writes of a job are only counted, to read back those of another run.
pub(super) fn writes_nothing(job: &FioOptions) -> bool {
    job.contents.only_verifies && job.rw.writes
}

/// Rejects options that exclude `verify_only`.
pub(super) fn check_verify_only(placed: &LocatedOptions) -> Result<(), FioJobError> {
    let (job, _) = placed;
    if !writes_nothing(job) {
        return Ok(());
    }
    if job.verify_backlog.is_some() && job.verify == VerifyMode::On {
        let why =
            "verify_only and verify_backlog exclude each other: nothing is written meanwhile";
        return Err(conflict(placed, why, "leave out verify_backlog"));
    }
    if file_calls::file_call(job).is_some() {
        let why = "verify_only counts writes, and its engine makes calls on files only";
        return Err(conflict(placed, why, "leave out verify_only"));
    }
    if job.is_endless() {
        let why = "verify_only and time_based exclude each other: its writes take no time";
        return Err(conflict(placed, why, "leave out time_based"));
    }
    Ok(())
}

/// Rejects a warm-up of a job whose number of writes is saved: those of the warm-up are not in the results.
pub(super) fn check_saved_state(placed: &LocatedOptions) -> Result<(), FioJobError> {
    let (job, _) = placed;
    let saves = job.contents.saves_state && job.verify == VerifyMode::On && job.rw.writes;
    if saves && job.ramp_s > 0.0 {
        let why = "verify_state_save excludes ramp_time, whose writes are not counted";
        return Err(conflict(placed, why, "leave out ramp_time"));
    }
    Ok(())
}

/// Limits the reads of a verification to the writes of its saved state.
pub(super) fn apply_state(
    order: &mut JobOrder,
    placed: &LocatedOptions,
    index: usize,
    places: &FioCompileEnv<'_>,
) -> Result<(), FioJobError> {
    let (job, _) = placed;
    if !job.contents.loads_state || job.verify == VerifyMode::Off {
        return Ok(());
    }
    let path = verify_state::path(job, index);
    let writes = (places.read_state)(&path).and_then(|bytes| verify_state::parse(&bytes));
    let writes = writes.map_err(|why| {
        let why = format!("verify_state_load: cannot load {path}: {why}");
        conflict(
            placed,
            why,
            "write it with verify_state_save=1, or name its folder with --aux-path",
        )
    })?;
    if order.writes {
        order.verified_writes = Some(writes);
    } else {
        order.ios = Some(order.ios.map_or(writes, |ios| ios.min(writes)));
    }
    Ok(())
}

/// Returns a phase whose I/O is only counted, as in `do_dry_run` of fio's backend.c: one at a time and
/// without a rate.
fn dry_phase(phase: &StoragePhase) -> StoragePhase {
    let mut dry = phase.clone();
    let workload = &mut dry.workload;
    workload.engine = EngineChoice::Null;
    workload.data.verify = Verify::Off;
    workload.load = StorageLoad::Closed;
    workload.timing.duration_s = None;
    for target in &mut workload.targets {
        // The null engine opens no file, and so finds no size.
        target.size_bytes = target.size_bytes.or(target.range_bytes.map(|(_, end)| end));
    }
    for stream in &mut workload.streams {
        stream.in_flight_per_target = 1;
        stream.sync_every = 0;
        stream.own_rate_per_s = None;
        let conduct = &mut stream.conduct;
        (conduct.maps_files, conduct.times_submission) = (false, false);
        (conduct.pauses, conduct.minimum_rates, conduct.batches) = (None, None, None);
        (conduct.duration_s, conduct.latency_goal) = (None, None);
    }
    dry
}

/// Expects that every block was written; a file that is missing or too short has none.
fn expect_all(workload: &mut StorageWorkload) {
    workload.data.verify = Verify::Stamped;
    for target in &mut workload.targets {
        target.opening.new_file = NewFile::Hole;
    }
}

/// Returns the number of passes of the job with the most.
fn pass_count(workload: &StorageWorkload, places: &FioCompileEnv<'_>) -> u64 {
    let passes = workload.streams.iter().filter_map(|stream| {
        let order = stream.conduct.order.as_deref()?;
        Some(match has_full_passes(order) {
            _ if !order.writes => 1,
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
        let Some(order) = &mut stream.conduct.order else { continue };
        match order.writes {
            true => order.pass = Some(pass),
            // Reads that are verified have one pass.
            false if pass > 0 => order.files.clear(),
            false => {}
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
