//! Detects whether this process was started with standard output closed (`>&-`). Never writes.
//!
//! Before `main`, Rust's runtime opens /dev/null in place of a closed standard descriptor, so that
//! no file gets its number: output is then lost without an error. The loader calls the functions in
//! `.init_array` before that (System V ABI, gABI 4.1, chapter 5, "Initialization and Termination
//! Functions").

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

#[used]
// SAFETY: the section holds pointers to functions without a result; this one ignores its arguments.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = check_stdout;

extern "C" fn check_stdout() {
    // SAFETY: passes a descriptor number to the kernel; no memory is touched.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// Returns whether standard output was closed at the start.
pub fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}
