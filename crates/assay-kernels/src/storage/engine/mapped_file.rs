//! Files as memory: I/O copies to and from a shared mapping of the whole file.
//!
//! A file that shrinks while it is mapped ends the process (SIGBUS), as any program that maps it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::{IoAction, IoRequest};

/// Shared mapping of a file.
#[derive(Debug)]
pub(crate) struct MappedFile {
    start: *mut u8,
    bytes: usize,
    /// Whether it can be written.
    writes: bool,
}

// SAFETY: nothing refers to the memory; it is only copied, as by other programs that map the file.
unsafe impl Send for MappedFile {}
// SAFETY: as above.
unsafe impl Sync for MappedFile {}

impl MappedFile {
    /// Maps a file or device with its current size, writable if its descriptor is.
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        let file = file.as_raw_fd();
        let bytes = size_bytes(file)?;
        // SAFETY: the call takes numbers only.
        let flags = unsafe { libc::fcntl(file, libc::F_GETFL) };
        let writes = flags & libc::O_ACCMODE == libc::O_RDWR;
        let access = libc::PROT_READ | if writes { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new mapping of an open file, at an address that the kernel chooses.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, file, 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { start: start.cast(), bytes, writes })
    }

    /// Copies the bytes of a read or write; returns their number, 0 past the end. `None` for other
    /// actions.
    pub(super) fn copy(&self, request: &IoRequest) -> Option<i32> {
        let offset = usize::try_from(request.offset).unwrap_or(usize::MAX);
        let bytes = self.bytes.saturating_sub(offset).min(request.bytes as usize);
        let place = self.start.wrapping_add(offset.min(self.bytes));
        match request.action {
            // SAFETY: `bytes` bytes from `place` are within the mapping, and the memory of the
            // request holds as many. The two never overlap.
            IoAction::Read => unsafe {
                std::ptr::copy_nonoverlapping(place, request.memory, bytes);
            },
            IoAction::Write if !self.writes => return Some(-libc::EBADF),
            // SAFETY: as above, and the mapping is writable.
            IoAction::Write => unsafe {
                std::ptr::copy_nonoverlapping(request.memory, place, bytes);
            },
            IoAction::Sync
            | IoAction::SyncData
            | IoAction::SyncRange(_)
            | IoAction::Trim
            | IoAction::CallFile
            | IoAction::Skip => return None,
        }
        // The result is at most the length of the request, which is below 2³¹.
        Some(bytes as i32)
    }

    /// Removes the pages from the address space. Their contents stay in the page cache, and the
    /// next access maps them again.
    pub(crate) fn unmap_pages(&self) {
        // SAFETY: the whole mapping made by `new`, which is shared: its data is that of the file.
        unsafe { libc::madvise(self.start.cast(), self.bytes, libc::MADV_DONTNEED) };
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `new`, which nothing uses any more.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

/// Returns the size of a file or device.
fn size_bytes(file: RawFd) -> io::Result<usize> {
    // SAFETY: the call takes numbers only; all I/O is positioned.
    let end = unsafe { libc::lseek(file, 0, libc::SEEK_END) };
    usize::try_from(end).map_err(|_| io::Error::last_os_error())
}
