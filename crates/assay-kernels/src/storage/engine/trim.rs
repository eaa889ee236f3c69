//! Discards bytes: `BLKDISCARD` for devices, a hole for files. Both calls block.

use std::io;
use std::os::fd::RawFd;

/// `_IO(0x12, 119)` of `linux/fs.h`: discards a range, given as its first byte and its length.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// Discards the bytes. Returns their number, or a negative error number.
pub(super) fn trim(descriptor: RawFd, offset: u64, bytes: u32) -> i32 {
    let range = [offset, u64::from(bytes)];
    // SAFETY: the call reads the two numbers of `range`, and none of our memory is written. A file
    // that is not a block device refuses it.
    let mut result = unsafe { libc::ioctl(descriptor, BLKDISCARD, range.as_ptr()) };
    if result < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOTTY) {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // Offsets are below 2⁶³: files cannot be longer.
        let (from, length) = (offset as libc::off_t, libc::off_t::from(bytes));
        // SAFETY: the call takes no memory.
        result = unsafe { libc::fallocate(descriptor, mode, from, length) };
    }
    match result {
        // Validation limits sizes to 1 GiB.
        0 => bytes as i32,
        _ => -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO),
    }
}
