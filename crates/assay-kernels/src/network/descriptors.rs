//! Tables of descriptors of single threads.
//!
//! A system call of a process with several threads counts the users of its descriptor, up and down.
//! A thread with a table of its own does not.

use std::ffi::{c_int, c_uint};
use std::os::fd::RawFd;

/// Gives the calling thread its own table of descriptors with only `kept`, so that it keeps open no
/// descriptor that other threads close. Fails on kernels before 5.9, which only costs time.
pub(super) fn isolate(kept: Option<RawFd>) {
    /// `CLOSE_RANGE_UNSHARE` of the kernel.
    const UNSHARE: c_int = 1 << 1;
    let close = |first: c_uint, last: c_uint| {
        // SAFETY: the call takes plain numbers; with `UNSHARE` it changes no table but this thread's,
        // and this thread uses no descriptor but `kept` and later ones until it ends.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, UNSHARE) }
    };
    let Some(kept) = kept else {
        close(0, c_uint::MAX);
        return;
    };
    let Ok(kept) = c_uint::try_from(kept) else { return };
    if close(kept.saturating_add(1), c_uint::MAX) == 0 && kept > 0 {
        close(0, kept - 1);
    }
}
