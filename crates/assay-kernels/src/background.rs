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
/// The system's error, or that of `announce`, after which no child is left; or the process has several threads, of which the child would have one.
pub fn detach(announce: impl FnOnce(u32) -> io::Result<()>) -> io::Result<()> {
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("the process has several threads"));
    }
    let null = File::options().read(true).write(true).open("/dev/null")?;
    // SAFETY: the call takes no arguments. The only thread continues in both processes, so that no
    // lock is held by a thread that the child lacks.
    let child = unsafe { libc::fork() };
    if child > 0 {
        if let Err(error) = announce(child.unsigned_abs()) {
            // SAFETY: the call takes plain numbers. The child is not awaited yet, so that its process
            // ID is no other's.
            unsafe { libc::kill(child, libc::SIGKILL) };
            // SAFETY: the call takes plain numbers, and a pointer that may be null.
            unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
            return Err(error);
        }
        // SAFETY: the call takes a plain number and does not return; the child owns all cleanup.
        unsafe { libc::_exit(0) }
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
