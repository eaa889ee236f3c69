//! Continuation of a process in the background.
//!
//! Never ends a server: a signal does, as for any process.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;

/// Leaves the terminal: a child continues with the null device as its standard streams, and the
/// calling process ends once it has announced the process ID of the child.
///
/// # Errors
/// The system's error; or the process has several threads, of which the child would have one.
pub fn detach(announce: impl FnOnce(u32) -> io::Result<()>) -> io::Result<()> {
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("the process has several threads"));
    }
    let null = File::options().read(true).write(true).open("/dev/null")?;
    // SAFETY: the call takes no arguments. The only thread continues in both processes, so that no
    // lock is held by a thread that the child lacks.
    let child = unsafe { libc::fork() };
    if child > 0 {
        let code = i32::from(announce(child.unsigned_abs()).is_err());
        // SAFETY: the call takes a plain number and does not return; the child owns all cleanup.
        unsafe { libc::_exit(code) }
    }
    // SAFETY: the call takes no arguments.
    if child < 0 || unsafe { libc::setsid() } < 0 {
        return Err(io::Error::last_os_error());
    }
    for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: the call takes plain numbers; `null` is open.
        if unsafe { libc::dup2(null.as_raw_fd(), stream) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
