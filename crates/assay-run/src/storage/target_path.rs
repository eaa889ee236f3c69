//! Paths of targets: their resolution, and the streams that use them.

use std::path::{Path, PathBuf};

use assay_model::workload::storage::{FileCall, StorageStream, StorageWorkload};

use crate::failure::CommandFailure;

/// Streams of each target, collected in one pass: a workload may have thousands of both.
pub(super) struct StreamsByTarget<'w>(Vec<Vec<&'w StorageStream>>);

impl<'w> StreamsByTarget<'w> {
    pub(super) fn collect(workload: &'w StorageWorkload) -> Self {
        let mut streams = vec![Vec::new(); workload.targets.len()];
        for stream in &workload.streams {
            for target in &stream.targets {
                // The check of the workload refuses a target that does not exist.
                if let Some(users) = streams.get_mut(*target) {
                    users.push(stream);
                }
            }
        }
        Self(streams)
    }

    pub(super) fn users(&self, target: usize) -> &[&'w StorageStream] {
        &self.0[target]
    }

    pub(super) fn is_written(&self, target: usize) -> bool {
        self.users(target).iter().any(|stream| stream.writes_to(target))
    }

    /// Whether all streams create the target by a call, and none reads or writes it.
    pub(super) fn is_made_by_calls(&self, target: usize) -> bool {
        let users = self.users(target);
        !users.is_empty() && users.iter().all(|it| makes(it, FileCall::Create))
    }

    /// Whether a stream deletes the target.
    pub(super) fn is_deleted(&self, target: usize) -> bool {
        self.users(target).iter().any(|it| makes(it, FileCall::Delete))
    }

    /// Whether a stream does anything but delete the target.
    pub(super) fn is_used(&self, target: usize) -> bool {
        self.users(target).iter().any(|it| !makes(it, FileCall::Delete))
    }
}

fn makes(stream: &StorageStream, call: FileCall) -> bool {
    stream.conduct.file_call == Some(call)
}

/// Resolves the links of a path. Its folder must exist; the file itself need not.
pub(super) fn resolve_path(path: &Path) -> Result<PathBuf, CommandFailure> {
    if let Ok(path) = path.canonicalize() {
        return Ok(path);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let name = path.file_name().ok_or_else(|| {
        CommandFailure::usage(format!("{} does not name a file or a device", path.display()))
    })?;
    let folder = folder.canonicalize().map_err(|error| {
        CommandFailure::usage(format!("the target {} cannot be used", path.display()))
            .with_reason(format!("its folder {}: {error}", folder.display()))
            .advise("make the folder, or mount the volume, first")
    })?;
    Ok(folder.join(name))
}

#[cfg(test)]
mod tests;
