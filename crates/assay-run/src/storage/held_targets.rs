//! Targets that a run keeps open from the check to its end: devices exclusively, files by
//! descriptors.
//!
//! Every phase checks them again: a target that was replaced in between is not written. At its end
//! a target must still be the same one, with the size that the phase found or gave it.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use assay_fleet::capacity;
use assay_fleet::mounts::Mount;
use assay_fleet::resource_limits;
use assay_kernels::storage::OpenTargets;
use assay_model::workload::storage::{EngineChoice, StorageTarget, StorageWorkload};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::layers::Layers;
use super::safe_open;
use super::target_path::{StreamsByTarget, resolve_path};
use crate::failure::CommandFailure;

/// Claims a device for as long as `held` lives; it cannot be mounted or used by other block devices
/// meanwhile.
pub(super) fn claim(held: &OpenTargets, device: &Path) -> Result<(), CommandFailure> {
    if is_claimed(held, device) {
        return Ok(());
    }
    let file = safe_open::open(device, OFlags::RDONLY | OFlags::EXCL).map_err(|error| {
        if error.raw_os_error() == Some(Errno::BUSY.raw_os_error()) {
            let why = "it is in use: the kernel grants no exclusive access";
            return protected_target(device, why);
        }
        let what = format!("the device {} cannot be opened", device.display());
        CommandFailure::measurement(what).with_cause(&error).with_known_advice()
    })?;
    held.insert(device, Arc::new(file));
    Ok(())
}

fn is_claimed(held: &OpenTargets, device: &Path) -> bool {
    held.file(device).is_some_and(|file| {
        rustix::fs::fcntl_getfl(&file).is_ok_and(|flags| !flags.contains(OFlags::PATH))
    })
}

pub(super) fn protected_target(path: &Path, why: impl Into<String>) -> CommandFailure {
    CommandFailure::usage(format!("{} is never written", path.display()))
        .with_reason(why)
        .advise("choose an unused device, or a file on a file system")
}

/// Reason for a replaced target.
const PATH_CHANGED: &str = "its path leads to something else since the run began";

fn replaced_target(path: &Path, why: impl Into<String>) -> CommandFailure {
    CommandFailure::measurement(format!("the target {} was replaced", path.display()))
        .with_reason(why)
        .advise("find out what replaces it; nothing more is read or written there")
}

/// Returns the failure of a phase whose target another program made smaller or larger.
pub(super) fn resized_target(path: &Path, from_bytes: u64, to_bytes: u64) -> CommandFailure {
    let what = format!("the size of the target {} changed", path.display());
    CommandFailure::measurement(what)
        .with_reason(format!("from {from_bytes} B to {to_bytes} B during the phase"))
        .advise("find out what changes it, then measure again")
}

/// Releases a file that is gone, under all of its paths, before another is created in its place.
pub(super) fn release(held: &OpenTargets, path: &Path) {
    held.retain(|it, _| resolve_path(it).is_ok_and(|it| it != path));
}

/// Returns the failure of a target whose path or descriptor cannot be examined: it is gone, or its
/// file system does not answer.
fn unusable_target(path: &Path, error: &std::io::Error) -> CommandFailure {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            replaced_target(path, format!("it was moved or deleted: {error}"))
        }
        _ => {
            CommandFailure::measurement(format!("the target {} cannot be used", path.display()))
                .with_cause(error)
                .with_known_advice()
        }
    }
}

/// Opens all targets of a workload, each under its own path and under the one without links.
pub(super) fn hold(
    held: &OpenTargets,
    workload: &StorageWorkload,
) -> Result<(), CommandFailure> {
    if workload.engine == EngineChoice::Null {
        return Ok(());
    }
    // Each target needs one descriptor more than its phase.
    resource_limits::raise_open_files();
    let streams = StreamsByTarget::collect(workload);
    for (index, target) in workload.targets.iter().enumerate() {
        let path = resolve_path(&target.path)?;
        if streams.is_made_by_calls(index) && !path.exists() {
            continue;
        }
        let file = match held.file(&path) {
            Some(file) => file,
            None => Arc::new(safe_open::open(&path, OFlags::PATH).map_err(|error| {
                let what = format!("the target {} cannot be used", path.display());
                CommandFailure::measurement(what).with_cause(&error).with_known_advice()
            })?),
        };
        if let Some(before) = held.file(&target.path) {
            let both = before.metadata().and_then(|one| Ok((one, file.metadata()?)));
            if !both.is_ok_and(|(one, other)| safe_open::is_same(&one, &other)) {
                return Err(replaced_target(&target.path, PATH_CHANGED));
            }
        }
        held.insert(&path, Arc::clone(&file));
        held.insert(&target.path, file);
    }
    Ok(())
}

/// Checks before a phase that the paths still lead to the open targets, and that no one else has
/// begun to use them.
pub(super) fn recheck(
    held: &OpenTargets,
    workload: &StorageWorkload,
    mounts: &[Mount],
) -> Result<(), CommandFailure> {
    let streams = StreamsByTarget::collect(workload);
    for (index, target) in workload.targets.iter().enumerate() {
        let path = target.path.as_path();
        let failed = |error| unusable_target(path, &error);
        let Some(ours) = held.metadata(path).map_err(failed)? else { continue };
        let found = path.metadata().map_err(failed)?;
        if !safe_open::is_same(&ours, &found) {
            return Err(replaced_target(path, PATH_CHANGED));
        }
        if streams.is_written(index)
            && let Some(user) = Layers::read().users(&found, mounts).first()
        {
            return Err(replaced_target(path, format!("it is in use: {user}")));
        }
    }
    Ok(())
}

/// Returns the size of every target in bytes; `None` for one that is not held or has no size.
pub(super) fn read_sizes(held: &OpenTargets, workload: &StorageWorkload) -> Vec<Option<u64>> {
    let size = |target: &StorageTarget| {
        held.file(&target.path).and_then(|_| capacity::size(&target.path).ok().flatten())
    };
    workload.targets.iter().map(size).collect()
}

/// Checks after a phase that the paths still lead to the open targets, and that only the phase has
/// changed their sizes.
pub(super) fn check_unchanged(
    held: &OpenTargets,
    workload: &StorageWorkload,
    sizes: &[Option<u64>],
) -> Result<(), CommandFailure> {
    let streams = StreamsByTarget::collect(workload);
    for (index, (target, before)) in workload.targets.iter().zip(sizes).enumerate() {
        let path = target.path.as_path();
        let failed = |error| unusable_target(path, &error);
        let Some(ours) = held.metadata(path).map_err(failed)? else { continue };
        if !safe_open::is_same(&ours, &path.metadata().map_err(failed)?) {
            return Err(replaced_target(path, PATH_CHANGED));
        }
        let Some(before) = *before else { continue };
        let after = capacity::size(path).map_err(failed)?.unwrap_or(0);
        // A phase may fill a file up to its configured size; a file that it only reads may grow.
        let most = match streams.is_written(index) {
            true => before.max(target.size_bytes.unwrap_or(0)),
            false => u64::MAX,
        };
        if !(before..=most).contains(&after) {
            return Err(resized_target(path, before, after));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
