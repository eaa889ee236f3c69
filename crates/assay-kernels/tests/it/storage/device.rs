//! Devices and file systems that tests create and remove.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Folder;
use super::failures::succeeds;

/// File system in memory of a given size.
pub(crate) struct Tmpfs(Folder);

impl Tmpfs {
    /// Mounts it; prints the reason and returns `None` if that is not possible.
    pub(crate) fn mount(test: &str, bytes: u64) -> Option<Self> {
        let folder = Folder::new();
        let path = folder.0.display().to_string();
        let size = format!("size={bytes}");
        if !succeeds("mount", &["-t", "tmpfs", "-o", &size, "assay-test", &path]) {
            eprintln!("SKIPPED {test}: a file system cannot be mounted here");
            return None;
        }
        Some(Self(folder))
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.file(name)
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        // Files that are still open keep it busy; lazily, it goes with the last of them.
        succeeds("umount", &["--lazy", &self.0.0.display().to_string()]);
    }
}

/// Loop device backed by a file.
pub(crate) struct AttachedLoop(pub(crate) PathBuf);

impl AttachedLoop {
    /// Attaches it; prints the reason and returns `None` if that is not possible.
    pub(crate) fn attach(test: &str, file: &Path) -> Option<Self> {
        let output = Command::new("losetup").args(["--find", "--show"]).arg(file).output();
        match output {
            Ok(output) if output.status.success() => {
                let name = String::from_utf8_lossy(&output.stdout);
                Some(Self(PathBuf::from(name.trim())))
            }
            _ => {
                eprintln!("SKIPPED {test}: no loop device can be made here");
                None
            }
        }
    }
}

impl Drop for AttachedLoop {
    fn drop(&mut self) {
        succeeds("losetup", &["--detach", &self.0.display().to_string()]);
    }
}

/// Block device in memory, fast enough to be limited only by a throttle.
pub(crate) struct RamDisk {
    id: u32,
    pub(crate) path: PathBuf,
}

impl RamDisk {
    /// Creates it; prints the reason and returns `None` if that is not possible.
    pub(crate) fn new(test: &str, size: &str) -> Option<Self> {
        let made = fs::read_to_string("/sys/class/zram-control/hot_add")
            .ok()
            .and_then(|id| id.trim().parse::<u32>().ok())
            .map(|id| Self { id, path: PathBuf::from(format!("/dev/zram{id}")) })
            .filter(|disk| fs::write(disk.sys("disksize"), size).is_ok());
        if made.is_none() {
            eprintln!("SKIPPED {test}: this kernel or user cannot create a RAM disk (zram)");
        }
        made
    }

    fn sys(&self, name: &str) -> String {
        format!("/sys/block/zram{}/{name}", self.id)
    }

    /// Returns its number in the form of cgroups: `252:1`.
    pub(crate) fn number(&self) -> String {
        fs::read_to_string(self.sys("dev")).unwrap().trim().to_owned()
    }
}

impl Drop for RamDisk {
    fn drop(&mut self) {
        let _ = fs::write(self.sys("reset"), "1");
        let _ = fs::write("/sys/class/zram-control/hot_remove", self.id.to_string());
    }
}
