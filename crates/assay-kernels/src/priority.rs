//! Priorities of the calling thread: its CPU time and its I/O.
//!
//! Changes no other thread, and restores nothing: the thread ends with its work.

use std::io;

/// Adds `increment` to the nice value of the calling thread.
///
/// # Errors
/// The system's error: a higher priority needs privileges.
pub fn add_nice(increment: i32) -> io::Result<()> {
    // SAFETY: the location is that of this thread's error number. A result of -1 may be a nice
    // value, so that the number alone reports an error.
    unsafe { *libc::__errno_location() = 0 };
    // SAFETY: the call takes a number only.
    let result = unsafe { libc::nice(increment) };
    let error = io::Error::last_os_error();
    if result == -1 && error.raw_os_error() != Some(0) { Err(error) } else { Ok(()) }
}

/// Sets the I/O priority of the calling thread to a value of `ioprio_set(2)`.
///
/// # Errors
/// The system's error: the real-time class needs privileges.
pub fn set_io_priority(value: u16) -> io::Result<()> {
    /// `IOPRIO_WHO_PROCESS` of `linux/ioprio.h`; process 0 is the calling thread.
    const THREAD: libc::c_int = 1;
    // SAFETY: the call takes numbers only.
    let result =
        unsafe { libc::syscall(libc::SYS_ioprio_set, THREAD, 0, libc::c_int::from(value)) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the I/O priority of the calling thread.
    fn io_priority() -> i64 {
        // SAFETY: the call takes numbers only.
        unsafe { libc::syscall(libc::SYS_ioprio_get, 1, 0) }
    }

    #[test]
    fn priorities_are_those_of_the_thread() {
        const BEST_EFFORT_7: u16 = 2 << 13 | 7;
        let before = io_priority();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                set_io_priority(BEST_EFFORT_7).unwrap();
                assert_eq!(io_priority(), i64::from(BEST_EFFORT_7));
                add_nice(3).unwrap();
                // SAFETY: the call takes numbers only.
                let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
                assert!(nice >= 3, "{nice}");
            });
        });
        assert_eq!(io_priority(), before);
        // A class that does not exist.
        assert!(set_io_priority(7 << 13).is_err());
    }
}
