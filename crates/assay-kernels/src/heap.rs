//! How the C library's heap takes its address space.

/// Keeps the heap in one arena. glibc otherwise gives threads arenas of 64 MiB each, so that a server under
/// a limit of its address space (`ulimit -v`) has none left for what it cannot do without (mallopt(3)); and what one thread
/// takes and another gives back stays with the first one's arena.
pub fn keep_one_arena() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes two plain numbers and locks the heap itself.
    let _is_known = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}
