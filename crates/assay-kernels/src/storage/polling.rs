//! Whether the device beneath a target can be polled for completions.
//!
//! The kernel says it for a whole disk (`Documentation/ABI/stable/sysfs-block`, `io_poll`). Kernels before 6.11 take
//! polled I/O for a device without such queues all the same, and let it interrupt: the answer of an I/O tells nothing.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use assay_model::workload::storage::{EngineChoice, StorageWorkload};

use super::error::StorageError;

/// Refuses a workload that polls for a target, there or yet to be created, whose device cannot be polled.
pub(super) fn check(workload: &StorageWorkload) -> Result<(), StorageError> {
    match workload.engine {
        EngineChoice::IoUringPolled => {
            workload.targets.iter().try_for_each(|it| queues(&it.path))
        }
        _ => Ok(()),
    }
}

fn queues(target: &Path) -> Result<(), StorageError> {
    let refused = |queues| StorageError::Polling { path: target.to_path_buf(), queues };
    let Some(device) = device(target) else {
        return Err(refused("it has no place yet".to_owned()));
    };
    let (major, minor) = (libc::major(device), libc::minor(device));
    let disk = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    // A partition has the queues of its disk.
    let settings = [disk.join("queue/io_poll"), disk.join("../queue/io_poll")];
    match settings.iter().find_map(|it| fs::read_to_string(it).ok()) {
        Some(value) if value.trim() == "1" => Ok(()),
        Some(value) => Err(refused(format!("{} is {}", settings[0].display(), value.trim()))),
        None => Err(refused(format!("there is no {}", settings[0].display()))),
    }
}

/// The device itself, or that of the file system where the file lies or will lie.
fn device(target: &Path) -> Option<u64> {
    let found = fs::metadata(target).or_else(|_| {
        let folder = target.parent().filter(|it| !it.as_os_str().is_empty());
        fs::metadata(folder.unwrap_or(Path::new(".")))
    });
    let found = found.ok()?;
    Some(if found.file_type().is_block_device() { found.rdev() } else { found.dev() })
}
