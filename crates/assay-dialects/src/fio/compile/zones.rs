//! Clones whose strided zones fio turns off, because their files are open at once.
//!
//! fio 3.33 checks the options of a job again for each further clone, with the values derived from them for
//! the first (`fixup_options` in init.c): with several files, all of them are open then, and more than one
//! open file turns zones off.

use std::borrow::Cow;

use super::super::job_error::FioJobError;
use super::{LocatedOptions, conflict};

/// Returns the options of a clone: without zones if fio turns them off.
pub(super) fn options_of_clone(
    placed: &LocatedOptions,
    clone: u32,
) -> Result<Cow<'_, LocatedOptions>, FioJobError> {
    let (job, _) = placed;
    let manner = &job.behaviour;
    // With `filename`, fio does not read nrfiles.
    let files = if job.files.is_empty() { job.file_count } else { job.files.len() as u64 };
    let has_zones = match manner.open_files {
        0 => files == 1 || clone == 0,
        open => open == 1,
    };
    if !manner.strided || has_zones {
        return Ok(Cow::Borrowed(placed));
    }
    if manner.open_files > 1 && job.clones > 1 {
        let why =
            "several open files turn its zones off, and fio refuses them for further clones";
        return Err(conflict(placed, why, "add openfiles=1, or leave out numjobs or zonesize"));
    }
    let mut changed = placed.clone();
    (changed.0.behaviour.strided, changed.0.behaviour.zone_bytes) = (false, 0);
    Ok(Cow::Owned(changed))
}
