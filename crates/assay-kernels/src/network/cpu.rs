//! CPU time of this process and of single threads, from the kernel's accounting.

use std::os::unix::thread::JoinHandleExt;
use std::thread::JoinHandle;

/// CPU time of the whole process since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessTime {
    /// User time, in nanoseconds.
    pub user_ns: u64,
    /// System time, in nanoseconds.
    pub system_ns: u64,
}

/// Returns the CPU time of this process with all its threads.
pub fn process_time() -> ProcessTime {
    // SAFETY: all-zero bytes are a valid `rusage`, a structure of plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid, writable `rusage`; the call can fail only for an unknown target.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    let nanos =
        |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    ProcessTime { user_ns: nanos(usage.ru_utime), system_ns: nanos(usage.ru_stime) }
}

/// Returns the CPU time of a thread that may still run, in nanoseconds; 0 when the system does not
/// report it.
pub fn thread_time_ns<T>(thread: &JoinHandle<T>) -> u64 {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: the handle has not been joined (joining consumes it), so the thread's identity is
    // valid even after it has ended; `clock` is writable.
    if unsafe { libc::pthread_getcpuclockid(thread.as_pthread_t(), &raw mut clock) } != 0 {
        return 0;
    }
    read_ns(clock)
}

/// Returns the CPU time of the calling thread, in nanoseconds.
pub fn own_time_ns() -> u64 {
    read_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable `timespec`. For the clock of a thread that has ended the
    // call fails and leaves `time` at 0.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn counts_cpu_time_of_thread_and_process() {
        static ENOUGH: AtomicBool = AtomicBool::new(false);
        let before = process_time();
        let thread = std::thread::spawn(|| {
            while !ENOUGH.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            own_time_ns()
        });
        while thread_time_ns(&thread) < 20_000_000 {
            std::thread::yield_now();
        }
        ENOUGH.store(true, Ordering::Relaxed);
        assert!(thread.join().unwrap() >= 20_000_000);
        let after = process_time();
        assert!(after.user_ns + after.system_ns > before.user_ns + before.system_ns);
    }
}
