//! Capacity of file systems, files and devices.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use assay_model::facts::FileSystemCapacity;

/// Returns the capacity of the file system of `path`, or of its parent folder if `path` does not
/// exist. `None` if the system reports none.
pub fn file_system_capacity(path: &Path) -> Option<FileSystemCapacity> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let reported = rustix::fs::statvfs(path).or_else(|_| rustix::fs::statvfs(folder)).ok()?;
    Some(FileSystemCapacity {
        bytes: reported.f_blocks.saturating_mul(reported.f_frsize),
        free_bytes: reported.f_bfree.saturating_mul(reported.f_frsize),
        files: reported.f_files,
        free_files: reported.f_ffree,
    })
}

/// Returns the size of a regular file or block device in bytes; `None` for other kinds. Opens only
/// devices.
///
/// # Errors
/// If the path does not exist or a device cannot be opened.
pub fn size(path: &Path) -> io::Result<Option<u64>> {
    let found = fs::metadata(path)?;
    if found.file_type().is_block_device() {
        return File::open(path)?.seek(SeekFrom::End(0)).map(Some);
    }
    Ok(found.is_file().then_some(found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_file_system_has_a_size() {
        let root = file_system_capacity(Path::new("/")).unwrap();
        assert!(root.bytes > 0 && root.free_bytes <= root.bytes);
        let later = file_system_capacity(Path::new("/a file that is not there yet")).unwrap();
        assert_eq!(later.bytes, root.bytes);
    }

    #[test]
    fn only_files_and_block_devices_have_a_size() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "12345").unwrap();
        assert_eq!(size(file.path()).unwrap(), Some(5));
        assert_eq!(size(Path::new("/")).unwrap(), None);
        assert_eq!(size(Path::new("/dev/null")).unwrap(), None);
        assert!(size(&file.path().join("below a file")).is_err());
        assert!(file_system_capacity(Path::new("/no folder/no file")).is_none());
    }
}
