//! Writes a result to a file named by the user. A regular file is written completely or not at all.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use assay_run::failure::{CommandFailure, FailureKind};
use rustix::fs::XattrFlags;
use rustix::io::Errno;

/// Attribute with the access control list of a file (`acl(5)`).
const ACL_ATTRIBUTE: &str = "system.posix_acl_access";
/// Maximum size of an extended attribute (`XATTR_SIZE_MAX`, `linux/limits.h`).
const MAX_ATTRIBUTE_BYTES: usize = 65_536;
/// Maximum number of links that the kernel follows in a path (`path_resolution(7)`).
const MAX_LINKS: usize = 40;

/// Writes `contents` to `path`. A regular file is created or replaced atomically. A device, pipe or
/// terminal (`/dev/null`) is written to instead: replacing it would remove it for all users. So is
/// an open file of a process (`/dev/stdout`), whatever it is.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), CommandFailure> {
    let contents = contents.as_ref();
    let result = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(_) if is_stream(path) => write_into(path, contents),
        // A symbolic link stays; its target is replaced.
        Ok(_) => path.canonicalize().and_then(|target| replace(&target, contents)),
        Err(_) => replace(path, contents),
    };
    result.map_err(|error| CommandFailure::from_write_error(path, &error))
}

/// Checks before a measurement that a path can be written. Changes no file.
pub fn check_writable(path: &Path) -> Result<(), CommandFailure> {
    let folder = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(_) if is_stream(path) => return Ok(()),
        Ok(_) => path.canonicalize(),
        Err(_) => Ok(path.to_owned()),
    };
    let attempt =
        folder.and_then(|path| tempfile::Builder::new().tempfile_in(parent_folder(&path)));
    attempt.map(drop).map_err(|error| {
        let mut failure = CommandFailure::from_write_error(path, &error);
        failure.kind = FailureKind::Usage;
        failure
    })
}

/// Whether the path names a device, a pipe or an open file of a process. Nothing else belongs next
/// to it.
pub fn is_stream(path: &Path) -> bool {
    let is_other = path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    is_other || process_file(path).is_some()
}

/// Returns the path in `/proc` of an open file that `path` leads to: `/proc/7/fd/1` for
/// `/dev/stdout`.
fn process_file(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let folder = parent_folder(&path).canonicalize().ok()?;
        let at = folder.join(path.file_name()?);
        if folder.starts_with("/proc") {
            return Some(at);
        }
        path = folder.join(at.read_link().ok()?);
    }
    None
}

fn write_into(path: &Path, contents: &[u8]) -> io::Result<()> {
    let stdout = Path::new("/proc").join(std::process::id().to_string()).join("fd/1");
    let mut file = if process_file(path).is_some_and(|it| it == stdout) {
        // Opened anew, a file would be written from its start.
        File::from(io::stdout().as_fd().try_clone_to_owned()?)
    } else {
        let is_file = path.metadata()?.is_file();
        OpenOptions::new().write(true).append(is_file).open(path)?
    };
    file.write_all(contents)
}

fn parent_folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    // Readable as the user's umask allows, like a file created by a shell redirection.
    let mode = Permissions::from_mode(0o666);
    let mut file =
        tempfile::Builder::new().permissions(mode).tempfile_in(parent_folder(path))?;
    file.write_all(contents)?;
    if let Ok(replaced) = path.metadata() {
        keep_permissions(file.as_file(), &replaced, read_acl(path)?.as_deref())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Gives a file the owner, group, mode and access control list of the one that it replaces. A group
/// that cannot be kept loses its rights, so that nobody gains any.
fn keep_permissions(file: &File, replaced: &Metadata, acl: Option<&[u8]>) -> io::Result<()> {
    let (owner, group) = (replaced.uid(), replaced.gid());
    let is_kept = fchown(file, Some(owner), Some(group)).is_ok()
        || fchown(file, None, Some(group)).is_ok();
    let mode = replaced.mode() & 0o7777;
    let without_group = mode & !0o070;
    // With a list, the group's bits in the mode are the mask of the list.
    let is_plain = is_kept && acl.is_none();
    let mode_at_first = if is_plain { mode } else { without_group };
    file.set_permissions(Permissions::from_mode(mode_at_first))?;
    if let (true, Some(acl)) = (is_kept, acl) {
        rustix::fs::fsetxattr(file, ACL_ATTRIBUTE, acl, XattrFlags::empty())?;
    }
    Ok(())
}

/// Returns the access control list of a file, if it has one.
fn read_acl(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; MAX_ATTRIBUTE_BYTES];
    match rustix::fs::getxattr(path, ACL_ATTRIBUTE, &mut bytes) {
        Ok(length) => {
            bytes.truncate(length);
            Ok(Some(bytes))
        }
        Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{FileTypeExt as _, symlink};

    use super::*;

    #[test]
    fn replaces_file_with_umask_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let (path, reference) = (folder.path().join("page"), folder.path().join("usual"));
        fs::write(&reference, "").unwrap();
        for text in ["first", "second"] {
            write(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&reference));
    }

    #[test]
    fn replaced_file_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        for mode in [0o600, 0o640, 0o664, 0o444] {
            let path = folder.path().join(format!("{mode:o}"));
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            write(&path, "new").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "new");
            assert_eq!(path.metadata().unwrap().mode() & 0o7777, mode);
        }
    }

    #[test]
    fn replaced_file_keeps_its_access_control_list() {
        // Owner rw, user 12345 r, group none, mask r, others none (`linux/posix_acl_xattr.h`).
        let entries: [(u16, u16, u32); 5] = [
            (0x01, 6, u32::MAX),
            (0x02, 4, 12345),
            (0x04, 0, u32::MAX),
            (0x10, 4, u32::MAX),
            (0x20, 0, u32::MAX),
        ];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, rights, id) in entries {
            list.extend(tag.to_le_bytes());
            list.extend(rights.to_le_bytes());
            list.extend(id.to_le_bytes());
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("listed");
        fs::write(&path, "old").unwrap();
        if rustix::fs::setxattr(&path, ACL_ATTRIBUTE, &list, XattrFlags::empty()).is_err() {
            let test = "replaced_file_keeps_its_access_control_list";
            eprintln!("SKIPPED {test}: the file system has no access control lists");
            return;
        }
        write(&path, "new").unwrap();
        assert_eq!(read_acl(&path).unwrap(), Some(list));
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o640);
    }

    #[test]
    fn open_files_and_devices_are_streams() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page");
        fs::write(&path, "before\n").unwrap();
        let file = OpenOptions::new().append(true).open(&path).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&file);
        let link = folder.path().join("link");
        symlink(format!("/proc/self/fd/{number}"), &link).unwrap();
        let opened = [PathBuf::from(format!("/dev/fd/{number}")), link];
        for stream in &opened {
            assert!(is_stream(stream));
            check_writable(stream).unwrap();
            write(stream, "after\n").unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "before\nafter\nafter\n");
        assert!(is_stream(Path::new("/dev/null")));
        assert!(!is_stream(&path) && !is_stream(&folder.path().join("absent")));
    }

    #[test]
    fn errors_hide_the_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        for (path, reason, advice) in [
            (folder.path().join("no/page"), "No such file or directory", "folder that exists"),
            (folder.path().to_owned(), "is a directory", "in that folder"),
        ] {
            for failure in [write(&path, ""), check_writable(&path)].map(Result::unwrap_err) {
                let message = failure.reason();
                assert!(message.contains(reason) && !message.contains("at path"), "{message}");
                assert!(failure.advice().contains(advice), "{}", failure.advice());
            }
        }
    }

    #[test]
    fn check_changes_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (existing, absent) = (folder.path().join("there"), folder.path().join("absent"));
        fs::write(&existing, "old").unwrap();
        for path in [&existing, &absent, Path::new("/dev/null")] {
            check_writable(path).unwrap();
        }
        assert_eq!(fs::read_to_string(&existing).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn keeps_symbolic_links() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "old").unwrap();
        symlink(&target, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    }

    #[test]
    fn writes_into_pipes() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let status = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(status.success());
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read_to_string(pipe).unwrap())
        };
        write(&pipe, "text").unwrap();
        assert_eq!(reader.join().unwrap(), "text");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }
}
