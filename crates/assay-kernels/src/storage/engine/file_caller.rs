//! Calls on the names of files: creation, queries, deletion.
//!
//! A file is deleted only if its name still leads to the file that was checked before the phase. The
//! identity of a file that a call has created is kept for its record.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use assay_model::poisoned_lock::PoisonedLock as _;
use assay_model::workload::storage::FileCall;

/// Identity of a file. File systems give the inode of a deleted file to the next one, so its birth is a
/// part of it, or its last change where the file system has no times of birth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
    born: Result<SystemTime, (i64, i64)>,
}

impl FileIdentity {
    /// Returns the identity of the file with this metadata.
    pub(crate) fn of(found: &std::fs::Metadata) -> Self {
        let born = found.created().ok().filter(|born| *born > UNIX_EPOCH);
        let born = born.ok_or_else(|| (found.ctime(), found.ctime_nsec()));
        Self { device: found.dev(), inode: found.ino(), born }
    }
}

/// Call on one file.
#[derive(Debug)]
pub(crate) struct FileCaller {
    path: CString,
    call: FileCall,
    /// File that may be deleted.
    known: Option<FileIdentity>,
    /// File that a call has created; the latest, if it was deleted and created again.
    created: Mutex<Option<FileIdentity>>,
}

/// File that a call has opened.
#[derive(Debug)]
pub(super) struct OpenedFile {
    file: OwnedFd,
    /// Whether the call has created it.
    is_new: bool,
}

/// Result of a call: the file that was opened, or the negative error.
pub(super) type CallResult = Result<Option<OpenedFile>, i32>;

impl FileCaller {
    /// Creates the call on the file at `path`. One that deletes it deletes only the `known` file.
    pub(crate) fn new(
        path: &Path,
        call: FileCall,
        known: Option<FileIdentity>,
    ) -> io::Result<Self> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        Ok(Self { path, call, known, created: Mutex::default() })
    }

    /// Returns the identity of the file that a call has created.
    pub(crate) fn created(&self) -> Option<FileIdentity> {
        *self.created.lock().even_if_poisoned()
    }

    /// Keeps the identity of a file that a call has created, and closes it; not part of the call.
    pub(super) fn close(&self, opened: OpenedFile) {
        let found = File::from(opened.file).metadata();
        if let (true, Ok(found)) = (opened.is_new, found) {
            *self.created.lock().even_if_poisoned() = Some(FileIdentity::of(&found));
        }
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

    /// Creates the file, or opens the one that exists, which stays unchanged. A file that someone else
    /// has just created does not count as created.
    fn create(&self) -> CallResult {
        const NEW: libc::c_int = libc::O_CREAT | libc::O_EXCL;
        let is_expected = self.known.is_some() || self.created().is_some();
        let (first, second, missed) = match is_expected {
            true => (0, NEW, libc::ENOENT),
            false => (NEW, 0, libc::EEXIST),
        };
        let opened = match self.open(first) {
            Err(error) if error == -missed => self.open(second),
            opened => opened,
        };
        opened.map(Some)
    }

    fn open(&self, creation: libc::c_int) -> Result<OpenedFile, i32> {
        let flags = creation | libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: the path is terminated, and the mode is that of a new file.
        let file = unsafe { libc::open(self.path.as_ptr(), flags, 0o600) };
        if file < 0 {
            return Err(negative(&io::Error::last_os_error()));
        }
        // SAFETY: a descriptor that was just opened, and that nothing else owns.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        Ok(OpenedFile { file, is_new: creation != 0 })
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
        assert!(create.check().is_ok() && create.created().is_none());
        create.close(create.make().unwrap().unwrap());
        let identity = || FileIdentity::of(&path.symlink_metadata().unwrap());
        assert_eq!(create.created(), Some(identity()));
        // An existing file keeps its contents, and does not count as created.
        std::fs::write(&path, "precious").unwrap();
        let second = FileCaller::new(&path, FileCall::Create, None).unwrap();
        for create in [&create, &second] {
            create.close(create.make().unwrap().unwrap());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        }
        assert_eq!(second.created(), None);
        // One that replaces it may have its inode.
        let before = identity();
        std::fs::remove_file(&path).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::write(&path, "precious").unwrap();
        assert_ne!(identity(), before);
        let delete = FileCaller::new(&path, FileCall::Delete, Some(before)).unwrap();
        assert_eq!(delete.check(), Err(-libc::ESTALE));
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
