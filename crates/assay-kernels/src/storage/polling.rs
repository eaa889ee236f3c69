//! Check whether the device of a target can be polled for completions.
//!
//! The kernel reports it per disk (`Documentation/ABI/stable/sysfs-block`, `io_poll`). Kernels
//! before 6.11 accept polled I/O for a device without such queues and use interrupts, so a
//! successful I/O proves nothing.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use assay_model::workload::storage::{EngineChoice, StorageWorkload};

use super::error::StorageError;

/// Rejects a polling workload with a target, existing or not, whose device cannot be polled.
pub(super) fn check(workload: &StorageWorkload) -> Result<(), StorageError> {
    match workload.engine {
        EngineChoice::IoUringPolled => {
            workload.targets.iter().try_for_each(|it| check_target(&it.path))
        }
        _ => Ok(()),
    }
}

fn check_target(target: &Path) -> Result<(), StorageError> {
    let told = match device_of(target) {
        Some(device) => check_device(Path::new("/sys"), device),
        None => Err("its folder does not exist".to_owned()),
    };
    told.map_err(|queues| StorageError::Polling { path: target.to_path_buf(), queues })
}

/// Checks the kernel's setting for a device; the error names the file and its value. A partition
/// has the queues of its disk, whose folder contains its own. Stacked devices are not resolved:
/// that is done in `assay-fleet`, on which the kernels do not depend, and callers without it are
/// refused as well.
fn check_device(sys: &Path, device: u64) -> Result<(), String> {
    let (major, minor) = (libc::major(device), libc::minor(device));
    let own = sys.join(format!("dev/block/{major}:{minor}"));
    let settings = [own.join("queue/io_poll"), own.join("../queue/io_poll")];
    match settings.iter().find_map(|it| Some((it, fs::read_to_string(it).ok()?))) {
        Some((_, value)) if value.trim() == "1" => Ok(()),
        Some((file, value)) => Err(format!("{} is {}", file.display(), value.trim())),
        None => Err(format!("{} does not exist", settings[0].display())),
    }
}

/// Returns the device itself, or that of the file system that contains or will contain the file.
fn device_of(target: &Path) -> Option<u64> {
    let found = fs::metadata(target).or_else(|_| {
        let folder = target.parent().filter(|it| !it.as_os_str().is_empty());
        fs::metadata(folder.unwrap_or(Path::new(".")))
    });
    let found = found.ok()?;
    Some(if found.file_type().is_block_device() { found.rdev() } else { found.dev() })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn partition_uses_the_setting_of_its_disk() {
        let sys = std::env::temp_dir().join(format!("assay-polling-{}", std::process::id()));
        let disk = sys.join("block/nvme0n1");
        for folder in [&disk.join("queue"), &disk.join("nvme0n1p1"), &sys.join("dev/block")] {
            fs::create_dir_all(folder).unwrap();
        }
        symlink(&disk, sys.join("dev/block/259:0")).unwrap();
        symlink(disk.join("nvme0n1p1"), sys.join("dev/block/259:1")).unwrap();
        let [disk_itself, partition, none] = [0, 1, 2].map(|minor| libc::makedev(259, minor));
        for polls in ["0", "1"] {
            fs::write(disk.join("queue/io_poll"), format!("{polls}\n")).unwrap();
            for device in [disk_itself, partition] {
                match check_device(&sys, device) {
                    Ok(()) => assert_eq!(polls, "1"),
                    Err(said) => {
                        let (place, value) = said.split_once(" is ").unwrap();
                        assert_eq!((value, polls), ("0", "0"));
                        assert!(Path::new(place).exists(), "{place}");
                    }
                }
            }
        }
        assert!(check_device(&sys, none).unwrap_err().ends_with(" does not exist"));
        fs::remove_dir_all(&sys).unwrap();
    }
}
