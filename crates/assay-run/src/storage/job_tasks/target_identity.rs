//! Identity of a target across processes and hosts: every rank uses the file that rank 0 checked.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Properties of a file that are the same wherever its file system is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TargetIdentity {
    inode: u64,
    /// Number of the device, which hosts number independently.
    device: u64,
    /// Type of the file system, as `statfs(2)` returns it.
    file_system: i64,
    /// Time of creation in nanoseconds, where the file system has it.
    created_ns: Option<u64>,
}

impl TargetIdentity {
    /// Returns the identity of an open file.
    pub(super) fn read(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        Ok(Self {
            inode: found.ino(),
            device: found.dev(),
            file_system: rustix::fs::fstatfs(file)?.f_type,
            created_ns: created_ns(&found),
        })
    }

    /// Whether both are the same file; on different hosts as far as can be seen there.
    pub(super) fn is_same(&self, other: &Self, is_same_host: bool) -> bool {
        let is_created_together = match (self.created_ns, other.created_ns) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        (self.inode, self.file_system) == (other.inode, other.file_system)
            && is_created_together
            && (!is_same_host || self.device == other.device)
    }
}

fn created_ns(found: &Metadata) -> Option<u64> {
    let created: SystemTime = found.created().ok()?;
    u64::try_from(created.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_file_of_same_inode_is_recognised() {
        let here = TargetIdentity { inode: 7, device: 1, file_system: 3, created_ns: Some(9) };
        for (there, is_same_host, expected) in [
            (here, true, true),
            (TargetIdentity { device: 2, ..here }, true, false),
            (TargetIdentity { device: 2, ..here }, false, true),
            (TargetIdentity { inode: 8, ..here }, false, false),
            (TargetIdentity { file_system: 4, ..here }, false, false),
            (TargetIdentity { created_ns: Some(10), ..here }, false, false),
            (TargetIdentity { created_ns: None, ..here }, false, true),
        ] {
            assert_eq!(here.is_same(&there, is_same_host), expected, "{there:?}");
        }
    }
}
