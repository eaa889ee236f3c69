//! Synchronisation of the model checker loom.

use loom::cell::UnsafeCell;
use loom::sync::Condvar;

pub(crate) use loom::hint::spin_loop;
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};
pub(crate) use loom::sync::{Mutex, mpsc};
pub(crate) use loom::thread::{self, JoinHandle, Thread};

pub(crate) use self::{ModelledCell as PublishedCell, ModelledFutexWord as FutexWord};

/// One pause of each kind: more of them only repeat states.
pub(crate) const SPINS_BEFORE_YIELD: u32 = 1;
pub(crate) const SPINS_PER_CLOCK_READ: u32 = 1;
/// A member of a team sleeps at once.
pub(crate) const TEAM_SPIN_NS: u64 = 0;

/// Returns the same time always: the model repeats executions exactly.
pub(crate) fn now_ns() -> u64 {
    0
}

/// Number that threads can sleep on. As in the kernel, the comparison and the start of the sleep
/// are one step for those who wake.
#[derive(Debug)]
pub(crate) struct ModelledFutexWord {
    number: AtomicU32,
    queue: Mutex<()>,
    woken: Condvar,
}

impl Default for ModelledFutexWord {
    fn default() -> Self {
        Self { number: AtomicU32::new(0), queue: Mutex::new(()), woken: Condvar::new() }
    }
}

impl ModelledFutexWord {
    /// Returns the number itself, to load and change.
    pub(crate) fn number(&self) -> &AtomicU32 {
        &self.number
    }

    /// Sleeps while the number is `value`, until a wake-up.
    pub(crate) fn sleep_while(&self, value: u32) {
        let queue = self.queue.lock().expect("no thread panics while holding the lock");
        if self.number.load(Ordering::SeqCst) == value {
            drop(self.woken.wait(queue).expect("no thread panics while holding the lock"));
        }
    }

    /// Wakes all threads that sleep on the number.
    pub(crate) fn wake_all(&self) {
        let _queue = self.queue.lock().expect("no thread panics while holding the lock");
        self.woken.notify_all();
    }
}

/// Value that one thread writes while no other reads it; the model reports any other access.
#[derive(Debug, Default)]
pub(crate) struct ModelledCell<T>(UnsafeCell<T>);

impl<T: Copy> ModelledCell<T> {
    /// Replaces the value.
    ///
    /// # Safety
    /// No other thread reads or writes at the same time.
    pub(crate) unsafe fn write(&self, value: T) {
        // SAFETY: as promised by the caller; the model checks it.
        self.0.with_mut(|cell| unsafe { *cell = value });
    }

    /// Returns the value.
    ///
    /// # Safety
    /// No other thread writes at the same time.
    pub(crate) unsafe fn read(&self) -> T {
        // SAFETY: as promised by the caller; the model checks it.
        self.0.with(|cell| unsafe { *cell })
    }
}
