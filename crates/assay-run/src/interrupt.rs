//! Flag of the user's interrupts alone: the flag that stops a measurement is also set by deadlines,
//! which withdraw it.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Returns the flag, which is never cleared. Signals set it before the flag that stops a
/// measurement.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&INTERRUPTED)
}
