//! Mounted file systems and their free space, from the kernel's mount table.

use std::io;
use std::path::{Path, PathBuf};

use crate::root::Root;

/// Device number: major and minor.
pub type DeviceNumber = (u32, u32);

/// Row of the mount table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Device number; major 0 means no block device.
    pub device: DeviceNumber,
    /// Mount point.
    pub point: PathBuf,
    /// `ext4`, `nfs4` …
    pub kind: String,
    /// `/dev/vda1`, `server:/volume` …
    pub source: String,
    /// Options of the mount point and of the file system, joined by commas.
    pub options: String,
}

/// Reads all mounts in mount order; empty if the table is not visible.
pub fn read(root: &Root) -> Vec<Mount> {
    let table = root.text("proc/self/mountinfo").unwrap_or_default();
    table.lines().filter_map(parse).collect()
}

/// Returns the mount that contains `path` (absolute, without links).
pub fn find_mount<'m>(mounts: &'m [Mount], path: &Path) -> Option<&'m Mount> {
    let below = mounts.iter().enumerate().filter(|(_, mount)| path.starts_with(&mount.point));
    // The last of several mounts at the same point hides the others.
    below
        .max_by_key(|(index, mount)| (mount.point.components().count(), *index))
        .map(|(_, mount)| mount)
}

/// Folders with mount points by convention (Filesystem Hierarchy Standard 3.0, 3.11, 3.12 and 3.17;
/// the last one by custom).
const CUSTOMARY_FOLDERS: [&str; 4] = ["/mnt", "/media", "/srv", "/data"];

/// Returns the configured mount points, mounted or not: those of `/etc/fstab` and of systemd's
/// mount units.
pub fn configured_points(root: &Root) -> Vec<PathBuf> {
    let table = root.text("etc/fstab").unwrap_or_default();
    let rows = table.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
    let of_table = rows.filter_map(|line| line.split_whitespace().nth(1)).map(unescape);
    let units = root.names(UNIT_FOLDER).into_iter().filter(|name| name.ends_with(".mount"));
    let of_units = units.filter_map(|name| {
        let unit = root.text(&format!("{UNIT_FOLDER}/{name}"))?;
        let point = unit.lines().find_map(|line| line.trim().strip_prefix("Where="))?;
        Some(point.trim().to_owned())
    });
    let points = of_table.chain(of_units).map(PathBuf::from);
    points.filter(|point| point.is_absolute() && point.parent().is_some()).collect()
}

/// Folder of mount units written for this machine; distributions ship theirs elsewhere.
const UNIT_FOLDER: &str = "etc/systemd/system";

/// Returns the mount point without its volume that `path` (absolute, without links) is below. Such
/// a path is on the root file system below a customary folder, or below a configured point that is
/// not mounted.
pub fn missing_mount_point(
    mounts: &[Mount],
    configured: &[PathBuf],
    path: &Path,
) -> Option<PathBuf> {
    let on = find_mount(mounts, path)?;
    let points = configured.iter().filter(|point| path.starts_with(point));
    if let Some(point) = points.max_by_key(|point| point.components().count()) {
        return (!on.point.starts_with(point)).then(|| point.clone());
    }
    let root = find_mount(mounts, Path::new("/"))?;
    let customary = CUSTOMARY_FOLDERS.iter().map(Path::new).find(|it| path.starts_with(it))?;
    let below = path.strip_prefix(customary).ok()?.components();
    let mut point = customary.to_path_buf();
    match below.clone().count() {
        0 => return None,
        // A file directly in `/mnt`.
        1 => {}
        _ => point.extend(below.take(1)),
    }
    (on.device == root.device).then_some(point)
}

/// Returns the bytes available to unprivileged users on the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let reported = rustix::fs::statvfs(path)?;
    Ok(reported.f_bavail.saturating_mul(reported.f_frsize))
}

/// Parses `27 1 254:0 / / rw,relatime - ext4 /dev/vda rw`; the number of fields before the dash
/// varies.
fn parse(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let before: Vec<&str> = before.split(' ').collect();
    let (major, minor) = before.get(2)?.split_once(':')?;
    let mut after = after.split(' ');
    let kind = after.next()?.to_owned();
    let source = unescape(after.next()?);
    let options = [before.get(5).copied(), after.next()].into_iter().flatten();
    Some(Mount {
        device: (major.parse().ok()?, minor.parse().ok()?),
        point: PathBuf::from(unescape(before.get(4)?)),
        kind,
        source,
        options: options.collect::<Vec<_>>().join(","),
    })
}

/// Decodes the kernel's octal escapes of blank, tab, line feed and backslash.
pub(crate) fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::write_file;

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
    fn parses_complete_rows() {
        let mounts = mounts();
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[2].point, PathBuf::from("/mnt/vol 1"));
        assert_eq!(mounts[2].options, "rw,relatime,rw,vers=4.1,nconnect=8");
        assert_eq!((mounts[3].device, mounts[3].source.as_str()), ((8, 1), "/dev/sda1"));
    }

    #[test]
    fn finds_missing_mount_points() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| write_file(folder.path(), path, text);
        write(
            "etc/fstab",
            "# a comment /nowhere\nUUID=1 / ext4 rw 0 1\nUUID=2 none swap sw 0 0\n\
             UUID=3 /scratch\\0401 xfs noauto 0 0\n  LABEL=x /srv/sub btrfs subvol=a\nbroken\n",
        );
        write("etc/systemd/system/backup.mount", "[Mount]\nWhat=/dev/sdz\nWhere=/backup\n");
        write("etc/systemd/system/masked.mount", "");
        let configured = configured_points(&Root::from_directory(folder.path()));
        let mount = |device, point: &str| Mount {
            device,
            point: PathBuf::from(point),
            kind: "ext4".into(),
            source: "/dev/x".into(),
            options: String::new(),
        };
        let mounts = [
            mount((8, 1), "/"),
            mount((8, 2), "/mnt/a"),
            mount((8, 2), "/mnt/b/deep"),
            // Bind mount of a folder of the root file system.
            mount((8, 1), "/media/bound"),
            // Subvolume of the root file system, listed in fstab.
            mount((8, 1), "/srv/sub"),
        ];
        for (path, expected) in [
            ("/mnt/a/file", None),
            ("/mnt/b/deep/file", None),
            ("/mnt/b/file", Some("/mnt/b")),
            ("/mnt/c/d/file", Some("/mnt/c")),
            ("/mnt/file", Some("/mnt")),
            ("/media/bound/file", Some("/media/bound")),
            ("/srv/x/file", Some("/srv/x")),
            ("/srv/sub/file", None),
            ("/data/file", Some("/data")),
            ("/database/file", None),
            ("/scratch 1/file", Some("/scratch 1")),
            ("/backup/a/file", Some("/backup")),
            ("/home/x/file", None),
        ] {
            let found = missing_mount_point(&mounts, &configured, Path::new(path));
            assert_eq!(found.as_deref(), expected.map(Path::new), "{path}");
        }
    }

    #[test]
    fn path_is_on_deepest_and_latest_mount() {
        for (path, expected) in [
            ("/home/x", "/dev/vda"),
            ("/mnt/vol 1/f", "/dev/sda1"),
            ("/mnt/vol 12", "/dev/vda"),
        ] {
            let mounts = mounts();
            let found = find_mount(&mounts, Path::new(path)).map(|mount| mount.source.as_str());
            assert_eq!(found, Some(expected), "{path}");
        }
    }
}
