//! Locks whose holder panicked: every value behind a lock of assay is whole between its changes, so others
//! continue with it, and the panic is reported where it happened.

use std::sync::PoisonError;

/// Result of taking a lock, of waiting with one, or of consuming one.
pub trait PoisonedLock {
    /// Guard or value.
    type Value;

    /// Returns the value, also after a panic of a holder.
    fn even_if_poisoned(self) -> Self::Value;
}

impl<T> PoisonedLock for Result<T, PoisonError<T>> {
    type Value = T;

    fn even_if_poisoned(self) -> T {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread;

    use super::PoisonedLock;

    #[test]
    fn value_survives_panic_of_holder() {
        let value = Mutex::new(1);
        thread::scope(|scope| {
            let holder = scope.spawn(|| {
                let mut held = value.lock().unwrap();
                *held = 2;
                panic!("while the lock is held");
            });
            assert!(holder.join().is_err());
        });
        assert!(value.is_poisoned());
        assert_eq!(*value.lock().even_if_poisoned(), 2);
        assert_eq!(value.into_inner().even_if_poisoned(), 2);
    }
}
