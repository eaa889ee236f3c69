//! STREAM vector in plain Rust for every CPU; the compiler uses the target's baseline instructions.

use std::sync::atomic::{Ordering, fence};

use super::StreamVector;

impl StreamVector for f64 {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn splat(value: f64) -> Self {
        value
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller's pointer is valid and aligned.
        unsafe { *from }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller's pointer is valid and aligned.
        unsafe { *to = self }
    }

    /// Uses an ordinary store: stable Rust has no portable non-temporal one, and no kernel of the
    /// table needs it here.
    #[inline(always)]
    unsafe fn store_non_temporal(self, to: *mut f64) {
        // SAFETY: the caller's pointer is valid and aligned.
        unsafe { self.store(to) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    unsafe fn multiply(self, other: Self) -> Self {
        self * other
    }

    #[inline(always)]
    unsafe fn prefetch(_from: *const f64) {}

    #[inline(always)]
    unsafe fn order_non_temporal_stores() {
        fence(Ordering::SeqCst);
    }
}
