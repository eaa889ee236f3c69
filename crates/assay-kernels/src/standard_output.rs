//! Whether this process was started without a standard output (`>&-`). Never writes.
//!
//! Before `main`, Rust's runtime opens /dev/null in place of a standard descriptor that is closed, so that
//! no file gets its number: what is printed then reaches nobody and fails nowhere. The loader calls what is
//! in `.init_array` before that (System V ABI, gABI 4.1, chapter 5, "Initialization and Termination
//! Functions").

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

#[used]
// SAFETY: the section holds pointers to functions without a result; this one ignores what it is called with.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: asks the kernel about a number; no memory is touched.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// Whether nothing can be printed.
pub fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}
