//! Folders below which items are. They stay open: items are in the checked folder even if its path
//! leads elsewhere later.
//!
//! No operation follows a link or changes anything on another mount.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::storage::anchor;

/// Folder that is kept open.
#[derive(Debug)]
pub struct ItemRoot {
    /// First component of the names of its items.
    name: String,
    folder: File,
    device: u64,
    /// Whether the kernel supports `openat2`.
    has_openat2: bool,
}

impl ItemRoot {
    /// Keeps an opened folder for the items whose names begin with `name/`.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(name: String, folder: File) -> io::Result<Self> {
        let device = folder.metadata()?.dev();
        let probe = anchor::openat2(folder.as_raw_fd(), Path::new("."), libc::O_PATH);
        Ok(Self { name, folder, device, has_openat2: probe.is_ok() })
    }

    /// Returns the first component of the names of its items.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the folder.
    pub const fn folder(&self) -> &File {
        &self.folder
    }

    /// Opens a path below the folder, with flags of `open(2)`.
    fn open(&self, below: &Path, flags: libc::c_int) -> io::Result<File> {
        let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        if self.has_openat2 {
            return anchor::openat2(self.folder.as_raw_fd(), below, flags);
        }
        let walk = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let mut folder: Option<File> = None;
        let mut components = below.iter().peekable();
        while let Some(component) = components.next() {
            let is_last = components.peek().is_none();
            let at = folder.as_ref().unwrap_or(&self.folder).as_raw_fd();
            let opened =
                anchor::openat(at, component.as_ref(), if is_last { flags } else { walk })?;
            if opened.metadata()?.dev() != self.device {
                return Err(anchor::other_mount());
            }
            folder = Some(opened);
        }
        folder.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

/// Returns the folder of an item, and the name of the item below it.
fn find_root<'r, 'n>(
    roots: &'r [ItemRoot],
    name: &'n str,
) -> io::Result<(&'r ItemRoot, &'n str)> {
    let (root, below) = name.split_once('/').unwrap_or((name, ""));
    let found = roots.iter().find(|it| it.name == root);
    found.map(|root| (root, below)).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

/// Opens a file, with flags of `open(2)`.
pub(super) fn open_item(
    roots: &[ItemRoot],
    name: &str,
    flags: libc::c_int,
) -> io::Result<File> {
    let (root, below) = find_root(roots, name)?;
    root.open(Path::new(below), flags)
}

/// Queries the attributes of a directory or file.
pub(super) fn query_item(roots: &[ItemRoot], name: &str) -> io::Result<()> {
    let (root, below) = find_root(roots, name)?;
    let below = CString::new(below).map_err(io::Error::other)?;
    let mut found = MaybeUninit::<libc::stat64>::uninit();
    // SAFETY: the path is terminated, the buffer has the size of its type, and both outlive the
    // call.
    let result = unsafe {
        libc::fstatat64(
            root.folder.as_raw_fd(),
            below.as_ptr(),
            found.as_mut_ptr(),
            libc::AT_SYMLINK_NOFOLLOW,
        )
    };
    to_result(result)
}

/// Directory of the last item, which often contains the next one.
#[derive(Debug, Default)]
pub(super) struct ParentDirectory {
    opened: Option<(String, File)>,
}

impl ParentDirectory {
    /// Returns the directory of an item, and the item's name in it.
    fn locate(&mut self, roots: &[ItemRoot], name: &str) -> io::Result<(RawFd, CString)> {
        let (path, leaf) = name.rsplit_once('/').unwrap_or(("", name));
        let leaf = CString::new(leaf).map_err(io::Error::other)?;
        if let Some((opened, folder)) = &self.opened
            && opened == path
        {
            return Ok((folder.as_raw_fd(), leaf));
        }
        let (root, below) = find_root(roots, path)?;
        let below = if below.is_empty() { "." } else { below };
        let folder = root.open(Path::new(below), libc::O_PATH | libc::O_DIRECTORY)?;
        let (_, folder) = self.opened.insert((path.to_owned(), folder));
        Ok((folder.as_raw_fd(), leaf))
    }

    pub(super) fn make_directory(&mut self, roots: &[ItemRoot], name: &str) -> io::Result<()> {
        let (parent, leaf) = self.locate(roots, name)?;
        // SAFETY: the name is terminated and outlives the call.
        to_result(unsafe { libc::mkdirat(parent, leaf.as_ptr(), 0o777) })
    }

    pub(super) fn make_node(&mut self, roots: &[ItemRoot], name: &str) -> io::Result<()> {
        let (parent, leaf) = self.locate(roots, name)?;
        let mode = libc::S_IFREG | 0o644;
        // glibc has this function since 2.33.
        // SAFETY: the name is terminated and outlives the call.
        let result =
            unsafe { libc::syscall(libc::SYS_mknodat, parent, leaf.as_ptr(), mode, 0_usize) };
        to_result(result as libc::c_int)
    }

    /// Removes a file, or with `AT_REMOVEDIR` an empty directory.
    pub(super) fn remove(
        &mut self,
        roots: &[ItemRoot],
        name: &str,
        flags: libc::c_int,
    ) -> io::Result<()> {
        let (parent, leaf) = self.locate(roots, name)?;
        // SAFETY: the name is terminated and outlives the call.
        to_result(unsafe { libc::unlinkat(parent, leaf.as_ptr(), flags) })
    }

    /// Renames an item; `target` is the directory of the new name.
    pub(super) fn rename(
        &mut self,
        roots: &[ItemRoot],
        name: &str,
        (target, new_name): (&mut Self, &str),
    ) -> io::Result<()> {
        let (parent, leaf) = self.locate(roots, name)?;
        let (new_parent, new_leaf) = target.locate(roots, new_name)?;
        // SAFETY: both names are terminated and outlive the call.
        to_result(unsafe {
            libc::renameat(parent, leaf.as_ptr(), new_parent, new_leaf.as_ptr())
        })
    }
}

fn to_result(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
