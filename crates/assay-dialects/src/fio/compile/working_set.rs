//! Contents that duplicates repeat with `dedupe_mode=working_set`, as in fio's `dedupe.c`.

use assay_model::workload::storage::{StorageStream, WorkingSet};

use super::super::job_error::FioJobError;
use super::super::section_options::FioOptions;
use super::super::value::SizeOrPercent;
use super::files::least_bytes;
use super::{LocatedOptions, conflict};

/// fio's default of `dedupe_working_set_percentage`.
const DEFAULT_PERCENT: u64 = 5;

/// Returns the set of a job, which is its own at first; `None` if its duplicates repeat the write
/// before, if it has none, or if it writes nothing.
pub(super) fn working_set(placed: &LocatedOptions) -> Result<Option<WorkingSet>, FioJobError> {
    let (job, _) = placed;
    let contents = &job.contents;
    let writes = job.rw.writes && !job.rw.trims;
    if !writes || !contents.uses_working_set || contents.duplicate_percent <= 0.0 {
        return Ok(None);
    }
    let percent = contents.working_set_percent.unwrap_or(DEFAULT_PERCENT);
    let Some(SizeOrPercent::Bytes(size)) = job.size else {
        let why = "dedupe_mode=working_set is a share of size, which is not set in bytes";
        return Err(conflict(placed, why, "add size=1g"));
    };
    if job.file_count.max(job.files.len() as u64) > 1 {
        let why = "dedupe_mode=working_set excludes several files, as in fio";
        return Err(conflict(placed, why, "use numjobs instead, with a file each"));
    }
    if percent as f64 + contents.duplicate_percent > 100.0 {
        let why = format!(
            "{percent} % of its data is the working set, whose blocks are unique, so that {} % \
             cannot be duplicates",
            contents.duplicate_percent
        );
        let hint = "lower dedupe_percentage or dedupe_working_set_percentage";
        return Err(conflict(placed, why, hint));
    }
    let [_, block] = least_bytes(job);
    let bytes = u128::from(size) * u128::from(percent) / 100;
    let count = (bytes / u128::from(block)) as u64;
    if count == 0 {
        let why = "its working set has no block";
        return Err(conflict(placed, why, "raise dedupe_working_set_percentage"));
    }
    Ok(Some(WorkingSet { contents: count, stream: 0, streams: 1 }))
}

/// Lets the jobs with `dedupe_global` that run together share one set.
pub(super) fn share_sets(members: &[LocatedOptions], streams: &mut [StorageStream]) {
    let jobs =
        members.iter().flat_map(|(job, _)| std::iter::repeat_n(job, job.clones as usize));
    let is_shared = |job: &FioOptions| job.contents.shares_working_set;
    let sets: Vec<&mut WorkingSet> = jobs
        .zip(streams)
        .filter(|(job, _)| is_shared(job))
        .filter_map(|(_, stream)| stream.conduct.content.as_mut()?.working_set.as_mut())
        .collect();
    let count = sets.len() as u64;
    for (number, set) in (0..).zip(sets) {
        (set.stream, set.streams) = (number, count);
    }
}
