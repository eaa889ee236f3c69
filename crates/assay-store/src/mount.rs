//! Identification of mounts by the kernel's mount identifiers. Device numbers do not suffice: bind
//! mounts of one file system share them.
//!
//! Never follows a link, and never triggers an automount.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, openat, statx};

/// Returns the identifier of the mount that an opened file or folder is on.
///
/// # Errors
/// The system's error, or that neither `statx` (since Linux 5.8) nor `/proc` reports the mount.
pub fn mount_id(opened: impl AsFd) -> io::Result<u64> {
    match statx_mount_id(&opened, "", AtFlags::EMPTY_PATH) {
        Some(id) => Ok(id),
        None => proc_mount_id(opened),
    }
}

/// Returns the identifier of the mount that an entry of a folder is on. For a mount point, this is
/// the mount on top of it.
///
/// # Errors
/// As [`mount_id`].
pub fn entry_mount_id(folder: impl AsFd, name: impl AsRef<Path>) -> io::Result<u64> {
    let name = name.as_ref();
    match statx_mount_id(&folder, name, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT) {
        Some(id) => Ok(id),
        None => {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            proc_mount_id(openat(folder, name, flags, Mode::empty())?)
        }
    }
}

fn statx_mount_id(folder: impl AsFd, name: impl AsRef<Path>, flags: AtFlags) -> Option<u64> {
    // The mount identifier needs no request to a file server.
    let flags = flags | AtFlags::STATX_DONT_SYNC;
    let status = statx(folder, name.as_ref(), flags, StatxFlags::MNT_ID).ok()?;
    let is_known = status.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    is_known.then_some(status.stx_mnt_id)
}

/// Reads the line `mnt_id:` of a descriptor (`proc_pid_fdinfo(5)`), for Linux before 5.8.
fn proc_mount_id(opened: impl AsFd) -> io::Result<u64> {
    let fd = opened.as_fd().as_raw_fd();
    let text = fs::read_to_string(format!("/proc/thread-self/fdinfo/{fd}"))?;
    let id = text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    id.ok_or_else(|| io::Error::other("the kernel does not report the mount of a file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statx_and_proc_agree() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let opened = fs::File::open(folder.path()).unwrap();
        let id = mount_id(&opened).unwrap();
        assert_eq!(proc_mount_id(&opened).unwrap(), id);
        assert_eq!(entry_mount_id(&opened, "file").unwrap(), id);
        assert_ne!(mount_id(fs::File::open("/proc").unwrap()).unwrap(), id);
        assert!(entry_mount_id(&opened, "missing").is_err());
    }
}
