//! CPU time of this process, and how exactly the calling thread is woken.
//!
//! Never looks at other processes.

/// CPU time in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CpuTime {
    /// In the program.
    pub(super) user_s: f64,
    /// In the kernel on its behalf, its threads for this process's I/O included.
    pub(super) system_s: f64,
}

impl CpuTime {
    /// What was spent since `before`.
    pub(super) fn since(self, before: Self) -> Self {
        Self { user_s: self.user_s - before.user_s, system_s: self.system_s - before.system_s }
    }
}

/// CPU time of all threads of this process so far, those included that the kernel runs for its rings.
pub(super) fn process() -> CpuTime {
    // SAFETY: all-zero bytes are a valid `rusage`, a structure of plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid, writable `rusage`; the call can fail only for an unknown target.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    CpuTime { user_s: seconds(usage.ru_utime), system_s: seconds(usage.ru_stime) }
}

/// Lets timers of the calling thread fire at their moment instead of up to 50 µs later, which is the
/// kernel's default to save energy. Threads started later inherit it.
pub(super) fn wake_on_time() {
    // SAFETY: the call takes numbers only and changes nothing but this thread's timers. A kernel that
    // refuses leaves the default, which costs exactness and nothing else.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}
