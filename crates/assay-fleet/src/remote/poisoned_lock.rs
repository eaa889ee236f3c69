//! Locks that other threads may have left while panicking.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also after a panic of its owner: each value is whole between its changes.
pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
