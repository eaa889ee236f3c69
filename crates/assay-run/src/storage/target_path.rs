//! Paths of targets: their resolution, and whether a workload writes to them.

use std::path::{Path, PathBuf};

use assay_model::workload::storage::StorageWorkload;

use crate::failure::CommandFailure;

pub(super) fn is_written(workload: &StorageWorkload, target: usize) -> bool {
    let mut streams = workload.streams.iter().filter(|it| it.targets.contains(&target));
    streams.any(|stream| stream.read_share < 1.0)
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
