//! Opens files below a folder without following links: `openat2(2)`, since Linux 5.6.
//!
//! On older kernels, and in containers that hide the call, only a link in the last path component
//! is refused.

use std::ffi::CString;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// `fchmodat2(2)`, since Linux 6.6. The call has the same number on all architectures
/// (`scripts/syscall.tbl`); the crate libc defines it only for x86-64.
const FCHMODAT2: libc::c_long = 452;

/// Folder that is kept open; `None` = it does not exist yet.
#[derive(Debug)]
pub(super) struct Anchor {
    path: PathBuf,
    folder: Option<File>,
    /// Whether the kernel supports `openat2`.
    has_openat2: bool,
}

impl Anchor {
    /// Opens a folder; refuses a link.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW);
        let folder = match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            other => Some(other?),
        };
        let is_strict = folder
            .as_ref()
            .is_some_and(|it| openat2(it.as_raw_fd(), Path::new("."), libc::O_PATH).is_ok());
        Ok(Self { path: path.to_path_buf(), folder, has_openat2: is_strict })
    }

    /// Opens a file below the folder, with flags of `open(2)`; never writes to a mount inside it.
    pub(super) fn open_below(&self, path: &Path, flags: libc::c_int) -> io::Result<File> {
        let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        match (&self.folder, path.strip_prefix(&self.path)) {
            (Some(folder), Ok(below)) if self.has_openat2 => {
                openat2(folder.as_raw_fd(), below, flags)
            }
            _ => openat(libc::AT_FDCWD, path, flags),
        }
    }

    /// Sets the mode of a file below the folder to 0644; never that of a link's target.
    pub(super) fn set_mode(&self, path: &Path) -> io::Result<()> {
        let below = path.strip_prefix(&self.path).unwrap_or(path);
        let folder = self.folder.as_ref().map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd);
        let name = to_c_string(below)?;
        // SAFETY: the path is terminated and outlives the call.
        let result = unsafe {
            libc::syscall(FCHMODAT2, folder, name.as_ptr(), 0o644, libc::AT_SYMLINK_NOFOLLOW)
        };
        if result == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            // Before Linux 6.6.
            Some(libc::ENOSYS | libc::EPERM) => {
                let file = self.open_below(path, libc::O_RDONLY)?;
                file.set_permissions(Permissions::from_mode(0o644))
            }
            _ => Err(error),
        }
    }
}

/// Opens a path below a folder: without links, and except for reading on the same mount.
pub(super) fn openat2(
    folder: libc::c_int,
    below: &Path,
    flags: libc::c_int,
) -> io::Result<File> {
    /// `struct open_how`, `openat2(2)`.
    #[repr(C)]
    struct OpenHow {
        flags: u64,
        mode: u64,
        resolve: u64,
    }
    const NO_SYMLINKS: u64 = 0x04;
    const BENEATH: u64 = 0x08;
    const NO_XDEV: u64 = 0x01;
    let mode = if flags & libc::O_CREAT == 0 { 0 } else { 0o644 };
    let only_reads = flags & (libc::O_ACCMODE | libc::O_PATH) == libc::O_RDONLY;
    let stays = if only_reads { 0 } else { NO_XDEV };
    let how = OpenHow { flags: flags as u64, mode, resolve: NO_SYMLINKS | BENEATH | stays };
    let name = to_c_string(below)?;
    // SAFETY: the path is terminated, `how` is a whole `struct open_how` of the given size, and
    // both outlive the call.
    let opened = unsafe {
        libc::syscall(
            libc::SYS_openat2,
            folder,
            name.as_ptr(),
            &raw const how,
            size_of::<OpenHow>(),
        )
    };
    into_file(opened).map_err(|error| match error.raw_os_error() {
        Some(libc::EXDEV) => other_mount(),
        _ => error,
    })
}

/// Returns the error of a path on another mount.
pub(super) fn other_mount() -> io::Error {
    io::Error::new(
        io::ErrorKind::CrossesDevices,
        "it is on another mount than the tree, and is not written",
    )
}

/// Opens a path below a folder, as `openat(2)` does.
pub(super) fn openat(folder: libc::c_int, path: &Path, flags: libc::c_int) -> io::Result<File> {
    let name = to_c_string(path)?;
    // SAFETY: the path is terminated and outlives the call.
    let opened = unsafe { libc::openat(folder, name.as_ptr(), flags, 0o644) };
    into_file(opened.into())
}

fn into_file(opened: libc::c_long) -> io::Result<File> {
    let descriptor = libc::c_int::try_from(opened).map_err(io::Error::other)?;
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

fn to_c_string(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}
