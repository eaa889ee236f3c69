//! Identification of mounts by the kernel's mount identifiers. Bind mounts of one file system share
//! its device number.
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
/// The system's error; also if neither `statx` (since Linux 5.8) nor `/proc` reports the mount.
pub fn mount_id(opened: impl AsFd) -> io::Result<u64> {
    match statx_mount_id(&opened, "", AtFlags::EMPTY_PATH) {
        Some(id) => Ok(id),
        None => proc_mount_id(opened),
    }
}

/// Returns the identifier of the mount that an entry of a folder is on; for a mount point, of the
/// mounted file system.
///
/// # Errors
/// As [`id_of`].
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
    // The mount is known without a request to a server.
    let flags = flags | AtFlags::STATX_DONT_SYNC;
    let found = statx(folder, name.as_ref(), flags, StatxFlags::MNT_ID).ok()?;
    let is_known = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    is_known.then_some(found.stx_mnt_id)
}

/// Reads the line `mnt_id:` of a descriptor (`proc_pid_fdinfo(5)`), for Linux before 5.8.
fn proc_mount_id(opened: impl AsFd) -> io::Result<u64> {
    let number = opened.as_fd().as_raw_fd();
    let text = fs::read_to_string(format!("/proc/thread-self/fdinfo/{number}"))?;
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
