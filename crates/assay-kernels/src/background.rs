//! Continuation of a process in the background.
//!
//! Never ends a server: a signal does, as for any process.

use std::fs;
use std::io;

/// Leaves the terminal: the calling process ends successfully, and a child continues with the null
/// device as its standard streams.
///
/// # Errors
/// The system's error; or the process has several threads, of which the child would have one.
pub fn detach() -> io::Result<()> {
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("the process has several threads"));
    }
    // SAFETY: the call takes plain numbers. The only thread continues in the child, so that no lock
    // is held by a thread that the child lacks.
    if unsafe { libc::daemon(1, 0) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
