//! Jobs that repeat recorded I/O (`read_iolog`): their directions, sizes, files and order.

use assay_model::storage_outcome::IoOperation;
use assay_model::workload::storage::{FileExtent, SizeShare, StorageStream};

use super::super::job_error::{FioJobError, FioJobErrorKind, FioLocation};
use super::super::option;
use super::super::request::FioRequest;
use super::super::section_options::{FioOptions, OffsetDistribution, RwMode, VerifyMode};
use super::super::trace::{self, IoTrace};
use super::files::{self, CloneFiles, TargetTable, greatest_common_divisor};
use super::{FioCompileEnv, LocatedOptions, conflict, join_path};

/// Parses the trace of a job, and gives the job the directions and sizes of its I/O. fio ignores
/// options on the amount of I/O then.
pub(super) fn load(
    placed: &mut LocatedOptions,
    request: &FioRequest,
) -> Result<Option<IoTrace>, FioJobError> {
    let Some(path) = placed.0.replay.trace.clone() else { return Ok(None) };
    check_combinations(placed)?;
    let text = request.texts.iter().find(|(name, _)| *name == path);
    let text = text.map_or("", |(_, text)| text.as_str());
    let trace = trace::parse(text, &placed.0.replay).map_err(|(line, why)| {
        let mut lines = text.split_inclusive('\n');
        let start: usize = lines.by_ref().take(line).map(str::len).sum();
        let end = start + lines.next().map_or(0, |line| line.trim_end().len());
        let origin = FioLocation::locate(&path, text, start, end);
        let name = option::TRACE.to_owned();
        FioJobError::new(
            origin,
            FioJobErrorKind::InvalidValue { name, value: path.clone(), why },
        )
    })?;
    let repeated = trace.ios.len().saturating_mul(placed.0.clones as usize);
    if repeated > trace::MAX_IOS {
        let most = trace::MAX_IOS;
        let why = format!("its clones repeat {repeated} recorded I/O, and {most} are allowed");
        return Err(conflict(placed, why, "lower numjobs="));
    }
    describe_io(&mut placed.0, &trace);
    Ok(Some(trace))
}

/// Rejects options that recorded I/O excludes.
fn check_combinations(placed: &LocatedOptions) -> Result<(), FioJobError> {
    let (job, _) = placed;
    let has_rate = [&job.rate_bytes, &job.rate_iops]
        .iter()
        .any(|rate| rate.read.is_some() || rate.write.is_some());
    for (is_given, option) in [
        (job.verify != VerifyMode::Off, "verify"),
        (has_rate, "a rate"),
        (job.behaviour.flow > 0, "flow"),
        (job.behaviour.appends, "file_append"),
    ] {
        if is_given {
            let why = format!("read_iolog and {option} exclude each other");
            return Err(conflict(placed, why, "leave one out"));
        }
    }
    Ok(())
}

/// Sets the directions and sizes of a job.
fn describe_io(job: &mut FioOptions, trace: &IoTrace) {
    let has = |operation| trace.ios.iter().any(|io| io.operation == operation);
    let (reads, writes) = (has(IoOperation::Read), has(IoOperation::Write));
    job.rw = RwMode { reads, writes, ..RwMode::READ };
    // The trace decides: with a mix of 0 or 100, a direction would lack buffers and permission.
    job.read_percent = 50.0;
    job.rw_text = match (reads, writes) {
        (true, true) => "rw".to_owned(),
        (false, true) => "write".to_owned(),
        (_, false) => "read".to_owned(),
    };
    let lengths = || trace.ios.iter().map(|io| io.bytes);
    let step = trace.ios.iter().fold(0, |step, io| {
        greatest_common_divisor(greatest_common_divisor(step, io.bytes), io.offset)
    });
    let size = SizeShare {
        min_bytes: lengths().min().unwrap_or(1),
        max_bytes: lengths().max().unwrap_or(1),
        step_bytes: step.max(1),
        share: 1.0,
    };
    job.sizes.read = vec![size];
    job.sizes.write = vec![size];
    job.given_sizes = job.sizes.clone();
    (job.size, job.io_size, job.ios) = (None, None, None);
    (job.loops, job.time_based) = (1, false);
    job.behaviour.syncs_data_only = trace.syncs_data_only;
    job.behaviour.sync_range_flags = None;
    job.behaviour.strided = false;
    job.behaviour.distribution = OffsetDistribution::Uniform;
}

/// Returns the files of a trace, each as large as its I/O needs.
pub(super) fn resolve_files(
    placed: &LocatedOptions,
    (trace, clone): (&IoTrace, u32),
    env: &FioCompileEnv<'_>,
    targets: &mut TargetTable,
) -> CloneFiles {
    let (job, _) = placed;
    let folders = &job.directories;
    let folder = folders.get(clone as usize % folders.len().max(1));
    let mut ends = vec![0; trace.files.len()];
    for io in &trace.ios {
        ends[io.file] = ends[io.file].max(io.offset.saturating_add(io.bytes));
    }
    // A file that is only synced has room for some I/O.
    for end in ends.iter_mut().filter(|end| **end == 0) {
        *end = job.sizes.read[0].max_bytes;
    }
    let mut used = CloneFiles::default();
    for (name, end) in trace.files.iter().zip(ends) {
        let path = join_path(folder, name);
        let existing = if job.engine == "null" { None } else { (env.size_of)(&path) };
        let size = existing.unwrap_or(0).max(end);
        if job.engine != "null" {
            let created_bytes = targets.created.entry(path.clone()).or_default();
            *created_bytes = end.max(*created_bytes);
        }
        let is_missing = existing.is_none_or(|size| size < end);
        let target = files::build_target(job, path, is_missing.then_some(end), (0, size));
        used.targets.push(targets.intern(target));
        let extent = FileExtent { start: 0, later_start: 0, bytes: size, size_bytes: size };
        used.extents.push(extent);
    }
    used.pass_bytes = trace.ios.iter().map(|io| io.bytes).fold(0, u64::saturating_add);
    used
}

/// Gives the recorded I/O to a stream.
pub(super) fn set_io(stream: &mut StorageStream, trace: &IoTrace) {
    stream.conduct.replay.clone_from(&trace.ios);
    stream.conduct.syncs_data_only = trace.syncs_data_only;
    // Syncs are where the trace has them; with a number of writes, they are counted.
    stream.sync_every = if trace.syncs { u64::MAX } else { 0 };
}
