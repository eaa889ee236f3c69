//! Calls on the names of files: creation, queries, deletion.
//!
//! A file is deleted only if its name still leads to the file that was checked before the phase.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use assay_model::workload::storage::FileCall;

/// Device and inode of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// Returns the identity of the file with this metadata.
    pub(crate) fn of(found: &std::fs::Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino() }
    }
}

/// Call on one file.
#[derive(Debug)]
pub(crate) struct FileCaller {
    path: CString,
    call: FileCall,
    /// File that may be deleted.
    known: Option<FileIdentity>,
}

/// Result of a call: the descriptor of a file that was opened, or the negative error.
pub(super) type CallResult = Result<Option<OwnedFd>, i32>;

impl FileCaller {
    /// Creates the call on the file at `path`. One that deletes it deletes only the `known` file.
    pub(crate) fn new(
        path: &Path,
        call: FileCall,
        known: Option<FileIdentity>,
    ) -> io::Result<Self> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        Ok(Self { path, call, known })
    }

    /// Checks before a deletion that the name still leads to the known file; not part of the call.
    pub(super) fn check(&self) -> Result<(), i32> {
        if self.call != FileCall::Delete {
            return Ok(());
        }
        let path = Path::new(std::ffi::OsStr::from_bytes(self.path.as_bytes()));
        let found = path.symlink_metadata().map_err(|error| negative(&error))?;
        match Some(FileIdentity::of(&found)) == self.known {
            true => Ok(()),
            false => Err(-libc::ESTALE),
        }
    }

    /// Makes the call.
    pub(super) fn make(&self) -> CallResult {
        let mut found = MaybeUninit::<libc::stat>::uninit();
        let result = match self.call {
            FileCall::Create => return self.create(),
            // SAFETY: the path is terminated, and the result has room for the attributes.
            FileCall::Inspect => unsafe { libc::stat(self.path.as_ptr(), found.as_mut_ptr()) },
            // SAFETY: as above.
            FileCall::InspectLink => unsafe {
                libc::lstat(self.path.as_ptr(), found.as_mut_ptr())
            },
            FileCall::InspectExtended => self.inspect_extended(),
            // SAFETY: the path is terminated.
            FileCall::Delete => unsafe { libc::unlink(self.path.as_ptr()) },
        };
        if result == 0 { Ok(None) } else { Err(negative(&io::Error::last_os_error())) }
    }

    fn create(&self) -> CallResult {
        let flags = libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: the path is terminated, and the mode is that of a new file.
        let file = unsafe { libc::open(self.path.as_ptr(), flags, 0o600) };
        if file < 0 {
            return Err(negative(&io::Error::last_os_error()));
        }
        // SAFETY: a descriptor that was just opened, and that nothing else owns.
        Ok(Some(unsafe { OwnedFd::from_raw_fd(file) }))
    }

    fn inspect_extended(&self) -> libc::c_int {
        let mut found = MaybeUninit::<libc::statx>::uninit();
        // SAFETY: the path is terminated; without a buffer the result is newly allocated.
        let resolved = unsafe { libc::realpath(self.path.as_ptr(), std::ptr::null_mut()) };
        if resolved.is_null() {
            return -1;
        }
        let (at, mask) = (libc::AT_FDCWD, libc::STATX_ALL);
        // SAFETY: `resolved` is a terminated, absolute path, and `found` has room for the result.
        // Without a wrapper in glibc before 2.28.
        let result = unsafe {
            libc::syscall(libc::SYS_statx, at, resolved, 0, mask, found.as_mut_ptr())
        };
        // SAFETY: allocated by `realpath`, and not used any more.
        unsafe { libc::free(resolved.cast()) };
        // 0 or -1.
        result as libc::c_int
    }
}

fn negative(error: &io::Error) -> i32 {
    -error.raw_os_error().unwrap_or(libc::EIO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deletes_only_the_file_that_was_checked() {
        let folder = std::env::temp_dir().join(format!("assay-caller-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file");
        let create = FileCaller::new(&path, FileCall::Create, None).unwrap();
        assert!(create.check().is_ok() && create.make().unwrap().is_some());
        // An existing file keeps its contents.
        std::fs::write(&path, "precious").unwrap();
        assert!(create.make().unwrap().is_some());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        for call in [FileCall::Inspect, FileCall::InspectLink, FileCall::InspectExtended] {
            assert!(FileCaller::new(&path, call, None).unwrap().make().is_ok(), "{call:?}");
        }
        let known = FileIdentity::of(&path.symlink_metadata().unwrap());
        let delete = FileCaller::new(&path, FileCall::Delete, Some(known)).unwrap();
        let other = folder.join("other");
        std::fs::write(&other, "another").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(delete.check(), Err(-libc::ESTALE));
        let unknown = FileCaller::new(&path, FileCall::Delete, None).unwrap();
        assert_eq!(unknown.check(), Err(-libc::ESTALE));
        let known = FileIdentity::of(&path.symlink_metadata().unwrap());
        let delete = FileCaller::new(&path, FileCall::Delete, Some(known)).unwrap();
        assert!(delete.check().is_ok() && delete.make().unwrap().is_none());
        assert_eq!(delete.check(), Err(-libc::ENOENT));
        assert_eq!(delete.make().unwrap_err(), -libc::ENOENT);
        for call in [FileCall::Inspect, FileCall::InspectLink, FileCall::InspectExtended] {
            let error = FileCaller::new(&path, call, None).unwrap().make().unwrap_err();
            assert_eq!(error, -libc::ENOENT, "{call:?}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
