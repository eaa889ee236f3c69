//! Calls of the kernel that C libraries older than 2.28 lack: `preadv2`, `pwritev2` and `statx`.
//!
//! The released program needs glibc 2.17 only. Offsets are those of 64-bit systems: one register.

use std::ffi::c_int;
use std::io;

/// High half of an offset, which 64-bit kernels ignore.
const NO_HIGH_HALF: libc::c_long = 0;

/// Reads one part at `offset`. Kernels before Linux 4.6 support it without flags only.
///
/// # Safety
///
/// `part` describes memory that is writable and that nothing else uses during the call.
pub(super) unsafe fn preadv2(
    file: c_int,
    part: &libc::iovec,
    offset: libc::off_t,
    flags: c_int,
) -> isize {
    // SAFETY: the caller guarantees that the memory of `part` is writable.
    let result = unsafe {
        libc::syscall(libc::SYS_preadv2, file, part, 1_usize, offset, NO_HIGH_HALF, flags)
    };
    if result < 0 && flags == 0 && is_call_missing() {
        // SAFETY: as above.
        return unsafe { libc::preadv(file, part, 1, offset) };
    }
    result as isize
}

/// Writes one part at `offset`, without flags.
///
/// # Safety
///
/// `part` describes memory that is readable and that nothing else changes during the call.
pub(super) unsafe fn pwritev2(file: c_int, part: &libc::iovec, offset: libc::off_t) -> isize {
    // SAFETY: the caller guarantees that the memory of `part` is readable.
    let result = unsafe {
        libc::syscall(libc::SYS_pwritev2, file, part, 1_usize, offset, NO_HIGH_HALF, 0)
    };
    if result < 0 && is_call_missing() {
        // SAFETY: as above.
        return unsafe { libc::pwritev(file, part, 1, offset) };
    }
    result as isize
}

/// Whether attributes are requested from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttributeRefresh {
    /// Where the file system requires it, like `stat(2)`.
    AsUsual,
    /// Never: attributes that this host has already.
    Never,
}

/// Returns the attributes of an open file that `mask` selects; at least type and size where the kernel
/// (before Linux 4.11) or a container lacks the call.
pub(super) fn statx(file: c_int, mask: u32, sync: AttributeRefresh) -> io::Result<libc::statx> {
    let mut stats = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let flags = libc::AT_EMPTY_PATH
        | match sync {
            AttributeRefresh::AsUsual => libc::AT_STATX_SYNC_AS_STAT,
            AttributeRefresh::Never => libc::AT_STATX_DONT_SYNC,
        };
    // SAFETY: the path is an empty terminated string, so that the call refers to the descriptor
    // itself; `stats` is writable.
    let result = unsafe {
        libc::syscall(libc::SYS_statx, file, c"".as_ptr(), flags, mask, stats.as_mut_ptr())
    };
    if result == 0 {
        // SAFETY: all-zero bytes are a valid `statx`, and the kernel has written its fields.
        return Ok(unsafe { stats.assume_init() });
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENOSYS | libc::EPERM) => fstat(file),
        _ => Err(error),
    }
}

/// Returns type and size of an open file as `statx` does.
fn fstat(file: c_int) -> io::Result<libc::statx> {
    let mut found = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `found` is writable.
    if unsafe { libc::fstat(file, found.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all-zero bytes are a valid `stat`, and the call has written its fields.
    let found = unsafe { found.assume_init() };
    // SAFETY: all-zero bytes are a valid `statx`.
    let mut stats: libc::statx = unsafe { std::mem::zeroed() };
    stats.stx_mask = libc::STATX_TYPE | libc::STATX_SIZE;
    // The type and the permissions are the low 16 bits (inode(7)).
    stats.stx_mode = found.st_mode as u16;
    stats.stx_size = found.st_size.unsigned_abs();
    Ok(stats)
}

fn is_call_missing() -> bool {
    io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    fn part_of(memory: &mut [u8]) -> libc::iovec {
        libc::iovec { iov_base: memory.as_mut_ptr().cast(), iov_len: memory.len() }
    }

    #[test]
    fn reads_back_what_it_wrote_beyond_4_gib() {
        let name = format!("assay-positioned-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut options = std::fs::OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let offset = (1 << 33) + 5;
        let mut written = *b"assay";
        // SAFETY: `written` lives until the call is over.
        let bytes = unsafe { pwritev2(file.as_raw_fd(), &part_of(&mut written), offset) };
        assert_eq!(bytes, 5);
        assert_eq!(file.metadata().unwrap().len(), (1 << 33) + 10);

        let mut read = [0; 8];
        // SAFETY: `read` lives until the call is over.
        let bytes = unsafe { preadv2(file.as_raw_fd(), &part_of(&mut read), offset, 0) };
        assert_eq!((bytes, &read[..5]), (5, b"assay".as_slice()));
    }

    #[test]
    fn statx_and_fstat_agree() {
        let file = std::fs::File::open("Cargo.toml").unwrap();
        let mask = libc::STATX_TYPE | libc::STATX_SIZE;
        let older = fstat(file.as_raw_fd()).unwrap();
        assert_eq!(older.stx_size, file.metadata().unwrap().len());
        for sync in [AttributeRefresh::AsUsual, AttributeRefresh::Never] {
            let stats = statx(file.as_raw_fd(), mask, sync).unwrap();
            assert_eq!(stats.stx_size, older.stx_size);
            assert_eq!(stats.stx_mode, older.stx_mode);
        }
    }
}
