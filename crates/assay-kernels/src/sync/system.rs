//! Synchronisation of the system.

use std::cell::UnsafeCell;

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};
pub(crate) use std::sync::{Mutex, mpsc};
pub(crate) use std::thread::{self, JoinHandle, Thread};

pub(crate) use crate::clock::now_ns;

/// Pauses before the first yield of a barrier. A pause lasts 40 (AMD Zen) to 140 (Intel since
/// Skylake) cycles, so this is 50 to 200 µs: longer than a well-balanced phase, shorter than a time
/// slice.
pub(crate) const SPINS_BEFORE_YIELD: u32 = 4096;
/// Pauses between two clock readings, and all pauses before sleeping while CPUs are shared: about a
/// microsecond, in which a well-balanced phase ends.
pub(crate) const SPINS_PER_CLOCK_READ: u32 = 32;
/// Time that a member or a caller of a team spins before it sleeps. A sleeping thread takes 5 to
/// 50 µs to wake, so spinning much longer than that does not pay.
pub(crate) const TEAM_SPIN_NS: u64 = 30_000;

/// Time that a waiter sleeps before it checks whether another thread has panicked.
const SLEEP_NS: i64 = 50_000_000;

/// Number that threads can sleep on (futex(2)).
#[derive(Debug, Default)]
pub(crate) struct FutexWord(AtomicU32);

impl FutexWord {
    /// Returns the number itself, to load and change.
    #[inline]
    pub(crate) fn number(&self) -> &AtomicU32 {
        &self.0
    }

    /// Sleeps while the number is `value`: until a wake-up, for [`SLEEP_NS`] at most, or
    /// spuriously.
    pub(crate) fn sleep_while(&self, value: u32) {
        let nap = libc::timespec { tv_sec: 0, tv_nsec: SLEEP_NS };
        let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the word and the time live through the call, which writes neither. The caller
        // checks the word again, so the result is not needed.
        unsafe {
            libc::syscall(libc::SYS_futex, self.0.as_ptr(), operation, value, &raw const nap)
        };
    }

    /// Wakes all threads that sleep on the number.
    pub(crate) fn wake_all(&self) {
        let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the word lives through the call, which does not touch it; it cannot fail.
        unsafe { libc::syscall(libc::SYS_futex, self.0.as_ptr(), operation, i32::MAX) };
    }
}

/// Value that one thread writes while no other reads it.
#[derive(Debug, Default)]
pub(crate) struct PublishedCell<T>(UnsafeCell<T>);

impl<T: Copy> PublishedCell<T> {
    /// Replaces the value.
    ///
    /// # Safety
    /// No other thread reads or writes at the same time.
    pub(crate) unsafe fn write(&self, value: T) {
        // SAFETY: as promised by the caller.
        unsafe { *self.0.get() = value };
    }

    /// Returns the value.
    ///
    /// # Safety
    /// No other thread writes at the same time.
    pub(crate) unsafe fn read(&self) -> T {
        // SAFETY: as promised by the caller.
        unsafe { *self.0.get() }
    }
}
