//! Targets of one workload that are the same file, or share a device: each would get the I/O of both.
//!
//! Looks at what exists and opens nothing.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use assay_fleet::block_device;
use assay_fleet::mounts::DeviceNumber;
use assay_fleet::root::Root;
use assay_model::workload::storage::{EngineChoice, StorageWorkload};

use super::safety;
use crate::failure::Failure;

/// What a path leads to, whatever it is called.
#[derive(PartialEq, Eq)]
enum Identity {
    File { device: u64, inode: u64 },
    Device(DeviceNumber),
    Missing(PathBuf),
}

impl Identity {
    fn of(path: &Path) -> Result<Self, Failure> {
        let Ok(found) = path.metadata() else {
            return safety::resolved(path).map(Self::Missing);
        };
        Ok(match found.file_type().is_block_device() {
            true => Self::Device(block_device::number(found.rdev())),
            false => Self::File { device: found.dev(), inode: found.ino() },
        })
    }
}

/// Refuses a target that another one is, or that is a partition of another one.
pub(crate) fn check(workload: &StorageWorkload) -> Result<(), Failure> {
    if workload.engine == EngineChoice::Null {
        return Ok(());
    }
    let root = Root::machine();
    let mut known: Vec<(Identity, &Path)> = Vec::new();
    for path in workload.targets.iter().map(|target| target.path.as_path()) {
        let new = Identity::of(path)?;
        for (identity, other) in &known {
            let (one, other) = (other.display(), path.display());
            match (identity, &new) {
                (before, new) if before == new && one.to_string() == other.to_string() => {
                    return Err(twice(format!("the target {one} is named twice")));
                }
                (before, new) if before == new => {
                    return Err(twice(format!("the targets {one} and {other} are the same")));
                }
                (Identity::Device(before), Identity::Device(new))
                    if block_device::overlap(&root, *before, *new) =>
                {
                    return Err(twice(format!("the targets {one} and {other} overlap"))
                        .explain(
                            "they are a disk and its partition, or hold the same sectors",
                        ));
                }
                _ => {}
            }
        }
        known.push((new, path));
    }
    Ok(())
}

fn twice(what: String) -> Failure {
    Failure::usage(what)
        .explain("it would get twice the I/O that is asked for, and count as two")
        .advise("name each file and each device once")
}
