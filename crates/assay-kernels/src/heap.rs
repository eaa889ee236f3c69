//! Address space used by the C library's heap.

/// Restricts the heap to one arena. By default glibc gives threads arenas of 64 MiB each
/// (mallopt(3)). A server with limited address space (`ulimit -v`) then runs out of it. Memory that
/// one thread allocates and another frees also stays in the first one's arena.
pub fn keep_one_arena() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes two plain numbers and locks the heap itself.
    let _is_known = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}
