//! Signals: the user's request to stop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_run::failure::{Failure, Kind};

/// One flag for SIGINT and SIGTERM. The first signal ends the run in good order, a second one ends
/// the process at once.
pub fn cancel_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;

    let cancel = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let at_once = flag::register_conditional_default(signal, Arc::clone(&cancel));
        at_once.and_then(|_| flag::register(signal, Arc::clone(&cancel))).map_err(|error| {
            Failure::new(Kind::Internal, "signals cannot be handled").because(&error)
        })?;
    }
    Ok(cancel)
}
