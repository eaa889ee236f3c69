//! RAM disk (zram) that is created for a comparison and removed after it.
//!
//! Existing devices are never touched.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::command;

use super::super::workplace::BenchWorkplace;
use super::SIZE;

/// zram device.
#[derive(Debug)]
pub(super) struct RamDisk {
    id: u32,
    /// Device node.
    pub(super) path: PathBuf,
}

impl RamDisk {
    /// Creates the device and fills it: reads of blocks that were never written cost nothing.
    pub(super) fn new(workplace: &BenchWorkplace) -> Result<Self> {
        let id = fs::read_to_string("/sys/class/zram-control/hot_add")
            .context("no RAM disk: this kernel has no zram, or the user is not root")?;
        let id: u32 = id.trim().parse().context("zram returned no device number")?;
        let disk = Self { id, path: PathBuf::from(format!("/dev/zram{id}")) };
        fs::write(disk.sys("disksize"), SIZE).context("cannot set the size of the RAM disk")?;
        fill(workplace, &disk.path)?;
        Ok(disk)
    }

    fn sys(&self, name: &str) -> String {
        format!("/sys/block/zram{}/{name}", self.id)
    }
}

impl Drop for RamDisk {
    fn drop(&mut self) {
        // udev and others may hold the device open for a moment. A device that cannot be removed
        // stays.
        for _ in 0..20 {
            if fs::write(self.sys("reset"), "1").is_ok()
                && fs::write("/sys/class/zram-control/hot_remove", self.id.to_string()).is_ok()
            {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Fills a file or a device with random data.
pub(super) fn fill(workplace: &BenchWorkplace, path: &Path) -> Result<()> {
    let mut dd = workplace.command("dd");
    dd.args(["if=/dev/urandom", "bs=1M", "count=512", "conv=fsync", "status=none"]);
    command::run(dd.arg(format!("of={}", path.display())))
}
