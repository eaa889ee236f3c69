//! What is mounted where, and how much room is left: read from the kernel's own table.

use std::io;
use std::path::{Path, PathBuf};

use crate::root::Root;

/// Number of a device: major and minor.
pub type DeviceNumber = (u32, u32);

/// One row of the kernel's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The device below it; major 0 stands for none.
    pub device: DeviceNumber,
    /// Where it is mounted.
    pub point: PathBuf,
    /// `ext4`, `nfs4` …
    pub kind: String,
    /// `/dev/vda1`, `server:/volume` …
    pub source: String,
    /// Options of the mount point and of the file system, joined by commas.
    pub options: String,
}

/// Everything that is mounted, in the order in which it was; nothing when the table is not visible.
#[must_use]
pub fn read(root: &Root) -> Vec<Mount> {
    let table = root.text("proc/self/mountinfo").unwrap_or_default();
    table.lines().filter_map(parse).collect()
}

/// The mount that `path` (absolute, without links) lies on.
#[must_use]
pub fn of<'m>(mounts: &'m [Mount], path: &Path) -> Option<&'m Mount> {
    let below = mounts.iter().enumerate().filter(|(_, mount)| path.starts_with(&mount.point));
    // Of several at the same point the last one hides the others.
    below
        .max_by_key(|(index, mount)| (mount.point.components().count(), *index))
        .map(|(_, mount)| mount)
}

/// Bytes that an unprivileged user may still fill on the file system of `path`.
///
/// # Errors
/// The system's error.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let told = rustix::fs::statvfs(path)?;
    Ok(told.f_bavail.saturating_mul(told.f_frsize))
}

/// `27 1 254:0 / / rw,relatime - ext4 /dev/vda rw`; fields before the dash are optional in number.
fn parse(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let before: Vec<&str> = before.split(' ').collect();
    let (major, minor) = before.get(2)?.split_once(':')?;
    let mut after = after.split(' ');
    let kind = after.next()?.to_owned();
    let source = plain(after.next()?);
    let options = [before.get(5).copied(), after.next()].into_iter().flatten();
    Some(Mount {
        device: (major.parse().ok()?, minor.parse().ok()?),
        point: PathBuf::from(plain(before.get(4)?)),
        kind,
        source,
        options: options.collect::<Vec<_>>().join(","),
    })
}

/// The kernel writes blank, tab, line feed and backslash as octal numbers.
fn plain(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
22 27 0:21 / /proc rw,relatime - proc proc rw
50 27 0:44 / /mnt/vol\\0401 rw,relatime shared:1 master:2 - nfs4 server:/v rw,vers=4.1,nconnect=8
51 27 8:1 / /mnt/vol\\0401 rw - ext4 /dev/sda1 rw
broken line
";

    fn mounts() -> Vec<Mount> {
        TABLE.lines().filter_map(parse).collect()
    }

    #[test]
    fn every_whole_row_is_read() {
        let mounts = mounts();
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[2].point, PathBuf::from("/mnt/vol 1"));
        assert_eq!(mounts[2].options, "rw,relatime,rw,vers=4.1,nconnect=8");
        assert_eq!((mounts[3].device, mounts[3].source.as_str()), ((8, 1), "/dev/sda1"));
    }

    #[test]
    fn a_path_lies_on_the_deepest_and_latest_mount() {
        for (path, expected) in [
            ("/home/x", "/dev/vda"),
            ("/mnt/vol 1/f", "/dev/sda1"),
            ("/mnt/vol 12", "/dev/vda"),
        ] {
            let mounts = mounts();
            let found = of(&mounts, Path::new(path)).map(|mount| mount.source.as_str());
            assert_eq!(found, Some(expected), "{path}");
        }
    }
}
